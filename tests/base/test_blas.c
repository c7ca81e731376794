/* Tests of BLAS and LAPACK calls, against plain loops and with sizes and types to be refused. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "osla_blas.h"
#include "osla_random.h"
#include "tests/complex_help.h"
#include "tests/osla_test_help.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIDE = 24 };

/* A matrix element in the widest type, before it is converted to the tested type. */
typedef osla_complex wide;

static wide random_wide(osla_dtype dtype, uint64_t seed, int64_t k)
{
  double re = osla_random_uniform(seed, (uint64_t)k, 0),
         im = osla_random_uniform(seed, (uint64_t)k, 1);
  if (dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT)
    re = (double)(float)re, im = (double)(float)im;
  return dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE ? re : re + im * I;
}

static double tolerance(osla_dtype dtype)
{
  return dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT ? 2e-5 : 1e-13;
}

/* An array of `count` seeded elements; the caller frees it. */
static void *random_array(osla_dtype dtype, uint64_t seed, int64_t count)
{
  void *array = calloc((size_t)count + 1, sizeof(wide));
  for (int64_t k = 0; k < count; k++)
    osla_test_store(dtype, array, k, random_wide(dtype, seed, k));
  return array;
}

/* ---- gemm: products ---- */

static wide op_at(osla_dtype dtype, osla_trans trans, const void *array, int64_t i, int64_t j,
                  int64_t ld)
{
  wide x = osla_test_load(dtype, array, trans == OSLA_NOTRANS ? i + j * ld : j + i * ld);
  return trans == OSLA_CONJTRANS ? conj(x) : x;
}

/* The scalar alpha or beta as a routine of this type uses it: its real part for real types. */
static wide factor(osla_dtype dtype, wide x)
{
  return dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE ? (wide)creal(x) : x;
}

static void check_gemm(osla_dtype dtype, osla_trans ta, osla_trans tb, int64_t m, int64_t n,
                       int64_t k, wide alpha, wide beta)
{
  const int64_t ld = MAX_SIDE + 3;
  void *a = random_array(dtype, 1, ld * MAX_SIDE), *b = random_array(dtype, 2, ld * MAX_SIDE);
  void *c = random_array(dtype, 3, ld * MAX_SIDE), *old = random_array(dtype, 3, ld * MAX_SIDE);
  double worst = 0.0;
  if (factor(dtype, beta) == 0.0) /* beta = 0, so that C must not be read */
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < m; i++)
        osla_test_store(dtype, c, i + j * ld, (double)NAN);
  OSLA_ASSERT_OK(osla_blas_gemm(dtype, ta, tb, m, n, k, alpha, a, ld, b, ld, beta, c, ld));
  for (int64_t j = 0; j < MAX_SIDE; j++)
    for (int64_t i = 0; i < ld; i++) {
      bool in = i < m && j < n;
      wide sum = osla_test_load(dtype, old, i + j * ld);
      if (in) sum *= factor(dtype, beta);
      for (int64_t l = 0; in && l < k; l++)
        sum += factor(dtype, alpha) * op_at(dtype, ta, a, i, l, ld) * op_at(dtype, tb, b, l, j, ld);
      double error = cabs(osla_test_load(dtype, c, i + j * ld) - sum);
      if (!(error <= worst)) worst = error;
    }
  OSLA_ASSERT_MSG(
    worst <= tolerance(dtype),
    "%g, type %d, ops %d %d, %" PRId64 " x %" PRId64 " x %" PRId64 ", (%g%+gi), (%g%+gi)", worst,
    (int)dtype, (int)ta, (int)tb, m, n, k, creal(alpha), cimag(alpha), creal(beta), cimag(beta));
  free(a), free(b), free(c), free(old);
}

