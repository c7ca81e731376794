/* Parts of distributed matrices: what a kernel works on (floor 2). A value.
 *
 * Threads: any thread may call these, at any time.
 * Part: stable (osla.h).
 */
#ifndef OSLA_PART_H
#define OSLA_PART_H

#include "osla_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The m x n sub-matrix whose first element is (i, j), counted from 0. The matrix is borrowed. */
typedef struct osla_part {
  osla_matrix *matrix;
  int64_t i, j, m, n;
} osla_part;

/* Local; nothing is checked: the kernel that gets a part checks that it lies in its matrix. */
static inline osla_part osla_part_at(osla_matrix *matrix, int64_t i, int64_t j, int64_t m,
                                     int64_t n)
{
  osla_part part = {matrix, i, j, m, n};
  return part;
}

/* All of a matrix. Local. */
static inline osla_part osla_whole(osla_matrix *matrix)
{
  osla_layout l = osla_matrix_layout(matrix);
  return osla_part_at(matrix, 0, 0, l.m, l.n);
}

#ifdef __cplusplus
}
#endif
#endif
