/* Tests of forests of sections: vertices that have different numbers of values. Each rank computes
 * the expected values from the whole graph. */
#include "tests/kernels/forest_model.h"

#include <stdlib.h>

enum { UNSET = -7, ALONE = 3 };

/* Number of values of root j of rank p, 0 to 4. */
static int64_t n_values(int p, int64_t j)
{
  return (3 * p + 7 * j) % 5;
}

/* Index of the first value of root j of rank p. */
static int64_t first_value(int p, int64_t j)
{
  int64_t first = 0;
  for (int64_t i = 0; i < j; i++)
    first += n_values(p, i);
  return first;
}

/* Edge of each leaf of a rank; -1 if the leaf has no edge. The caller frees the array. */
static int64_t *edges_of_leaves(const model_share *s)
{
  int64_t *edge = osla_test_allocate((size_t)s->leaf_space + 1, sizeof *edge);
  for (int64_t i = 0; i < s->leaf_space; i++)
    edge[i] = -1;
  for (int64_t e = 0; e < s->n_edges; e++)
    edge[s->leaf[e]] = e;
  return edge;
}

/* Starts of the sections of a rank's leaves: [leaf_space + 1]. Leaves without an edge have ALONE
 * values. The caller frees the array. */
static int64_t *leaf_starts(const model_share *s)
{
  int64_t *edge = edges_of_leaves(s);
  int64_t *start = osla_test_allocate((size_t)s->leaf_space + 1, sizeof *start);
  start[0] = 0;
  for (int64_t i = 0; i < s->leaf_space; i++) {
    const osla_root *r = edge[i] >= 0 ? &s->root[edge[i]] : NULL;
    start[i + 1] = start[i] + (r ? n_values(r->rank, r->index) : ALONE);
  }
  free(edge);
  return start;
}

static int64_t *root_starts(const model_share *s)
{
  int64_t *start = osla_test_allocate((size_t)s->n_roots + 1, sizeof *start);
  for (int64_t j = 0; j <= s->n_roots; j++)
    start[j] = first_value(osla_test_rank(), j);
  return start;
}

/* Value c of root j of rank p is 1000000 p + 1000 j + c. */
static int64_t value_of(int64_t p, int64_t j, int64_t c)
{
  return 1000000 * p + 1000 * j + c;
}

/* A broadcast: value c of a leaf becomes value c of its root. */
static void check_bcast(const model_graph *g, osla_forest *sections, const int64_t *leaf_start)
{
  const model_share *mine = model_mine(g);
  const int64_t n = leaf_start[mine->leaf_space], n_roots = osla_forest_n_roots(sections);
  int64_t *roots = osla_test_allocate((size_t)n_roots + 1, sizeof *roots), bad = 0, at = 0;
  int64_t *leaves = osla_test_allocate((size_t)n + 1, sizeof *leaves);
  int64_t *edge = edges_of_leaves(mine);
  for (int64_t j = 0; j < mine->n_roots; j++)
    for (int64_t c = 0; c < n_values(osla_test_rank(), j); c++)
      roots[at++] = value_of(osla_test_rank(), j, c);
  CU_ASSERT(at == n_roots);
  for (int64_t i = 0; i <= n; i++)
    leaves[i] = UNSET;
  OSLA_ASSERT_OK(osla_forest_bcast(sections, OSLA_ONE_INT64, roots, leaves, OSLA_REPLACE));
  for (int64_t i = 0; i < mine->leaf_space; i++)
    for (int64_t k = leaf_start[i]; k < leaf_start[i + 1]; k++) {
      const osla_root *r = edge[i] >= 0 ? &mine->root[edge[i]] : NULL;
      bad += leaves[k] != (r ? value_of(r->rank, r->index, k - leaf_start[i]) : UNSET);
    }
  OSLA_ASSERT_MSG(bad == 0, "graph \"%s\": %d of %d values are wrong", g->name, (int)bad, (int)n);
  CU_ASSERT(leaves[n] == UNSET);
  free(roots);
  free(leaves);
  free(edge);
}

/* A gather on the forest of sections shows the order of the leaves of each value: ranks, then the
 * list of each rank. Each leaf value holds its rank and the number of its edge in the list. */
