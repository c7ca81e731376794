/* Mesh, bases, true model and accumulator; before them, the memory that they will need. */
#include "invert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECE_BYTES = 64 << 20 };

/* Bytes of this rank: its share of H, the vectors that are replicated, and each thread's panel of G,
 * its two sorted copies and a piece of values. */
static uint64_t predict_bytes(const invert_job *job)
{
  const invert_options *o = job->options;
  osla_layout h = {job->n, job->n, o->nb, o->nb, osla_grid_nprow(job->grid),
                   osla_grid_npcol(job->grid)};
  uint64_t k = (uint64_t)o->kernel.n_periods * (uint64_t)o->kernel.n_branches;
  uint64_t vectors = 5 * (uint64_t)job->n * sizeof(double);
  /* A path touches the knots within two spacings (about 1.2 / frequency) of a great circle. */
  double part = 2.6 / o->frequency < 1.0 ? 2.6 / o->frequency : 1.0;
  uint64_t columns = (uint64_t)((double)job->n * part) + 1;
  uint64_t thread = (k + 8) * columns * sizeof(double) + PIECE_BYTES;
  return osla_matrix_bytes(&h, o->dtype) + vectors + (uint64_t)o->threads * thread +
         (uint64_t)job->knots * 200;
}

static osla_err make_bases(invert_job *job)
{
  const invert_options *o = job->options;
  OSLA_CALL(tomo_mesh_create(o->frequency, &job->mesh));
  OSLA_CALL(tomo_radial_create(o->n_radial, o->depth_km, o->stretch, &job->radial));
  OSLA_CALL(tomo_kernel_create(&o->kernel, job->radial, &job->kernel));
  job->m_true = calloc((size_t)job->n, sizeof *job->m_true);
  job->m = calloc((size_t)job->n, sizeof *job->m);
  job->density = calloc((size_t)job->knots, sizeof *job->density);
  OSLA_CHECK(job->m_true && job->m && job->density, OSLA_ERR_MEM,
             "vectors of %" PRId64 " unknowns", job->n);
  return tomo_model_true(&o->model, job->mesh, job->radial, job->m_true);
}

osla_err invert_make_problem(invert_job *job)
{
  const invert_options *o = job->options;
  job->knots = tomo_mesh_knots_of(o->frequency);
  job->n = job->knots * o->n_radial;
  OSLA_CALL(osla_grid_create(job->t, o->nprow, o->npcol, &job->grid));
  if (osla_memory_check(job->t, predict_bytes(job)) != OSLA_OK) {
    char text[400];
    (void)snprintf(text, sizeof text, "%s", osla_error_text());
    return osla_error_set(OSLA_ERR_MEM, "%" PRId64 " unknowns do not fit: %s", job->n, text);
  }
  OSLA_CALL(osla_agree(job->t, make_bases(job)));

  osla_hessian_options h = osla_hessian_defaults();
  h.uplo = o->uplo;
  h.dtype = o->dtype;
  h.nb = o->nb;
  h.piece_bytes = PIECE_BYTES;
  return osla_hessian_create(job->grid, job->n, &h, &job->hessian);
}

void invert_destroy(invert_job *job)
{
  osla_hessian_destroy(&job->hessian);
  osla_grid_destroy(&job->grid);
  tomo_kernel_destroy(&job->kernel);
  tomo_radial_destroy(&job->radial);
  tomo_mesh_destroy(&job->mesh);
  free(job->stations);
  free(job->events);
  free(job->path_ids);
  free(job->m_true);
  free(job->m);
  free(job->density);
}
