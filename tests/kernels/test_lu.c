/* Tests of LU without pivoting, and of properties of all kinds of pivoting. Exact factors are
 * compared bitwise, and other factors are checked by their backward error. Further tests have zero
 * pivots, growth, wrong calls, and repeated calls with delays. Pivoting itself is tested in
 * test_lu_pivot.c and test_lu_hard.c. */
#include "tests/kernels/lu_reference.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct size_case {
  int64_t m, n, nb;
} size_case;

static const size_case sizes[] = {{1, 1, 1},    {2, 2, 1},    {2, 2, 3},    {11, 11, 1},
                                  {16, 16, 4},  {37, 37, 5},  {50, 50, 64}, {61, 61, 40},
                                  {96, 96, 16}, {90, 90, 11}, {23, 50, 6},  {50, 23, 6},
                                  {1, 9, 2},    {9, 1, 2},    {12, 70, 16}, {70, 12, 16}};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

static int parts_of(osla_dtype dtype)
{
  return dtype >= OSLA_COMPLEX_FLOAT ? 2 : 1;
}

static void check_exact(kernel_matrix *a, int look_ahead, uint64_t seed, const char *name)
{
  osla_layout l = osla_matrix_layout(a->a);
  lu_known known = lu_known_make(l.m, l.n, parts_of(osla_matrix_dtype(a->a)), seed, -1, false);
  lu_run r = lu_run_make(a, &known.a, OSLA_PIVOT_NONE, look_ahead, name);
  OSLA_ASSERT_MSG(r.result.info == 0, "%s: info %" PRId64, r.label, r.result.info);
  (void)lu_expect_growth(&r);
  (void)lu_expect_pivots(&r, known.pivots, "known");
  kernel_expect(a->a, &known.lu, "%s", r.label);
  lu_run_free(&r);
  lu_known_free(&known);
}

static osla_complex dominant(int64_t i, int64_t j, uint64_t seed)
{
  return lu_uniform(i, j, seed) + (i == j ? 96.0 : 0.0);
}

static void check_backward(kernel_matrix *a, int look_ahead)
{
  osla_layout l = osla_matrix_layout(a->a);
  dense content = lu_make(l.m, l.n, osla_matrix_dtype(a->a), dominant, 4);
  lu_run r = lu_run_make(a, &content, OSLA_PIVOT_NONE, look_ahead, "dominant");
  OSLA_ASSERT_MSG(r.result.trusted && r.result.growth > 0.9 && r.result.growth < 2.0,
                  "%s: info %" PRId64 ", growth %g", r.label, r.result.info, r.result.growth);
  (void)lu_expect_growth(&r);
  (void)lu_expect_backward(&r);
  (void)lu_expect_small(&r);
  lu_run_free(&r);
  dense_free(&content);
}

