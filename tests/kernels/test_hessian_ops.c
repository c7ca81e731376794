/* Tests of types, operations and shapes of the accumulator: float updates of a double matrix, the
 * operations minimum, maximum and a user function, matrices stored as a whole, other initial
 * values, and indices of very large matrices. */
#include "kernels/hessian/hessian_split.h"
#include "osla_chol.h"
#include "osla_gemm.h"
#include "osla_index.h"
#include "osla_solve.h"
#include "tests/hessian_reference.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { N = 41, UPDATES = 3 };

/* Adds the updates: to the accumulator only those of this rank, and to the serial sum all of them.
 */
static void push_all(osla_hessian *h, serial_sum *sum, uint64_t seed, osla_dtype dtype)
{
  for (int i = 0; i < UPDATES * osla_test_size(); i++) {
    sum_add(sum, update_random(seed, i, sum->n, sum->n, dtype), 1.0);
    if (i % osla_test_size() == osla_test_rank())
      OSLA_ASSERT_OK(update_push(h, update_random(seed, i, sum->n, sum->n, dtype)));
  }
}

/* Makes updates, a commit, updates, a commit, a reset, and updates, and compares the results with
 * the serial sum. */
static void life(osla_grid *grid, const osla_hessian_options *o, serial_sum *sum, double initial,
                 const char *what)
{
  osla_dtype dtype = o->single_updates ? OSLA_FLOAT : type_of(o);
  osla_hessian *h = hessian_create_or_end(grid, sum->n, o);
  sum_fill(sum, initial);
  push_all(h, sum, 1, dtype);
  sum_assert(sum, h, "%s", what);
  push_all(h, sum, 2, dtype);
  sum_assert(sum, h, "%s, second commit", what);
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  sum_fill(sum, initial);
  sum_assert(sum, h, "%s, reset", what);
  push_all(h, sum, 3, dtype);
  sum_assert(sum, h, "%s, after reset", what);
  osla_hessian_destroy(&h);
}

/* True on several nodes, where each case takes longer and fewer cases are run. */
static bool several_nodes;

static void with_grids(void (*one)(osla_grid *grid, int which))
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  several_nodes = osla_transport_n_nodes(t) > 1;
  int grids = several_nodes ? 1 : 3;
  for (int which = 0; which < grids && (grid = hessian_grid(t, which)) != NULL; which++) {
    one(grid, which);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Accumulators of whole matrices and of both triangles, in all types. */
static void shapes_on(osla_grid *grid, int which)
{
  static const osla_uplo shapes[] = {OSLA_GENERAL, OSLA_LOWER, OSLA_UPPER};
  for (int i = 0; i < (several_nodes ? 2 : 4); i++) {
    osla_hessian_options o = {0};
    o.uplo = i == 3 ? OSLA_GENERAL : shapes[(i + which) % 3];
    o.nb = which == 1 ? 3 : 16;
    o.single = i == 0;
    if (i % 2 == 1) o.single_updates = true;
    serial_sum sum = sum_create(i == 2 ? 1 : N, o.uplo);
    life(grid, &o, &sum, 0.0, i % 2 == 1 ? "float into double" : "one type");
    sum_free(&sum);
  }
}

static void test_shapes_and_types(void)
{
  with_grids(shapes_on);
}

/* A float update is added to a double matrix. The sum must not be rounded to float. */
static void test_float_into_double(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = {0};
  o.single_updates = true;
  osla_hessian *h = hessian_create_or_end(grid, 5, &o);
  const int64_t ix = 3;
  const float large = 16777216.0f, one = 1.0f;
  OSLA_ASSERT_OK(osla_hessian_update_block(h, 1, &ix, 1, &ix, &large, 1));
  OSLA_ASSERT_OK(osla_hessian_update_block(h, 1, &ix, 1, &ix, &one, 1));
  OSLA_ASSERT_OK(osla_hessian_update(h, 1, &ix, 1, &one, 1));
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  osla_matrix *a = NULL;
  double value = 0;
  OSLA_ASSERT_OK(osla_hessian_matrix(h, &a));
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 3, 3, 1, 1, &value, 1));
  CU_ASSERT(value == 16777218.0 * osla_test_size());
  osla_hessian_destroy(&h);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- operations other than the sum ---- */

static double smaller(double old, double value)
{
  return value < old ? value : old;
}

static double larger(double old, double value)
{
  return value > old ? value : old;
}

/* User function that returns the larger of the absolute values of two numbers. */
static double magnitude(double old, double value)
{
  return fmax(fabs(old), fabs(value));
}

/* The user function records the type of the elements, and the number of elements of all its
 * calls. */
typedef struct calls {
  osla_dtype dtype;
  _Atomic int64_t elements;
} calls;

