/* Krylov solvers, which need only products with a matrix, and the sums over ranks that they use
 * (layer 3).
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

/* An object that adds numbers over all ranks in rank order (above 32 ranks: within groups of
 * consecutive ranks, then over the groups), so the bits do not depend on the order of arrival.
 * Needs one exchange of cache lines between ranks, above 32 ranks three. A communication failure
 * between nodes ends all ranks. */
typedef struct osla_sums osla_sums;

/* Creates an object for sums of up to `most` numbers at a time. Collective. Errors, on all ranks
 * together: ARG (most < 1), MEM, MPI. */
OSLA_API osla_err osla_sums_create(osla_transport *transport, int most, osla_sums **out);
/* Destroys an object for sums. Collective. Accepts NULL, and sets the handle to NULL. */
OSLA_API osla_err osla_sums_destroy(osla_sums **sums);

/* value[0 .. n - 1] := sums over all ranks. Collective. Errors, on all ranks together: ARG (n is
 * not 1 to `most`, or differs between ranks; then the values are undefined). */
OSLA_API osla_err osla_sums_all(osla_sums *sums, int n, double *value);

/* Returns this rank's part of the inner product of x and y, as four partial sums that are added at
 * the end. Local. */
OSLA_API double osla_dot_local(int64_t n, const double *x, const double *y);

/* ---- operators ----
 *
 * The solvers call osla_vertices_create and osla_vertices_free, so no transfer of any forest of the
 * transport may be in flight during a solve (STATE, from osla_vertices_free). */

/* A matrix given by its products with this rank's parts of vectors. */
typedef struct osla_operator {
  osla_transport *transport;
  int64_t rows, columns; /* numbers of this rank's rows and columns */
  /* Computes y := op(A) x + beta y, as osla_spmv does. If the function returns an error on one
   * rank, it must return an error on all ranks. If x and y lie on a device, the function may return
   * after it has queued the product on the stream of osla_device_options. */
  osla_err (*multiply)(void *arg, osla_trans op, const double *x, double beta, double *y);
  void *arg;
} osla_operator;

/* Returns the products of a sparse matrix as an operator, which borrows the matrix. */
OSLA_API osla_operator osla_csr_operator(osla_csr *matrix);

/* Reason why a solver ended. */
typedef enum osla_krylov_end {
  OSLA_KRYLOV_CONVERGED,
  OSLA_KRYLOV_ITERATIONS, /* the largest number of iterations was reached */
  /* the matrix or the preconditioner is not positive definite: CG found p^T A p <= 0 or r^T M r <=
     0; LSQR does not use this value */
  OSLA_KRYLOV_INDEFINITE,
  /* A, b or x contains an infinity or NaN, or x is outside the range of double: it overflows, or
   * its norm is below the smallest normal number, 2.2e-308 */
  OSLA_KRYLOV_NOT_FINITE
} osla_krylov_end;

/* Options of a solver, equal on all ranks except `each` and `arg`. */
typedef struct osla_krylov_options {
  double tolerance;   /* tolerance of the stopping rule that each solver describes; 0: 1e-8 */
  int64_t iterations; /* largest number of iterations; 0: 10000; -1: no iterations */
  /* For CG with a preconditioner that is not the same linear operator in each step, such as
   * asynchronous sweeps (osla_sweeps.h), or is not quite symmetric. The next direction is made
   * A-orthogonal to the last one with beta = z^T (r - r_old) / z_old^T r_old, which adds one number
   * to a sum. With a constant preconditioner the result equals CG up to rounding. */
  bool flexible;
  /* If not NULL, a function that all ranks call in each iteration, with equal values. `left` is the
   * quantity that is compared with `tolerance`. */
  void (*each)(void *arg, int64_t iteration, double left);
  void *arg;
  /* number of iterations between two tests for convergence of CG on devices; 0 stands for 16. The
   * host reads from the device only at the tests, so CG may make up to check_every - 1 iterations
   * more than needed. After a test the solver calls `each` for all iterations since the previous
   * test. CG ignores this member, and tests in every iteration, if the vectors lie in host memory,
   * if the ranks are on several nodes, or if several ranks use an operator that osla_csr_operator
   * has not made. */
  int64_t check_every;
  uint64_t reserved[7]; /* must be 0 (osla_types.h) */
} osla_krylov_options;

typedef struct osla_krylov_result {
  osla_krylov_end end;
  int64_t iterations;
  double left; /* quantity compared with the tolerance, when the solver ended */
  /* |b - A x| as the recurrences of the solver give it (LSQR: including the damping term) */
  double residual;
  /* seconds of this rank in products, in sums, and in the whole solver */
  double seconds_products, seconds_sums, seconds;
} osla_krylov_result;

