/* Tests of star forests: set-up, queries, broadcasts, reductions and fetches on graphs of many
 * kinds, with values in several kinds of memory. */
#include "tests/kernels/forest_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { POOL = 200000 };

/* ---- set-up and queries of star forests ---- */

/* Checks the list `ranks`. If `of_roots` is true, it must be the ranks that own the roots of this
 * rank's leaves, otherwise the ranks that own the leaves of this rank's roots. */
static void expect_ranks(const model_graph *g, int n, const int *ranks, bool of_roots)
{
  int me = osla_test_rank(), at = 0;
  for (int q = 0; q < g->size; q++) {
    const model_share *leaves = &g->of[of_roots ? me : q];
    int other = of_roots ? q : me;
    bool joined = false;
    for (int64_t e = 0; e < leaves->n_edges; e++)
      joined |= leaves->root[e].rank == other;
    if (!joined) continue;
    OSLA_ASSERT_MSG(at < n && ranks[at] == q, "graph \"%s\": %s rank %d is missing at %d of %d",
                    g->name, of_roots ? "root" : "leaf", q, at, n);
    at++;
  }
  OSLA_ASSERT_MSG(at == n, "graph \"%s\": %d ranks, not %d", g->name, n, at);
}

static void test_queries(void)
{
  osla_transport *t = osla_test_transport();
  for (int kind = 0; kind < MODEL_KINDS; kind++) {
    model_graph g = model_graph_make((model_kind)kind, 1);
    osla_forest *forest = model_forest(t, &g);
    const int *ranks = NULL;
    CU_ASSERT(osla_forest_n_roots(forest) == model_mine(&g)->n_roots);
    CU_ASSERT(osla_forest_n_edges(forest) == model_mine(&g)->n_edges);
    CU_ASSERT(osla_forest_leaf_space(forest) == model_mine(&g)->leaf_space);
    CU_ASSERT(osla_forest_transport(forest) == t);
    int n = osla_forest_root_ranks(forest, &ranks);
    expect_ranks(&g, n, ranks, true);
    n = osla_forest_leaf_ranks(forest, &ranks);
    expect_ranks(&g, n, ranks, false);
    OSLA_ASSERT_OK(osla_forest_destroy(&forest));
    CU_ASSERT(forest == NULL);
    OSLA_ASSERT_OK(osla_forest_destroy(&forest)); /* osla_forest_destroy accepts NULL */
    model_graph_free(&g);
  }
  osla_transport_destroy(&t);
}

/* ---- transfers of star forests ---- */

/* Runs every operation with arrays in every kind of memory on one forest, without a barrier between
 * transfers. As soon as a transfer has ended, the values that it read are overwritten. */
static void run_all(const model_graph *g, osla_forest *forest, model_memory *memory, uint64_t seed)
{
  static const struct {
    model_op op;
    osla_forest_combine combine;
  } what[] = {
    {MODEL_BCAST, OSLA_REPLACE},  {MODEL_REDUCE, OSLA_SUM},         {MODEL_BCAST, OSLA_SUM},
    {MODEL_REDUCE, OSLA_REPLACE}, {MODEL_FETCH, OSLA_SUM},          {MODEL_REDUCE, OSLA_MAX},
    {MODEL_FETCH, OSLA_REPLACE},  {MODEL_REDUCE, OSLA_SUM_ARRIVAL},
  };
  for (int place = 0; place < MODEL_PLACES; place++)
    for (int i = 0; i < 8; i++) {
      osla_unit unit = (i + place) % 2 ? OSLA_ONE_INT64 : OSLA_ONE_DOUBLE;
      seed++;
      model_run((model_trial){.graph = g,
                              .forest = forest,
                              .op = what[i].op,
                              .unit = unit,
                              .combine = what[i].combine,
                              .place = place,
                              .seed = seed},
                memory);
    }
}

static void test_kinds(void)
{
  osla_transport *t = osla_test_transport();
  model_memory memory = model_memory_make(t, POOL);
  for (int kind = 0; kind < MODEL_KINDS; kind++) {
    model_graph g = model_graph_make((model_kind)kind, 2);
    osla_forest *forest = model_forest(t, &g);
    run_all(&g, forest, &memory, 100 * (uint64_t)kind);
    OSLA_ASSERT_OK(osla_forest_destroy(&forest));
    model_graph_free(&g);
  }
  model_memory_free(&memory);
  osla_transport_destroy(&t);
}

