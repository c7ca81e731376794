/* Linear systems as fixed points by block Jacobi; with one block per rank this is a multisplitting
 * (layer 3).
 *
 * x := x + B^-1 (b - A x), where B consists of square blocks on the diagonal of A. Block size 1 is
 * Jacobi's method. Larger blocks need fewer sweeps; each sweep solves with the blocks exactly
 * (Frommer and Szyld, On asynchronous iterations, J. Comput. Appl. Math. 123, 2000, section 4.1;
 * proposed by Bethune et al. 2014, section 6.4). Converges in every mode if A is a nonsingular
 * M-matrix or strictly diagonally dominant by rows.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_SPLITTING_H
#define OSLA_SPLITTING_H

#include "osla_api.h"
#include "osla_iterate.h"
#include "osla_matrix.h"
#include "osla_sparse.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum osla_splitting_factor {
  OSLA_SPLITTING_CHOLESKY, /* Cholesky, for symmetric positive definite blocks */
  OSLA_SPLITTING_LU        /* LU with partial pivoting, for any nonsingular blocks */
} osla_splitting_factor;

/* Options of a splitting, equal on all ranks. */
typedef struct osla_splitting_options {
  /* block size; 0 or 1: B is the diagonal of A, whose elements may have any sign; > 1: each block
   * has this many consecutive rows of a rank (INT64_MAX: one block per rank) */
  int64_t block;
  osla_splitting_factor factor; /* factorisation of the dense blocks if block > 1; 0: CHOLESKY */
  uint64_t reserved[8];         /* must be 0 (osla_types.h) */
} osla_splitting_options;

typedef struct osla_splitting osla_splitting;

/* Creates the splitting of a sparse matrix. Collective.
 *   a       [in]  square, with equal distributions of rows and columns; only read during the call
 *   b       [in]  [rows] of this rank, borrowed: it may change between runs
 *   options [in]  NULL: defaults
 *   out     [out] owned by the caller
 * Memory: 12 bytes per entry and 16 more during the call, 8 block + 40 bytes per row (LU: 8 more),
 * 4 bytes per value sent. Errors, on all ranks together: ARG (different distributions of rows and
 * columns; block < 0; unknown factor; a diagonal element that is 0 or not finite; a block that is
 * singular, not finite, or for CHOLESKY not symmetric or not positive definite: its rows are
 * named), MEM, MPI, RANGE (2^31 rows and ghost values on a rank). */
OSLA_API osla_err osla_splitting_create(osla_csr *a, const double *b,
                                        const osla_splitting_options *options,
                                        osla_splitting **out);

/* Creates the splitting of a dense matrix, such as an assembled Hessian. Rank p gets the rows
 * start[p] .. start[p + 1] - 1 of osla_even_blocks(n, ranks, start), whichever rank owns them in
 * the matrix, and reads them one-sided; each rank's part of x is sent to all other ranks.
 * Collective. b, options and out as in osla_splitting_create.
 *   a    [in] n x n, OSLA_DOUBLE, on any grid; only read during the call
 *   uplo [in] LOWER or UPPER: A is symmetric and only this triangle is read; or GENERAL
 * Memory: 8 (n + block) bytes per row of this rank, and 1 KiB more per row during the call;
 * channels for all of x to and from each rank. Errors, on all ranks together: those of
 * osla_splitting_create; ARG (not square, another type, unknown triangle), RANGE (n >= 2^31). */
OSLA_API osla_err osla_splitting_create_dense(osla_uplo uplo, const osla_matrix *a, const double *b,
                                              const osla_splitting_options *options,
                                              osla_splitting **out);

OSLA_API void osla_splitting_destroy(
  osla_splitting **splitting); /* Destroys the splitting. Local. Accepts NULL, and sets the
                                * pointer to NULL. */

/* Returns the fixed point; it borrows the splitting. A state holds this rank's [rows] values of x,
 * then ghost values. The state at the start of a run needs no ghost values. The problem has a bound
 * (osla_iterate_bound). For Jacobi's method alpha is at least rho(|M|), and close to rho(|M|). For
 * blocks with the off-diagonal rest R, alpha >= rho(|B^-1| |R|), which equals rho(|M|) if A is an
 * M-matrix and may be several times larger otherwise. alpha < 1 after one step if A is strictly
 * diagonally dominant by rows; alpha is infinite if a block is too ill-conditioned for its rounding
 * errors (about 1e15 / its rows). A step costs as many solves with each block as the block has
 * rows. */
OSLA_API osla_fixed_point osla_splitting_problem(osla_splitting *splitting);

#ifdef __cplusplus
}
#endif
#endif
