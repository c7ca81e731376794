/* Calls of LAPACK by element type. The Fortran entry points are used, because every implementation
 * has them, while headers differ.
 *
 * A CHARACTER argument has a hidden argument behind all others, its length: a size_t since gfortran
 * 8. LAPACK compiled by gfortran 7 or later may use that memory (GCC PR 90329), so the length must
 * be passed; implementations in C ignore it.
 */
#include "osla_blas.h"
#include "src/blas/blas_library.h"
#include "src/blas/row_swap.h"
#include "src/blas/work.h"
#include "src/device/device.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Number of interchanges in one call. The array of their 32-bit pivots fits on the stack. */
enum { SWAPS = 512 };

#define DECLARE_ROUTINES(letter, type)                                                             \
  void letter##potrf_(const char *uplo, const int *n, type *a, const int *lda, int *info,          \
                      size_t uplo_length);                                                         \
  void letter##potri_(const char *uplo, const int *n, type *a, const int *lda, int *info,          \
                      size_t uplo_length);                                                         \
  void letter##getrf_(const int *m, const int *n, type *a, const int *lda, int *ipiv, int *info);  \
  void letter##laswp_(const int *n, type *a, const int *lda, const int *k1, const int *k2,         \
                      const int *ipiv, const int *incx);
DECLARE_ROUTINES(s, float)
DECLARE_ROUTINES(d, double)
DECLARE_ROUTINES(c, float _Complex)
DECLARE_ROUTINES(z, double _Complex)

/* Factors a matrix that lies on a device. Usually the device factors it. If
 * osli_device_panels_on_host is true, the host factors a copy, while the device can do the work of
 * the other lane. */
static osla_err factor_on_device(const device_work *w)
{
  const size_t e = osla_dtype_size(w->dtype);
  if (!osli_device_panels_on_host) return osli_device_submit(w);
  void *copy = malloc((size_t)(w->m * w->n) * e);
  OSLA_CHECK(copy, OSLA_ERR_MEM, "copy of a panel: %zu bytes", (size_t)(w->m * w->n) * e);
  osli_device_copy(e, w->m, w->n, w->c, w->ldc, copy, w->m);
  osla_err err = w->kind == DEVICE_POTRF
                   ? osla_lapack_potrf(w->dtype, w->uplo, w->n, copy, w->m, w->info)
                   : osla_lapack_getrf(w->dtype, w->m, w->n, copy, w->m, w->pivots, w->info);
  if (err == OSLA_OK) osli_device_copy(e, w->m, w->n, copy, w->m, w->c, w->ldc);
  free(copy);
  return err;
}

/* OpenBLAS 0.3.21's xPOTRF accepts a NaN as a positive pivot; LAPACK's own xPOTRF stops at a NaN
 * since version 3.2. Returns the order of the first minor whose pivot is NaN, or info. */
static int first_bad_pivot(osla_dtype dtype, int n, const void *a, int64_t lda, int info)
{
  int good = info > 0 ? info - 1 : n;
  bool single = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
  int64_t parts = dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE ? 1 : 2;
  for (int64_t i = 0; i < good; i++) {
    int64_t at = (i + i * lda) * parts;
    if (single ? isnan(((const float *)a)[at]) : isnan(((const double *)a)[at])) return (int)i + 1;
  }
  return info;
}

osla_err osla_lapack_potrf(osla_dtype dtype, osla_uplo uplo, int64_t n, void *a, int64_t lda,
                           int64_t *info)
{
  int s[2] = {0}, result = 0;
  const char *letter = uplo == OSLA_UPPER ? "U" : "L";
  *info = 0;
  if (n > 0 && osli_device_of(a))
    return factor_on_device(&(device_work){DEVICE_POTRF, dtype, .uplo = uplo, .m = n, .n = n,
                                           .c = a, .ldc = lda, .info = info});
  OSLA_CALL(osli_blas_enter(2, (int64_t[]){n, lda}, s));
  if (n == 0) return OSLA_OK;
  osla_work work = {OSLA_WORK_POTRF, dtype, 1, s[0], 1};
  if (!osli_work_begin(&work)) return OSLA_OK;
  switch (dtype) {
    case OSLA_FLOAT: spotrf_(letter, &s[0], a, &s[1], &result, 1); break;
    case OSLA_DOUBLE: dpotrf_(letter, &s[0], a, &s[1], &result, 1); break;
    case OSLA_COMPLEX_FLOAT: cpotrf_(letter, &s[0], a, &s[1], &result, 1); break;
    case OSLA_COMPLEX_DOUBLE: zpotrf_(letter, &s[0], a, &s[1], &result, 1); break;
  }
  OSLA_CHECK(result >= 0, OSLA_ERR_ARG, "xPOTRF refused argument %d", -result);
  work_end(&work);
  *info = first_bad_pivot(dtype, s[0], a, lda, result);
  return OSLA_OK;
}

