/* Tests of LU for accumulated Hessians and for matrices that are known to be difficult: matrices
 * with growth or bad scaling, near-singular and symmetric matrices, and matrices with numbers near
 * the ends of the range, NaN or infinity. Every run must end with the same result on all ranks. */
#include "osla_chol.h"
#include "osla_hessian.h"
#include "tests/kernels/lu_reference.h"
#include "tests/osla_test_help.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { N = 41, NB = 6 };

static osla_complex wilkinson(int64_t i, int64_t j, uint64_t seed)
{
  (void)seed;
  return i == j || j == N - 1 ? 1.0 : i > j ? -1.0 : 0.0;
}

static osla_complex hilbert(int64_t i, int64_t j, uint64_t seed)
{
  (void)seed;
  return 1.0 / (double)(i + j + 1);
}

static osla_complex graded_rows(int64_t i, int64_t j, uint64_t seed)
{
  return lu_uniform(i, j, seed) * pow(10.0, -(double)(i % 21));
}

static osla_complex graded_columns(int64_t i, int64_t j, uint64_t seed)
{
  return lu_uniform(i, j, seed) * pow(10.0, -(double)(j % 21));
}

/* Matrix elements near the ends of the range of double; for the float types near 1e30 and its
 * reciprocal. */
static osla_complex scaled(int64_t i, int64_t j, uint64_t seed, double wide, double narrow)
{
  return lu_uniform(i, j, seed / 2) * (seed % 2 ? narrow : wide);
}

static osla_complex huge(int64_t i, int64_t j, uint64_t seed)
{
  return scaled(i, j, seed, 1e300, 1e30);
}

static osla_complex tiny(int64_t i, int64_t j, uint64_t seed)
{
  return scaled(i, j, seed, 1e-300, 1e-30);
}

static osla_complex both_ends(int64_t i, int64_t j, uint64_t seed)
{
  return j % 2 ? huge(i, j, seed) : tiny(i, j, seed);
}

/* Matrix elements below the smallest normal number. The reciprocal of a pivot is infinite, and
 * xGETRF of OpenBLAS 0.3.21 multiplies by it (LAPACK's own xGETRF divides). So the test only
 * requires that the call ends with the same result on all ranks. */
static osla_complex subnormal(int64_t i, int64_t j, uint64_t seed)
{
  return scaled(i, j, seed, 0x1p-1030, 0x1p-130);
}

/* Element (i, j) of a random Hermitian matrix, which is symmetric for real types; diagonal elements
 * are real. */
static osla_complex hermitian(int64_t i, int64_t j, uint64_t seed)
{
  osla_complex x = lu_uniform(i < j ? i : j, i < j ? j : i, seed);
  return i < j ? x : i > j ? conj(x) : creal(x);
}

static osla_complex definite(int64_t i, int64_t j, uint64_t seed)
{
  return hermitian(i, j, seed) + (i == j ? (double)N : 0.0);
}

static osla_complex indefinite(int64_t i, int64_t j, uint64_t seed)
{
  return i == j ? 0.0 : hermitian(i, j, seed);
}

static osla_complex signs(int64_t i, int64_t j, uint64_t seed)
{
  return creal(lu_uniform(i, j, seed)) < 0.0 ? -1.0 : 1.0;
}

typedef struct hard_case {
  const char *name;
  lu_element *f;
  bool stable; /* true if the residual is bounded by |A| also with tournament pivoting */
  /* expected value of `trusted` without pivoting: 1 for true, 0 for false, -1 for either */
  int unpivoted;
} hard_case;

static const hard_case list[] = {{"Wilkinson's growth", wilkinson, false, 0},
                                 {"Hilbert", hilbert, true, -1},
                                 {"graded rows", graded_rows, true, -1},
                                 {"graded columns", graded_columns, true, -1},
                                 {"huge", huge, true, -1},
                                 {"tiny", tiny, true, -1},
                                 {"huge and tiny columns", both_ends, true, -1},
                                 {"subnormal", subnormal, false, 0},
                                 {"positive definite", definite, true, 1},
                                 {"indefinite", indefinite, true, 0},
                                 {"signs", signs, true, -1}};
enum { N_CASES = sizeof list / sizeof list[0] };

static bool is_narrow(osla_dtype dtype)
{
  return dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
}

