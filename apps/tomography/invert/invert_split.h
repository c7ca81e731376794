/* The small rows that take the place of a path's data: W = Q R, W the whitened responses, k x N_r.
 * The misfit |d - W a|^2 is |Q^T d - R a|^2 and a constant. R has min(k, N_r) rows, those that
 * would be zero last. Local; one thread's workspace. */
#ifndef INVERT_SPLIT_H
#define INVERT_SPLIT_H

#include "apps/tomography/earth/tomo_path.h"

typedef struct invert_split {
  int64_t radial;
  double *q; /* [k * rows] column-major */
  double *r; /* [rows * radial] row-major, zero left of the diagonal */
  double *column;
  int64_t rows; /* min(k, radial) of the path split last */
  int64_t set;  /* its set; -1: none, or with factors */
} invert_split;

/* For paths of at most `most` data. Errors: MEM. */
osla_err invert_split_create(int most, int radial, invert_split **split);
void invert_split_destroy(invert_split **split);

/* Splits the responses of a path; of the set of the last call, if it has no factors, it knows them.
 */
void invert_split_path(invert_split *split, const tomo_path *path, int64_t set, bool factored);

#endif