static void test_gemm(void)
{
  for (int d = 0; d < 4; d++)
    for (int t = 0; t < 9; t++) {
      osla_dtype dtype = (osla_dtype)d;
      osla_trans ta = (osla_trans)(t % 3), tb = (osla_trans)(t / 3);
      check_gemm(dtype, ta, tb, 7, 5, 9, 0.75, 1.0);
      check_gemm(dtype, ta, tb, 24, 1, 13, CMPLX(0.5, -0.75), 0.0);
      check_gemm(dtype, ta, tb, 1, 24, 24, CMPLX(0.75, 1.0), CMPLX(-0.5, 0.25));
      check_gemm(dtype, ta, tb, 6, 8, 24, CMPLX(0.0, 1.0), CMPLX(0.0, -1.0));
      check_gemm(dtype, ta, tb, 3, 4, 0, 0.75, 0.0); /* k = 0: C := beta C */
      check_gemm(dtype, ta, tb, 3, 4, 0, 0.75, CMPLX(2.0, 1.0));
      check_gemm(dtype, ta, tb, 0, 4, 3, 0.75, 0.0);
      check_gemm(dtype, ta, tb, 4, 0, 3, 0.75, 0.0);
    }
}

/* Replaces LAPACK's spotrf_, to see the hidden length of its CHARACTER argument. */
static size_t seen_length;
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info, size_t length);
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info, size_t length)
{
  __typeof__(spotrf_) *next;
  *(void **)&next = dlsym(RTLD_NEXT, "spotrf_");
  seen_length = length;
  next(uplo, n, a, lda, info, length);
}

/* ---- syrk, trsm, potrf ---- */

static bool in_triangle(osla_uplo uplo, int64_t i, int64_t j)
{
  return uplo == OSLA_LOWER ? i >= j : i <= j;
}

static void check_syrk(osla_dtype dtype, osla_uplo uplo, osla_trans trans, int64_t n, int64_t k)
{
  const int64_t ld = MAX_SIDE + 1;
  void *a = random_array(dtype, 4, ld * MAX_SIDE), *c = random_array(dtype, 5, ld * MAX_SIDE);
  void *old = random_array(dtype, 5, ld * MAX_SIDE);
  double worst = 0.0;
  OSLA_ASSERT_OK(osla_blas_syrk(dtype, uplo, trans, n, k, 2.0, a, ld, -1.0, c, ld));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      /* elements outside the triangle are unchanged */
      wide sum = osla_test_load(dtype, old, i + j * ld);
      if (in_triangle(uplo, i, j)) {
        sum = -sum;
        for (int64_t l = 0; l < k; l++)
          sum += 2.0 * osla_test_load(dtype, a, trans == OSLA_TRANS ? l + i * ld : i + l * ld) *
                 osla_test_load(dtype, a, trans == OSLA_TRANS ? l + j * ld : j + l * ld);
      }
      double error = cabs(osla_test_load(dtype, c, i + j * ld) - sum);
      if (!(error <= worst)) worst = error;
    }
  OSLA_ASSERT_MSG(worst <= tolerance(dtype), "%g, type %d", worst, (int)dtype);
  free(a), free(c), free(old);
}

/* Element (i, j) of op(A) for a triangular A: 1 on a unit diagonal, 0 outside the triangle. */
static wide triangle_at(osla_dtype dtype, const void *a, int64_t ld, osla_uplo uplo, osla_diag diag,
                        osla_trans trans, int64_t i, int64_t j)
{
  int64_t row = trans == OSLA_TRANS ? j : i, col = trans == OSLA_TRANS ? i : j;
  if (row == col && diag == OSLA_UNIT) return 1.0;
  return in_triangle(uplo, row, col) ? osla_test_load(dtype, a, row + col * ld) : 0.0;
}

