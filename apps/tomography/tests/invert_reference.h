/* The inversion of `osla invert`, computed serially on every rank from the problem of a job:
 * panels of tomo_path, cblas_dsyrk, LAPACK. Matrices are column-major of order n, upper triangle.
 */
#ifndef INVERT_REFERENCE_H
#define INVERT_REFERENCE_H

#include "apps/tomography/invert/invert.h"

typedef struct invert_reference {
  int64_t n;
  double *hessian;    /* [n * n] H + P: Hessian H of the data misfit plus prior P */
  double *prior;      /* [n * n] prior P = C_m^-1, the inverse covariance of the model */
  double *gradient;   /* [n] */
  double *density;    /* [knots] ray density */
  double *model;      /* [n] model, set by reference_solve */
  double *resolution; /* [n] diagonal of the resolution matrix, set by reference_solve */
  double misfit_before, misfit_after;
} invert_reference;

/* Assembles the paths of the job's list. Local; false after a failed assertion. */
bool reference_assemble(const invert_job *job, invert_reference *out);

/* Computes the model, the diagonal of the resolution matrix and the misfit by dpotrf and dpotrs.
 * Local. */
bool reference_solve(const invert_job *job, invert_reference *reference);

/* Sets inverse[n * n] to (H + P)^-1, both triangles, by dpotrf and dpotri. Needs the result of
 * reference_assemble. Local.
 */
void reference_invert(const invert_reference *reference, double *inverse);

void reference_free(invert_reference *reference);

/* Field of the coefficients m at a point (geographic degrees, km), in percent. Local. */
double reference_field(const tomo_mesh *mesh, const tomo_radial *radial, const double *m,
                       double latitude, double longitude, double depth_km);

#endif
