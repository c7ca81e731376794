/* Tests of calls on parts in which one allocation fails on one rank, for each allocation of the
 * call in turn. All ranks must fail together with the message of that rank and change nothing; or,
 * if the call can continue without the memory, the result is the same as usual. The calls use some
 * of the parts in place, and copy the others. */
#include "osla_chol.h"
#include "osla_lu.h"
#include "osla_solve.h"
#include "tests/failing_allocation.h"
#include "tests/kernels/parts_reference.h"
#include "tests/osla_test_help.h"

#include <stdlib.h>

typedef struct job {
  osla_part a, b;
  int64_t *ipiv;
} job;

static osla_err copy(void *arg)
{
  job *j = arg;
  return osla_matrix_copy_part(j->a, j->b);
}

static osla_err norm(void *arg)
{
  double value;
  return osla_matrix_norm_part(((job *)arg)->a, OSLA_NORM_ONE, &value);
}

static osla_err cholesky(void *arg)
{
  int64_t info;
  return osla_potrf_part(OSLA_LOWER, ((job *)arg)->a, NULL, &info);
}

static osla_err lu(void *arg)
{
  osla_lu_result result;
  return osla_getrf_part(((job *)arg)->a, ((job *)arg)->ipiv, NULL, &result);
}

static osla_err triangle(void *arg)
{
  job *j = arg;
  return osla_trsm_part(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1, j->a, j->b);
}

static osla_err solve(void *arg)
{
  job *j = arg;
  return osla_getrs_part(OSLA_NOTRANS, j->a, j->ipiv, j->b);
}

typedef struct state {
  dense a, b;
} state;

static state keep(const job *j)
{
  return (state){dense_gather(j->a.matrix), dense_gather(j->b.matrix)};
}

static void drop(state *s)
{
  dense_free(&s->a), dense_free(&s->b);
}

static void restore(const job *j, const state *s)
{
  dense_scatter(&s->a, j->a.matrix), dense_scatter(&s->b, j->b.matrix);
}

/* Makes the call repeatedly. In each repetition, another one of its memory allocations fails. At
 * least `least` repetitions must report an error. */
static void try_all(osla_err (*call)(void *arg), job *j, int least, const char *what)
{
  state before = keep(j);
  OSLA_ASSERT_OK(call(j));
  state done = keep(j);
  int failures = 0, hit = 1;
  for (int number = 0; hit; number++) {
    restore(j, &before);
    const osla_err err = call_with_failing_allocation(number, call, j, &hit);
    const state *right = err == OSLA_OK ? &done : &before;
    failures += err != OSLA_OK;
    kernel_expect(j->a.matrix, &right->a, "%s, allocation %d: A", what, number);
    kernel_expect(j->b.matrix, &right->b, "%s, allocation %d: B", what, number);
  }
  OSLA_ASSERT_MSG(failures >= least, "%s: only %d allocations failed", what, failures);
  restore(j, &before);
  drop(&before), drop(&done);
}

static void check(osla_grid *grid, int64_t off, int more)
{
  enum { N = 26 };
  osla_matrix *a = parts_make(grid, OSLA_DOUBLE, N, N, 4, 4, OSLA_FILL_SPD, 1);
  osla_matrix *b = parts_make(grid, OSLA_DOUBLE, N, N, 4, 4, OSLA_FILL_UNIFORM, 2);
  job j = {osla_part_at(a, 4 + off, 4 + off, 14, 14), osla_part_at(b, 8 + off, 4 + off, 14, 14),
           osla_test_allocate((size_t)osla_matrix_local_rows(a) + 1, sizeof(int64_t))};
  try_all(copy, &j, 1, "copy");
  try_all(norm, &j, 1, "norm");
  try_all(cholesky, &j, 3 + more, "potrf");
  try_all(lu, &j, 3 + more, "getrf");
  try_all(triangle, &j, 2 + 2 * more, "trsm");
  OSLA_ASSERT_OK(lu(&j)); /* computes the pivots that the solve needs */
  try_all(solve, &j, 2 + 2 * more, "getrs");
  free(j.ipiv);
  osla_matrix_destroy(&a), osla_matrix_destroy(&b);
}

static void run(int64_t off, int more)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, kernel_n_grids(t) > 2 ? 1 : 0); /* a 2 x 2 grid on four ranks */
  check(grid, off, more);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_in_place(void)
{
  run(0, 0);
}

static void test_in_copies(void)
{
  run(1, osla_test_size() > 1 ? 2 : 0);
}

static const osla_test_case cases[] = {
  {"in_place", test_in_place},
  {"in_copies", test_in_copies},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_parts_lack, cases);
