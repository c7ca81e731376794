/* Tests of solves with the factors of LU and Cholesky, with interchanges. Solutions are compared
 * bitwise if solution and factors are whole numbers. Solutions from factors of LAPACK and of OSLA
 * are checked by the scaled residual. Right-hand sides have other distributions than the matrix, or
 * every rank has all of them.
 */
#include "kernels/solve/rhs.h"
#include "osla_blas.h"
#include "osla_chol.h"
#include "osla_lu.h"
#include "osla_solve.h"
#include "tests/kernels/solve_reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct solve_case {
  int64_t n, nb, nrhs, width;
} solve_case;

static const solve_case cases_of_sizes[] = {
  {1, 1, 1, 1},  {2, 1, 3, 2},   {7, INT64_C(1) << 40, 17, 4},
  {37, 5, 3, 1}, {61, 13, 1, 7}, {48, 8, 9, 64},
};
enum { N_SIZES = sizeof cases_of_sizes / sizeof cases_of_sizes[0] };

/* A solve with exact factors, stored as the library stores them, and B computed from an exact X.
 * Kinds 0 and 1 are Cholesky with the lower and the upper triangle, kinds 2 to 4 are LU with
 * transposes N, T and C, and kind 5 is LU without interchanges. */
enum { KINDS = 6 };

typedef struct problem {
  dense stored, x, b;
  int64_t *pivots; /* NULL for a problem without interchanges */
} problem;

static osla_trans trans_of(int kind)
{
  return kind == 3 ? OSLA_TRANS : kind == 4 ? OSLA_CONJTRANS : OSLA_NOTRANS;
}

/* Returns a matrix with L below the diagonal, and U on and above it. */
static dense put_together(const dense *l, const dense *u)
{
  dense d = dense_copy(u);
  for (int64_t j = 0; j < d.n; j++)
    for (int64_t i = (j + 1) * d.parts; i < d.m * d.parts; i++)
      d.at[i + j * d.m * d.parts] = l->at[i + j * d.m * d.parts];
  return d;
}

static problem cholesky_problem(osla_uplo uplo, int64_t n, int64_t nrhs, int parts, uint64_t seed)
{
  problem p = {.x = exact_numbers(n, nrhs, parts, 3, seed)};
  dense f = exact_triangle(n, parts, uplo, OSLA_UNIT, seed + 1);
  for (int64_t i = 0; i < n; i++)
    *dense_at(&f, i, i) = seed % 2 ? 1.0 : 2.0;
  dense h = dense_op(OSLA_CONJTRANS, &f);
  dense y = dense_times(uplo == OSLA_LOWER ? &h : &f, &p.x);
  p.b = dense_times(uplo == OSLA_LOWER ? &f : &h, &y);
  p.stored = triangle_stored(&f, uplo, OSLA_NONUNIT);
  dense_free(&f), dense_free(&h), dense_free(&y);
  return p;
}

static problem lu_problem(osla_trans trans, bool pivoted, int64_t n, int64_t nrhs, int parts,
                          uint64_t seed)
{
  problem p = {.x = exact_numbers(n, nrhs, parts, 3, seed)};
  dense l = exact_triangle(n, parts, OSLA_LOWER, OSLA_UNIT, seed + 1);
  dense u = exact_triangle(n, parts, OSLA_UPPER, OSLA_NONUNIT, seed + 2);
  dense first = dense_op(trans, trans == OSLA_NOTRANS ? &u : &l), start = dense_copy(&p.x);
  dense second = dense_op(trans, trans == OSLA_NOTRANS ? &l : &u);
  if (pivoted) p.pivots = exact_pivots(n, seed);
  if (pivoted && trans != OSLA_NOTRANS) dense_swap_rows(&start, p.pivots, false);
  dense y = dense_times(&first, &start);
  p.b = dense_times(&second, &y);
  if (pivoted && trans == OSLA_NOTRANS) dense_swap_rows(&p.b, p.pivots, true);
  p.stored = put_together(&l, &u);
  dense_free(&l), dense_free(&u), dense_free(&first), dense_free(&second), dense_free(&start);
  dense_free(&y);
  return p;
}