static void test_grids_and_blocks(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < N_SIZES; s++) {
      if (!lu_turn(t, g, s)) continue;
      osla_dtype dtype = (osla_dtype)((g / 2 + s) % 4);
      kernel_matrix a = kernel_make(grid, dtype, sizes[s].m, sizes[s].n, sizes[s].nb, sizes[s].nb,
                                    (g + 2 * s) % 3 == 0);
      check_exact(&a, lu_look_ahead(s), (uint64_t)s, "exact");
      if (osla_test_size() <= 2) check_exact(&a, lu_look_ahead(s + 1), (uint64_t)s + 50, "exact");
      check_backward(&a, lu_look_ahead(s + 2));
      kernel_free(&a);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* A matrix that lies in one block, with a block size far larger than its order. */
static void test_huge_block(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  for (int64_t m = 7; m <= 13; m += 3) {
    kernel_matrix a =
      kernel_make(grid, OSLA_DOUBLE, m, 10, INT64_C(1) << 40, INT64_C(1) << 40, false);
    check_exact(&a, 1, 7, "huge block");
    kernel_free(&a);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_empty(void)
{
  static const int64_t shapes[][2] = {{0, 0}, {0, 5}, {5, 0}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < 3; s++) {
      if (!lu_turn(t, g, s)) continue;
      dense none = dense_make(shapes[s][0], shapes[s][1], 1);
      kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, none.m, none.n, 3, 3, g & 1);
      for (int pivoting = OSLA_PIVOT_PARTIAL; pivoting <= OSLA_PIVOT_NONE; pivoting++) {
        lu_run r = lu_run_make(&a, &none, (osla_pivoting)pivoting, 0, "empty");
        OSLA_ASSERT_MSG(r.result.info == 0 && r.result.trusted, "%s", r.label);
        (void)lu_expect_growth(&r);
        lu_run_free(&r);
      }
      kernel_free(&a);
      dense_free(&none);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Factors a matrix with exact factors whose pivot `zero` is 0. info must name this pivot on all
 * ranks. */
static void check_zero_pivot(osla_grid *grid, osla_dtype dtype, int64_t n, int64_t nb, int64_t zero)
{
  kernel_matrix a = kernel_make(grid, dtype, n, n, nb, nb, false);
  dense l = exact_unit_lower(n, 8), u = exact_upper(n, 9), lu = dense_make(n, n, 1);
  for (int64_t j = zero; j < n; j++)
    if (j == zero || u.at[zero + j * n] == 0.0) u.at[zero + j * n] = j == zero ? 0.0 : 1.0;
  for (int64_t i = zero + 1; i < n; i++)
    l.at[i + zero * n] = 1.0; /* the elements below the pivot are then divided by zero */
  for (int64_t k = 0; k < n * n; k++)
    lu.at[k] = k % n <= k / n ? u.at[k] : l.at[k];
  dense da = dense_product(&l, &u);
  lu_run r = lu_run_make(&a, &da, OSLA_PIVOT_NONE, 0, "zero pivot");
  OSLA_ASSERT_MSG(r.result.info == zero + 1 && !r.result.trusted,
                  "%s: info %" PRId64 ", not %" PRId64, r.label, r.result.info, zero + 1);
  if (zero == n - 1) { /* the last pivot is not a divisor, so the factors are finite */
    if (r.before.parts == parts_of(dtype)) kernel_expect(a.a, &lu, "%s", r.label);
    (void)lu_expect_growth(&r);
  } else {
    OSLA_ASSERT_MSG(!(r.result.growth <= 1e6), "%s: growth %g", r.label, r.result.growth);
  }
  lu_run_free(&r);
  dense_free(&l), dense_free(&u), dense_free(&da), dense_free(&lu);
  kernel_free(&a);
}

static void test_zero_pivot(void)
{
  static const int64_t list[][3] = {/* n, nb, index of the zero pivot, from 0 */
                                    {30, 4, 0},
                                    {30, 4, 14},
                                    {30, 4, 29},
                                    {60, 45, 37},
                                    {1, 1, 0}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < 5; s++)
      if (lu_turn(t, g, s))
        check_zero_pivot(grid, (osla_dtype)(g % 4), list[s][0], list[s][1], list[s][2]);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static osla_complex needs_pivoting(int64_t i, int64_t j, uint64_t seed)
{
  (void)seed;
  return i != j ? 1.0 / (double)(2 + i + j) : i == 0 ? 1e-12 : 1.0;
}

static void test_growth(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, 25, 25, 4, 4, false);
  dense content = lu_make(25, 25, OSLA_DOUBLE, needs_pivoting, 0), zero = dense_make(25, 25, 1);
  lu_run r = lu_run_make(&a, &content, OSLA_PIVOT_NONE, 0, "small pivot");
  OSLA_ASSERT_MSG(r.result.info == 0 && r.result.growth > 1e9 && !r.result.trusted,
                  "%s: info %" PRId64 ", growth %g", r.label, r.result.info, r.result.growth);
  (void)lu_expect_growth(&r);
  lu_run_free(&r);
  r = lu_run_make(&a, &zero, OSLA_PIVOT_NONE, 0, "zero");
  OSLA_ASSERT_MSG(r.result.info == 1 && isnan(r.result.growth) && !r.result.trusted,
                  "%s: info %" PRId64 ", growth %g", r.label, r.result.info, r.result.growth);
  lu_run_free(&r);
  dense_free(&content), dense_free(&zero);
  kernel_free(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void refuse(osla_matrix *a, int64_t *ipiv, osla_pivoting pivoting, int look_ahead,
                   const char *text)
{
  osla_lu_options options = {.pivoting = pivoting, .look_ahead = look_ahead};
  osla_lu_result result;
  OSLA_ASSERT_ERR(osla_getrf(a, ipiv, &options, &result), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  osla_lu_result result;
  int64_t ipiv[8];
  kernel_matrix good = kernel_make(grid, OSLA_DOUBLE, 7, 7, 2, 2, false);
  kernel_matrix blocks = kernel_make(grid, OSLA_DOUBLE, 7, 7, 2, 3, false);
  refuse(blocks.a, ipiv, OSLA_PIVOT_PARTIAL, 0, "2 x 3");
  refuse(blocks.a, NULL, OSLA_PIVOT_NONE, 0, "2 x 3");
  refuse(good.a, ipiv, OSLA_PIVOT_PARTIAL, 3, "look_ahead = 3");
  refuse(good.a, NULL, OSLA_PIVOT_NONE, -2, "look_ahead = -2");
  refuse(good.a, NULL, OSLA_PIVOT_TOURNAMENT, 0, "ipiv is NULL");
  /* NULL options mean partial pivoting, which needs ipiv */
  OSLA_ASSERT_ERR(osla_getrf(good.a, NULL, NULL, &result), OSLA_ERR_ARG);
  /* an argument that is wrong on one rank only is reported on all ranks */
  refuse(good.a, osla_test_rank() == 0 ? NULL : ipiv, OSLA_PIVOT_PARTIAL, 1, "ipiv is NULL");
  OSLA_ASSERT_OK(osla_matrix_fill(good.a, OSLA_FILL_IDENTITY, 0));
  /* the matrix can be factored after the refused calls */
  OSLA_ASSERT_OK(osla_getrf(good.a, ipiv, NULL, &result));
  CU_ASSERT(result.info == 0 && result.trusted);
  kernel_free(&good), kernel_free(&blocks);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_back_to_back(void)
{
  lu_known known = lu_known_make(45, 41, 1, 1, -1, false);
  lu_back_to_back(&known, OSLA_PIVOT_NONE);
  lu_known_free(&known);
}

static void stress(const stress_round *r)
{
  kernel_matrix a = kernel_make(r->grid, r->dtype, r->m, r->n, r->nb, r->nb, r->wrapped);
  for (int i = 0; i < 3; i++)
    check_exact(&a, lu_look_ahead(i), r->seed + (uint64_t)i, r->name);
  kernel_free(&a);
}

static void test_stress(void)
{
  kernel_stress(3, 2000, stress);
}

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
OSLA_TEST_SUITE(test_lu, cases);
