/* Results of `osla invert` besides the model, as plain arrays. They are the same on all ranks
 * unless a comment says otherwise. A NULL pointer: the result was not requested.
 */
#ifndef INVERT_RESULTS_H
#define INVERT_RESULTS_H

#include "apps/tomography/earth/tomo_reference.h"

#include <stdbool.h>
#include <stdint.h>

/* Misfit of each measure (wave, observable, branch, period), as sums of squared whitened residuals
 * (invert_fit.c). */
typedef struct invert_fit {
  int count;             /* number of measures that have data */
  tomo_measure *measure; /* [count] ordered by wave, observable, branch, period */
  int64_t *data;         /* [count] number of data */
  double *before;        /* [count] misfit of the zero model */
  double *after;         /* [count] misfit of the model */
} invert_fit;

/* Results of --robust (invert_robust.c). */
typedef struct invert_robust {
  int passes;   /* number of models after the first */
  bool settled; /* true if the next weights would hardly change */
  /* robust standard deviation of the residuals that the weights were made from, in units of sigma
   */
  double scale;
  int64_t outliers;  /* number of data with reduced weight */
  int64_t skips;     /* number of data rejected as cycle skips */
  int64_t *skips_of; /* [measures of the table] cycle skips of each measure */
  double *residual;  /* [data] buffer of the pass that computes residuals; NULL outside of it */
} invert_robust;

/* Uncertainty of the model (invert_posterior.c). Arrays are indexed like the model: l N_r + r for
 * knot l and radial function r. */
typedef struct invert_posterior {
  double *deviation;  /* [n] standard deviation, percent */
  double *resolution; /* [n] diagonal of the resolution matrix */
  double trace;       /* trace of the resolution matrix: degrees of freedom */
  int64_t width;      /* columns of C = (H + P)^-1 computed at a time; 0: inverse in place */
  double seconds;     /* seconds of the whole computation */
  /* forecast of the seconds of the inverse, from the factorisation's time; 0: none */
  double forecast;
  double least, median, mean, most; /* minimum, median, mean, maximum of the standard deviations */

  /* Results of --spread (invert_rows.c). */
  int points;       /* number of points */
  int64_t *unknown; /* [points] unknown of the nearest knot and the nearest radial function */
  double *latitude, *longitude, *depth_km; /* [points] position of each row's unknown */
  double *row;                             /* [points * n] rows of the resolution matrix */
  double *covariance;      /* [points * n] rows of the posterior covariance, percent^2 */
  double *spread_km;       /* [points] lateral spread of each row, km */
  double *spread_depth_km; /* [points] spread of each row in depth, km */
} invert_posterior;

/* Models of one assembly under several priors (invert_scan.c). If the damping is scanned, each
 * line has one smoothing and ascending dampings; else there is one line of ascending smoothings.
 * Values are NaN for a prior that gave no trustworthy model. */
typedef struct invert_scan {
  int count, lines;
  int vectors;                 /* number of random vectors for each trace */
  bool of_damping;             /* true if the damping changes along a line */
  double *damping, *smoothing; /* [count] weights of each prior */
  double *misfit;              /* [count] misfit |d - G m|^2 */
  double
    /* [count] m^T C_m^-1 m of the part of the prior that changes along a line, for weight 1 */
    *norm;
  double *freedom;       /* [count] estimated trace of the resolution matrix */
  double *freedom_error; /* [count] standard error of `freedom` */
  double *gcv;           /* [count] generalised cross-validation */
  double *gcv_error;     /* [count] standard error of `gcv` */
  int *line_corner;      /* [lines] index of the L-curve's corner on each line; -1: none */
  int corner, lowest; /* index of the corner with the least gcv, index of the least gcv; -1: none */
  double seconds;
} invert_scan;

#endif
