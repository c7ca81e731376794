/* Writes the JSON report of a job, on rank 0. */
#include "apps/tomography/invert/invert.h"
#include "tools/common/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *recovery_json(const tomo_recovery *c)
{
  return json_pack("{s:I, s:o, s:o, s:o}", "knots", (json_int_t)c->knots, "correlation",
                   command_number(c->correlation), "amplitude", command_number(c->amplitude),
                   "variance_reduction", command_number(c->variance_reduction));
}

static json_t *phases_json(const invert_job *job, const invert_phase_times *s)
{
  json_t *phases = json_object();
  for (int i = 0; i < N_PHASES; i++) {
    const char *unit;
    if (!invert_phase_is_used(job, (invert_phase)i)) continue;
    double work = invert_phase_work(job, (invert_phase)i, &unit);
    json_t *phase =
      json_pack("{s:f, s:f, s:f}", "min", s->min[i], "mean", s->mean[i], "max", s->max[i]);
    if (work > 0.0 && s->max[i] > 0.0) {
      (void)json_object_set_new(phase, "rate", json_real(work / s->max[i]));
      (void)json_object_set_new(phase, "unit", json_string(unit));
    }
    char key[24];
    (void)snprintf(key, sizeof key, "%s", invert_phase_name((invert_phase)i));
    for (char *blank = strchr(key, ' '); blank; blank = strchr(blank, ' '))
      *blank = '_';
    (void)json_object_set_new(phases, key, phase);
  }
  return phases;
}

/* Returns the number as JSON, or JSON null if the value does not exist. */
static json_t *number_if(bool there, double value)
{
  return there ? command_number(value) : json_null();
}

/* Adds the header lines of the reference table to the settings. */
static void add_reference(const tomo_reference *r, json_t *settings)
{
  const struct {
    const char *key, *value;
  } heads[] = {{"reference_title", tomo_reference_head(r, HEAD_TITLE)},
               {"reference_source", tomo_reference_head(r, HEAD_SOURCE)},
               {"reference_made", tomo_reference_head(r, HEAD_MADE)},
               {"reference_mapping", tomo_reference_head(r, HEAD_MAPPING)}};
  for (size_t i = 0; settings && i < sizeof heads / sizeof *heads; i++)
    (void)json_object_set_new(settings, heads[i].key,
                              *heads[i].value ? command_string(heads[i].value) : json_null());
}

static json_t *data_settings(const invert_job *job)
{
  const invert_options *o = job->options;
  const tomo_kernel_options *k = &o->kernel;
  const tomo_model_options *m = &o->model;
  const bool made_up = !o->data;
  json_t *settings =
    json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "data",
              command_string(o->data), "reference", command_string(job->earth), "test",
              command_string(o->test ? tomo_model_name(m->kind) : NULL), "periods",
              number_if(made_up, k->n_periods), "branches", number_if(made_up, k->n_branches),
              "period_min_s", number_if(made_up, k->period_min_s), "period_max_s",
              number_if(made_up, k->period_max_s), "noise", number_if(o->test, o->noise),
              "amplitude_percent", number_if(o->test, m->amplitude_percent), "cell_degrees",
              number_if(o->test && m->kind != TOMO_MODEL_SPIKE, m->cell_degrees), "cell_depth_km",
              number_if(o->test && m->kind != TOMO_MODEL_SPIKE, m->cell_depth_km), "robust",
              o->robust, "outlier", number_if(o->robust, o->outlier));
  if (job->reference) add_reference(job->reference, settings);
  return settings;
}

/* Returns the numbers of rejected table rows by reason, and the first messages about them. */
static json_t *notes_json(const invert_job *job)
{
  const tomo_data_notes *n = &job->notes;
  json_t *listed = json_array();
  for (int64_t i = 0; i < n->listed; i++)
    (void)json_array_append_new(listed, json_pack("{s:I, s:o}", "place", (json_int_t)n->place[i],
                                                  "what", command_string(n->note[i])));
  return json_pack("{s:I, s:I, s:I, s:I, s:o}", "rows", (json_int_t)n->rows, "unmatched",
                   (json_int_t)n->unmatched, "beyond_distances", (json_int_t)n->distant,
                   "without_sigma", (json_int_t)n->sigma_missing, "unmatched_first", listed);
}

static json_t *data_json(const invert_job *job)
{
  json_t *root = json_pack("{s:I}", "measures", (json_int_t)job->data.n_measures);
  if (job->options->data) (void)json_object_set_new(root, "table", notes_json(job));
  json_t *fit = invert_fit_json(job);
  if (!fit || json_object_set_new(root, "fit", fit) != 0) {
    json_decref(root);
    return NULL;
  }
  if (job->options->robust) (void)json_object_set_new(root, "robust", invert_robust_json(job));
  return root;
}

/* Returns the settings of data and model, which decide the result, as a JSON object. */
static json_t *problem_settings(const invert_options *o)
{
  return json_pack("{s:o, s:o, s:b, s:f, s:f, s:I, s:i, s:i, s:f, s:f, s:f}", "stations",
                   command_string(o->stations ? o->stations : "shipped sample"), "events",
                   command_string(o->events ? o->events : "shipped sample"), "major_arc",
                   o->major_arc, "min_distance_degrees", o->min_distance, "max_distance_degrees",
                   o->max_distance, "max_paths", (json_int_t)o->max_paths, "mesh", o->frequency,
                   "radial", o->n_radial, "depth_km", o->depth_km, "stretch", o->stretch, "sigma",
                   o->kernel.sigma_fraction);
}

