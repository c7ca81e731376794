/* Options of `osla invert` for input lists and for netCDF and XDMF output: table and checks. */
#include "config.h"

#include "apps/tomography/invert/invert.h"
#include "apps/tomography/readers/tomo_grid_file.h"
#include "apps/tomography/readers/tomo_store.h"
#include "tools/common/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOW POPT_ARGFLAG_SHOW_DEFAULT

void invert_file_table(invert_file_options *f, struct poptOption *table)
{
  const struct poptOption all[INVERT_FILE_OPTIONS] = {
    {"stations", 's', POPT_ARG_ARGV, &f->stations, 0,
     "stations: SPECFEM STATIONS columns, CSV with header, FDSN text or StationXML; may be given "
     "several times",
     "FILE"},
    {"events", 'e', POPT_ARG_ARGV, &f->events, 0,
     "earthquakes: CSV with latitude and longitude, the ISC's CSV, FDSN text, GCMT NDK or QuakeML; "
     "may be given several times",
     "FILE"},
    {"time", '\0', POPT_ARG_STRING, &f->time, 0,
     "use earthquakes of this time (ISO 8601, UTC; one end may be empty), and stations with an "
     "epoch in it",
     "FROM/UNTIL"},
    {"magnitude", '\0', POPT_ARG_STRING, &f->magnitude, 0,
     "use earthquakes of these magnitudes; one end may be empty", "MIN/MAX"},
    {"region", '\0', POPT_ARG_STRING, &f->region, 0,
     "use earthquakes between these longitudes and latitudes", "W/E/S/N"},
    {"station-region", '\0', POPT_ARG_STRING, &f->station_region, 0,
     "use stations between these longitudes and latitudes", "W/E/S/N"},
    {"netcdf", '\0', POPT_ARG_STRING, &f->netcdf, 0,
     "write the model on a grid, for GMT, xarray and others (netCDF, CF conventions)", "FILE"},
    {"netcdf-step", '\0', POPT_ARG_DOUBLE | SHOW, &f->step_degrees, 0,
     "spacing of the netCDF grid; 180 must be a multiple", "DEG"},
    {"slices", '\0', POPT_ARG_STRING, &f->slices, 0,
     "depths of --netcdf and --xdmf (default: those of the radial functions)", "KM,KM,..."},
    {"xdmf", '\0', POPT_ARG_STRING, &f->xdmf, 0,
     "describe the result file for ParaView, and add a mesh to it", "FILE"},
    POPT_TABLEEND};
  memcpy(table, all, sizeof all);
}

/* Sets *text to the names of all files, "A, B, C", or to NULL if there are no files. `line` owns
 * the text. */
static osla_err join(struct command_line *line, char *const *files, const char **text)
{
  size_t length = 1;
  *text = NULL;
  if (!files) return OSLA_OK;
  for (int i = 0; files[i]; i++)
    length += strlen(files[i]) + 2;
  char *all = calloc(length, 1);
  for (int i = 0; all && files[i]; i++)
    strcat(strcat(all, i > 0 ? ", " : ""), files[i]);
  OSLA_CHECK(command_own_memory(line, all), OSLA_ERR_MEM, "no memory for the names of files");
  *text = all;
  return OSLA_OK;
}

static osla_err check_slices(invert_file_options *f, double depth_km)
{
  double last = -1.0;
  for (const char *at = f->slices; at; f->n_slices++) {
    char *end;
    const double x = strtod(at, &end);
    OSLA_CHECK(end > at && (*end == ',' || *end == '\0') && isfinite(x), OSLA_ERR_ARG,
               "--slices: '%.40s' does not begin with a number and a comma", at);
    OSLA_CHECK(x >= 0.0 && x <= depth_km, OSLA_ERR_ARG,
               "--slices: %g km is outside the model, 0 to %g", x, depth_km);
    OSLA_CHECK(x > last, OSLA_ERR_ARG, "--slices: %g km after %g km: depths must ascend", x, last);
    OSLA_CHECK(f->n_slices < INVERT_SLICES_MAX, OSLA_ERR_ARG, "--slices: more than %d depths",
               INVERT_SLICES_MAX);
    f->slice_km[f->n_slices] = last = x;
    at = *end ? end + 1 : NULL;
  }
  return OSLA_OK;
}

int invert_count_slices(const invert_options *o, const double **depth_km)
{
  *depth_km = o->files.n_slices > 0 ? o->files.slice_km : NULL;
  return o->files.n_slices > 0 ? o->files.n_slices : o->n_radial;
}

static bool ends_in(const char *text, const char *suffix)
{
  const size_t length = strlen(text), n = strlen(suffix);
  return length >= n && strcmp(text + length - n, suffix) == 0;
}

static osla_err check_outputs(const invert_options *o)
{
  const invert_file_options *f = &o->files;
  OSLA_CHECK(!f->slices || f->netcdf || f->xdmf, OSLA_ERR_ARG,
             "--slices requires --netcdf or --xdmf");
  if (f->netcdf) OSLA_CALL(tomo_grid_check("--netcdf-step", f->step_degrees));
  OSLA_CHECK(!f->netcdf || tomo_grid_can_write(), OSLA_ERR_UNSUPPORTED,
             "--netcdf: this build has no netCDF");
  if (!f->xdmf) return OSLA_OK;
  OSLA_CHECK(strcmp(tomo_store_suffix(), ".h5") == 0, OSLA_ERR_UNSUPPORTED,
             "--xdmf: this build has no HDF5");
  OSLA_CHECK(o->output, OSLA_ERR_ARG, "--xdmf requires --output, the file that it describes");
  OSLA_CHECK(!ends_in(o->output, ".osla"), OSLA_ERR_ARG,
             "--xdmf requires an HDF5 file, and --output %s ends in .osla (plain format)",
             o->output);
  return OSLA_OK;
}

osla_err invert_check_file_options(invert_options *o, struct command_line *line)
{
  invert_file_options *f = &o->files;
  f->choice = tomo_selection_all();
  OSLA_CALL(join(line, f->stations, &o->stations));
  OSLA_CALL(join(line, f->events, &o->events));
  if (f->time) OSLA_CALL(tomo_selection_parse_time(&f->choice, "--time", f->time));
  if (f->magnitude)
    OSLA_CALL(tomo_selection_parse_magnitude(&f->choice, "--magnitude", f->magnitude));
  if (f->region) OSLA_CALL(tomo_selection_parse_region(&f->choice.events, "--region", f->region));
  if (f->station_region)
    OSLA_CALL(
      tomo_selection_parse_region(&f->choice.stations, "--station-region", f->station_region));
  OSLA_CALL(check_slices(f, o->depth_km));
  return check_outputs(o);
}
