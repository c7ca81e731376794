/* Tests of fetches of star forests with OSLA_SUM_ARRIVAL. Each leaf gets the value that its root
 * had before the leaf's own value was added. Values of one rank are added in the order of its list
 * of leaves; otherwise any order is right. If the answers of a root are sorted, each answer plus
 * the value that its leaf added must be the next answer. */
#include "osla_random.h"
#include "tests/kernels/forest_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROOTS = 4, FEW = 12, MANY = 700 };
enum { MOST_COUNT = 3, FIRST = 1000, POOL = 1 << 20 };

/* A forest in which each rank has edges to roots of all ranks, or of one rank. */
typedef struct fetch_graph {
  osla_transport *t;
  osla_forest *forest;
  int n_edges;
  osla_root root[MANY];
} fetch_graph;

static void graph_open(fetch_graph *g, int n_edges, bool to_one)
{
  const int size = osla_test_size();
  g->n_edges = n_edges;
  for (int i = 0; i < n_edges; i++)
    g->root[i] = (osla_root){to_one ? size / 2 : (i * 5 + osla_test_rank()) % size, i * 7 % ROOTS};
  OSLA_ASSERT_OK(osla_forest_create(g->t, ROOTS, n_edges, NULL, g->root, &g->forest));
}

/* The value that leaf i of a rank adds to number c of its root. It is positive, so that sorting the
 * answers gives the order of the additions. */
static int64_t added(int rank, int i, int c)
{
  return 1 + (int64_t)(osla_random_bits(71, (uint64_t)rank, (uint64_t)(MOST_COUNT * i + c)) % 50);
}

static int64_t get(const void *values, size_t bytes, int i)
{
  return bytes == 8 ? ((const int64_t *)values)[i] : ((const int32_t *)values)[i];
}

static void set(void *values, size_t bytes, int i, int64_t value)
{
  if (bytes == 8)
    ((int64_t *)values)[i] = value;
  else
    ((int32_t *)values)[i] = (int32_t)value;
}

/* ---- check that the answers of each root follow some order of its leaves ---- */

/* The answer of a fetch to one number of a leaf. to: owner, index and number of the root, in one
 * integer; before: the value fetched; adds: the value added; turn: rank and list index of the leaf,
 * in one integer. */
typedef struct answer {
  int64_t to, before, adds, turn;
} answer;

static int by_root_and_value(const void *a, const void *b)
{
  const answer *x = a, *y = b;
  if (x->to != y->to) return x->to < y->to ? -1 : 1;
  return x->before < y->before ? -1 : x->before > y->before;
}

/* Gathers the answers of all ranks, by a sum of arrays in which each rank fills only its own part.
 * Collective. */
static answer *gather(const fetch_graph *g, const void *before, size_t bytes, int count, int *n)
{
  const int size = osla_test_size(), each = g->n_edges * count;
  answer *all = osla_test_allocate((size_t)(size * each), sizeof *all);
  memset(all, 0, (size_t)(size * each) * sizeof *all);
  for (int k = 0; k < each; k++) {
    const osla_root *root = &g->root[k / count];
    all[osla_test_rank() * each + k] =
      (answer){(root->rank * ROOTS + root->index) * count + k % count, get(before, bytes, k),
               added(osla_test_rank(), k / count, k % count), (int64_t)osla_test_rank() << 32 | k};
  }
  *n = size * each;
  OSLA_ASSERT_OK(osla_allreduce(g->t, all, 4 * (int64_t)*n, MPI_INT64_T, MPI_SUM));
  return all;
}

static bool in_list_order(const answer *a, int n)
{
  int64_t last[64];
  for (int p = 0; p < 64; p++)
    last[p] = -1;
  for (int k = 0; k < n; k++) {
    const int64_t rank = a[k].turn >> 32;
    if (a[k].turn <= last[rank]) return false;
    last[rank] = a[k].turn;
  }
  return true;
}

/* True if the sorted answers of one root are possible for some order of its leaves. *sum := the
 * final value of the root. */
