/* The inversion of `osla invert` done serially on every rank, from the problem that a job
 * describes: panels of tomo_path, cblas_dsyrk, LAPACK. Upper triangle, column-major, order n. */
#ifndef INVERT_REFERENCE_H
#define INVERT_REFERENCE_H

#include "apps/tomography/invert/invert.h"

typedef struct invert_reference {
  int64_t n;
  double *hessian;    /* [n * n] with the prior */
  double *prior;      /* [n * n] C_m^-1 alone */
  double *gradient;   /* [n] */
  double *density;    /* [knots] */
  double *model;      /* [n] after reference_solve */
  double *resolution; /* [n] diagonal of R after reference_solve */
  double misfit_before, misfit_after;
} invert_reference;

/* Assembles over the job's list of paths. Local; false after a failed assertion. */
bool reference_assemble(const invert_job *job, invert_reference *out);

/* dpotrf, dpotrs for the model and for all columns of the resolution matrix; the misfit. Local. */
bool reference_solve(const invert_job *job, invert_reference *reference);

/* inverse [n * n] := (H + P)^-1, both triangles: dpotrf, dpotri. After reference_assemble. Local.
 */
void reference_invert(const invert_reference *reference, double *inverse);

void reference_free(invert_reference *reference);

#endif
