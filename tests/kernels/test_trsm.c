/* Tests of triangular solves for all sides, triangles, transposes and types. Results are compared
 * bitwise, because solution and triangle have whole numbers. */
#include "kernels/solve/trsm.h"
#include "osla_solve.h"
#include "tests/kernels/solve_reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct solve_case {
  /* `width` is the block size of B in the direction of the nrhs right-hand sides */
  int64_t n, nb, nrhs, width;
} solve_case;

static const solve_case cases_of_sizes[] = {
  {1, 1, 1, 1},  {2, 1, 3, 2},    {5, 1, 1, 1},   {7, INT64_C(1) << 40, 17, 4},
  {37, 5, 3, 1}, {48, 8, 17, 64}, {61, 13, 1, 7}, {90, 7, 17, 3},
};
enum { N_SIZES = sizeof cases_of_sizes / sizeof cases_of_sizes[0], NB_OF_STRIPS = 40 };

typedef struct variant {
  osla_side side;
  osla_uplo uplo;
  osla_trans trans;
  osla_diag diag;
} variant;

/* Combination number i of side, triangle, transpose and diagonal. The order is such that successive
 * combinations differ in several arguments. */
enum { VARIANTS = 24 };

static variant variant_of(int64_t i)
{
  i = i * 7 % VARIANTS;
  return (variant){i & 1 ? OSLA_RIGHT : OSLA_LEFT, i & 2 ? OSLA_UPPER : OSLA_LOWER,
                   (osla_trans)(i / 8), i & 4 ? OSLA_UNIT : OSLA_NONUNIT};
}

static void check_exact(const kernel_matrix *a, const kernel_matrix *b, variant v, uint64_t seed)
{
  osla_layout lb = osla_matrix_layout(b->a);
  int64_t n = osla_matrix_layout(a->a).n;
  int parts = parts_of(osla_matrix_dtype(a->a));
  osla_complex alpha = seed % 3 == 0 ? 1.0 : seed % 3 == 1 || parts == 1 ? -0.5 : 2.0i;
  dense used = exact_triangle(n, parts, v.uplo, v.diag, seed);
  dense stored = triangle_stored(&used, v.uplo, v.diag), op = dense_op(v.trans, &used);
  dense x = exact_numbers(lb.m, lb.n, parts, 4, seed + 1);
  dense db = v.side == OSLA_LEFT ? dense_times(&op, &x) : dense_times(&x, &op);
  matrix_set(&stored, a->a);
  matrix_set(&db, b->a);
  OSLA_ASSERT_OK(osla_trsm(v.side, v.uplo, v.trans, v.diag, alpha, a->a, b->a));
  dense_scale(alpha, &x);
  kernel_expect(b->a, &x, "exact solve, %s, %s, trans %d, %s, %s",
                v.side == OSLA_LEFT ? "left" : "right", v.uplo == OSLA_LOWER ? "lower" : "upper",
                (int)v.trans, v.diag == OSLA_UNIT ? "unit" : "nonunit", solve_label(a, b));
  dense_free(&used), dense_free(&stored), dense_free(&op), dense_free(&x), dense_free(&db);
}

/* Makes the right-hand sides for solves from the left and from the right, in one distribution. */
static void make_sides(const grid_set *g, int which, osla_dtype dtype, solve_case c,
                       rhs_distribution place, bool wrapped, kernel_matrix sides[2])
{
  sides[OSLA_LEFT] = rhs_make(g, which, dtype, c.n, c.nrhs, c.nb, c.width, place, wrapped);
  sides[OSLA_RIGHT] = rhs_make(g, which, dtype, c.nrhs, c.n, c.width, c.nb, place, wrapped);
}

static void test_trsm(void)
{
  grid_set g = grids_open();
  int per_matrix = osla_test_size() > 2 ? 3 : 6;
  int64_t next = 0, turn = 0;
  for (int which = 0; which < g.n; which++)
    for (int s = 0; s < N_SIZES; s++) {
      if (!solve_turn(which, s)) continue;
      solve_case c = cases_of_sizes[s];
      osla_dtype dtype = (osla_dtype)((which + s + turn / 4) % 4);
      rhs_distribution place =
        turn % 2 ? (rhs_distribution)(turn / 2 % RHS_DISTRIBUTIONS) : FITTING;
      kernel_matrix a = kernel_make(g.at[which], dtype, c.n, c.n, c.nb, c.nb, turn % 3 == 1);
      kernel_matrix b[2];
      make_sides(&g, which, dtype, c, place, turn % 3 == 2, b);
      kernel_matrix triangle = kernel_make_triangle(g.at[which], dtype, c.n, c.nb);
      for (int i = 0; i < per_matrix; i++, next++) {
        variant v = variant_of(next);
        check_exact(&a, &b[v.side], v, (uint64_t)next);
        if (v.uplo == OSLA_LOWER) check_exact(&triangle, &b[v.side], v, (uint64_t)next);
      }
      kernel_free(&a), kernel_free(&triangle), kernel_free(&b[0]), kernel_free(&b[1]);
      turn++;
    }
  grids_close(&g);
}

