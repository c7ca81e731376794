/* Tests of the accumulator's order-independent mode: its fixed-point numbers, and values that
 * exceed its bound. */
#include "src/base/fixed_point.h"
#include "osla_random.h"
#include "tests/hessian_reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- fixed-point numbers without an accumulator ---- */

static void test_numbers(void)
{
  static const double bounds[] = {1.0, 0.75, 1.5, 900.0, 0.1, 1e-250, 1e250, 3.7e11};
  for (int b = 0; b < 8; b++) {
    fixed_point f;
    CU_ASSERT(fixed_make(bounds[b], &f));
    CU_ASSERT(f.scale * f.unit == 1.0);
    CU_ASSERT(bounds[b] * f.scale <= 0x1p51 && bounds[b] * f.scale > 0x1p50);
    CU_ASSERT(f.unit <= bounds[b] * 0x1p-50);
    int64_t wrong = 0;
    for (uint64_t i = 0; i < 1000; i++) {
      double value = bounds[b] * 2.0 * osla_random_uniform(3, i, (uint64_t)b);
      int64_t number = fixed_of(value, f.scale);
      double back = fixed_value(number, f.unit);
      wrong += !(fabs(back - value) <= 0.5 * f.unit) || !fixed_holds(&f, value);
      wrong += number != llrint(value * f.scale) || fixed_of(back, f.scale) != number;
    }
    CU_ASSERT(wrong == 0);
    CU_ASSERT(fixed_holds(&f, bounds[b]) && fixed_holds(&f, -bounds[b]) && fixed_holds(&f, 0.0));
    CU_ASSERT(fixed_of(-0.0, f.scale) == 0);
    for (double past = 1.0 + 0x1p-40; past < 1e60; past *= 1.7)
      wrong += fixed_holds(&f, past * bounds[b]) || fixed_holds(&f, -past * bounds[b]);
    CU_ASSERT(wrong == 0);
    CU_ASSERT(!fixed_holds(&f, (double)NAN) && !fixed_holds(&f, -(double)NAN));
    CU_ASSERT(!fixed_holds(&f, (double)INFINITY) && !fixed_holds(&f, -(double)INFINITY));
  }
}

static void test_sums(void)
{
  CU_ASSERT(fixed_outside(5, 5) >> 63 == 0 && fixed_outside(-5, 5) >> 63 == 0);
  CU_ASSERT(fixed_outside(6, 5) >> 63 == 1 && fixed_outside(-6, 5) >> 63 == 1);
  CU_ASSERT(fixed_outside(INT64_MAX, 5) >> 63 == 1 && fixed_outside(INT64_MIN, 5) >> 63 == 1);
  CU_ASSERT(fixed_danger(FIXED_DANGER - 1) >> 63 == 0 && fixed_danger(-FIXED_DANGER) >> 63 == 0);
  CU_ASSERT(fixed_danger(FIXED_DANGER) >> 63 == 1 && fixed_danger(-FIXED_DANGER - 1) >> 63 == 1);
  CU_ASSERT(fixed_sum(INT64_MAX, 1) == INT64_MIN);
  fixed_point f;
  CU_ASSERT(!fixed_make(0.0, &f) && !fixed_make(-1.0, &f) && !fixed_make((double)NAN, &f));
  CU_ASSERT(!fixed_make((double)INFINITY, &f) && !fixed_make(1e-300, &f));
}

/* ---- an accumulator with bound 1 ---- */

typedef struct bench {
  osla_transport *t;
  osla_grid *grid;
  osla_hessian *h;
} bench;

static bench bench_make(double initial)
{
  bench b = {.t = osla_test_transport()};
  osla_hessian_options o = {0};
  o.nb = 2;
  o.initial = initial;
  o.order_independent = true;
  o.bound = 1.0;
  o.gradient_bound = 2.0;
  b.grid = hessian_grid(b.t, 0);
  b.h = hessian_create_or_end(b.grid, 9, &o);
  return b;
}

static void bench_free(bench *b)
{
  osla_hessian_destroy(&b->h);
  osla_grid_destroy(&b->grid);
  osla_transport_destroy(&b->t);
}

static void add_one(bench *b, int64_t i, int64_t j, double value)
{
  OSLA_ASSERT_OK(osla_hessian_update_block(b->h, 1, &i, 1, &j, &value, 1));
}

/* Commits, and returns element (i, j) on this rank. */
static double element(bench *b, int64_t i, int64_t j)
{
  osla_matrix *a = NULL;
  double value = (double)NAN;
  if (OSLA_ASSERT_OK(osla_hessian_matrix(b->h, &a)))
    OSLA_ASSERT_OK(osla_matrix_get_block(a, i, j, 1, 1, &value, 1));
  OSLA_ASSERT_OK(osla_barrier(b->t));
  return value;
}

