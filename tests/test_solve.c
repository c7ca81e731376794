/* Triangular solves, bitwise where solution and factors are whole numbers; solves with the factors
 * of LU and Cholesky by their scaled residual; the residual itself; a run of all kernels in turn
 * under delays. */
#include "kernel_reference.h"
#include "osla_chol.h"
#include "osla_gemm.h"
#include "osla_lu.h"
#include "osla_solve.h"
#include "osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct solve_case {
  int64_t n, nb, nrhs, b_nb; /* b_nb: columns of a block of B */
} solve_case;

static const solve_case cases_of_sizes[] = {
  {1, 1, 1, 1},  {2, 1, 3, 2},    {5, 1, 1, 1},   {7, INT64_C(1) << 40, 17, 4},
  {37, 5, 3, 1}, {48, 8, 17, 64}, {61, 13, 1, 7}, {90, 7, 17, 3},
};
enum { N_SIZES = sizeof cases_of_sizes / sizeof cases_of_sizes[0] };

/* All variants: bits 0 uplo, 1 trans, 2 diag. */
enum { VARIANTS = 8 };

typedef struct variant {
  osla_uplo uplo;
  osla_trans trans;
  osla_diag diag;
} variant;

static variant variant_of(int i)
{
  return (variant){i & 1 ? OSLA_UPPER : OSLA_LOWER, i & 2 ? OSLA_TRANS : OSLA_NOTRANS,
                   i & 4 ? OSLA_UNIT : OSLA_NONUNIT};
}

/* T as it is used: the triangle with its diagonal; and as it is stored: NaN where it must not be
 * read. */
static void make_triangle(int64_t n, variant v, uint64_t seed, dense *used, dense *stored)
{
  dense lower = v.diag == OSLA_UNIT ? exact_unit_lower(n, seed) : exact_lower(n, seed);
  *used = v.uplo == OSLA_LOWER ? lower : dense_transpose(&lower);
  if (v.uplo == OSLA_UPPER) dense_free(&lower);
  *stored = dense_make(n, n, 1);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      bool inside = v.uplo == OSLA_LOWER ? i >= j : i <= j;
      bool read = inside && !(i == j && v.diag == OSLA_UNIT);
      *dense_at(stored, i, j) = read ? *dense_at(used, i, j) : (double)NAN;
    }
}

static void check_exact(osla_matrix *a, osla_matrix *b, variant v, uint64_t seed, const char *label)
{
  osla_layout lb = osla_matrix_layout(b);
  dense used, stored, x = exact_whole(lb.m, lb.n, seed + 1);
  make_triangle(lb.m, v, seed, &used, &stored);
  dense turned = dense_transpose(&used);
  dense db = dense_product(v.trans == OSLA_TRANS ? &turned : &used, &x);
  dense_scatter(&stored, a);
  dense_scatter(&db, b);
  OSLA_ASSERT_OK(osla_trsm_left(v.uplo, v.trans, v.diag, a, b));
  kernel_expect(b, &x, "exact solve, %s%s%s, %s", v.uplo == OSLA_LOWER ? "lower" : "upper",
                v.trans == OSLA_TRANS ? " transposed" : "", v.diag == OSLA_UNIT ? " unit" : "",
                label);
  dense_free(&used), dense_free(&stored), dense_free(&turned), dense_free(&x), dense_free(&db);
}

static void label_of(char *label, size_t size, const osla_matrix *a, const osla_matrix *b, int w)
{
  char first[128];
  (void)snprintf(first, sizeof first, "%s", kernel_label(a, w & 1));
  (void)snprintf(label, size, "%s; B: %s", first, kernel_label(b, w & 2));
}

