/* Tests of factorisations and solves of parts, compared with those of matrices that consist of the
 * part only. */
#include "osla_chol.h"
#include "osla_index.h"
#include "osla_lu.h"
#include "osla_solve.h"
#include "tests/kernels/parts_reference.h"
#include "tests/osla_test_help.h"

#include <stdlib.h>
#include <string.h>

enum { UNTOUCHED = -77 };

static void for_all(bool square,
                    void (*check)(osla_grid *grid, osla_dtype dtype, part_position p, int turn))
{
  osla_transport *t = osla_test_transport();
  const int n_types = osla_test_size() <= 2 ? 4 : 1;
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    part_position p;
    for (int which = 0; parts_position(which, square, &p); which++)
      for (int type = 0; type < n_types && kernel_turn(g, which); type++)
        check(grid, (osla_dtype)((g + which + type) % 4), p, g + which + type);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static double tolerance(osla_dtype dtype)
{
  return 1e4 * kernel_eps(dtype);
}

/* ---- Cholesky of parts ---- */

static void check_potrf(osla_grid *grid, osla_dtype dtype, part_position p, int turn)
{
  const osla_uplo uplo = turn % 2 ? OSLA_LOWER : OSLA_UPPER;
  osla_matrix *a = parts_make(grid, dtype, PARTS_M, PARTS_N, 4, 4, OSLA_FILL_UNIFORM, 1);
  OSLA_ASSERT_OK(osla_matrix_fill_part(parts_at(a, p), OSLA_FILL_SPD, 3));
  osla_matrix *alone = parts_alone(a, p);
  dense before = dense_gather(a);
  int64_t info = -1, right = -1;
  OSLA_ASSERT_OK(osla_potrf(uplo, alone, NULL, &right));
  OSLA_ASSERT_OK(osla_potrf_part(uplo, parts_at(a, p), NULL, &info));
  CU_ASSERT(info == 0 && right == 0);
  parts_expect(a, &before, p, uplo == OSLA_LOWER ? PARTS_LOWER : PARTS_UPPER, alone,
               tolerance(dtype), "potrf");
  dense_free(&before);
  osla_matrix_destroy(&alone), osla_matrix_destroy(&a);
}

static void test_potrf(void)
{
  for_all(true, check_potrf);
}

/* Factors a part that is not positive definite. info counts the rows of the part, not of the
 * matrix. */
static void test_not_positive(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  for (int k = 0; k < 2; k++) {
    const part_position p = {4 - k, 8 - k, 9, 9};
    osla_matrix *a = parts_make(grid, OSLA_DOUBLE, PARTS_M, PARTS_N, 4, 4, OSLA_FILL_UNIFORM, 1);
    int64_t info = -1;
    OSLA_ASSERT_OK(osla_matrix_fill_part(parts_at(a, p), OSLA_FILL_IDENTITY, 0));
    OSLA_ASSERT_OK(osla_matrix_scale_part(-1, osla_part_at(a, p.i + 5, p.j + 5, 1, 1)));
    OSLA_ASSERT_OK(osla_potrf_part(OSLA_LOWER, parts_at(a, p), NULL, &info));
    CU_ASSERT_EQUAL(info, 6);
    osla_matrix_destroy(&a);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- LU of parts ---- */

static int64_t *new_pivots(const osla_matrix *a)
{
  const int64_t rows = osla_matrix_local_rows(a);
  int64_t *ipiv = osla_test_allocate((size_t)rows + 1, sizeof *ipiv);
  for (int64_t l = 0; l <= rows; l++)
    ipiv[l] = UNTOUCHED;
  return ipiv;
}

/* Gathers on every rank, for each row of the whole matrix, 1 + the row that it was interchanged
 * with; UNTOUCHED for rows without a pivot. */
static void all_pivots(const osla_matrix *a, const int64_t *ipiv, int64_t *all)
{
  const osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  for (int64_t i = 0; i < l.m; i++)
    all[i] = INT64_MIN;
  for (int64_t r = 0; r < osla_matrix_local_rows(a); r++)
    all[osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow)] = ipiv[r];
  MPI_Allreduce(MPI_IN_PLACE, all, (int)l.m, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
}

static void check_pivots(const osla_matrix *a, const int64_t *ipiv, part_position p,
                         const osla_matrix *alone, const int64_t *right)
{
  int64_t is[PARTS_M + 1], should[PARTS_M + 1], wrong = 0;
  const int64_t order = p.m < p.n ? p.m : p.n;
  all_pivots(a, ipiv, is);
  all_pivots(alone, right, should);
  for (int64_t i = 0; i < PARTS_M; i++)
    wrong += is[i] != (i >= p.i && i < p.i + order ? should[i - p.i] + p.i : UNTOUCHED);
  OSLA_ASSERT_MSG(wrong == 0, "%lld pivots are wrong, %s", (long long)wrong,
                  kernel_label(a, false));
}

/* z += x y */
static void add_product(int parts, const double *x, const double *y, double *z)
{
  z[0] += x[0] * y[0] - (parts == 2 ? x[1] * y[1] : 0);
  if (parts == 2) z[1] += x[0] * y[1] + x[1] * y[0];
}

/* Asserts that |P A - L U|_max of the part is small, for any pivots, and that elements outside the
 * part are unchanged. */
static void check_factors(const osla_matrix *a, const dense *before, const int64_t *ipiv,
                          part_position p)
{
  const int64_t order = p.m < p.n ? p.m : p.n;
  int64_t pivots[PARTS_M + 1];
  dense all = dense_gather(a), lu = parts_dense(&all, p), turned = parts_dense(before, p);
  dense l = dense_make(p.m, order, all.parts), u = dense_make(order, p.n, all.parts);
  all_pivots(a, ipiv, pivots);
  for (int64_t s = 0; s < order; s++) {
    const int64_t with = pivots[p.i + s] - 1 - p.i;
    const bool well = with >= s && with < p.m;
    CU_ASSERT(well);
    for (int64_t c = 0; c < p.n * all.parts && well; c++) {
      double *x = dense_at(&turned, s, c / all.parts) + c % all.parts;
      double *y = dense_at(&turned, with, c / all.parts) + c % all.parts, kept = *x;
      *x = *y, *y = kept;
    }
  }
  for (int64_t j = 0; j < p.n; j++)
    for (int64_t i = 0; i < p.m; i++)
      memcpy(i > j ? dense_at(&l, i, j) : dense_at(&u, i, j), dense_at(&lu, i, j),
             (size_t)all.parts * sizeof(double));
  for (int64_t s = 0; s < order; s++)
    *dense_at(&l, s, s) = 1;
  dense product = dense_make(p.m, p.n, all.parts);
  for (int64_t j = 0; j < p.n; j++)
    for (int64_t i = 0; i < p.m; i++)
      for (int64_t s = 0; s < order; s++)
        add_product(all.parts, dense_at(&l, i, s), dense_at(&u, s, j), dense_at(&product, i, j));
  osla_matrix *right = parts_alone(a, p), *found = parts_alone(a, p);
  dense_scatter(&turned, right), dense_scatter(&product, found);
  const part_position whole = {0, 0, p.m, p.n};
  parts_expect(found, &product, whole, PARTS_ALL, right, tolerance(osla_matrix_dtype(a)),
               "P A = L U");
  osla_matrix *factors = parts_alone(a, p);
  parts_expect(a, before, p, PARTS_ALL, factors, 0, "getrf, outside");
  osla_matrix_destroy(&factors), osla_matrix_destroy(&found), osla_matrix_destroy(&right);
  dense_free(&product), dense_free(&l), dense_free(&u);
  dense_free(&turned), dense_free(&lu), dense_free(&all);
}

static void check_getrf(osla_grid *grid, osla_dtype dtype, part_position p, int turn)
{
  const osla_lu_options options = {.pivoting = (osla_pivoting)(turn % 3)};
  const bool none = options.pivoting == OSLA_PIVOT_NONE;
  osla_matrix *a = parts_make(grid, dtype, PARTS_M, PARTS_N, 4, 4, OSLA_FILL_UNIFORM, 1);
  if (none) OSLA_ASSERT_OK(osla_matrix_fill_part(parts_at(a, p), OSLA_FILL_DOMINANT, 2));
  osla_matrix *alone = parts_alone(a, p);
  dense before = dense_gather(a);
  int64_t *ipiv = new_pivots(a), *right = new_pivots(alone);
  osla_lu_result is = {.info = -1}, should = {.info = -2};
  OSLA_ASSERT_OK(osla_getrf(alone, none ? NULL : right, &options, &should));
  OSLA_ASSERT_OK(osla_getrf_part(parts_at(a, p), none ? NULL : ipiv, &options, &is));
  CU_ASSERT(is.info == should.info && is.trusted == should.trusted);
  /* tournament pivots depend on the distribution of the rows, so those of the part may differ from
   * those of the separate matrix */
  if (options.pivoting == OSLA_PIVOT_TOURNAMENT) {
    check_factors(a, &before, ipiv, p);
  } else {
    parts_expect(a, &before, p, PARTS_ALL, alone, tolerance(dtype), "getrf");
    if (!none) check_pivots(a, ipiv, p, alone, right);
  }
  free(ipiv), free(right);
  dense_free(&before);
  osla_matrix_destroy(&alone), osla_matrix_destroy(&a);
}

static void test_getrf(void)
{
  for_all(false, check_getrf);
}

/* ---- solves with parts ---- */

typedef struct equations {
  /* A is a part at position p of matrix a. B is a part at position q of matrix b, which may be
   * equal to a. */
  osla_matrix *a, *b;
  osla_matrix *a_alone, *b_alone;
  part_position p, q;
  dense before;
} equations;

/* Makes a part A and a part B of right-hand sides. If possible, B is in the same matrix as A in
 * every second turn. If `right` is true, A is on the right in the solve, and the rows of B are the
 * right-hand sides. */
static equations make_equations(osla_grid *grid, osla_dtype dtype, part_position p, int turn,
                                bool right, osla_fill fill)
{
  equations e = {.p = p};
  const int64_t nrhs = p.m > 0 ? 5 : 3, at = turn % 3 == 0 ? 4 : 1;
  const bool beside = turn % 2 && !right && p.j + p.m + nrhs + 1 <= PARTS_N;
  e.a = parts_make(grid, dtype, PARTS_M, PARTS_N, 4, 4, OSLA_FILL_UNIFORM, 1);
  OSLA_ASSERT_OK(osla_matrix_fill_part(parts_at(e.a, p), fill, 3));
  e.q = right ? (part_position){at, p.j, nrhs, p.m} : (part_position){p.i, at, p.m, nrhs};
  if (beside) {
    e.q.j = p.j + p.m + 1;
    e.b = e.a;
  } else if (right) {
    e.b = parts_make(grid, dtype, PARTS_M, PARTS_N, 3, 4, OSLA_FILL_UNIFORM, 2);
  } else {
    e.b = parts_make(grid, dtype, PARTS_M, PARTS_N, turn % 5 == 0 ? 3 : 4, 2, OSLA_FILL_UNIFORM, 2);
  }
  e.a_alone = parts_alone(e.a, e.p);
  e.b_alone = parts_alone(e.b, e.q);
  return e;
}

static void finish_equations(equations *e, const char *what)
{
  const double tol = tolerance(osla_matrix_dtype(e->a));
  parts_expect(e->b, &e->before, e->q, PARTS_ALL, e->b_alone, tol, what);
  dense_free(&e->before);
  osla_matrix_destroy(&e->a_alone), osla_matrix_destroy(&e->b_alone);
  if (e->b != e->a) osla_matrix_destroy(&e->b);
  osla_matrix_destroy(&e->a);
}

static void check_trsm(osla_grid *grid, osla_dtype dtype, part_position p, int turn)
{
  const osla_side side = turn % 4 == 3 ? OSLA_RIGHT : OSLA_LEFT;
  const osla_uplo uplo = turn / 2 % 2 ? OSLA_LOWER : OSLA_UPPER;
  const osla_trans trans = (osla_trans)(turn % 3);
  equations e = make_equations(grid, dtype, p, turn, side == OSLA_RIGHT, OSLA_FILL_DOMINANT);
  e.before = dense_gather(e.b);
  OSLA_ASSERT_OK(osla_trsm(side, uplo, trans, OSLA_NONUNIT, 2, e.a_alone, e.b_alone));
  OSLA_ASSERT_OK(
    osla_trsm_part(side, uplo, trans, OSLA_NONUNIT, 2, parts_at(e.a, e.p), parts_at(e.b, e.q)));
  finish_equations(&e, "trsm");
}

static void test_trsm(void)
{
  for_all(true, check_trsm);
}

static void check_potrs(osla_grid *grid, osla_dtype dtype, part_position p, int turn)
{
  const osla_uplo uplo = turn % 2 ? OSLA_LOWER : OSLA_UPPER;
  equations e = make_equations(grid, dtype, p, turn, false, OSLA_FILL_SPD);
  int64_t info;
  OSLA_ASSERT_OK(osla_potrf(uplo, e.a_alone, NULL, &info));
  OSLA_ASSERT_OK(osla_potrf_part(uplo, parts_at(e.a, e.p), NULL, &info));
  e.before = dense_gather(e.b);
  OSLA_ASSERT_OK(osla_potrs(uplo, e.a_alone, e.b_alone));
  OSLA_ASSERT_OK(osla_potrs_part(uplo, parts_at(e.a, e.p), parts_at(e.b, e.q)));
  finish_equations(&e, "potrs");
}

static void test_potrs(void)
{
  for_all(true, check_potrs);
}

/* Reverses the rows of a part that is diagonally dominant, so that no pivot is on the diagonal. */
static void turn_rows(osla_matrix *a, part_position p)
{
  dense all = dense_gather(a), mine = parts_dense(&all, p);
  for (int64_t j = 0; j < p.n; j++)
    for (int64_t i = 0; i < p.m; i++)
      for (int c = 0; c < all.parts; c++)
        dense_at(&all, p.i + i, p.j + j)[c] = dense_at(&mine, (i + p.m - 1) % p.m, j)[c];
  dense_scatter(&all, a);
  dense_free(&all), dense_free(&mine);
}

static void check_getrs(osla_grid *grid, osla_dtype dtype, part_position p, int turn)
{
  const osla_trans trans = (osla_trans)(turn % 3);
  equations e = make_equations(grid, dtype, p, turn, false, OSLA_FILL_DOMINANT);
  osla_lu_result result;
  turn_rows(e.a, e.p);
  osla_matrix_destroy(&e.a_alone);
  e.a_alone = parts_alone(e.a, e.p);
  int64_t *ipiv = new_pivots(e.a), *right = new_pivots(e.a_alone);
  OSLA_ASSERT_OK(osla_getrf(e.a_alone, right, NULL, &result));
  OSLA_ASSERT_OK(osla_getrf_part(parts_at(e.a, e.p), ipiv, NULL, &result));
  e.before = dense_gather(e.b);
  OSLA_ASSERT_OK(osla_getrs(trans, e.a_alone, right, e.b_alone));
  OSLA_ASSERT_OK(osla_getrs_part(trans, parts_at(e.a, e.p), ipiv, parts_at(e.b, e.q)));
  finish_equations(&e, "getrs");
  free(ipiv), free(right);
}

static void test_getrs(void)
{
  for_all(true, check_getrs);
}

/* ---- errors of calls on parts ---- */

static void expect_text(osla_err err, const char *text)
{
  CU_ASSERT_EQUAL(err, OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport(), *other = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0), *far = kernel_grid(other, 0);
  osla_matrix *a = parts_make(grid, OSLA_DOUBLE, 9, 9, 2, 2, OSLA_FILL_DOMINANT, 1);
  osla_matrix *w = parts_make(grid, OSLA_DOUBLE, 9, 9, 2, 3, OSLA_FILL_DOMINANT, 1);
  osla_matrix *z = parts_make(far, OSLA_DOUBLE, 9, 9, 2, 2, OSLA_FILL_UNIFORM, 1);
  const osla_part good = osla_part_at(a, 0, 0, 4, 4), bad = osla_part_at(a, 6, 1, 4, 4);
  const osla_part b = osla_part_at(a, 4, 4, 4, 3), over = osla_part_at(a, 3, 3, 4, 3);
  const osla_diag diag = OSLA_NONUNIT;
  int64_t *ipiv = new_pivots(a), info;
  osla_lu_result r;
  dense before = dense_gather(a);
  expect_text(osla_potrf_part(OSLA_LOWER, bad, NULL, &info), "potrf: part of 4 x 4 at (6, 1)");
  expect_text(osla_potrf_part(OSLA_LOWER, osla_part_at(a, 0, 0, 3, 4), NULL, &info), "not square");
  expect_text(osla_potrf_part(OSLA_LOWER, osla_part_at(w, 0, 0, 4, 4), NULL, &info), "2 x 3");
  expect_text(osla_potrf_part((osla_uplo)5, good, NULL, &info), "uplo = 5");
  expect_text(osla_getrf_part(bad, ipiv, NULL, &r), "getrf: part of 4 x 4 at (6, 1)");
  expect_text(osla_getrf_part(osla_part_at(w, 2, 3, 4, 4), ipiv, NULL, &r), "2 x 3");
  expect_text(osla_getrf_part(osla_part_at(a, 0, 0, 9, 9), NULL, NULL, &r), "ipiv is NULL");
  expect_text(osla_getrf_part(osla_part_at(a, 1, 1, 8, 8), NULL, NULL, &r), "ipiv is NULL");
  expect_text(osla_trsm_part(OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, diag, 1, bad, b), "matrix A");
  expect_text(osla_trsm_part(OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, diag, 1, good, bad), "matrix B");
  expect_text(osla_trsm_part(OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, diag, 1, good, over),
              "trsm: B overlaps A");
  expect_text(osla_trsm_part(OSLA_RIGHT, OSLA_LOWER, OSLA_TRANS, diag, 1, good, b),
              "B has 3 columns, A is of order 4");
  expect_text(
    osla_trsm_part(OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, diag, 1, osla_part_at(z, 0, 0, 4, 4), b),
    "trsm: A and B belong to different transports");
  expect_text(osla_potrs_part(OSLA_LOWER, good, over), "potrs: B overlaps A");
  expect_text(osla_getrs_part(OSLA_NOTRANS, good, ipiv, over), "getrs: B overlaps A");
  expect_text(osla_getrs_part(OSLA_NOTRANS, good, ipiv, b), "getrs: pivot -77 of row 0");
  const int64_t *some = osla_grid_prow(grid) + osla_grid_pcol(grid) == 0 ? NULL : ipiv;
  if (osla_test_size() > 1)
    expect_text(
      osla_getrs_part(OSLA_NOTRANS, osla_part_at(a, 0, 0, 9, 9), some, osla_part_at(w, 0, 0, 9, 1)),
      "getrs: ipiv is NULL on 1 of");
  dense after = dense_gather(a);
  CU_ASSERT(memcmp(before.at, after.at, 81 * sizeof(double)) == 0);
  dense_free(&before), dense_free(&after);
  free(ipiv);
  osla_matrix_destroy(&a), osla_matrix_destroy(&w), osla_matrix_destroy(&z);
  osla_grid_destroy(&grid), osla_grid_destroy(&far);
  osla_transport_destroy(&other), osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"potrf", test_potrf},   {"not_positive", test_not_positive},
  {"getrf", test_getrf},   {"trsm", test_trsm},
  {"potrs", test_potrs},   {"getrs", test_getrs},
  {"errors", test_errors}, {NULL, NULL},
};
OSLA_TEST_SUITE(test_solve_parts, cases);
