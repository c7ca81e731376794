/* Tests of two-level transfers of star forests: each value is sent to another node at most once,
 * even if several ranks of that node need it. */
#include "kernels/forest/forest_pool.h"
#include "osla_forest.h"
#include "osla_random.h"
#include "osla_trace.h"
#include "tests/osla_test_help.h"

#include <stdlib.h>
#include <string.h>

/* Each rank has ROOTS roots, and EDGES leaves, which are joined to random roots. All ranks know all
 * edges. */
enum { ROOTS = 400, EDGES = 3000, MOST = 3 };

static osla_root root_of(int rank, int64_t edge)
{
  const uint64_t bits = osla_random_bits(7, (uint64_t)rank, (uint64_t)edge);
  return (osla_root){(int32_t)(bits % (uint64_t)osla_test_size()), (int64_t)(bits >> 32) % ROOTS};
}

/* Number of pairs of a root and another node on which this root has leaves. */
static int64_t count_pairs(const osla_transport *t)
{
  const int size = osla_test_size(), nodes = osla_transport_n_nodes(t);
  const size_t all = (size_t)nodes * (size_t)size * ROOTS;
  unsigned char *has = osla_test_allocate(all, 1);
  int64_t n = 0;
  memset(has, 0, all);
  for (int p = 0; p < size; p++)
    for (int64_t e = 0; e < EDGES; e++) {
      const osla_root r = root_of(p, e);
      const int node = osla_transport_node_of(t, p);
      if (osla_transport_node_of(t, r.rank) != node)
        has[((size_t)node * (size_t)size + (size_t)r.rank) * ROOTS + (size_t)r.index] = 1;
    }
  for (size_t i = 0; i < all; i++)
    n += has[i];
  free(has);
  return n;
}

static osla_forest *make_forest(osla_transport *t)
{
  osla_root *root = osla_test_allocate(EDGES, sizeof *root);
  osla_forest *f = NULL;
  for (int64_t e = 0; e < EDGES; e++)
    root[e] = root_of(osla_test_rank(), e);
  OSLA_ASSERT_OK(osla_forest_create(t, ROOTS, EDGES, NULL, root, &f));
  free(root);
  return f;
}

/* Bytes that all ranks have sent to other nodes so far. Collective. */
static int64_t bytes_sent(osla_transport *t)
{
  forest_pool *pool;
  OSLA_ASSERT_OK(osli_forest_pool(t, OSLA_OK, &pool));
  int64_t bytes = (int64_t)pool->far_bytes;
  OSLA_ASSERT_OK(osla_allreduce(t, &bytes, 1, MPI_INT64_T, MPI_SUM));
  return bytes;
}

static double root_value(osla_root r, int k, int run)
{
  return 1000.0 * r.rank + (double)r.index + 0.25 * k + 1e6 * run;
}

typedef struct values {
  double *roots, *leaves;
  int64_t stride; /* number of doubles from one vertex to the next */
} values;

static void set_roots(const values *v, int count, int run)
{
  for (int64_t i = 0; i < ROOTS; i++)
    for (int k = 0; k < count; k++)
      v->roots[i * v->stride + k] = root_value((osla_root){osla_test_rank(), i}, k, run);
}

static void expect_leaves(const double *leaves, int64_t stride, int count, int run, double more)
{
  int bad = 0;
  for (int64_t e = 0; e < EDGES; e++)
    for (int k = 0; k < count; k++)
      bad += leaves[e * stride + k] != root_value(root_of(osla_test_rank(), e), k, run) + more;
  OSLA_ASSERT_MSG(bad == 0, "%d of %d values are wrong", bad, EDGES * count);
}

/* Checks the number of bytes sent between nodes for several units, with memory that is read in
 * place and memory that is copied through a buffer. */