static void check_partial(const lu_run *r, const hard_case *c)
{
  lu_lapack lapack = lu_lapack_make(&r->before, r->dtype);
  bool wilkinsons = c->f == wilkinson;
  OSLA_ASSERT_MSG(c->f == subnormal || r->result.info == lapack.info,
                  "%s: info %" PRId64 ", LAPACK's %" PRId64, r->label, r->result.info, lapack.info);
  if (c->f != subnormal) {
    (void)lu_expect_backward(r);
    (void)lu_expect_bounded(r);
  }
  if (c->stable) (void)lu_expect_small(r);
  if ((lapack.clear && c->f != subnormal) || wilkinsons)
    (void)lu_expect_pivots(r, lapack.pivots, "LAPACK's");
  if (c->f == signs) OSLA_ASSERT_MSG(r->pivots[0] == 0, "%s: not the first row", r->label);
  if (wilkinsons) /* every elimination step is exact, and element i of the last column of U is 2^i
                   */
    for (int64_t i = 0; i < N; i++)
      OSLA_ASSERT_CLOSE(*dense_at(&r->after, i, N - 1), ldexp(1.0, (int)i), 0.0);
  lu_lapack_free(&lapack);
}

static void check_hard(kernel_matrix *a, const hard_case *c, int variant)
{
  osla_dtype dtype = osla_matrix_dtype(a->a);
  /* even seed for the double types, odd seed for the float types */
  uint64_t seed = 20 + (is_narrow(dtype) ? 1 : 0);
  dense d = lu_make(N, N, dtype, c->f, seed);
  lu_run r = lu_run_make(a, &d, OSLA_PIVOT_PARTIAL, lu_look_ahead(variant), c->name);
  check_partial(&r, c);
  OSLA_ASSERT_MSG(c->f != subnormal || !r.result.trusted, "%s: trusted", r.label);
  lu_run_free(&r);
  r = lu_run_make(a, &d, OSLA_PIVOT_TOURNAMENT, lu_look_ahead(variant + 1), c->name);
  if (r.result.info == 0 && c->f != subnormal) (void)lu_expect_backward(&r);
  if (r.result.info == 0 && c->stable) (void)lu_expect_small(&r);
  (void)lu_expect_growth(&r);
  lu_run_free(&r);
  if (c->unpivoted >= 0) {
    r = lu_run_make(a, &d, OSLA_PIVOT_NONE, lu_look_ahead(variant + 2), c->name);
    OSLA_ASSERT_MSG(r.result.trusted == c->unpivoted, "%s: info %" PRId64 ", growth %g, trusted %d",
                    r.label, r.result.info, r.result.growth, r.result.trusted);
    (void)lu_expect_growth(&r);
    if (r.result.info == 0 && c->f != subnormal) (void)lu_expect_backward(&r);
    lu_run_free(&r);
  }
  dense_free(&d);
}

