/* LU factorisation of a distributed matrix (layer 3).
 *
 * Sources: Krishnan, Lewis, Vishnu, "Scaling Linear Algebra Kernels using Remote Memory Access",
 * section III.B (publication of panels by put + notify); Petitet, Whaley, Dongarra, Cleary, "HPL"
 * (recursive panel with one exchange for each column; replicated top block); Grigori, Demmel,
 * Xiang, "CALU: a communication optimal LU factorization algorithm" (SIAM J. Matrix Anal. Appl. 32,
 * 2011).
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_LU_H
#define OSLA_LU_H

#include "osla_api.h"
#include "osla_forward.h"
#include "osla_part.h"
#include "osla_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum osla_pivoting {
  /* partial pivoting: the pivot is the largest element of the column, as in xGETRF */
  OSLA_PIVOT_PARTIAL,
  /* tournament pivoting: one exchange finds all pivot rows of a panel; in practice as stable as
     partial pivoting */
  OSLA_PIVOT_TOURNAMENT,
  OSLA_PIVOT_NONE /* no pivoting, for diagonally dominant or positive definite matrices only */
} osla_pivoting;

typedef struct osla_lu_options {
  osla_pivoting pivoting;
  /* number of panels that are factored before the rest of the trailing matrix is updated: 1 or 2;
   * 0: the library chooses (now 1); -1: no look-ahead */
  int look_ahead;
  osla_forward forward; /* route of panels to other nodes */
  uint64_t reserved[8]; /* 0: osla_types.h */
} osla_lu_options;

typedef struct osla_lu_result {
  /* 0, or 1 + the index of the first column whose pivot is exactly zero (LAPACK's INFO), or that
   * contains a NaN, above or below the diagonal, when it is factored */
  int64_t info;
  /* max |u_ij| / max |a_ij|; NaN if A or U contains a NaN, or A an infinity; 0 with partial
   * pivoting, where it is not computed */
  double growth;
  /* false: L and U must not be used, because info > 0, a pivot is infinite or has no reciprocal, or
   * growth is above 1e6 or NaN */
  bool trusted;
} osla_lu_result;

/* A := P^T L U in place; L has a unit diagonal that is not stored. Collective.
 *   a       [in,out] m x n, any type, mb = nb, any grid
 *   ipiv    [out]    one element for each local row of a: for a row with global index
 *                    i < min(m, n), 1 + the index of the row it was interchanged with in step i
 *                    (ScaLAPACK's IPIV). May be NULL only with OSLA_PIVOT_NONE
 *   options [in]     NULL = defaults; the same on all ranks
 *   result  [out]    the same on all ranks
 * With partial pivoting the pivots are those of LAPACK if no two candidates are equal in magnitude;
 * of equal candidates the first row becomes the pivot row. On return all ranks have finished.
 * A NaN is reported in info (LAPACK and ScaLAPACK promise nothing). With partial pivoting info is
 * its column among the first min(m, n), on any grid and in any blocks, and the columns before it
 * are correct. With other pivoting info may be an earlier column of the same block, unless that
 * block has a zero pivot, which then counts.
 * A pivot that is not zero, but so small that its reciprocal overflows (2^-1024 or less in double,
 * 2^-128 in single), leaves infinities or NaN (see info) in its column of L; then `trusted` is
 * false. Scale such a matrix first. (LAPACK's own xGETF2 divides in this case. xGETRF of OpenBLAS
 * 0.3.21, which OSLA calls, multiplies by the reciprocal, and so does OSLA.)
 * Memory per rank: top blocks of this rank's panels (nb columns of the matrix divided by the
 * process columns). With several process rows also six panels of rows; four of them have the size
 * of this rank's rows of a panel if these are longer and process columns span several nodes. If
 * process columns do not span nodes, and for a tournament, also a panel of columns (with partial
 * pivoting all m rows, if ranks share cores or there are only two ranks; otherwise this rank's
 * rows). For a tournament of p process rows also about 4 log2 p + 8 blocks of nb x nb (2 p if p <
 * 5). With several nodes also 3 + look_ahead panels of this rank's rows.
 *
 * Errors, on all ranks together: ARG (mb != nb, no ipiv, look_ahead), MEM and RANGE (a rank's part
 * exceeds the integers of the BLAS; A is unchanged), MPI. */
OSLA_API osla_err osla_getrf(osla_matrix *a, int64_t *ipiv, const osla_lu_options *options,
                             osla_lu_result *result);

/* LU factorisation of a part: the m x n sub-matrix at (i, j). Elements outside the part stay
 * unchanged; rows are interchanged within the part only. Works in place or in a copy under the
 * conditions of osla_potrf_part; a copy also needs 2 min(m, n) indices.
 *   ipiv [out] one element for each local row of the whole matrix, of which those of the part's
 *              first min(m, n) rows are set: for row i + s, 1 + the index in the whole matrix of
 *              the row it was interchanged with in step s (ScaLAPACK's IPIV for sub(A))
 * result->info counts columns of the part. Otherwise as osla_getrf. Errors as osla_getrf, and ARG
 * for a part outside its matrix. */
OSLA_API osla_err osla_getrf_part(osla_part a, int64_t *ipiv, const osla_lu_options *options,
                                  osla_lu_result *result);

/* Bytes that osla_getrf needs on a rank beside the matrix and ipiv, with partial pivoting and
 * default options. Local, pure. */
OSLA_API uint64_t osla_lu_memory(const osla_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
