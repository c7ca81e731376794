/* Tests of the accumulator: every sum is exact, on every grid and for every block size, type and
 * triangle. */
#include "tests/hessian_reference.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

static const char *label(const osla_hessian_options *o, const osla_grid *grid)
{
  static char text[128];
  (void)snprintf(text, sizeof text, "%d x %d grid, nb = %" PRId64 ", %s, %s", osla_grid_nprow(grid),
                 osla_grid_npcol(grid), o->nb, o->single ? "float" : "double",
                 o->uplo == OSLA_LOWER ? "lower" : "upper");
  return text;
}

/* Adds the updates first .. last - 1: to the accumulator only those of this rank, and to the serial
 * sum all of them. */
static void push_and_sum(osla_hessian *h, serial_sum *sum, uint64_t seed, int first, int last,
                         int64_t most, osla_dtype dtype)
{
  for (int i = first; i < last; i++) {
    sum_add(sum, update_random(seed, i, sum->n, most, dtype), 1.0);
    if (i % osla_test_size() == osla_test_rank())
      OSLA_ASSERT_OK(update_push(h, update_random(seed, i, sum->n, most, dtype)));
  }
}

/* Makes an accumulator, adds updates and commits. If `is_long` is true, a second commit, more
 * updates, a reset, and updates after the reset follow. */
static void life(osla_grid *grid, int64_t n, int64_t most, const osla_hessian_options *o,
                 bool is_long)
{
  osla_hessian *h = hessian_create_or_end(grid, n, o);
  serial_sum sum = sum_create(n, o->uplo);
  int updates = 2 * osla_test_size() + 3;
  push_and_sum(h, &sum, 1, 0, updates, most, type_of(o));
  sum_assert(&sum, h, "%s", label(o, grid));
  if (is_long) {
    sum_assert(&sum, h, "%s, second commit", label(o, grid));
    push_and_sum(h, &sum, 1, updates, 2 * updates, most, type_of(o));
    sum_assert(&sum, h, "%s, updates after commit", label(o, grid));
    OSLA_ASSERT_OK(osla_hessian_reset(h));
    sum_clear(&sum);
    sum_assert(&sum, h, "%s, reset", label(o, grid));
    push_and_sum(h, &sum, 2, 0, updates, most, type_of(o));
    sum_assert(&sum, h, "%s, updates after reset", label(o, grid));
  }
  osla_hessian_destroy(&h);
  CU_ASSERT(h == NULL);
  sum_free(&sum);
}

