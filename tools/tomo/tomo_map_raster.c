/* The coloured part of the maps: fields evaluated at every pixel of the projected ellipse.
 *
 * One evaluation of the lateral basis serves all panels. The density panel shows km of path per
 * 1000 km^2: density[l] over the mean area of a knot. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tomo_map_parts.h"
#include "tomo_projection.h"
#include "tomo_sphere.h"

const char *const map_raster_name[PANELS] = {"true.bin", "recovered.bin", "density.bin"};

typedef struct rasters {
  float *pixel[PANELS]; /* NULL = no such panel */
} rasters;

static double column_value(const double *m, const int32_t *knot, const double *weight, int count,
                           const double *basis, int n_radial)
{
  double sum = 0.0;
  for (int i = 0; i < count; i++)
    for (int r = 0; r < n_radial; r++)
      sum += weight[i] * basis[r] * m[(int64_t)knot[i] * n_radial + r];
  return sum;
}

static void fill_pixel(const tomo_map *map, const double *basis, size_t at, const double v[3],
                       rasters *out)
{
  const double pi = 3.14159265358979323846, r2 = TOMO_EARTH_RADIUS_KM * TOMO_EARTH_RADIUS_KM;
  const double knot_area = 4.0 * pi * r2 / (double)tomo_mesh_knots(map->mesh);
  const int n_radial = tomo_radial_count(map->radial);
  const double one[1] = {1.0};
  int32_t knot[TOMO_MESH_SUPPORT];
  double weight[TOMO_MESH_SUPPORT];
  const int count = tomo_mesh_basis(map->mesh, v, knot, weight);
  if (map->m_true)
    out->pixel[PANEL_TRUE][at] =
      (float)column_value(map->m_true, knot, weight, count, basis, n_radial);
  out->pixel[PANEL_RECOVERED][at] =
    (float)column_value(map->m_recovered, knot, weight, count, basis, n_radial);
  out->pixel[PANEL_DENSITY][at] =
    (float)(column_value(map->density, knot, weight, count, one, 1) / knot_area * 1000.0);
}

static void fill(const tomo_map *map, rasters *out)
{
  double basis[TOMO_RADIAL_MAX];
  tomo_radial_basis(map->radial, map->depth_km, basis);
  for (int row = 0; row < MAP_HEIGHT; row++)
    for (int column = 0; column < MAP_WIDTH; column++) {
      const size_t at = (size_t)row * MAP_WIDTH + (size_t)column;
      const double x = -2.0 + 4.0 * (column + 0.5) / MAP_WIDTH;
      const double y = -1.0 + 2.0 * (row + 0.5) / MAP_HEIGHT;
      double latitude, longitude, v[3];
      if (projection_inverse(x, y, &latitude, &longitude)) {
        tomo_unit_vector(latitude, longitude, v);
        fill_pixel(map, basis, at, v, out);
      } else {
        for (int p = 0; p < PANELS; p++)
          if (out->pixel[p]) out->pixel[p][at] = NAN;
      }
    }
}

/* The next of 1, 2, 3, 5, 7 times a power of ten that is not below x > 0. */
static double nice_above(double x)
{
  static const double step[] = {1.0, 2.0, 3.0, 5.0, 7.0, 10.0};
  const double power = pow(10.0, floor(log10(x)));
  for (int i = 0; i < 6; i++)
    if (step[i] * power >= x * (1.0 - 1e-9)) return step[i] * power;
  return 10.0 * power;
}

static void extremes(const float *pixel, double *low, double *high)
{
  *low = INFINITY;
  *high = -INFINITY;
  for (size_t i = 0; i < (size_t)MAP_WIDTH * MAP_HEIGHT; i++) {
    if (isnan(pixel[i])) continue;
    *low = fmin(*low, (double)pixel[i]);
    *high = fmax(*high, (double)pixel[i]);
  }
}

/* Colours up to the larger of the true model's extreme and the recovered model's; the latter counts
 * only up to twice the former, so that a few wild values do not bleach the map. */
static void choose_ranges(const tomo_map *map, const rasters *in, map_ranges *ranges)
{
  double low, high, truth = 0.0;
  extremes(in->pixel[PANEL_RECOVERED], &low, &high);
  double percent = fmax(fabs(low), fabs(high));
  if (map->m_true) {
    extremes(in->pixel[PANEL_TRUE], &low, &high);
    truth = fmax(fabs(low), fabs(high));
    if (truth > 0.0) percent = truth;
  }
  ranges->percent = percent > 0.0 && isfinite(percent) ? nice_above(percent) : 1.0;
  extremes(in->pixel[PANEL_DENSITY], &low, &high);
  if (!(high > 0.0) || !isfinite(high)) high = 1.0;
  low = fmax(low, high / 300.0);
  ranges->density_high = nice_above(high);
  ranges->density_low = fmin(nice_above(low) == low ? low : nice_above(0.5 * low), 0.5 * high);
  float *density = in->pixel[PANEL_DENSITY];
  for (size_t i = 0; i < (size_t)MAP_WIDTH * MAP_HEIGHT; i++)
    if (density[i] < (float)ranges->density_low) density[i] = (float)ranges->density_low;
}

osla_err map_write_rasters(const tomo_map *map, map_files *files, map_ranges *ranges)
{
  const size_t pixels = (size_t)MAP_WIDTH * MAP_HEIGHT;
  osla_err err = OSLA_OK;
  rasters out = {{NULL}};
  float *memory = malloc(PANELS * pixels * sizeof *memory);
  OSLA_CHECK(memory, OSLA_ERR_MEM, "no memory for maps of %zu pixels", pixels);
  for (int p = 0; p < PANELS; p++)
    out.pixel[p] = p == PANEL_TRUE && !map->m_true ? NULL : memory + (size_t)p * pixels;
  fill(map, &out);
  choose_ranges(map, &out, ranges);
  for (int p = 0; p < PANELS; p++) {
    FILE *file;
    if (!out.pixel[p]) continue;
    OSLA_TRY(map_open(files, map_raster_name[p], &file));
    fwrite(out.pixel[p], sizeof(float), pixels, file);
    OSLA_TRY(map_close(map_raster_name[p], file));
  }
cleanup:
  free(memory);
  return err;
}
