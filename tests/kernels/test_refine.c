/* Tests of the scaled residual, of iterative refinement, and of solves in mixed precision. */
#include "osla_chol.h"
#include "osla_lu.h"
#include "osla_solve.h"
#include "tests/failing_allocation.h"
#include "tests/kernels/solve_reference.h"

#include <math.h>
#include <string.h>

static double one_or_odd(int64_t i, int64_t j, void *arg)
{
  return i == 3 && j == 1 ? *(const double *)arg : 1.0;
}

/* The scaled residual has the right value for a known error, and a large value for wrong solutions.
 */
static void test_residual(void)
{
  enum { N = 20, NRHS = 2 };
  grid_set g = grids_open();
  const int step = osla_test_size() > 2 ? 3 : 1;
  for (int k = 0; k < 4; k += step) {
    osla_dtype dtype = (osla_dtype)k;
    double value = -1.0, odd = 1.0, eps = kernel_eps(dtype);
    kernel_matrix a = kernel_make(g.at[0], dtype, N, N, 3, 4, k & 1);
    kernel_matrix x = kernel_make(g.at[0], dtype, N, NRHS, 2, 1, false);
    kernel_matrix b = kernel_make(g.at[g.n - 1], dtype, N, NRHS, 5, 1, k & 2);
    OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_IDENTITY, 0));
    OSLA_ASSERT_OK(osla_matrix_fill_with(x.a, one_or_odd, &odd));
    OSLA_ASSERT_OK(osla_matrix_fill_with(b.a, one_or_odd, &odd));
    OSLA_ASSERT_OK(osla_residual(a.a, x.a, b.a, &value));
    OSLA_ASSERT_CLOSE(value, 0.0, 0.0);
    odd = 1.5; /* column 1 has |b - A x| = 0.5, |A| = 1, |x| = 1, |b| = 1.5 */
    OSLA_ASSERT_OK(osla_matrix_fill_with(b.a, one_or_odd, &odd));
    OSLA_ASSERT_OK(osla_residual(a.a, x.a, b.a, &value));
    OSLA_ASSERT_CLOSE(value * N * eps, 0.5 / 2.5, 1e-6);
    odd = (double)NAN;
    OSLA_ASSERT_OK(osla_matrix_fill_with(x.a, one_or_odd, &odd));
    OSLA_ASSERT_OK(osla_residual(a.a, x.a, b.a, &value));
    OSLA_ASSERT_MSG(isnan(value), "residual %g with a NaN in X", value);
    odd = (double)INFINITY;
    OSLA_ASSERT_OK(osla_matrix_fill_with(x.a, one_or_odd, &odd));
    OSLA_ASSERT_OK(osla_residual(a.a, x.a, b.a, &value));
    OSLA_ASSERT_MSG(!(value <= 16.0), "residual %g with an infinity in X", value);
    kernel_free(&a), kernel_free(&x), kernel_free(&b);
  }
  grids_close(&g);
}

/* Test matrices. Four are symmetric positive definite: EASY is well conditioned; HARD is Hilbert's
 * matrix plus a small multiple of the identity (condition about 1e5); HILBERT is Hilbert's matrix
 * (condition about 1e19, too large for float); GRADED has elements from 1 to 1e-60, which float
 * cannot represent. PIVOTS is not symmetric and has zeros on the diagonal, so that LU without
 * pivoting fails. */
typedef enum kind { EASY, HARD, HILBERT, GRADED, PIVOTS } kind;

static double element(int64_t i, int64_t j, kind k)
{
  double h = 1.0 / (double)(i + j + 1);
  switch (k) {
    case EASY: return i == j ? 4.0 : h;
    case HARD: return h + (i == j ? 1e-5 : 0.0);
    case HILBERT: return h + (i == j ? 1e-12 : 0.0);
    case PIVOTS: return j == (i + 1) % 30 ? 4.0 : i == j ? 0.0 : 0.1 * h;
    case GRADED: return (i == j ? 4.0 : h) * pow(10.0, -2.0 * (double)(i + j));
  }
  return 0.0;
}