static void test_random(void)
{
  osla_transport *t = osla_test_transport();
  model_memory memory = model_memory_make(t, POOL);
  const char *first = getenv("OSLA_TEST_SEED"), *times = getenv("OSLA_TEST_ROUNDS");
  uint64_t seed = first ? strtoull(first, NULL, 10) : 10;
  int rounds = times ? atoi(times) : osla_test_size() > FEW_RANKS ? 2 : 4;
  for (int i = 0; i < rounds; i++, seed++) {
    model_graph g = model_graph_make(i % 2 ? MODEL_SOME_IDLE : MODEL_RANDOM, seed);
    osla_forest *forest = i % 4 < 2 ? model_forest(t, &g) : model_forest_global(t, &g);
    run_all(&g, forest, &memory, 1000 * seed);
    OSLA_ASSERT_OK(osla_forest_destroy(&forest));
    model_graph_free(&g);
  }
  model_memory_free(&memory);
  osla_transport_destroy(&t);
}

/* Creates forests from global root indices; some ranks own no root. */
static void test_global(void)
{
  static const model_kind kinds[] = {MODEL_RANDOM, MODEL_FROM_LAST, MODEL_NO_ROOTS, MODEL_RING};
  osla_transport *t = osla_test_transport();
  model_memory memory = model_memory_make(t, POOL);
  for (int i = 0; i < 4; i++) {
    model_graph g = model_graph_make(kinds[i], 3);
    osla_forest *forest = model_forest_global(t, &g);
    CU_ASSERT(osla_forest_n_roots(forest) == model_mine(&g)->n_roots);
    CU_ASSERT(osla_forest_n_edges(forest) == model_mine(&g)->n_edges);
    run_all(&g, forest, &memory, 5000 + 100 * (uint64_t)i);
    OSLA_ASSERT_OK(osla_forest_destroy(&forest));
    model_graph_free(&g);
  }
  model_memory_free(&memory);
  osla_transport_destroy(&t);
}

/* A fetch that adds 1 for each leaf numbers the leaves of each root: in the order of the ranks, and
 * on each rank in the order of its list of leaves. */
static void test_places_in_line(void)
{
  osla_transport *t = osla_test_transport();
  model_graph g = model_graph_make(MODEL_ONE_ROOT, 4);
  const model_share *mine = model_mine(&g);
  osla_forest *forest = model_forest(t, &g);
  int64_t roots[5] = {100, 200, 300, 400, 500}, ones[9], before[9], line = 400, all = 0;
  osla_forest_run run;
  for (int i = 0; i < 9; i++)
    ones[i] = 1, before[i] = -1;
  for (int p = 0; p < g.size; p++) {
    if (p < osla_test_rank()) line += g.of[p].n_edges;
    all += g.of[p].n_edges;
  }
  OSLA_ASSERT_OK(
    osla_forest_fetch_begin(forest, OSLA_ONE_INT64, roots, ones, before, OSLA_SUM, &run));
  OSLA_ASSERT_OK(osla_forest_end(&run));
  for (int64_t e = 0; e < mine->n_edges; e++)
    OSLA_ASSERT_MSG(before[mine->leaf[e]] == line + e, "%" PRId64 " in place of %" PRId64,
                    before[mine->leaf[e]], line + e);
  CU_ASSERT(roots[3] == (mine->n_roots ? 400 + all : 400));
  CU_ASSERT(roots[0] == 100 && roots[1] == 200 && roots[2] == 300 && roots[4] == 500);
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  model_graph_free(&g);
  osla_transport_destroy(&t);
}

/* ---- memory of values ---- */

