/* The report: a page for people, the same as JSON. Rank 0 writes. */
#include "command.h"
#include "invert.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const phase_names[N_PHASES] = {
  [PHASE_COMPUTE] = "compute", [PHASE_UPDATE] = "update", [PHASE_COMMIT] = "commit wait",
  [PHASE_FACTOR] = "factor",   [PHASE_SOLVE] = "solve",   [PHASE_MISFIT] = "misfit pass"};

static const char *const phase_keys[N_PHASES] = {
  [PHASE_COMPUTE] = "compute", [PHASE_UPDATE] = "update", [PHASE_COMMIT] = "commit_wait",
  [PHASE_FACTOR] = "factor",   [PHASE_SOLVE] = "solve",   [PHASE_MISFIT] = "misfit_pass"};

typedef struct spread {
  double min[N_PHASES], mean[N_PHASES], max[N_PHASES];
} spread;

static osla_err spread_over_ranks(const invert_job *job, spread *s)
{
  for (int i = 0; i < N_PHASES; i++)
    s->min[i] = s->mean[i] = s->max[i] = job->result.seconds[i];
  OSLA_CALL(osla_allreduce(job->t, s->min, N_PHASES, MPI_DOUBLE, MPI_MIN));
  OSLA_CALL(osla_allreduce(job->t, s->mean, N_PHASES, MPI_DOUBLE, MPI_SUM));
  OSLA_CALL(osla_allreduce(job->t, s->max, N_PHASES, MPI_DOUBLE, MPI_MAX));
  for (int i = 0; i < N_PHASES; i++) s->mean[i] /= osla_transport_size(job->t);
  return OSLA_OK;
}

/* What a phase did, for its rate; 0: no rate. */
static double phase_work(const invert_job *job, invert_phase phase, const char **unit)
{
  double n = (double)job->n;
  switch (phase) {
    case PHASE_COMPUTE: *unit = "paths/s"; return (double)job->n_paths;
    case PHASE_UPDATE: *unit = "Melem/s"; return 1e-6 * (double)job->result.elements;
    case PHASE_FACTOR:
      *unit = "GF/s";
      return 1e-9 * n * n * n * (job->options->factor == INVERT_CHOLESKY ? 1.0 / 3 : 2.0 / 3);
    case PHASE_MISFIT: *unit = "paths/s"; return (double)job->n_paths;
    default: *unit = ""; return 0.0;
  }
}

static void print_phases(const invert_job *job, const spread *s)
{
  (void)printf("\nSeconds per rank      min      mean       max   rate of all ranks\n");
  for (int i = 0; i < N_PHASES; i++) {
    const char *unit;
    double work = phase_work(job, (invert_phase)i, &unit);
    (void)printf("  %-14s %9.3f %9.3f %9.3f", phase_names[i], s->min[i], s->mean[i], s->max[i]);
    if (work > 0.0 && s->max[i] > 0.0) (void)printf("   %.4g %s", work / s->max[i], unit);
    (void)printf("\n");
  }
  (void)printf("  %-14s %29.3f\n", "whole job", job->result.wall);
}

static void print_recovery(const char *where, const tomo_recovery *c)
{
  (void)printf("  %-14s %8" PRId64 "   %11.3f   %9.3f   %9.3f\n", where, c->knots, c->correlation,
               c->amplitude, c->variance_reduction);
}

static void print_result(const invert_job *job)
{
  const invert_options *o = job->options;
  const invert_result *r = &job->result;
  double data = (double)r->data;
  (void)printf("Model      %" PRId64 " unknowns: %" PRId64 " knots x %d radial functions to %g km\n",
               job->n, job->knots, o->n_radial, o->depth_km);
  (void)printf("Data       %" PRId64 " paths (%" PRId64 " stations, %" PRId64
               " earthquakes) x %d measurements\n",
               job->n_paths, job->n_stations, job->n_events, tomo_kernel_count(job->kernel));
  (void)printf("Machine    %d ranks (%d x %d) x %d threads, %d node%s\n",
               osla_transport_size(job->t), osla_grid_nprow(job->grid), osla_grid_npcol(job->grid),
               o->threads, osla_transport_n_nodes(job->t),
               osla_transport_n_nodes(job->t) == 1 ? "" : "s");
  (void)printf("Updates    %" PRId64 ", %.4g elements\n\n", r->updates, (double)r->elements);
  (void)printf("Misfit per datum: %.3f before, %.3f after (%.3f by the normal equations)\n",
               r->misfit_before / data, r->misfit_after / data, r->misfit_expected / data);
  (void)printf("Variance reduction: %.3f\n", 1.0 - r->misfit_after / r->misfit_before);
  if (o->factor == INVERT_LU) (void)printf("Growth of LU: %.3g\n", r->growth);
  (void)printf("\nRecovery where rays      knots   correlation   amplitude   variance reduction\n");
  print_recovery("are dense", &r->dense);
  print_recovery("are sparse", &r->sparse);
  print_recovery("everywhere", &r->all);
  if (r->sampled_dense + r->sampled_sparse > 0)
    (void)printf("Resolution (mean diagonal of %d + %d): %.3f dense, %.3f sparse\n",
                 r->sampled_dense, r->sampled_sparse, r->resolution_dense, r->resolution_sparse);
}

