/* QR factorisation W = Q R of the whitened responses of a path, W being k x N_r. |d - W a|^2 =
 * |Q^T d - R a|^2 + constant, so that the rows of R replace the rows of W. R has min(k, N_r) rows;
 * rows that would be zero come last. Local; workspace of one thread. */
#ifndef INVERT_SPLIT_H
#define INVERT_SPLIT_H

#include "apps/tomography/earth/tomo_path.h"

typedef struct invert_split {
  int64_t radial;
  double *q; /* [k * rows] column-major */
  double *r; /* [rows * radial] row-major, zero left of the diagonal */
  double *column;
  int64_t rows; /* min(k, radial) of the path that was factored last */
  int64_t set;  /* set of measurements of that path; -1: none, or with weights */
} invert_split;

/* For paths with at most `most` data. Errors: MEM. */
osla_err invert_split_create(int most, int radial, invert_split **split);
void invert_split_destroy(invert_split **split);

/* Factors the responses of a path. With `factored` false and the set of the last call, the result
 * of the last call is reused.
 */
void invert_split_path(invert_split *split, const tomo_path *path, int64_t set, bool factored);

#endif
