/* Linear systems as fixed points: block Jacobi, which with one block a rank is a multisplitting.
 *
 * x := x + B^-1 (b - A x), B the square blocks on the diagonal of A. Block 1 is Jacobi's method.
 * The larger the blocks, the fewer sweeps, each of which solves with them exactly (Frommer and
 * Szyld, On asynchronous iterations, J. Comput. Appl. Math. 123, 2000, section 4.1; Bethune et al.
 * 2014, section 6.4, propose it). Converges in every mode if A is a nonsingular M-matrix, or
 * strictly diagonally dominant by rows.
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
  OSLA_SPLITTING_CHOLESKY, /* of blocks that are symmetric and positive definite */
  OSLA_SPLITTING_LU        /* with partial pivoting, of any that are not singular */
} osla_splitting_factor;

/* The same on all ranks. */
typedef struct osla_splitting_options {
  int64_t block; /* 0, 1: the diagonal, of any sign; > 1: blocks of so many consecutive
                    rows of this rank (INT64_MAX: one block a rank) */
  osla_splitting_factor factor; /* of blocks > 1, which are dense; 0: CHOLESKY */
  uint64_t reserved[8];         /* 0: osla_types.h */
} osla_splitting_options;

typedef struct osla_splitting osla_splitting;

/* Of a sparse matrix. Collective.
 *   a       [in]  square, rows and columns distributed alike; only read during the call
 *   b       [in]  [rows] of this rank, borrowed: it may change between runs
 *   options [in]  NULL: defaults
 *   out     [out] owned by the caller
 * Memory: 12 bytes an entry and 16 more during the call, 8 block + 40 bytes a row (LU: 8 more), 4
 * bytes for each value that is sent. Errors, on all ranks together: ARG (rows that are not
 * distributed as columns; block < 0; no such factor; a diagonal element that is 0 or not finite, or
 * a block that is singular, not finite, or for CHOLESKY not symmetric or not positive definite: its
 * rows are named),
 * MEM, MPI, RANGE (2^31 rows and values of others on a rank). */
OSLA_API osla_err osla_splitting_create(osla_csr *a, const double *b,
                                        const osla_splitting_options *options,
                                        osla_splitting **out);

/* Of a dense matrix, such as an assembled Hessian. Rank p has the rows start[p] .. start[p + 1] - 1
 * of osla_even_blocks(n, ranks, start), whoever holds them in the matrix, and reads them one-sided;
 * each rank's part of x goes to all others. Collective; arguments as above, and:
 *   a    [in] n x n, OSLA_DOUBLE, on any grid; only read during the call
 *   uplo [in] LOWER or UPPER: A is symmetric, and the other triangle is never looked at; or GENERAL
 * Memory: 8 (n + block) bytes a row, of the rows of this rank, and 1 KiB more a row during the
 * call; channels for all of x to and from each rank. Errors, on all ranks together: as above; ARG
 * (not square, another type, no such triangle), RANGE (n >= 2^31). */
OSLA_API osla_err osla_splitting_create_dense(osla_uplo uplo, const osla_matrix *a, const double *b,
                                              const osla_splitting_options *options,
                                              osla_splitting **out);

OSLA_API void osla_splitting_destroy(
  osla_splitting **splitting); /* local; accepts NULL; sets the pointer to NULL */

/* The fixed point; borrows the splitting. States: [rows] of this rank, then what belongs to others,
 * which a start need not have.
 * It has a bound (osla_iterate_bound). Of Jacobi's method alpha >= rho(|M|), and comes near it; of
 * blocks, whose off-diagonal rest is R, alpha >= rho(|B^-1| |R|), which is rho(|M|) where A is an
 * M-matrix and may be several times as much where it is not. It is less than 1 after one step if A
 * is strictly diagonally dominant by rows, and infinite where a block is too ill-conditioned for
 * its rounding (some 1e15 / its rows). A step costs as many solves with each block as that has
 * rows. */
OSLA_API osla_fixed_point osla_splitting_problem(osla_splitting *splitting);

#ifdef __cplusplus
}
#endif
#endif