static bool is_an_order(const answer *a, int n, int64_t *sum)
{
  int64_t value = FIRST;
  for (int k = 0; k < n; k++) {
    if (a[k].before != value) return false;
    value += a[k].adds;
  }
  *sum = value;
  return in_list_order(a, n);
}

static void check(const fetch_graph *g, const void *roots, const void *before, size_t bytes,
                  int count)
{
  int n, bad = 0;
  answer *all = gather(g, before, bytes, count, &n);
  qsort(all, (size_t)n, sizeof *all, by_root_and_value);
  for (int k = 0, end; k < n; k = end) {
    int64_t sum = 0;
    for (end = k; end < n && all[end].to == all[k].to;)
      end++;
    bad += !is_an_order(all + k, end - k, &sum);
    const int64_t at = all[k].to - (int64_t)osla_test_rank() * ROOTS * count;
    if (at >= 0 && at < ROOTS * count) bad += get(roots, bytes, (int)at) != sum;
  }
  OSLA_ASSERT_MSG(bad == 0, "%d roots of %zu bytes, %d edges, got no valid order", bad, bytes,
                  g->n_edges);
  free(all);
}

/* ---- cases of fetches ---- */

typedef struct fetch_values {
  char *roots, *leaves, *before;
} fetch_values;

static const osla_unit_type types[] = {OSLA_UNIT_INT32, OSLA_UNIT_INT64, OSLA_UNIT_UINT32,
                                       OSLA_UNIT_UINT64};

static size_t bytes_of(osla_unit_type type)
{
  return type == OSLA_UNIT_INT32 || type == OSLA_UNIT_UINT32 ? 4 : 8;
}

static void fill(const fetch_graph *g, fetch_values v, size_t bytes, int count)
{
  for (int j = 0; j < ROOTS * count; j++)
    set(v.roots, bytes, j, FIRST);
  for (int k = 0; k < g->n_edges * count; k++)
    set(v.leaves, bytes, k, added(osla_test_rank(), k / count, k % count));
  memset(v.before, 0x55, (size_t)(g->n_edges * count) * bytes);
}

/* Chooses the arrays of a fetch, in memory from osla_vertices_create (`in`) or from malloc (`out`).
 * Bits 0, 1 and 2 of `place` put the roots, the leaves and the answers into `in`; place = 8 puts
 * only the roots into `in`, and only on even ranks. */
static fetch_values values_at(char *in, char *out, int place)
{
  enum { PIECE = POOL / 4 };
  const bool roots_in = place == 8 ? osla_test_rank() % 2 == 0 : place & 1;
  return (fetch_values){roots_in ? in : out, (place & 2 ? in : out) + PIECE,
                        (place & 4 ? in : out) + 2 * PIECE};
}

static void run_fetches(int n_edges, bool to_one, int rounds)
{
  enum { PLACES = 9 };
  fetch_graph g = {.t = osla_test_transport()};
  void *in;
  char *out = osla_test_allocate(POOL, 1);
  graph_open(&g, n_edges, to_one);
  OSLA_ASSERT_OK(osla_vertices_create(g.t, POOL, &in));
  for (int round = 0; round < rounds; round++) {
    const osla_unit_type type = types[round % 4];
    const osla_unit unit = {type, round % 3 == 2 ? MOST_COUNT : 1, 0};
    const fetch_values v = values_at(in, out, round % PLACES);
    osla_forest_run run;
    fill(&g, v, bytes_of(type), unit.count);
    model_nap(72, (uint64_t)round);
    OSLA_ASSERT_OK(
      osla_forest_fetch_begin(g.forest, unit, v.roots, v.leaves, v.before, OSLA_SUM_ARRIVAL, &run));
    OSLA_ASSERT_OK(round % 2 ? osla_forest_end_read(&run) : osla_forest_end(&run));
    check(&g, v.roots, v.before, bytes_of(type), unit.count);
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&g.forest));
  OSLA_ASSERT_OK(osla_vertices_free(g.t, &in));
  free(out);
  osla_transport_destroy(&g.t);
}

