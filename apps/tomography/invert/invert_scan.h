/* Private parts of the scan of priors: the saved Hessian, the corner of the L-curve,
 * cross-validation. */
#ifndef INVERT_SCAN_H
#define INVERT_SCAN_H

#include "apps/tomography/invert/invert.h"

/* A copy of H without the prior that survives while the matrix is factored repeatedly. It is in the
 * triangle that the factorisation does not use, and its diagonal is in an array
 * (invert_saved_hessian.c). The functions are collective. */
typedef struct saved_hessian {
  invert_job *job;
  osla_matrix *h;
  double *diagonal; /* [n] diagonal elements of H that this rank owns; 0 for other elements */
  bool is_intact;   /* true while the triangle that the factorisation will use still holds H */
} saved_hessian;

osla_err saved_hessian_open(invert_job *job, saved_hessian *kept);
/* Sets the triangle that the factorisation uses to H plus the prior job->prior. */
osla_err saved_hessian_restore(saved_hessian *kept);
/* Computes *value := m^T H m. */
osla_err saved_hessian_norm(const saved_hessian *kept, const double *m, double *value);
void saved_hessian_close(saved_hessian *kept);

/* Returns the index of the corner of the L-curve (log misfit, log norm) of n priors in ascending
 * order of weight; -1: no corner. The corner is the point of the largest curvature where the curve
 * turns from falling norms to rising misfits. The curvature at a point is that of the circle
 * through the point and its two neighbours. Points that are not finite and positive are ignored. If
 * most of the misfit is noise, or if another part of the prior limits the model, points crowd at an
 * end of the curve, and the curve hardly has the shape of an L. Therefore both axes are scaled to
 * their ranges, only one of several close points is used, and a corner must lie below the diagonal
 * of the scaled plot by 0.05 of the length of the diagonal. Hansen, "Analysis of discrete ill-posed
 * problems by means of the L-curve", SIAM Review 34 (1992) 561-580; Cultrera, Callegaro, "A simple
 * algorithm to find the L-curve corner in the regularisation of ill-posed inverse problems", IOP
 * SciNotes 1 (2020) 025004. Local, pure. */
int scan_corner(int n, const double *misfit, const double *norm);

/* Generalised cross-validation N |d - G m|^2 / (N - tr R)^2, where N is the number of data and the
 * trace tr R is `freedom` (Golub, Heath, Wahba, Technometrics 21 (1979) 215-223). Also sets the
 * standard error of this value, which follows from the standard error of the trace. Local, pure. */
double scan_gcv(double data, double misfit, double freedom);
double scan_gcv_error(double data, double misfit, double freedom, double freedom_error);

#endif
