/* The only interface to BLAS and LAPACK (layer 0).
 *
 * Sizes are int64_t and are converted to the library's int in one place; a size that does not fit
 * gives RANGE. All matrices are column-major. All calls are local and thread-safe, and serve the
 * four element types s, d, c and z. Names and meanings are those of BLAS and LAPACK.
 *
 * gemm, syrk, trsm, potrf, getrf and laswp also work on device memory (osla_device.h) if all
 * matrices lie on one device. There gemm, syrk, trsm and laswp only queue their work, which is
 * complete after the next call that informs other ranks, such as osla_barrier; potrf and getrf
 * return when their work is complete. All other calls of this header return UNSUPPORTED for device
 * memory.
 *
 * Errors of every call: RANGE, and those of osla_blas_ready, which the first call in each thread
 * includes.
 *
 * Threads: any thread may make any of the calls, at any time.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_BLAS_H
#define OSLA_BLAS_H

#include "osla_api.h"
#include "osla_error.h"
#include "osla_types.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C (m x n) := alpha op(A) op(B) + beta C, where op(A) is m x k. C is not read if beta = 0. */
OSLA_API osla_err osla_blas_gemm(osla_dtype dtype, osla_trans transa, osla_trans transb, int64_t m,
                                 int64_t n, int64_t k, osla_complex alpha, const void *a,
                                 int64_t lda, const void *b, int64_t ldb, osla_complex beta,
                                 void *c, int64_t ldc);

/* Triangle `uplo` of C (n x n) := alpha A A^H + beta C (NOTRANS, A is n x k), or alpha A^H A + beta
 * C (otherwise, A is k x n). xSYRK for real types, xHERK for complex ones. */
OSLA_API osla_err osla_blas_syrk(osla_dtype dtype, osla_uplo uplo, osla_trans trans, int64_t n,
                                 int64_t k, double alpha, const void *a, int64_t lda, double beta,
                                 void *c, int64_t ldc);

/* B (m x n) := op(A)^-1 B (LEFT) or B op(A)^-1 (RIGHT), A triangular. */
OSLA_API osla_err osla_blas_trsm(osla_dtype dtype, osla_side side, osla_uplo uplo, osla_trans trans,
                                 osla_diag diag, int64_t m, int64_t n, const void *a, int64_t lda,
                                 void *b, int64_t ldb);

/* A (m x n) := A + alpha x y^T, x and y with increments (not conjugated). */
OSLA_API osla_err osla_blas_ger(osla_dtype dtype, int64_t m, int64_t n, double alpha, const void *x,
                                int64_t incx, const void *y, int64_t incy, void *a, int64_t lda);

/* x (n) := alpha x. */
OSLA_API osla_err osla_blas_scal(osla_dtype dtype, int64_t n, osla_complex alpha, void *x);

/* Index, from 0, of the first element of x (n >= 1) of largest |re| + |im|. */
OSLA_API osla_err osla_blas_iamax(osla_dtype dtype, int64_t n, const void *x, int64_t *index);

/* Largest |x_i| of n elements: 0 if n = 0, NaN if an element is NaN. */
OSLA_API osla_err osla_blas_max(osla_dtype dtype, int64_t n, const void *x, double *value);

/* LU factors of A (m x n) in place, with row interchanges: row i was exchanged with row pivots[i],
 * both counted from 0, i < min(m, n). *info is that of LAPACK's xGETRF: 0, or the index, from 1, of
 * the first pivot that is exactly zero. */
OSLA_API osla_err osla_lapack_getrf(osla_dtype dtype, int64_t m, int64_t n, void *a, int64_t lda,
                                    int64_t *pivots, int64_t *info);

/* Exchanges row i of A (n columns) with row pivots[i] >= i, for i = 0 .. count - 1 in ascending
 * order, or in descending order if `backward`. */
OSLA_API osla_err osla_lapack_laswp(osla_dtype dtype, int64_t n, void *a, int64_t lda,
                                    int64_t count, const int64_t *pivots, bool backward);

/* Cholesky factor of triangle `uplo` of A (n x n) in place. *info is that of LAPACK's xPOTRF: 0, or
 * the order of the first leading minor that is not positive definite. */
OSLA_API osla_err osla_lapack_potrf(osla_dtype dtype, osla_uplo uplo, int64_t n, void *a,
                                    int64_t lda, int64_t *info);

/* Inverse, from the Cholesky factor in triangle `uplo` of A (n x n): the triangle is overwritten by
 * that of the inverse. *info is that of LAPACK's xPOTRI: 0, or the index of the first zero on the
 * diagonal, from 1. */
OSLA_API osla_err osla_lapack_potri(osla_dtype dtype, osla_uplo uplo, int64_t n, void *a,
                                    int64_t lda, int64_t *info);

/* Checks that this thread may call BLAS; done once in each thread. Local. Errors: MEM (OpenBLAS
 * would retry for ever if it cannot map its buffer), UNSUPPORTED (a library with 64-bit
 * integers). */
OSLA_API osla_err osla_blas_ready(void);

/* True if there is memory for the buffers of this number of threads. Always true for a BLAS that is
 * not known to retry for ever without memory. Local. */
OSLA_API bool osla_blas_has_room(int threads);

/* Checks, before MPI is started, that the limit on address space allows the buffers of all threads
 * that the BLAS has started, and 64 MiB for everything else. Without the memory these threads retry
 * for ever, and MPI may hang. Local. Errors: MEM. */
OSLA_API osla_err osla_blas_fits(void);

/* osla_blas_describe returns the name and version of the BLAS, for messages. osla_blas_threads
 * returns its number of threads, 0 if unknown. Local. */
OSLA_API const char *osla_blas_describe(void);
OSLA_API int osla_blas_threads(void);
/* Sets the number of threads of the BLAS. Has no effect if the BLAS has no such call, or if there
 * is no memory for the buffers of the threads. */
OSLA_API void osla_blas_set_threads(int threads);

#ifdef __cplusplus
}
#endif
#endif