/* Checks the residual op(A) X - B of a triangular solve, or X op(A) - B from the right. */
static void check_trsm(osla_dtype dtype, osla_side side, osla_uplo uplo, osla_trans trans,
                       osla_diag diag, int64_t m, int64_t n)
{
  const int64_t ld = MAX_SIDE + 2, order = side == OSLA_LEFT ? m : n;
  void *a = random_array(dtype, 6, ld * MAX_SIDE), *x = random_array(dtype, 7, ld * MAX_SIDE);
  void *b = random_array(dtype, 7, ld * MAX_SIDE);
  double worst = 0.0;
  for (int64_t i = 0; i < order; i++)
    for (int64_t j = 0; j < order; j++) /* well conditioned, also with a unit diagonal */
      osla_test_store(dtype, a, i + j * ld,
                      i == j ? 3.0 + (double)i : osla_test_load(dtype, a, i + j * ld) / 4.0);
  OSLA_ASSERT_OK(osla_blas_trsm(dtype, side, uplo, trans, diag, m, n, a, ld, x, ld));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) {
      wide sum = -osla_test_load(dtype, b, i + j * ld);
      for (int64_t l = 0; l < order; l++)
        sum += side == OSLA_LEFT ? triangle_at(dtype, a, ld, uplo, diag, trans, i, l) *
                                     osla_test_load(dtype, x, l + j * ld)
                                 : osla_test_load(dtype, x, i + l * ld) *
                                     triangle_at(dtype, a, ld, uplo, diag, trans, l, j);
      if (!(cabs(sum) <= worst)) worst = cabs(sum);
    }
  OSLA_ASSERT_MSG(worst <= tolerance(dtype), "%g, type %d", worst, (int)dtype);
  free(a), free(b), free(x);
}

static void test_syrk_and_trsm(void)
{
  for (int d = OSLA_FLOAT; d <= OSLA_DOUBLE; d++)
    for (int bits = 0; bits < 16; bits++) {
      osla_uplo uplo = bits & 1 ? OSLA_UPPER : OSLA_LOWER;
      osla_trans trans = bits & 2 ? OSLA_TRANS : OSLA_NOTRANS;
      if (bits < 4) {
        check_syrk((osla_dtype)d, uplo, trans, 11, 7);
        check_syrk((osla_dtype)d, uplo, trans, 5, 0);
        check_syrk((osla_dtype)d, uplo, trans, 0, 5);
      }
      osla_side side = bits & 4 ? OSLA_RIGHT : OSLA_LEFT;
      osla_diag diag = bits & 8 ? OSLA_UNIT : OSLA_NONUNIT;
      check_trsm((osla_dtype)d, side, uplo, trans, diag, 9, 12);
      check_trsm((osla_dtype)d, side, uplo, trans, diag, 1, 1);
      check_trsm((osla_dtype)d, side, uplo, trans, diag, 0, 3);
    }
}

/* A = n I + symmetric noise. If minor > 0, a large number is subtracted at (minor - 1, minor - 1),
 * so that the leading minor of order `minor` is not positive.
 */
static void check_potrf(osla_dtype dtype, osla_uplo uplo, int64_t n, int64_t minor)
{
  const int64_t ld = MAX_SIDE + 1;
  void *a = calloc((size_t)(ld * MAX_SIDE), sizeof(wide)),
       *f = calloc((size_t)(ld * MAX_SIDE), sizeof(wide));
  double worst = 0.0;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      int64_t low = i > j ? i : j, high = i > j ? j : i;
      wide value = random_wide(dtype, 8, low + high * ld) + (i == j ? (double)n : 0.0);
      if (i == j && i == minor - 1) value -= 3.0 * (double)n;
      osla_test_store(dtype, a, i + j * ld, value);
      osla_test_store(dtype, f, i + j * ld, in_triangle(uplo, i, j) ? value : (wide)NAN);
    }
  int64_t info = -1;
  OSLA_ASSERT_OK(osla_lapack_potrf(dtype, uplo, n, f, ld, &info));
  OSLA_ASSERT_MSG(info == minor, "info = %" PRId64 ", not %" PRId64, info, minor);
  for (int64_t j = 0; j < n && minor == 0; j++)
    for (int64_t i = 0; i < n; i++) { /* one element of A - L L^T, or of A - U^T U */
      wide sum = -osla_test_load(dtype, a, i + j * ld);
      for (int64_t l = 0; l <= (i < j ? i : j); l++)
        sum += uplo == OSLA_LOWER
                 ? osla_test_load(dtype, f, i + l * ld) * osla_test_load(dtype, f, j + l * ld)
                 : osla_test_load(dtype, f, l + i * ld) * osla_test_load(dtype, f, l + j * ld);
      if (!(cabs(sum) <= worst)) worst = cabs(sum);
    }
  OSLA_ASSERT_MSG(worst <= (double)(n + 1) * tolerance(dtype), "%g, type %d", worst, (int)dtype);
  free(a), free(f);
}