/* Runs every combination of arguments on one grid with several process rows and columns. One or two
 * ranks run every type, and more ranks run one type. More than four ranks run only half of the
 * combinations. */
static void test_variants(void)
{
  grid_set g = grids_open();
  int size = osla_test_size(), which = size % 2 == 0 && size > 2 ? 1 : 0;
  int step = size <= 2 ? 1 : size <= 4 ? 4 : 8;
  for (int dtype = 0; dtype < 4; dtype++) {
    solve_case c = {23, 4, 5, 2};
    kernel_matrix b[2],
      a = kernel_make(g.at[which], (osla_dtype)dtype, c.n, c.n, c.nb, c.nb, false);
    make_sides(&g, which, (osla_dtype)dtype, c, FITTING, false, b);
    for (int i = dtype % step; i < VARIANTS; i += step) {
      variant v = variant_of(i + dtype / 2);
      check_exact(&a, &b[v.side], v, (uint64_t)(i + dtype));
    }
    kernel_free(&a), kernel_free(&b[0]), kernel_free(&b[1]);
  }
  grids_close(&g);
}

/* Matrices with fewer block rows than process rows, with equally many, and with more. Ranks without
 * rows of B do not take part in a solve, and no rank may wait for them. */
static void test_few_rows(void)
{
  grid_set g = grids_open();
  for (int which = 0; which < g.n; which++)
    for (int64_t n = 1; n <= 7; n++) {
      osla_grid *grid = g.at[which];
      bool tall = osla_grid_npcol(grid) == 1 && (n == 1 || n == osla_grid_nprow(grid) - 1);
      if (osla_test_size() > 2 && !tall) continue;
      /* skipped: a run on fewer ranks tests this, too */
      if (osla_test_size() > 4 && n == 1) continue;
      solve_case c = {n, 1, 2, 1};
      kernel_matrix b[2], a = kernel_make(grid, OSLA_DOUBLE, n, n, 1, 1, false);
      make_sides(&g, which, OSLA_DOUBLE, c, FITTING, which % 2, b);
      for (int i = 0; i < 4; i++) {
        variant v = variant_of(i + n);
        check_exact(&a, &b[v.side], v, (uint64_t)n);
      }
      kernel_free(&a), kernel_free(&b[0]), kernel_free(&b[1]);
    }
  grids_close(&g);
}

static void test_empty(void)
{
  static const solve_case empty[] = {{0, 2, 3, 2}, {9, 2, 0, 2}, {0, 1, 0, 1}};
  grid_set g = grids_open();
  for (int i = 0; i < 12; i++) {
    if (!solve_turn(0, i)) continue;
    kernel_matrix b[2], a = kernel_make(g.at[0], OSLA_DOUBLE, empty[i % 3].n, empty[i % 3].n,
                                        empty[i % 3].nb, empty[i % 3].nb, i & 1);
    make_sides(&g, 0, OSLA_DOUBLE, empty[i % 3], (rhs_distribution)(i / 3), i & 1, b);
    for (int k = 0; k < 2; k++) {
      variant v = variant_of(2 * i + k);
      check_exact(&a, &b[v.side], v, 1);
    }
    kernel_free(&a), kernel_free(&b[0]), kernel_free(&b[1]);
  }
  grids_close(&g);
}

/* There are so many right-hand sides that a solve with a transpose handles several strips of
 * columns. */
static void test_strips(void)
{
  grid_set g = grids_open();
  const int last = g.n - 1; /* a grid of one process column */
  const int p = osla_grid_nprow(g.at[last]);
  const int64_t strip = osli_trsm_strip(NB_OF_STRIPS, 20000, p, sizeof(double));
  solve_case c = {2 * NB_OF_STRIPS + 5, NB_OF_STRIPS, 2 * strip + 3, 50000};
  OSLA_ASSERT_MSG(p == 1 || strip < 10000, "%d process rows: strips of %d", p, (int)strip);
  if (p > 1) {
    kernel_matrix b[2], a = kernel_make(g.at[last], OSLA_DOUBLE, c.n, c.n, c.nb, c.nb, false);
    make_sides(&g, last, OSLA_DOUBLE, c, FITTING, false, b);
    check_exact(&a, &b[OSLA_LEFT], (variant){OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, OSLA_UNIT}, 1);
    check_exact(&a, &b[OSLA_LEFT], (variant){OSLA_LEFT, OSLA_UPPER, OSLA_TRANS, OSLA_NONUNIT}, 4);
    kernel_free(&a), kernel_free(&b[0]), kernel_free(&b[1]);
  }
  grids_close(&g);
}

