/* Clamped B-splines in depth.
 *
 *   B_{r,0}(z) = 1 on [t_r, t_{r+1}),  B_{r,p} = (z - t_r) / (t_{r+p} - t_r) B_{r,p-1}
 *                                             + (t_{r+p+1} - z) / (t_{r+p+1} - t_{r+1}) B_{r+1,p-1}
 * Only the p + 1 functions that are not zero in the interval are computed.
 * Source: de Boor (1978), "A Practical Guide to Splines", ch. X, algorithm BSPLVB.
 */
#include "apps/tomography/earth/tomo_radial.h"

#include <math.h>
#include <stdlib.h>

enum { DEGREE_MAX = 3 };

struct tomo_radial {
  int count;
  int degree;
  double knot[TOMO_RADIAL_MAX + DEGREE_MAX + 1]; /* the clamped knot vector, km */
};

osla_err tomo_radial_create(int n, double depth_max_km, double stretch, tomo_radial **out)
{
  *out = NULL;
  OSLA_CHECK(n >= 1 && n <= TOMO_RADIAL_MAX, OSLA_ERR_ARG,
             "%d radial functions are outside 1 to %d", n, TOMO_RADIAL_MAX);
  OSLA_CHECK(depth_max_km > 0.0 && depth_max_km <= 6371.0, OSLA_ERR_ARG,
             "greatest depth %g km is outside 0 to 6371", depth_max_km);
  OSLA_CHECK(stretch >= 0.0 && stretch < 1.0, OSLA_ERR_ARG, "stretch %g is outside 0 to 1",
             stretch);
  tomo_radial *radial = calloc(1, sizeof *radial);
  OSLA_CHECK(radial, OSLA_ERR_MEM, "no memory for %d radial functions", n);
  const int degree = n - 1 < DEGREE_MAX ? n - 1 : DEGREE_MAX, intervals = n - degree;
  radial->count = n;
  radial->degree = degree;
  for (int i = 0; i <= n + degree; i++) {
    double u = (double)(i - degree) / intervals;
    u = fmin(fmax(u, 0.0), 1.0);
    radial->knot[i] = depth_max_km * ((1.0 - stretch) * u + stretch * u * u);
  }
  *out = radial;
  return OSLA_OK;
}

void tomo_radial_destroy(tomo_radial **radial)
{
  free(*radial);
  *radial = NULL;
}

int tomo_radial_count(const tomo_radial *radial)
{
  return radial->count;
}

double tomo_radial_depth_max(const tomo_radial *radial)
{
  return radial->knot[radial->count];
}

double tomo_radial_greville(const tomo_radial *radial, int r)
{
  if (radial->degree == 0) return 0.5 * (radial->knot[r] + radial->knot[r + 1]);
  double sum = 0.0;
  for (int i = 1; i <= radial->degree; i++)
    sum += radial->knot[r + i];
  return sum / radial->degree;
}

int tomo_radial_breaks(const tomo_radial *radial, const double **breaks)
{
  *breaks = radial->knot + radial->degree;
  return radial->count - radial->degree + 1;
}

void tomo_radial_basis(const tomo_radial *radial, double depth_km, double *value)
{
  const int n = radial->count, degree = radial->degree;
  const double *t = radial->knot;
  const double z = fmin(fmax(depth_km, 0.0), t[n]);
  int interval = degree;
  while (interval < n - 1 && z >= t[interval + 1])
    interval++;
  for (int r = 0; r < n; r++)
    value[r] = 0.0;
  /* values of the functions that are not zero in the interval */
  double *b = value + interval - degree;
  b[0] = 1.0;
  for (int p = 1; p <= degree; p++) {
    double saved = 0.0;
    for (int j = 0; j < p; j++) {
      double right = t[interval + 1 + j] - z, left = z - t[interval + 1 - p + j];
      double share = b[j] / (right + left);
      b[j] = saved + right * share;
      saved = left * share;
    }
    b[p] = saved;
  }
}