static problem problem_of(int kind, int64_t n, int64_t nrhs, osla_dtype dtype, uint64_t seed)
{
  int parts = parts_of(dtype);
  return kind < 2 ? cholesky_problem((osla_uplo)kind, n, nrhs, parts, seed)
                  : lu_problem(trans_of(kind), kind < 5, n, nrhs, parts, seed);
}

static void problem_free(problem *p)
{
  dense_free(&p->stored), dense_free(&p->x), dense_free(&p->b);
  free(p->pivots);
}

/* Solves with right-hand sides of which every rank has a complete copy. The leading dimension of
 * the copies is one more than necessary. */
static void solve_replicated(const problem *p, int kind, osla_matrix *a, const int64_t *ipiv,
                             const char *label)
{
  osla_dtype dtype = osla_matrix_dtype(a);
  int64_t n = p->x.m, ld = n + 1, wrong = 0;
  void *x = osla_test_allocate(1, (size_t)(ld * p->x.n) * osla_dtype_size(dtype));
  for (int64_t j = 0; j < p->x.n; j++)
    for (int64_t i = 0; i < n; i++) {
      const double *at = dense_at(&p->b, i, j);
      osla_test_store(dtype, x, i + j * ld, p->x.parts == 2 ? at[0] + at[1] * 1.0i : at[0]);
    }
  OSLA_ASSERT_OK(kind < 2 ? osla_potrs_replicated((osla_uplo)kind, a, p->x.n, x, ld)
                          : osla_getrs_replicated(trans_of(kind), a, ipiv, p->x.n, x, ld));
  for (int64_t j = 0; j < p->x.n; j++)
    for (int64_t i = 0; i < n; i++) {
      const double *at = dense_at(&p->x, i, j);
      wrong += osla_test_load(dtype, x, i + j * ld) !=
               (p->x.parts == 2 ? at[0] + at[1] * 1.0i : (osla_complex)at[0]);
    }
  OSLA_ASSERT_MSG(wrong == 0, "replicated, kind %d: %" PRId64 " values differ, %s", kind, wrong,
                  label);
  free(x);
}

static void check_exact(const kernel_matrix *a, const kernel_matrix *b, int kind, uint64_t seed)
{
  osla_layout lb = osla_matrix_layout(b->a);
  problem p = problem_of(kind, lb.m, lb.n, osla_matrix_dtype(a->a), seed);
  int64_t *ipiv = p.pivots ? local_pivots(a->a, p.pivots) : NULL;
  matrix_set(&p.stored, a->a);
  matrix_set(&p.b, b->a);
  OSLA_ASSERT_OK(kind < 2 ? osla_potrs((osla_uplo)kind, a->a, b->a)
                          : osla_getrs(trans_of(kind), a->a, ipiv, b->a));
  kernel_expect(b->a, &p.x, "exact solve of kind %d, %s", kind, solve_label(a, b));
  if (seed % 3 == 0) solve_replicated(&p, kind, a->a, ipiv, solve_label(a, b));
  free(ipiv);
  problem_free(&p);
}

static void test_exact(void)
{
  grid_set g = grids_open();
  int turn = 0;
  for (int which = 0; which < g.n; which++)
    for (int s = 0; s < N_SIZES; s++) {
      if (!solve_turn(which, s)) continue;
      solve_case c = cases_of_sizes[s];
      osla_dtype dtype = (osla_dtype)((which + s + turn / 4) % 4);
      rhs_distribution place =
        turn % 2 ? (rhs_distribution)(turn / 2 % RHS_DISTRIBUTIONS) : FITTING;
      kernel_matrix a = kernel_make(g.at[which], dtype, c.n, c.n, c.nb, c.nb, turn % 3 == 1);
      kernel_matrix b =
        rhs_make(&g, which, dtype, c.n, c.nrhs, c.nb, c.width, place, turn % 3 == 2);
      for (int i = 0; i < (osla_test_size() > 2 ? 2 : 3); i++)
        check_exact(&a, &b, (2 * i + turn) % KINDS, (uint64_t)(turn + 5 * i));
      kernel_matrix triangle = kernel_make_triangle(g.at[which], dtype, c.n, c.nb);
      check_exact(&triangle, &b, 0, (uint64_t)turn);
      kernel_free(&a), kernel_free(&b), kernel_free(&triangle);
      turn++;
    }
  grids_close(&g);
}

