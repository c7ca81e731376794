/* Solves (layer 3): triangular solves, solves with factors, refinement, mixed precision, condition
 * estimates.
 *
 * A is n x n in square blocks (mb = nb) on any grid. In triangular solves, solves with Cholesky's
 * factor, osla_residual, osla_refine, osla_posv_mixed and osla_pocon, A may also be a triangular
 * matrix, which stores only its lower triangle (osla_matrix_create_triangle), with OSLA_LOWER. B
 * and X are full matrices. Right-hand sides B and solutions X are n x nrhs, in any blocks and on
 * any grid over the same ranks. A solve works on them in place if they are distributed like A: the
 * same ranks at the same grid positions, and the same block rows (mb of B = nb of A); their block
 * columns are free. Otherwise a solve works on a copy, as large as B. A solve is fastest with one
 * block column of B for each process column.
 *
 * All calls are collective, with the same enumeration arguments, numbers and options on all ranks.
 * They accept types s, d, c and z unless stated otherwise. They use all changes of the matrices
 * that any rank has made before; on return all ranks have finished.
 * Errors, on all ranks together: ARG (sizes, blocks or types that do not fit, different
 * transports), MEM and RANGE (a rank's part exceeds the integers of the BLAS; triangular solves,
 * osla_potrs and osla_getrs leave B unchanged), MPI.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_SOLVE_H
#define OSLA_SOLVE_H

#include "osla_api.h"
#include "osla_part.h"
#include "osla_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* B := alpha op(T)^-1 B (LEFT, B is n x nrhs) or alpha B op(T)^-1 (RIGHT, B is nrhs x n). T is the
 * triangle `uplo` of A, with ones on its diagonal if diag is UNIT; the rest of A is not read.
 *   alpha  [in]     0 sets B to zero, and A is not read. For real types only the real part counts
 *   a      [in]     n x n
 *   b      [in,out] must not be A
 * RIGHT works on a transposed copy of B, whatever the distribution of B.
 * Memory beside the copies: none if T and B can be read in place; otherwise two block columns of T
 * and a few block rows of B. TRANS and CONJTRANS on several process rows need about 32 MiB for
 * sums, or the sums of 256 columns of B if these are larger, that is 4 (process rows + 1) nb 256
 * elements. osla_getrs needs twice as much. */
OSLA_API osla_err osla_trsm(osla_side side, osla_uplo uplo, osla_trans trans, osla_diag diag,
                            osla_complex alpha, const osla_matrix *a, osla_matrix *b);

/* B := A^-1 B with the factor that osla_potrf left in triangle `uplo` of A. */
OSLA_API osla_err osla_potrs(osla_uplo uplo, const osla_matrix *a, osla_matrix *b);

/* B := op(A)^-1 B with the factors and interchanges that osla_getrf left.
 *   ipiv [in] as osla_getrf fills it: for a local row with global index i, 1 + the index of the row
 *             it was interchanged with in step i. NULL on all ranks: no interchanges. Ranks
 *             without rows of A may always pass NULL
 * Memory beside that of the triangular solves: 2 n indices, and buffers of a few MiB, or of a
 * column of B, for the interchanges. Errors as stated at the head of this file, and ARG for a pivot
 * outside 1 to n, or if only some ranks pass NULL. */
OSLA_API osla_err osla_getrs(osla_trans trans, const osla_matrix *a, const int64_t *ipiv,
                             osla_matrix *b);

/* Solves with parts, also with parts of one matrix. Elements outside B stay unchanged. A part that
 * osla_potrf_part would factor in place is used in place; any other A is copied, any other B is
 * copied and copied back. To compare the distributions of A and B, rows and columns are counted
 * from the first element of each part. Except in osla_getrs_part, A may be a whole triangular
 * matrix, which is used in place, or a part of a triangular matrix that begins and ends on the
 * diagonal, and A and B may be parts of triangular matrices below the diagonal. Parts of triangular
 * matrices are copied.
 *   ipiv [in] as osla_getrf_part fills it: elements for the local rows of A's whole matrix
 * Memory beside that of the calls for whole matrices: none, or a copy of a part and 64 of its
 * columns; osla_getrs_part also 2 n indices. Errors as the calls for whole matrices, ARG for a part
 * outside its matrix or a B that overlaps A, and UNSUPPORTED for any other part of a triangular
 * matrix. */