/* Accumulators on all grids; block sizes, types and triangles vary with the grid. */
static void test_grids(void)
{
  static const int64_t blocks[] = {1, 3, 16, 100};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int which = 0; (grid = hessian_grid(t, which)) != NULL; which++) {
    for (int turn = which; turn <= which + 1; turn++) {
      osla_hessian_options o = {0};
      int64_t n = turn % 4 == 0 ? 13 : 37;
      o.nb = blocks[turn % 4];
      o.single = turn / 2 % 2;
      o.uplo = (turn + which) % 2 ? OSLA_UPPER : OSLA_LOWER;
      life(grid, n, n, &o, turn == which);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Tests accumulators of all types and triangles on one grid, matrices of order 0 and 1, and updates
 * with more indices than the matrix has rows. */
static void test_types_and_orders(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  for (int which = 0; which < 4; which++) {
    osla_hessian_options o = {0};
    o.nb = 5;
    o.single = which % 2;
    o.uplo = which / 2 ? OSLA_UPPER : OSLA_LOWER;
    life(grid, 29, 40, &o, false);
    if (which == 0) life(grid, 1, 3, &o, true);
  }
  osla_hessian *h = hessian_create_or_end(grid, 0, NULL);
  serial_sum none = sum_create(0, OSLA_LOWER);
  OSLA_ASSERT_OK(osla_hessian_update(h, 0, NULL, 3, NULL, 3));
  sum_assert(&none, h, "order 0");
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  osla_hessian_destroy(&h);
  sum_free(&none);
  /* osla_hessian_destroy accepts a handle that is NULL, as it is after a destruction */
  osla_hessian_destroy(&h);
  osla_hessian_destroy(NULL);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Sums that were computed by hand: updates in which an index occurs twice, and blocks U with
 * different row and column indices. */
static void test_by_hand(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = {0};
  o.nb = 2;
  for (int upper = 0; upper < 2; upper++) {
    o.uplo = upper ? OSLA_UPPER : OSLA_LOWER;
    osla_hessian *h = hessian_create_or_end(grid, 6, &o);
    serial_sum sum = sum_create(6, o.uplo);
    if (osla_test_rank() == osla_test_size() - 1) {
      const int64_t ix[] = {4, 1, 4}, rows[] = {5, 0}, cols[] = {3, 0, 5};
      const double g[] = {1.0, 2.0, 10.0}, u[] = {7.0, 8.0, 9.0, 11.0, 12.0, 13.0};
      const double values[] = {1.0, 2.0, 4.0};
      OSLA_ASSERT_OK(osla_hessian_update(h, 3, ix, 1, g, 1));
      OSLA_ASSERT_OK(osla_hessian_update_block(h, 2, rows, 3, cols, u, 2));
      OSLA_ASSERT_OK(osla_hessian_update_gradient(h, 3, ix, values));
    }
    sum.h[4 + 4 * 6] = 121.0; /* (1 + 10)^2, because index 4 occurs twice in the update */
    sum.h[1 + 1 * 6] = 4.0;
    sum.h[upper ? 1 + 4 * 6 : 4 + 1 * 6] = 22.0;
    sum.h[0] = 11.0;
    sum.h[5 + 5 * 6] = 12.0;
    if (upper) {
      sum.h[0 + 3 * 6] = 8.0;
      sum.h[0 + 5 * 6] = 13.0;
    } else {
      sum.h[5 + 3 * 6] = 7.0;
      sum.h[5 + 0 * 6] = 9.0;
    }
    sum.gradient[4] = 5.0;
    sum.gradient[1] = 2.0;
    sum_assert(&sum, h, "by hand, %s", upper ? "upper" : "lower");
    osla_hessian_destroy(&h);
    sum_free(&sum);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* The smallest piece_bytes cuts updates by rows and by columns, on the node and in messages. With a
 * large piece_bytes, only the smallest message buffers cut updates. */
static void test_pieces(void)
{
  osla_transport *t = osla_test_transport();
  for (int which = 0; which < 4; which++) {
    osla_grid *grid = hessian_grid(t, which / 2);
    if (!grid) break;
    osla_hessian_options o = {0};
    /* for n = 150, a column of up to 128 doubles fits the 4096 bytes of a piece */
    int64_t n = which % 2 ? 300 : 150;
    o.nb = 16;
    o.uplo = which / 2 ? OSLA_LOWER : OSLA_UPPER;
    o.single = which == 3;
    o.piece_bytes = which % 2 ? (size_t)64 << 20 : 4096;
    o.ring_bytes = which % 2 ? 1 : (size_t)64 << 20;
    osla_hessian *h = hessian_create_or_end(grid, n, &o);
    serial_sum sum = sum_create(n, o.uplo);
    if (osla_test_rank() == 0) OSLA_ASSERT_OK(update_push(h, update_ones(n, 3, type_of(&o))));
    push_and_sum(h, &sum, 3, 0, osla_test_size(), n, type_of(&o));
    sum_add(&sum, update_ones(n, 3, type_of(&o)), 1.0);
    sum_assert(&sum, h, "%s, piece_bytes %zu, ring_bytes %zu", label(&o, grid), o.piece_bytes,
               o.ring_bytes);
    osla_hessian_destroy(&h);
    sum_free(&sum);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Several accumulators of different order and type on different grids. They are updated in turn and
 * destroyed in another order. */
static void test_several(void)
{
  enum { SEVERAL = 3 };
  osla_transport *t = osla_test_transport();
  osla_grid *grids[SEVERAL];
  osla_hessian *h[SEVERAL];
  serial_sum sums[SEVERAL];
  for (int a = 0; a < SEVERAL; a++) {
    osla_hessian_options o = {0};
    o.nb = 4 + a;
    o.single = a == 1;
    o.uplo = a == 2 ? OSLA_UPPER : OSLA_LOWER;
    grids[a] = hessian_grid(t, a);
    if (!grids[a]) grids[a] = hessian_grid(t, 0);
    h[a] = hessian_create_or_end(grids[a], 20 + 7 * a, &o);
    sums[a] = sum_create(20 + 7 * a, o.uplo);
  }
  for (int round = 0; round < 2 * osla_test_size(); round++)
    for (int a = 0; a < SEVERAL; a++)
      push_and_sum(h[a], &sums[a], (uint64_t)a, round, round + 1, 20,
                   a == 1 ? OSLA_FLOAT : OSLA_DOUBLE);
  for (int a = SEVERAL - 1; a >= 0; a--)
    sum_assert(&sums[a], h[a], "accumulator %d of 3", a);
  for (int i = 0; i < SEVERAL; i++) {
    int a = (i + 1) % SEVERAL;
    osla_hessian_destroy(&h[a]);
    osla_grid_destroy(&grids[a]);
    sum_free(&sums[a]);
  }
  osla_transport_destroy(&t);
}

/* Each rank makes wrong calls on its own. All these calls fail, name the reason, and add nothing.
 */
static void test_wrong_arguments(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = hessian_create_or_end(grid, 10, NULL);
  serial_sum none = sum_create(10, OSLA_LOWER);
  const int64_t good[] = {0, 9, 4}, negative[] = {0, 9, -1}, large[] = {0, 10, 4};
  const double v[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  OSLA_ASSERT_ERR(osla_hessian_update(h, 3, negative, 2, v, 2), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("[2] = -1 ");
  OSLA_ASSERT_TEXT("0 to 9");
  OSLA_ASSERT_ERR(osla_hessian_update(h, 3, large, 2, v, 2), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("[1] = 10 ");
  OSLA_ASSERT_ERR(osla_hessian_update_block(h, 3, negative, 3, good, v, 3), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("[2] = -1 ");
  OSLA_ASSERT_ERR(osla_hessian_update_block(h, 3, good, 3, large, v, 3), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("jx[1] = 10 ");
  OSLA_ASSERT_ERR(osla_hessian_update_gradient(h, 3, large, v), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("[1] = 10 ");
  OSLA_ASSERT_ERR(osla_hessian_update_gradient(h, 3, good, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_hessian_update(h, -1, good, 2, v, 2), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_hessian_update(h, 3, NULL, 2, v, 2), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_hessian_update(h, 3, good, 2, NULL, 2), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_hessian_update(h, 3, good, -1, v, 2), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_hessian_update(h, 3, good, 3, v, 2), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("2");
  OSLA_ASSERT_ERR(osla_hessian_update(h, 3, good, 0, v, 0), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_hessian_update_block(h, 3, good, 3, good, v, 2), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_hessian_update_block(h, 3, good, 3, good, NULL, 3), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_hessian_update_block(h, 3, good, -3, good, v, 3), OSLA_ERR_ARG);

  osla_matrix *a = NULL;
  /* succeeds without a commit, because no update was made */
  OSLA_ASSERT_OK(osla_hessian_matrix(h, &a));
  CU_ASSERT(a != NULL);
  OSLA_ASSERT_OK(osla_hessian_update(h, 0, NULL, 2, NULL, 2));
  OSLA_ASSERT_OK(osla_hessian_update(h, 3, good, 0, NULL, 1));
  OSLA_ASSERT_OK(osla_hessian_update_block(h, 0, NULL, 3, good, NULL, 1));
  OSLA_ASSERT_OK(osla_hessian_update_block(h, 3, good, 0, NULL, NULL, 3));
  OSLA_ASSERT_OK(osla_hessian_update_gradient(h, 0, NULL, NULL));
  sum_assert(&none, h, "wrong arguments");
  osla_hessian_destroy(&h);
  sum_free(&none);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_wrong_options(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = NULL;
  osla_hessian_options o = {0};
  OSLA_ASSERT_ERR(osla_hessian_create(grid, -1, NULL, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("-1");
  o.nb = -1;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_ARG);
  o = (osla_hessian_options){0};
  o.initial = (double)NAN;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("initial = ");
  o.initial = 3.0;
  o.from_zero = true;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("from_zero requires initial = 0, not initial = 3");
  o = (osla_hessian_options){0};
  /* on the last rank, piece_bytes is below its minimum */
  o.piece_bytes = osla_test_rank() == osla_test_size() - 1 ? 100 : 4096;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_hessian_create(grid, INT64_C(1) << 24, NULL, &h), OSLA_ERR_MEM);
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_hessian_create(grid, INT64_MAX, NULL, &h), OSLA_ERR_MEM);
  CU_ASSERT(h == NULL);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Between an update and the next commit, osla_hessian_matrix and osla_hessian_reset are refused. */
static void test_state(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = hessian_create_or_end(grid, 10, NULL);
  osla_matrix *a = NULL;
  bool updater = osla_test_rank() == osla_test_size() / 2;
  if (updater) {
    OSLA_ASSERT_OK(update_push(h, update_ones(10, 1, OSLA_DOUBLE)));
    OSLA_ASSERT_ERR(osla_hessian_matrix(h, &a), OSLA_ERR_STATE);
    OSLA_ASSERT_TEXT("commit");
    CU_ASSERT(a == NULL);
  }
  /* the reset fails on all ranks, including ranks that have made no updates */
  OSLA_ASSERT_ERR(osla_hessian_reset(h), OSLA_ERR_STATE);
  OSLA_ASSERT_SAME_TEXT();
  serial_sum sum = sum_create(10, OSLA_LOWER);
  sum_add(&sum, update_ones(10, 1, OSLA_DOUBLE), 1.0);
  sum_assert(&sum, h, "after a refused reset");
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  if (updater) { /* after an update of the gradient, osla_hessian_matrix is refused, too */
    const int64_t ix = 3;
    const double one = 1.0;
    OSLA_ASSERT_OK(osla_hessian_update_gradient(h, 1, &ix, &one));
    OSLA_ASSERT_ERR(osla_hessian_matrix(h, &a), OSLA_ERR_STATE);
  }
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  CU_ASSERT(osla_hessian_gradient(h)[3] == 1.0);
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_stats(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = {0};
  int size = osla_test_size();
  o.nb = 7;
  osla_hessian *h = hessian_create_or_end(grid, 50, &o);
  serial_sum sum = sum_create(50, o.uplo);
  push_and_sum(h, &sum, 5, 0, 3 * size, 50, type_of(&o));
  OSLA_ASSERT_OK(update_push(h, update_ones(50, 2, type_of(&o)))); /* each rank makes this update */
  sum_add(&sum, update_ones(50, 2, type_of(&o)), (double)size);
  sum_assert(&sum, h, "stats");

  osla_hessian_stats s = osla_hessian_get_stats(h);
  CU_ASSERT(s.updates >= 1 && s.updates <= 4);
  CU_ASSERT(s.elements >= 50 * 51 / 2);
  CU_ASSERT(s.seconds_split >= 0.0 && s.seconds_product > 0.0);
  CU_ASSERT(s.seconds_add >= 0.0 && s.seconds_send >= 0.0);
  CU_ASSERT((osla_transport_n_nodes(t) > 1) == (s.bytes_sent > 0));
  int64_t elements = s.elements;
  MPI_Allreduce(MPI_IN_PLACE, &elements, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  OSLA_ASSERT_MSG(elements == sum.elements, "%" PRId64 " elements, expected %" PRId64, elements,
                  sum.elements);
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  s = osla_hessian_get_stats(h);
  CU_ASSERT(s.updates == 0 && s.elements == 0 && s.bytes_sent == 0 && s.seconds_product == 0.0);
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"by_hand", test_by_hand},
  {"grids", test_grids},
  {"types_and_orders", test_types_and_orders},
  {"pieces", test_pieces},
  {"several", test_several},
  {"wrong_arguments", test_wrong_arguments},
  {"wrong_options", test_wrong_options},
  {"state", test_state},
  {"stats", test_stats},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian, cases);