static void test_potrf(void)
{
  for (int d = OSLA_FLOAT; d <= OSLA_DOUBLE; d++)
    for (int u = 0; u < 2; u++) {
      osla_uplo uplo = u ? OSLA_UPPER : OSLA_LOWER;
      check_potrf((osla_dtype)d, uplo, 17, 0);
      check_potrf((osla_dtype)d, uplo, 1, 0);
      check_potrf((osla_dtype)d, uplo, 0, 0);
      check_potrf((osla_dtype)d, uplo, 12, 5);
      check_potrf((osla_dtype)d, uplo, 12, 12);
    }
  CU_ASSERT(seen_length == 1);
}

/* --- kernels of LU: ger, scal, iamax, max, getrf, laswp --- */

static void check_ger(osla_dtype dtype, int64_t m, int64_t n, int64_t incx, int64_t incy)
{
  const int64_t ld = MAX_SIDE + 1;
  void *x = random_array(dtype, 11, 3 * MAX_SIDE), *y = random_array(dtype, 12, 3 * MAX_SIDE);
  void *a = random_array(dtype, 13, ld * MAX_SIDE), *old = random_array(dtype, 13, ld * MAX_SIDE);
  double worst = 0.0;
  OSLA_ASSERT_OK(osla_blas_ger(dtype, m, n, -1.5, x, incx, y, incy, a, ld));
  for (int64_t j = 0; j < MAX_SIDE; j++)
    for (int64_t i = 0; i < ld; i++) {
      wide expected = osla_test_load(dtype, old, i + j * ld);
      if (i < m && j < n)
        expected -= 1.5 * osla_test_load(dtype, x, i * incx) * osla_test_load(dtype, y, j * incy);
      double error = cabs(osla_test_load(dtype, a, i + j * ld) - expected);
      if (!(error <= worst)) worst = error;
    }
  OSLA_ASSERT_MSG(worst <= tolerance(dtype),
                  "%g, type %d, %" PRId64 " x %" PRId64 ", increments %" PRId64 " %" PRId64, worst,
                  (int)dtype, m, n, incx, incy);
  free(x), free(y), free(a), free(old);
}

static void check_scal(osla_dtype dtype, int64_t n, wide alpha)
{
  void *x = random_array(dtype, 14, MAX_SIDE), *old = random_array(dtype, 14, MAX_SIDE);
  double worst = 0.0;
  OSLA_ASSERT_OK(osla_blas_scal(dtype, n, alpha, x));
  for (int64_t i = 0; i < MAX_SIDE; i++) {
    wide expected = osla_test_load(dtype, old, i) * (i < n ? factor(dtype, alpha) : 1.0);
    double error = cabs(osla_test_load(dtype, x, i) - expected);
    if (!(error <= worst)) worst = error;
  }
  OSLA_ASSERT_MSG(worst <= tolerance(dtype), "%g, type %d, n = %" PRId64, worst, (int)dtype, n);
  free(x), free(old);
}

static void test_ger_and_scal(void)
{
  for (int d = 0; d < 4; d++) {
    osla_dtype dtype = (osla_dtype)d;
    check_ger(dtype, 7, 11, 1, 1);
    check_ger(dtype, 24, 5, 1, 3); /* vector elements 3 apart in memory, as in a row of a matrix */
    check_ger(dtype, 1, 24, 2, 2);
    check_ger(dtype, 0, 5, 1, 1);
    check_ger(dtype, 5, 0, 1, 1);
    check_scal(dtype, 17, CMPLX(0.5, -2.0));
    check_scal(dtype, 1, 3.0);
    check_scal(dtype, 0, 3.0);
  }
}

