/* Test of all steps from updates to a solution and an inverse: an accumulated Hessian is factored
 * and inverted in place. The solution and the inverse are compared with those that LAPACK computes
 * from a serial sum of the updates. */
#include "osla_blas.h"
#include "osla_chol.h"
#include "osla_index.h"
#include "osla_inverse.h"
#include "osla_random.h"
#include "osla_solve.h"
#include "tests/hessian_reference.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DATA = 4, RIGHT_SIDES = 2 };

typedef struct problem {
  int64_t n;
  int updates;
  osla_hessian_options o;
} problem;

/* Returns an update with real values that touches about a third of the unknowns. */
static test_update real_update(const problem *p, int number)
{
  int64_t count = p->n / 3 + 1, step = 1 + number % 3;
  test_update u = {.dtype = OSLA_DOUBLE, .rows = count, .cols = count, .k = DATA, .ld = DATA};
  u.ix = osla_test_allocate((size_t)count, sizeof *u.ix);
  u.gradient = osla_test_allocate((size_t)count, sizeof *u.gradient);
  double *g = u.values = osla_test_allocate((size_t)(DATA * count), sizeof *g);
  for (int64_t i = 0; i < count; i++) {
    u.ix[i] = (number * 7 + i * step) % p->n;
    u.gradient[i] = osla_random_uniform(4, (uint64_t)number, (uint64_t)i);
    for (int r = 0; r < DATA; r++)
      g[r + i * DATA] = osla_random_uniform(3, (uint64_t)(number * DATA + r), (uint64_t)i);
  }
  return u;
}

/* Returns an update that adds 1 to diagonal element i of H, as a block U of one element. The
 * updates for all i together add the prior I. */
static test_update unit_update(const problem *p, int64_t i)
{
  (void)p;
  test_update u = {.dtype = OSLA_DOUBLE, .rows = 1, .cols = 1, .k = -1, .ld = 1};
  u.ix = osla_test_allocate(1, sizeof *u.ix);
  u.jx = osla_test_allocate(1, sizeof *u.jx);
  u.gradient = osla_test_allocate(1, sizeof *u.gradient);
  double *one = u.values = osla_test_allocate(1, sizeof *one);
  u.ix[0] = u.jx[0] = i;
  *one = 1.0;
  return u;
}

static test_update to_type(test_update u, osla_dtype dtype)
{
  if (dtype == OSLA_DOUBLE) return u;
  double *wide = u.values;
  float *narrow = osla_test_allocate((size_t)(u.ld * u.cols), sizeof *narrow);
  for (int64_t at = 0; at < u.ld * u.cols; at++)
    narrow[at] = (float)wide[at];
  free(wide);
  u.values = narrow;
  u.dtype = dtype;
  return u;
}

static double right_side(int64_t i, int64_t j, void *arg)
{
  (void)arg;
  return osla_random_uniform(9, (uint64_t)i, (uint64_t)j);
}

/* Solves the problem serially in double: sum of the updates, LAPACK's Cholesky factorisation, two
 * triangular solves.
 *   inverse [out] [n * n] inverse of the sum, in its stored triangle */
static double *serial_solution(const problem *p, serial_sum *sum, double *inverse)
{
  int64_t n = p->n, info = -1;
  double *x = osla_test_allocate((size_t)(n * RIGHT_SIDES), sizeof *x);
  for (int u = 0; u < p->updates; u++)
    sum_add(sum, real_update(p, u), 1.0);
  for (int64_t i = 0; i < n; i++)
    sum_add(sum, unit_update(p, i), 1.0);
  for (int64_t j = 0; j < RIGHT_SIDES; j++)
    for (int64_t i = 0; i < n; i++)
      x[i + j * n] = right_side(i, j, NULL);
  double *factor = inverse;
  memcpy(factor, sum->h, (size_t)(n * n) * sizeof *factor);
  OSLA_ASSERT_OK(osla_lapack_potrf(OSLA_DOUBLE, p->o.uplo, n, factor, n, &info));
  CU_ASSERT(info == 0);
  osla_trans first = p->o.uplo == OSLA_LOWER ? OSLA_NOTRANS : OSLA_TRANS;
  osla_trans second = p->o.uplo == OSLA_LOWER ? OSLA_TRANS : OSLA_NOTRANS;
  OSLA_ASSERT_OK(osla_blas_trsm(OSLA_DOUBLE, OSLA_LEFT, p->o.uplo, first, OSLA_NONUNIT, n,
                                RIGHT_SIDES, factor, n, x, n));
  OSLA_ASSERT_OK(osla_blas_trsm(OSLA_DOUBLE, OSLA_LEFT, p->o.uplo, second, OSLA_NONUNIT, n,
                                RIGHT_SIDES, factor, n, x, n));
  OSLA_ASSERT_OK(osla_lapack_potri(OSLA_DOUBLE, p->o.uplo, n, inverse, n, &info));
  CU_ASSERT(info == 0);
  return x;
}