/* Asserts that the commit fails with the same text on all ranks, also when it is called again, that
 * osla_hessian_matrix is refused, and that after a reset the accumulator can be used. */
static void expect_report(bench *b, const char *part, const char *value)
{
  osla_matrix *a = NULL;
  for (int again = 0; again < 2; again++) {
    OSLA_ASSERT_ERR(osla_hessian_commit(b->h), OSLA_ERR_RANGE);
    OSLA_ASSERT_TEXT(part);
    OSLA_ASSERT_TEXT(value);
    OSLA_ASSERT_SAME_TEXT();
  }
  OSLA_ASSERT_ERR(osla_hessian_matrix(b->h, &a), OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT(part);
  OSLA_ASSERT_OK(osla_hessian_reset(b->h));
  if (osla_test_rank() == 0) add_one(b, 8, 3, 0.25);
  OSLA_ASSERT_OK(osla_hessian_commit(b->h));
  CU_ASSERT(element(b, 8, 3) == 0.25);
  OSLA_ASSERT_OK(osla_hessian_reset(b->h));
}

static void test_values_beyond_the_bound(void)
{
  bench b = bench_make(0.0);
  bool last = osla_test_rank() == osla_test_size() - 1;
  const int64_t ix[] = {7, 2};
  const double g[] = {1.25, 0.5}, u[] = {0.0, 0.5, 0.5, (double)NAN};
  if (last) add_one(&b, 6, 5, -1.5);
  expect_report(&b, "H[6, 5] by -1.5 ", "bound 1");
  if (last) add_one(&b, 4, 4, (double)INFINITY);
  expect_report(&b, "H[4, 4] by inf", "bound 1");
  if (last) OSLA_ASSERT_OK(osla_hessian_update_block(b.h, 2, ix, 2, ix, u, 2));
  expect_report(&b, "H[2, 2] by", "nan");
  if (last) OSLA_ASSERT_OK(osla_hessian_update(b.h, 2, ix, 1, g, 1));
  expect_report(&b, "H[7, 7] by 1.5625", "bound 1");
  /* element (3, 6) is in the triangle that is not stored, so nothing is added */
  if (last) add_one(&b, 3, 6, -1.5);
  add_one(&b, 6, 3, 0.75 / osla_test_size());
  OSLA_ASSERT_OK(osla_hessian_commit(b.h));
  OSLA_ASSERT_CLOSE(element(&b, 6, 3), 0.75, 1e-14);
  bench_free(&b);
}

/* Only the final sum must be within the bound; partial sums may exceed it. */
static void test_sums_beyond_the_bound(void)
{
  bench b = bench_make(0.0);
  if (osla_test_rank() == 0) {
    add_one(&b, 5, 1, 0.75);
    add_one(&b, 5, 1, 0.75);
  }
  expect_report(&b, "H[5, 1] = 1.5 ", "bound 1");
  if (osla_test_rank() == 0) {
    add_one(&b, 5, 1, 0.75);
    add_one(&b, 5, 1, 0.75);
    add_one(&b, 5, 1, -1.0);
  }
  OSLA_ASSERT_OK(osla_hessian_commit(b.h));
  CU_ASSERT(element(&b, 5, 1) == 0.5);
  /* -1.0 is added to the committed value 0.5 */
  if (osla_test_rank() == 0) add_one(&b, 5, 1, -1.0);
  OSLA_ASSERT_OK(osla_hessian_commit(b.h));
  CU_ASSERT(element(&b, 5, 1) == -0.5);
  if (osla_test_rank() == 0) add_one(&b, 5, 1, -0.75);
  expect_report(&b, "H[5, 1] = -1.25 ", "bound 1");
  bench_free(&b);
}

/* 8192 additions of 2^51 give 0 modulo 2^64. The overflow must be detected before the sum wraps,
 * for updates of single elements and of runs of rows. */
static void test_wrapped_sum(void)
{
  enum { ROWS = 64, COLS = 128 };
  bench b = bench_make(0.0);
  int64_t row[ROWS], col[COLS];
  double *u = osla_test_allocate((size_t)ROWS * COLS, sizeof *u);
  for (int i = 0; i < ROWS; i++)
    row[i] = 8;
  for (int i = 0; i < COLS; i++)
    col[i] = 2;
  for (int i = 0; i < ROWS * COLS; i++)
    u[i] = 1.0;
  if (osla_test_rank() == osla_test_size() - 1)
    OSLA_ASSERT_OK(osla_hessian_update_block(b.h, ROWS, row, COLS, col, u, ROWS));
  expect_report(&b, "H[8, 2] = ", "bound 1");
  if (osla_test_rank() == osla_test_size() - 1)
    for (int i = 0; i < ROWS; i++)
      OSLA_ASSERT_OK(osla_hessian_update_block(b.h, 1, row, COLS, col, u, 1));
  expect_report(&b, "H[8, 2] = ", "bound 1");
  free(u);
  bench_free(&b);
}

static void test_gradient(void)
{
  bench b = bench_make(0.0);
  const int64_t ix[] = {4, 4, 8};
  const double fine[] = {1.5, -0.25, 2.0}, large[] = {1.5, -0.25, 2.5};
  if (osla_test_rank() == 0) OSLA_ASSERT_OK(osla_hessian_update_gradient(b.h, 3, ix, fine));
  OSLA_ASSERT_OK(osla_hessian_commit(b.h));
  CU_ASSERT(osla_hessian_gradient(b.h)[4] == 1.25 && osla_hessian_gradient(b.h)[8] == 2.0);
  if (osla_test_rank() == 0) OSLA_ASSERT_OK(osla_hessian_update_gradient(b.h, 1, ix, fine));
  expect_report(&b, "gradient[4] = 2.75 ", "bound 2");
  CU_ASSERT(osla_hessian_gradient(b.h)[4] == 0.0);
  if (osla_test_rank() == osla_test_size() - 1)
    OSLA_ASSERT_OK(osla_hessian_update_gradient(b.h, 3, ix, large));
  expect_report(&b, "gradient[8] by 2.5 ", "bound 2");
  bench_free(&b);
}

/* The matrix has values before the first update: the option `initial`, or values that the program
 * wrote after a commit. */
static void test_what_was_there(void)
{
  bench b = bench_make(0.5);
  if (osla_test_rank() == 0) add_one(&b, 5, 1, 0.25);
  OSLA_ASSERT_OK(osla_hessian_commit(b.h));
  CU_ASSERT(element(&b, 5, 1) == 0.75);
  CU_ASSERT(element(&b, 6, 1) == 0.5);
  osla_matrix *a = NULL;
  OSLA_ASSERT_OK(osla_hessian_matrix(b.h, &a));
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_IDENTITY, 0));
  if (osla_test_rank() == 0) add_one(&b, 5, 5, -0.25);
  if (osla_test_rank() == 0) add_one(&b, 6, 1, -0.25);
  OSLA_ASSERT_OK(osla_hessian_commit(b.h));
  CU_ASSERT(element(&b, 5, 5) == 0.75);
  CU_ASSERT(element(&b, 6, 1) == -0.25);
  /* fills the diagonal with 9, which is beyond the bound */
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_DOMINANT, 0));
  if (osla_test_rank() == 0) add_one(&b, 7, 7, 0.0);
  OSLA_ASSERT_ERR(osla_hessian_commit(b.h), OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("before an update");
  bench_free(&b);

  b = bench_make(0.0); /* the program writes doubles into a matrix that is in fixed-point form */
  OSLA_ASSERT_OK(osla_hessian_matrix(b.h, &a));
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_IDENTITY, 0));
  OSLA_ASSERT_ERR(osla_hessian_commit(b.h), OSLA_ERR_RANGE);
  OSLA_ASSERT_SAME_TEXT();
  bench_free(&b);
}

