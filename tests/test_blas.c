/* Floor 0: the door to BLAS and LAPACK, against loops; sizes that do not fit; types not served. */
#include "osla_blas.h"
#include "osla_random.h"
#include "osla_test_help.h"

#include <complex.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIDE = 24 };

/* A dense matrix in the widest type; narrowed to what is tested. */
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

/* count elements, seeded; the caller frees them. */
static void *random_array(osla_dtype dtype, uint64_t seed, int64_t count)
{
  void *array = calloc((size_t)count + 1, sizeof(wide));
  for (int64_t k = 0; k < count; k++)
    osla_test_store(dtype, array, k, random_wide(dtype, seed, k));
  return array;
}

/* --- gemm ------------------------------------------------------------------------------------ */

static wide op_at(osla_dtype dtype, osla_trans trans, const void *array, int64_t i, int64_t j,
                  int64_t ld)
{
  wide x = osla_test_load(dtype, array, trans == OSLA_NOTRANS ? i + j * ld : j + i * ld);
  return trans == OSLA_CONJTRANS ? conj(x) : x;
}

/* The part of a factor that a type takes. */
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
  if (factor(dtype, beta) == 0.0) /* then C is not read */
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
      check_gemm(dtype, ta, tb, 3, 4, 0, 0.75, 0.0); /* k = 0 still scales C */
      check_gemm(dtype, ta, tb, 3, 4, 0, 0.75, CMPLX(2.0, 1.0));
      check_gemm(dtype, ta, tb, 0, 4, 3, 0.75, 0.0);
      check_gemm(dtype, ta, tb, 4, 0, 3, 0.75, 0.0);
    }
}

/* --- syrk, trsm, potrf ----------------------------------------------------------------------- */

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
      wide sum = osla_test_load(dtype, old, i + j * ld); /* the other triangle stays */
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

/* Element of the triangle as op() sees it: unit diagonal, zero on the other side. */
static wide triangle_at(osla_dtype dtype, const void *a, int64_t ld, osla_uplo uplo, osla_diag diag,
                        osla_trans trans, int64_t i, int64_t j)
{
  int64_t row = trans == OSLA_TRANS ? j : i, col = trans == OSLA_TRANS ? i : j;
  if (row == col && diag == OSLA_UNIT) return 1.0;
  return in_triangle(uplo, row, col) ? osla_test_load(dtype, a, row + col * ld) : 0.0;
}

/* The residual op(A) X - B or X op(A) - B. */
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

/* A = n I + symmetric noise, minus much at (minor - 1, minor - 1): then that minor is not positive.
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
    for (int64_t i = 0; i < n; i++) { /* A - L L^T or A - U^T U */
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
}

/* --- errors ---------------------------------------------------------------------------------- */

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
  OSLA_ASSERT_ERR(osla_lapack_potrf(OSLA_DOUBLE, OSLA_UPPER, big, x, 1, &info), OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("2147483648");
}

static void test_describe(void)
{
  CU_ASSERT(strlen(osla_blas_describe()) > 0);
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {
    {"gemm", test_gemm},   {"syrk_and_trsm", test_syrk_and_trsm}, {"potrf", test_potrf},
    {"range", test_range}, {"describe", test_describe},     {NULL, NULL},
  };
  return osla_test_main(argc, argv, cases);
}