static void test_bytes(void)
{
  osla_transport *t = osla_test_transport();
  osla_forest *f = make_forest(t);
  const int64_t pairs = count_pairs(t);
  void *memory = NULL;
  OSLA_ASSERT_OK(osla_vertices_create(t, (ROOTS + EDGES) * (MOST + 1) * sizeof(double), &memory));
  double *plain = osla_test_allocate((ROOTS + EDGES) * (MOST + 1), sizeof *plain);
  for (int run = 0; run < 4; run++) {
    const int count = run < 2 ? 1 : MOST;
    double *at = run % 2 ? plain : memory;
    const int64_t stride = run == 3 ? MOST + 1 : count;
    const values v = {at, at + ROOTS * stride, stride};
    const osla_unit unit = {OSLA_UNIT_DOUBLE, count, stride * (int64_t)sizeof(double)};
    set_roots(&v, count, run);
    for (int64_t i = 0; i < EDGES * stride; i++)
      v.leaves[i] = 0.5;
    const int64_t before = bytes_sent(t);
    OSLA_ASSERT_OK(
      osla_forest_bcast(f, unit, v.roots, v.leaves, run == 1 ? OSLA_SUM : OSLA_REPLACE));
    const int64_t sent = bytes_sent(t) - before;
    expect_leaves(v.leaves, stride, count, run, run == 1 ? 0.5 : 0.0);
    OSLA_ASSERT_MSG(sent == pairs * count * (int64_t)sizeof(double),
                    "run %d: %lld bytes crossed for %lld pairs", run, (long long)sent,
                    (long long)pairs);
  }
  free(plain);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  OSLA_ASSERT_OK(osla_vertices_free(t, &memory));
  osla_transport_destroy(&t);
}

/* ---- two-level reductions ---- */

static int64_t leaf_value(int rank, int64_t edge)
{
  return (int64_t)(osla_random_bits(8, (uint64_t)rank, (uint64_t)edge) % 61) - 30;
}

static int64_t combined(osla_forest_combine combine, int64_t a, int64_t b)
{
  switch (combine) {
    case OSLA_MIN: return a < b ? a : b;
    case OSLA_MAX: return a > b ? a : b;
    case OSLA_BITS_AND: return a & b;
    case OSLA_BITS_OR: return a | b;
    case OSLA_BITS_XOR: return a ^ b;
    case OSLA_LOGICAL_AND: return a && b;
    case OSLA_LOGICAL_OR: return a || b;
    case OSLA_LOGICAL_XOR: return !a != !b;
    case OSLA_PROD: return a * b;
    default: return a + b;
  }
}

/* A random value of a leaf; the product of all leaves' values does not overflow. */
static int64_t drawn(osla_forest_combine combine, int rank, int64_t edge)
{
  const int64_t x = leaf_value(rank, edge);
  return combine == OSLA_PROD ? (x == 7 ? 2 : x % 2 ? 1 : -1) : x;
}

static void expect_roots(osla_forest_combine combine, const int64_t *got)
{
  int64_t due[ROOTS], bad = 0;
  for (int64_t j = 0; j < ROOTS; j++)
    due[j] = 3;
  for (int p = 0; p < osla_test_size(); p++)
    for (int64_t e = 0; e < EDGES; e++) {
      const osla_root r = root_of(p, e);
      if (r.rank == osla_test_rank())
        due[r.index] = combined(combine, due[r.index], drawn(combine, p, e));
    }
  for (int64_t j = 0; j < ROOTS; j++)
    bad += got[j] != due[j];
  OSLA_ASSERT_MSG(bad == 0, "combination %d: %d roots are wrong", (int)combine, (int)bad);
}

/* If the order of a reduction does not matter, one combined value is sent between nodes for all
 * leaves of a node; otherwise the value of each leaf is sent. */
static void test_reductions(void)
{
  static const osla_forest_combine all[] = {
    OSLA_SUM,         OSLA_PROD,     OSLA_MIN,     OSLA_MAX,      OSLA_LOGICAL_AND, OSLA_LOGICAL_OR,
    OSLA_LOGICAL_XOR, OSLA_BITS_AND, OSLA_BITS_OR, OSLA_BITS_XOR, OSLA_SUM_ARRIVAL};
  osla_transport *t = osla_test_transport();
  osla_forest *f = make_forest(t);
  const int64_t pairs = count_pairs(t);
  const int me = osla_test_rank();
  int64_t *leaves = osla_test_allocate(EDGES, sizeof *leaves), roots[ROOTS];
  double *x = osla_test_allocate(EDGES + ROOTS, sizeof *x), *y = x + EDGES;
  float narrow[ROOTS], *z = osla_test_allocate(EDGES, sizeof *z);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    int bad = 0;
    for (int64_t e = 0; e < EDGES; e++) {
      leaves[e] = drawn(all[i], me, e);
      x[e] = z[e] = (float)leaves[e];
    }
    for (int64_t j = 0; j < ROOTS; j++)
      roots[j] = 3, y[j] = narrow[j] = 3;
    int64_t before = bytes_sent(t);
    OSLA_ASSERT_OK(osla_forest_reduce(f, OSLA_ONE_INT64, leaves, roots, all[i]));
    const int64_t sent = bytes_sent(t) - before;
    OSLA_ASSERT_MSG(sent == 8 * pairs, "combination %d: %d bytes crossed for %d pairs", (int)all[i],
                    (int)sent, (int)pairs);
    expect_roots(all[i], roots);
    if (all[i] != OSLA_SUM_ARRIVAL) continue;
    const osla_unit single = {OSLA_UNIT_FLOAT, 1, 0};
    OSLA_ASSERT_OK(osla_forest_reduce(f, OSLA_ONE_DOUBLE, x, y, all[i]));
    OSLA_ASSERT_OK(osla_forest_reduce(f, single, z, narrow, all[i]));
    for (int64_t j = 0; j < ROOTS; j++)
      bad += y[j] != (double)roots[j] || narrow[j] != (float)roots[j];
    OSLA_ASSERT_MSG(bad == 0, "%d sums are wrong", bad);
    before = bytes_sent(t);
    OSLA_ASSERT_OK(osla_forest_reduce(f, OSLA_ONE_DOUBLE, x, y, OSLA_SUM));
    CU_ASSERT(pairs == 0 || bytes_sent(t) - before > 8 * pairs);
  }
  free(leaves);
  free(x);
  free(z);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* Broadcasts and reductions are under way at the same time, and end in any order. */
