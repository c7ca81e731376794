/* Solvers that need products with a matrix alone, and the sums over all ranks that they take
 * (floor 3).
 *
 * CG: Hestenes and Stiefel, Methods of Conjugate Gradients for Solving Linear Systems, J. Res. NBS
 * 49 (1952); with a preconditioner as in Saad, Iterative Methods for Sparse Linear Systems, 2nd
 * ed., SIAM 2003, section 9.2; flexible: Golub and Ye, Inexact Preconditioned Conjugate Gradient
 * Method with Inner-Outer Iteration, SIAM J. Sci. Comput. 21(4), 1999; Notay, Flexible Conjugate
 * Gradients, SIAM J. Sci. Comput. 22(4), 2000. LSQR: Paige and Saunders, LSQR: An Algorithm for
 * Sparse Linear Equations and Sparse Least Squares, ACM TOMS 8 (1982) 43-71.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_KRYLOV_H
#define OSLA_KRYLOV_H

#include "osla_api.h"
#include "osla_sparse.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sums ---- */

/* Adds up over all ranks, in the order of the ranks (of more than 32: in groups of consecutive
 * ranks, then over the groups): the bits do not depend on who comes first. One exchange of lines of
 * memory, of more than 32 ranks three. A failure between nodes ends all ranks. */
typedef struct osla_sums osla_sums;

/* For sums of up to `most` numbers at a time. Collective. Errors, on all ranks together: ARG
 * (most < 1), MEM, MPI. */
OSLA_API osla_err osla_sums_create(osla_transport *transport, int most, osla_sums **out);
OSLA_API osla_err
osla_sums_destroy(osla_sums **sums); /* collective; accepts NULL, nulls the handle */

/* value[0 .. n - 1] := their sums over all ranks. Collective. Errors, on all ranks together: ARG (n
 * is not 1 to `most`, or differs by rank: then the values are undefined). */
OSLA_API osla_err osla_sums_all(osla_sums *sums, int n, double *value);

/* This rank's part of x y, in four sums that are added at the end. Local. */
OSLA_API double osla_dot_local(int64_t n, const double *x, const double *y);

/* ---- what is solved ----
 *
 * The solvers take memory of osla_vertices_create and give it back: no transfer of any forest of
 * the transport may be under way meanwhile (STATE, from osla_vertices_free). */

/* A matrix that is known by its products: of this rank's part of the vectors. */
typedef struct osla_operator {
  osla_transport *transport;
  int64_t rows, columns; /* of this rank */
  /* y := op(A) x + beta y, as osla_spmv; what fails on one rank must fail on all. */
  osla_err (*multiply)(void *arg, osla_trans op, const double *x, double beta, double *y);
  void *arg;
} osla_operator;

OSLA_API osla_operator osla_csr_operator(osla_csr *matrix); /* borrows the matrix */

/* Why it ended. */
typedef enum osla_krylov_end {
  OSLA_KRYLOV_CONVERGED,
  OSLA_KRYLOV_ITERATIONS, /* as many as were allowed */
  OSLA_KRYLOV_INDEFINITE, /* CG: p^T A p <= 0, or r^T M r <= 0; LSQR: never */
  /* A, b or x holds an infinity or NaN, or x lies outside the range of double: it overflows, or its
   * norm is below the smallest normal number, 2.2e-308 */
  OSLA_KRYLOV_NOT_FINITE
} osla_krylov_end;

/* The same on all ranks, but for `each` and `arg`. */
typedef struct osla_krylov_options {
  double tolerance;   /* 0: 1e-8. See the solvers */
  int64_t iterations; /* at most; 0: 10000; -1: none */
  /* CG with a preconditioner that is not the same linear operator in each step, such as sweeps
   * that do not wait (osla_sweeps.h), or is not quite symmetric: the next direction is made
   * A-orthogonal to the last one by what M gave, beta = z^T (r - r_old) / z_old^T r_old. One number
   * more in the same sum. With one that does not change it is CG but for rounding */
  bool flexible;
  /* Each iteration, if not NULL: on all ranks, with what they know alike. `left` is what
   * `tolerance` is compared with. */
  void (*each)(void *arg, int64_t iteration, double left);
  void *arg;
  uint64_t reserved[8]; /* 0: osla_types.h */
} osla_krylov_options;

