/* What `osla invert` finds out beside the model, and its pages show: plain arrays, the same on all
 * ranks unless a line says otherwise; a pointer that is NULL was not asked for.
 */
#ifndef INVERT_FOUND_H
#define INVERT_FOUND_H

#include "apps/tomography/earth/tomo_reference.h"

#include <stdbool.h>
#include <stdint.h>

/* Misfit by what was measured, sums of squares in variances (invert_fit.c). */
typedef struct invert_fit {
  int count;             /* of measures that have data */
  tomo_measure *measure; /* [count], by wave, observable, branch, period */
  int64_t *data;         /* [count] how many */
  double *before;        /* [count] of the zero model */
  double *after;         /* [count] of the one that was found */
} invert_fit;

/* What --robust has found (invert_robust.c). */
typedef struct invert_robust {
  int passes;        /* models after the first one */
  bool settled;      /* the next weights would be all but the same */
  double scale;      /* of the residuals, in sigma, of the model that the weights are from */
  int64_t outliers;  /* data with less weight */
  int64_t skips;     /* data left out as cycle skips */
  int64_t *skips_of; /* [measures of the table] */
  double *residual;  /* used while they are looked for */
} invert_robust;

/* How sure the model is (invert_posterior.c); coefficients as in the model, l N_r + r. */
typedef struct invert_posterior {
  double *deviation;  /* [n] standard deviation, percent */
  double *resolution; /* [n] diagonal of the resolution matrix */
  double trace;       /* of it: degrees of freedom */
  int64_t width;      /* columns of C that are found at a time; 0: the inverse in place */
  double seconds;     /* of the whole */
  double forecast;    /* of the inverse, in seconds, from the factorisation's; 0: none */
  double least, median, mean, most; /* of the deviations */

  /* invert_rows.c */
  int points;       /* where rows were asked for (--spread) */
  int64_t *unknown; /* [points] the nearest knot's, of the nearest radial function */
  double *latitude, *longitude, *depth_km; /* [points] where it is */
  double *row;                             /* [points * n] rows of the resolution matrix */
  double *covariance;      /* [points * n] rows of the posterior covariance, percent^2 */
  double *spread_km;       /* [points] the lateral spread of the rows */
  double *spread_depth_km; /* [points] the same in depth */
  double seconds_rows;
} invert_posterior;

/* Models of one assembly under several priors (invert_scan.c): lines of one smoothing each, in
 * each the dampings ascend; or one line of smoothings. NaN where a prior gave no model that can be
 * trusted. */
typedef struct invert_scan {
  int count, lines;
  int vectors;                 /* random ones, of each trace */
  bool of_damping;             /* the lines are of dampings */
  double *damping, *smoothing; /* [count] */
  double *misfit;              /* [count] |d - G m|^2 */
  double
    *norm; /* [count] the prior's m^T C_m^-1 m, of what changes along a line, for a weight of 1 */
  double *freedom;       /* [count] trace of the resolution matrix, estimated */
  double *freedom_error; /* [count] its standard error */
  double *gcv;           /* [count] generalised cross-validation */
  double *gcv_error;     /* [count] */
  int *line_corner;      /* [lines] the L-curve's corner; -1: none */
  int corner, lowest;    /* the corner of the least gcv, the least gcv; -1: none */
  double seconds;
} invert_scan;

#endif
