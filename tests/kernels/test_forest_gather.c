/* Tests of gathers, which copy the values of all leaves to their roots, and of scatters, which copy
 * them back. Each rank computes the expected values from the whole graph. */
#include "tests/kernels/forest_model.h"

#include <stdlib.h>
#include <string.h>

/* A vertex of two numbers, in 24 bytes. */
typedef struct pair {
  int64_t rank, index, gap;
} pair;
static const osla_unit pair_unit = {OSLA_UNIT_INT64, 2, sizeof(pair)};

enum { UNSET = -7, SCATTERED = 1000000 };

static pair *pairs(int64_t n)
{
  pair *p = osla_test_allocate((size_t)n + 1, sizeof *p);
  for (int64_t i = 0; i <= n; i++)
    p[i] = (pair){UNSET, UNSET, UNSET};
  return p;
}

/* Returns the leaves of this rank's roots in the order in which a gather stores them. The caller
 * frees the array. */
static pair *expected_order(const model_graph *g, int64_t *n)
{
  const int me = osla_test_rank();
  int64_t edges = 0;
  for (int q = 0; q < g->size; q++)
    edges += g->of[q].n_edges;
  pair *order = pairs(edges);
  *n = 0;
  for (int64_t j = 0; j < model_mine(g)->n_roots; j++)
    for (int q = 0; q < g->size; q++)
      for (int64_t e = 0; e < g->of[q].n_edges; e++)
        if (g->of[q].root[e].rank == me && g->of[q].root[e].index == j)
          order[(*n)++] = (pair){q, g->of[q].leaf[e], UNSET};
  return order;
}

/* Value of root `index` of a rank in the broadcast that is under way during a gather. */
static int64_t root_value(int rank, int64_t index)
{
  return 100000 * (int64_t)(rank + 1) + index;
}

static int64_t n_unequal(const pair *a, const pair *b, int64_t n)
{
  int64_t bad = 0;
  for (int64_t i = 0; i <= n; i++) /* the element after the array must be unchanged */
    bad += a[i].rank != b[i].rank || a[i].index != b[i].index || a[i].gap != b[i].gap;
  return bad;
}

/* Gathers the rank and index of each leaf, adds SCATTERED to the gathered indices, and scatters
 * them. A broadcast of the forest is under way meanwhile. */
static void gather_and_scatter(const model_graph *g, osla_forest *f)
{
  const model_share *mine = model_mine(g);
  const int64_t n = mine->leaf_space;
  int64_t n_gathered, *roots = osla_test_allocate((size_t)mine->n_roots + 1, sizeof *roots);
  int64_t *others = osla_test_allocate((size_t)n + 1, sizeof *others);
  pair *order = expected_order(g, &n_gathered), *leaves = pairs(n), *back = pairs(n);
  pair *gathered = pairs(n_gathered), *expected = pairs(n);
  osla_forest_run run, other;
  for (int64_t j = 0; j < mine->n_roots; j++)
    roots[j] = root_value(osla_test_rank(), j);
  for (int64_t i = 0; i < n; i++) {
    leaves[i] = (pair){osla_test_rank(), i, UNSET};
    others[i] = UNSET;
  }
  OSLA_ASSERT_OK(osla_forest_gather_leaves_begin(f, pair_unit, leaves, gathered, &run));
  OSLA_ASSERT_OK(osla_forest_bcast_begin(f, OSLA_ONE_INT64, roots, others, OSLA_REPLACE, &other));
  OSLA_ASSERT_OK(osla_forest_end(&run));
  int64_t bad = n_unequal(gathered, order, n_gathered);
  OSLA_ASSERT_MSG(bad == 0, "graph \"%s\": %d of %d gathered values are wrong", g->name, (int)bad,
                  (int)n_gathered);
  for (int64_t i = 0; i < n_gathered; i++)
    gathered[i].index += SCATTERED;
  for (int64_t e = 0; e < mine->n_edges; e++)
    expected[mine->leaf[e]] = (pair){osla_test_rank(), mine->leaf[e] + SCATTERED, UNSET};
  OSLA_ASSERT_OK(osla_forest_scatter_leaves(f, pair_unit, gathered, back));
  bad = n_unequal(back, expected, n);
  OSLA_ASSERT_MSG(bad == 0, "graph \"%s\": %d of %d scattered values are wrong", g->name, (int)bad,
                  (int)n);
  OSLA_ASSERT_OK(osla_forest_end(&other));
  for (int64_t e = 0; e < mine->n_edges; e++)
    CU_ASSERT(others[mine->leaf[e]] == root_value(mine->root[e].rank, mine->root[e].index));
  free(roots);
  free(others);
  free(order);
  free(leaves);
  free(back);
  free(gathered);
  free(expected);
}

static void test_kinds(void)
{
  for (int kind = 0; kind < MODEL_KINDS; kind++) {
    model_case c = model_case_open((model_kind)kind, 0);
    for (int i = 0; i < 3; i++)
      gather_and_scatter(&c.g, c.forest);
    model_case_close(&c);
  }
}