static void test_few(void)
{
  run_fetches(FEW, false, 72);
}

static void test_many(void)
{
  run_fetches(MANY, false, 36);
}

/* All leaves are joined to the 4 roots of one rank. */
static void test_one_owner(void)
{
  run_fetches(FEW, true, 72);
  run_fetches(MANY, true, 18);
}

/* The vertices are larger than all buffers of sender and receiver together, in memory from malloc.
 * A rank must read answers while it still sends leaves. */
static void test_long(void)
{
  enum { NUMBERS = 6000 };
  osla_transport *t = osla_test_transport();
  const osla_root root = {(osla_test_rank() + 1) % osla_test_size(), 0};
  const osla_unit unit = {OSLA_UNIT_INT64, NUMBERS, 0};
  int64_t *all = osla_test_allocate(3 * NUMBERS, sizeof *all), bad = 0;
  int64_t *roots = all, *leaves = all + NUMBERS, *before = all + 2 * NUMBERS;
  osla_forest *forest = NULL;
  OSLA_ASSERT_OK(osla_forest_create(t, 1, 1, NULL, &root, &forest));
  for (int k = 0; k < NUMBERS; k++) {
    roots[k] = k;
    leaves[k] = 2 * k;
    before[k] = -1;
  }
  OSLA_ASSERT_OK(osla_forest_fetch(forest, unit, roots, leaves, before, OSLA_SUM_ARRIVAL));
  for (int k = 0; k < NUMBERS; k++)
    bad += before[k] != k || roots[k] != 3 * k;
  OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " of %d numbers are wrong", bad, NUMBERS);
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  free(all);
  osla_transport_destroy(&t);
}

/* All ranks fetch numbers from one counter, repeatedly and without a barrier. Each number must be
 * fetched exactly once. */
static void test_counter(void)
{
  enum { TIMES = 400 };
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size(), rank = osla_test_rank();
  const osla_root root = {size - 1, 0};
  osla_forest *forest = NULL;
  void *in;
  int *drawn = osla_test_allocate((size_t)(TIMES * size), sizeof *drawn), bad = 0;
  memset(drawn, 0, (size_t)(TIMES * size) * sizeof *drawn);
  OSLA_ASSERT_OK(osla_forest_create(t, rank == size - 1, 1, NULL, &root, &forest));
  OSLA_ASSERT_OK(osla_vertices_create(t, sizeof(int64_t), &in));
  for (int i = 0; i < TIMES; i++) {
    const int64_t one = 1;
    int64_t number = -1;
    OSLA_ASSERT_OK(osla_forest_fetch(forest, OSLA_ONE_INT64, in, &one, &number, OSLA_SUM_ARRIVAL));
    if (number >= (int64_t)i * size && number < (int64_t)(i + 1) * size)
      drawn[number]++;
    else
      bad++;
  }
  OSLA_ASSERT_OK(osla_allreduce(t, drawn, TIMES * size, MPI_INT, MPI_SUM));
  for (int k = 0; k < TIMES * size; k++)
    bad += drawn[k] != 1;
  OSLA_ASSERT_MSG(bad == 0, "%d numbers were not drawn once", bad);
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  OSLA_ASSERT_OK(osla_vertices_free(t, &in));
  free(drawn);
  osla_transport_destroy(&t);
}

/* Several fetches are under way, with broadcasts between them, and odd ranks end them in reverse
 * order. */