static void check_order(const model_graph *g, osla_forest *sections, const int64_t *leaf_start)
{
  const model_share *mine = model_mine(g);
  const int64_t n = leaf_start[mine->leaf_space], n_roots = osla_forest_n_roots(sections);
  int64_t *degree = osla_test_allocate((size_t)n_roots + 1, sizeof *degree), all = 0, bad = 0;
  int64_t *leaves = osla_test_allocate((size_t)n + 1, sizeof *leaves), at = 0;
  osla_forest_degrees(sections, degree);
  for (int64_t k = 0; k < n_roots; k++)
    all += degree[k];
  int64_t *gathered = osla_test_allocate((size_t)all + 1, sizeof *gathered);
  for (int64_t e = 0; e < mine->n_edges; e++)
    for (int64_t k = leaf_start[mine->leaf[e]]; k < leaf_start[mine->leaf[e] + 1]; k++)
      leaves[k] = value_of(osla_test_rank(), e, k - leaf_start[mine->leaf[e]]);
  OSLA_ASSERT_OK(osla_forest_gather_leaves(sections, OSLA_ONE_INT64, leaves, gathered));
  for (int64_t j = 0; j < mine->n_roots; j++)
    for (int64_t c = 0; c < n_values(osla_test_rank(), j); c++)
      for (int q = 0; q < g->size; q++)
        for (int64_t e = 0; e < g->of[q].n_edges; e++) {
          const osla_root *r = &g->of[q].root[e];
          if (r->rank != osla_test_rank() || r->index != j) continue;
          bad += at >= all || gathered[at] != value_of(q, e, c);
          at++;
        }
  OSLA_ASSERT_MSG(bad == 0 && at == all, "graph \"%s\": %d of %d values are in another order",
                  g->name, (int)bad, (int)all);
  free(degree);
  free(leaves);
  free(gathered);
}

static void test_kinds(void)
{
  for (int kind = 0; kind < MODEL_KINDS; kind++) {
    model_case c = model_case_open((model_kind)kind, 0);
    const model_share *mine = model_mine(&c.g);
    int64_t *roots = root_starts(mine), *leaves = leaf_starts(mine), edges = 0;
    osla_forest *sections = NULL;
    OSLA_ASSERT_OK(osla_forest_sections(c.forest, roots, leaves, &sections));
    for (int64_t e = 0; e < mine->n_edges; e++)
      edges += n_values(mine->root[e].rank, mine->root[e].index);
    CU_ASSERT(osla_forest_n_roots(sections) == roots[mine->n_roots]);
    CU_ASSERT(osla_forest_n_edges(sections) == edges);
    check_bcast(&c.g, sections, leaves);
    check_order(&c.g, sections, leaves);
    OSLA_ASSERT_OK(osla_forest_destroy(&sections));
    free(roots);
    free(leaves);
    model_case_close(&c);
  }
}

/* Sections without values. */
static void test_empty(void)
{
  model_case c = model_case_open(MODEL_RANDOM, 0);
  const model_share *mine = model_mine(&c.g);
  int64_t *zeros = osla_test_allocate((size_t)(mine->n_roots + mine->leaf_space) + 1, 8);
  osla_forest *sections = NULL;
  OSLA_ASSERT_OK(osla_forest_sections(c.forest, zeros, zeros, &sections));
  CU_ASSERT(osla_forest_n_roots(sections) == 0 && osla_forest_n_edges(sections) == 0);
  OSLA_ASSERT_OK(osla_forest_destroy(&sections));
  free(zeros);
  model_case_close(&c);
}

/* Each wrong argument is that of one rank; all ranks get the error. */
static void test_errors(void)
{
  model_case c = model_case_open(MODEL_EVEN, 0);
  const model_share *mine = model_mine(&c.g);
  const bool last = osla_test_rank() == osla_test_size() - 1;
  const int64_t leaf = mine->leaf[0];
  int64_t *roots = root_starts(mine), *leaves = leaf_starts(mine);
  osla_forest *out = NULL;
  for (int64_t i = leaf + 1; last && i <= mine->leaf_space; i++)
    leaves[i]++;
  OSLA_ASSERT_ERR(osla_forest_sections(c.forest, roots, leaves, &out), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(" values, but its root ");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(!out);
  free(leaves);
  leaves = leaf_starts(mine);
  OSLA_ASSERT_ERR(osla_forest_sections(c.forest, last ? NULL : roots, leaves, &out), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("root_start is NULL");
  roots[0] = last ? 1 : 0;
  OSLA_ASSERT_ERR(osla_forest_sections(c.forest, roots, leaves, &out), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("root_start[0] = 1, not 0");
  roots[0] = 0;
  leaves[1] += last ? 100 : 0;
  OSLA_ASSERT_ERR(osla_forest_sections(c.forest, roots, leaves, &out), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("leaf_start[2] = ");
  leaves[1] -= last ? 100 : 0;
  const int64_t end = leaves[mine->leaf_space];
  if (last) leaves[mine->leaf_space] = (int64_t)1 << 32;
  OSLA_ASSERT_ERR(osla_forest_sections(c.forest, roots, leaves, &out), OSLA_ERR_RANGE);
  leaves[mine->leaf_space] = end;
  OSLA_ASSERT_OK(osla_forest_sections(c.forest, roots, leaves, &out));
  OSLA_ASSERT_OK(osla_forest_destroy(&out));
  free(roots);
  free(leaves);
  model_case_close(&c);
}

static const osla_test_case cases[] = {
  {"kinds", test_kinds}, {"empty", test_empty}, {"errors", test_errors}, {NULL, NULL}};
OSLA_TEST_SUITE(test_forest_sections, cases);
