/* True models for recovery tests, field values and the comparison of two models.
 *
 * Checkerboard at latitude b and longitude a of a knot and Greville depth z:
 *   m = A cos(b) sin(pi b / cell) sin(w a) cos(pi z / cell_depth),   w = max(1, round(180 / cell))
 * The factor cos(b) fades the cells out towards the poles, where their width w^-1 cos(b) falls
 * below the resolution of any mesh. Blobs: N gaussians of full width at half maximum `cell` and
 * `cell_depth`, with centres uniform on the sphere and in depth and amplitude +-A; N is chosen so
 * that they overlap about twice. Recovery tests of this kind: Leveque, Rivera & Wittlinger (1993),
 * Geophys. J. Int. 115, 313-318.
 */
#include "apps/tomography/earth/tomo_model.h"

#include <math.h>
#include <stdlib.h>

#include "apps/tomography/earth/tomo_sphere.h"
#include "osla_random.h"

tomo_model_options tomo_model_defaults(void)
{
  return (tomo_model_options){
    .kind = TOMO_MODEL_CHECKERBOARD,
    .amplitude_percent = 5.0,
    .cell_degrees = 25.0,
    .cell_depth_km = 1000.0,
    .seed = 1,
    .n_spikes = 3,
    .spike = {{40.0, -110.0, 100.0}, {0.0, 20.0, 100.0}, {-25.0, 135.0, 100.0}}};
}

const char *tomo_model_name(tomo_model_kind kind)
{
  static const char *const names[TOMO_MODEL_KINDS] = {"checkerboard", "blobs", "spike"};
  return names[kind];
}

static osla_err check_options(const tomo_model_options *o)
{
  OSLA_CHECK((int)o->kind >= 0 && o->kind < TOMO_MODEL_KINDS, OSLA_ERR_ARG,
             "unknown kind of model %d", (int)o->kind);
  OSLA_CHECK(o->n_spikes >= 1 && o->n_spikes <= TOMO_SPIKES_MAX, OSLA_ERR_ARG,
             "%d spikes are outside 1 to %d", o->n_spikes, (int)TOMO_SPIKES_MAX);
  OSLA_CHECK(isfinite(o->amplitude_percent), OSLA_ERR_ARG, "amplitude %g is not finite",
             o->amplitude_percent);
  OSLA_CHECK(o->cell_degrees >= 1.0 && o->cell_degrees <= 180.0, OSLA_ERR_ARG,
             "cell size of %g degrees is outside 1 to 180", o->cell_degrees);
  OSLA_CHECK(o->cell_depth_km >= 0.0 && isfinite(o->cell_depth_km), OSLA_ERR_ARG,
             "cell height %g km is negative or not finite", o->cell_depth_km);
  return OSLA_OK;
}

static double checkerboard(const tomo_model_options *o, double latitude, double longitude,
                           double depth_km)
{
  const double waves = fmax(1.0, round(180.0 / o->cell_degrees));
  const double down = o->cell_depth_km > 0.0 ? cos(M_PI * depth_km / o->cell_depth_km) : 1.0;
  return o->amplitude_percent * cos(latitude * M_PI / 180.0) *
         sin(M_PI * latitude / o->cell_degrees) * sin(waves * longitude * M_PI / 180.0) * down;
}

/* Adds the gaussian with index b to the coefficients. */
static void add_blob(const tomo_model_options *o, uint64_t b, double height_km,
                     const tomo_mesh *mesh, const tomo_radial *radial, double *m)
{
  const double fwhm =
    /* 2 sqrt(2 ln 2), the full width at half maximum for sigma = 1 */
    2.3548200450309493;
  const double sigma = o->cell_degrees * M_PI / 180.0 / fwhm, sigma_km = height_km / fwhm;
  const double z = 2.0 * osla_random_uniform(o->seed, b, 0), ring = sqrt(fmax(0.0, 1.0 - z * z));
  const double angle = 2.0 * M_PI * osla_random_uniform(o->seed, b, 1);
  const double depth = tomo_radial_depth_max(radial) * (osla_random_uniform(o->seed, b, 2) + 0.5);
  const double sign = osla_random_uniform(o->seed, b, 3) < 0.0 ? -1.0 : 1.0;
  const double centre[3] = {ring * cos(angle), ring * sin(angle), z};
  const int n_radial = tomo_radial_count(radial);
  double down[TOMO_RADIAL_MAX];
  for (int r = 0; r < n_radial; r++) {
    double x = (tomo_radial_greville(radial, r) - depth) / sigma_km;
    down[r] = exp(-0.5 * x * x);
  }
  for (int64_t l = 0; l < tomo_mesh_knots(mesh); l++) {
    double x = tomo_distance(centre, tomo_mesh_knot(mesh, l)) / sigma;
    if (x > 6.0) continue;
    double lateral = sign * o->amplitude_percent * exp(-0.5 * x * x);
    for (int r = 0; r < n_radial; r++)
      m[l * n_radial + r] += lateral * down[r];
  }
}

