/* Exact modes of simple Earth models, for test_reference*.c. */
#ifndef EARTH_CHECK_H
#define EARTH_CHECK_H

#include "apps/tomography/reference/mode.h"

/* Functions of the frequency (rad/s) that are zero at the modes of order l of a homogeneous sphere
 * without gravity; source: Lamb (1882). */
typedef struct homogeneous {
  double radius, vp, vs;
  int l;
} homogeneous;
double check_toroidal(const homogeneous *sphere, double omega);
double check_spheroidal(const homogeneous *sphere, double omega);

/* Number of sign changes of a function below omega, counted on a grid of frequencies. */
int check_roots_below(double (*function)(const homogeneous *, double), const homogeneous *sphere,
                      double omega);

/* Makes a model of n shells with the given tops (km), densities and isotropic velocities, without
 * dispersion.
 */
earth_model *check_model(int n, const double *top, const double *rho, const double *vp,
                         const double *vs);

/* Makes a radial mesh with its matrices; NULL after a failed assertion. */
radial_system *check_system(const earth_model *model, radial_kind kind,
                            const radial_options *options);
void check_system_end(radial_system **system);

#endif