static void test_trsm(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < N_SIZES; s++) {
      if (!kernel_turn(g, s)) continue;
      solve_case c = cases_of_sizes[s];
      osla_dtype dtype = (g / 2 + s) % 2 ? OSLA_FLOAT : OSLA_DOUBLE;
      int w = (g / 4 + s) % 4;
      char label[256];
      kernel_matrix a = kernel_make(grid, dtype, c.n, c.n, c.nb, c.nb, w & 1);
      kernel_matrix b = kernel_make(grid, dtype, c.n, c.nrhs, c.nb, c.b_nb, w & 2);
      label_of(label, sizeof label, a.a, b.a, w);
      for (int i = s % 2; i < VARIANTS; i += 2)
        check_exact(a.a, b.a, variant_of((i + g / 4) % VARIANTS), (uint64_t)(s + i), label);
      kernel_free(&a), kernel_free(&b);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* More block rows than process rows and the other way round: ranks without rows of B take part in
 * nothing, and nobody may wait for them. */
static void test_few_rows(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int64_t n = 1; n <= 7; n++) {
      bool tall = osla_grid_npcol(grid) == 1 && (n == 1 || n == osla_grid_nprow(grid) - 1);
      if (osla_test_size() > 2 && !tall) continue;
      char label[256];
      kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, n, n, 1, 1, false);
      kernel_matrix b = kernel_make(grid, OSLA_DOUBLE, n, 2, 1, 1, g % 2);
      label_of(label, sizeof label, a.a, b.a, g % 2 ? 2 : 0);
      for (int i = 0; i < 4; i++)
        check_exact(a.a, b.a, variant_of(i), (uint64_t)n, label);
      kernel_free(&a), kernel_free(&b);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static void test_empty(void)
{
  static const solve_case empty[] = {{0, 2, 3, 2}, {9, 2, 0, 2}, {0, 1, 0, 1}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  for (int i = 0; i < 3 * VARIANTS; i++) {
    if (!kernel_turn(0, i)) continue;
    solve_case c = empty[i % 3];
    kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, c.n, c.n, c.nb, c.nb, i & 1);
    kernel_matrix b = kernel_make(grid, OSLA_DOUBLE, c.n, c.nrhs, c.nb, c.b_nb, i & 1);
    double value = -1.0;
    check_exact(a.a, b.a, variant_of(i / 3), 1, kernel_label(b.a, i & 1));
    OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_SPD, 1));
    OSLA_ASSERT_OK(osla_residual(a.a, b.a, b.a, &value));
    OSLA_ASSERT_CLOSE(value, 0.0, 0.0);
    kernel_free(&a), kernel_free(&b);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* A X = B by LU (uplo < 0) or Cholesky, in place; then the residual with A as it was. */
static void check_factored(osla_grid *grid, osla_dtype dtype, solve_case c, int uplo, int w)
{
  char label[256];
  double value = -1.0;
  kernel_matrix a = kernel_make(grid, dtype, c.n, c.n, c.nb, c.nb, false);
  kernel_matrix f = kernel_make(grid, dtype, c.n, c.n, c.nb, c.nb, w & 1);
  kernel_matrix b = kernel_make(grid, dtype, c.n, c.nrhs, c.nb, c.b_nb, false);
  kernel_matrix x = kernel_make(grid, dtype, c.n, c.nrhs, c.nb, c.b_nb, w & 2);
  label_of(label, sizeof label, f.a, x.a, w);
  OSLA_ASSERT_OK(osla_matrix_fill(a.a, uplo < 0 ? OSLA_FILL_DOMINANT : OSLA_FILL_SPD, 6));
  OSLA_ASSERT_OK(osla_matrix_fill(b.a, OSLA_FILL_UNIFORM, 7));
  OSLA_ASSERT_OK(osla_matrix_copy(a.a, f.a));
  OSLA_ASSERT_OK(osla_matrix_copy(b.a, x.a));
  if (uplo < 0) {
    osla_lu_result result;
    OSLA_ASSERT_OK(osla_getrf(f.a, NULL, &(osla_lu_options){.pivoting = OSLA_PIVOT_NONE}, &result));
    OSLA_ASSERT_OK(osla_getrs_nopiv(f.a, x.a));
  } else {
    int64_t info = -1;
    OSLA_ASSERT_OK(osla_potrf(f.a, (osla_uplo)uplo, NULL, &info));
    CU_ASSERT(info == 0);
    OSLA_ASSERT_OK(osla_potrs((osla_uplo)uplo, f.a, x.a));
  }
  OSLA_ASSERT_OK(osla_residual(a.a, x.a, b.a, &value));
  OSLA_ASSERT_MSG(value < 16.0 && value > 0.0,
                  "%s: |B - A X|_inf / ((|A|_inf |X|_inf + |B|_inf) n eps) = %.3g", label, value);
  kernel_free(&a), kernel_free(&f), kernel_free(&b), kernel_free(&x);
}

static void test_factored(void)
{
  static const solve_case sizes[] = {{37, 5, 3, 2}, {64, 16, 17, 8}, {30, 40, 1, 1}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < 3; s++)
      for (int uplo = -1; uplo <= (int)OSLA_UPPER; uplo++)
        if (kernel_turn(g + 1 + uplo, s))
          check_factored(grid, (g / 2 + s) % 2 ? OSLA_FLOAT : OSLA_DOUBLE, sizes[s], uplo,
                         (g + s) % 4);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static double one_or_zero(int64_t i, int64_t j, void *arg)
{
  return i == 3 && j == 1 ? *(const double *)arg : 1.0;
}

/* The judge itself: the value of a known error, and what is wrong must not pass. */
static void test_residual(void)
{
  enum { N = 20, NRHS = 2 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  for (int w = 0; w<4; w += osla_test_size()> 2 ? 3 : 1) {
    osla_dtype dtype = w & 1 ? OSLA_FLOAT : OSLA_DOUBLE;
    double value = -1.0, odd = 1.0, eps = kernel_eps(dtype);
    kernel_matrix a = kernel_make(grid, dtype, N, N, 3, 4, w & 1);
    kernel_matrix x = kernel_make(grid, dtype, N, NRHS, 2, 1, false);
    kernel_matrix b = kernel_make(grid, dtype, N, NRHS, 5, 1, w & 2);
    OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_IDENTITY, 0));
    OSLA_ASSERT_OK(osla_matrix_fill_with(x.a, one_or_zero, &odd));
    OSLA_ASSERT_OK(osla_matrix_fill_with(b.a, one_or_zero, &odd));
    OSLA_ASSERT_OK(osla_residual(a.a, x.a, b.a, &value));
    OSLA_ASSERT_CLOSE(value, 0.0, 0.0);
    odd = 1.5; /* |B - A X| = 0.5, |A| = 1, |X| = 2, |B| = 2.5 */
    OSLA_ASSERT_OK(osla_matrix_fill_with(b.a, one_or_zero, &odd));
    OSLA_ASSERT_OK(osla_residual(a.a, x.a, b.a, &value));
    OSLA_ASSERT_CLOSE(value * N * eps, 0.5 / 4.5, 1e-6);
    CU_ASSERT(value > 1e4);
    odd = NAN;
    OSLA_ASSERT_OK(osla_matrix_fill_with(x.a, one_or_zero, &odd));
    OSLA_ASSERT_OK(osla_residual(a.a, x.a, b.a, &value));
    OSLA_ASSERT_MSG(isnan(value), "residual %g with a NaN in X", value);
    odd = INFINITY;
    OSLA_ASSERT_OK(osla_matrix_fill_with(x.a, one_or_zero, &odd));
    OSLA_ASSERT_OK(osla_residual(a.a, x.a, b.a, &value));
    OSLA_ASSERT_MSG(!(value <= 16.0), "residual %g with an infinity in X", value);
    kernel_free(&a), kernel_free(&x), kernel_free(&b);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void refuse(osla_matrix *a, osla_matrix *b, osla_err code, const char *text)
{
  OSLA_ASSERT_ERR(osla_trsm_left(OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, a, b), code);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_potrs(OSLA_UPPER, a, b), code);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_ERR(osla_getrs_nopiv(a, b), code);
  OSLA_ASSERT_TEXT(text);
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0), *other = kernel_grid(t, 0);
  double value;
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, 7, 7, 2, 2, false);
  kernel_matrix b = kernel_make(grid, OSLA_DOUBLE, 7, 5, 2, 3, false);
  kernel_matrix oblong = kernel_make(grid, OSLA_DOUBLE, 7, 9, 2, 2, false);
  kernel_matrix blocks = kernel_make(grid, OSLA_DOUBLE, 7, 7, 2, 3, false);
  kernel_matrix tall = kernel_make(grid, OSLA_DOUBLE, 8, 5, 2, 3, false);
  kernel_matrix rows = kernel_make(grid, OSLA_DOUBLE, 7, 5, 4, 3, false);
  kernel_matrix away = kernel_make(other, OSLA_DOUBLE, 7, 5, 2, 3, false);
  kernel_matrix narrow = kernel_make(grid, OSLA_FLOAT, 7, 5, 2, 3, false);
  kernel_matrix ca = kernel_make(grid, OSLA_COMPLEX_DOUBLE, 7, 7, 2, 2, false);
  kernel_matrix cb = kernel_make(grid, OSLA_COMPLEX_DOUBLE, 7, 5, 2, 3, false);
  refuse(oblong.a, b.a, OSLA_ERR_ARG, "7 x 9");
  refuse(blocks.a, b.a, OSLA_ERR_ARG, "2 x 3");
  refuse(a.a, tall.a, OSLA_ERR_ARG, "B has 8 rows, A is of order 7");
  refuse(a.a, rows.a, OSLA_ERR_ARG, "(2, not 4)");
  refuse(a.a, away.a, OSLA_ERR_ARG, "on two grids (");
  refuse(a.a, narrow.a, OSLA_ERR_ARG, "'d' and 's'");
  refuse(ca.a, cb.a, OSLA_ERR_UNSUPPORTED, "'z'");
  OSLA_ASSERT_ERR(osla_residual(oblong.a, b.a, b.a, &value), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("7 x 9");
  OSLA_ASSERT_SAME_TEXT();
  check_exact(a.a, b.a, variant_of(0), 3, "after the errors");
  kernel_free(&a), kernel_free(&b), kernel_free(&oblong), kernel_free(&blocks);
  kernel_free(&tall), kernel_free(&rows), kernel_free(&away), kernel_free(&narrow);
  kernel_free(&ca), kernel_free(&cb);
  osla_grid_destroy(&grid), osla_grid_destroy(&other);
  osla_transport_destroy(&t);
}

/* All kernels in turn by seed, without a pause, with delays in the midst of them. */
static void test_stress(void)
{
  osla_transport *t = osla_test_transport();
  int n_grids = 0, rounds = kernel_rounds(2);
  osla_grid *grids[32], *grid;
  while ((grid = kernel_grid(t, n_grids)) != NULL)
    grids[n_grids++] = grid;
  for (int round = 0; round < rounds; round++) {
    uint64_t seed = 4000 + (uint64_t)round;
    solve_case c = {1 + osla_test_choose(seed, 0, 80), 1 + osla_test_choose(seed, 1, 12),
                    osla_test_choose(seed, 2, 20), 1 + osla_test_choose(seed, 3, 6)};
    osla_dtype dtype = osla_test_choose(seed, 4, 2) ? OSLA_FLOAT : OSLA_DOUBLE;
    int w = (int)osla_test_choose(seed, 5, 4), uplo = (int)osla_test_choose(seed, 6, 3) - 1;
    grid = grids[osla_test_choose(seed, 7, n_grids)];
    char label[256], text[300];
    delays d;
    delays_begin(&d, t, seed);
    kernel_matrix a = kernel_make(grid, dtype, c.n, c.n, c.nb, c.nb, w & 1);
    kernel_matrix b = kernel_make(grid, dtype, c.n, c.nrhs, c.nb, c.b_nb, w & 2);
    label_of(label, sizeof label, a.a, b.a, w);
    (void)snprintf(text, sizeof text, "round %d, %s", round, label);
    for (int i = 0; i < 4; i++)
      check_exact(a.a, b.a, variant_of((int)osla_test_choose(seed, 8 + i, VARIANTS)), seed, text);
    if (c.nrhs > 0) check_factored(grid, dtype, c, uplo, w);
    delays_end(&d);
    kernel_free(&a), kernel_free(&b);
  }
  for (int g = 0; g < n_grids; g++)
    osla_grid_destroy(&grids[g]);
  osla_transport_destroy(&t);
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {
    {"trsm", test_trsm},         {"few_rows", test_few_rows},
    {"empty", test_empty},       {"factored", test_factored},
    {"residual", test_residual}, {"errors", test_errors},
    {"stress", test_stress},     {NULL, NULL},
  };
  return osla_test_main(argc, argv, cases);
}