static double magnitude(const double *x, int64_t count)
{
  double most = 0.0;
  for (int64_t i = 0; i < count; i++)
    most = fmax(most, fabs(x[i]));
  return most;
}

/* Compares the accumulated H with the serial sum, element by element, up to the rounding of sums of
 * products. */
static void check_assembly(const problem *p, const serial_sum *sum, osla_hessian *h,
                           const osla_matrix *a)
{
  int64_t n = p->n, wrong = 0;
  double eps = p->o.single ? (double)FLT_EPSILON : DBL_EPSILON;
  double tol = 4.0 * eps * (p->updates + DATA) * magnitude(sum->h, n * n);
  void *all = osla_test_allocate((size_t)(n * n), osla_dtype_size(type_of(&p->o)));
  hessian_read(a, all);
  for (int64_t at = 0; at < n * n; at++)
    if (!(fabs(osla_test_real(type_of(&p->o), all, at) - sum->h[at]) <= tol)) wrong++;
  OSLA_ASSERT_MSG(wrong == 0, "n = %" PRId64 ": %" PRId64 " elements differ", n, wrong);
  for (int64_t i = 0; i < n; i++)
    OSLA_ASSERT_CLOSE(osla_hessian_gradient(h)[i], sum->gradient[i], 1e-13 * p->updates);
  free(all);
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(osla_matrix_grid(a))));
}

static void assemble(const problem *p, osla_hessian *h)
{
  int rank = osla_test_rank(), size = osla_test_size();
  for (int u = rank; u < p->updates; u += size)
    OSLA_ASSERT_OK(update_push(h, to_type(real_update(p, u), type_of(&p->o))));
  for (int64_t i = rank; i < p->n; i += size)
    OSLA_ASSERT_OK(update_push(h, to_type(unit_update(p, i), type_of(&p->o))));
  OSLA_ASSERT_OK(osla_hessian_commit(h));
}

/* Returns a relative tolerance for the solution and the inverse. It contains a bound n max |h_ij|
 * of the condition number of H, whose eigenvalues are at least 1. */
static double tolerance(const problem *p, const serial_sum *sum)
{
  const double eps = p->o.single ? (double)FLT_EPSILON : DBL_EPSILON;
  return 4.0 * eps * (double)p->n * magnitude(sum->h, p->n * p->n);
}

/* Compares the solution on every rank with the serial one. */
static void check_solution(const problem *p, const serial_sum *sum, const osla_matrix *b,
                           const double *x)
{
  int64_t n = p->n, count = n * RIGHT_SIDES;
  double tol = tolerance(p, sum) * magnitude(x, count), worst = 0.0;
  void *mine = osla_test_allocate((size_t)count, osla_dtype_size(type_of(&p->o)));
  OSLA_ASSERT_OK(osla_matrix_get_block(b, 0, 0, n, RIGHT_SIDES, mine, n));
  for (int64_t at = 0; at < count; at++) {
    double difference = fabs(osla_test_real(type_of(&p->o), mine, at) - x[at]);
    if (!(difference <= worst)) worst = difference;
  }
  OSLA_ASSERT_MSG(worst <= tol, "n = %" PRId64 ": |x - x_serial|_max = %g > %g", n, worst, tol);
  free(mine);
}

