/* Tests of transfers of many values, of which the owner copies a part while it waits for the
 * reader. Each even rank has leaves, and the next rank has their roots. */
#include "osla_forest.h"
#include "tests/osla_test_help.h"

#include <stdlib.h>

/* Shape of a transfer: edges, numbers in a vertex, and bytes from a leaf to the next (0: no gap).
 * With `scattered` the leaves are a list in descending order, and so are the roots, of which only
 * every second one has an edge. */
typedef struct shape {
  int64_t edges;
  int32_t count;
  int64_t leaf_stride;
  bool scattered;
} shape;
static const shape shapes[] = {
  {40000, 1, 0, false}, {40000, 1, 0, true},  {15000, 3, 40, false},
  {15000, 3, 40, true}, {2, 20000, 0, false}, {300000, 1, 16, false},
};

typedef struct fixture {
  osla_transport *t;
  shape s;
  int reader; /* rank whose leaves are joined to this rank's roots, or -1 */
  int owner;  /* rank whose roots are joined to this rank's leaves, or -1 */
  osla_forest *forest;
  void *roots, *leaves; /* arrays of osla_vertices_create */
} fixture;

static int64_t root_of(shape s, int64_t edge)
{
  return s.scattered ? 2 * (s.edges - 1 - edge) + 1 : edge;
}

static int64_t leaf_of(shape s, int64_t edge)
{
  return s.scattered ? s.edges - 1 - edge : edge;
}

static int64_t leaf_stride(shape s)
{
  return s.leaf_stride ? s.leaf_stride : s.count * (int64_t)sizeof(double);
}

static double *root_at(const fixture *x, int64_t edge)
{
  return (double *)x->roots + root_of(x->s, edge) * x->s.count;
}

static double *leaf_at(const fixture *x, int64_t edge)
{
  return (double *)(void *)((char *)x->leaves + leaf_of(x->s, edge) * leaf_stride(x->s));
}

/* Number k of the value at the end of an edge; `tag` differs between ranks and rounds. */
static double value(int64_t tag, int64_t edge, int k)
{
  return (double)(tag * 1000003 + 7 * edge + k);
}

static fixture fixture_open(shape s)
{
  const int me = osla_test_rank(), size = osla_test_size(), before = (me + size - 1) % size;
  fixture x = {.t = osla_test_transport(), .s = s};
  const int64_t n_edges = me % 2 == 0 ? s.edges : 0, n_roots = 2 * s.edges;
  osla_root *root = osla_test_allocate((size_t)s.edges, sizeof *root);
  int64_t *leaf = osla_test_allocate((size_t)s.edges, sizeof *leaf);
  x.owner = me % 2 == 0 ? (me + 1) % size : -1;
  x.reader = before % 2 == 0 ? before : -1;
  for (int64_t i = 0; i < n_edges; i++) {
    root[i] = (osla_root){x.owner, root_of(s, i)};
    leaf[i] = leaf_of(s, i);
  }
  OSLA_ASSERT_OK(osla_forest_create(x.t, n_roots, n_edges, leaf, root, &x.forest));
  OSLA_ASSERT_OK(
    osla_vertices_create(x.t, (size_t)n_roots * (size_t)s.count * sizeof(double), &x.roots));
  OSLA_ASSERT_OK(osla_vertices_create(x.t, (size_t)(s.edges * leaf_stride(s)), &x.leaves));
  free(leaf);
  free(root);
  return x;
}

static void fixture_close(fixture *x)
{
  OSLA_ASSERT_OK(osla_forest_destroy(&x->forest));
  OSLA_ASSERT_OK(osla_vertices_free(x->t, &x->leaves));
  OSLA_ASSERT_OK(osla_vertices_free(x->t, &x->roots));
  osla_transport_destroy(&x->t);
}

/* Sets the values at this rank's roots, or at its leaves. */
static void set_values(const fixture *x, bool roots, int64_t tag)
{
  for (int64_t i = 0; (roots ? x->reader : x->owner) >= 0 && i < x->s.edges; i++)
    for (int k = 0; k < x->s.count; k++)
      (roots ? root_at(x, i) : leaf_at(x, i))[k] = value(tag, i, k);
}

/* Number of values that differ from the sum of the values with tags a and b; tag -1: no value. */
static int64_t count_wrong(const fixture *x, bool roots, int64_t a, int64_t b)
{
  int64_t n = 0;
  for (int64_t i = 0; (roots ? x->reader : x->owner) >= 0 && i < x->s.edges; i++)
    for (int k = 0; k < x->s.count; k++) {
      const double expected = value(a, i, k) + (b < 0 ? 0 : value(b, i, k));
      n += !((roots ? root_at(x, i) : leaf_at(x, i))[k] == expected);
    }
  return n;
}