/* The largest element occurs at index `at` and again later. The call must return `at`. */
static void check_largest(osla_dtype dtype, int64_t n, int64_t at)
{
  void *x = random_array(dtype, 15, n);
  int64_t found = -1;
  double value = -1.0;
  osla_test_store(dtype, x, at, -3.0);
  for (int64_t i = at + 1; i < n; i += 3)
    osla_test_store(dtype, x, i, 3.0);
  OSLA_ASSERT_OK(osla_blas_iamax(dtype, n, x, &found));
  OSLA_ASSERT_MSG(found == at, "%" PRId64 ", not %" PRId64 " of %" PRId64 ", type %d", found, at, n,
                  (int)dtype);
  OSLA_ASSERT_OK(osla_blas_max(dtype, n, x, &value));
  OSLA_ASSERT_CLOSE(value, 3.0, 0.0);
  osla_test_store(dtype, x, at, (double)-INFINITY);
  OSLA_ASSERT_OK(osla_blas_max(dtype, n, x, &value));
  OSLA_ASSERT_MSG(isinf(value) && value > 0.0, "%g, type %d", value, (int)dtype);
  osla_test_store(dtype, x, n - 1 - at, (double)NAN);
  OSLA_ASSERT_OK(osla_blas_max(dtype, n, x, &value));
  OSLA_ASSERT_MSG(isnan(value), "%g, type %d", value, (int)dtype);
  /* for a vector with a NaN any index in its range is allowed */
  OSLA_ASSERT_OK(osla_blas_iamax(dtype, n, x, &found));
  OSLA_ASSERT_MSG(found >= 0 && found < n, "%" PRId64 " of %" PRId64 " with a NaN, type %d", found,
                  n, (int)dtype);
  free(x);
}

/* The largest element by |re| + |im| is not the largest one by magnitude. */
static void check_ideas_of_largest(osla_dtype dtype)
{
  wide x[2];
  int64_t found = -1;
  double value = -1.0;
  osla_test_store(dtype, x, 0, CMPLX(3.0, -4.0));
  osla_test_store(dtype, x, 1, CMPLX(-3.5, 3.55)); /* |re| + |im| = 7.05, magnitude 4.985 */
  OSLA_ASSERT_OK(osla_blas_iamax(dtype, 2, x, &found));
  CU_ASSERT(found == 1);
  OSLA_ASSERT_OK(osla_blas_max(dtype, 2, x, &value));
  OSLA_ASSERT_CLOSE(value, 5.0, 1e-6);
}

static void test_largest(void)
{
  static const int64_t sizes[] = {1, 2, 3, 7, 16, 33, 64, 100};
  for (int d = 0; d < 4; d++) {
    osla_dtype dtype = (osla_dtype)d;
    double value = -1.0;
    for (int s = 0; s < 8; s++)
      for (int64_t at = 0; at < sizes[s]; at += 1 + sizes[s] / 5)
        check_largest(dtype, sizes[s], at);
    OSLA_ASSERT_OK(osla_blas_max(dtype, 0, NULL, &value));
    CU_ASSERT(value == 0.0);
  }
  check_ideas_of_largest(OSLA_COMPLEX_FLOAT);
  check_ideas_of_largest(OSLA_COMPLEX_DOUBLE);
}

