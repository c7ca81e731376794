/* Parts of distributed matrices: the operands of kernels, passed by value (layer 2).
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

/* Makes a part, without checks: the kernel that gets it checks that it lies inside its matrix.
 * Local. */
static inline osla_part osla_part_at(osla_matrix *matrix, int64_t i, int64_t j, int64_t m,
                                     int64_t n)
{
  osla_part part = {matrix, i, j, m, n};
  return part;
}

/* A whole matrix as a part. Local. */
static inline osla_part osla_whole(osla_matrix *matrix)
{
  osla_layout l = osla_matrix_layout(matrix);
  return osla_part_at(matrix, 0, 0, l.m, l.n);
}

/* ---- calls on parts, like those on whole matrices in osla_matrix.h ----
 *
 * Earlier changes of the parts by any rank are visible to these calls. Elements outside the parts
 * are neither read nor written. Parts may begin and end anywhere, and may be empty. All arguments
 * must be the same on all ranks. Errors, in addition to those of the calls on whole matrices: ARG
 * (a part outside its matrix; parts that share an element, one of which is written). */

/* dest := source, of equal size and type; both may be parts of one matrix. Collective. Memory: 64
 * columns of the source part. The source may be any part of a triangular matrix; its elements above
 * the diagonal have the values that osla_matrix_get_block returns. A destination in a triangular
 * matrix must lie below the diagonal, or begin and end on it. If it begins and ends on the
 * diagonal, the elements above the diagonal of the source part are ignored. Errors: also
 * UNSUPPORTED (any other destination in a triangular matrix). */
OSLA_API osla_err osla_matrix_copy_part(osla_part source, osla_part dest);

/* dest := source^T (TRANS) or source^H (CONJTRANS). Collective. Memory: a tile of 128 x 128
 * elements. */
OSLA_API osla_err osla_matrix_transpose_part(osla_trans trans, osla_part source, osla_part dest);

/* ---- fills, norms and scaling ----
 *
 * A part of a triangular matrix must lie below the diagonal, and then counts as a full matrix, or
 * begin and end on the diagonal, and then counts as a triangular matrix. Errors: also UNSUPPORTED
 * (any other part of a triangular matrix). */

/* Norm of a part. Collective. */
OSLA_API osla_err osla_matrix_norm_part(osla_part part, osla_norm norm, double *value);

/* Fills the part with the contents that osla_matrix_fill gives a matrix of the part's size.
 * Collective. */
OSLA_API osla_err osla_matrix_fill_part(osla_part part, osla_fill fill, uint64_t seed);

/* part := alpha part. Local: each rank scales its own elements. Errors: ARG. */
OSLA_API osla_err osla_matrix_scale_part(osla_complex alpha, osla_part part);

#ifdef __cplusplus
}
#endif
#endif