static void test_wrong_calls(void)
{
  static const double bounds[] = {0.0, -1.0, (double)NAN, (double)INFINITY, 1e-300};
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = NULL;
  osla_hessian_options o = {0};
  o.order_independent = true;
  for (int i = 0; i < 5; i++) {
    o.bound = bounds[i];
    OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_ARG);
    OSLA_ASSERT_SAME_TEXT();
  }
  o.bound = 1.0;
  o.gradient_bound = -1.0;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("gradient_bound = -1 ");
  o.gradient_bound = 0.0;
  o.single = true;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_UNSUPPORTED);
  o.single = false;
  o.combine = OSLA_COMBINE_MIN;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_UNSUPPORTED);
  CU_ASSERT(h == NULL);
  o.combine = OSLA_COMBINE_SUM;
  for (int64_t n = 0; n < 2; n++) {
    const int64_t ix = 0;
    const double one = 1.0;
    h = hessian_create_or_end(grid, n, &o);
    if (n == 1) OSLA_ASSERT_ERR(osla_hessian_update_gradient(h, 1, &ix, &one), OSLA_ERR_STATE);
    if (n == 1 && osla_test_rank() == 0) OSLA_ASSERT_OK(osla_hessian_update(h, 1, &ix, 1, &one, 1));
    OSLA_ASSERT_OK(osla_hessian_commit(h));
    OSLA_ASSERT_OK(osla_hessian_reset(h));
    osla_hessian_destroy(&h);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"numbers", test_numbers},
  {"sums", test_sums},
  {"values_beyond_the_bound", test_values_beyond_the_bound},
  {"sums_beyond_the_bound", test_sums_beyond_the_bound},
  {"wrapped_sum", test_wrapped_sum},
  {"gradient", test_gradient},
  {"what_was_there", test_what_was_there},
  {"wrong_calls", test_wrong_calls},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian_bound, cases);