/* With alpha = 0, B becomes zero whatever it contains, and A is not read. For real types the
 * imaginary part of alpha is ignored. */
static void test_zero_factor(void)
{
  grid_set g = grids_open();
  for (int dtype = 0; dtype < 4; dtype++) {
    kernel_matrix a = kernel_make(g.at[0], (osla_dtype)dtype, 9, 9, 2, 2, true);
    kernel_matrix b = kernel_make(g.at[0], (osla_dtype)dtype, 9, 4, 2, 3, true);
    int parts = parts_of((osla_dtype)dtype);
    dense zero = dense_make(9, 4, parts), nans = dense_make(9, 9, parts);
    for (int64_t i = 0; i < 9 * 9 * parts; i++)
      nans.at[i] = (double)NAN;
    matrix_set(&nans, a.a);
    matrix_set(&nans, b.a); /* writes NaN into the first columns of B */
    OSLA_ASSERT_OK(osla_trsm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT,
                             parts == 1 ? 1.0i : 0.0, a.a, b.a));
    kernel_expect(b.a, &zero, "alpha = 0");
    dense_free(&zero), dense_free(&nans);
    kernel_free(&a), kernel_free(&b);
  }
  grids_close(&g);
}

static void refuse(osla_side side, const kernel_matrix *a, const kernel_matrix *b, const char *text)
{
  OSLA_ASSERT_ERR(osla_trsm(side, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, 1.0, a->a, b->a),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
}

static void test_errors(void)
{
  grid_set g = grids_open();
  osla_transport *t = osla_test_transport();
  osla_grid *grid = g.at[0], *foreign = kernel_grid(t, 0);
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, 7, 7, 2, 2, false);
  kernel_matrix b = kernel_make(grid, OSLA_DOUBLE, 7, 5, 2, 3, false);
  kernel_matrix oblong = kernel_make(grid, OSLA_DOUBLE, 7, 9, 2, 2, false);
  kernel_matrix blocks = kernel_make(grid, OSLA_DOUBLE, 7, 7, 2, 3, false);
  kernel_matrix tall = kernel_make(grid, OSLA_DOUBLE, 8, 5, 2, 3, false);
  kernel_matrix narrow = kernel_make(grid, OSLA_FLOAT, 7, 5, 2, 3, false);
  kernel_matrix away = kernel_make(foreign, OSLA_DOUBLE, 7, 5, 2, 3, false);
  refuse(OSLA_LEFT, &oblong, &b, "7 x 9");
  refuse(OSLA_LEFT, &blocks, &b, "2 x 3");
  refuse(OSLA_LEFT, &a, &tall, "B has 8 rows, A is of order 7");
  refuse(OSLA_RIGHT, &a, &tall, "B has 5 columns, A is of order 7");
  refuse(OSLA_LEFT, &a, &narrow, "'d' and 's'");
  refuse(OSLA_LEFT, &a, &away, "different transports");
  refuse(OSLA_RIGHT, &a, &a, "one matrix");
  check_exact(&a, &b, (variant){OSLA_LEFT, OSLA_UPPER, OSLA_TRANS, OSLA_UNIT}, 3);
  kernel_free(&a), kernel_free(&b), kernel_free(&oblong), kernel_free(&blocks);
  kernel_free(&tall), kernel_free(&narrow), kernel_free(&away);
  osla_grid_destroy(&foreign);
  osla_transport_destroy(&t);
  grids_close(&g);
}

static void stress(const stress_round *r)
{
  solve_case c = {r->n, r->nb, osla_test_choose(r->seed, STRESS_FREE, 20),
                  1 + osla_test_choose(r->seed, STRESS_FREE + 1, 6)};
  rhs_distribution place =
    (rhs_distribution)osla_test_choose(r->seed, STRESS_FREE + 2, RHS_DISTRIBUTIONS);
  kernel_matrix b[2], a = kernel_make(r->grid, r->dtype, c.n, c.n, c.nb, c.nb, r->wrapped);
  make_sides(r->grids, r->which, r->dtype, c, place, !r->wrapped, b);
  for (int i = 0; i < 4; i++) {
    variant v = variant_of(osla_test_choose(r->seed, STRESS_FREE + 3 + i, VARIANTS));
    check_exact(&a, &b[v.side], v, r->seed + (uint64_t)i);
  }
  kernel_free(&a), kernel_free(&b[0]), kernel_free(&b[1]);
}

static void test_stress(void)
{
  kernel_stress(3, 4000, stress);
}

static const osla_test_case cases[] = {
  {"trsm", test_trsm},     {"variants", test_variants}, {"few_rows", test_few_rows},
  {"empty", test_empty},   {"strips", test_strips},     {"zero_factor", test_zero_factor},
  {"errors", test_errors}, {"stress", test_stress},     {NULL, NULL},
};
OSLA_TEST_SUITE(test_trsm, cases);
