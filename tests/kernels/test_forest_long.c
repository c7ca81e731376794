/* Tests of star forests with values larger than any message buffer, with memory that is reused,
 * with channels that have carried many messages, and with sums that must have the same bits in
 * every run. */
#include "kernels/forest/forest.h"
#include "osla_random.h"
#include "tests/kernels/forest_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { POOL = 400000 };

/* A list of 300,000 edges in descending order, with a double at each vertex: more than any message
 * buffer holds. */
static void test_long_link(void)
{
  enum { N = 300000 };
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), last = osla_test_size() - 1;
  int64_t n_roots = rank == last ? N : 0, n_edges = rank == 0 ? N : 0, bad = 0;
  osla_root *root = osla_test_allocate(N, sizeof *root);
  for (int i = 0; i < N; i++)
    root[i] = (osla_root){last, N - 1 - i};
  osla_forest *f = NULL;
  osla_forest_run run[2];
  OSLA_ASSERT_OK(osla_forest_create(t, n_roots, n_edges, NULL, root, &f));
  void *vertices = NULL;
  OSLA_ASSERT_OK(osla_vertices_create(t, 3 * N * sizeof(double), &vertices));
  double *plain = osla_test_allocate((size_t)3 * N, sizeof *plain);
  for (int place = 0; place < 4; place++) {
    double *roots = place & 1 ? vertices : plain;
    double *leaves = (place & 2 ? (double *)vertices : plain) + N, *before = leaves + N;
    for (int i = 0; i < N; i++)
      roots[i] = i + 0.5, leaves[i] = before[i] = -1;
    OSLA_ASSERT_OK(osla_forest_bcast_begin(f, OSLA_ONE_DOUBLE, roots, leaves, OSLA_SUM, &run[0]));
    OSLA_ASSERT_OK(
      osla_forest_bcast_begin(f, OSLA_ONE_DOUBLE, roots, before, OSLA_REPLACE, &run[1]));
    OSLA_ASSERT_OK(osla_forest_end(&run[rank % 2]));
    OSLA_ASSERT_OK(osla_forest_end(&run[!(rank % 2)]));
    for (int64_t i = 0; i < n_edges; i++)
      bad += !(leaves[i] == (double)N - 1.5 - (double)i && before[i] == leaves[i] + 1);
    OSLA_ASSERT_OK(
      osla_forest_fetch_begin(f, OSLA_ONE_DOUBLE, roots, leaves, before, OSLA_REPLACE, &run[0]));
    OSLA_ASSERT_OK(osla_forest_end(&run[0]));
    for (int64_t i = 0; i < n_edges; i++)
      bad += !(before[i] == leaves[i] + 1);
    for (int64_t i = 0; i < n_roots; i++)
      bad += !(roots[i] == (double)i - 0.5);
  }
  OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " values differ", bad);
  OSLA_ASSERT_OK(osla_vertices_free(t, &vertices));
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  free(root);
  free(plain);
  osla_transport_destroy(&t);
}

/* Adds a number to all message counts of the ring buffers between ranks, as if so many messages had
 * been sent each way and acknowledged. Message headers have only the low 32 bits of these counts.
 */
static void age_links(forest_links *links, uint64_t parts)
{
  for (int i = 0; i < links->n; i++) {
    forest_ring *r = &links->of[i].ring;
    if (links->of[i].is_near || links->of[i].is_self) continue;
    /* a transport with its own messages has no message counts that the test could change */
    CU_ASSERT(!r->in && !r->out);
    const uint64_t more = parts / r->n_slots * r->n_slots;
    uint64_t *const mine[] = {&r->sent, &r->consumed, &r->credited, &r->n_traced,
                              &r->receives_started};
    _Atomic uint64_t *const shared[] = {&r->departed, &r->words->arrived, &r->words->consumed};
    for (size_t k = 0; k < sizeof mine / sizeof *mine; k++)
      *mine[k] += more;
    for (size_t k = 0; k < sizeof shared / sizeof *shared; k++)
      (void)atomic_fetch_add(shared[k], more);
  }
}

/* Ring buffers between ranks work when their message counts pass 2^31 and 2^32. First, values are
 * sent in one direction, then in both directions. */
