/* See tomo_views.h. Pixels of an equal-area map have equal areas, so that a fraction of the pixels
 * is a fraction of the area. */
#include "apps/tomography/draw/tomo_views.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double within = 0.98;

static double mean_of(const tomo_views *v)
{
  double sum = 0.0;
  int64_t n = 0;
  for (int64_t p = 0; p < v->pixels; p++)
    if (!isnan(v->density[p])) {
      sum += (double)v->density[p];
      n++;
    }
  return n ? sum / (double)n : 0.0;
}

/* Returns a hundredth of the mean ray density, rounded to one digit. Maps are grey where the
 * density is lower. */
static double least_of(double mean)
{
  if (!(mean > 0.0)) return DBL_MIN;
  const double power = pow(10.0, floor(log10(0.01 * mean)));
  return fmax(1.0, round(0.01 * mean / power)) * power;
}

osla_err tomo_views_create(const tomo_mesh *mesh, const tomo_radial *radial, const double *density,
                           const tomo_frame *frame, int width, tomo_views **views)
{
  osla_err err = OSLA_OK;
  const int64_t knots = tomo_mesh_knots(mesh);
  tomo_views *v = *views = calloc(1, sizeof *v);
  OSLA_CHECK(v, OSLA_ERR_MEM, "no memory for maps");
  v->mesh = mesh;
  v->radial = radial;
  OSLA_TRY(tomo_raster_of_map(mesh, frame, width, &v->raster));
  v->pixels = (int64_t)v->raster->width * v->raster->height;
  v->density = malloc((size_t)v->pixels * sizeof *v->density);
  v->field = malloc((size_t)knots * sizeof *v->field);
  if (!v->density || !v->field)
    OSLA_TRY(osla_error_set(OSLA_ERR_MEM, "no memory for maps of %d pixels", width));
  for (int64_t l = 0; l < knots; l++)
    v->field[l] = density[l] * tomo_density_scale(mesh);
  tomo_raster_fill(v->raster, v->field, v->density);
  v->least_density = least_of(mean_of(v));
cleanup:
  if (err != OSLA_OK) tomo_views_destroy(views);
  return err;
}

void tomo_views_destroy(tomo_views **views)
{
  if (!*views) return;
  tomo_raster_destroy(&(*views)->raster);
  free((*views)->density);
  free((*views)->field);
  free(*views);
  *views = NULL;
}

void tomo_views_fill(tomo_views *v, const double *m, double depth_km, float *value)
{
  tomo_field_at_depth(v->mesh, v->radial, m, depth_km, v->field);
  tomo_raster_fill(v->raster, v->field, value);
}

static bool is_seen(const tomo_views *v, int64_t pixel)
{
  return (double)v->density[pixel] >= v->least_density;
}

double tomo_views_grey(const tomo_views *v)
{
  int64_t inside = 0, seen = 0;
  for (int64_t p = 0; p < v->pixels; p++) {
    inside += !isnan(v->density[p]);
    seen += is_seen(v, p);
  }
  return inside ? (double)(inside - seen) / (double)inside : 0.0;
}

static bool is_beyond(float value, const tomo_scale *s, bool above)
{
  const double more = 1e-6 * (s->high - s->low);
  return above ? (double)value > s->high + more : (double)value < s->low - more;
}

double tomo_views_clipped(const tomo_views *v, const float *value, const tomo_scale *scale)
{
  int64_t seen = 0, beyond = 0;
  for (int64_t p = 0; p < v->pixels; p++) {
    if (!is_seen(v, p)) continue;
    seen++;
    beyond += is_beyond(value[p], scale, false) || is_beyond(value[p], scale, true);
  }
  return seen ? (double)beyond / (double)seen : 0.0;
}

/* Finds the smallest interval [*low, *high] that holds the central part of the values of each of n
 * maps. Grey pixels do not count. If `of_size` is true, absolute values replace the values. */
static osla_err find_quantiles(const tomo_views *v, float *const *value, int n, bool of_size,
                               double *low, double *high)
{
  float *all = malloc((size_t)v->pixels * sizeof *all);
  OSLA_CHECK(all, OSLA_ERR_MEM, "no memory for map of %lld pixels", (long long)v->pixels);
  for (int i = 0; i < n; i++) {
    int64_t count = 0;
    for (int64_t p = 0; p < v->pixels; p++)
      if (is_seen(v, p) && isfinite(value[i][p]))
        all[count++] = of_size ? fabsf(value[i][p]) : value[i][p];
    const double most = tomo_scale_quantile(all, count, within);
    const double least = tomo_scale_quantile(all, count, 1.0 - within);
    *high = i ? fmax(*high, most) : most;
    *low = i ? fmin(*low, least) : least;
  }
  free(all);
  return OSLA_OK;
}

static void find_ends(const tomo_views *v, float *const *value, int n, tomo_scale *scale)
{
  scale->below = scale->above = false;
  for (int i = 0; i < n; i++)
    for (int64_t p = 0; p < v->pixels; p++) {
      if (!is_seen(v, p)) continue;
      scale->below = scale->below || is_beyond(value[i][p], scale, false);
      scale->above = scale->above || is_beyond(value[i][p], scale, true);
    }
}

osla_err tomo_views_anomaly_scale(const tomo_views *v, float *const *value, int n,
                                  const char *label, tomo_scale *scale)
{
  double low, size;
  OSLA_CALL(find_quantiles(v, value, n, true, &low, &size));
  const double end = tomo_scale_round(size);
  *scale = (tomo_scale){.palette = TOMO_PALETTE_ANOMALY, .low = -end, .high = end, .label = label};
  find_ends(v, value, n, scale);
  return OSLA_OK;
}

osla_err tomo_views_amount_scale(const tomo_views *v, float *const *value, int n,
                                 tomo_palette palette, const char *label, tomo_scale *scale)
{
  double high, low;
  OSLA_CALL(find_quantiles(v, value, n, false, &low, &high));
  high = tomo_scale_round(high);
  /* The scale begins at 0, unless half of the colours would then be unused. */
  const double step = tomo_scale_round(0.1 * high);
  low = low > 0.5 * high ? step * floor(low / step) : 0.0;
  if (low >= high) low = 0.0;
  *scale = (tomo_scale){.palette = palette, .low = low, .high = high, .label = label};
  find_ends(v, value, n, scale);
  return OSLA_OK;
}

osla_err tomo_views_density_scale(const tomo_views *v, tomo_scale *scale)
{
  float *value[1] = {v->density};
  double high, low;
  OSLA_CALL(find_quantiles(v, value, 1, false, &low, &high));
  high = tomo_scale_round(high);
  low = fmax(low, high / 300.0);
  const double power = pow(10.0, floor(log10(low)));
  low = fmin(floor(low / power) * power, 0.5 * high);
  *scale = (tomo_scale){.palette = TOMO_PALETTE_AMOUNT,
                        .low = low,
                        .high = high,
                        .logarithmic = true,
                        .label = "km of path per 1000 km²"};
  find_ends(v, value, 1, scale);
  return OSLA_OK;
}
