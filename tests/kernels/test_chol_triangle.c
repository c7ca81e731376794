/* Tests of Cholesky and of the logarithm of the determinant on triangular matrices, compared with
 * the full layout, on all grids and in all types. */
#include "osla_chol.h"
#include "tests/complex_help.h"
#include "tests/kernels/solve_reference.h"

#include <inttypes.h>
#include <math.h>

typedef struct size_case {
  int64_t n, nb;
} size_case;

static const size_case sizes[] = {{1, 1},  {2, 1},   {2, 3},   {11, 1},  {16, 4},
                                  {37, 5}, {50, 64}, {61, 40}, {96, 16}, {150, 7}};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

static const int depths[] = {-1, 1, 2}; /* values of the option look_ahead */

/* Returns the element (i, j) of the symmetric or Hermitian matrix whose lower triangle is that of
 * `d`. */
static double complex mirrored(const dense *d, int64_t i, int64_t j)
{
  const double *at = i >= j ? dense_at(d, i, j) : dense_at(d, j, i);
  const double imaginary = d->parts == 2 ? at[1] : 0.0;
  return CMPLX(at[0], i >= j ? imaginary : -imaginary);
}

/* Factors a matrix in the full and in the triangular layout. The factors must agree to rounding,
 * and so must the logarithms of the determinant. In the triangle, elements above the diagonal of
 * the diagonal blocks are NaN, because they must not be read. With `bad` >= 0, the diagonal element
 * `bad` is negative, and both calls must return the same info. */
static void check_triangle(osla_grid *grid, osla_dtype dtype, size_case s, int64_t bad,
                           const osla_chol_options *options)
{
  kernel_matrix full = kernel_make(grid, dtype, s.n, s.n, s.nb, s.nb, false);
  kernel_matrix triangle = kernel_make_triangle(grid, dtype, s.n, s.nb);
  int64_t info = -1, expected = -1, wrong = 0;
  double logdet = 0, expected_logdet = 0;
  OSLA_ASSERT_OK(osla_matrix_fill(full.a, OSLA_FILL_SPD, 6));
  dense a = dense_gather(full.a);
  for (int64_t j = 0; j < s.n; j++)
    for (int64_t i = 0; i < s.n; i++) {
      double *at = dense_at(&a, i, j);
      if (a.parts == 2) at[1] = i == j ? 0.0 : i > j ? at[0] / 2 : (double)NAN;
      if (i < j) at[0] = (double)NAN;
      if (i == j && i == bad) at[0] = -1.0;
    }
  matrix_set(&a, full.a);
  matrix_set(&a, triangle.a);
  OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, full.a, options, &expected));
  OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, triangle.a, options, &info));
  const char *label = kernel_label(triangle.a, false);
  OSLA_ASSERT_MSG(info == expected && info == bad + 1, "info %" PRId64 ", full %" PRId64 ", %s",
                  info, expected, label);
  dense f = dense_gather(full.a), g = dense_gather(triangle.a);
  for (int64_t j = 0; j < s.n && bad < 0; j++)
    for (int64_t i = j; i < s.n; i++) {
      const double distance = cabs(mirrored(&f, i, j) - mirrored(&g, i, j));
      wrong += !(distance <= 30 * (double)s.n * kernel_eps(dtype));
    }
  OSLA_ASSERT_MSG(wrong == 0, "%" PRId64 " elements of the factor differ, %s", wrong, label);
  if (bad < 0) {
    OSLA_ASSERT_OK(osla_chol_logdet(OSLA_LOWER, full.a, &expected_logdet));
    OSLA_ASSERT_OK(osla_chol_logdet(OSLA_LOWER, triangle.a, &logdet));
    OSLA_ASSERT_CLOSE(logdet, expected_logdet, 30 * (double)s.n * kernel_eps(dtype));
  }
  dense_free(&a), dense_free(&f), dense_free(&g);
  kernel_free(&full), kernel_free(&triangle);
}

static void test_layouts(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < N_SIZES; s++) {
      if (!kernel_turn(g, s)) continue;
      const osla_chol_options options = {.look_ahead = depths[(g + s) % 3],
                                         .forward = kernel_forward(g + s)};
      check_triangle(grid, (osla_dtype)((g / 2 + s) % 4), sizes[s], -1, s % 2 ? &options : NULL);
    }
    if (kernel_turn(g, 3)) check_triangle(grid, OSLA_DOUBLE, (size_case){30, 4}, 17, NULL);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix a = kernel_make_triangle(grid, OSLA_DOUBLE, 9, 2);
  kernel_matrix empty = kernel_make_triangle(grid, OSLA_FLOAT, 0, 2);
  int64_t info = -1;
  double value;
  OSLA_ASSERT_ERR(osla_potrf(OSLA_UPPER, a.a, NULL, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("pass OSLA_LOWER");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_chol_logdet(OSLA_UPPER, a.a, &value), OSLA_ERR_ARG);
  OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, empty.a, NULL, &info));
  CU_ASSERT(info == 0);
  kernel_free(&a), kernel_free(&empty);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"layouts", test_layouts},
  {"errors", test_errors},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_chol_triangle, cases);