static void fill_checkerboard(const tomo_model_options *o, const tomo_mesh *mesh,
                              const tomo_radial *radial, double *m)
{
  const int n_radial = tomo_radial_count(radial);
  for (int64_t l = 0; l < tomo_mesh_knots(mesh); l++) {
    double latitude, longitude;
    tomo_lat_lon(tomo_mesh_knot(mesh, l), &latitude, &longitude);
    for (int r = 0; r < n_radial; r++)
      m[l * n_radial + r] = checkerboard(o, latitude, longitude, tomo_radial_greville(radial, r));
  }
}

static osla_err add_blobs(const tomo_model_options *o, const tomo_mesh *mesh,
                          const tomo_radial *radial, double *m)
{
  const double depth = tomo_radial_depth_max(radial), cell = o->cell_degrees * M_PI / 180.0;
  const double height = o->cell_depth_km > 0.0 ? o->cell_depth_km : 0.5 * depth;
  const double count = ceil(2.0 * 4.0 * M_PI / (cell * cell) * fmax(1.0, depth / height));
  OSLA_CHECK(count <= 1e7, OSLA_ERR_ARG, "%g blobs of height %g km are too many", count, height);
  for (uint64_t b = 0; b < (uint64_t)count; b++)
    add_blob(o, b, height, mesh, radial, m);
  return OSLA_OK;
}

int64_t tomo_nearest_coefficient(const tomo_mesh *mesh, const tomo_radial *radial,
                                 const tomo_location *place)
{
  double v[3];
  int64_t knot = 0;
  int depth = 0;
  tomo_unit_vector(place->latitude, place->longitude, v);
  for (int64_t l = 1; l < tomo_mesh_knots(mesh); l++)
    if (tomo_distance(v, tomo_mesh_knot(mesh, l)) < tomo_distance(v, tomo_mesh_knot(mesh, knot)))
      knot = l;
  for (int r = 1; r < tomo_radial_count(radial); r++)
    if (fabs(tomo_radial_greville(radial, r) - place->depth_km) <
        fabs(tomo_radial_greville(radial, depth) - place->depth_km))
      depth = r;
  return knot * tomo_radial_count(radial) + depth;
}

osla_err tomo_model_set_true(const tomo_model_options *options, const tomo_mesh *mesh,
                             const tomo_radial *radial, double *m)
{
  const tomo_model_options o = options ? *options : tomo_model_defaults();
  OSLA_CALL(check_options(&o));
  for (int64_t i = 0; i < tomo_mesh_knots(mesh) * tomo_radial_count(radial); i++)
    m[i] = 0.0;
  if (o.kind == TOMO_MODEL_CHECKERBOARD) fill_checkerboard(&o, mesh, radial, m);
  for (int i = 0; o.kind == TOMO_MODEL_SPIKE && i < o.n_spikes; i++)
    m[tomo_nearest_coefficient(mesh, radial, &o.spike[i])] = o.amplitude_percent;
  return o.kind == TOMO_MODEL_BLOBS ? add_blobs(&o, mesh, radial, m) : OSLA_OK;
}

typedef struct moments {
  /* Sums over the compared coefficients, with t the true and m the recovered value: n is the number
   * of coefficients, dd the sum of (m - t)^2; the other members are sums of t, m and their
   * products. */
  double n, t, m, tt, mm, tm, dd;
} moments;

tomo_recovery tomo_model_compare(const double *m_true, const double *m, const double *density,
                                 int64_t knots, int n_radial, double threshold, int below)
{
  tomo_recovery result = {0, NAN, NAN, NAN};
  moments s = {0};
  for (int64_t l = 0; l < knots; l++) {
    if ((density[l] < threshold) != (below != 0)) continue;
    result.knots++;
    for (int64_t i = l * n_radial; i < (l + 1) * n_radial; i++) {
      s.n += 1.0;
      s.t += m_true[i];
      s.m += m[i];
      s.tt += m_true[i] * m_true[i];
      s.mm += m[i] * m[i];
      s.tm += m_true[i] * m[i];
      s.dd += (m[i] - m_true[i]) * (m[i] - m_true[i]);
    }
  }
  if (result.knots == 0) return result;
  const double tt = s.tt - s.t * s.t / s.n, mm = s.mm - s.m * s.m / s.n,
               tm = s.tm - s.t * s.m / s.n;
  if (tt > 0.0 && mm > 0.0) result.correlation = tm / sqrt(tt * mm);
  if (tt > 0.0) result.amplitude = tm / tt;
  if (s.tt > 0.0) result.variance_reduction = 1.0 - s.dd / s.tt;
  return result;
}

static int compare_doubles(const void *left, const void *right)
{
  double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

double tomo_median(double *values, int64_t n)
{
  qsort(values, (size_t)n, sizeof *values, compare_doubles);
  return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

double tomo_density_quantile(const double *density, int64_t knots, double part)
{
  double *sorted = knots > 0 ? malloc((size_t)knots * sizeof *sorted) : NULL;
  if (!sorted) return 0.0;
  for (int64_t l = 0; l < knots; l++)
    sorted[l] = density[l];
  qsort(sorted, (size_t)knots, sizeof *sorted, compare_doubles);
  int64_t at = (int64_t)(fmin(fmax(part, 0.0), 1.0) * (double)(knots - 1));
  double value = sorted[at];
  free(sorted);
  return value;
}
