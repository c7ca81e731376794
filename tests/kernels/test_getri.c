/* Tests of inverses from LU factors in all types, with and without interchanges, on every grid, in
 * owned and wrapped memory. The residual with the original matrix must be small, and the inverse of
 * a permutation must be exact. Zeros on the diagonal of U must be reported, and the loop must have
 * no collective operation. Calls are also repeated. */
#include "osla_inverse.h"
#include "osla_trace.h"
#include "tests/complex_help.h"
#include "tests/kernels/kernel_stress.h"
#include "tests/kernels/kernel_trace.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct size_case {
  int64_t n, nb;
} size_case;

static const size_case sizes[] = {{1, 1},  {2, 1},   {2, 3},   {11, 1},  {16, 4},
                                  {37, 5}, {50, 64}, {61, 40}, {96, 16}, {150, 7}};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

static const int depths[] = {-1, 1, 2}; /* values of the option look_ahead */

static int64_t *pivots_of(const osla_matrix *a)
{
  return calloc((size_t)osla_matrix_local_rows(a) + 1, sizeof(int64_t));
}

static double complex entry(const dense *d, int64_t i, int64_t j)
{
  const double *at = dense_at(d, i, j);
  return CMPLX(at[0], d->parts == 2 ? at[1] : 0.0);
}

static double norm_one(const dense *d)
{
  double largest = 0;
  for (int64_t j = 0; j < d->n; j++) {
    double sum = 0;
    for (int64_t i = 0; i < d->n; i++)
      sum += cabs(entry(d, i, j));
    if (!(sum <= largest)) largest = sum;
  }
  return largest;
}

/* Asserts |I - A X|_1 / (n eps |A|_1 |X|_1) < 30, the criterion of LAPACK's tester xGET03. */
static void check_residual(const dense *a, const dense *x, osla_dtype dtype, const char *label)
{
  double largest = 0;
  for (int64_t j = 0; j < a->n; j++) {
    double sum = 0;
    for (int64_t i = 0; i < a->n; i++) {
      double complex product = i == j ? -1.0 : 0.0;
      for (int64_t k = 0; k < a->n; k++)
        product += entry(a, i, k) * entry(x, k, j);
      sum += cabs(product);
    }
    if (!(sum <= largest)) largest = sum;
  }
  double ratio = largest / ((double)a->n * kernel_eps(dtype) * norm_one(a) * norm_one(x));
  OSLA_ASSERT_MSG(ratio < 30, "|I - A X| / (n eps |A| |X|) = %g, %s", ratio, label);
}

/* Checks the inverse of a random matrix; the matrix is diagonally dominant if there are no
 * interchanges. */
static void check_inverse(osla_matrix *a, bool pivoting, const osla_lu_options *options,
                          uint64_t seed, const char *label)
{
  const osla_lu_options plain = {.pivoting = OSLA_PIVOT_NONE};
  osla_lu_result result = {.info = -1};
  int64_t *ipiv = pivoting ? pivots_of(a) : NULL, info = -1;
  char text[192];
  (void)snprintf(text, sizeof text, "%s, look-ahead %d, %s", pivoting ? "pivots" : "no pivots",
                 options ? options->look_ahead : 0, label);
  OSLA_ASSERT_OK(osla_matrix_fill(a, pivoting ? OSLA_FILL_UNIFORM : OSLA_FILL_DOMINANT, seed));
  dense before = dense_gather(a);
  OSLA_ASSERT_OK(osla_getrf(a, ipiv, pivoting ? NULL : &plain, &result));
  OSLA_ASSERT_MSG(result.info == 0, "getrf: info %" PRId64 ", %s", result.info, text);
  OSLA_ASSERT_OK(osla_getri(a, ipiv, options, &info));
  OSLA_ASSERT_MSG(info == 0, "info %" PRId64 ", %s", info, text);
  dense after = dense_gather(a);
  check_residual(&before, &after, osla_matrix_dtype(a), text);
  dense_free(&before), dense_free(&after);
  free(ipiv);
}