osla_err osla_lapack_potri(osla_dtype dtype, osla_uplo uplo, int64_t n, void *a, int64_t lda,
                           int64_t *info)
{
  int s[2] = {0}, result = 0;
  const char *letter = uplo == OSLA_UPPER ? "U" : "L";
  *info = 0;
  OSLA_REFUSES_DEVICE("osla_lapack_potri", a);
  OSLA_CALL(osli_blas_enter(2, (int64_t[]){n, lda}, s));
  if (n == 0) return OSLA_OK;
  osla_work work = {OSLA_WORK_TRSM_LEFT, dtype, s[0], s[0],
                    /* the model charges a TRSM, because xPOTRI takes nearly as many operations */
                    1};
  if (!osli_work_begin(&work)) return OSLA_OK;
  switch (dtype) {
    case OSLA_FLOAT: spotri_(letter, &s[0], a, &s[1], &result, 1); break;
    case OSLA_DOUBLE: dpotri_(letter, &s[0], a, &s[1], &result, 1); break;
    case OSLA_COMPLEX_FLOAT: cpotri_(letter, &s[0], a, &s[1], &result, 1); break;
    case OSLA_COMPLEX_DOUBLE: zpotri_(letter, &s[0], a, &s[1], &result, 1); break;
  }
  OSLA_CHECK(result >= 0, OSLA_ERR_ARG, "xPOTRI refused argument %d", -result);
  work_end(&work);
  *info = result;
  return OSLA_OK;
}

osla_err osla_lapack_getrf(osla_dtype dtype, int64_t m, int64_t n, void *a, int64_t lda,
                           int64_t *pivots, int64_t *info)
{
  int s[3] = {0}, result = 0;
  *info = 0;
  if (m > 0 && n > 0 && osli_device_of(a))
    return factor_on_device(&(device_work){DEVICE_GETRF, dtype, .m = m, .n = n, .c = a, .ldc = lda,
                                           .pivots = pivots, .info = info});
  OSLA_CALL(osli_blas_enter(3, (int64_t[]){m, n, lda}, s));
  if (m == 0 || n == 0) return OSLA_OK;
  int count = s[0] < s[1] ? s[0] : s[1];
  /* at first holds LAPACK's 32-bit pivots, which are widened in place, so that no further memory is
   * needed */
  void *ipiv = pivots;
  osla_work work = {OSLA_WORK_GETRF, dtype, s[0], s[1], 1};
  if (!osli_work_begin(&work)) {
    for (int i = 0; i < count; i++)
      pivots[i] = i + (int64_t)(osli_work_random() * (double)(m - 1 - i));
    return OSLA_OK;
  }
  switch (dtype) {
    case OSLA_FLOAT: sgetrf_(&s[0], &s[1], a, &s[2], ipiv, &result); break;
    case OSLA_DOUBLE: dgetrf_(&s[0], &s[1], a, &s[2], ipiv, &result); break;
    case OSLA_COMPLEX_FLOAT: cgetrf_(&s[0], &s[1], a, &s[2], ipiv, &result); break;
    case OSLA_COMPLEX_DOUBLE: zgetrf_(&s[0], &s[1], a, &s[2], ipiv, &result); break;
  }
  for (int i = count - 1; i >= 0; i--) {
    int narrow;
    memcpy(&narrow, (unsigned char *)ipiv + (size_t)i * sizeof narrow, sizeof narrow);
    pivots[i] = narrow - 1;
  }
  OSLA_CHECK(result >= 0, OSLA_ERR_ARG, "xGETRF refused argument %d", -result);
  work_end(&work);
  *info = result;
  return OSLA_OK;
}

/* Interchanges rows by LAPACK, whose xLASWP uses all threads of OpenBLAS. */
static void swap_rows_by_lapack(osla_dtype dtype, int n, unsigned char *a, int lda, int64_t count,
                                const int64_t *pivots, bool backward)
{
  int ipiv[SWAPS], one = 1, step = backward ? -1 : 1;
  for (int64_t done = 0; done < count; done += SWAPS) {
    int piece = count - done < SWAPS ? (int)(count - done) : SWAPS;
    int64_t first = backward ? count - done - piece : done;
    void *rows = a + (size_t)first * osla_dtype_size(dtype);
    for (int i = 0; i < piece; i++)
      ipiv[i] = (int)(pivots[first + i] - first) + 1;
    switch (dtype) {
      case OSLA_FLOAT: slaswp_(&n, rows, &lda, &one, &piece, ipiv, &step); break;
      case OSLA_DOUBLE: dlaswp_(&n, rows, &lda, &one, &piece, ipiv, &step); break;
      case OSLA_COMPLEX_FLOAT: claswp_(&n, rows, &lda, &one, &piece, ipiv, &step); break;
      case OSLA_COMPLEX_DOUBLE: zlaswp_(&n, rows, &lda, &one, &piece, ipiv, &step); break;
    }
  }
}

osla_err osla_lapack_laswp(osla_dtype dtype, int64_t n, void *a, int64_t lda, int64_t count,
                           const int64_t *pivots, bool backward)
{
  int s[3] = {0};
  if (n > 0 && count > 0 && osli_device_of(a))
    return osli_device_submit(&(device_work){DEVICE_LASWP, dtype, .n = n, .k = count, .c = a,
                                             .ldc = lda, .pivots = (int64_t *)(uintptr_t)pivots,
                                             .backward = backward});
  OSLA_CALL(osli_blas_enter(3, (int64_t[]){n, lda, count}, s));
  if (n == 0) return OSLA_OK;
  osla_work work = {OSLA_WORK_LASWP, dtype, 1, s[0], s[2]};
  if (!osli_work_begin(&work)) return OSLA_OK;
  if (osla_blas_threads() == 1)
    osli_swap_rows(osla_dtype_size(dtype), n, a, lda, 0, count, pivots, backward);
  else
    swap_rows_by_lapack(dtype, s[0], a, s[1], count, pivots, backward);
  work_end(&work);
  return OSLA_OK;
}
