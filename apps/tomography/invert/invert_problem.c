/* Makes mesh, bases, true model and accumulator, after a check of the memory. */
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/invert/invert_rays.h"

#include <inttypes.h>
#include <stdlib.h>

static osla_err make_bases(invert_job *job)
{
  const invert_options *o = job->options;
  OSLA_CALL(tomo_mesh_create(o->frequency, &job->mesh));
  OSLA_CALL(tomo_radial_create(o->n_radial, o->depth_km, o->stretch, &job->radial));
  OSLA_CALL(tomo_kernel_create(job->reference, job->data.measure, (int)job->data.n_measures,
                               job->radial, &job->kernel));
  if (o->test) job->m_true = calloc((size_t)job->n, sizeof *job->m_true);
  job->m = calloc((size_t)job->n, sizeof *job->m);
  job->density = calloc((size_t)job->knots, sizeof *job->density);
  job->gradient = calloc((size_t)job->n, sizeof *job->gradient);
  OSLA_CHECK((job->m_true || !o->test) && job->m && job->density && job->gradient, OSLA_ERR_MEM,
             "no memory for vectors of %" PRId64 " unknowns", job->n);
  return o->test ? tomo_model_set_true(&o->model, job->mesh, job->radial, job->m_true) : OSLA_OK;
}

osla_err invert_make_problem(invert_job *job)
{
  const invert_options *o = job->options;
  job->knots = tomo_mesh_knots_of(o->frequency);
  job->n = job->knots * o->n_radial;
  OSLA_CALL(osla_grid_create_ordered(
    job->t, o->nprow, o->npcol, osla_grid_choose_order(job->t, o->nprow, o->npcol), &job->grid));
  OSLA_CALL(invert_check_memory(job));
  OSLA_CALL(osla_agree(job->t, make_bases(job)));
  OSLA_CALL(invert_make_prior(job));
  if (o->solver != INVERT_DIRECT) return OSLA_OK;

  OSLA_CALL(invert_find_bounds(job));
  return invert_replace_hessian(job);
}

osla_err invert_replace_hessian(invert_job *job)
{
  const invert_options *o = job->options;
  job->factor = NULL; /* the factor is in the memory of the accumulator, which is destroyed next */
  osla_hessian_destroy(&job->hessian);
  osla_hessian_options h = {0};
  h.uplo = o->uplo;
  h.single = o->dtype == OSLA_FLOAT;
  h.nb = o->nb;
  h.triangle = invert_stores_triangle(o);
  h.piece_bytes = INVERT_PIECE_BYTES;
  h.ring_bytes = INVERT_RING_BYTES;
  reproducible_apply(&job->reproducible, &h);
  return osla_hessian_create(job->grid, job->n, &h, &job->hessian);
}

void invert_destroy(invert_job *job)
{
  osla_hessian_destroy(&job->hessian);
  invert_rays_destroy(&job->rays);
  osla_grid_destroy(&job->grid);
  tomo_kernel_destroy(&job->kernel);
  tomo_radial_destroy(&job->radial);
  tomo_mesh_destroy(&job->mesh);
  free(job->stations);
  free(job->events);
  tomo_data_reader_stop(&job->reader);
  tomo_prior_reader_stop(&job->prior_reader);
  tomo_data_free(&job->data);
  tomo_reference_destroy(&job->reference);
  free(job->weight);
  free(job->robust.skips_of);
  invert_free_fit(&job->fit);
  free(job->m_true);
  free(job->m);
  free(job->density);
  free(job->gradient);
  tomo_prior_factors_free(&job->prior_factors);
  free(job->posterior.deviation);
  free(job->posterior.resolution);
  invert_release_rows(&job->posterior);
  invert_release_scan(&job->scan);
}