typedef struct osla_krylov_result {
  osla_krylov_end end;
  int64_t iterations;
  double left;     /* what was compared with the tolerance, at the end */
  double residual; /* |b - A x|, as the recurrences know it (LSQR: with the damping's part) */
  double seconds_products, seconds_sums, seconds; /* of this rank */
} osla_krylov_result;

/* ---- CG ---- */

/* An approximate inverse, symmetric and positive definite: z := M r, of this rank's part. One that
 * changes from step to step: options.flexible. */
typedef struct osla_preconditioner {
  osla_err (*apply)(void *arg, const double *r, double *z); /* must not fail on one rank alone */
  void *arg;
} osla_preconditioner;

/* The inverse of the diagonal, or of square blocks on it: `block` consecutive rows of this rank
 * (the last one may be smaller), factored by Cholesky. Collective.
 *   matrix [in]  only read while it is made
 *   block  [in]  1: Jacobi; > 1: block-Jacobi
 *   shift  [in]  is added to the diagonal
 *   out    [out] owned by the caller
 * Memory: 8 block bytes a row. Errors, on all ranks together: ARG (block < 1; row blocks that
 * differ from column blocks; a diagonal element that is not positive, or below 5.6e-309, so that
 * its inverse overflows; a block that is not positive definite: its row is named), MEM, MPI. */
typedef struct osla_jacobi osla_jacobi;
OSLA_API osla_err osla_jacobi_create(osla_csr *matrix, int64_t block, double shift,
                                     osla_jacobi **out);
OSLA_API void osla_jacobi_destroy(osla_jacobi **jacobi);                 /* local */
OSLA_API osla_preconditioner osla_jacobi_use(const osla_jacobi *jacobi); /* borrows it */

/* Solves A x = b, A symmetric and positive definite. Collective.
 *   a       [in]     rows = columns
 *   m       [in]     NULL: none
 *   b       [in]     [rows]
 *   x       [in,out] [rows] the first guess, then the solution
 *   options [in]     NULL: defaults. It ends when |b - A x| <= tolerance |b|
 * The bits depend on operator, preconditioner and ranks alone. Range: the solver multiplies b, A
 * and M by powers of two, so that A, M, b and x may have any normal size. A times the first guess
 * must stay inside the range of double. Memory: four vectors.
 * Errors, on all ranks together: ARG (options, also such as differ by rank; rows that are not
 * columns; a preconditioner of osla_jacobi_use or osla_sweeps_use for another number of rows), MEM,
 * MPI, those of operator and preconditioner. */
OSLA_API osla_err osla_cg(const osla_operator *a, const osla_preconditioner *m, const double *b,
                          double *x, const osla_krylov_options *options,
                          osla_krylov_result *result);

/* ---- LSQR ---- */

/* Minimises |b - A x|^2 + damping^2 |x / scale|^2. Collective.
 *   b       [in]  [rows]
 *   damping [in]  >= 0, finite, the same on all ranks
 *   scale   [in]  [columns] > 0: the iteration is for x / scale, which changes its way, and not
 *                 (without damping) its end; 1 / the norm of each column serves well. NULL: 1
 *   x       [out] [columns]; it begins with 0
 *   options [in]  NULL: defaults. It ends when, r being the residual and A with scale and damping,
 *                 |A^T r| <= tolerance |A| |r| or |r| <= tolerance (|b| + |A| |x|): their stopping
 *                 rules 2 and 1, section 6; |A| is the Frobenius norm as far as it is seen
 * The bits depend on operator and ranks alone. Range: the solver multiplies b, A and the damping by
 * powers of two, so that A, b and x may have any normal size. A damping of more than
 * 1e150 |A| can end as NOT_FINITE. Memory: five vectors of columns and one of rows. Errors: as
 * osla_cg. */
OSLA_API osla_err osla_lsqr(const osla_operator *a, const double *b, double damping,
                            const double *scale, double *x, const osla_krylov_options *options,
                            osla_krylov_result *result);

#ifdef __cplusplus
}
#endif
#endif
