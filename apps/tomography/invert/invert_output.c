/* Writing of all output files by rank 0: the result file, pictures and reports. */
#include "apps/tomography/draw/tomo_map.h"
#include "apps/tomography/earth/tomo_prisms.h"
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/readers/tomo_store.h"
#include "apps/tomography/report/invert_page.h"
#include "osla_clock.h"
#include "osla_log.h"
#include "tools/common/library_files.h"
#include "tools/common/report_directory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static osla_err add_bounds(const reproducible *r, tomo_store *store)
{
  OSLA_CALL(tomo_store_add_number(store, "reproducible", r->on));
  if (!r->on) return OSLA_OK;
  OSLA_CALL(tomo_store_add_number(store, "bound", r->bound[BOUND_OF_H]));
  OSLA_CALL(tomo_store_add_text(store, "bound_from", r->from[BOUND_OF_H]));
  OSLA_CALL(tomo_store_add_number(store, "gradient_bound", r->bound[BOUND_OF_GRADIENT]));
  return tomo_store_add_text(store, "gradient_bound_from", r->from[BOUND_OF_GRADIENT]);
}

typedef struct setting {
  const char *name;
  double value;
} setting;

static osla_err add_numbers(const setting *numbers, size_t count, tomo_store *store)
{
  for (size_t i = 0; i < count; i++)
    OSLA_CALL(tomo_store_add_number(store, numbers[i].name, numbers[i].value));
  return OSLA_OK;
}

/* Adds the settings of synthetic measurements to the result file. */
static osla_err add_made_up(const invert_options *o, tomo_store *store)
{
  const setting numbers[] = {{"n_periods", o->kernel.n_periods},
                             {"n_branches", o->kernel.n_branches},
                             {"period_min_s", o->kernel.period_min_s},
                             {"period_max_s", o->kernel.period_max_s}};
  return add_numbers(numbers, sizeof numbers / sizeof *numbers, store);
}

static osla_err add_test(const invert_job *job, tomo_store *store)
{
  const invert_options *o = job->options;
  const invert_result *r = &job->result;
  const setting numbers[] = {{"noise", o->noise},
                             {"amplitude_percent", o->model.amplitude_percent},
                             {"cell_degrees", o->model.cell_degrees},
                             {"cell_depth_km", o->model.cell_depth_km},
                             {"correlation_dense", r->dense.correlation},
                             {"correlation_sparse", r->sparse.correlation}};
  OSLA_CALL(add_numbers(numbers, sizeof numbers / sizeof *numbers, store));
  return tomo_store_add_text(store, "true_model", tomo_model_name(o->model.kind));
}

static osla_err add_settings(const invert_job *job, tomo_store *store)
{
  const invert_options *o = job->options;
  const invert_result *r = &job->result;
  const setting numbers[] = {
    {"mesh_frequency", o->frequency},
    {"n_radial", o->n_radial},
    {"depth_km", o->depth_km},
    {"stretch", o->stretch},
    {"sigma_fraction", o->kernel.sigma_fraction},
    {"seed", (double)o->model.seed},
    {"min_distance_degrees", o->min_distance},
    {"max_distance_degrees", o->max_distance},
    {"major_arc", o->major_arc},
    {"damping", job->prior.damping},
    {"smoothing", job->prior.lateral},
    {"radial_smoothing", job->prior.radial},
    {"paths", (double)job->n_paths},
    {"data", (double)r->data},
    {"misfit_before", r->misfit_before},
    {"misfit_after", r->misfit_after},
    {"misfit_expected", r->misfit_expected},
    {"dense_threshold_km", r->threshold},
  };
  OSLA_CALL(add_numbers(numbers, sizeof numbers / sizeof *numbers, store));
  OSLA_CALL(add_bounds(&job->reproducible, store));
  OSLA_CALL(tomo_store_add_text(store, "stations", o->stations ? o->stations : "shipped sample"));
  OSLA_CALL(tomo_store_add_text(store, "events", o->events ? o->events : "shipped sample"));
  OSLA_CALL(tomo_store_add_text(store, "solver", invert_solver_name(o->solver)));
  OSLA_CALL(tomo_store_add_text(store, "factor", o->factor == INVERT_LU ? "lu" : "cholesky"));
  OSLA_CALL(tomo_store_add_text(store, "precision", o->dtype == OSLA_FLOAT ? "float" : "double"));
  OSLA_CALL(tomo_store_add_text(store, "reference", job->earth));
  if (o->data)
    OSLA_CALL(tomo_store_add_text(store, "data_table", o->data));
  else
    OSLA_CALL(add_made_up(o, store));
  return o->test ? add_test(job, store) : OSLA_OK;
}

/* Makes lists of the latitudes and longitudes of the knots, and of the depths of the radial
 * functions. */
static void list_places(const invert_job *job, double *latitude, double *longitude, double *depth)
{
  for (int64_t l = 0; l < job->knots; l++)
    tomo_lat_lon(tomo_mesh_knot(job->mesh, l), &latitude[l], &longitude[l]);
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
  if (job->m_true)
    OSLA_CALL(
      tomo_store_add_array(store, "true_model_coefficients", "percent", 2, model, job->m_true));
  OSLA_CALL(tomo_store_add_array(store, "gradient", "1/percent", 2, model, job->gradient));
  OSLA_CALL(tomo_store_add_array(store, "ray_density", "km", 1, knots, job->density));
  OSLA_CALL(tomo_store_add_array(store, "latitude", "degrees", 1, knots, latitude));
  OSLA_CALL(tomo_store_add_array(store, "longitude", "degrees", 1, knots, longitude));
  OSLA_CALL(tomo_store_add_array(store, "depth", "km", 1, radial, depth));
  OSLA_CALL(invert_store_uncertainty(job, store));
  return add_settings(job, store);
}

