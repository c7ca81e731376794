/* Private to the scan of priors: the saved Hessian, the corner of the L-curve, cross-validation. */
#ifndef INVERT_SCAN_H
#define INVERT_SCAN_H

#include "apps/tomography/invert/invert.h"

/* A copy of H without the prior, saved while the matrix is factored repeatedly: in the triangle
 * that the factorisation does not use, and the diagonal in an array (invert_saved_hessian.c). The
 * functions are collective. */
typedef struct saved_hessian {
  invert_job *job;
  osla_matrix *h;
  double *diagonal; /* [n] diagonal elements that this rank owns; others 0 */
  bool is_intact;   /* true while the triangle for the factorisation still holds H */
} saved_hessian;

osla_err saved_hessian_open(invert_job *job, saved_hessian *kept);
/* Sets the triangle for the factorisation to H + prior of job->prior. */
osla_err saved_hessian_restore(saved_hessian *kept);
/* Computes *value := m^T H m. */
osla_err saved_hessian_norm(const saved_hessian *kept, const double *m, double *value);
void saved_hessian_close(saved_hessian *kept);

/* Index of the corner of the L-curve (log misfit, log norm) of n priors in ascending order of
 * weight; -1: none. The corner is the point of the largest curvature of the right sign: norms fall
 * before it, misfits rise after it. The curvature at a point is that of the circle through it and
 * its two neighbours. Points that are not finite and positive are ignored. If most of the misfit
 * is noise, or if another part of the prior limits the model, points crowd at an end of the curve,
 * and the curve hardly has the shape of an L. Therefore both axes are scaled to their ranges, of
 * close points only one is used, and a corner must lie below the diagonal of the scaled plot by
 * 0.05 of its length. Hansen, "Analysis of discrete ill-posed problems by means of the L-curve",
 * SIAM Review 34 (1992) 561-580; Cultrera, Callegaro, "A simple algorithm to find the L-curve
 * corner in the regularisation of ill-posed inverse problems", IOP SciNotes 1 (2020) 025004.
 * Local, pure. */
int scan_corner(int n, const double *misfit, const double *norm);

/* Generalised cross-validation N |d - G m|^2 / (N - tr R)^2 with N = data, tr R = freedom (Golub,
 * Heath, Wahba, Technometrics 21 (1979) 215-223), and its standard error from that of the trace.
 * Local, pure. */
double scan_gcv(double data, double misfit, double freedom);
double scan_gcv_error(double data, double misfit, double freedom, double freedom_error);

#endif