osla_err invert_print_report(invert_job *job)
{
  spread s;
  OSLA_CALL(spread_over_ranks(job, &s));
  if (osla_transport_rank(job->t) != 0 || job->options->quiet) return OSLA_OK;
  print_result(job);
  print_phases(job, &s);
  (void)fflush(stdout);
  return OSLA_OK;
}

/* ---- JSON ---- */

static json_t *recovery_json(const tomo_recovery *c)
{
  /* A correlation may be NaN, which JSON has not: null. */
  return json_pack("{s:I, s:o, s:f, s:f}", "knots", (json_int_t)c->knots, "correlation",
                   c->correlation == c->correlation ? json_real(c->correlation) : json_null(),
                   "amplitude", c->amplitude == c->amplitude ? c->amplitude : 0.0,
                   "variance_reduction",
                   c->variance_reduction == c->variance_reduction ? c->variance_reduction : 0.0);
}

static json_t *phases_json(const invert_job *job, const spread *s)
{
  json_t *phases = json_object();
  for (int i = 0; i < N_PHASES; i++) {
    const char *unit;
    double work = phase_work(job, (invert_phase)i, &unit);
    json_t *phase =
      json_pack("{s:f, s:f, s:f}", "min", s->min[i], "mean", s->mean[i], "max", s->max[i]);
    if (work > 0.0 && s->max[i] > 0.0) {
      (void)json_object_set_new(phase, "rate", json_real(work / s->max[i]));
      (void)json_object_set_new(phase, "unit", json_string(unit));
    }
    (void)json_object_set_new(phases, phase_keys[i], phase);
  }
  return phases;
}

static json_t *settings_json(const invert_options *o)
{
  json_t *settings = json_pack(
    "{s:i, s:i, s:f, s:f, s:i, s:i, s:f, s:f, s:f, s:f}", "mesh", o->frequency, "radial",
    o->n_radial, "depth_km", o->depth_km, "stretch", o->stretch, "periods", o->kernel.n_periods,
    "branches", o->kernel.n_branches, "period_min_s", o->kernel.period_min_s, "period_max_s",
    o->kernel.period_max_s, "sigma", o->kernel.sigma_fraction, "noise", o->noise);
  json_t *rest = json_pack(
    "{s:f, s:f, s:f, s:s, s:s, s:s, s:I, s:i, s:s, s:f, s:f, s:f, s:I}", "damping",
    o->prior.damping, "smoothing", o->prior.lateral, "radial_smoothing", o->prior.radial, "factor",
    o->factor == INVERT_LU ? "lu" : "cholesky", "precision",
    o->dtype == OSLA_FLOAT ? "float" : "double", "triangle",
    o->uplo == OSLA_UPPER ? "upper" : "lower", "nb", (json_int_t)o->nb, "threads", o->threads,
    "model", o->model.kind == TOMO_MODEL_BLOBS ? "blobs" : "checkerboard", "amplitude_percent",
    o->model.amplitude_percent, "cell_degrees", o->model.cell_degrees, "cell_depth_km",
    o->model.cell_depth_km, "seed", (json_int_t)o->model.seed);
  (void)json_object_update(settings, rest);
  json_decref(rest);
  return settings;
}

osla_err invert_report_json(invert_job *job, json_t **root)
{
  const invert_result *r = &job->result;
  spread s;
  *root = NULL;
  OSLA_CALL(spread_over_ranks(job, &s));
  if (osla_transport_rank(job->t) != 0) return OSLA_OK;
  *root = json_pack(
    "{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "command", "osla invert", "settings",
    settings_json(job->options), "unknowns", (json_int_t)job->n, "knots", (json_int_t)job->knots,
    "stations", (json_int_t)job->n_stations, "events", (json_int_t)job->n_events, "paths",
    (json_int_t)job->n_paths, "data", (json_int_t)r->data, "updates", (json_int_t)r->updates,
    "elements", (json_int_t)r->elements);
  json_t *rest = json_pack(
    "{s:i, s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:f, s:f, s:o, s:f}", "ranks",
    osla_transport_size(job->t), "grid", "", "nodes", osla_transport_n_nodes(job->t),
    "misfit_before", r->misfit_before, "misfit_after", r->misfit_after, "misfit_expected",
    r->misfit_expected, "variance_reduction", 1.0 - r->misfit_after / r->misfit_before,
    "dense_threshold_km", r->threshold, "dense", recovery_json(&r->dense), "sparse",
    recovery_json(&r->sparse), "all", recovery_json(&r->all), "resolution_dense",
    r->resolution_dense, "resolution_sparse", r->resolution_sparse, "seconds",
    phases_json(job, &s), "seconds_wall", r->wall);
  OSLA_CHECK(*root && rest, OSLA_ERR_MEM, "JSON report");
  char grid[32];
  (void)snprintf(grid, sizeof grid, "%dx%d", osla_grid_nprow(job->grid),
                 osla_grid_npcol(job->grid));
  (void)json_object_set_new(rest, "grid", json_string(grid));
  (void)json_object_update(*root, rest);
  json_decref(rest);
  return OSLA_OK;
}
