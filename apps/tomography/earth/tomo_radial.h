/* Radial parameterisation: clamped B-splines in depth.
 *
 * The basis has n functions of degree min(3, n - 1) on 0 .. depth_max_km, which add up to 1; values
 * are computed by the Cox-de Boor recurrence (de Boor 1978, "A Practical Guide to Splines", ch.
 * IX-X). Interior breakpoints are depth_max ((1 - stretch) u + stretch u^2) for uniform u: uniform
 * with stretch = 0, finer near the surface as stretch approaches 1. A created basis never changes:
 * all calls are thread-safe.
 */
#ifndef TOMO_RADIAL_H
#define TOMO_RADIAL_H

#include "osla_error.h"

typedef struct tomo_radial tomo_radial;

enum { TOMO_RADIAL_MAX = 64 };

/* Builds a basis, owned by the caller.
 *   n             [in]  number of functions, 1 .. TOMO_RADIAL_MAX
 *   depth_max_km  [in]  0 < depth_max_km <= 6371
 *   stretch       [in]  0 <= stretch < 1
 * Errors: OSLA_ERR_ARG, OSLA_ERR_MEM. */
osla_err tomo_radial_create(int n, double depth_max_km, double stretch, tomo_radial **radial);
void tomo_radial_destroy(tomo_radial **radial);

int tomo_radial_count(const tomo_radial *radial);
double tomo_radial_depth_max(const tomo_radial *radial);

/* Greville depth (km) of function r: the mean of its inner spline knots, the depth that its
 * coefficient represents. With n = 1: half of depth_max. */
double tomo_radial_greville(const tomo_radial *radial, int r);

/* Evaluates all n functions at a depth.
 *   depth_km  [in]   clamped to 0 .. depth_max_km
 *   value     [out]  n */
void tomo_radial_basis(const tomo_radial *radial, double depth_km, double *value);

/* Distinct breakpoints 0 = b[0] < ... < b[count - 1] = depth_max, owned by the basis. The functions
 * are polynomials between two breakpoints. Returns count. */
int tomo_radial_breaks(const tomo_radial *radial, const double **breaks);

#endif