static void test_empty(void)
{
  static const solve_case empty[] = {{0, 2, 3, 2}, {9, 2, 0, 2}, {0, 1, 0, 1}};
  grid_set g = grids_open();
  for (int i = osla_test_size() > 2 ? 1 : 0; i < 3; i++) {
    solve_case c = empty[i];
    kernel_matrix a = kernel_make(g.at[0], OSLA_DOUBLE, c.n, c.n, c.nb, c.nb, i & 1);
    kernel_matrix b = kernel_make(g.at[0], OSLA_DOUBLE, c.n, c.nrhs, c.nb, c.width, false);
    for (int kind = i % 2; kind<KINDS; kind += osla_test_size()> 2 ? 4 : 2)
      check_exact(&a, &b, kind, 3);
    kernel_free(&a), kernel_free(&b);
  }
  grids_close(&g);
}

/* There are so many right-hand sides that the interchanges of rows handle several groups of columns
 * and reuse buffers. */
static void test_many(void)
{
  enum { N = 40, NRHS = 60000 };
  grid_set g = grids_open();
  int which = 0;
  while (osla_grid_npcol(g.at[which]) > 1)
    which++;
  kernel_matrix a = kernel_make(g.at[which], OSLA_DOUBLE, N, N, 3, 3, false);
  kernel_matrix b = kernel_make(g.at[which], OSLA_DOUBLE, N, NRHS, 3, 1000, false);
  check_exact(&a, &b, 2, 1);
  check_exact(&a, &b, 3, 2);
  kernel_free(&a), kernel_free(&b);
  grids_close(&g);
}

/* Each rank factors its copy of the matrix by LAPACK, and the factors are distributed. */
static int64_t *factor_by_lapack(osla_matrix *a)
{
  osla_dtype dtype = osla_matrix_dtype(a);
  dense d = dense_gather(a);
  int64_t info = -1, *pivots = osla_test_allocate(1, (size_t)d.n * sizeof *pivots);
  void *array = osla_test_allocate(1, (size_t)(d.n * d.n) * osla_dtype_size(dtype));
  for (int64_t i = 0; i < d.n * d.n; i++)
    osla_test_store(dtype, array, i, d.parts == 2 ? d.at[2 * i] + d.at[2 * i + 1] * 1.0i : d.at[i]);
  OSLA_ASSERT_OK(osla_lapack_getrf(dtype, d.n, d.n, array, d.n, pivots, &info));
  CU_ASSERT(info == 0);
  if (osla_test_rank() == 0) OSLA_ASSERT_OK(osla_matrix_put_block(a, 0, 0, d.n, d.n, array, d.n));
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(osla_matrix_grid(a))));
  int64_t *ipiv = local_pivots(a, pivots);
  free(array), free(pivots), dense_free(&d);
  return ipiv;
}

/* Solves A X = B and checks the scaled residual. If `how` is -2, A is factored by LAPACK's LU; if
 * it is -1, by OSLA's LU without pivoting; otherwise by Cholesky of the triangle `how`. */
