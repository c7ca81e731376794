/* Fields on a grid as a netCDF file (contract: tomo_grid_file.h).
 *
 * Coordinates have axis, units and standard_name (CF 1.8, sections 4.1 to 4.3), with depth positive
 * down. The horizontal datum is a grid mapping (section 5.6) with the WGS84 ellipsoid, in whose
 * geographic latitudes stations and earthquakes are given. node_offset = 0 and actual_range tell
 * GMT that the nodes are on the grid lines.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "apps/tomography/readers/tomo_grid_file.h"

#include <math.h>

static int count_steps(double step)
{
  return (int)lround(180.0 / step);
}

osla_err tomo_grid_check(const char *option, double step)
{
  OSLA_CHECK(step >= 0.1 && step <= 30.0, OSLA_ERR_ARG, "%s: %g is outside 0.1 to 30 degrees",
             option, step);
  OSLA_CHECK(fabs(180.0 / step - count_steps(step)) < 1e-6, OSLA_ERR_ARG,
             "%s: 180 degrees are not a whole number of steps of %g", option, step);
  return OSLA_OK;
}

uint64_t tomo_grid_bytes(double step, int depths, int variables, int flat_variables)
{
  const uint64_t down = (uint64_t)count_steps(step) + 1, across = 2 * (down - 1) + 1;
  const uint64_t layers =
    (uint64_t)depths * (uint64_t)(variables - flat_variables) + (uint64_t)flat_variables;
  return down * across * layers * sizeof(float);
}

#ifdef HAVE_NETCDF

#include <netcdf.h>
#include <netcdf_mem.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/earth/tomo_sphere.h"
#include "tools/common/library_files.h"

enum { LONGITUDE, LATITUDE, DEPTH, AXES };

typedef struct grid_writer {
  const tomo_grid_file *what;
  int id;           /* netCDF's id of the file */
  int length[AXES]; /* number of points on each axis */
  int dimension[AXES], axis[AXES];
  int variable[TOMO_GRID_VARIABLES_MAX];
  float range[TOMO_GRID_VARIABLES_MAX][2]; /* least and greatest value of each variable */
  int code;                                /* first error of netCDF, or NC_NOERR */
} grid_writer;

static void record_error(grid_writer *g, int code)
{
  if (g->code == NC_NOERR) g->code = code;
}

static void put_text(grid_writer *g, int variable, const char *name, const char *text)
{
  char *clean = text ? strdup(text) : NULL;
  if (!text) return;
  if (!clean) {
    record_error(g, NC_ENOMEM);
    return;
  }
  for (char *c = clean; *c; c++)
    if ((unsigned char)*c < ' ' || (unsigned char)*c > '~') *c = '?';
  record_error(g, nc_put_att_text(g->id, variable, name, strlen(clean), clean));
  free(clean);
}

static void put_range(grid_writer *g, int variable, double low, double high)
{
  const double range[2] = {low, high};
  record_error(g, nc_put_att_double(g->id, variable, "actual_range", NC_DOUBLE, 2, range));
}

/* --- definitions --- */

static void define_axes(grid_writer *g)
{
  static const struct {
    const char *name, *units, *letter;
  } axes[AXES] = {
    {"longitude", "degrees_east", "X"}, {"latitude", "degrees_north", "Y"}, {"depth", "km", "Z"}};
  for (int i = 0; i < AXES; i++) {
    record_error(g, nc_def_dim(g->id, axes[i].name, (size_t)g->length[i], &g->dimension[i]));
    record_error(g, nc_def_var(g->id, axes[i].name, NC_DOUBLE, 1, &g->dimension[i], &g->axis[i]));
    put_text(g, g->axis[i], "standard_name", axes[i].name);
    put_text(g, g->axis[i], "long_name", axes[i].name);
    put_text(g, g->axis[i], "units", axes[i].units);
    put_text(g, g->axis[i], "axis", axes[i].letter);
  }
  const double *depth = g->what->slices->depth_km;
  put_range(g, g->axis[LONGITUDE], -180.0, 180.0);
  put_range(g, g->axis[LATITUDE], -90.0, 90.0);
  put_range(g, g->axis[DEPTH], depth[0], depth[g->length[DEPTH] - 1]);
  put_text(g, g->axis[DEPTH], "positive", "down");
}

