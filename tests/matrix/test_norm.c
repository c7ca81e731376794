/* Tests of norms of distributed matrices against serial sums, for all types, also with a NaN. */
#include "osla_index.h"
#include "osla_random.h"
#include "tests/complex_help.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double serial_norm(const double *a, int64_t m, int64_t n, osla_norm norm)
{
  double most = 0.0, squares = 0.0;
  double *rows = calloc((size_t)m + 1, sizeof *rows);
  for (int64_t j = 0; j < n; j++) {
    double column = 0.0;
    for (int64_t i = 0; i < m; i++) {
      double x = fabs(a[i + j * m]);
      column += x;
      rows[i] += x;
      squares += x * x;
      if (norm == OSLA_NORM_MAX) most = fmax(most, x);
    }
    if (norm == OSLA_NORM_ONE) most = fmax(most, column);
  }
  for (int64_t i = 0; i < m && norm == OSLA_NORM_INF; i++)
    most = fmax(most, rows[i]);
  free(rows);
  return norm == OSLA_NORM_FRO ? sqrt(squares) : most;
}

/* Compares all norms with those of a copy of the matrix, which each rank reads; also when one
 * element is NaN or infinite. */
static void check_norms(osla_matrix *a, uint64_t seed)
{
  osla_layout l = osla_matrix_layout(a);
  osla_dtype dtype = osla_matrix_dtype(a);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  double *whole = malloc((size_t)(l.m * l.n + 1) * sizeof *whole), value = -1.0;
  void *raw = malloc((size_t)(l.m * l.n + 1) * sizeof(osla_complex));
  double tolerance = dtype == OSLA_COMPLEX_FLOAT ? 1e-6 : 1e-13;
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_UNIFORM, seed));
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, l.m, l.n, raw, l.m > 0 ? l.m : 1));
  for (int64_t k = 0; k < l.m * l.n; k++)
    whole[k] = cabs(osla_test_load(dtype, raw, k));
  for (int norm = OSLA_NORM_MAX; norm <= OSLA_NORM_FRO; norm++) {
    double expected = serial_norm(whole, l.m, l.n, (osla_norm)norm);
    OSLA_ASSERT_OK(osla_matrix_norm(a, (osla_norm)norm, &value));
    OSLA_ASSERT_CLOSE(value, expected, tolerance * expected);
  }
  for (int special = 0; special < 6 && l.m * l.n > 0; special++) {
    /* the first, the last or a random element becomes infinite, and later NaN */
    int64_t i = special % 3 == 0 ? 0 : special % 3 == 1 ? l.m - 1 : osla_test_choose(seed, 1, l.m);
    int64_t j = special % 3 == 0 ? 0 : special % 3 == 1 ? l.n - 1 : osla_test_choose(seed, 2, l.n);
    double x = special < 3 ? (double)INFINITY : (double)NAN;
    osla_complex element;
    osla_test_store(dtype, &element, 0, special % 2 ? CMPLX(0.25, x) : CMPLX(x, 0.25));
    if (dtype < OSLA_COMPLEX_FLOAT) osla_test_store(dtype, &element, 0, x);
    OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_UNIFORM, seed));
    if (osla_transport_rank(t) == special % osla_transport_size(t))
      OSLA_ASSERT_OK(osla_matrix_put_block(a, i, j, 1, 1, &element, 1));
    OSLA_ASSERT_OK(osla_barrier(t));
    for (int norm = OSLA_NORM_MAX; norm <= OSLA_NORM_FRO; norm++) {
      OSLA_ASSERT_OK(osla_matrix_norm(a, (osla_norm)norm, &value));
      OSLA_ASSERT_MSG(special < 3 ? isinf(value) && value > 0.0 : isnan(value),
                      "norm %d is %g with %g at (%" PRId64 ", %" PRId64 ")", norm, value, x, i, j);
    }
  }
  free(whole);
  free(raw);
  OSLA_ASSERT_OK(osla_barrier(t));
}

