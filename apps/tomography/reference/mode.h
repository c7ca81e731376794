/* One mode: found at a frequency, for a real angular order; its group velocity and its kernel. */
#ifndef MODE_H
#define MODE_H

#include "apps/tomography/reference/radial.h"

typedef struct mode {
  int branch;    /* 0: the fundamental one */
  double omega;  /* rad/s */
  double lambda; /* l + 1/2 */
  double c, u;   /* phase and group velocity, km/s; the latter with the change of velocity with
                    frequency that dispersion makes */
  double q;      /* 1 / Q */
  double slope;  /* x^T dT/dlambda x */
  double *x;     /* [mesh->n_dofs] the eigenvector */
} mode;

/* How many branches have a phase velocity between MODE_SLOWEST (km/s) and c at the system's
 * frequency? */
enum { MODE_SLOWEST = 1 };
int mode_count(radial_system *system, double c);

/* The mode of a branch at omega, if its phase velocity is below `fastest`: *found. The caller
 * destroys it. Errors: MEM, STATE (the iteration does not converge). */
osla_err mode_find(radial_system *system, double omega, int branch, double fastest, mode *m,
                   bool *found);
/* The same branch at a frequency nearby, beginning with m; m is changed. */
osla_err mode_follow(radial_system *system, double omega, mode *m);
/* The mode of a branch at lambda = l + 1/2, l >= 3, in the system's model, if it is slower than
 * `fastest`: *found. For checks: omega is found by bisection, too. */
osla_err mode_at_order(radial_system *system, double lambda, int branch, double fastest, mode *m,
                       bool *found);
void mode_destroy(mode *m);

/* dln c / dln Vs per km at a radius of an element, at this frequency. */
double mode_kernel(const radial_mesh *mesh, const mode *m, int element, double r);

#endif