static void define_datum(grid_writer *g)
{
  const double axis = 6378137.0, flattening = 298.257223563;
  int crs = 0;
  record_error(g, nc_def_var(g->id, "crs", NC_INT, 0, NULL, &crs));
  put_text(g, crs, "grid_mapping_name", "latitude_longitude");
  put_text(g, crs, "long_name", "WGS84, geographic latitudes");
  record_error(g, nc_put_att_double(g->id, crs, "semi_major_axis", NC_DOUBLE, 1, &axis));
  record_error(g, nc_put_att_double(g->id, crs, "inverse_flattening", NC_DOUBLE, 1, &flattening));
}

static void put_range_of(grid_writer *g, int i)
{
  record_error(g,
               nc_put_att_float(g->id, g->variable[i], "actual_range", NC_FLOAT, 2, g->range[i]));
}

static void define_variables(grid_writer *g)
{
  const int deep[AXES] = {g->dimension[DEPTH], g->dimension[LATITUDE], g->dimension[LONGITUDE]};
  for (int i = 0; i < g->what->n_variables; i++) {
    const tomo_variable *v = &g->what->variable[i];
    const bool flat = v->field.flat;
    record_error(g, nc_def_var(g->id, v->name, NC_FLOAT, flat ? 2 : 3, flat ? deep + 1 : deep,
                               &g->variable[i]));
    put_text(g, g->variable[i], "long_name", v->long_name);
    put_text(g, g->variable[i], "units", v->units);
    put_text(g, g->variable[i], "comment", v->comment);
    put_text(g, g->variable[i], "ancillary_variables", v->ancillary);
    put_text(g, g->variable[i], "grid_mapping", "crs");
    g->range[i][0] = INFINITY;
    g->range[i][1] = -INFINITY;
    put_range_of(g, i); /* reserves space for the attribute; make_image sets its value at the end */
  }
}

static void define(grid_writer *g)
{
  const int on_lines = 0;
  put_text(g, NC_GLOBAL, "Conventions", "CF-1.8");
  put_text(g, NC_GLOBAL, "title", g->what->title);
  put_text(g, NC_GLOBAL, "source", g->what->source);
  put_text(g, NC_GLOBAL, "history", g->what->history);
  put_text(g, NC_GLOBAL, "references", g->what->references);
  record_error(g, nc_put_att_int(g->id, NC_GLOBAL, "node_offset", NC_INT, 1, &on_lines));
  define_axes(g);
  define_datum(g);
  define_variables(g);
  record_error(g, nc_enddef(g->id));
}

/* --- values --- */

static double longitude(const grid_writer *g, int i)
{
  return (360.0 * i) / (g->length[LONGITUDE] - 1) - 180.0;
}

static double latitude(const grid_writer *g, int j)
{
  return (180.0 * j) / (g->length[LATITUDE] - 1) - 90.0;
}

static void put_axes(grid_writer *g)
{
  for (size_t i = 0; i < (size_t)g->length[LONGITUDE]; i++) {
    const double x = longitude(g, (int)i);
    record_error(g, nc_put_var1_double(g->id, g->axis[LONGITUDE], &i, &x));
  }
  for (size_t j = 0; j < (size_t)g->length[LATITUDE]; j++) {
    const double y = latitude(g, (int)j);
    record_error(g, nc_put_var1_double(g->id, g->axis[LATITUDE], &j, &y));
  }
  record_error(g, nc_put_var_double(g->id, g->axis[DEPTH], g->what->slices->depth_km));
}