static void user_function(int64_t count, void *inout, const void *in, void *context)
{
  calls *c = context;
  c->elements += count;
  for (int64_t i = 0; i < count; i++) {
    double old = osla_test_real(c->dtype, inout, i), value = osla_test_real(c->dtype, in, i);
    osla_test_store(c->dtype, inout, i, magnitude(old, value));
  }
}

static void operations_on(osla_grid *grid, int which)
{
  calls c = {.dtype = OSLA_DOUBLE};
  for (int i = 0; i < (several_nodes ? 3 : 6); i++) {
    osla_hessian_options o = {0};
    int operation = (i + which) % 3, types = (i / 3 + which) % 3;
    double initial = 0.0;
    o.nb = 4 + which;
    o.uplo = (osla_uplo)((i + 2 * which) % 3);
    o.single = types == 0;
    c.dtype = type_of(&o);
    if (types == 1) o.single_updates = true;
    serial_sum sum = sum_create(N, o.uplo);
    if (operation == 0) {
      o.combine = OSLA_COMBINE_MIN;
      sum.combine = smaller;
      initial = (double)INFINITY;
    } else if (operation == 1) {
      o.combine = OSLA_COMBINE_MAX;
      sum.combine = larger;
      initial = i < 3 ? 1.0 : which % 2 ? 0.0 : -(double)INFINITY;
      o.initial = i < 3 ? 1.0 : 0.0;
      o.from_zero = initial == 0.0;
    } else {
      o.combine = OSLA_COMBINE_USER;
      o.combine_function = user_function;
      o.combine_context = &c;
      sum.combine = magnitude;
      c.elements = 0;
    }
    char what[64];
    (void)snprintf(what, sizeof what, "operation %d, types %d, uplo %d", operation, types,
                   (int)o.uplo);
    life(grid, &o, &sum, initial, what);
    sum_free(&sum);
  }
}

static void test_operations(void)
{
  with_grids(operations_on);
}

/* Consecutive rows of an update reach the user function in one call. The user function must get
 * each element exactly once, for all types. */