static void test_vertices(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank();
  void *all[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3; i++) {
    size_t bytes = i == 2 ? 0 : (size_t)((rank + i) % 3) * 5001;
    OSLA_ASSERT_OK(osla_vertices_create(t, bytes, &all[i]));
    CU_ASSERT(all[i] != NULL);
    CU_ASSERT((uintptr_t)all[i] % 4096 == 0);
    size_t set = 0;
    for (size_t k = 0; k < bytes; k++)
      set += ((unsigned char *)all[i])[k] != 0;
    OSLA_ASSERT_MSG(set == 0, "%zu of %zu bytes are not zero", set, bytes);
    if (bytes > 0) memset(all[i], rank + 1, bytes);
  }
  for (int i = 0; i < 3; i++) {
    OSLA_ASSERT_OK(osla_vertices_free(t, &all[i]));
    CU_ASSERT(all[i] == NULL);
    OSLA_ASSERT_OK(osla_vertices_free(t, &all[i])); /* osla_vertices_free accepts NULL */
  }
  osla_transport_destroy(&t);
}

/* Values in the memory of segments and matrices are copied through a buffer. */
static void test_segments(void)
{
  osla_transport *t = osla_test_transport();
  model_graph g = model_graph_make(MODEL_RANDOM, 5);
  osla_forest *forest = model_forest(t, &g);
  osla_segment *s = NULL;
  OSLA_ASSERT_OK(osla_segment_create(t, POOL, 0, &s));
  osla_matrix *a = osla_test_make(t, 0, OSLA_DOUBLE, 200, 200, 10, 10);
  size_t bytes =
    sizeof(double) * (size_t)(osla_matrix_lld(a, osla_test_rank()) * osla_matrix_local_cols(a));
  model_memory own = model_memory_over(osla_segment_local(s), POOL);
  model_memory elements = model_memory_over(osla_matrix_local(a), bytes);
  run_all(&g, forest, &own, 6000);
  run_all(&g, forest, &elements, 7000);
  OSLA_ASSERT_OK(osla_barrier(t)); /* after this barrier no rank reads the segment */
  osla_segment_destroy(&s);
  osla_test_destroy(a);
  own = model_memory_over(osla_test_allocate(POOL, 1), POOL);
  run_all(&g, forest, &own, 8000);
  free(own.bytes);
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  model_graph_free(&g);
  osla_transport_destroy(&t);
}

/* One array holds roots followed by ghosts of other ranks' roots. Broadcasts fill the ghosts, and
 * reductions add the ghosts to the roots. */
static void test_ghosts(void)
{
  osla_transport *t = osla_test_transport();
  model_graph g = model_graph_make(MODEL_GHOSTS, 6);
  const model_share *s = model_mine(&g);
  osla_forest *forest = model_forest(t, &g);
  void *vertices = NULL;
  double plain[16];
  OSLA_ASSERT_OK(osla_vertices_create(t, sizeof plain, &vertices));
  for (int round = 0; round < 6; round++) {
    bool in = round % 3 == 2 ? osla_test_rank() % 2 : round % 3;
    double *x = in ? vertices : plain;
    int64_t bad = 0;
    osla_forest_run run;
    for (int i = 0; i < 8; i++)
      x[i] = 100 * round + 10 * osla_test_rank() + i, x[8 + i] = -1;
    OSLA_ASSERT_OK(osla_forest_bcast_begin(forest, OSLA_ONE_DOUBLE, x, x, OSLA_REPLACE, &run));
    OSLA_ASSERT_OK(osla_forest_end(&run));
    for (int64_t e = 0; e < 8; e++) {
      double expected = (double)(100 * round + 10 * s->root[e].rank + s->root[e].index);
      bad += !(x[s->leaf[e]] == expected);
      x[s->leaf[e]] = 1000;
    }
    OSLA_ASSERT_OK(osla_forest_reduce_begin(forest, OSLA_ONE_DOUBLE, x, x, OSLA_SUM, &run));
    OSLA_ASSERT_OK(osla_forest_end(&run));
    for (int i = 0; i < 8; i++)
      bad += !(x[i] == 100 * round + 10 * osla_test_rank() + i + 1000 && x[8 + i] == 1000);
    OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " values differ in round %d", bad, round);
  }
  OSLA_ASSERT_OK(osla_vertices_free(t, &vertices));
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  model_graph_free(&g);
  osla_transport_destroy(&t);
}

/* Roots and leaves are two members, `root` and `leaf`, of the structs of one array. The memory of
 * the roots and the memory of the leaves overlap, but no double is both a root and a leaf. */
