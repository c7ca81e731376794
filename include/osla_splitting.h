/* Linear systems as fixed points by block Jacobi; with one block per rank, or per group of ranks,
 * this is a multisplitting (layer 3).
 *
 * x := x + B^-1 (b - A x), where B consists of square blocks on the diagonal of A. Block size 1 is
 * Jacobi's method. Larger blocks need fewer sweeps; each sweep solves with the blocks, exactly or,
 * by CG, approximately (Frommer and Szyld, On asynchronous iterations, J. Comput. Appl. Math. 123,
 * 2000, section 4.1; proposed by Bethune et al. 2014, section 6.4). With exact solves the iteration
 * converges in every mode if A is a nonsingular M-matrix or strictly diagonally dominant by rows.
 * For solves by CG, convergence is not proved.
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
  OSLA_SPLITTING_LU,       /* LU with partial pivoting, for any nonsingular blocks */
  /* CG in each sweep, to inner_tolerance: for one block per rank, or per group of ranks, of a
   * sparse symmetric positive definite matrix */
  OSLA_SPLITTING_CG,
  /* sparse Cholesky factorisation by CHOLMOD, if the build has it: for one block per rank of a
   * sparse symmetric positive definite matrix */
  OSLA_SPLITTING_SPARSE
} osla_splitting_factor;

/* Options of a splitting, equal on all ranks. */
typedef struct osla_splitting_options {
  /* block size; 0 or 1: B is the diagonal of A, whose elements may have any sign; > 1: each block
   * has this many consecutive rows of a rank (INT64_MAX: one block per rank, or per group) */
  int64_t block;
  /* solver of the blocks if block > 1; 0: CHOLESKY of dense blocks. CG and SPARSE need block =
   * INT64_MAX */
  osla_splitting_factor factor;
  /* relative tolerance of CG, in (0, 1). A solve B z = r begins with z = 0 and ends when the
   * norm of r - B z is at most inner_tolerance times the norm of r. 0: 0.01 */
  double inner_tolerance;
  /* CG: number of consecutive ranks that share a block: ranks 0 .. group - 1, and so on; the last
   * group may have fewer. 0 or 1: one rank; INT64_MAX: all ranks. In all modes the ranks of a group
   * wait for one another in each sweep, so they make equally many; the mode concerns the halos
   * between groups */
  int64_t group;
  uint64_t reserved[6]; /* must be 0 (osla_types.h) */
} osla_splitting_options;

typedef struct osla_splitting osla_splitting;

/* Creates the splitting of a sparse matrix. Collective. With groups, each step of CG exchanges the
 * ghost values of a group and makes two sums over its ranks.
 *   a       [in]  square, with equal distributions of rows and columns; only read during the call
 *   b       [in]  [rows] of this rank, borrowed: it may change between runs
 *   options [in]  NULL: defaults
 *   out     [out] owned by the caller
 * Memory of a rank: 12 bytes per entry, and 16 more during the call; 4 bytes per value that is
 * sent; and per row
 *   CHOLESKY, or block 1  8 block + 40 bytes
 *   LU                    8 block + 48 bytes
 *   CG                    40 bytes, and 24 bytes per ghost value with groups
 *   SPARSE                48 bytes, and the factor; during the call 24 bytes more, and 40 bytes per
 *                         entry of the lower triangle of the block
 * Errors, on all ranks together: ARG (different distributions of rows and columns; block < 0;
 * unknown factor; inner_tolerance out of range; group < 0, or > 1 without CG; CG or SPARSE with
 * block != INT64_MAX or a dense matrix; a diagonal element that is 0 or not finite, or, with CG and
 * SPARSE, below 0; a block that is singular or not finite; with CHOLESKY, CG and SPARSE, a block
 * that is not symmetric; with CHOLESKY and SPARSE, a block that is not positive definite; the text
 * names the rows of the block), UNSUPPORTED (SPARSE, in a build without CHOLMOD), MEM, MPI, RANGE
 * (2^31 or more rows and ghost values on a rank). CG does not report a block that is not positive
 * definite; a run then does not converge. */
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

/* Returns the fixed-point problem, which borrows the splitting. A state holds this rank's [rows]
 * values of x, then ghost values. The state at the start of a run needs no ghost values. The
 * problem has a bound alpha (osla_iterate_bound), except with CG and SPARSE. For Jacobi's method
 * with the iteration matrix M, alpha is at least rho(|M|), and close to rho(|M|). For blocks,
 * with R = A - B, alpha is at least rho(|B^-1| |R|), which equals rho(|M|) if A is an M-matrix
 * and may be several times larger otherwise. alpha < 1 after one step of osla_iterate_bound if A
 * is strictly diagonally dominant by rows; alpha is infinite if the rounding errors of a solve
 * with a block are too large (condition number of about 1e15 / rows of the block). A step costs
 * as many solves with each block as the block has rows.
 *
 * With groups (osla_splitting_options.group), the function `sweep` of the problem waits for the
 * ranks of the group, so only osla_iterate may call it: outside of a run it returns NAN.
 * osla_iterate also calls it with omega = 0, for the residual alone; it then waits for no rank and
 * copies x to y.
 */
OSLA_API osla_fixed_point osla_splitting_problem(osla_splitting *splitting);

#ifdef __cplusplus
}
#endif
#endif