static void test_random(void)
{
  osla_transport *t = osla_test_transport();
  for (uint64_t seed = 40; seed < 44; seed++) {
    model_graph g = model_graph_make(seed % 2 ? MODEL_SOME_IDLE : MODEL_RANDOM, seed);
    osla_forest *f = model_forest(t, &g);
    gather_and_scatter(&g, f);
    OSLA_ASSERT_OK(osla_forest_destroy(&f));
    model_graph_free(&g);
  }
  osla_transport_destroy(&t);
}

/* Values without a number type, in memory that the ranks of the node read in place; the leaves are
 * overwritten after osla_forest_writable. */
static void test_bytes_in_place(void)
{
  enum { BYTES = 1000 };
  const osla_unit unit = {OSLA_UNIT_BYTES, BYTES, 0};
  model_case c = model_case_open(MODEL_EVEN, 0);
  int64_t n;
  pair *order = expected_order(&c.g, &n);
  const int64_t space = model_mine(&c.g)->leaf_space;
  void *memory = NULL;
  OSLA_ASSERT_OK(osla_vertices_create(c.t, (size_t)space * BYTES, &memory));
  unsigned char *leaves = memory, *gathered = osla_test_allocate((size_t)n + 1, BYTES);
  for (int round = 0; round < 3; round++) {
    osla_forest_run run;
    for (int64_t i = 0; i < space; i++)
      memset(leaves + i * BYTES, (int)(31 * osla_test_rank() + i + round) & 255, BYTES);
    OSLA_ASSERT_OK(osla_forest_gather_leaves_begin(c.forest, unit, leaves, gathered, &run));
    OSLA_ASSERT_OK(osla_forest_end_read(&run));
    OSLA_ASSERT_OK(osla_forest_writable(c.forest));
    memset(leaves, 0, (size_t)space * BYTES);
    int64_t bad = 0;
    for (int64_t i = 0; i < n * BYTES; i++) {
      const pair *p = &order[i / BYTES];
      bad += gathered[i] != ((31 * p->rank + p->index + round) & 255);
    }
    OSLA_ASSERT_MSG(bad == 0, "%d bytes of %d are wrong", (int)bad, (int)n * BYTES);
  }
  free(order);
  free(gathered);
  OSLA_ASSERT_OK(osla_vertices_free(c.t, &memory));
  model_case_close(&c);
}

/* Each wrong call is made by all ranks. */
static void test_errors(void)
{
  enum { MOST = 8 };
  model_case c = model_case_open(MODEL_EVEN, 0);
  const model_share *mine = model_mine(&c.g);
  int64_t n, *roots = osla_test_allocate((size_t)mine->n_roots + 1, sizeof *roots);
  pair *order = expected_order(&c.g, &n), *leaves = pairs(mine->leaf_space), *gathered = pairs(n);
  osla_forest_run run, runs[MOST];
  for (int i = 0; i < MOST; i++)
    OSLA_ASSERT_OK(
      osla_forest_reduce_begin(c.forest, OSLA_ONE_INT64, leaves, roots, OSLA_SUM, &runs[i]));
  OSLA_ASSERT_ERR(osla_forest_gather_leaves(c.forest, pair_unit, leaves, gathered), OSLA_ERR_STATE);
  for (int i = 0; i < MOST; i++)
    OSLA_ASSERT_OK(osla_forest_end(&runs[i]));
  for (int i = 0; i < MOST; i++)
    OSLA_ASSERT_OK(
      osla_forest_gather_leaves_begin(c.forest, pair_unit, leaves, gathered, &runs[i]));
  OSLA_ASSERT_ERR(osla_forest_scatter_leaves_begin(c.forest, pair_unit, gathered, leaves, &run),
                  OSLA_ERR_STATE);
  osla_forest *f = c.forest;
  OSLA_ASSERT_ERR(osla_forest_destroy(&f), OSLA_ERR_STATE);
  CU_ASSERT(f == c.forest);
  for (int i = 0; i < MOST; i++)
    OSLA_ASSERT_OK(osla_forest_end(&runs[i]));
  OSLA_ASSERT_ERR(osla_forest_end(&runs[0]), OSLA_ERR_STATE);
  OSLA_ASSERT_OK(osla_forest_reduce_begin(c.forest, OSLA_ONE_INT64, leaves, roots, OSLA_SUM, &run));
  OSLA_ASSERT_ERR(osla_forest_destroy(&f), OSLA_ERR_STATE);
  CU_ASSERT(f == c.forest);
  OSLA_ASSERT_OK(osla_forest_end(&run));
  OSLA_ASSERT_ERR(osla_forest_gather_leaves(c.forest, pair_unit, NULL, gathered), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_forest_scatter_leaves(c.forest, pair_unit, NULL, leaves), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_forest_gather_leaves(c.forest, pair_unit, gathered, gathered), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("overlap");
  OSLA_ASSERT_ERR(
    osla_forest_gather_leaves(c.forest, (osla_unit){OSLA_UNIT_INT64, 0, 0}, leaves, gathered),
    OSLA_ERR_ARG);
  gather_and_scatter(&c.g, c.forest);
  free(order);
  free(roots);
  free(leaves);
  free(gathered);
  model_case_close(&c);
}

static const osla_test_case cases[] = {{"kinds", test_kinds},
                                       {"random", test_random},
                                       {"bytes_in_place", test_bytes_in_place},
                                       {"errors", test_errors},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_forest_gather, cases);
