/* Cholesky factorisation of a distributed matrix (layer 3).
 *
 * Source: the notify-driven scheme of Krishnan, Lewis, Vishnu, "Scaling Linear Algebra Kernels
 * using Remote Memory Access", section III.B, applied to a symmetric matrix of which one triangle
 * is stored.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_CHOL_H
#define OSLA_CHOL_H

#include "osla_api.h"
#include "osla_forward.h"
#include "osla_part.h"
#include "osla_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_chol_options {
  /* number of panels that are factored before the rest of the trailing matrix is updated: 1 or 2;
   * 0: the library chooses (now 1); -1: no look-ahead */
  int look_ahead;
  osla_forward forward; /* route of panels to other nodes */
  uint64_t reserved[8]; /* 0: osla_types.h */
} osla_chol_options;

/* A := L L^H (LOWER) or U^H U (UPPER) in place; the other triangle is neither read nor written.
 * Collective.
 *   a       [in,out] n x n, any type, symmetric (Hermitian) positive definite, mb = nb, any
 *                    grid; with LOWER also a triangular matrix
 *   options [in]     NULL = defaults; the same on all ranks
 *   info    [out]    0, or the order of the first leading minor that is not positive definite (as
 *                    LAPACK's xPOTRF); then the contents of the triangle are undefined. A pivot
 *                    that is NaN is not positive: with a NaN in the triangle, info is at most its
 *                    row (UPPER: column), counted from 1. The same on all ranks
 * On return all ranks have finished. Errors, on all ranks together: ARG (not square, mb != nb,
 * look_ahead, UPPER with a triangular matrix), MEM and RANGE (a rank's part exceeds the integers of
 * the BLAS; A is unchanged), MPI. */
OSLA_API osla_err osla_potrf(osla_uplo uplo, osla_matrix *a, const osla_chol_options *options,
                             int64_t *info);

/* Cholesky factorisation of a part (sub-matrix) of a matrix. Elements outside the part stay
 * unchanged; info counts rows of the part. A part is factored in place if it begins at block
 * corners (i and j are multiples of the block size). It is also factored in place if it begins
 * within a block row (column) and there is only one process row (column), or the part ends in the
 * block row (column) in which it begins. Any other part of a full matrix is copied. A whole
 * triangular matrix is factored in place. A part of a triangular matrix is copied to a triangular
 * matrix if it begins and ends on the diagonal, and to a full matrix if it lies below the diagonal;
 * any other part is UNSUPPORTED. Memory beside that of osla_potrf: none, or a copy of the part and
 * 64 of its columns. Errors as osla_potrf, and ARG for a part outside its matrix. */
OSLA_API osla_err osla_potrf_part(osla_uplo uplo, osla_part a, const osla_chol_options *options,
                                  int64_t *info);

/* Logarithm of the determinant of a matrix, from the factor that osla_potrf left in triangle
 * `uplo`: twice the sum of the logarithms of the diagonal. Collective.
 *   factor [in]  n x n, any type, mb = nb, any grid, full or triangular; only the real part of the
 *                diagonal is read
 *   value  [out] the same bits on all ranks, on any grid and in every run; 0 if n = 0
 * Memory on each rank: a double for each block row, and the diagonal of a block. Errors, on all
 * ranks together: ARG (not square, mb != nb, uplo, an element of the diagonal that is not positive
 * or is NaN; then *value is unchanged), MEM and RANGE (as osla_potrf), MPI. */
OSLA_API osla_err osla_chol_logdet(osla_uplo uplo, const osla_matrix *factor, double *value);

/* Return the bytes of host memory that osla_potrf needs on a rank in addition to the matrix,
 * with uplo = LOWER and default options: osla_chol_memory for a full matrix,
 * osla_chol_triangle_memory for a triangular matrix, whose panels are not copied. Local, pure. */
OSLA_API uint64_t osla_chol_memory(const osla_shape *shape);
OSLA_API uint64_t osla_chol_triangle_memory(const osla_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