/* Inverts H from its factor, and compares the stored triangle with the serial inverse. */
static void check_inverse(const problem *p, const serial_sum *sum, osla_matrix *a,
                          const double *inverse)
{
  int64_t n = p->n, info = -1;
  double tol = tolerance(p, sum) * magnitude(inverse, n * n), worst = 0.0;
  void *all = osla_test_allocate((size_t)(n * n), osla_dtype_size(type_of(&p->o)));
  OSLA_ASSERT_OK(osla_potri(p->o.uplo, a, NULL, &info));
  CU_ASSERT(info == 0);
  hessian_read(a, all);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      if (p->o.uplo == OSLA_LOWER ? i < j : i > j) continue;
      double difference = fabs(osla_test_real(type_of(&p->o), all, i + j * n) - inverse[i + j * n]);
      if (!(difference <= worst)) worst = difference;
    }
  OSLA_ASSERT_MSG(worst <= tol, "n = %" PRId64 ": |inverse - serial|_max = %g > %g", n, worst, tol);
  free(all);
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(osla_matrix_grid(a))));
}

static void solve(osla_grid *grid, const problem *p)
{
  osla_hessian *h = hessian_create_or_end(grid, p->n, &p->o);
  serial_sum sum = sum_create(p->n, p->o.uplo);
  double *inverse = osla_test_allocate((size_t)(p->n * p->n), sizeof *inverse);
  double *x = serial_solution(p, &sum, inverse);
  osla_matrix *a = NULL, *again = NULL, *b = NULL;
  OSLA_ASSERT_OK(osla_hessian_matrix(h, &a));
  void *memory = osla_matrix_local(a);
  /* in the second of two iterations, the accumulator uses the same memory again after the reset */
  for (int iteration = 0; iteration < 2; iteration++) {
    int64_t info = -1;
    assemble(p, h);
    OSLA_ASSERT_OK(osla_hessian_matrix(h, &again));
    CU_ASSERT(again == a && osla_matrix_local(again) == memory);
    check_assembly(p, &sum, h, a);
    OSLA_ASSERT_OK(osla_matrix_create(grid, type_of(&p->o), p->n, RIGHT_SIDES, p->o.nb, 1, &b));
    OSLA_ASSERT_OK(osla_matrix_fill_with(b, right_side, NULL));
    OSLA_ASSERT_OK(osla_potrf(p->o.uplo, a, NULL, &info));
    CU_ASSERT(info == 0);
    CU_ASSERT(osla_matrix_local(a) == memory);
    OSLA_ASSERT_OK(osla_potrs(p->o.uplo, a, b));
    check_solution(p, &sum, b, x);
    osla_matrix_destroy(&b);
    check_inverse(p, &sum, a, inverse);
    OSLA_ASSERT_OK(osla_hessian_reset(h));
  }
  osla_hessian_destroy(&h);
  sum_free(&sum);
  free(x);
  free(inverse);
}

static void test_solve(void)
{
  static const int64_t orders[] = {50, 50, 33, 1, 40};
  static const int64_t blocks[] = {8, 3, 64, 4, 1};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int which = 0; (grid = hessian_grid(t, which)) != NULL; which++) {
    problem p = {.n = orders[which % 5], .updates = 20, .o = {0}};
    p.o.nb = blocks[which % 5];
    p.o.uplo = which % 2 ? OSLA_UPPER : OSLA_LOWER;
    p.o.single = which % 3 == 1;
    solve(grid, &p);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Without the prior, the Hessian of few data is singular: osla_potrf reports this, and no rank
 * hangs. */
static void test_singular(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = {0};
  o.nb = 4;
  osla_hessian *h = hessian_create_or_end(grid, 20, &o);
  osla_matrix *a = NULL;
  int64_t info = -1;
  OSLA_ASSERT_OK(update_push(h, update_ones(20, 2, type_of(&o))));
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  OSLA_ASSERT_OK(osla_hessian_matrix(h, &a));
  OSLA_ASSERT_OK(osla_potrf(o.uplo, a, NULL, &info));
  CU_ASSERT(info >= 2 && info <= 20);
  osla_hessian_destroy(&h);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"solve", test_solve},
  {"singular", test_singular},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian_solve, cases);