static double right_hand_side(int64_t i, int64_t j, kind k)
{
  double b = (double)((7 * i + 3 * j) % 5 - 2) + 0.25;
  return k == GRADED ? b * pow(10.0, -2.0 * (double)i) : j == 1 ? b * 1e-60 : b;
}

/* Fills A if `matrix` is true, and B otherwise. For complex types, A and B are replaced by D A D^H
 * and D B with a diagonal D of elements exp(i k), k = 0, 1, ..., so that the condition is
 * unchanged, and D A D^H is Hermitian if A is symmetric. */
static void fill(osla_matrix *a, kind k, bool matrix)
{
  osla_layout l = osla_matrix_layout(a);
  dense d = dense_make(l.m, l.n, parts_of(osla_matrix_dtype(a)));
  for (int64_t j = 0; j < l.n; j++)
    for (int64_t i = 0; i < l.m; i++) {
      double value = matrix ? element(i, j, k) : right_hand_side(i, j, k);
      double angle = (double)(matrix ? i - j : i);
      if (d.parts == 2) dense_at(&d, i, j)[1] = value * sin(angle);
      dense_at(&d, i, j)[0] = d.parts == 2 ? value * cos(angle) : value;
    }
  matrix_set(&d, a);
  dense_free(&d);
}

typedef struct system {
  kernel_matrix a, f, b, x;
} system_of;

/* Layout of the matrices A and F of a system: full or triangular. */
typedef enum layout { FULL, TRIANGLE } layout;

static kernel_matrix make_square(osla_grid *grid, osla_dtype dtype, int64_t n, int64_t nb, layout l)
{
  return l == TRIANGLE ? kernel_make_triangle(grid, dtype, n, nb)
                       : kernel_make(grid, dtype, n, n, nb, nb, false);
}

static system_of make_system(const grid_set *g, int which, osla_dtype dtype, kind k, int64_t n,
                             int64_t nb, rhs_distribution place, layout l)
{
  const int64_t nrhs = which % 2 ? 3 : 1;
  system_of s = {.a = make_square(g->at[which], dtype, n, nb, l),
                 .f = make_square(g->at[which], dtype, n, nb, l),
                 .b = kernel_make(g->at[which], dtype, n, nrhs, nb, 2, true),
                 .x = rhs_make(g, which, dtype, n, nrhs, nb, 1, place, false)};
  fill(s.a.a, k, true);
  fill(s.b.a, k, false);
  OSLA_ASSERT_OK(osla_matrix_copy(s.a.a, s.f.a));
  return s;
}

static void free_system(system_of *s)
{
  kernel_free(&s->a), kernel_free(&s->f), kernel_free(&s->b), kernel_free(&s->x);
}

/* Asserts that the scaled residual of X is the `reported` one, and below `limit`. */
static void expect_solved(const system_of *s, double reported, double limit, const char *what)
{
  double value = -1.0;
  OSLA_ASSERT_OK(osla_residual(s->a.a, s->x.a, s->b.a, &value));
  OSLA_ASSERT_MSG(value <= limit, "%s: scaled residual %.3g, not below %g", what, value, limit);
  OSLA_ASSERT_MSG(fabs(value - reported) <= 0.5 * limit, "%s: residual %.3g, reported %.3g", what,
                  value, reported);
}