static void test_hard(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    if (osla_test_size() <= 2 || g % 2 == 1) {
      osla_dtype dtype = (osla_dtype)((g / 2 + 1) % 4);
      kernel_matrix a = kernel_make(grid, dtype, N, N, NB, NB, g % 3 == 0);
      for (int s = 0; s < N_CASES; s++)
        if (lu_turn(t, g, s)) check_hard(&a, &list[s], g + s);
      kernel_free(&a);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Runs every case in every type on the most square grid. */
static void test_all_types(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, kernel_n_grids(t) > 2 ? 1 : 0);
  int step = osla_test_size() <= 2 ? 1 : 4;
  for (int d = 0; d < 4; d++) {
    kernel_matrix a = kernel_make(grid, (osla_dtype)d, N, N, NB, NB, false);
    for (int s = d % step; s < N_CASES; s += step)
      check_hard(&a, &list[s], d + s);
    kernel_free(&a);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- matrices with a NaN or an infinity ---- */

enum { TALL = 37, COLS = 29 };

/* Asserts that the factorisation ends with one result and valid pivots (checked by lu_run_make),
 * and that it reports an error: for a NaN always, for an infinity if the growth is computed. */
static void check_poisoned(kernel_matrix *a, double poison, int64_t i, int64_t j, int variant)
{
  char name[64];
  dense d = lu_make(TALL, COLS, osla_matrix_dtype(a->a), lu_uniform, 8);
  (void)snprintf(name, sizeof name, "%g at (%" PRId64 ", %" PRId64 ")", poison, i, j);
  if (i < 0) (void)snprintf(name, sizeof name, "all %g", poison);
  for (int64_t k = 0; k < TALL * COLS; k++)
    if (i < 0 || k == i + j * TALL) d.at[k * d.parts] = poison;
  for (int pivoting = OSLA_PIVOT_PARTIAL; pivoting <= OSLA_PIVOT_NONE; pivoting++) {
    lu_run r = lu_run_make(a, &d, (osla_pivoting)pivoting, lu_look_ahead(variant), name);
    int64_t latest = i < 0 ? 1 : j + 1, block = (latest - 1) / NB * NB;
    if (isnan(poison))
      OSLA_ASSERT_MSG(r.result.info <= latest &&
                        r.result.info > (pivoting == OSLA_PIVOT_PARTIAL ? latest - 1 : block),
                      "%s: info %" PRId64, r.label, r.result.info);
    if (isnan(poison) || pivoting != OSLA_PIVOT_PARTIAL)
      OSLA_ASSERT_MSG(!r.result.trusted, "%s: info %" PRId64 ", growth %g", r.label, r.result.info,
                      r.result.growth);
    lu_run_free(&r);
  }
  dense_free(&d);
}

static void test_nan(void)
{
  static const int64_t at[][2] = {{0, 0},   {TALL - 1, 0}, {0, COLS - 1}, {TALL - 1, COLS - 1},
                                  {15, 14}, {14, 15},      {-1, -1}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    if (osla_test_size() <= 2 || g % 2 == 0) {
      osla_dtype dtype = (osla_dtype)(g / 2 % 4);
      kernel_matrix a = kernel_make(grid, dtype, TALL, COLS, NB, NB, g % 3 == 1);
      for (int s = 0; s < 14; s++) {
        const int64_t *place = at[s / 2];
        if (lu_turn(t, g, s))
          check_poisoned(&a, (double)(s % 2 ? INFINITY : NAN), place[0], place[1], g + s);
      }
      kernel_free(&a);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* ---- accumulated Hessians ---- */

/* Accumulates a Hessian as the command osla assemble does: each datum is a path through some
 * unknowns, and the diagonal is increased (damped). If `indefinite` is true, a negative term for
 * every third unknown exceeds the data and the damping. */
static osla_hessian *assemble(osla_grid *grid, osla_dtype dtype, bool indefinite)
{
  enum { PATHS = 60, LENGTH = 9 };
  osla_hessian_options o = {0};
  osla_hessian *h = NULL;
  o.single = dtype == OSLA_FLOAT, o.nb = NB, o.ring_bytes = 1 << 20;
  OSLA_ASSERT_OK(osla_hessian_create(grid, N, &o, &h));
  for (int64_t path = osla_test_rank(); path < PATHS; path += osla_test_size()) {
    double g[LENGTH];
    int64_t ix[LENGTH];
    for (int64_t i = 0; i < LENGTH; i++) {
      ix[i] = (5 * path + i * (1 + path % 3)) % N;
      osla_test_store(dtype, g, i, 0.6 + creal(lu_uniform(path, i, 31)));
    }
    OSLA_ASSERT_OK(osla_hessian_update(h, LENGTH, ix, 1, g, 1));
  }
  for (int64_t i = osla_test_rank(); i < N; i += osla_test_size()) {
    double damping[1];
    osla_test_store(dtype, damping, 0, indefinite && i % 3 == 0 ? -25.0 : 0.5);
    OSLA_ASSERT_OK(osla_hessian_update_block(h, 1, &i, 1, &i, damping, 1));
  }
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  return h;
}

/* Factors a Hessian in the memory of the accumulator by LU, which must find LAPACK's pivots. A
 * positive definite Hessian is also factored by Cholesky, and by LU without pivoting. For an
 * indefinite one, Cholesky must report an error. */
static void check_hessian(osla_grid *grid, osla_dtype dtype, bool indefinite, int look_ahead)
{
  osla_hessian *h = assemble(grid, dtype, indefinite);
  kernel_matrix a = {0};
  int64_t info = -1;
  OSLA_ASSERT_OK(osla_hessian_matrix(h, &a.a));
  OSLA_ASSERT_OK(osla_matrix_mirror(a.a, OSLA_LOWER));
  dense content = dense_gather(a.a);
  lu_lapack lapack = lu_lapack_make(&content, dtype);
  lu_run r = lu_run_make(&a, &content, OSLA_PIVOT_PARTIAL, look_ahead, "Hessian");
  OSLA_ASSERT_MSG(r.result.info == 0 && r.result.trusted && lapack.clear, "%s", r.label);
  (void)lu_expect_pivots(&r, lapack.pivots, "LAPACK's");
  (void)lu_expect_backward(&r);
  (void)lu_expect_small(&r);
  lu_run_free(&r);
  if (!indefinite) {
    r = lu_run_make(&a, &content, OSLA_PIVOT_NONE, look_ahead, "Hessian");
    OSLA_ASSERT_MSG(r.result.trusted && r.result.growth <= 1.0, "%s: growth %g", r.label,
                    r.result.growth);
    (void)lu_expect_small(&r);
    lu_run_free(&r);
  }
  dense_scatter(&content, a.a);
  OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, a.a, NULL, &info));
  OSLA_ASSERT_MSG((info > 0) == indefinite, "indefinite %d: Cholesky's info %" PRId64, indefinite,
                  info);
  lu_lapack_free(&lapack);
  dense_free(&content);
  osla_hessian_destroy(&h);
}

static void test_hessians(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < 4; s++) /* element type; whether the Hessian is indefinite */
      if (lu_turn(t, g, s))
        check_hessian(grid, s % 2 ? OSLA_FLOAT : OSLA_DOUBLE, s / 2, lu_look_ahead(g));
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"hard", test_hard}, {"all_types", test_all_types},
  {"nan", test_nan},   {"hessians", test_hessians},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_lu_hard, cases);
