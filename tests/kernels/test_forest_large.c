/* Test of a star forest in which each rank gets more than 1 GiB from the next rank, and sends it
 * back. The library must transfer it in several messages. */
#include "osla_forest.h"
#include "tests/osla_test_help.h"

#include <stdlib.h>

/* Number of edges, and number of doubles at each vertex. Neither number is a multiple of what fits
 * one message. */
typedef struct shape {
  int64_t edges;
  int32_t count;
} shape;
static const shape many = {10007, 13441}, single = {1, 134504089};

static int64_t values_of(shape s)
{
  return s.edges * s.count;
}

static double value_of(shape s, int rank, int64_t i)
{
  return (double)(rank * values_of(s) + i);
}

/* Index of the first wrong value; -1 if all are right. */
static int64_t first_wrong(shape s, const double *values, int rank, int times)
{
  for (int64_t i = 0; i < values_of(s); i++)
    if (values[i] != times * value_of(s, rank, i)) return i;
  return -1;
}

static void there_and_back(shape s, bool back)
{
  osla_transport *t = osla_test_transport();
  const int me = osla_test_rank(), next = (me + 1) % osla_test_size();
  const osla_unit unit = {OSLA_UNIT_DOUBLE, s.count, 0};
  const size_t n = (size_t)values_of(s);
  osla_root *root = osla_test_allocate((size_t)s.edges, sizeof *root);
  osla_forest *f = NULL;
  double *roots = osla_test_allocate(n, sizeof *roots),
         *leaves = osla_test_allocate(n, sizeof *leaves);
  CU_ASSERT_TRUE(n * sizeof(double) > 1 << 30);
  for (int64_t i = 0; i < s.edges; i++)
    root[i] = (osla_root){next, i};
  for (int64_t i = 0; i < values_of(s); i++)
    roots[i] = value_of(s, me, i);
  OSLA_ASSERT_OK(osla_forest_create(t, s.edges, s.edges, NULL, root, &f));
  OSLA_ASSERT_OK(osla_forest_bcast(f, unit, roots, leaves, OSLA_REPLACE));
  CU_ASSERT_EQUAL(first_wrong(s, leaves, next, 1), -1);
  if (back) {
    OSLA_ASSERT_OK(osla_forest_reduce(f, unit, leaves, roots, OSLA_SUM));
    CU_ASSERT_EQUAL(first_wrong(s, roots, me, 2), -1);
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  free(root);
  free(roots);
  free(leaves);
  osla_transport_destroy(&t);
}

static void test_many_vertices(void)
{
  there_and_back(many, true);
}

static void test_one_vertex(void)
{
  there_and_back(single, false);
}

static const osla_test_case cases[] = {
  {"many_vertices", test_many_vertices},
  {"one_vertex", test_one_vertex},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_forest_large, cases);
