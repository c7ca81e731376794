/* One mode, found at a frequency, with a real angular order; its group velocity and kernel. */
#ifndef MODE_H
#define MODE_H

#include "apps/tomography/reference/radial.h"

typedef struct mode {
  int branch;    /* branch of the mode; 0: the fundamental mode */
  double omega;  /* angular frequency, rad/s */
  double lambda; /* angular order l + 1/2 */
  double c,      /* phase velocity, km/s */
    u;           /* group velocity, which includes physical dispersion, km/s */
  double q;      /* attenuation 1 / Q */
  double slope;  /* derivative x^T (dT/dlambda) x of the mode's energy with respect to lambda */
  double *x;     /* [mesh->n_dofs] eigenvector of the mode */
} mode;

/* lower bound of phase velocities in km/s; slower modes are oscillations of the fluids */
enum { MODE_SLOWEST = 1 };

/* Finds the mode of a branch at omega. *found is false if the mode's phase velocity is not below
 * `fastest`. The caller destroys the mode. Errors: MEM, STATE (the iteration does not converge). */
osla_err mode_find(radial_system *system, double omega, int branch, double fastest, mode *m,
                   bool *found);
/* Replaces the mode m by the mode of the same branch at a nearby frequency omega. The iteration
 * starts from m. */
osla_err mode_follow(radial_system *system, double omega, mode *m);
/* Finds the mode of a branch at a given order lambda = l + 1/2, l >= 3, by bisection in omega;
 * slow, for checks. *found is false if the mode is not slower than `fastest`. */
osla_err mode_at_order(radial_system *system, double lambda, int branch, double fastest, mode *m,
                       bool *found);
void mode_destroy(mode *m);

/* Kernel of the mode's phase velocity, dln c / dln Vs per km, at radius r in an element. */
double mode_kernel(const radial_mesh *mesh, const mode *m, int element, double r);

/* Velocities and kernels of surface waves on a spherical Earth: a row of a reference table
 * (doc/reference.md). */
/* Lists the depths at which a table gives kernels, which are linear in between. The depths are
 * denser near the surface and reach the bottom of the uppermost solid; the depth of a discontinuity
 * is listed twice. The caller frees *depth. Errors: MEM. */
osla_err surface_depths(const earth_model *model, int *n, double **depth);

typedef struct surface_row {
  double period, /* seconds */
    c,           /* phase velocity, km/s */
    u;           /* group velocity, km/s */
  double *by_c,  /* [n] d ln c / d ln Vs per km of depth; allocated by the caller */
    *by_u;       /* [n] d ln u / d ln Vs per km of depth; allocated by the caller */
} surface_row;

/* Computes the row of a branch and period. *found is false if the branch's phase velocity is not
 * below `fastest`. Errors: MEM, STATE. */
osla_err surface_row_make(radial_system *system, double period, int branch, double fastest, int n,
                          const double *depth, surface_row *row, bool *found);

#endif