/* Evaluates all fields along one parallel at all depths: value[field][depth][longitude]. */
static void evaluate_parallel(const grid_writer *g, int j, double *value)
{
  const int n = g->length[LONGITUDE], depths = g->length[DEPTH], fields = g->what->n_variables;
  tomo_field field[TOMO_GRID_VARIABLES_MAX];
  double *to[TOMO_GRID_VARIABLES_MAX], v[3];
  for (int f = 0; f < fields; f++)
    field[f] = g->what->variable[f].field;
  for (int i = 0; i < n - 1; i++) {
    for (int f = 0; f < fields; f++)
      to[f] = value + (int64_t)f * depths * n + i;
    tomo_unit_vector(latitude(g, j), longitude(g, i), v);
    tomo_slices_at(g->what->slices, v, fields, field, to, n);
  }
  for (int row = 0; row < fields * depths; row++)
    value[(int64_t)row * n + n - 1] = value[(int64_t)row * n];
}

static void widen(float range[2], const double *value, int64_t count)
{
  for (int64_t i = 0; i < count; i++) {
    range[0] = fminf(range[0], (float)value[i]);
    range[1] = fmaxf(range[1], (float)value[i]);
  }
}

static void put_values(grid_writer *g)
{
  const int depths = g->length[DEPTH], n = g->length[LONGITUDE];
  const size_t most = (size_t)g->what->n_variables * (size_t)depths * (size_t)n;
  double *value = calloc(most, sizeof *value);
  if (!value) record_error(g, NC_ENOMEM);
  for (int j = 0; j < g->length[LATITUDE] && g->code == NC_NOERR; j++) {
    evaluate_parallel(g, j, value);
    for (int f = 0; f < g->what->n_variables; f++) {
      const bool flat = g->what->variable[f].field.flat;
      const size_t start[AXES] = {0, (size_t)j, 0}, count[AXES] = {(size_t)depths, 1, (size_t)n};
      widen(g->range[f], value + (int64_t)f * depths * n, (int64_t)(flat ? 1 : depths) * n);
      record_error(g,
                   nc_put_vara_double(g->id, g->variable[f], flat ? start + 1 : start,
                                      flat ? count + 1 : count, value + (int64_t)f * depths * n));
    }
  }
  free(value);
}

/* --- the file --- */

bool tomo_grid_can_write(void)
{
  return true;
}

/* Makes the file's contents in memory; the caller frees image->memory. */
static int make_image(const tomo_grid_file *what, NC_memio *image)
{
  const int steps = count_steps(what->step_degrees), depths = what->slices->n;
  grid_writer g = {.what = what, .length = {2 * steps + 1, steps + 1, depths}};
  const uint64_t bytes =
    tomo_grid_bytes(what->step_degrees, depths, what->n_variables, 0) + (1 << 16);
  int code = nc_create_mem("osla.nc", NC_64BIT_OFFSET, bytes, &g.id);
  if (code != NC_NOERR) return code;
  record_error(&g, nc_set_fill(g.id, NC_NOFILL, NULL));
  define(&g);
  if (g.code == NC_NOERR) put_axes(&g);
  if (g.code == NC_NOERR) put_values(&g);
  for (int i = 0; i < what->n_variables && g.code == NC_NOERR; i++)
    put_range_of(&g, i);
  code = nc_close_memio(g.id, image);
  record_error(&g, code);
  return g.code;
}

osla_err tomo_grid_write(const tomo_grid_file *grid, const char *file)
{
  NC_memio image = {.memory = NULL};
  const int depths = grid->slices->n;
  const uint64_t bytes = tomo_grid_bytes(grid->step_degrees, depths, 1, 0);
  OSLA_CHECK(bytes < UINT32_MAX - 4, OSLA_ERR_RANGE,
             "%s: a variable of %llu bytes; the format has at most 4 GiB: a larger step, fewer "
             "depths",
             file, (unsigned long long)bytes);
  const int code = make_image(grid, &image);
  osla_err err = code == NC_NOERR ? osli_new_file_write(file, image.memory, image.size)
                                  : osla_error_set(code == NC_ENOMEM ? OSLA_ERR_MEM : OSLA_ERR_IO,
                                                   "%s: netCDF: %s", file, nc_strerror(code));
  free(image.memory);
  return err;
}

#else

bool tomo_grid_can_write(void)
{
  return false;
}

osla_err tomo_grid_write(const tomo_grid_file *grid, const char *file)
{
  (void)grid;
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "%s: this build has no netCDF", file);
}

#endif
