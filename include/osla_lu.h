/* LU factorisation of a distributed matrix (floor 3).
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
  OSLA_PIVOT_PARTIAL,    /* the largest element of the column, as xGETRF */
  OSLA_PIVOT_TOURNAMENT, /* the pivot rows of a whole panel in one exchange; as stable in practice
                          */
  OSLA_PIVOT_NONE        /* for diagonally dominant or positive definite matrices only */
} osla_pivoting;

typedef struct osla_lu_options {
  osla_pivoting pivoting;
  int look_ahead; /* panels that are factored before the rest of the trailing matrix is updated: 0
                     chosen (1), 1, 2; -1 none */
  osla_forward forward; /* how panels reach other nodes */
  uint64_t reserved[8]; /* 0: osla_types.h */
} osla_lu_options;

typedef struct osla_lu_result {
  int64_t info;  /* 0, or 1 + the index of the first column whose pivot is exactly zero (LAPACK's
                    INFO) or that held a NaN, above the diagonal or below, when its turn came */
  double growth; /* max |u_ij| / max |a_ij|, NaN if A or U holds one or A an infinity; 0 with
                    partial pivoting: not computed */
  bool trusted;  /* false: info > 0, a pivot that is infinite or has no reciprocal, or growth above
                    1e6 or NaN: do not use L and U */
} osla_lu_result;

/* A := P^T L U in place; L has a unit diagonal that is not stored. Collective.
 *   a       [in,out] m x n, any type, mb = nb, any grid
 *   ipiv    [out]    one element for each local row of a: for a row with global index
 *                    i < min(m, n), 1 + the index of the row it was exchanged with in step i
 *                    (ScaLAPACK's IPIV). NULL with OSLA_PIVOT_NONE, else not
 *   options [in]     NULL = defaults; the same on all ranks
 *   result  [out]    the same on all ranks
 * With partial pivoting the pivots are those of LAPACK where no two candidates tie; of those that
 * do, the first row is taken. On return all ranks have finished.
 * A NaN shows in info (LAPACK and ScaLAPACK promise nothing). With partial pivoting info is its
 * column, of the first min(m, n), on any grid and in any blocks, and the columns before it are
 * right; in the other ways it may be an earlier column of the same block,
 * unless that has a zero pivot, which then counts.
 * A pivot that is not zero but so small that its reciprocal overflows (2^-1024 or less in double,
 * 2^-128 in single) leaves infinities or NaN (see info) in its column of L; then `trusted` is
 * false. Scale such a matrix first. (LAPACK's own xGETF2 divides
 * there; OpenBLAS 0.3.21's xGETRF, which we call, multiplies by the reciprocal, as we do.)
 * Memory per rank: top blocks of my panels (nb columns of the matrix over the process columns);
 * with several process rows also six panels of rows (four of them of my rows of a panel, where
 * these are longer and process columns do not lie on one node); where they do, and for a
 * tournament, a panel of columns (all its m rows where ranks also share cores or are two, and
 * pivoting is partial, else mine), and for a tournament of p process rows also some 4 log2 p + 8
 * blocks of nb x nb (p < 5: 2 p); with other nodes also 3 + look_ahead panels of my rows.
 *
 * Errors, on all ranks together: ARG (mb != nb, no ipiv, look_ahead), MEM and RANGE (a rank's part
 * is larger than the BLAS's int; A is as before), MPI. */
OSLA_API osla_err osla_getrf(osla_matrix *a, int64_t *ipiv, const osla_lu_options *options,
                             osla_lu_result *result);

/* The same of a part, m x n at (i, j); what is outside of it stays as it is: no row is exchanged
 * there. In place or in a copy as osla_potrf_part says; for a copy also min(m, n) indices twice.
 *   ipiv [out] one element for each local row of the whole matrix, of which those of the part's
 *              first min(m, n) rows are set: for row i + s, 1 + the index in the whole matrix of
 *              the row it was exchanged with in step s (ScaLAPACK's IPIV for sub(A))
 * result->info counts in the part. Errors as above, and ARG for a part outside its matrix. */
OSLA_API osla_err osla_getrf_part(osla_part a, int64_t *ipiv, const osla_lu_options *options,
                                  osla_lu_result *result);

/* Bytes that it takes beside the matrix and ipiv, with partial pivoting and default options. Local,
 * pure. */
OSLA_API uint64_t osla_lu_memory(const osla_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