static void check_factored(osla_grid *grid, osla_dtype dtype, solve_case c, int how)
{
  double value = -1.0;
  kernel_matrix a = kernel_make(grid, dtype, c.n, c.n, c.nb, c.nb, false);
  kernel_matrix f = kernel_make(grid, dtype, c.n, c.n, c.nb, c.nb, false);
  kernel_matrix b = kernel_make(grid, dtype, c.n, c.nrhs, c.nb, c.width, false);
  kernel_matrix x = kernel_make(grid, dtype, c.n, c.nrhs, c.nb, c.width, true);
  OSLA_ASSERT_OK(osla_matrix_fill(a.a,
                                  how == -2   ? OSLA_FILL_UNIFORM
                                  : how == -1 ? OSLA_FILL_DOMINANT
                                              : OSLA_FILL_SPD,
                                  6));
  OSLA_ASSERT_OK(osla_matrix_fill(b.a, OSLA_FILL_UNIFORM, 7));
  OSLA_ASSERT_OK(osla_matrix_copy(a.a, f.a));
  OSLA_ASSERT_OK(osla_matrix_copy(b.a, x.a));
  if (how == -2) {
    int64_t *ipiv = factor_by_lapack(f.a);
    OSLA_ASSERT_OK(osla_getrs(OSLA_NOTRANS, f.a, ipiv, x.a));
    free(ipiv);
  } else if (how == -1) {
    osla_lu_result result;
    OSLA_ASSERT_OK(osla_getrf(f.a, NULL, &(osla_lu_options){.pivoting = OSLA_PIVOT_NONE}, &result));
    OSLA_ASSERT_OK(osla_getrs(OSLA_NOTRANS, f.a, NULL, x.a));
  } else {
    int64_t info = -1;
    OSLA_ASSERT_OK(osla_potrf((osla_uplo)how, f.a, NULL, &info));
    CU_ASSERT(info == 0);
    OSLA_ASSERT_OK(osla_potrs((osla_uplo)how, f.a, x.a));
  }
  OSLA_ASSERT_OK(osla_residual(a.a, x.a, b.a, &value));
  OSLA_ASSERT_MSG(value < 16.0 && value > 0.0,
                  "%s: |B - A X|_inf / ((|A|_inf |X|_inf + |B|_inf) n eps) = %.3g, how %d",
                  solve_label(&f, &x), value, how);
  kernel_free(&a), kernel_free(&f), kernel_free(&b), kernel_free(&x);
}

static void test_factored(void)
{
  static const solve_case sizes[] = {{37, 5, 3, 2}, {64, 16, 17, 8}, {30, 40, 1, 1}};
  grid_set g = grids_open();
  for (int which = 0; which < g.n; which++)
    for (int s = 0; s < 3; s++)
      for (int how = -2; how <= (int)OSLA_UPPER; how++) {
        if (!solve_turn(which + 2 + how, s)) continue;
        osla_dtype dtype = (which / 2 + s) % 2 ? OSLA_FLOAT : OSLA_DOUBLE;
        if (how == -2) dtype = (osla_dtype)((which + s) % 4);
        check_factored(g.at[which], dtype, sizes[s], how);
      }
  grids_close(&g);
}

