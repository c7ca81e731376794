/* One mode, found at a frequency, with a real angular order; its group velocity and kernel. */
#ifndef MODE_H
#define MODE_H

#include "apps/tomography/reference/radial.h"

typedef struct mode {
  int branch;    /* branch of the mode; 0: the fundamental mode */
  double omega;  /* angular frequency, rad/s */
  double lambda; /* angular order l + 1/2 */
  double c, u; /* phase and group velocity, km/s; the group velocity includes physical dispersion */
  double q;    /* attenuation 1 / Q */
  double slope; /* derivative x^T dT/dlambda x of the energy by lambda */
  double *x;    /* [mesh->n_dofs] eigenvector of the mode */
} mode;

/* Number of branches with a phase velocity between MODE_SLOWEST (km/s) and c at the system's
 * frequency. */
enum { MODE_SLOWEST = 1 };
int mode_count(radial_system *system, double c);

/* Finds the mode of a branch at omega. *found is false if its phase velocity is not below
 * `fastest`. The caller destroys the mode. Errors: MEM, STATE (the iteration does not converge). */
osla_err mode_find(radial_system *system, double omega, int branch, double fastest, mode *m,
                   bool *found);
/* Moves m along its branch to a nearby frequency; m is the start of the iteration and the
 * result. */
osla_err mode_follow(radial_system *system, double omega, mode *m);
/* Finds the mode of a branch at lambda = l + 1/2, l >= 3, in the system's model. *found is false if
 * it is not slower than `fastest`. For checks: omega is found by bisection, too. */
osla_err mode_at_order(radial_system *system, double lambda, int branch, double fastest, mode *m,
                       bool *found);
void mode_destroy(mode *m);

/* dln c / dln Vs per km at a radius of an element, at the mode's frequency. */
double mode_kernel(const radial_mesh *mesh, const mode *m, int element, double r);

#endif