static void test_long_life(void)
{
  static const uint64_t ages[] = {0, (1ull << 31) - 16, 1ull << 31, (1ull << 32) - 16, 5ull << 32};
  const char *wish = getenv("OSLA_MESSAGES");
  char *before = wish ? strdup(wish) : NULL;
  (void)setenv("OSLA_MESSAGES", "off", 1);
  osla_transport *t = osla_test_transport();
  const int rank = osla_test_rank(), last = osla_test_size() - 1;
  const osla_root root = {last, 0};
  int bad = 0;
  (void)(before ? setenv("OSLA_MESSAGES", before, 1) : unsetenv("OSLA_MESSAGES"));
  free(before);
  for (size_t age = 0; age < sizeof ages / sizeof *ages; age++) {
    osla_forest *f = NULL;
    OSLA_ASSERT_OK(osla_forest_create(t, rank == last, rank == 0, NULL, &root, &f));
    age_links(&f->to_roots, ages[age]);
    if (rank == last) age_links(&f->to_leaves, ages[age]);
    OSLA_ASSERT_OK(osla_barrier(t));
    double value = 0.0, leaf = 0.0;
    for (int i = 0; i < 60; i++) {
      value += rank == last;
      OSLA_ASSERT_OK(osla_forest_bcast(f, OSLA_ONE_DOUBLE, &value, &leaf, OSLA_REPLACE));
      bad += rank == 0 && leaf != 2 * i + 1;
      leaf = 1.0;
      if (i > 30)
        OSLA_ASSERT_OK(osla_forest_reduce(f, OSLA_ONE_DOUBLE, &leaf, &value, OSLA_SUM));
      else
        value += rank == last;
    }
    OSLA_ASSERT_OK(osla_forest_destroy(&f));
  }
  OSLA_ASSERT_MSG(bad == 0, "%d values differ", bad);
  osla_transport_destroy(&t);
}

/* Vertices are larger than any message buffer. Two transfers are under way, and ranks end them in
 * different orders. */
static void test_long_units(void)
{
  static const osla_unit units[] = {{OSLA_UNIT_DOUBLE, 5000, 0}, {OSLA_UNIT_INT16, 5000, 10010}};
  model_case c = model_case_open(MODEL_RING, POOL);
  model_memory memory = model_memory_make(c.t, 4000000);
  for (int place = 0; place < MODEL_PLACES; place++) {
    model_trial trials[2];
    int odd = osla_test_rank() % 2;
    for (int i = 0; i < 2; i++) {
      trials[i] =
        model_case_trial(&c, (model_op)((place + i) % MODEL_OPS), place, 10 + (uint64_t)place);
      trials[i].unit = units[i];
      model_fill(&trials[i], &memory);
      model_start(&trials[i]);
    }
    OSLA_ASSERT_OK(osla_forest_end(&trials[odd].run));
    OSLA_ASSERT_OK(osla_forest_end(&trials[!odd].run));
    model_check_all(trials, 2);
    memory.used = 0;
  }
  model_memory_free(&memory);
  model_case_close(&c);
}

/* Memory from osla_vertices_create is freed, mmap returns memory at the same address for other
 * values, and after munmap osla_vertices_create may return the address again. */
static void test_used_addresses(void)
{
  enum { BYTES = 65536 };
  model_case c = model_case_open(MODEL_RANDOM, POOL);
  for (int round = 0; round < 4; round++) {
    void *at = NULL;
    OSLA_ASSERT_OK(osla_vertices_create(c.t, BYTES, &at));
    model_memory in = model_memory_over(at, BYTES);
    for (int op = 0; op < MODEL_OPS; op++)
      model_run(model_case_trial(&c, (model_op)op, MODEL_ALL_IN, 10 * (uint64_t)round), &in);
    /* in every second round, odd ranks use other addresses */
    void *hint = round % 2 && osla_test_rank() % 2 ? NULL : at;
    OSLA_ASSERT_OK(osla_vertices_free(c.t, &at));
    at = mmap(hint, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) abort();
    in.bytes = at;
    for (int op = 0; op < MODEL_OPS; op++)
      model_run(model_case_trial(&c, (model_op)op, MODEL_ALL_IN, 20 + (uint64_t)round), &in);
    (void)munmap(at, BYTES);
  }
  model_case_close(&c);
}

