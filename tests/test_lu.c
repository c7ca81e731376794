/* LU without pivoting: bitwise on matrices whose factors are exact, backward error elsewhere; zero
 * pivots, growth, and repeated calls under delays. */
#include "kernel_reference.h"
#include "osla_lu.h"
#include "osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct size_case {
  int64_t n, nb;
} size_case;

static const size_case sizes[] = {{1, 1},  {2, 1},   {2, 3},   {11, 1},  {16, 4},
                                  {37, 5}, {50, 64}, {61, 40}, {96, 16}, {150, 11}};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

static void take_factors(const dense *lu, dense *l, dense *u)
{
  *l = dense_make(lu->n, lu->n, 1);
  *u = dense_make(lu->n, lu->n, 1);
  for (int64_t j = 0; j < lu->n; j++)
    for (int64_t i = 0; i < lu->n; i++) {
      *dense_at(i <= j ? u : l, i, j) = *dense_at(lu, i, j);
      if (i == j) *dense_at(l, i, j) = 1.0;
    }
}

/* What the kernel leaves: L without its diagonal, and U. */
static dense put_together(const dense *l, const dense *u)
{
  dense lu = dense_make(l->n, l->n, 1);
  for (int64_t j = 0; j < l->n; j++)
    for (int64_t i = 0; i < l->n; i++)
      *dense_at(&lu, i, j) = *dense_at(i <= j ? u : l, i, j);
  return lu;
}

static double largest(const dense *d)
{
  double value = 0.0;
  for (int64_t i = 0; i < d->m * d->n; i++)
    value = fmax(value, fabs(d->at[i]));
  return value;
}

static void check_exact(osla_matrix *a, int look_ahead, uint64_t seed, const char *label)
{
  int64_t n = osla_matrix_layout(a).n;
  osla_lu_options options = {look_ahead};
  osla_lu_result result = {-1, -1.0};
  dense l = exact_unit_lower(n, seed), u = exact_upper(n, seed + 1), da = dense_product(&l, &u);
  dense lu = put_together(&l, &u);
  dense_scatter(&da, a);
  OSLA_ASSERT_OK(osla_getrf_nopiv(a, &options, &result));
  OSLA_ASSERT_MSG(result.info == 0, "%s: info %" PRId64, label, result.info);
  OSLA_ASSERT_CLOSE(result.growth, largest(&u) / largest(&da), 1e-15 * largest(&u));
  kernel_expect(a, &lu, "exact LU, look-ahead %d, %s", look_ahead, label);
  dense_free(&l), dense_free(&u), dense_free(&da), dense_free(&lu);
}

static void check_backward(osla_matrix *a, const osla_lu_options *options, const char *label)
{
  osla_lu_result result = {-1, -1.0};
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_DOMINANT, 4));
  dense da = dense_gather(a), l, u;
  OSLA_ASSERT_OK(osla_getrf_nopiv(a, options, &result));
  dense lu = dense_gather(a);
  take_factors(&lu, &l, &u);
  OSLA_ASSERT_MSG(result.info == 0 && result.growth > 0.9 && result.growth < 2.0,
                  "%s: info %" PRId64 ", growth %g", label, result.info, result.growth);
  kernel_backward(label, &da, &l, &u, osla_matrix_dtype(a));
  dense_free(&da), dense_free(&lu), dense_free(&l), dense_free(&u);
}

