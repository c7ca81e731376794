/* Tests of the option node_sums, which adds the updates of a node's ranks before they are sent. The
 * result must have the same bits as without the option, each node must send at most one H, and
 * memory must stay below the cap. On one node the option has no effect. */
#include "tests/hessian_reference.h"

#include <inttypes.h>
#include <math.h>

enum { UPDATES = 5 };

static double smaller(double old, double value)
{
  return value < old ? value : old;
}

static double larger(double old, double value)
{
  return value > old ? value : old;
}

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

static void life(osla_grid *grid, osla_hessian_options o, int64_t n)
{
  double initial = o.combine == OSLA_COMBINE_SUM ? 0.0 : 2.0;
  serial_sum sum = sum_create(n, o.uplo);
  if (o.combine == OSLA_COMBINE_MIN) sum.combine = smaller;
  if (o.combine == OSLA_COMBINE_MAX) sum.combine = larger;
  o.node_sums = true;
  o.initial = initial;
  osla_hessian *h = hessian_create_or_end(grid, n, &o);
  sum_fill(&sum, initial);
  /* the second turn begins with the arrays that the first commit cleared */
  for (int turn = 0; turn < 2; turn++) {
    push_all(h, &sum, (uint64_t)turn, type_of(&o));
    sum_assert(&sum, h, "n %" PRId64 " nb %" PRId64 " uplo %d combine %d commit %d", n, o.nb,
               (int)o.uplo, (int)o.combine, turn);
    sum_assert(&sum, h, "commit again");
  }
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  sum_fill(&sum, initial);
  push_all(h, &sum, 7, type_of(&o));
  sum_assert(&sum, h, "after a reset");
  osla_hessian_destroy(&h);
  sum_free(&sum);
}

static void test_same_bits(void)
{
  static const osla_uplo shapes[] = {OSLA_LOWER, OSLA_UPPER, OSLA_GENERAL};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int which = 0; which < 4 && (grid = hessian_grid(t, which)) != NULL; which++) {
    osla_hessian_options o = {0};
    o.uplo = shapes[which % 3];
    o.nb = which % 2 ? 3 : 16;
    o.single = which == 2;
    o.isolation = which == 1 ? OSLA_ISOLATE_ELEMENT : OSLA_ISOLATE_UPDATE;
    /* the smallest message buffers, so that there are many messages */
    if (which == 3) o.ring_bytes = 1;
    life(grid, o, 61);
    o.combine = which % 2 ? OSLA_COMBINE_MIN : OSLA_COMBINE_MAX;
    life(grid, o, which == 0 ? 1 : 40);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* The matrix has more block columns than there are locks for stripes of columns, and its columns
 * are longer than a message. */
static void test_large(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = {0};
  o.ring_bytes = 1;
  o.nb = 2;
  o.single = true;
  if (osla_test_size() <= 4) life(grid, o, 1100);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Returns the number of elements of the lower triangle that lie on other nodes. */
static double far_elements(osla_transport *t, osla_grid *grid, int64_t n, int64_t nb)
{
  double count = 0;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j; i < n; i++) {
      int prow = (int)(i / nb % osla_grid_nprow(grid)),
          pcol = (int)(j / nb % osla_grid_npcol(grid));
      count += !osla_transport_same_node(t, osla_grid_rank_at(grid, prow, pcol));
    }
  return count;
}

/* Returns the bytes that all ranks together send for several updates of the whole matrix. */
static double bytes_for(osla_grid *grid, int64_t n, int updates, bool node_sums)
{
  osla_hessian_options o = {0};
  o.nb = 32;
  o.node_sums = node_sums;
  o.shipping = OSLA_SHIP_VALUES;
  osla_hessian *h = hessian_create_or_end(grid, n, &o);
  serial_sum sum = sum_create(n, OSLA_LOWER);
  for (int i = 0; i < updates; i++) {
    OSLA_ASSERT_OK(update_push(h, update_ones(n, 2, OSLA_DOUBLE)));
    sum_add(&sum, update_ones(n, 2, OSLA_DOUBLE), osla_test_size());
  }
  sum_assert(&sum, h, "%d updates of the whole matrix", updates);
  double bytes = (double)osla_hessian_get_stats(h).bytes_sent;
  OSLA_ASSERT_OK(osla_allreduce(osla_grid_transport(grid), &bytes, 1, MPI_DOUBLE, MPI_SUM));
  osla_hessian_destroy(&h);
  sum_free(&sum);
  return bytes;
}

/* Each node sends its sum of H once, and few other bytes. */
static void test_wire(void)
{
  enum { LARGE = 300 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  double far = far_elements(t, grid, LARGE, 32) / osla_transport_node_size(t);
  /* elements on other nodes, summed over all nodes */
  OSLA_ASSERT_OK(osla_allreduce(t, &far, 1, MPI_DOUBLE, MPI_SUM));
  double with = bytes_for(grid, LARGE, 4, true), without = bytes_for(grid, LARGE, 4, false);
  OSLA_ASSERT_MSG(with >= far * 8 && with <= far * 8 * 1.1, "%g bytes for %g elements", with, far);
  OSLA_ASSERT_MSG(without >= 4 * with * 0.95 * osla_transport_node_size(t) * (far > 0),
                  "%g bytes without node_sums, %g with them", without, with);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* The arrays of the option node_sums count against memory_cap. A cap that is too small for them is
 * refused, and memory stays below a sufficient one. */
static void test_cap(void)
{
  enum { LARGE = 500 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = {0};
  osla_hessian *h = NULL;
  o.node_sums = true;
  o.memory_cap = (size_t)1 << 20; /* the array of a node has 2 MB, or 0.3 MB with many ranks */
  if (osla_transport_n_nodes(t) == 2 && osla_test_size() == 2) {
    OSLA_ASSERT_ERR(osla_hessian_create(grid, LARGE, &o, &h), OSLA_ERR_MEM);
    OSLA_ASSERT_TEXT("memory_cap = 1048576 is too small");
    OSLA_ASSERT_SAME_TEXT();
  }
  o.memory_cap = (size_t)12 << 20;
  h = hessian_create_or_end(grid, LARGE, &o);
  OSLA_ASSERT_OK(update_push(h, update_ones(LARGE, 2, OSLA_DOUBLE)));
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  int64_t peak = osla_hessian_get_stats(h).bytes_peak;
  OSLA_ASSERT_MSG(peak <= (int64_t)o.memory_cap, "%" PRId64 " bytes", peak);
  osla_hessian_destroy(&h);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void keep_first(int64_t count, void *inout, const void *in, void *context)
{
  (void)count;
  (void)inout;
  (void)in;
  (void)context;
}

static void refuse(osla_grid *grid, osla_hessian_options o, const char *part)
{
  osla_hessian *h = NULL;
  o.node_sums = true;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 5, &o, &h), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT(part);
  CU_ASSERT(h == NULL);
}

static void test_refused(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = {0};
  o.order_independent = true;
  o.bound = 1.0;
  refuse(grid, o, "excludes order_independent");
  o = (osla_hessian_options){0};
  o.combine = OSLA_COMBINE_USER;
  o.combine_function = keep_first;
  refuse(grid, o, "excludes OSLA_COMBINE_USER");
  o = (osla_hessian_options){0};
  o.single_updates = true;
  refuse(grid, o, "another type");
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"same_bits", test_same_bits}, {"large", test_large}, {"wire", test_wire}, {"cap", test_cap},
  {"refused", test_refused},     {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian_node, cases);
