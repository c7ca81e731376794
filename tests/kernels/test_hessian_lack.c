/* Test of one rank that lacks memory while an order-independent accumulator commits. All ranks
 * fail, no contribution is lost, and the next commit includes all of them. */
#include "tests/failing_allocation.h"
#include "tests/hessian_reference.h"

enum { N = 30 };

static osla_err commit(void *arg)
{
  return osla_hessian_commit(arg);
}

static osla_hessian *make(osla_grid *grid)
{
  osla_hessian_options o = {0};
  o.order_independent = true;
  o.bound = 100.0;
  o.gradient_bound = 100.0;
  return hessian_create_or_end(grid, N, &o);
}

/* Each rank adds 1 to the whole gradient and to one element of H. */
static void push(osla_hessian *h)
{
  const int64_t diagonal = 7;
  const double one = 1.0;
  int64_t ix[N];
  double ones[N];
  for (int64_t i = 0; i < N; i++) {
    ix[i] = i;
    ones[i] = 1.0;
  }
  OSLA_ASSERT_OK(osla_hessian_update_gradient(h, N, ix, ones));
  OSLA_ASSERT_OK(osla_hessian_update_block(h, 1, &diagonal, 1, &diagonal, &one, 1));
}

static void check(osla_hessian *h, const char *when)
{
  const double *gradient = osla_hessian_gradient(h), expected = osla_test_size();
  double seen = -1;
  osla_matrix *a = NULL;
  int bad = 0;
  for (int i = 0; i < N; i++)
    bad += gradient[i] != expected;
  OSLA_ASSERT_OK(osla_hessian_matrix(h, &a));
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 7, 7, 1, 1, &seen, 1));
  OSLA_ASSERT_MSG(bad == 0 && seen == expected, "%s: %d of %d, and %g in place of %g", when, bad, N,
                  seen, expected);
}

static void test_commit(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_grid(t, 0);
  int failed = 0, hit = 1;
  for (int number = 0; hit && number < 100; number++) {
    osla_hessian *h = make(grid);
    push(h);
    OSLA_ASSERT_OK(osla_barrier(t));
    if (call_with_failing_allocation(number, commit, h, &hit) != OSLA_OK) {
      failed++;
      OSLA_ASSERT_OK(osla_hessian_commit(h));
    }
    check(h, hit ? "one allocation failed" : "none failed");
    osla_hessian_destroy(&h);
  }
  CU_ASSERT(failed > 0);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"commit", test_commit}, {NULL, NULL}};
OSLA_TEST_SUITE(test_hessian_lack, cases);
