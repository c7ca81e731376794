/* The model on a grid, as a netCDF file (--netcdf). */
#include "config.h"

#include "apps/tomography/invert/invert.h"
#include "apps/tomography/readers/tomo_grid_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t invert_netcdf_bytes(const invert_job *job)
{
  const double *depth_km;
  const int depths = invert_count_slices(job->options, &depth_km);
  return tomo_grid_bytes(job->options->files.step_degrees, depths, 3, 1);
}

/* Returns the text "2026-01-31T12:00:00Z: osla invert ..." with the present time and the command
 * line. The caller frees the text. NULL: no memory. */
static char *make_history(const invert_job *job)
{
  char when[32], *text = NULL;
  size_t length;
  time_t now = time(NULL);
  struct tm utc;
  FILE *out = open_memstream(&text, &length);
  if (!out) return NULL;
  (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  (void)fprintf(out, "%s: ", when);
  invert_put_command(job->options, out);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

int invert_list_variables(const invert_job *job, tomo_variable *v, char ancillary[80])
{
  const double *deviation = job->posterior.deviation, *resolution = job->posterior.resolution;
  int n = 0;
  (void)snprintf(ancillary, 80, "%s%sray_density", deviation ? "dlnvs_deviation " : "",
                 resolution ? "dlnvs_resolution " : "");
  v[n++] = (tomo_variable){"dlnvs",   "relative perturbation of isotropic shear-wave velocity",
                           "percent", NULL,
                           ancillary, {job->m, false}};
  if (deviation)
    v[n++] = (tomo_variable){
      "dlnvs_deviation",
      "standard deviation of dlnvs",
      "percent",
      "mean of the standard deviations of the coefficients, by the weights with which they make "
      "dlnvs: at most so much is the standard deviation of dlnvs, whatever their correlations",
      NULL,
      {deviation, false}};
  if (resolution)
    v[n++] = (tomo_variable){
      "dlnvs_resolution",
      "diagonal of the resolution matrix",
      "1",
      "mean of the diagonal elements of the coefficients, by the weights with which they make "
      "dlnvs; 1: the data decide, 0: the prior",
      NULL,
      {resolution, false}};
  if (job->m_true)
    v[n++] = (tomo_variable){"dlnvs_true", "dlnvs of the model that made the data",
                             "percent",    NULL,
                             NULL,         {job->m_true, false}};
  v[n++] = (tomo_variable){
    "ray_density",
    "length of paths for each knot of the model",
    "km",
    "each path's length is shared out to the knots that it passes, by their lateral functions",
    NULL,
    {job->density, true}};
  return n;
}

osla_err invert_write_netcdf(const invert_job *job)
{
  const invert_file_options *f = &job->options->files;
  tomo_variable variable[TOMO_GRID_VARIABLES_MAX];
  tomo_slices *slices = NULL;
  char title[160], ancillary[80], *history = make_history(job);
  OSLA_CHECK(history, OSLA_ERR_MEM, "no memory for the history of %s", f->netcdf);
  (void)snprintf(title, sizeof title,
                 "Surface-wave tomography: %" PRId64 " paths, %" PRId64 " unknowns", job->n_paths,
                 job->n);
  const double *depth_km;
  const int depths = invert_count_slices(job->options, &depth_km);
  osla_err err = tomo_slices_create(job->mesh, job->radial, depths, depth_km, &slices);
  if (err == OSLA_OK) {
    const tomo_grid_file grid = {.slices = slices,
                                 .step_degrees = f->step_degrees,
                                 .n_variables = invert_list_variables(job, variable, ancillary),
                                 .variable = variable,
                                 .title = title,
                                 .source = "osla " PACKAGE_VERSION ", osla invert",
                                 .history = history,
                                 .references = "French, Zheng, Romanowicz, Yelick (2015), IPDPS; "
                                               "splines: Wang, Dahlen (1995), Geophys. Res. Lett. "
                                               "22, 3099-3102"};
    err = tomo_grid_write(&grid, f->netcdf);
  }
  tomo_slices_destroy(&slices);
  free(history);
  return err;
}