static void test_grids_and_blocks(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < N_SIZES; s++) {
      if (!kernel_turn(g, s)) continue;
      bool wrapped = (g + 2 * s) % 3 == 0;
      osla_dtype dtype = (g / 2 + s) % 2 ? OSLA_FLOAT : OSLA_DOUBLE;
      kernel_matrix a =
        kernel_make(grid, dtype, sizes[s].n, sizes[s].n, sizes[s].nb, sizes[s].nb, wrapped);
      char label[128];
      (void)snprintf(label, sizeof label, "%s", kernel_label(a.a, wrapped));
      check_exact(a.a, s % 2, (uint64_t)s, label);
      check_exact(a.a, 1 - s % 2, (uint64_t)s + 50, label);
      check_backward(a.a, NULL, label);
      kernel_free(&a);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* One block that is far larger than the matrix. */
static void test_huge_block(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix a =
    kernel_make(grid, OSLA_DOUBLE, 10, 10, INT64_C(1) << 40, INT64_C(1) << 40, false);
  check_exact(a.a, 1, 7, kernel_label(a.a, false));
  kernel_free(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_empty(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    osla_lu_result result = {-1, -1.0};
    kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, 0, 0, 3, 3, g & 1);
    OSLA_ASSERT_OK(osla_getrf_nopiv(a.a, NULL, &result));
    CU_ASSERT(result.info == 0);
    OSLA_ASSERT_CLOSE(result.growth, 1.0, 0.0);
    kernel_free(&a);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* The pivot `zero` of a matrix with exact factors is 0: info names it, on all ranks. */
static void check_zero_pivot(osla_grid *grid, osla_dtype dtype, int64_t n, int64_t nb, int64_t zero)
{
  osla_lu_result result = {-1, -1.0};
  kernel_matrix a = kernel_make(grid, dtype, n, n, nb, nb, false);
  dense l = exact_unit_lower(n, 8), u = exact_upper(n, 9);
  for (int64_t j = zero; j < n; j++)
    if (j == zero || u.at[zero + j * n] == 0.0) u.at[zero + j * n] = j == zero ? 0.0 : 1.0;
  for (int64_t i = zero + 1; i < n; i++)
    l.at[i + zero * n] = 1.0; /* x / 0 is found below it */
  dense da = dense_product(&l, &u), lu = put_together(&l, &u);
  dense_scatter(&da, a.a);
  OSLA_ASSERT_OK(osla_getrf_nopiv(a.a, NULL, &result));
  OSLA_ASSERT_MSG(result.info == zero + 1, "info %" PRId64 ", not %" PRId64 ": %s", result.info,
                  zero + 1, kernel_label(a.a, false));
  if (zero == n - 1) { /* nothing is divided by the last pivot */
    kernel_expect(a.a, &lu, "last pivot zero, %s", kernel_label(a.a, false));
    double growth = largest(&da) > 0.0 ? largest(&u) / largest(&da) : 1.0;
    OSLA_ASSERT_CLOSE(result.growth, growth, 1e-15 * growth);
  } else {
    OSLA_ASSERT_MSG(!(result.growth <= 1e6), "growth %g after a zero pivot", result.growth);
  }
  dense_free(&l), dense_free(&u), dense_free(&da), dense_free(&lu);
  kernel_free(&a);
}

static void test_zero_pivot(void)
{
  static const size_case list[] = {{30, 4}, {30, 4}, {30, 4}, {60, 45}, {1, 1}};
  static const int64_t zero[] = {0, 14, 29, 37, 0};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    osla_dtype dtype = g % 2 ? OSLA_FLOAT : OSLA_DOUBLE;
    for (int s = 0; s < 5; s++)
      if (kernel_turn(g, s)) check_zero_pivot(grid, dtype, list[s].n, list[s].nb, zero[s]);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static double needs_pivoting(int64_t i, int64_t j, void *arg)
{
  int64_t small = *(const int64_t *)arg;
  if (i == small && j == small) return 1e-12;
  return i == j ? 1.0 : 1.0 / (double)(2 + i + j);
}

static double with_nan(int64_t i, int64_t j, void *arg)
{
  (void)arg;
  return i == 20 && j == 3 ? (double)NAN : i == j ? 9.0 : 0.25;
}

static void test_growth(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, 25, 25, 4, 4, false);
  osla_lu_result result = {-1, -1.0};
  int64_t small = 0;
  OSLA_ASSERT_OK(osla_matrix_fill_with(a.a, needs_pivoting, &small));
  OSLA_ASSERT_OK(osla_getrf_nopiv(a.a, NULL, &result));
  OSLA_ASSERT_MSG(result.info == 0 && result.growth > 1e9, "info %" PRId64 ", growth %g",
                  result.info, result.growth);
  OSLA_ASSERT_OK(osla_matrix_fill_with(a.a, with_nan, NULL));
  OSLA_ASSERT_OK(osla_getrf_nopiv(a.a, NULL, &result));
  OSLA_ASSERT_MSG(isnan(result.growth), "growth %g of a matrix with a NaN", result.growth);
  OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_ZERO, 0));
  OSLA_ASSERT_OK(osla_getrf_nopiv(a.a, NULL, &result));
  CU_ASSERT(result.info == 1);
  OSLA_ASSERT_MSG(isnan(result.growth), "growth %g of a zero matrix", result.growth);
  kernel_free(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  osla_lu_result result = {0, 0.0};
  kernel_matrix oblong = kernel_make(grid, OSLA_DOUBLE, 4, 7, 2, 2, false);
  kernel_matrix blocks = kernel_make(grid, OSLA_DOUBLE, 7, 7, 2, 3, false);
  kernel_matrix complex_type = kernel_make(grid, OSLA_COMPLEX_DOUBLE, 7, 7, 2, 2, false);
  OSLA_ASSERT_ERR(osla_getrf_nopiv(oblong.a, NULL, &result), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("4 x 7");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_getrf_nopiv(blocks.a, NULL, &result), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("2 x 3");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_getrf_nopiv(complex_type.a, NULL, &result), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("'z'");
  OSLA_ASSERT_SAME_TEXT();
  kernel_free(&oblong), kernel_free(&blocks), kernel_free(&complex_type);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Two matrices in turn, without a pause, under delays; then both are looked at. */
static void test_back_to_back(void)
{
  enum { N = 45, NB = 4, ROUNDS = 3 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  dense l = exact_unit_lower(N, 1), u = exact_upper(N, 2), da = dense_product(&l, &u);
  dense lu = put_together(&l, &u);
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g += osla_test_size() > 2 ? 3 : 1) {
    osla_lu_result result = {-1, -1.0};
    osla_lu_options options[2] = {{0}, {1}};
    delays d;
    kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, NB, NB, false);
    kernel_matrix b = kernel_make(grid, OSLA_FLOAT, N, N, NB, NB, g % 2);
    delays_begin(&d, t, (uint64_t)g);
    for (int i = 0; i < ROUNDS; i++) {
      dense_scatter(&da, a.a);
      dense_scatter(&da, b.a);
      OSLA_ASSERT_OK(osla_getrf_nopiv(a.a, &options[i % 2], &result));
      OSLA_ASSERT_OK(osla_getrf_nopiv(b.a, &options[1 - i % 2], &result));
    }
    delays_end(&d);
    kernel_expect(a.a, &lu, "first of two, %s", kernel_label(a.a, false));
    kernel_expect(b.a, &lu, "second of two, %s", kernel_label(b.a, g % 2));
    kernel_free(&a), kernel_free(&b);
    osla_grid_destroy(&grid);
  }
  dense_free(&l), dense_free(&u), dense_free(&da), dense_free(&lu);
  osla_transport_destroy(&t);
}

static void test_stress(void)
{
  osla_transport *t = osla_test_transport();
  int n_grids = 0, rounds = kernel_rounds(3);
  osla_grid *grids[32], *grid;
  while ((grid = kernel_grid(t, n_grids)) != NULL)
    grids[n_grids++] = grid;
  for (int round = 0; round < rounds; round++) {
    uint64_t seed = 2000 + (uint64_t)round;
    int64_t nb = 1 + osla_test_choose(seed, 0, 12), n = osla_test_choose(seed, 1, 90) + 1;
    bool wrapped = osla_test_choose(seed, 2, 3) == 0;
    osla_dtype dtype = osla_test_choose(seed, 3, 2) ? OSLA_FLOAT : OSLA_DOUBLE;
    delays d;
    delays_begin(&d, t, seed);
    kernel_matrix a =
      kernel_make(grids[osla_test_choose(seed, 4, n_grids)], dtype, n, n, nb, nb, wrapped);
    char label[160];
    (void)snprintf(label, sizeof label, "round %d, %s", round, kernel_label(a.a, wrapped));
    for (int i = 0; i < 3; i++)
      check_exact(a.a, i % 2, seed + (uint64_t)i, label);
    delays_end(&d);
    kernel_free(&a);
  }
  for (int g = 0; g < n_grids; g++)
    osla_grid_destroy(&grids[g]);
  osla_transport_destroy(&t);
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {
    {"grids_and_blocks", test_grids_and_blocks},
    {"huge_block", test_huge_block},
    {"empty", test_empty},
    {"zero_pivot", test_zero_pivot},
    {"growth", test_growth},
    {"errors", test_errors},
    {"back_to_back", test_back_to_back},
    {"stress", test_stress},
    {NULL, NULL},
  };
  return osla_test_main(argc, argv, cases);
}
