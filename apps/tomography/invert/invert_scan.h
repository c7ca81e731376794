/* Private to the scan of priors: the Hessian that is kept, and what is read off a curve. */
#ifndef INVERT_SCAN_H
#define INVERT_SCAN_H

#include "apps/tomography/invert/invert.h"

/* H without the prior, kept while its memory is factored again and again: in the triangle that the
 * factorisation leaves alone, and its diagonal beside (invert_kept.c). Collective. */
typedef struct kept_hessian {
  invert_job *job;
  osla_matrix *h;
  double *diagonal; /* [n] the elements that this rank has, else 0 */
  bool whole;       /* the stored triangle is still H's */
} kept_hessian;

osla_err kept_open(invert_job *job, kept_hessian *kept);
osla_err kept_restore(kept_hessian *kept); /* the stored triangle := H + the prior of job->prior */
osla_err kept_norm(const kept_hessian *kept, const double *m, double *value); /* m^T H m */
void kept_close(kept_hessian *kept);

/* The corner of the curve (log misfit, log norm) of n priors in order of their weight: the point of
 * the largest curvature where it turns as an L does, from falling norms to rising misfits; -1:
 * there is none. Points that are not finite and positive are left out. The curvature at a point is
 * that of the circle through it and its two neighbours. Where noise is most of the misfit, or
 * another part of the prior holds the model, points crowd at an end and the curve is hardly an L;
 * so both axes are scaled to their ranges, of a crowd one point is taken, and a corner lies a
 * twentieth of the diagonal below it. Hansen, "Analysis of discrete ill-posed problems by means of
 * the L-curve", SIAM Review 34 (1992) 561-580; Cultrera, Callegaro, "A simple algorithm to find the
 * L-curve corner in the regularisation of ill-posed inverse problems", IOP SciNotes 1 (2020)
 * 025004. Local, pure. */
int scan_corner(int n, const double *misfit, const double *norm);

/* Generalised cross-validation, N |d - G m|^2 / (N - tr R)^2 (Golub, Heath, Wahba, Technometrics 21
 * (1979) 215-223), and its standard error from that of the trace. Local, pure. */
double scan_gcv(double data, double misfit, double freedom);
double scan_gcv_error(double data, double misfit, double freedom, double freedom_error);

#endif