static void test_grids_and_blocks(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < N_SIZES; s++) {
      if (!kernel_turn(g, s)) continue;
      bool wrapped = (g + 2 * s) % 3 == 0;
      osla_dtype dtype = (osla_dtype)((g / 2 + s) % 4);
      kernel_matrix a =
        kernel_make(grid, dtype, sizes[s].n, sizes[s].n, sizes[s].nb, sizes[s].nb, wrapped);
      char label[128];
      (void)snprintf(label, sizeof label, "%s", kernel_label(a.a, wrapped));
      for (int i = 0; i < 2; i++) {
        osla_lu_options options = {.look_ahead = depths[(s + g + i) % 3],
                                   .forward = kernel_forward(s + g)};
        check_inverse(a.a, i == 0, s % 2 ? &options : NULL, (uint64_t)(s + 20 * i), label);
      }
      kernel_free(&a);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* A matrix that lies in one block, with a block size far larger than its order, and an empty
 * matrix. */
static void test_huge_and_empty(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix a =
    kernel_make(grid, OSLA_DOUBLE, 10, 10, INT64_C(1) << 40, INT64_C(1) << 40, false);
  check_inverse(a.a, true, NULL, 7, kernel_label(a.a, false));
  kernel_free(&a);
  kernel_matrix none = kernel_make(grid, OSLA_DOUBLE, 0, 0, 3, 3, false);
  int64_t info = -1;
  OSLA_ASSERT_OK(osla_getri(none.a, NULL, NULL, &info));
  CU_ASSERT(info == 0);
  kernel_free(&none);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Element (i, j) of a permutation matrix times powers of two. Row i has its nonzero element in
 * column (5 i + 3) mod n. The inverse is exact, and shows whether each column reaches its position.
 */
static double element(int64_t i, int64_t j, void *arg)
{
  int64_t n = *(const int64_t *)arg;
  return j == (5 * i + 3) % n ? ldexp(1, (int)(i % 7) - 3) : 0;
}

static void test_permutation(void)
{
  enum { NB = 4 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  int64_t n = 48;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, n, n, NB, NB, g % 2);
    osla_lu_result result;
    int64_t *ipiv = pivots_of(a.a), info = -1;
    OSLA_ASSERT_OK(osla_matrix_fill_with(a.a, element, &n));
    OSLA_ASSERT_OK(osla_getrf(a.a, ipiv, NULL, &result));
    OSLA_ASSERT_OK(osla_getri(a.a, ipiv, NULL, &info));
    dense expected = dense_make(n, n, 1);
    for (int64_t i = 0; i < n; i++)
      dense_at(&expected, (5 * i + 3) % n, i)[0] = ldexp(1, 3 - (int)(i % 7));
    kernel_expect(a.a, &expected, "inverse of a permutation, %s", kernel_label(a.a, g % 2));
    dense_free(&expected);
    free(ipiv);
    kernel_free(&a);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* U has zeros on the diagonal, in row `bad` and in later rows. info must name row `bad`, and the
 * matrix must stay unchanged. */
static void test_singular(void)
{
  static const size_case list[] = {{30, 4}, {30, 4}, {30, 4}, {90, 70}, {1, 1}};
  static const int64_t bad[] = {0, 17, 29, 41, 0};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < 5; s++) {
      if (!kernel_turn(g, s)) continue;
      int64_t info = -1, n = list[s].n;
      kernel_matrix a =
        kernel_make(grid, (osla_dtype)((g + s) % 4), n, n, list[s].nb, list[s].nb, false);
      OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_DOMINANT, 6));
      dense d = dense_gather(a.a);
      for (int part = 0; part < d.parts; part++)
        dense_at(&d, bad[s], bad[s])[part] = dense_at(&d, n - 1, n - 1)[part] = part ? 0.0 : -0.0;
      dense_scatter(&d, a.a);
      OSLA_ASSERT_OK(osla_getri(a.a, NULL, NULL, &info));
      kernel_expect(a.a, &d, "singular factor, zero %" PRId64, bad[s]);
      OSLA_ASSERT_MSG(info == bad[s] + 1, "zero %" PRId64 ": info %" PRId64 ", %s", bad[s], info,
                      kernel_label(a.a, false));
      dense_free(&d);
      kernel_free(&a);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  int64_t info = 0;
  kernel_matrix oblong = kernel_make(grid, OSLA_DOUBLE, 4, 7, 2, 2, false);
  kernel_matrix blocks = kernel_make(grid, OSLA_DOUBLE, 7, 7, 2, 3, false);
  kernel_matrix square = kernel_make(grid, OSLA_DOUBLE, 7, 7, 2, 2, false);
  int64_t *ipiv = pivots_of(square.a);
  OSLA_ASSERT_ERR(osla_getri(oblong.a, NULL, NULL, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("4 x 7, not square");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_getri(blocks.a, NULL, NULL, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("2 x 3");
  OSLA_ASSERT_SAME_TEXT();
  osla_lu_options deep = {.look_ahead = 3}, odd = {.forward = (osla_forward)9};
  OSLA_ASSERT_ERR(osla_getri(square.a, NULL, &deep, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("look_ahead = 3");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_getri(square.a, NULL, &odd, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("forward = 9");
  OSLA_ASSERT_SAME_TEXT();
  for (int64_t i = 0; i < osla_matrix_local_rows(square.a); i++)
    ipiv[i] = 8;
  OSLA_ASSERT_ERR(osla_getri(square.a, ipiv, NULL, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("is 8, not from 1 to 7");
  OSLA_ASSERT_SAME_TEXT();
  free(ipiv);
  kernel_free(&oblong), kernel_free(&blocks), kernel_free(&square);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_no_collectives(void)
{
  enum { N = 100, NB = 8 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, kernel_n_grids(t) > 2 ? 1 : 0); /* a 2 x 2 grid on four ranks */
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, NB, NB, false);
  for (int i = 0; i < 3; i++) {
    osla_lu_options options = {.look_ahead = depths[i]};
    int64_t info = -1;
    /* any matrix can be used as LU factors */
    OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_DOMINANT, 3));
    OSLA_ASSERT_OK(osla_trace_start(t));
    OSLA_ASSERT_OK(osla_getri(a.a, NULL, &options, &info));
    (void)loop_trace_expect(t, "inverse");
  }
  kernel_free(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void stress(const stress_round *r)
{
  kernel_matrix a = kernel_make(r->grid, r->dtype, r->n, r->n, r->nb, r->nb, r->wrapped);
  char label[160];
  (void)snprintf(label, sizeof label, "%s, %s", r->name, kernel_label(a.a, r->wrapped));
  for (int i = 0; i < 3; i++) {
    osla_lu_options options = {.look_ahead = depths[i]};
    check_inverse(a.a, i > 0, &options, r->seed + (uint64_t)i, label);
  }
  kernel_free(&a);
}

static void test_stress(void)
{
  kernel_stress(2, 6000, stress);
}

static const osla_test_case cases[] = {
  {"grids_and_blocks", test_grids_and_blocks},
  {"huge_and_empty", test_huge_and_empty},
  {"permutation", test_permutation},
  {"singular", test_singular},
  {"errors", test_errors},
  {"no_collectives", test_no_collectives},
  {"stress", test_stress},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_getri, cases);