static void test_norms(void)
{
  osla_transport *t = osla_test_transport();
  static const int64_t shapes[][4] = {{33, 45, 4, 3}, {0, 5, 2, 2},  {45, 33, 100, 1}, {1, 1, 3, 3},
                                      {5, 0, 2, 2},   {1, 50, 8, 8}, {50, 2, 7, 9}};
  for (int which = 0; which < osla_test_n_grids(t); which++)
    for (int k = 0; k < 7; k++) {
      if (k > 0 && (osla_test_size() > FEW_RANKS || (k + which) % 3 != 0)) continue;
      const int64_t *s = shapes[(which + 2 * k) % 7];
      osla_matrix *a =
        osla_test_make(t, which, (osla_dtype)((k + which) % 4), s[0], s[1], s[2], s[3]);
      check_norms(a, (uint64_t)(which + 10 * k));
      osla_test_destroy(a);
    }
  osla_transport_destroy(&t);
}

/* The maximum norm uses magnitudes, not |re| + |im| as IxAMAX does. */
static void test_complex_max(void)
{
  osla_transport *t = osla_test_transport();
  for (int d = OSLA_COMPLEX_FLOAT; d <= OSLA_COMPLEX_DOUBLE; d++) {
    osla_matrix *a = osla_test_make(t, 0, (osla_dtype)d, 5, 4, 2, 2);
    osla_complex elements[2];
    double value = -1.0;
    osla_test_store((osla_dtype)d, elements, 0,
                    CMPLX(3.5, -3.5)); /* an element with |re| + |im| = 7 and magnitude 4.95 */
    osla_test_store((osla_dtype)d, elements, 1, CMPLX(-3.0, 4.0));
    if (osla_test_rank() == osla_test_size() - 1)
      OSLA_ASSERT_OK(osla_matrix_put_block(a, 1, 3, 2, 1, elements, 2));
    OSLA_ASSERT_OK(osla_barrier(t));
    OSLA_ASSERT_OK(osla_matrix_norm(a, OSLA_NORM_MAX, &value));
    OSLA_ASSERT_CLOSE(value, 5.0, 1e-6);
    OSLA_ASSERT_OK(osla_matrix_norm(a, OSLA_NORM_FRO, &value));
    OSLA_ASSERT_CLOSE(value, sqrt(25.0 + 24.5), 1e-6);
    osla_test_destroy(a);
  }
  osla_transport_destroy(&t);
}

/* ---- extreme values ---- */

static double constant(int64_t i, int64_t j, void *arg)
{
  (void)i, (void)j;
  return *(double *)arg;
}

/* Matrix elements whose squares overflow or underflow. */
static void test_norm_scale(void)
{
  osla_transport *t = osla_test_transport();
  double values[] = {1e200, 1e-200}, norm = -1.0;
  osla_matrix *a = osla_test_make(t, 0, OSLA_DOUBLE, 8, 8, 3, 2);
  for (int k = 0; k < 2; k++) {
    OSLA_ASSERT_OK(osla_matrix_fill_with(a, constant, &values[k]));
    OSLA_ASSERT_OK(osla_matrix_norm(a, OSLA_NORM_FRO, &norm));
    OSLA_ASSERT_CLOSE(norm / values[k], 8.0, 1e-14);
  }
  osla_test_destroy(a);
  a = osla_test_make(t, 0, OSLA_COMPLEX_FLOAT, 1, 1, 1,
                     1); /* the magnitude of the element exceeds the range of float */
  if (osla_matrix_local_rows(a) * osla_matrix_local_cols(a) > 0)
    ((float *)osla_matrix_local(a))[0] = ((float *)osla_matrix_local(a))[1] = 3e38f;
  for (int kind = OSLA_NORM_MAX; kind <= OSLA_NORM_FRO; kind++) {
    OSLA_ASSERT_OK(osla_matrix_norm(a, (osla_norm)kind, &norm));
    OSLA_ASSERT_CLOSE(norm / (sqrt(2.0) * (double)3e38f), 1.0, 1e-14);
  }
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"norms", test_norms},
  {"complex_max", test_complex_max},
  {"norm_scale", test_norm_scale},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_norm, cases);