/* Returns the settings of the prior and of the arithmetic as a JSON object. */
static json_t *other_settings(const invert_job *job)
{
  const invert_options *o = job->options;
  return json_pack("{s:I, s:f, s:f, s:f, s:s, s:s, s:s, s:s, s:I, s:i, s:b, s:i}", "seed",
                   (json_int_t)o->model.seed, "damping", job->prior.damping, "smoothing",
                   job->prior.lateral, "radial_smoothing", job->prior.radial, "factor",
                   o->factor == INVERT_LU ? "lu" : "cholesky", "layout",
                   invert_stores_triangle(o) ? "triangle" : "square", "precision",
                   o->dtype == OSLA_FLOAT ? "float" : "double", "triangle",
                   o->uplo == OSLA_UPPER ? "upper" : "lower", "nb", (json_int_t)o->nb, "threads",
                   o->threads, "progress_thread", o->progress_thread, "resolution", o->resolution);
}

/* Returns the settings and results of LSQR and CG as a JSON object. */
static json_t *iterative_json(const invert_job *job)
{
  const invert_options *o = job->options;
  const invert_result *r = &job->result;
  if (o->solver == INVERT_DIRECT) return json_pack("{s:s}", "solver", "direct");
  return json_pack("{s:s, s:f, s:I, s:I, s:o, s:I}", "solver", invert_solver_name(o->solver),
                   "tolerance", o->tolerance, "most_iterations", (json_int_t)o->iterations,
                   "iterations", (json_int_t)r->iterations, "left", command_number(r->left),
                   "bytes_rows", (json_int_t)r->rays_bytes);
}

static json_t *sizes_json(const invert_job *job)
{
  const invert_result *r = &job->result;
  char grid[32];
  (void)snprintf(grid, sizeof grid, "%dx%d", osla_grid_nprow(job->grid),
                 osla_grid_npcol(job->grid));
  const checkpoint *c = &job->checkpoint;
  return json_pack(
    "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:s, s:i, s:I, s:I, s:i, s:f}", "command",
    "osla invert", "unknowns", (json_int_t)job->n, "knots", (json_int_t)job->knots, "stations",
    (json_int_t)job->n_stations, "events", (json_int_t)job->n_events, "paths",
    (json_int_t)job->n_paths, "data", (json_int_t)r->data, "updates", (json_int_t)r->updates,
    "elements", (json_int_t)r->elements, "ranks", osla_transport_size(job->t), "grid", grid,
    "nodes", osla_transport_n_nodes(job->t), "bytes_per_rank", (json_int_t)r->bytes,
    "paths_resumed", (json_int_t)c->resumed, "checkpoints", c->written, "seconds_checkpoint",
    c->seconds);
}

static json_t *result_json(const invert_job *job)
{
  const invert_result *r = &job->result;
  return json_pack(
    "{s:f, s:f, s:f, s:o, s:f, s:o, s:o, s:o, s:o, s:o, s:f}", "misfit_before", r->misfit_before,
    "misfit_after", r->misfit_after, "misfit_expected", r->misfit_expected, "variance_reduction",
    command_number(1.0 - r->misfit_after / r->misfit_before), "dense_threshold_km", r->threshold,
    "dense", recovery_json(&r->dense), "sparse", recovery_json(&r->sparse), "all",
    recovery_json(&r->all), "resolution_dense",
    r->sampled_dense > 0 ? command_number(r->resolution_dense) : json_null(), "resolution_sparse",
    r->sampled_sparse > 0 ? command_number(r->resolution_sparse) : json_null(), "seconds_wall",
    r->wall);
}

/* Adds the members of all parts to the JSON object `into`, and releases the parts. Returns false if
 * memory is missing. */
static bool merge_objects(json_t *into, json_t *const *part, int n)
{
  bool added = into != NULL;
  for (int i = 0; i < n; i++) {
    added = added && part[i] && json_object_update(into, part[i]) == 0;
    json_decref(part[i]);
  }
  return added;
}

json_t *invert_settings_json(const invert_job *job)
{
  json_t *settings = json_object();
  json_t *const parts[] = {problem_settings(job->options), other_settings(job),
                           invert_selection_settings(job->options), data_settings(job),
                           reproducible_json(&job->reproducible)};
  if (merge_objects(settings, parts, sizeof parts / sizeof *parts)) return settings;
  json_decref(settings);
  return NULL;
}

static osla_err write_document(const invert_job *job, const invert_phase_times *s)
{
  json_t *root = json_object(), *settings = invert_settings_json(job);
  json_t *const parts[] = {sizes_json(job),     result_json(job),
                           iterative_json(job), invert_selection_json(job),
                           data_json(job),      invert_uncertainty_json(job)};
  bool made = merge_objects(root, parts, sizeof parts / sizeof *parts);
  /* json_object_set_new fails if its value is NULL */
  made = json_object_set_new(root, "settings", settings) == 0 && made;
  made = json_object_set_new(root, "seconds", phases_json(job, s)) == 0 && made;
  if (job->options->report)
    made =
      json_object_set_new(root, "seconds_report", json_real(job->result.report_seconds)) == 0 &&
      made;
  osla_err err = command_json(job->options->json, made ? root : NULL);
  json_decref(root);
  return err;
}

osla_err invert_write_json(invert_job *job)
{
  invert_phase_times s;
  if (!job->options->json) return OSLA_OK;
  OSLA_CALL(invert_gather_phase_times(job, &s));
  return osla_agree(job->t, osla_transport_rank(job->t) == 0 ? write_document(job, &s) : OSLA_OK);
}
