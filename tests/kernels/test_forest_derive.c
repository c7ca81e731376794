/* Tests of star forests that are derived from other forests. The result is compared with what each
 * rank computes from the whole graphs. */
#include "tests/kernels/forest_model.h"

#include <stdlib.h>

/* Rank and index of the root that a leaf is joined to; rank is -1 if the leaf has no edge. */
typedef struct named {
  int64_t rank, index;
} named;
static const osla_unit pair = {OSLA_UNIT_INT64, 2, 0};

static named *none(int64_t n)
{
  named *names = osla_test_allocate((size_t)n + 1, sizeof *names);
  for (int64_t i = 0; i < n; i++)
    names[i] = (named){-1, -1};
  return names;
}

/* Returns the root of each leaf of a rank in a graph, [n]. The caller frees the array. */
static named *names_of(const model_graph *g, int rank, int64_t n)
{
  const model_share *s = &g->of[rank];
  named *names = none(n);
  for (int64_t e = 0; e < s->n_edges; e++)
    names[s->leaf[e]] = (named){s->root[e].rank, s->root[e].index};
  return names;
}

/* Checks a forest by a broadcast in which each root sends its rank and index. Each leaf must get
 * those of its root, and leaf indices without an edge must stay unchanged. Frees `expected`. */
static void check_names(osla_forest *f, int64_t n_roots, named *expected, int64_t n)
{
  int64_t bad = 0, edges = 0, space = osla_forest_leaf_space(f), most = space > n ? space : n;
  named *roots = none(n_roots), *leaves = none(most);
  for (int64_t i = 0; i < n_roots; i++)
    roots[i] = (named){osla_test_rank(), i};
  CU_ASSERT(osla_forest_n_roots(f) == n_roots);
  OSLA_ASSERT_OK(osla_forest_bcast(f, pair, roots, leaves, OSLA_REPLACE));
  for (int64_t i = 0; i < most; i++) {
    named e = i < n ? expected[i] : (named){-1, -1};
    bad += leaves[i].rank != e.rank || leaves[i].index != e.index;
    edges += e.rank >= 0;
  }
  OSLA_ASSERT_MSG(bad == 0, "%d leaves of %d are joined to other roots", (int)bad, (int)most);
  CU_ASSERT(osla_forest_n_edges(f) == edges);
  free(roots);
  free(leaves);
  free(expected);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
}

/* Number of leaf indices of this rank in a graph, including unused ones. */
static int64_t space_of(const model_graph *g)
{
  return model_mine(g)->leaf_space;
}

static int64_t degree_in(const model_graph *g, int rank, int64_t index, int before_rank,
                         int64_t before_edge)
{
  int64_t degree = 0;
  for (int q = 0; q < g->size; q++)
    for (int64_t e = 0; e < g->of[q].n_edges; e++) {
      if (q == before_rank && e == before_edge) return degree;
      degree += g->of[q].root[e].rank == rank && g->of[q].root[e].index == index;
    }
  return degree;
}

static void test_degrees_and_split(void)
{
  for (int kind = 0; kind < MODEL_KINDS; kind++) {
    model_case c = model_case_open((model_kind)kind, 0);
    const model_share *mine = model_mine(&c.g);
    int me = osla_test_rank();
    int64_t *degree = osla_test_allocate((size_t)mine->n_roots + 1, sizeof *degree), all = 0,
            bad = 0;
    osla_forest *split = NULL;
    osla_forest_degrees(c.forest, degree);
    for (int64_t i = 0; i < mine->n_roots; i++) {
      bad += degree[i] != degree_in(&c.g, me, i, -1, -1);
      all += degree[i];
    }
    CU_ASSERT(bad == 0);
    named *expected = none(mine->leaf_space);
    for (int64_t e = 0; e < mine->n_edges; e++) {
      osla_root to = mine->root[e];
      int64_t slot = degree_in(&c.g, to.rank, to.index, me, e);
      for (int64_t i = 0; i < to.index; i++)
        slot += degree_in(&c.g, to.rank, i, -1, -1);
      expected[mine->leaf[e]] = (named){to.rank, slot};
    }
    OSLA_ASSERT_OK(osla_forest_split(c.forest, &split));
    check_names(split, all, expected, mine->leaf_space);
    free(degree);
    model_case_close(&c);
  }
}

/* Composes two forests. On each rank the second forest has as many roots as the first one has leaf
 * indices. */
static void test_compose(void)
{
  model_case a = model_case_open(MODEL_RANDOM, 0);
  int me = osla_test_rank(), size = osla_test_size();
  int64_t n = space_of(&a.g) + 3, edges = 2 * n;
  named *expected = none(edges);
  osla_root *root = osla_test_allocate((size_t)edges + 1, sizeof *root);
  osla_forest *b = NULL, *ab = NULL;
  for (int64_t i = 0; i < edges; i++) { /* leaves are joined to roots of the next rank in descending
                                           order, two leaves to each root */
    int q = (me + 1) % size;
    int64_t theirs = a.g.of[q].leaf_space + 3, at = theirs - 1 - i / 2 % theirs;
    named *names = names_of(&a.g, q, theirs);
    root[i] = (osla_root){q, at};
    expected[i] = names[at];
    free(names);
  }
  OSLA_ASSERT_OK(osla_forest_create(a.t, n, edges, NULL, root, &b));
  OSLA_ASSERT_OK(osla_forest_compose(a.forest, b, &ab));
  check_names(ab, model_mine(&a.g)->n_roots, expected, edges);
  OSLA_ASSERT_OK(osla_forest_destroy(&b));
  free(root);
  model_case_close(&a);
}