/* ---- CG ---- */

/* An approximate inverse, symmetric and positive definite: z := M r on this rank's part. If it
 * changes between steps set options.flexible. */
typedef struct osla_preconditioner {
  /* computes z := M r; an error must occur on all ranks */
  osla_err (*apply)(void *arg, const double *r, double *z);
  void *arg;
} osla_preconditioner;

/* Creates a preconditioner from the inverse of the diagonal, or of square diagonal blocks: `block`
 * consecutive rows of a rank (the last block may be smaller), factored by Cholesky. Collective.
 *   matrix [in]  only read during the call
 *   block  [in]  1: Jacobi; > 1: block-Jacobi
 *   shift  [in]  added to the diagonal
 *   out    [out] owned by the caller
 * Memory: 8 block bytes per row. Errors, on all ranks together: ARG (block < 1; different blocks of
 * rows and columns; a diagonal element that is not positive, or below 5.6e-309, so that its inverse
 * overflows; a block that is not positive definite: its row is named), MEM, MPI. */
typedef struct osla_jacobi osla_jacobi;
OSLA_API osla_err osla_jacobi_create(osla_csr *matrix, int64_t block, double shift,
                                     osla_jacobi **out);
OSLA_API void osla_jacobi_destroy(osla_jacobi **jacobi); /* local */
/* Returns the preconditioner, which borrows the osla_jacobi object. */
OSLA_API osla_preconditioner osla_jacobi_use(const osla_jacobi *jacobi);

/* Solves A x = b for symmetric positive definite A. Collective.
 *   a       [in]     the matrix A, with as many rows as columns
 *   m       [in]     the preconditioner M; NULL: none
 *   b       [in]     [rows]
 *   x       [in,out] [rows] the first guess, then the solution
 *   options [in]     NULL: defaults. The solver ends when |b - A x| <= tolerance |b|
 * The bits of x depend only on operator, preconditioner and number of ranks. Range: the solver
 * multiplies b, A and M by powers of two, so A, M, b and x may have any normal size; A times the
 * first guess must stay in the range of double. Memory: four vectors. Errors, on all ranks
 * together: ARG (options, also if they differ between ranks; rows and columns differ; a
 * preconditioner of osla_jacobi_use or osla_sweeps_use for another number of rows; A, b and x in
 * different kinds of memory), MEM, MPI, those of operator and preconditioner.
 *
 * If A, b and x lie on a device (osla_sparse_device.h), the device computes all steps, and a
 * preconditioner is UNSUPPORTED. The solver then does not scale b and A: it ends as NOT_FINITE if
 * |b|^2, r^T r, p^T A p or |x|^2 leaves the range of double, where r = b - A x and p is the search
 * direction. Memory: six vectors; three if each iteration tests for convergence. Source: Zhang et
 * al., The PetscSF Scalable Communication Layer, IEEE TPDS 33(4), 2022 (CGAsync). */
OSLA_API osla_err osla_cg(const osla_operator *a, const osla_preconditioner *m, const double *b,
                          double *x, const osla_krylov_options *options,
                          osla_krylov_result *result);

/* ---- LSQR ---- */

/* Minimises |b - A x|^2 + damping^2 |x / scale|^2. Collective.
 *   b       [in]  [rows]
 *   damping [in]  >= 0, finite, equal on all ranks
 *   scale   [in]  [columns] > 0: the solver iterates for x / scale. This changes the convergence,
 *                 but (without damping) not the solution; 1 / norm of each column is a good choice.
 *                 NULL: all are 1
 *   x       [out] [columns]; the first guess is 0
 *   options [in]  NULL: defaults. The solver ends when |A^T r| <= tolerance |A| |r| or |r| <=
 *                 tolerance (|b| + |A| |x|), where r is the residual, A includes scale and damping,
 *                 and |A| is an estimate of the Frobenius norm (stopping rules 2 and 1 of section
 *                 6)
 * The bits of x depend only on operator and number of ranks. Range: the solver multiplies b, A and
 * the damping by powers of two, so A, b and x may have any normal size. A damping above 1e150 |A|
 * can end as NOT_FINITE. Memory: five vectors of columns and one of rows. Errors: as osla_cg. */
OSLA_API osla_err osla_lsqr(const osla_operator *a, const double *b, double damping,
                            const double *scale, double *x, const osla_krylov_options *options,
                            osla_krylov_result *result);

#ifdef __cplusplus
}
#endif
#endif