static void test_in_flight(void)
{
  enum { AT_ONCE = 3, ROUNDS = 20, PART = POOL / 4 };
  fetch_graph g = {.t = osla_test_transport()};
  void *in;
  graph_open(&g, FEW, false);
  OSLA_ASSERT_OK(osla_vertices_create(g.t, POOL, &in));
  for (int round = 0; round < ROUNDS; round++) {
    int64_t *at[2 * AT_ONCE], seen[FEW];
    osla_forest_run run[2 * AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
      at[i] = (int64_t *)((char *)in + i * PART);
      const fetch_values v = {(char *)at[i], (char *)(at[i] + ROOTS),
                              (char *)(at[i] + ROOTS + FEW)};
      fill(&g, v, 8, 1);
      OSLA_ASSERT_OK(osla_forest_fetch_begin(g.forest, OSLA_ONE_INT64, v.roots, v.leaves, v.before,
                                             OSLA_SUM_ARRIVAL, &run[i]));
    }
    const int64_t given[ROOTS] = {round, round + 1, round + 2, round + 3};
    OSLA_ASSERT_OK(osla_forest_bcast(g.forest, OSLA_ONE_INT64, given, seen, OSLA_REPLACE));
    model_nap(73, (uint64_t)round);
    for (int i = 0; i < AT_ONCE; i++)
      OSLA_ASSERT_OK(osla_forest_end(&run[osla_test_rank() % 2 ? AT_ONCE - 1 - i : i]));
    for (int i = 0; i < AT_ONCE; i++)
      check(&g, at[i], at[i] + ROOTS + FEW, 8, 1);
    for (int k = 0; k < FEW; k++)
      CU_ASSERT(seen[k] == round + g.root[k].index);
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&g.forest));
  OSLA_ASSERT_OK(osla_vertices_free(g.t, &in));
  osla_transport_destroy(&g.t);
}

/* The owner of the roots begins the fetch, calls osla_barrier, and ends the fetch after that. All
 * other ranks need their answers before they enter the barrier, so the owner must serve them while
 * it waits in the barrier. */
static void test_owner_is_elsewhere(void)
{
  fetch_graph g = {.t = osla_test_transport()};
  const bool owner = osla_test_rank() == osla_test_size() / 2;
  void *in;
  graph_open(&g, FEW, true);
  OSLA_ASSERT_OK(osla_vertices_create(g.t, POOL, &in));
  const fetch_values v = {in, (char *)in + POOL / 4, (char *)in + POOL / 2};
  osla_forest_run run;
  fill(&g, v, 8, 1);
  OSLA_ASSERT_OK(osla_forest_fetch_begin(g.forest, OSLA_ONE_INT64, v.roots, v.leaves, v.before,
                                         OSLA_SUM_ARRIVAL, &run));
  if (!owner) OSLA_ASSERT_OK(osla_forest_end(&run));
  OSLA_ASSERT_OK(osla_barrier(g.t));
  if (owner) OSLA_ASSERT_OK(osla_forest_end(&run));
  check(&g, v.roots, v.before, 8, 1);
  OSLA_ASSERT_OK(osla_forest_destroy(&g.forest));
  OSLA_ASSERT_OK(osla_vertices_free(g.t, &in));
  osla_transport_destroy(&g.t);
}

/* OSLA_SUM_ARRIVAL is refused for fetches of doubles and of integers below 64 bits. */
static void test_types(void)
{
  osla_transport *t = osla_test_transport();
  const osla_root root = {osla_test_rank(), 0};
  osla_forest *f = NULL;
  double x[6] = {0};
  OSLA_ASSERT_OK(osla_forest_create(t, 1, 1, NULL, &root, &f));
  OSLA_ASSERT_ERR(osla_forest_fetch(f, OSLA_ONE_DOUBLE, x, x + 2, x + 4, OSLA_SUM_ARRIVAL),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("a fetch of double has no SUM_ARRIVAL");
  const osla_unit narrow = {OSLA_UNIT_INT16, 1, 0};
  OSLA_ASSERT_ERR(osla_forest_fetch(f, narrow, x, x + 2, x + 4, OSLA_SUM_ARRIVAL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("a fetch of int16 has no SUM_ARRIVAL");
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"few", test_few},
  {"many", test_many},
  {"one_owner", test_one_owner},
  {"long", test_long},
  {"counter", test_counter},
  {"in_flight", test_in_flight},
  {"owner_is_elsewhere", test_owner_is_elsewhere},
  {"types", test_types},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_forest_fetch, cases);