/* Checks P A = L U by applying laswp with the pivots, forward and back. */
static void check_getrf(osla_dtype dtype, int64_t m, int64_t n)
{
  const int64_t ld = MAX_SIDE + 2;
  void *a = random_array(dtype, 16, ld * MAX_SIDE), *f = random_array(dtype, 16, ld * MAX_SIDE);
  void *old = random_array(dtype, 16, ld * MAX_SIDE);
  int64_t pivots[MAX_SIDE], info = -1, order = m < n ? m : n, wrong = 0;
  double worst = 0.0;
  OSLA_ASSERT_OK(osla_lapack_getrf(dtype, m, n, f, ld, pivots, &info));
  CU_ASSERT(info == 0);
  OSLA_ASSERT_OK(osla_lapack_laswp(dtype, n, a, ld, order, pivots, false));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) {
      wide sum = -osla_test_load(dtype, a, i + j * ld);
      for (int64_t l = 0; l <= i && l <= j && l < order; l++)
        sum += (l == i ? 1.0 : osla_test_load(dtype, f, i + l * ld)) *
               osla_test_load(dtype, f, l + j * ld);
      if (!(cabs(sum) <= worst)) worst = cabs(sum);
    }
  for (int64_t i = 0; i < order; i++)
    wrong += pivots[i] < i || pivots[i] >= m;
  OSLA_ASSERT_OK(osla_lapack_laswp(dtype, n, a, ld, order, pivots, true));
  for (int64_t k = 0; k < ld * MAX_SIDE; k++)
    wrong += osla_test_load(dtype, a, k) != osla_test_load(dtype, old, k);
  OSLA_ASSERT_MSG(worst <= 4 * tolerance(dtype) && wrong == 0,
                  "%g, %" PRId64 " wrong, type %d, %" PRId64 " x %" PRId64, worst, wrong,
                  (int)dtype, m, n);
  free(a), free(f), free(old);
}

static void test_getrf(void)
{
  for (int d = 0; d < 4; d++) {
    osla_dtype dtype = (osla_dtype)d;
    wide zero[4] = {0};
    int64_t pivots[2] = {-1, -1}, info = -1;
    check_getrf(dtype, 19, 19);
    check_getrf(dtype, 24, 5);
    check_getrf(dtype, 5, 24);
    check_getrf(dtype, 1, 1);
    check_getrf(dtype, 1, 7);
    check_getrf(dtype, 7, 1);
    check_getrf(dtype, 0, 3);
    check_getrf(dtype, 3, 0);
    OSLA_ASSERT_OK(osla_lapack_getrf(dtype, 2, 2, zero, 2, pivots, &info));
    CU_ASSERT(info == 1 && pivots[0] == 0 && pivots[1] == 1);
  }
}

/* ---- errors of BLAS calls ---- */

static void test_range(void)
{
  double x[4] = {0};
  int64_t big = (int64_t)INT_MAX + 1, info = 0;
  OSLA_ASSERT_ERR(
    osla_blas_gemm(OSLA_DOUBLE, OSLA_NOTRANS, OSLA_NOTRANS, big, 0, 0, 1.0, x, 1, x, 1, 0.0, x, 1),
    OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("2147483648");
  OSLA_ASSERT_ERR(osla_blas_gemm(OSLA_DOUBLE, OSLA_NOTRANS, OSLA_NOTRANS, 0, 0, 0, 1.0, x, 1, x, 1,
                                 0.0, x, INT64_MAX),
                  OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("9223372036854775807");
  OSLA_ASSERT_ERR(osla_blas_syrk(OSLA_FLOAT, OSLA_LOWER, OSLA_TRANS, 0, -4, 1.0, x, 1, 0.0, x, 1),
                  OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("-4");
  OSLA_ASSERT_ERR(
    osla_blas_trsm(OSLA_DOUBLE, OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, 0, big, x, 1, x, 1),
    OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("2147483648");
  OSLA_ASSERT_ERR(osla_lapack_getrf(OSLA_DOUBLE, 1, big, x, 1, &info, &info), OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("2147483648");
  OSLA_ASSERT_ERR(osla_blas_iamax(OSLA_FLOAT, big, x, &info), OSLA_ERR_RANGE);
  OSLA_ASSERT_ERR(osla_lapack_potrf(OSLA_DOUBLE, OSLA_UPPER, big, x, 1, &info), OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("2147483648");
}

static void test_describe(void)
{
  CU_ASSERT(strlen(osla_blas_describe()) > 0);
}

static const osla_test_case cases[] = {
  {"gemm", test_gemm},
  {"syrk_and_trsm", test_syrk_and_trsm},
  {"potrf", test_potrf},
  {"ger_and_scal", test_ger_and_scal},
  {"largest", test_largest},
  {"getrf", test_getrf},
  {"range", test_range},
  {"describe", test_describe},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_blas, cases);