static osla_unit unit_of(const fixture *x, bool has_leaves)
{
  const bool same = x->s.leaf_stride == 0 || !has_leaves;
  return (osla_unit){OSLA_UNIT_DOUBLE, x->s.count, same ? 0 : x->s.leaf_stride};
}

/* The ends of a transfer: both wait for readers, one is a loop of tests, one does not wait. */
static void end_transfer(const fixture *x, osla_forest_run *run, int round)
{
  bool done = false;
  if (round % 3 == 0) {
    OSLA_ASSERT_OK(osla_forest_end(run));
  } else if (round % 3 == 1) {
    while (!done && OSLA_ASSERT_OK(osla_forest_test(run, &done)))
      ;
  } else {
    OSLA_ASSERT_OK(osla_forest_end_read(run));
    OSLA_ASSERT_OK(osla_forest_writable(x->forest));
  }
}

/* Roots go to leaves, and leaves back to roots. Values are written anew before each transfer. */
static int64_t there_and_back(const fixture *x, int round)
{
  const int me = osla_test_rank();
  const int64_t from = 10 * round + me, tag = 10 * round;
  const osla_forest_combine combine = round % 2 ? OSLA_SUM : OSLA_REPLACE;
  /* The distance of the unit holds for both arrays of a rank. Ranks with roots alone have no gaps.
   */
  const osla_unit unit = unit_of(x, x->owner >= 0);
  osla_forest_run run;
  set_values(x, true, from);
  set_values(x, false, tag + 5);
  OSLA_ASSERT_OK(osla_forest_bcast_begin(x->forest, unit, x->roots, x->leaves, combine, &run));
  end_transfer(x, &run, round);
  int64_t wrong = count_wrong(x, false, tag + x->owner, combine == OSLA_SUM ? tag + 5 : -1);
  set_values(x, false, from + 6);
  OSLA_ASSERT_OK(osla_forest_reduce_begin(x->forest, unit, x->leaves, x->roots, combine, &run));
  end_transfer(x, &run, round);
  return wrong + count_wrong(x, true, tag + x->reader + 6, combine == OSLA_SUM ? from : -1);
}

static void test_there_and_back(void)
{
  const bool has_both = osla_test_size() % 2; /* rank 0 has roots and leaves */
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    shape s = shapes[k];
    if (has_both) s.leaf_stride = 0;
    fixture x = fixture_open(s);
    for (int round = 0; round < 12; round++) {
      const int64_t wrong = there_and_back(&x, round);
      OSLA_ASSERT_MSG(wrong == 0, "%d values are wrong, shape %d, round %d", (int)wrong, (int)k,
                      round);
    }
    fixture_close(&x);
  }
}

/* Several leaves of a root: a reduction adds their values in order, so the owner of the leaves must
 * not help. */
static void test_shared_roots(void)
{
  enum { EDGES = 60000, ROOTS = 7 };
  osla_transport *t = osla_test_transport();
  const int me = osla_test_rank(), last = osla_test_size() - 1;
  osla_root *root = osla_test_allocate(EDGES, sizeof *root);
  osla_forest *f;
  void *roots, *leaves;
  const int64_t n_edges = me == 0 ? EDGES : 0;
  int64_t wrong = 0;
  for (int i = 0; i < EDGES; i++)
    root[i] = (osla_root){last, i % ROOTS};
  OSLA_ASSERT_OK(osla_forest_create(t, ROOTS, n_edges, NULL, root, &f));
  OSLA_ASSERT_OK(osla_vertices_create(t, ROOTS * sizeof(double), &roots));
  OSLA_ASSERT_OK(osla_vertices_create(t, EDGES * sizeof(double), &leaves));
  for (int round = 0; round < 20; round++) {
    double sum[ROOTS] = {0};
    for (int i = 0; i < EDGES; i++) {
      ((double *)leaves)[i] = 1.0 / (1 + i + round);
      sum[i % ROOTS] += ((double *)leaves)[i];
    }
    for (int i = 0; i < ROOTS; i++)
      ((double *)roots)[i] = 0;
    OSLA_ASSERT_OK(osla_forest_reduce(f, OSLA_ONE_DOUBLE, leaves, roots, OSLA_SUM));
    for (int i = 0; i < ROOTS && me == last; i++)
      wrong += !(((double *)roots)[i] == sum[i]);
  }
  CU_ASSERT_EQUAL(wrong, 0);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  OSLA_ASSERT_OK(osla_vertices_free(t, &leaves));
  OSLA_ASSERT_OK(osla_vertices_free(t, &roots));
  free(root);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"there_and_back", test_there_and_back},
  {"shared_roots", test_shared_roots},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_forest_shared, cases);