static void test_errors(void)
{
  grid_set g = grids_open();
  int64_t pivots[] = {1, 2, 3, 4, 5, 5, 6}, *ipiv;
  kernel_matrix a = kernel_make(g.at[0], OSLA_DOUBLE, 7, 7, 2, 2, false);
  kernel_matrix b = kernel_make(g.at[0], OSLA_DOUBLE, 7, 5, 2, 3, false);
  kernel_matrix tall = kernel_make(g.at[0], OSLA_DOUBLE, 8, 5, 2, 3, false);
  double x[7] = {0};
  OSLA_ASSERT_ERR(osla_potrs(OSLA_UPPER, a.a, tall.a), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("8 rows");
  OSLA_ASSERT_ERR(osla_getrs(OSLA_TRANS, a.a, NULL, tall.a), OSLA_ERR_ARG);
  OSLA_ASSERT_SAME_TEXT();
  pivots[3] = 7;
  ipiv = local_pivots(a.a, pivots);
  OSLA_ASSERT_ERR(osla_getrs(OSLA_NOTRANS, a.a, ipiv, b.a), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("ipiv of row 3 is 8, not from 1 to 7");
  OSLA_ASSERT_SAME_TEXT();
  bool last =
    osla_matrix_local_rows(a.a) > 0 && osla_grid_prow(g.at[0]) == 0 && osla_grid_pcol(g.at[0]) == 0;
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_getrs(OSLA_NOTRANS, a.a, last ? NULL : ipiv, b.a), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("ipiv is NULL on 1 of");
    OSLA_ASSERT_SAME_TEXT();
  }
  kernel_matrix triangle = kernel_make_triangle(g.at[0], OSLA_DOUBLE, 7, 2);
  OSLA_ASSERT_ERR(osla_potrs(OSLA_UPPER, triangle.a, b.a), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("pass OSLA_LOWER");
  OSLA_ASSERT_SAME_TEXT();
  kernel_free(&triangle);
  OSLA_ASSERT_ERR(osla_potrs_replicated(OSLA_LOWER, a.a, 1, x, 6), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("ldx = 6 is below n = 7");
  OSLA_ASSERT_ERR(osla_potrs_replicated(OSLA_LOWER, a.a, -1, x, 7), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("nrhs = -1");
  OSLA_ASSERT_ERR(
    osla_getrs_replicated(OSLA_NOTRANS, a.a, NULL, 1, osla_test_rank() == 0 ? NULL : x, 7),
    OSLA_ERR_ARG);
  OSLA_ASSERT_SAME_TEXT();
  check_exact(&a, &b, 2, 3);
  free(ipiv);
  kernel_free(&a), kernel_free(&b), kernel_free(&tall);
  grids_close(&g);
}

static void stress(const stress_round *r)
{
  int64_t nrhs = osla_test_choose(r->seed, STRESS_FREE, 20);
  int64_t width = 1 + osla_test_choose(r->seed, STRESS_FREE + 1, 6);
  rhs_distribution place =
    (rhs_distribution)osla_test_choose(r->seed, STRESS_FREE + 2, RHS_DISTRIBUTIONS);
  kernel_matrix a = kernel_make(r->grid, r->dtype, r->n, r->n, r->nb, r->nb, r->wrapped);
  kernel_matrix b = rhs_make(r->grids, r->which, r->dtype, r->n, nrhs, r->nb, width, place, false);
  for (int i = 0; i < 3; i++)
    check_exact(&a, &b, (int)osla_test_choose(r->seed, STRESS_FREE + 3 + i, KINDS),
                r->seed + (uint64_t)i);
  kernel_free(&a), kernel_free(&b);
}

static void test_stress(void)
{
  kernel_stress(3, 4000, stress);
}

/* Block width of right-hand sides that are distributed by columns. On one node, so many process
 * columns are used that each has about eight right-hand sides; on several nodes all process columns
 * are used. */
static void test_placing(void)
{
  const struct {
    int64_t nrhs;
    int npcol, nodes;
    int64_t width;
  } cases[] = {{0, 4, 1, 1},  {1, 4, 1, 1},  {4, 4, 1, 4},   {11, 4, 1, 11},
               {12, 4, 1, 6}, {17, 4, 1, 9}, {17, 1, 1, 17}, {64, 4, 1, 16},
               {4, 4, 2, 1},  {17, 4, 2, 5}, {3, 4, 4, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int64_t width = osli_rhs_width(cases[i].nrhs, cases[i].npcol, cases[i].nodes);
    OSLA_ASSERT_MSG(width == cases[i].width,
                    "%" PRId64 " on %d process columns, %d nodes: %" PRId64, cases[i].nrhs,
                    cases[i].npcol, cases[i].nodes, width);
  }
}

static const osla_test_case cases[] = {
  {"exact", test_exact},   {"empty", test_empty},
  {"many", test_many},     {"factored", test_factored},
  {"errors", test_errors}, {"placing", test_placing},
  {"stress", test_stress}, {NULL, NULL},
};
OSLA_TEST_SUITE(test_solve, cases);
