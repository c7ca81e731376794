/* QR factorisation W = Q R of the whitened responses of a path, W being k x N_r. |d - W a|^2 =
 * |Q^T d - R a|^2 + constant, so that the rows of R replace the rows of W. R has min(k, N_r) rows;
 * rows that would be zero come last. Local; workspace of one thread. */
#ifndef INVERT_PATH_QR_H
#define INVERT_PATH_QR_H

#include "apps/tomography/earth/tomo_path.h"

typedef struct invert_path_qr {
  int64_t radial;
  double *q; /* [k * rows] Q, column-major */
  double *r; /* [rows * radial] R, row-major, zero left of the diagonal */
  double *column;
  int64_t rows; /* min(k, radial) of the path that was factored last */
  int64_t set;  /* set of measurements of that path; -1: none, or with weights */
} invert_path_qr;

/* For paths with at most `most` data. Errors: MEM. */
osla_err invert_path_qr_create(int most, int radial, invert_path_qr **split);
void invert_path_qr_destroy(invert_path_qr **split);

/* Factors the responses of a path. With `factored` false and the set of the last call, the result
 * of the last call is reused.
 */
void invert_path_qr_factor(invert_path_qr *split, const tomo_path *path, int64_t set,
                           bool factored);

#endif
