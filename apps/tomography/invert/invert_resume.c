/* Identification of a checkpoint by the data of the job. The prior and later steps do not change
 * the identification. */
#include "apps/tomography/invert/invert.h"

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

/* Adds the measures, the reference Earth, the sets of measurements and the delays to the hash. */
static uint64_t hash_table(uint64_t hash, const invert_job *job)
{
  const tomo_data *d = &job->data;
  const size_t entries = (size_t)d->set_first[d->n_sets];
  hash = checkpoint_hash(hash, &job->earth_hash, sizeof job->earth_hash);
  for (int64_t i = 0; i < d->n_measures; i++) {
    const tomo_measure *m = &d->measure[i];
    const double words[] = {(double)m->wave, (double)m->observable, m->branch, m->period_s};
    hash = checkpoint_hash(hash, words, sizeof words);
  }
  hash = checkpoint_hash(hash, d->set_first, ((size_t)d->n_sets + 1) * sizeof *d->set_first);
  hash = checkpoint_hash(hash, d->set_measure, entries * sizeof *d->set_measure);
  hash = checkpoint_hash(hash, d->set_sigma, entries * sizeof *d->set_sigma);
  if (d->path_set)
    hash = checkpoint_hash(hash, d->path_set, (size_t)d->n_paths * sizeof *d->path_set);
  if (d->delay && !job->options->test)
    hash = checkpoint_hash(hash, d->delay, (size_t)d->first[d->n_paths] * sizeof *d->delay);
  return hash;
}

/* Adds the settings of a synthetic test to the hash. */
static uint64_t hash_test(uint64_t hash, const invert_options *o)
{
  const double numbers[] = {o->noise, o->model.amplitude_percent, o->model.cell_degrees,
                            o->model.cell_depth_km};
  const int64_t counts[] = {(int64_t)o->model.kind, (int64_t)o->model.seed};
  hash = checkpoint_hash(hash, numbers, sizeof numbers);
  hash = checkpoint_hash(hash, counts, sizeof counts);
  for (int i = 0; o->model.kind == TOMO_MODEL_SPIKE && i < o->model.n_spikes; i++) {
    const tomo_location *at = &o->model.spike[i];
    const double place[] = {at->latitude, at->longitude, at->depth_km};
    hash = checkpoint_hash(hash, place, sizeof place);
  }
  return hash;
}

/* Returns a hash of everything that determines the updates of H and their ids. The order, type and
 * triangle of H are not included, because osla_hessian_restore compares them. */
static uint64_t hash_data(const invert_job *job)
{
  const invert_options *o = job->options;
  const double numbers[] = {o->depth_km, o->stretch};
  const int64_t counts[] = {o->frequency, o->n_radial, job->n_paths};
  uint64_t hash = checkpoint_hash(0, numbers, sizeof numbers);
  hash = checkpoint_hash(hash, counts, sizeof counts);
  if (o->test) hash = hash_test(hash, o);
  hash = hash_table(hash, job);
  hash = hash_sites(hash, job->stations, job->n_stations);
  hash = hash_sites(hash, job->events, job->n_events);
  return checkpoint_hash(hash, job->path_ids, (size_t)job->n_paths * sizeof *job->path_ids);
}

osla_err invert_restore_checkpoint(invert_job *job)
{
  checkpoint *c = &job->checkpoint;
  c->total = job->n_paths;
  (void)snprintf(c->job, sizeof c->job,
                 "invert: %" PRId64 " paths, %" PRId64 " unknowns, data %016" PRIx64, job->n_paths,
                 job->n, hash_data(job));
  return checkpoint_restore(c, job->hessian);
}