/* A forest of n roots and n leaves on each rank; the leaves are joined one to one to the roots of
 * the next rank, in descending order. */
static osla_forest *one_to_one(osla_transport *t, int64_t n)
{
  osla_forest *f = NULL;
  osla_root *root = osla_test_allocate((size_t)n + 1, sizeof *root);
  for (int64_t i = 0; i < n; i++)
    root[i] = (osla_root){(osla_test_rank() + 1) % osla_test_size(), n - 1 - i};
  OSLA_ASSERT_OK(osla_forest_create(t, n, n, NULL, root, &f));
  free(root);
  return f;
}

static void test_inverse(void)
{
  enum { N = 37 };
  osla_transport *t = osla_test_transport();
  int size = osla_test_size(), before = (osla_test_rank() + size - 1) % size;
  osla_forest *f = one_to_one(t, N), *inverse = NULL;
  named *expected = none(N);
  for (int64_t i = 0; i < N; i++)
    expected[i] = (named){before, N - 1 - i};
  OSLA_ASSERT_OK(osla_forest_inverse(f, &inverse));
  check_names(inverse, N, expected, N);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* Composes two forests that have leaves with equal indices on the same ranks. */
static void test_compose_inverse(void)
{
  model_case a = model_case_open(MODEL_RANDOM, 0);
  int size = osla_test_size(), before = (osla_test_rank() + size - 1) % size;
  int64_t n = 0;
  for (int q = 0; q < size; q++)
    if (a.g.of[q].leaf_space > n) n = a.g.of[q].leaf_space;
  osla_forest *b = one_to_one(a.t, n), *ab = NULL;
  named *names = names_of(&a.g, before, n), *expected = none(n);
  for (int64_t i = 0; i < n; i++)
    expected[n - 1 - i] = names[i];
  OSLA_ASSERT_OK(osla_forest_compose_inverse(a.forest, b, &ab));
  check_names(ab, model_mine(&a.g)->n_roots, expected, n);
  free(names);
  OSLA_ASSERT_OK(osla_forest_destroy(&b));
  model_case_close(&a);
}

static void test_embed(void)
{
  model_case c = model_case_open(MODEL_RANDOM, 0);
  const model_share *mine = model_mine(&c.g);
  int64_t n = mine->leaf_space, *chosen = osla_test_allocate((size_t)(n + mine->n_roots) + 1, 8),
          k = 0;
  osla_forest *part = NULL;
  named *roots = names_of(&c.g, osla_test_rank(), n);
  for (int64_t i = 0; i < n; i++)
    if (roots[i].index % 3 != 1) roots[i] = (named){-1, -1};
  for (int64_t i = mine->n_roots - 1; i >= 0; i--)
    if (i % 3 == 1) chosen[k++] = i;
  OSLA_ASSERT_OK(osla_forest_embed_roots(c.forest, k, chosen, &part));
  check_names(part, mine->n_roots, roots, n);
  named *leaves = names_of(&c.g, osla_test_rank(), n);
  for (int64_t i = k = 0; i < n; i++)
    if (i % 2)
      chosen[k++] = i;
    else
      leaves[i] = (named){-1, -1};
  OSLA_ASSERT_OK(osla_forest_embed_leaves(c.forest, k, chosen, &part));
  check_names(part, mine->n_roots, leaves, n);
  free(chosen);
  model_case_close(&c);
}

static void test_errors(void)
{
  model_case c = model_case_open(MODEL_ONE_ROOT, 0);
  osla_forest *out = NULL;
  int64_t far = INT64_C(1) << 40;
  bool first = osla_test_rank() == 0, single = osla_test_size() == 1;
  int64_t edges = 0;
  for (int q = 0; q < c.g.size; q++)
    edges += c.g.of[q].n_edges;
  if (edges > 1 || !single) {
    CU_ASSERT(osla_forest_inverse(c.forest, &out) == OSLA_ERR_ARG && !out);
    CU_ASSERT(osla_forest_compose_inverse(c.forest, c.forest, &out) == OSLA_ERR_ARG && !out);
  }
  CU_ASSERT(osla_forest_embed_roots(c.forest, first, &far, &out) == OSLA_ERR_ARG && !out);
  CU_ASSERT(osla_forest_embed_leaves(c.forest, first, &far, &out) == OSLA_ERR_ARG && !out);
  model_case_close(&c);
}

static const osla_test_case cases[] = {{"degrees_and_split", test_degrees_and_split},
                                       {"compose", test_compose},
                                       {"inverse", test_inverse},
                                       {"compose_inverse", test_compose_inverse},
                                       {"embed", test_embed},
                                       {"errors", test_errors},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_forest_derive, cases);
