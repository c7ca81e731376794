/* The result file and the picture, written by rank 0. */
#include "command_files.h"
#include "invert.h"
#include "osla_log.h"
#include "tomo_map.h"
#include "tomo_store.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* The outputs, and the shipped tables where the user names none. */
osla_err invert_check_files(const invert_job *job, bool room)
{
  const invert_options *o = job->options;
  const uint64_t n = (uint64_t)job->n, bytes = 3 * n * sizeof(double);
  const uint64_t matrix = n * n * osla_dtype_size(o->dtype); /* a checkpoint's: H fits the memory */
  char stations[PATH_MAX] = "", events[PATH_MAX] = "";
  osla_err err = OSLA_OK;
  if (osla_transport_rank(job->t) == 0) {
    err = invert_name_tables(job, stations, events);
    const osla_command_file files[] = {
      {"--output", o->output, OSLA_FILE_REPLACED, bytes},
      {"--map", o->map, OSLA_FILE_REPLACED, 0},
      {"--json", o->json, OSLA_FILE_REPLACED, 0},
      {"--checkpoint", o->checkpoint, OSLA_FILE_CHECKPOINT, matrix},
      {"--stations", stations, OSLA_FILE_READ, 0},
      {"--events", events, OSLA_FILE_READ, 0}};
    const int count = sizeof files / sizeof *files;
    if (err == OSLA_OK)
      err = room ? osla_command_check_room(files, count) : osla_command_check_files(files, count);
  }
  return osla_agree(job->t, err);
}

static osla_err add_bounds(const reproducible *r, tomo_store *store)
{
  OSLA_CALL(tomo_store_add_number(store, "reproducible", r->on));
  if (!r->on) return OSLA_OK;
  OSLA_CALL(tomo_store_add_number(store, "bound", r->bound[BOUND_OF_H]));
  OSLA_CALL(tomo_store_add_text(store, "bound_from", r->from[BOUND_OF_H]));
  OSLA_CALL(tomo_store_add_number(store, "gradient_bound", r->bound[BOUND_OF_GRADIENT]));
  return tomo_store_add_text(store, "gradient_bound_from", r->from[BOUND_OF_GRADIENT]);
}