OSLA_API osla_err osla_trsm_part(osla_side side, osla_uplo uplo, osla_trans trans, osla_diag diag,
                                 osla_complex alpha, osla_part a, osla_part b);
OSLA_API osla_err osla_potrs_part(osla_uplo uplo, osla_part a, osla_part b);
OSLA_API osla_err osla_getrs_part(osla_trans trans, osla_part a, const int64_t *ipiv, osla_part b);

/* osla_potrs and osla_getrs for right-hand sides that every rank has. x is n x nrhs, of A's type,
 * the same on all ranks; the leading dimension ldx may differ by rank. The solutions replace x on
 * all ranks. Each rank works on a share of x. Memory beside that of osla_potrs and osla_getrs: this
 * share. Errors as osla_potrs and osla_getrs, and ARG for nrhs < 0, ldx < max(1, n), x == NULL. */
OSLA_API osla_err osla_potrs_replicated(osla_uplo uplo, const osla_matrix *a, int64_t nrhs, void *x,
                                        int64_t ldx);
OSLA_API osla_err osla_getrs_replicated(osla_trans trans, const osla_matrix *a, const int64_t *ipiv,
                                        int64_t nrhs, void *x, int64_t ldx);

/* Factors of a matrix, passed by value. All pointers are borrowed. */
typedef struct osla_factors {
  const osla_matrix *matrix; /* the matrix as the factorisation left it */
  bool cholesky;             /* true: Cholesky; false: LU */
  osla_uplo uplo;            /* triangle of the Cholesky factor */
  const int64_t *ipiv;       /* interchanges as osla_getrf fills them; not used with Cholesky */
} osla_factors;

static inline osla_factors osla_factors_cholesky(const osla_matrix *matrix, osla_uplo uplo)
{
  osla_factors f = {matrix, true, uplo, NULL};
  return f;
}

static inline osla_factors osla_factors_lu(const osla_matrix *matrix, const int64_t *ipiv)
{
  osla_factors f = {matrix, false, OSLA_LOWER, ipiv};
  return f;
}

/* Scaled residual of a solution, as HPL and LAPACK's testers define it: the largest value, over the
 * columns x and b of X and B, of
 *   |b - A x|_inf / ((|A|_inf |x|_inf + |b|_inf) n eps),  eps of the matrices' precision.
 * A backward stable solve gives a value of order 1. The value is NaN if there is a NaN. A is the
 * matrix before its factorisation: a full matrix with both triangles, or a triangular matrix, which
 * represents a symmetric (Hermitian) matrix. The call makes a copy of B. */
OSLA_API osla_err osla_residual(const osla_matrix *a, const osla_matrix *x, const osla_matrix *b,
                                double *value);

/* Options of the refinement, the same on all ranks. */
typedef struct osla_refine_options {
  int max_iterations; /* largest number of iterations; 0: 30 */
  /* scaled residual at which the refinement ends; 0: 1 for osla_refine, 1 / sqrt(n) for mixed
   * precision */
  double target;
  uint64_t reserved[8]; /* 0: osla_types.h */
} osla_refine_options;

typedef struct osla_refine_result {
  int iterations;  /* number of iterations that improved X */
  double residual; /* osla_residual of X; NaN if X was not finite */
  /* true: residual <= target; false: the residual stopped falling, or the largest number of
   * iterations was reached */
  bool converged;
} osla_refine_result;

/* Iterative refinement: X := X + A^-1 (B - A X) until the scaled residual is small enough, or falls
 * by less than a half. An iteration that does not reduce the residual is discarded.
 *   a       [in]     the matrix before its factorisation: a full matrix with both triangles
 *                    (osla_matrix_mirror), or a triangular matrix, which represents a symmetric
 *                    (Hermitian) matrix
 *   factors [in]     factors of A, or of a matrix near A; Cholesky's factor may be a full or a
 *                    triangular matrix; real or complex like A; if A has double precision, the
 *                    factors may have single precision
 *   b       [in]     right-hand sides
 *   x       [in,out] first guess, which may be zero; solutions
 *   options [in]     NULL = defaults
 *   result  [out]    NULL, or the same on all ranks
 * Memory: three copies of B, and half a copy more if the factors have single precision; with a
 * triangular A also that of osla_hemm. Errors as stated at the head of this file, and ARG for
 * options that are negative or differ by rank.
 * Source: Skeel, "Iterative refinement implies numerical stability for Gaussian elimination" (Math.
 * Comp. 35, 1980); LAPACK's xGERFS. */
