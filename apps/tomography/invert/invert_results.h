/* Results of `osla invert` besides the model, as plain arrays. All ranks have the same results
 * unless a comment says otherwise. A pointer is NULL if its result was not requested. */
#ifndef INVERT_RESULTS_H
#define INVERT_RESULTS_H

#include "apps/tomography/earth/tomo_reference.h"

#include <stdbool.h>
#include <stdint.h>

/* Misfit of each measure (wave, observable, branch, period), as sums of squared whitened residuals
 * (invert_fit.c). */
typedef struct invert_fit {
  int count;             /* number of measures that have data */
  tomo_measure *measure; /* [count] the measures, ordered by wave, observable, branch, period */
  int64_t *data;         /* [count] number of data */
  double *before;        /* [count] misfit of the zero model */
  double *after;         /* [count] misfit of the model */
} invert_fit;

/* Results of --robust (invert_robust.c). */
typedef struct invert_robust {
  int passes;   /* number of models computed after the first model */
  bool settled; /* true if the weights have converged: further weights would hardly differ */
  /* robust standard deviation of the residuals from which the weights were made, in units of sigma
   */
  double scale;
  int64_t outliers;  /* number of data with reduced weight */
  int64_t skips;     /* number of data rejected as cycle skips */
  int64_t *skips_of; /* [number of measures] number of cycle skips of each measure */
  /* [data] buffer of the pass that computes residuals; NULL outside of that pass */
  double *residual;
} invert_robust;

/* Uncertainty of the model (invert_posterior.c). Arrays are indexed like the model: l N_r + r for
 * knot l and radial function r. */
typedef struct invert_posterior {
  double *deviation;  /* [n] standard deviation, percent */
  double *resolution; /* [n] diagonal of the resolution matrix */
  double trace;       /* trace of the resolution matrix: degrees of freedom */
  /* number of columns of C = (H + P)^-1 computed at a time; 0: the inverse is computed in place */
  int64_t width;
  double seconds; /* seconds spent on the posterior */
  /* forecast of the seconds for the inverse, from the time of the factorisation; 0: no forecast */
  double forecast;
  double least, median, mean, most; /* minimum, median, mean, maximum of the standard deviations */

  /* Results of --spread (invert_rows.c). */
  int points; /* number of points */
  /* [points] index of the unknown at the nearest knot and the nearest radial function */
  int64_t *unknown;
  double *latitude, *longitude, *depth_km; /* [points] position of the unknown of each row */
  double *row;                             /* [points * n] rows of the resolution matrix */
  double *covariance;      /* [points * n] rows of the posterior covariance, percent^2 */
  double *spread_km;       /* [points] lateral spread of each row of the resolution matrix, km */
  double *spread_depth_km; /* [points] vertical spread of each row of the resolution matrix, km */
} invert_posterior;

/* Models of one assembly under several priors (invert_scan.c). The priors are grouped into lines
 * along which one weight ascends: if the damping is scanned, each line has one smoothing and
 * ascending dampings; otherwise there is one line of ascending smoothings. Values are NaN for a
 * prior that gave no trustworthy model. */
typedef struct invert_scan {
  int count, lines;
  int vectors; /* number of random vectors with which each trace is estimated */
  /* true if the damping changes along a line, false if the smoothing does */
  bool of_damping;
  double *damping, *smoothing; /* [count] weights of each prior: damping and smoothing */
  double *misfit;              /* [count] misfit |d - G m|^2 */
  double
    /* [count] m^T C_m^-1 m for that part of the prior whose weight changes along a line, taken with
     * weight 1 */
    *norm;
  double *freedom;       /* [count] estimated trace of the resolution matrix (degrees of freedom) */
  double *freedom_error; /* [count] standard error of `freedom` */
  double *gcv;           /* [count] value of the generalised cross-validation */
  double *gcv_error;     /* [count] standard error of `gcv` */
  int *line_corner;      /* [lines] index of the L-curve's corner on each line; -1: none */
  /* index of the prior with the least gcv (generalised cross-validation) among the corners of the
   * L-curves, and among all priors; -1: there is no such prior */
  int corner, lowest;
  double seconds;
} invert_scan;

#endif