/* Doubles from 1e-6 to 1e6. The rounding of their sums depends on the order of the additions. */
static double inexact(int rank, int64_t at, int k)
{
  static const double sizes[] = {1e-6, 1e-3, 1, 1e3, 1e6};
  uint64_t i = (uint64_t)rank << 32 | (uint64_t)at;
  return osla_random_normal(8, i, (uint64_t)k) * sizes[osla_random_bits(9, i, (uint64_t)k) % 5];
}

enum { WIDE = 3 };

/* Adds all values of leaves to the roots in the documented order. roots [in, out] contains the
 * roots of all ranks; the roots of rank p begin at start[p]. before [out] contains, for each leaf
 * of this rank, the value of its root before the leaf was added. */
static void sum_serially(const model_graph *g, const int64_t *start, double *roots, double *before)
{
  for (int p = 0; p < g->size; p++)
    for (int64_t e = 0; e < g->of[p].n_edges; e++)
      for (int k = 0; k < WIDE; k++) {
        double *r = &roots[(start[g->of[p].root[e].rank] + g->of[p].root[e].index) * WIDE + k];
        if (p == osla_test_rank()) before[g->of[p].leaf[e] * WIDE + k] = *r;
        *r += inexact(p, g->of[p].leaf[e], k);
      }
}

/* Twenty sums of doubles, with random pauses on each rank, must have the bits of the serial sum. */
static void test_same_bits(void)
{
  model_case c = model_case_open(MODEL_RANDOM, POOL);
  const model_share *s = model_mine(&c.g);
  const osla_unit unit = {OSLA_UNIT_DOUBLE, WIDE, 0};
  int me = osla_test_rank();
  int64_t *start = osla_test_allocate((size_t)c.g.size + 1, sizeof *start);
  for (int p = 0; p < c.g.size; p++)
    start[p + 1] = start[p] + c.g.of[p].n_roots;
  size_t nr = (size_t)s->n_roots * WIDE, nl = (size_t)s->leaf_space * WIDE;
  double *sums = osla_test_allocate((size_t)start[c.g.size] * WIDE, sizeof *sums);
  double *found = osla_test_allocate(nl, sizeof *found),
         *x = osla_test_allocate(nr + 2 * nl, sizeof *x);
  for (int p = 0; p < c.g.size; p++)
    for (int64_t i = 0; i < c.g.of[p].n_roots * WIDE; i++)
      sums[start[p] * WIDE + i] = inexact(p + 1000, i, 0);
  sum_serially(&c.g, start, sums, found);
  for (int i = 0; i < 20; i++) {
    double *roots = i % 3 ? c.memory.vertices : x, *leaves = roots + nr, *before = leaves + nl;
    osla_forest_run run;
    for (size_t k = 0; k < nr; k++)
      roots[k] = inexact(me + 1000, (int64_t)k, 0);
    memset(before, 0, nl * sizeof *before);
    for (int64_t k = 0; k < (int64_t)nl; k++)
      leaves[k] = inexact(me, k / WIDE, (int)(k % WIDE));
    model_nap(4, (uint64_t)i);
    if (i % 2)
      OSLA_ASSERT_OK(osla_forest_reduce_begin(c.forest, unit, leaves, roots, OSLA_SUM, &run));
    else
      OSLA_ASSERT_OK(
        osla_forest_fetch_begin(c.forest, unit, roots, leaves, before, OSLA_SUM, &run));
    model_nap(5, (uint64_t)i);
    OSLA_ASSERT_OK(osla_forest_end(&run));
    CU_ASSERT(memcmp(roots, sums + start[me] * WIDE, nr * sizeof *roots) == 0);
    CU_ASSERT(i % 2 || memcmp(before, found, nl * sizeof *found) == 0);
  }
  free(start);
  free(sums);
  free(found);
  free(x);
  model_case_close(&c);
}

static const osla_test_case cases[] = {
  {"long_link", test_long_link},   {"long_life", test_long_life},
  {"long_units", test_long_units}, {"used_addresses", test_used_addresses},
  {"same_bits", test_same_bits},   {NULL, NULL},
};
OSLA_TEST_SUITE(test_forest_long, cases);