static void test_crossing(void)
{
  enum { PAIRS = 4, ROUNDS = 6 };
  osla_transport *t = osla_test_transport();
  osla_forest *f = make_forest(t);
  int64_t degree[ROOTS];
  int64_t(*roots)[ROOTS] = osla_test_allocate(2 * PAIRS, sizeof *roots);
  int64_t(*leaves)[EDGES] = osla_test_allocate(2 * PAIRS, sizeof *leaves);
  osla_forest_degrees(f, degree);
  for (int round = 1; round <= ROUNDS; round++) {
    osla_forest_run run[2 * PAIRS];
    int bad = 0;
    for (int k = 0; k < 2 * PAIRS; k++) {
      for (int64_t j = 0; j < ROOTS; j++)
        roots[k][j] = round * 10 + k;
      for (int64_t e = 0; e < EDGES; e++)
        leaves[k][e] = round + k;
      if ((k + round) % 3 == 0)
        OSLA_ASSERT_OK(
          osla_forest_bcast_begin(f, OSLA_ONE_INT64, roots[k], leaves[k], OSLA_REPLACE, &run[k]));
      else
        OSLA_ASSERT_OK(
          osla_forest_reduce_begin(f, OSLA_ONE_INT64, leaves[k], roots[k], OSLA_SUM, &run[k]));
    }
    for (int i = 0; i < 2 * PAIRS; i++)
      OSLA_ASSERT_OK(osla_forest_end(&run[(i * 3 + osla_test_rank()) % (2 * PAIRS)]));
    for (int k = 0; k < 2 * PAIRS; k++) {
      const bool down = (k + round) % 3 == 0;
      for (int64_t e = 0; down && e < EDGES; e++)
        bad += leaves[k][e] != round * 10 + k;
      for (int64_t j = 0; !down && j < ROOTS; j++)
        bad += roots[k][j] != round * 10 + k + degree[j] * (round + k);
    }
    OSLA_ASSERT_MSG(bad == 0, "round %d: %d values are wrong", round, bad);
  }
  free(roots);
  free(leaves);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* Eight transfers are under way, and each rank ends them in another order. Afterwards there are
 * reductions with fetches between them. */
static void test_many(void)
{
  enum { AT_ONCE = 8, ROUNDS = 3 };
  osla_transport *t = osla_test_transport();
  osla_forest *f = make_forest(t);
  void *memory = NULL;
  OSLA_ASSERT_OK(osla_vertices_create(t, AT_ONCE * ROOTS * sizeof(double), &memory));
  double *roots = memory, *leaves = osla_test_allocate((size_t)AT_ONCE * EDGES, sizeof *leaves);
  for (int round = 0; round < ROUNDS; round++) {
    osla_forest_run run[AT_ONCE];
    for (int k = 0; k < AT_ONCE; k++) {
      const values v = {roots + k * ROOTS, NULL, 1};
      set_roots(&v, 1, round * AT_ONCE + k);
      OSLA_ASSERT_OK(osla_forest_bcast_begin(f, OSLA_ONE_DOUBLE, v.roots, leaves + k * EDGES,
                                             OSLA_REPLACE, &run[k]));
    }
    for (int i = 0; i < AT_ONCE; i++) {
      const int k = round == 0 ? i : (i * 5 + osla_test_rank()) % AT_ONCE;
      OSLA_ASSERT_OK(i % 2 ? osla_forest_end(&run[k]) : osla_forest_end_read(&run[k]));
      expect_leaves(leaves + k * EDGES, 1, 1, round * AT_ONCE + k, 0.0);
    }
    OSLA_ASSERT_OK(osla_forest_writable(f));
  }
  free(leaves);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  OSLA_ASSERT_OK(osla_vertices_free(t, &memory));
  osla_transport_destroy(&t);
}

static void test_mixed(void)
{
  osla_transport *t = osla_test_transport();
  osla_forest *f = make_forest(t);
  int64_t degree[ROOTS], *leaves = osla_test_allocate(2 * EDGES, sizeof *leaves), roots[ROOTS];
  osla_forest_degrees(f, degree);
  for (int run = 1; run <= 20; run++) {
    int bad = 0;
    for (int64_t i = 0; i < ROOTS; i++)
      roots[i] = run;
    OSLA_ASSERT_OK(osla_forest_bcast(f, OSLA_ONE_INT64, roots, leaves, OSLA_REPLACE));
    if (run % 2) {
      OSLA_ASSERT_OK(osla_forest_reduce(f, OSLA_ONE_INT64, leaves, roots, OSLA_SUM));
    } else {
      OSLA_ASSERT_OK(osla_forest_fetch(f, OSLA_ONE_INT64, roots, leaves, leaves + EDGES, OSLA_SUM));
      for (int64_t e = 0; e < EDGES; e++)
        bad += leaves[EDGES + e] % run != 0 || leaves[EDGES + e] < run;
    }
    for (int64_t i = 0; i < ROOTS; i++)
      bad += roots[i] != run * (1 + degree[i]);
    OSLA_ASSERT_MSG(bad == 0, "run %d: %d values are wrong", run, bad);
  }
  free(leaves);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* Between two broadcasts there are many other transfers, so that the library reuses its records of
 * transfers. */
static void test_far_between(void)
{
  osla_transport *t = osla_test_transport();
  osla_forest *f = make_forest(t);
  static const int between[] = {8, 9, 7, 16, 17, 1, 24};
  int64_t roots[ROOTS], ones[ROOTS], *leaves = osla_test_allocate(2 * EDGES, sizeof *leaves);
  void *memory = NULL;
  for (int64_t e = 0; e < EDGES; e++)
    leaves[e] = leaves[EDGES + e] = 0;
  for (int i = 0; i < 7; i++) {
    int bad = 0;
    for (int k = 0; k < between[i]; k++)
      OSLA_ASSERT_OK(osla_forest_reduce(f, OSLA_ONE_INT64, leaves + EDGES, ones, OSLA_MAX));
    for (int64_t j = 0; j < ROOTS; j++)
      roots[j] = 1 + i;
    OSLA_ASSERT_OK(osla_forest_bcast(f, OSLA_ONE_INT64, roots, leaves, OSLA_SUM));
    for (int64_t e = 0; e < EDGES; e++)
      bad += leaves[e] != (i + 1) * (i + 2) / 2;
    OSLA_ASSERT_MSG(bad == 0, "after %d others: %d values are wrong", between[i], bad);
  }
  OSLA_ASSERT_OK(osla_vertices_create(t, 8, &memory));
  OSLA_ASSERT_OK(osla_vertices_free(t, &memory)); /* succeeds, because no transfer is under way */
  free(leaves);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* Rank 0 sends more than a message buffer holds, and reads no incoming message meanwhile. */
static void test_credits(void)
{
  enum { MANY = 80000, SOME = 6000 };
  osla_transport *t = osla_test_transport();
  const int me = osla_test_rank(), last = osla_test_size() - 1;
  osla_root *root = osla_test_allocate(MANY, sizeof *root);
  double *numbers = osla_test_allocate(2 * (size_t)MANY, sizeof *numbers), *leaves = numbers + MANY;
  osla_forest *f, *g;
  for (int64_t i = 0; i < MANY; i++) {
    root[i] = (osla_root){0, i};
    numbers[i] = (double)i;
    leaves[i] = 0.0;
  }
  OSLA_ASSERT_OK(osla_forest_create(t, me == 0 ? MANY : 0, me == last ? MANY : 0, NULL, root, &f));
  OSLA_ASSERT_OK(osla_forest_create(t, me == 0 ? SOME : 0, me == last ? SOME : 0, NULL, root, &g));
  for (int round = 0; round < 20; round++) {
    osla_forest *of = round % 2 ? f : g;
    osla_forest_run run[3];
    OSLA_ASSERT_OK(
      osla_forest_bcast_begin(of, OSLA_ONE_DOUBLE, numbers, leaves, OSLA_REPLACE, &run[0]));
    if (me == 0) OSLA_ASSERT_OK(osla_forest_end(&run[0]));
    for (int k = 1; k < 3; k++)
      OSLA_ASSERT_OK(
        osla_forest_reduce_begin(of, OSLA_ONE_DOUBLE, leaves, numbers, OSLA_MAX, &run[k]));
    for (int k = me == 0; k < 3; k++)
      OSLA_ASSERT_OK(osla_forest_end(&run[k]));
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  OSLA_ASSERT_OK(osla_forest_destroy(&g));
  free(numbers);
  free(root);
  osla_transport_destroy(&t);
}

/* ---- agreements of all ranks ---- */

/* Sums up the trace, and returns how many reductions of all ranks each rank took part in. */
static int64_t reductions_of_trace(osla_transport *t)
{
  osla_trace_summary s;
  OSLA_ASSERT_OK(osla_trace_summarise(t, &s));
  return s.kind[OSLA_TRACE_ALLREDUCE].events / osla_test_size();
}

/* Returns the number of segments that the memory of all forests has. Collective. */
static int64_t segments_of_pool(osla_transport *t)
{
  forest_pool *pool;
  OSLA_ASSERT_OK(osli_forest_pool(t, OSLA_OK, &pool));
  int64_t n = 0;
  for (const pool_segment *s = pool->segments; s; s = s->next)
    n++;
  return n;
}

/* Creates and destroys forests, and checks the number of reductions of all ranks, which take most
 * of the time on many ranks. Three reductions make a forest with few edges, and on several nodes a
 * fourth one counts the edges between nodes. A forest with many edges between nodes consists of
 * four forests of three reductions each. Five more reductions count its edges, list its proxies,
 * and check errors. On many ranks these four forests do not fit into the memory that the first
 * forest has allocated, so a segment is added. Its creation takes reductions, another one checks
 * for errors before, and each of the four forests may take one to find that a segment is full. */
static void test_agreements(void)
{
  osla_transport *t = osla_test_transport();
  const bool several = osla_transport_n_nodes(t) > 1;
  const osla_root next = {(osla_test_rank() + 1) % osla_test_size(), 0};
  osla_forest *few = NULL;
  osla_segment *segment;
  osla_forest *many = make_forest(t); /* the first forest also allocates memory of all forests */
  OSLA_ASSERT_OK(osla_forest_destroy(&many));
  OSLA_ASSERT_OK(osla_trace_start(t));
  OSLA_ASSERT_OK(osla_forest_create(t, 1, 1, NULL, &next, &few));
  const int64_t of_few = reductions_of_trace(t);
  OSLA_ASSERT_OK(osla_trace_start(t));
  OSLA_ASSERT_OK(osla_forest_destroy(&few));
  const int64_t destroyed = reductions_of_trace(t);
  OSLA_ASSERT_OK(osla_trace_start(t));
  OSLA_ASSERT_OK(osla_segment_create(t, 8, 0, &segment));
  const int64_t of_segment = reductions_of_trace(t), segments = segments_of_pool(t);
  osla_segment_destroy(&segment);
  OSLA_ASSERT_OK(osla_trace_start(t));
  many = make_forest(t);
  const int64_t of_many = reductions_of_trace(t);
  OSLA_ASSERT_MSG(of_few == 3 + several, "%d reductions create few edges", (int)of_few);
  OSLA_ASSERT_MSG(destroyed == 2, "%d reductions destroy a forest", (int)destroyed);
  const int64_t fewest = several ? 17 : 3, added = segments_of_pool(t) - segments;
  OSLA_ASSERT_MSG(of_many >= fewest && of_many <= fewest + (of_segment + 5) * added,
                  "%d reductions and %d new segments, of %d reductions each, create many edges",
                  (int)of_many, (int)added, (int)of_segment);
  OSLA_ASSERT_OK(osla_trace_start(t));
  OSLA_ASSERT_OK(osla_forest_destroy(&many));
  const int64_t all_destroyed = reductions_of_trace(t);
  OSLA_ASSERT_MSG(all_destroyed == 2, "%d reductions destroy four forests", (int)all_destroyed);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"bytes", test_bytes},     {"reductions", test_reductions}, {"crossing", test_crossing},
  {"many", test_many},       {"mixed", test_mixed},           {"far between", test_far_between},
  {"credits", test_credits}, {"agreements", test_agreements}, {NULL, NULL}};
OSLA_TEST_SUITE(test_forest_two_level, cases);