OSLA_API osla_err osla_refine(const osla_matrix *a, const osla_factors *factors,
                              const osla_matrix *b, osla_matrix *x,
                              const osla_refine_options *options, osla_refine_result *result);

typedef enum osla_mixed_path {
  OSLA_MIXED_SINGLE, /* X was computed with factors in single precision */
  /* factorisation in single precision failed at a pivot; X was computed with factors in double
     precision */
  OSLA_MIXED_FACTOR,
  /* refinement did not converge; X was computed with factors in double precision */
  OSLA_MIXED_STALLED,
  /* factorisation in double precision failed as well: X is undefined, and info says where */
  OSLA_MIXED_SINGULAR
} osla_mixed_path;

typedef struct osla_mixed_result {
  osla_mixed_path path;
  /* info of the last factorisation: 0, or the value > 0 that osla_getrf or osla_potrf gives */
  int64_t info;
  /* number of solves with the factors in single precision that improved X, including the first
   * one */
  int single_iterations;
  osla_refine_result refine; /* result of the refinement whose solution is X */
} osla_mixed_result;

/* Solves A X = B in double precision with a factorisation in single precision, which takes half the
 * memory and time of one in double precision. Refines until the scaled residual is as small as
 * after a solve in double precision. If this fails, A is factored in double precision. gesv: LU
 * with partial pivoting; posv: Cholesky.
 *   uplo    [in]  the triangle of A that is factored
 *   a       [in]  type d or z; a full matrix with both triangles, or, in osla_posv_mixed, a
 *                 triangular matrix; not changed
 *   b       [in]  right-hand sides
 *   x       [out] solutions; neither A nor B
 *   options [in]  of the refinement; NULL = defaults
 *   result  [out] NULL, or the same on all ranks
 * Memory: that of osla_refine, and a copy of A, full or triangular like A, in single precision,
 * which is replaced by a copy in double precision if single precision fails. All of it is allocated
 * before A is factored, except what the solves and the products with a triangular A need
 * (osla_getrs_memory). Errors as osla_refine, and UNSUPPORTED for s and c.
 * Source: Langou, Langou, Luszczek, Kurzak, Buttari, Dongarra, "Exploiting the performance of 32
 * bit floating point arithmetic in obtaining 64 bit accuracy" (SC 2006); LAPACK's DSGESV,
 * DSPOSV. */
OSLA_API osla_err osla_gesv_mixed(const osla_matrix *a, const osla_matrix *b, osla_matrix *x,
                                  const osla_refine_options *options, osla_mixed_result *result);
OSLA_API osla_err osla_posv_mixed(osla_uplo uplo, const osla_matrix *a, const osla_matrix *b,
                                  osla_matrix *x, const osla_refine_options *options,
                                  osla_mixed_result *result);

/* Estimates the reciprocal condition number 1 / (|A|_1 |A^-1|_1) from the factors of A, by 4 to 11
 * solves with one right-hand side.
 *   a     [in]  as osla_getrf (osla_potrf) left it; ipiv as osla_getrs
 *   anorm [in]  |A|_1 before the factorisation (osla_matrix_norm)
 *   rcond [out] the same on all ranks. The estimate of |A^-1|_1 is never too large, except for
 *               rounding, and rarely less than a third of the true value; so rcond is never too
 *               small. 0 if anorm is 0, or A is singular; 1 if n = 0
 * Errors as stated at the head of this file, and ARG for anorm < 0 or NaN.
 * Source: Higham, "FORTRAN codes for estimating the one-norm of a real or complex matrix, with
 * applications to condition estimation" (ACM TOMS 14, 1988); LAPACK's xLACN2. */
OSLA_API osla_err osla_gecon(const osla_matrix *a, const int64_t *ipiv, double anorm,
                             double *rcond);
OSLA_API osla_err osla_pocon(osla_uplo uplo, const osla_matrix *a, double anorm, double *rcond);

/* Bytes that osla_getrs needs on a rank beside A, ipiv and n x nrhs right-hand sides that are
 * distributed like A's rows, whatever the pivots and op. Local, pure. */
OSLA_API uint64_t osla_getrs_memory(const osla_shape *shape, int64_t nrhs);

#ifdef __cplusplus
}
#endif
#endif