static void check_refine(const grid_set *g, int which, osla_dtype dtype, kind k, bool cholesky,
                         layout l)
{
  system_of s =
    make_system(g, which, dtype, k, 30, 4, (rhs_distribution)(which % RHS_DISTRIBUTIONS), l);
  const osla_uplo uplo = l == TRIANGLE ? OSLA_LOWER : OSLA_UPPER;
  osla_factors factors = osla_factors_cholesky(s.f.a, uplo);
  osla_refine_result result;
  double before;
  if (cholesky) {
    int64_t info = -1;
    OSLA_ASSERT_OK(osla_potrf(uplo, s.f.a, NULL, &info));
    CU_ASSERT(info == 0);
  } else {
    osla_lu_result lu;
    OSLA_ASSERT_OK(osla_getrf(s.f.a, NULL, &(osla_lu_options){.pivoting = OSLA_PIVOT_NONE}, &lu));
    factors = osla_factors_lu(s.f.a, NULL);
  }
  fill(s.x.a, k, false); /* an initial X that is far from the solution */
  OSLA_ASSERT_OK(osla_residual(s.a.a, s.x.a, s.b.a, &before));
  OSLA_ASSERT_OK(osla_refine(s.a.a, &factors, s.b.a, s.x.a, NULL, &result));
  OSLA_ASSERT_MSG(result.converged && result.iterations >= 1 && before > 1e3,
                  "kind %d: converged %d, iterations %d, from %g to %g", (int)k, result.converged,
                  result.iterations, before, result.residual);
  expect_solved(&s, result.residual, 1.0, "refined");
  OSLA_ASSERT_OK(osla_refine(s.a.a, &factors, s.b.a, s.x.a, NULL, &result));
  CU_ASSERT(result.iterations == 0); /* the initial X is already accurate enough */
  /* with the factors of another matrix, X must stay unchanged if osla_refine cannot improve it */
  OSLA_ASSERT_OK(osla_matrix_fill(s.f.a, OSLA_FILL_IDENTITY, 0));
  osla_refine_options exact = {.target = 1e-9};
  OSLA_ASSERT_OK(osla_refine(s.a.a, &factors, s.b.a, s.x.a, &exact, &result));
  CU_ASSERT(!result.converged || result.residual == 0.0);
  expect_solved(&s, result.residual, 1.0, "not spoiled");
  free_system(&s);
}

static void test_refine(void)
{
  grid_set g = grids_open();
  int runs = 0;
  for (int which = 0; which < g.n; which++)
    for (int k = EASY; k <= HARD; k++)
      for (int type = 0; type < (osla_test_size() > 2 ? 1 : 2); type++, runs++) {
        bool is_complex = (which / 2 + runs) % 2;
        osla_dtype single = is_complex ? OSLA_COMPLEX_FLOAT : OSLA_FLOAT;
        osla_dtype wide = is_complex ? OSLA_COMPLEX_DOUBLE : OSLA_DOUBLE;
        if (!solve_turn(which, 5 + k)) continue;
        check_refine(&g, which, k == EASY ? single : wide, (kind)k, (which + k) % 2, FULL);
        check_refine(&g, which, k == EASY ? single : wide, (kind)k, true, TRIANGLE);
      }
  grids_close(&g);
}

static void check_mixed(const grid_set *g, int which, osla_dtype dtype, kind k, bool cholesky,
                        layout l)
{
  system_of s =
    make_system(g, which, dtype, k, 30, 4, (rhs_distribution)(which % RHS_DISTRIBUTIONS), l);
  osla_mixed_result r;
  OSLA_ASSERT_OK(cholesky ? osla_posv_mixed(OSLA_LOWER, s.a.a, s.b.a, s.x.a, NULL, &r)
                          : osla_gesv_mixed(s.a.a, s.b.a, s.x.a, NULL, &r));
  bool single = r.path == OSLA_MIXED_SINGLE;
  OSLA_ASSERT_MSG(single == (k <= HARD || k == PIVOTS), "kind %d: path %d", (int)k, (int)r.path);
  OSLA_ASSERT_MSG(r.info == 0 && r.refine.converged && r.refine.iterations <= (single ? 30 : 3),
                  "kind %d: info %d, converged %d, %d iterations", (int)k, (int)r.info,
                  r.refine.converged, r.refine.iterations);
  OSLA_ASSERT_MSG(!single ||
                    (r.single_iterations >= 2 && r.single_iterations <= (k == EASY ? 5 : 25)),
                  "kind %d: %d iterations in single precision", (int)k, r.single_iterations);
  expect_solved(&s, r.refine.residual, 1.0, "mixed");
  OSLA_ASSERT_OK(osla_matrix_add(-1.0, s.a.a, 1.0, s.f.a)); /* the solve has not changed A */
  double difference = -1.0;
  OSLA_ASSERT_OK(osla_matrix_norm(s.f.a, OSLA_NORM_MAX, &difference));
  OSLA_ASSERT_CLOSE(difference, 0.0, 0.0);
  free_system(&s);
}