static osla_err write_store(const invert_job *job)
{
  tomo_store *store = NULL;
  tomo_prisms *prisms = NULL;
  double *latitude = malloc((size_t)job->knots * sizeof *latitude);
  double *longitude = malloc((size_t)job->knots * sizeof *longitude);
  double *depth = malloc((size_t)job->options->n_radial * sizeof *depth);
  osla_err err = OSLA_OK;
  if (!latitude || !longitude || !depth)
    err = osla_error_set(OSLA_ERR_MEM, "no memory for result file");
  if (err == OSLA_OK) err = tomo_store_create(&store);
  if (err == OSLA_OK) err = fill_store(job, store, latitude, longitude, depth);
  if (err == OSLA_OK && job->options->files.xdmf) err = invert_make_prisms(job, &prisms);
  if (err == OSLA_OK && prisms) err = tomo_prisms_store(prisms, store);
  if (err == OSLA_OK) err = tomo_store_write(store, job->options->output);
  if (err == OSLA_OK && prisms) err = invert_write_xdmf(job, prisms);
  tomo_prisms_destroy(&prisms);
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
                  .world = invert_world(job),
                  .title = title};
  osla_err err = tomo_map_write(&map, o->map);
  job->result.map_written = err == OSLA_OK;
  if (err != OSLA_ERR_UNSUPPORTED) return err;
  osla_log(-1, "no map: %s", osla_error_text());
  return OSLA_OK;
}

static osla_err write_page(invert_job *job, const invert_phase_times *times)
{
  const double start = osla_clock();
  const osla_err err = invert_write_page(job, times);
  job->result.report_seconds = osla_clock() - start;
  return err;
}

/* --scan-plot: draws the L-curve and the cross-validation side by side in one picture. */
enum { WIDTH = 1120, HEIGHT = 420 };

static osla_err draw_charts(const invert_scan *scan, const char *file, tomo_draw **draw)
{
  const tomo_box left = {94, 14, 452, 290}, right = {94 + WIDTH / 2, 14, 452, 290};
  const tomo_world world = {.frame = tomo_frame_world(0.0)};
  scan_chart chart;
  int picture;
  void *bytes = NULL;
  size_t size;
  OSLA_CALL(osli_new_file_check(file, 0));
  OSLA_CALL(tomo_draw_create(&world, draw));
  OSLA_CALL(tomo_draw_begin(*draw, tomo_draw_format_of(file), WIDTH, HEIGHT, &picture));
  invert_chart_corners(scan, &chart);
  tomo_draw_chart(*draw, &chart.chart, left);
  invert_chart_validation(scan, &chart);
  tomo_draw_chart(*draw, &chart.chart, right);
  OSLA_CALL(tomo_draw_start(*draw));
  OSLA_CALL(tomo_draw_wait(*draw));
  osla_err err = tomo_draw_read_picture(*draw, picture, &bytes, &size);
  if (err == OSLA_OK) err = osli_new_file_write(file, bytes, size);
  free(bytes);
  return err;
}

static osla_err plot_scan(const invert_job *job)
{
  tomo_draw *drawing = NULL;
  const char *file = job->options->scan_plot;
  osla_err err = draw_charts(&job->scan, file, &drawing);
  tomo_draw_destroy(&drawing);
  if (err != OSLA_ERR_UNSUPPORTED) return err;
  osla_log(-1, "%s: no picture of the scan: %s", file, osla_error_text());
  return OSLA_OK;
}

/* Writes all requested files. Pictures come first because drawing is slow: if the job is killed
 * while gnuplot draws, no output file exists yet. The model is written even if a picture failed. */
static osla_err write_all(invert_job *job, const invert_phase_times *times)
{
  char text[512];
  osla_err err = OSLA_OK, drawn = job->options->scan_plot ? plot_scan(job) : OSLA_OK;
  if (drawn == OSLA_OK && job->options->map) drawn = write_map(job);
  if (drawn == OSLA_OK && job->options->report) drawn = write_page(job, times);
  if (drawn != OSLA_OK) (void)snprintf(text, sizeof text, "%s", osla_error_text());
  if (job->options->output) err = write_store(job);
  if (err == OSLA_OK && job->options->files.netcdf) err = invert_write_netcdf(job);
  if (err == OSLA_OK && drawn != OSLA_OK) err = osla_error_set(drawn, "%s", text);
  return err;
}

/* Waits for rank 0 without using the processor, which rank 0 and gnuplot need; a wait in MPI would
 * keep a core busy. */
static osla_err wait_for_writer(const invert_job *job)
{
  const struct timespec pause = {.tv_nsec = 2000000};
  MPI_Request request;
  int done = 0;
  OSLA_MPI(MPI_Ibarrier(osla_transport_comm(job->t), &request));
  while (!done) {
    OSLA_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (!done) (void)nanosleep(&pause, NULL);
  }
  return OSLA_OK;
}

osla_err invert_write_output(invert_job *job)
{
  osla_err err = OSLA_OK;
  invert_phase_times times;
  OSLA_CALL(invert_gather_phase_times(job, &times));
  if (osla_transport_rank(job->t) == 0) err = write_all(job, &times);
  const osla_err waited = wait_for_writer(job);
  return osla_agree(job->t, err == OSLA_OK ? waited : err);
}
