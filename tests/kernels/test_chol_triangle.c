/* Tests of Cholesky, of the logarithm of the determinant and of the inverse on triangular matrices,
 * compared with the full layout, on all grids and in all types. */
#include "osla_chol.h"
#include "osla_inverse.h"
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

static double complex element(const dense *d, int64_t i, int64_t j)
{
  const double *at = dense_at(d, i, j);
  return CMPLX(at[0], d->parts == 2 ? at[1] : 0.0);
}

/* Asserts that the lower triangles of two matrices agree to rounding. */
static void check_equal(const kernel_matrix *full, const kernel_matrix *triangle, const char *what)
{
  const osla_dtype dtype = osla_matrix_dtype(full->a);
  dense f = dense_gather(full->a), g = dense_gather(triangle->a);
  double largest = 1;
  int64_t wrong = 0;
  for (int64_t j = 0; j < f.n; j++)
    for (int64_t i = j; i < f.n; i++)
      largest = fmax(largest, cabs(element(&f, i, j)));
  for (int64_t j = 0; j < f.n; j++)
    for (int64_t i = j; i < f.n; i++) {
      const double distance = cabs(element(&f, i, j) - element(&g, i, j));
      wrong += !(distance <= 30 * (double)f.n * kernel_eps(dtype) * largest);
    }
  OSLA_ASSERT_MSG(wrong == 0, "%" PRId64 " elements of the %s differ, %s", wrong, what,
                  kernel_label(triangle->a, false));
  dense_free(&f), dense_free(&g);
}

/* Computes the logarithm of the determinant and the inverse from the factors in both layouts, and
 * compares them. The inverses overwrite the factors. */
static void check_factors(const kernel_matrix *full, const kernel_matrix *triangle,
                          const osla_chol_options *options)
{
  const double tol =
    30 * (double)osla_matrix_layout(full->a).n * kernel_eps(osla_matrix_dtype(full->a));
  double logdet = 0, expected = 0;
  int64_t info = -1;
  OSLA_ASSERT_OK(osla_chol_logdet(OSLA_LOWER, full->a, &expected));
  OSLA_ASSERT_OK(osla_chol_logdet(OSLA_LOWER, triangle->a, &logdet));
  OSLA_ASSERT_CLOSE(logdet, expected, tol);
  OSLA_ASSERT_OK(osla_potri(OSLA_LOWER, full->a, options, &info));
  CU_ASSERT(info == 0);
  OSLA_ASSERT_OK(osla_potri(OSLA_LOWER, triangle->a, options, &info));
  CU_ASSERT(info == 0);
  check_equal(full, triangle, "inverse");
}

/* Factors a matrix in the full and in the triangular layout, and inverts it. The factors, the
 * logarithms of the determinant and the inverses must agree to rounding. In the triangular matrix,
 * elements above the diagonal are NaN, because they must not be read. If `bad` >= 0, the diagonal
 * element `bad` is negative, and the info of both factorisations must be bad + 1. */
static void check_triangle(osla_grid *grid, osla_dtype dtype, size_case s, int64_t bad,
                           const osla_chol_options *options)
{
  kernel_matrix full = kernel_make(grid, dtype, s.n, s.n, s.nb, s.nb, false);
  kernel_matrix triangle = kernel_make_triangle(grid, dtype, s.n, s.nb);
  int64_t info = -1, expected = -1;
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
  OSLA_ASSERT_MSG(info == expected && info == bad + 1, "info %" PRId64 ", full %" PRId64 ", %s",
                  info, expected, kernel_label(triangle.a, false));
  if (bad < 0) {
    check_equal(&full, &triangle, "factor");
    check_factors(&full, &triangle, options);
  }
  dense_free(&a);
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

/* Inverts a factor with a zero on the diagonal: info must be the index of the zero, from 1, and the
 * matrix must not change. */
static void test_singular(void)
{
  enum { N = 30, ZERO = 17 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    const osla_dtype dtype = (osla_dtype)(g % 4);
    kernel_matrix full = kernel_make(grid, dtype, N, N, 4, 4, false);
    kernel_matrix triangle = kernel_make_triangle(grid, dtype, N, 4);
    int64_t info = -1;
    OSLA_ASSERT_OK(osla_matrix_fill(full.a, OSLA_FILL_SPD, 6));
    dense d = dense_gather(full.a);
    dense_at(&d, ZERO, ZERO)[0] = 0;
    if (d.parts == 2) dense_at(&d, ZERO, ZERO)[1] = 0;
    matrix_set(&d, full.a);
    matrix_set(&d, triangle.a);
    OSLA_ASSERT_OK(osla_potri(OSLA_LOWER, triangle.a, NULL, &info));
    CU_ASSERT(info == ZERO + 1);
    check_equal(&full, &triangle, "singular factor");
    dense_free(&d);
    kernel_free(&full), kernel_free(&triangle);
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
  OSLA_ASSERT_ERR(osla_potri(OSLA_UPPER, a.a, NULL, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("pass OSLA_LOWER");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, empty.a, NULL, &info));
  CU_ASSERT(info == 0);
  info = -1;
  OSLA_ASSERT_OK(osla_potri(OSLA_LOWER, empty.a, NULL, &info));
  CU_ASSERT(info == 0);
  kernel_free(&a), kernel_free(&empty);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"layouts", test_layouts},
  {"singular", test_singular},
  {"errors", test_errors},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_chol_triangle, cases);
