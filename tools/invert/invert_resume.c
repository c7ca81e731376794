/* What a checkpoint of `osla invert` is of: the data, not the prior nor what is done later. */
#include "invert.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t hash_sites(uint64_t hash, const tomo_site *sites, int64_t count)
{
  hash = checkpoint_hash(hash, &count, sizeof count);
  for (int64_t i = 0; i < count; i++) {
    double place[3] = {sites[i].latitude, sites[i].longitude, sites[i].depth_km};
    hash = checkpoint_hash(hash, place, sizeof place);
  }
  return hash;
}

/* Everything that the updates and the ids depend on; order, type and triangle of H are compared by
 * osla_hessian_restore. */
static uint64_t hash_data(const invert_job *job)
{
  const invert_options *o = job->options;
  const double numbers[] = {o->depth_km,
                            o->stretch,
                            o->kernel.period_min_s,
                            o->kernel.period_max_s,
                            o->kernel.sigma_fraction,
                            o->noise,
                            o->model.amplitude_percent,
                            o->model.cell_degrees,
                            o->model.cell_depth_km};
  const int64_t counts[] = {o->frequency,
                            o->n_radial,
                            o->kernel.n_periods,
                            o->kernel.n_branches,
                            (int64_t)o->model.kind,
                            (int64_t)o->model.seed,
                            job->n_paths};
  uint64_t hash = checkpoint_hash(0, numbers, sizeof numbers);
  hash = checkpoint_hash(hash, counts, sizeof counts);
  hash = hash_sites(hash, job->stations, job->n_stations);
  hash = hash_sites(hash, job->events, job->n_events);
  return checkpoint_hash(hash, job->path_ids, (size_t)job->n_paths * sizeof *job->path_ids);
}

osla_err invert_resume(invert_job *job)
{
  checkpoint *c = &job->checkpoint;
  c->total = job->n_paths;
  (void)snprintf(c->job, sizeof c->job,
                 "invert: %" PRId64 " paths, %" PRId64 " unknowns, data %016" PRIx64, job->n_paths,
                 job->n, hash_data(job));
  return checkpoint_begin(c, job->hessian);
}