static void test_user_calls(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  for (int types = 0; types < 2; types++) {
    calls c = {.dtype = OSLA_DOUBLE};
    osla_hessian_options o = {0};
    o.combine = OSLA_COMBINE_USER;
    o.combine_function = user_function;
    o.combine_context = &c;
    const osla_dtype of_updates = types == 0 ? OSLA_DOUBLE : OSLA_FLOAT;
    o.single_updates = types != 0;
    osla_hessian *h = hessian_create_or_end(grid, 700, &o);
    serial_sum sum = sum_create(700, o.uplo);
    sum.combine = magnitude;
    if (osla_test_rank() == 0) OSLA_ASSERT_OK(update_push(h, update_ones(700, 2, of_updates)));
    sum_add(&sum, update_ones(700, 2, of_updates), 1.0);
    sum_assert(&sum, h, "user calls, types %d", types);
    int64_t elements = c.elements;
    MPI_Allreduce(MPI_IN_PLACE, &elements, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CU_ASSERT(elements == 700 * 701 / 2);
    osla_hessian_destroy(&h);
    sum_free(&sum);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Makes updates with short runs of rows, long runs of rows, and single rows, because the library
 * adds these in different loops. */
static void test_runs(void)
{
  enum { LARGE = 900, COUNT = 640 };
  static int64_t ix[COUNT];
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  int64_t longest = osla_transport_n_nodes(t) > 1 ? 1 : 64;
  for (int64_t run = 1; run <= longest; run *= 4) {
    osla_hessian_options o = {0};
    o.uplo = run == 4 ? OSLA_UPPER : OSLA_LOWER;
    o.nb = 100;
    osla_hessian *h = hessian_create_or_end(grid, LARGE, &o);
    osla_matrix *a = NULL;
    double *u = osla_test_allocate((size_t)COUNT * COUNT, sizeof *u);
    for (int64_t i = 0; i < COUNT; i++)
      ix[i] = (i / run * (run + 1) + i % run) % LARGE;
    for (int64_t i = 0; i < (int64_t)COUNT * COUNT; i++)
      u[i] = (double)(i % 1009);
    double *all = osla_test_allocate((size_t)LARGE * LARGE, sizeof *all);
    for (int64_t b = 0; b < COUNT; b++)
      for (int64_t i = 0; i < COUNT; i++)
        if (run == 4 ? ix[i] <= ix[b] : ix[i] >= ix[b])
          all[ix[i] + ix[b] * LARGE] += u[i + b * COUNT] * osla_test_size();
    OSLA_ASSERT_OK(osla_hessian_update_block(h, COUNT, ix, COUNT, ix, u, COUNT));
    OSLA_ASSERT_OK(osla_hessian_commit(h));
    OSLA_ASSERT_OK(osla_hessian_matrix(h, &a));
    double *seen = osla_test_allocate((size_t)LARGE * LARGE, sizeof *seen);
    if (osla_test_rank() == osla_test_size() - 1)
      hessian_read(a, seen);
    else
      memcpy(seen, all, sizeof *all * LARGE * LARGE);
    OSLA_ASSERT_MSG(memcmp(seen, all, sizeof *all * LARGE * LARGE) == 0,
                    "runs of %" PRId64 ": the matrix differs", run);
    free(u);
    free(all);
    free(seen);
    osla_hessian_destroy(&h);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- very large matrices ---- */

/* Tests offsets of elements in matrices of order 8.2e5 and of larger orders. A matrix of order
 * 8.2e5 takes 2.7e12 bytes in float, and half of that as a triangle. */
static void test_large_offsets(void)
{
  static const int64_t orders[] = {820000, 5000000};
  for (int o = 0; o < 2; o++) {
    int64_t n = orders[o], elements = 0;
    for (int prow = 0; prow < 3; prow++)
      for (int pcol = 0; pcol < 7; pcol++) {
        int64_t rows = osla_index_count(n, 128, prow, 3), cols = osla_index_count(n, 128, pcol, 7);
        elements += rows * cols;
        __extension__ unsigned __int128 last =
          ((unsigned __int128)(cols - 1) * (unsigned __int128)rows +
           (unsigned __int128)(rows - 1)) *
          4;
        CU_ASSERT(element_offset(rows - 1, cols - 1, rows, 4) == last);
      }
    CU_ASSERT(elements == n * n);
    CU_ASSERT(element_offset(n - 1, n - 1, n, 8) == (size_t)(n * n - 1) * 8);
    CU_ASSERT(column_stripe(n - 1, 128) == UINT64_C(1) << ((n - 1) / 128 % 64));
  }
  index_split s = {0};
  const int64_t n = 5000000, ix[] = {n - 1, 4999000, 0, 2500000};
  OSLA_ASSERT_OK(osli_split_reserve(&s, 4, 3));
  osli_split_indices(&s, 4, ix, 128, 3);
  int64_t sum = 0;
  for (int p = 0; p < 3; p++)
    for (int64_t at = s.start[p]; at < s.start[p + 1]; at++)
      sum += osla_index_global(s.local[at], 128, p, 3);
  CU_ASSERT(sum == ix[0] + ix[1] + ix[2] + ix[3]);
  osli_split_free(&s);
}

/* A matrix that is too large for the machine is refused with its number of bytes. */
static void test_large_matrix(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = NULL;
  osla_hessian_options o = {0};
  o.nb = 128;
  o.single = true;
  osla_layout l = {5000000, 5000000, o.nb, o.nb, osla_grid_nprow(grid), osla_grid_npcol(grid)};
  CU_ASSERT(osla_matrix_bytes(&l, OSLA_FLOAT) >=
            UINT64_C(100000000000000) / (uint64_t)osla_test_size());
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5000000, &o, &h), OSLA_ERR_MEM);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(h == NULL);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Kernels that need a triangle refuse the value OSLA_GENERAL (the whole matrix). */
static void test_general_elsewhere(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_matrix *a = NULL, *b = NULL;
  int64_t info = 0;
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, 6, 6, 2, 2, &a));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, 6, 6, 2, 2, &b));
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_IDENTITY, 0));
  OSLA_ASSERT_OK(osla_matrix_fill(b, OSLA_FILL_IDENTITY, 0));
  OSLA_ASSERT_ERR(osla_potrf(OSLA_GENERAL, a, NULL, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("uplo = 2");
  OSLA_ASSERT_ERR(osla_potrs(OSLA_GENERAL, a, b), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_trsm(OSLA_LEFT, OSLA_GENERAL, OSLA_NOTRANS, OSLA_NONUNIT, 1.0, a, b),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(
    osla_syrk(OSLA_GENERAL, OSLA_NOTRANS, 1.0, osla_whole(a), 0.0, osla_whole(b), NULL),
    OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_matrix_mirror(a, OSLA_GENERAL), OSLA_ERR_ARG);
  osla_matrix_destroy(&a);
  osla_matrix_destroy(&b);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_wrong_options(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = NULL;
  osla_hessian_options o = {0};
  o.combine = OSLA_COMBINE_USER;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("requires combine_function");
  o.combine = OSLA_COMBINE_MAX;
  o.combine_function = user_function;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_ARG);
  o = (osla_hessian_options){0};
  o.combine = (osla_combine)17;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("17");
  o = (osla_hessian_options){0};
  o.uplo = (osla_uplo)5;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("uplo = 5");
  CU_ASSERT(h == NULL);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"shapes_and_types", test_shapes_and_types},
  {"float_into_double", test_float_into_double},
  {"operations", test_operations},
  {"user_calls", test_user_calls},
  {"runs", test_runs},
  {"large_offsets", test_large_offsets},
  {"large_matrix", test_large_matrix},
  {"general_elsewhere", test_general_elsewhere},
  {"wrong_options", test_wrong_options},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian_ops, cases);