static void test_fields_of_records(void)
{
  typedef struct record {
    double root, leaf;
    int64_t other;
  } record;
  enum { RECORDS = 130 };
  osla_transport *t = osla_test_transport();
  model_graph g = model_graph_make(MODEL_RANDOM, 7);
  const model_share *s = model_mine(&g);
  osla_forest *forest = model_forest(t, &g);
  const osla_unit unit = {OSLA_UNIT_DOUBLE, 1, sizeof(record)};
  void *vertices = NULL;
  OSLA_ASSERT_OK(osla_vertices_create(t, RECORDS * sizeof(record), &vertices));
  record *plain = osla_test_allocate(RECORDS, sizeof *plain);
  for (int in = 0; in < 2; in++) {
    record *r = in ? vertices : plain;
    int64_t bad = 0;
    osla_forest_run run = {0};
    for (int i = 0; i < RECORDS; i++)
      r[i] = (record){100 * osla_test_rank() + i, -1, 7};
    osla_err err =
      osla_forest_bcast_begin(forest, unit, &r[0].root, &r[0].leaf, OSLA_REPLACE, &run);
    /* if a rank has not begun the transfer, other ranks would wait for it in osla_forest_end */
    err = osla_agree(t, err);
    OSLA_ASSERT_OK(err);
    if (err == OSLA_OK) OSLA_ASSERT_OK(osla_forest_end(&run));
    for (int64_t e = 0; e < s->n_edges; e++) {
      bad += !(r[s->leaf[e]].leaf == (double)(100 * s->root[e].rank + s->root[e].index));
      r[s->leaf[e]].leaf = -1;
    }
    for (int i = 0; i < RECORDS; i++)
      bad += !(r[i].root == 100 * osla_test_rank() + i && r[i].leaf == -1 && r[i].other == 7);
    OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " fields differ", bad);
    OSLA_ASSERT_OK(osla_barrier(t));
  }
  OSLA_ASSERT_OK(osla_vertices_free(t, &vertices));
  free(plain);
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  model_graph_free(&g);
  osla_transport_destroy(&t);
}

/* Forests with the largest possible indices. The memory of a forest depends on the number of edges,
 * not on the indices, and an array may have more than 2^32 bytes. */
static void test_largest_indices(void)
{
  osla_transport *t = osla_test_transport();
  const int64_t all = (int64_t)1 << 32, last = all - 1;
  const osla_root root = {0, last};
  const osla_unit byte = {OSLA_UNIT_BYTES, 1, 0};
  osla_forest *forest = NULL;
  osla_forest_run run;
  unsigned char *bytes[2];
  for (int i = 0; i < 2; i++)
    bytes[i] = mmap(NULL, (size_t)all, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  osla_err room = osla_agree(t, bytes[0] == MAP_FAILED || bytes[1] == MAP_FAILED
                                  ? osla_error_set(OSLA_ERR_MEM, "4 GiB")
                                  : OSLA_OK);
  int64_t n_roots = osla_test_rank() == 0 ? all : 0;
  bool made = OSLA_ASSERT_OK(osla_forest_create(t, n_roots, 1, &last, &root, &forest));
  CU_ASSERT(!made || osla_forest_leaf_space(forest) == all);
  CU_ASSERT(!made || osla_forest_n_roots(forest) == n_roots);
  if (made && room == OSLA_OK) {
    bytes[0][last] = 99;
    OSLA_ASSERT_OK(osla_forest_bcast_begin(forest, byte, bytes[0], bytes[1], OSLA_REPLACE, &run));
    OSLA_ASSERT_OK(osla_forest_end(&run));
    CU_ASSERT(bytes[1][last] == 99 && bytes[1][0] == 0);
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  for (int i = 0; i < 2; i++)
    if (bytes[i] != MAP_FAILED) (void)munmap(bytes[i], (size_t)all);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"queries", test_queries},
  {"kinds", test_kinds},
  {"random", test_random},
  {"global", test_global},
  {"places_in_line", test_places_in_line},
  {"vertices", test_vertices},
  {"segments", test_segments},
  {"ghosts", test_ghosts},
  {"fields_of_records", test_fields_of_records},
  {"largest_indices", test_largest_indices},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_forest, cases);
