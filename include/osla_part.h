/* Parts of distributed matrices: what a kernel works on (floor 2). A value.
 *
 * Threads: any thread may call these, at any time.
 * Part: stable (osla.h).
 */
#ifndef OSLA_PART_H
#define OSLA_PART_H

#include "osla_api.h"
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

/* ---- calls on parts: as those on whole matrices (osla_matrix.h) ----
 *
 * They use all ranks' earlier changes of the parts; what is outside of a part is neither read nor
 * written. Parts may begin and end anywhere, and be empty. All arguments are the same on all ranks.
 * Errors beside those of the whole: ARG (a part outside its matrix, parts that share an element
 * where one of them is written). */

/* dest := source, of the same size and type; also parts of one matrix. Collective. Memory: 64
 * columns of the source's part. */
OSLA_API osla_err osla_matrix_copy_part(osla_part source, osla_part dest);

/* dest := source^T (TRANS) or source^H (CONJTRANS). Collective. Memory: a tile of 128 x 128. */
OSLA_API osla_err osla_matrix_transpose_part(osla_trans trans, osla_part source, osla_part dest);

/* Norm of a part. Collective. */
OSLA_API osla_err osla_matrix_norm_part(osla_part part, osla_norm norm, double *value);

/* The part becomes what a matrix of its size alone would become. Collective. */
OSLA_API osla_err osla_matrix_fill_part(osla_part part, osla_fill fill, uint64_t seed);

/* part := alpha part. Local, each rank its own share. Errors: ARG. */
OSLA_API osla_err osla_matrix_scale_part(osla_complex alpha, osla_part part);

#ifdef __cplusplus
}
#endif
#endif
