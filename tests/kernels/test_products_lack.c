/* Tests of products in which one allocation fails on one rank, for each allocation of the call in
 * turn. All ranks must fail together with the message of that rank, or the result must be the same
 * as usual. The next call must be correct, too. */
#include "osla_products.h"
#include "tests/failing_allocation.h"
#include "tests/kernels/kernel_reference.h"
#include "tests/osla_test_help.h"

enum { N = 40, M = 9, NB = 6 };

typedef struct operands {
  osla_matrix *a, *b, *c, *x, *y;
} operands;

static osla_err run_symm(void *arg)
{
  const operands *o = arg;
  return osla_symm(OSLA_LEFT, OSLA_LOWER, 2, osla_whole(o->a), osla_whole(o->b), 1,
                   osla_whole(o->c), NULL);
}

static osla_err run_trmm(void *arg)
{
  const operands *o = arg;
  return osla_trmm(OSLA_LEFT, OSLA_UPPER, OSLA_TRANS, OSLA_UNIT, 2, osla_whole(o->a),
                   osla_whole(o->c), NULL);
}

static osla_err run_syrk(void *arg)
{
  const operands *o = arg;
  return osla_syrk(OSLA_LOWER, OSLA_TRANS, 2, osla_whole(o->b), 1, osla_part_at(o->c, 0, 0, M, M),
                   NULL);
}

static osla_err run_layers(void *arg)
{
  const operands *o = arg;
  const osla_gemm_options options = {.layers = osla_test_size()};
  return osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 2, osla_whole(o->a), osla_whole(o->b), 1,
                   osla_whole(o->c), &options);
}

static osla_err run_gemv(void *arg)
{
  const operands *o = arg;
  return osla_gemv(OSLA_TRANS, 2, osla_whole(o->a), osla_whole(o->x), 1, osla_whole(o->y));
}

static osla_err run_symv(void *arg)
{
  const operands *o = arg;
  return osla_symv(OSLA_UPPER, 2, osla_whole(o->a), osla_whole(o->x), 1, osla_whole(o->y));
}

static void fill_results(const operands *o)
{
  OSLA_ASSERT_OK(osla_matrix_fill(o->c, OSLA_FILL_INTEGER, 4));
  OSLA_ASSERT_OK(osla_matrix_fill(o->y, OSLA_FILL_INTEGER, 5));
}

/* Makes the product repeatedly. In each repetition, another one of its memory allocations fails. */
static void try_all(const char *name, osla_err (*run)(void *arg), operands *o, osla_matrix *result)
{
  int failures = 0, hit = 1;
  fill_results(o);
  OSLA_ASSERT_OK(run(o));
  dense expected = dense_gather(result);
  for (int number = 0; hit; number++) {
    fill_results(o);
    const osla_err err = call_with_failing_allocation(number, run, o, &hit);
    failures += err != OSLA_OK;
    if (err == OSLA_OK) kernel_expect(result, &expected, "%s, allocation %d", name, number);
  }
  OSLA_ASSERT_MSG(failures >= 3, "%s: only %d allocations failed", name, failures);
  dense_free(&expected);
}

static void test_each_allocation(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, kernel_n_grids(t) > 2 ? 1 : 0); /* a 2 x 2 grid on four ranks */
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, NB, NB, false);
  kernel_matrix b = kernel_make(grid, OSLA_DOUBLE, N, M, NB, NB, false);
  kernel_matrix c = kernel_make(grid, OSLA_DOUBLE, N, M, NB, NB, false);
  kernel_matrix x = kernel_make(grid, OSLA_DOUBLE, N, 1, NB, 1, false);
  kernel_matrix y = kernel_make(grid, OSLA_DOUBLE, N, 1, NB, 1, false);
  operands o = {a.a, b.a, c.a, x.a, y.a};
  OSLA_ASSERT_OK(osla_matrix_fill(o.a, OSLA_FILL_INTEGER, 1));
  OSLA_ASSERT_OK(osla_matrix_fill(o.b, OSLA_FILL_INTEGER, 2));
  OSLA_ASSERT_OK(osla_matrix_fill(o.x, OSLA_FILL_INTEGER, 3));
  try_all("symm", run_symm, &o, o.c);
  try_all("trmm", run_trmm, &o, o.c);
  try_all("syrk", run_syrk, &o, o.c);
  /* between nodes, a rank ends the job if it has no memory to send partial sums */
  if (osla_transport_n_nodes(t) == 1) try_all("layers", run_layers, &o, o.c);
  try_all("gemv", run_gemv, &o, o.y);
  try_all("symv", run_symv, &o, o.y);
  kernel_free(&y), kernel_free(&x), kernel_free(&c), kernel_free(&b), kernel_free(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"each_allocation", test_each_allocation},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_products_lack, cases);
