/* Mesh, bases, true model and accumulator; before them, the memory that they will need. */
#include "invert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECE_BYTES = 64 << 20, RING_BYTES = 64 << 20, RING_LEAST = 256 << 10 };

/* A bound for the columns of a path: knots within three spacings (of about 1.2 / frequency) of a
 * full circle, as tomo_path.c allocates them. */
static uint64_t bound_columns(const invert_job *job)
{
  double half_width = 3.6 / job->options->frequency;
  double part = half_width < 1.0 ? half_width / 0.7 : 1.5;
  uint64_t columns =
    (uint64_t)((double)job->n * part) + TOMO_MESH_SUPPORT * (uint64_t)job->options->n_radial;
  return columns < (uint64_t)job->n ? columns : (uint64_t)job->n;
}

/* A producing thread: its panel of G, the two copies sorted by owner, a piece of values, index
 * lists, sums over the knots; off the node also a message. */
static uint64_t thread_bytes(const invert_job *job, uint64_t element)
{
  const invert_options *o = job->options;
  uint64_t columns = bound_columns(job);
  uint64_t k = (uint64_t)o->kernel.n_periods * (uint64_t)o->kernel.n_branches;
  uint64_t piece = columns * columns * element;
  if (piece > PIECE_BYTES) piece = PIECE_BYTES;
  uint64_t pieces = osla_transport_n_nodes(job->t) == 1 ? 1 : 2;
  if (o->reproducible.on) pieces++; /* products before they are cut for the owners */
  return 3 * k * columns * element + pieces * piece + 100 * columns + 40 * (uint64_t)job->knots;
}

/* What the factorisation copies of its panels, and the solves' right-hand sides. */
static uint64_t factor_bytes(const invert_job *job, uint64_t element)
{
  const invert_options *o = job->options;
  uint64_t p = (uint64_t)osla_grid_nprow(job->grid), q = (uint64_t)osla_grid_npcol(job->grid);
  uint64_t n = (uint64_t)job->n, nb = (uint64_t)o->nb < n ? (uint64_t)o->nb : n;
  uint64_t panels = (n / p + n / q + 3 * nb) * nb * element;
  uint64_t sets = osla_transport_n_nodes(job->t) == 1 ? 1 : 5;
  return sets * panels + n * (uint64_t)o->resolution * (sizeof(double) + 2 * element);
}

/* Bytes of this rank: its share of H, the vectors that are replicated, rings between nodes, mesh,
 * threads, factorisation. */
static uint64_t predict_bytes(const invert_job *job)
{
  const invert_options *o = job->options;
  const osla_layout h = {
    job->n, job->n, o->nb, o->nb, osla_grid_nprow(job->grid), osla_grid_npcol(job->grid)};
  uint64_t element = (uint64_t)osla_dtype_size(o->dtype), ranks = (uint64_t)(h.nprow * h.npcol);
  uint64_t rings = osla_transport_n_nodes(job->t) == 1 ? 0 : RING_BYTES;
  if (rings > 0 && rings < ranks * RING_LEAST) rings = ranks * RING_LEAST;
  uint64_t vectors = o->reproducible.on ? 10 : 6;
  return osla_matrix_bytes(&h, o->dtype) + vectors * (uint64_t)job->n * sizeof(double) + rings +
         (uint64_t)job->knots * 200 + (uint64_t)o->threads * thread_bytes(job, element) +
         factor_bytes(job, element);
}

/* The message says what did not fit. */
static osla_err check_memory(invert_job *job)
{
  job->result.bytes = predict_bytes(job);
  if (osla_memory_check(job->t, job->result.bytes) == OSLA_OK) return OSLA_OK;
  char text[400];
  (void)snprintf(text, sizeof text, "%s", osla_error_text());
  return osla_error_set(OSLA_ERR_MEM, "%" PRId64 " unknowns do not fit: %s", job->n, text);
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
  OSLA_CHECK(job->m_true && job->m && job->density, OSLA_ERR_MEM, "vectors of %" PRId64 " unknowns",
             job->n);
  return tomo_model_true(&o->model, job->mesh, job->radial, job->m_true);
}

osla_err invert_make_problem(invert_job *job)
{
  const invert_options *o = job->options;
  job->knots = tomo_mesh_knots_of(o->frequency);
  job->n = job->knots * o->n_radial;
  OSLA_CALL(osla_grid_create(job->t, o->nprow, o->npcol, &job->grid));
  OSLA_CALL(check_memory(job));
  OSLA_CALL(osla_agree(job->t, make_bases(job)));
  OSLA_CALL(invert_find_bounds(job));

  osla_hessian_options h = osla_hessian_defaults();
  h.uplo = o->uplo;
  h.dtype = o->dtype;
  h.nb = o->nb;
  h.piece_bytes = PIECE_BYTES;
  h.ring_bytes = RING_BYTES;
  reproducible_apply(&job->reproducible, &h);
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