static void test_mixed(void)
{
  grid_set g = grids_open();
  for (int which = 0; which < g.n; which++)
    for (int k = EASY; k <= PIVOTS; k++)
      for (int type = 0; type < 2; type++) {
        bool turn = osla_test_size() <= 2 || type == (which / 2 + k) % 2;
        const osla_dtype dtype = type ? OSLA_COMPLEX_DOUBLE : OSLA_DOUBLE;
        if (!turn || !solve_turn(which, k == PIVOTS ? 1 : 3 + 3 * k)) continue;
        check_mixed(&g, which, dtype, (kind)k, k != PIVOTS && (which + k) % 2, FULL);
        if (k != PIVOTS) check_mixed(&g, which, dtype, (kind)k, true, TRIANGLE);
      }
  grids_close(&g);
}

static void test_singular(void)
{
  grid_set g = grids_open();
  osla_mixed_result r;
  kernel_matrix a = kernel_make(g.at[0], OSLA_DOUBLE, 9, 9, 2, 2, false); /* the matrix is zero */
  kernel_matrix b = kernel_make(g.at[0], OSLA_DOUBLE, 9, 2, 2, 2, false);
  kernel_matrix x = kernel_make(g.at[0], OSLA_DOUBLE, 9, 2, 2, 2, false);
  osla_dtype single = osla_test_size() % 2 ? OSLA_COMPLEX_FLOAT : OSLA_FLOAT;
  kernel_matrix s = kernel_make(g.at[0], single, 9, 9, 2, 2, false);
  kernel_matrix sb = kernel_make(g.at[0], single, 9, 2, 2, 2, false);
  kernel_matrix sx = kernel_make(g.at[0], single, 9, 2, 2, 2, false);
  kernel_matrix wide = kernel_make(g.at[0], OSLA_DOUBLE, 9, 3, 2, 2, false);
  osla_factors f = osla_factors_lu(a.a, NULL);
  OSLA_ASSERT_OK(osla_matrix_fill(b.a, OSLA_FILL_UNIFORM, 1));
  OSLA_ASSERT_OK(osla_posv_mixed(OSLA_UPPER, a.a, b.a, x.a, NULL, &r));
  CU_ASSERT(r.path == OSLA_MIXED_SINGULAR && r.info == 1 && !r.refine.converged);
  OSLA_ASSERT_OK(osla_gesv_mixed(a.a, b.a, x.a, NULL, &r));
  CU_ASSERT(r.path == OSLA_MIXED_SINGULAR && r.info == 1);
  OSLA_ASSERT_ERR(osla_gesv_mixed(s.a, sb.a, sb.a, NULL, &r), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("one matrix");
  OSLA_ASSERT_ERR(osla_gesv_mixed(s.a, sb.a, sx.a, NULL, &r), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("mixed precision needs d or z");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_gesv_mixed(a.a, b.a, wide.a, NULL, &r), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("B has 2 columns, X 3");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_refine(a.a, &f, b.a, wide.a, NULL, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("B has 2 columns, X 3");
  OSLA_ASSERT_ERR(osla_refine(a.a, &f, b.a, x.a, &(osla_refine_options){.target = -1.0}, NULL),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("target = -1");
  kernel_matrix triangle = kernel_make_triangle(g.at[0], OSLA_DOUBLE, 9, 2);
  const osla_factors upper = osla_factors_cholesky(triangle.a, OSLA_UPPER);
  OSLA_ASSERT_ERR(osla_refine(triangle.a, &upper, b.a, x.a, NULL, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("pass OSLA_LOWER");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_posv_mixed(OSLA_UPPER, triangle.a, b.a, x.a, NULL, &r), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("pass OSLA_LOWER");
  OSLA_ASSERT_OK(osla_posv_mixed(OSLA_LOWER, triangle.a, b.a, x.a, NULL, &r));
  CU_ASSERT(r.path == OSLA_MIXED_SINGULAR && r.info == 1 && !r.refine.converged);
  kernel_free(&triangle);
  kernel_free(&a), kernel_free(&b), kernel_free(&x), kernel_free(&s), kernel_free(&sb);
  kernel_free(&wide), kernel_free(&sx);
  grids_close(&g);
}

/* Limits that differ between ranks are refused, because ranks would wait for one another. */
static void test_options(void)
{
  grid_set g = grids_open();
  kernel_matrix a = kernel_make(g.at[0], OSLA_DOUBLE, 9, 9, 2, 2, false);
  kernel_matrix b = kernel_make(g.at[0], OSLA_DOUBLE, 9, 2, 2, 2, false);
  kernel_matrix x = kernel_make(g.at[0], OSLA_DOUBLE, 9, 2, 2, 2, false);
  /* osla_refine fails before it reads these factors */
  osla_factors f = osla_factors_cholesky(a.a, OSLA_LOWER);
  const int last = osla_test_size() - 1;
  const bool other = osla_test_rank() == last;
  const osla_refine_options negative = {.max_iterations = -3},
                            most = {.max_iterations = other ? 2 : 1},
                            target = {.target = other ? 0.5 : 1.0};
  OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_SPD, 1));
  OSLA_ASSERT_OK(osla_matrix_fill(b.a, OSLA_FILL_UNIFORM, 1));
  OSLA_ASSERT_ERR(osla_gesv_mixed(a.a, b.a, x.a, &negative, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("max_iterations = -3, target = 0: neither may be negative");
  if (last > 0) {
    OSLA_ASSERT_ERR(osla_gesv_mixed(a.a, b.a, x.a, &most, NULL), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_gesv_mixed: max_iterations is 1 on rank 0, but 2 on rank ");
    OSLA_ASSERT_SAME_TEXT();
    OSLA_ASSERT_ERR(osla_refine(a.a, &f, b.a, x.a, &target, NULL), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_refine: target is 1 on rank 0, but 0.5 on rank ");
  }
  kernel_free(&a), kernel_free(&b), kernel_free(&x);
  grids_close(&g);
}

/* ---- failing allocations ---- */

/* Number of calls of osla_getrf. The linker's option --wrap directs these calls to
 * __wrap_osla_getrf, which counts them and calls the library's osla_getrf. */
static int factorisations;
osla_err __real_osla_getrf(osla_matrix *a, int64_t *ipiv, const osla_lu_options *options,
                           osla_lu_result *result);
osla_err __wrap_osla_getrf(osla_matrix *a, int64_t *ipiv, const osla_lu_options *options,
                           osla_lu_result *result);
osla_err __wrap_osla_getrf(osla_matrix *a, int64_t *ipiv, const osla_lu_options *options,
                           osla_lu_result *result)
{
  factorisations++;
  return __real_osla_getrf(a, ipiv, options, result);
}

static osla_err solve_mixed(void *arg)
{
  const system_of *s = arg;
  factorisations = 0;
  return osla_gesv_mixed(s->a.a, s->b.a, s->x.a, NULL, NULL);
}

/* Makes each allocation of a solve fail in turn, up to 20 that come after the factorisation. All
 * ranks must fail together, and the allocations of the refinement must be made before A is
 * factored. */
static void test_lack(void)
{
  grid_set g = grids_open();
  system_of s = make_system(&g, 0, OSLA_DOUBLE, EASY, 12, 4, FITTING, FULL);
  enum { BEHIND = 20 };
  int hit = 1, early = 0, late = 0, behind = 0;
  /* after this first solve, memory regions are cached, so that all further calls make the same
   * allocations */
  OSLA_ASSERT_OK(solve_mixed(&s));
  for (int number = 0; hit && behind < BEHIND; number++) {
    if (call_with_failing_allocation(number, solve_mixed, &s, &hit) == OSLA_OK) continue;
    behind += factorisations > 0;
    if (!strstr(osla_error_text(), "maxima")) continue;
    early += factorisations == 0;
    late += factorisations > 0;
  }
  OSLA_ASSERT_MSG(early == 3 && late == 0, "%d maxima before the factorisation, %d after", early,
                  late);
  free_system(&s);
  grids_close(&g);
}

static const osla_test_case cases[] = {
  {"residual", test_residual},
  {"refine", test_refine},
  {"mixed", test_mixed},
  {"singular", test_singular},
  {"options", test_options},
  {"lack", test_lack},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_refine, cases);