static osla_err add_settings(const invert_job *job, tomo_store *store)
{
  const invert_options *o = job->options;
  const invert_result *r = &job->result;
  const struct {
    const char *name;
    double value;
  } numbers[] = {
    {"mesh_frequency", o->frequency},
    {"n_radial", o->n_radial},
    {"depth_km", o->depth_km},
    {"stretch", o->stretch},
    {"n_periods", o->kernel.n_periods},
    {"n_branches", o->kernel.n_branches},
    {"period_min_s", o->kernel.period_min_s},
    {"period_max_s", o->kernel.period_max_s},
    {"sigma_fraction", o->kernel.sigma_fraction},
    {"noise", o->noise},
    {"seed", (double)o->model.seed},
    {"amplitude_percent", o->model.amplitude_percent},
    {"cell_degrees", o->model.cell_degrees},
    {"cell_depth_km", o->model.cell_depth_km},
    {"min_distance_degrees", o->min_distance},
    {"max_distance_degrees", o->max_distance},
    {"major_arc", o->major_arc},
    {"damping", o->prior.damping},
    {"smoothing", o->prior.lateral},
    {"radial_smoothing", o->prior.radial},
    {"paths", (double)job->n_paths},
    {"data", (double)r->data},
    {"misfit_before", r->misfit_before},
    {"misfit_after", r->misfit_after},
    {"misfit_expected", r->misfit_expected},
    {"correlation_dense", r->dense.correlation},
    {"correlation_sparse", r->sparse.correlation},
    {"dense_threshold_km", r->threshold},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    OSLA_CALL(tomo_store_add_number(store, numbers[i].name, numbers[i].value));
  OSLA_CALL(add_bounds(&job->reproducible, store));
  OSLA_CALL(tomo_store_add_text(store, "stations", o->stations ? o->stations : "shipped sample"));
  OSLA_CALL(tomo_store_add_text(store, "events", o->events ? o->events : "shipped sample"));
  OSLA_CALL(tomo_store_add_text(store, "solver", invert_solver_name(o->solver)));
  OSLA_CALL(tomo_store_add_text(store, "factor", o->factor == INVERT_LU ? "lu" : "cholesky"));
  OSLA_CALL(tomo_store_add_text(store, "precision", o->dtype == OSLA_FLOAT ? "float" : "double"));
  return tomo_store_add_text(store, "true_model",
                             o->model.kind == TOMO_MODEL_BLOBS ? "blobs" : "checkerboard");
}

/* Latitudes and longitudes of the knots, depths of the radial functions. */
static void list_places(const invert_job *job, double *latitude, double *longitude, double *depth)
{
  for (int64_t l = 0; l < job->knots; l++) {
    tomo_lat_lon(tomo_mesh_knot(job->mesh, l), &latitude[l], &longitude[l]);
    latitude[l] = tomo_geographic_latitude(latitude[l]);
  }
  for (int r = 0; r < job->options->n_radial; r++)
    depth[r] = tomo_radial_greville(job->radial, r);
}

static osla_err fill_store(const invert_job *job, tomo_store *store, double *latitude,
                           double *longitude, double *depth)
{
  const int64_t model[2] = {job->knots, job->options->n_radial};
  const int64_t knots[1] = {job->knots}, radial[1] = {job->options->n_radial};
  list_places(job, latitude, longitude, depth);
  OSLA_CALL(tomo_store_add_array(store, "model", "percent", 2, model, job->m));
  OSLA_CALL(
    tomo_store_add_array(store, "true_model_coefficients", "percent", 2, model, job->m_true));
  OSLA_CALL(tomo_store_add_array(store, "gradient", "1/percent", 2, model, job->gradient));
  OSLA_CALL(tomo_store_add_array(store, "ray_density", "km", 1, knots, job->density));
  OSLA_CALL(tomo_store_add_array(store, "latitude", "degrees", 1, knots, latitude));
  OSLA_CALL(tomo_store_add_array(store, "longitude", "degrees", 1, knots, longitude));
  OSLA_CALL(tomo_store_add_array(store, "depth", "km", 1, radial, depth));
  return add_settings(job, store);
}

static osla_err write_store(const invert_job *job)
{
  tomo_store *store = NULL;
  double *latitude = malloc((size_t)job->knots * sizeof *latitude);
  double *longitude = malloc((size_t)job->knots * sizeof *longitude);
  double *depth = malloc((size_t)job->options->n_radial * sizeof *depth);
  osla_err err = OSLA_OK;
  if (!latitude || !longitude || !depth) err = osla_error_set(OSLA_ERR_MEM, "result file");
  if (err == OSLA_OK) err = tomo_store_create(&store);
  if (err == OSLA_OK) err = fill_store(job, store, latitude, longitude, depth);
  if (err == OSLA_OK) err = tomo_store_write(store, job->options->output);
  tomo_store_destroy(&store);
  free(latitude);
  free(longitude);
  free(depth);
  return err;
}

static osla_err write_map(invert_job *job)
{
  const invert_options *o = job->options;
  char title[128];
  (void)snprintf(title, sizeof title, "%" PRId64 " paths, %" PRId64 " unknowns", job->n_paths,
                 job->n);
  tomo_map map = {.mesh = job->mesh,
                  .radial = job->radial,
                  .m_true = job->m_true,
                  .m_recovered = job->m,
                  .density = job->density,
                  .depth_km = o->map_depth_km,
                  .stations = job->stations,
                  .n_stations = job->n_stations,
                  .events = job->events,
                  .n_events = job->n_events,
                  .title = title,
                  .data_directory = o->data_directory};
  osla_err err = tomo_map_write(&map, o->map);
  job->result.map_written = err == OSLA_OK;
  if (err != OSLA_ERR_UNSUPPORTED) return err;
  osla_log(-1, "no map: %s", osla_error_text());
  return OSLA_OK;
}

osla_err invert_write_output(invert_job *job)
{
  osla_err err = OSLA_OK;
  char text[512];
  if (osla_transport_rank(job->t) == 0) {
    /* The slow one first: a job that is killed while gnuplot draws leaves no file. A picture that
     * fails does not cost the model. */
    osla_err map = job->options->map ? write_map(job) : OSLA_OK;
    if (map != OSLA_OK) (void)snprintf(text, sizeof text, "%s", osla_error_text());
    if (job->options->output) err = write_store(job);
    if (err == OSLA_OK && map != OSLA_OK) err = osla_error_set(map, "%s", text);
  }
  return osla_agree(job->t, err);
}
