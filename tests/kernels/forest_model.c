#include "tests/kernels/forest_model.h"

#include "osla_random.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void model_nap(uint64_t seed, uint64_t i)
{
  uint64_t draw = osla_random_bits(seed, i, (uint64_t)osla_test_rank());
  if (draw % 3 == 0) usleep((useconds_t)(draw / 4 % 1500));
}

/* ---- graphs of star forests ---- */

enum { BOX_X = 10, BOX_Y = 10, INSIDE = 96, FACE = 36 };

static const char *const kind_names[MODEL_KINDS] = {
  "random", "even",   "one root", "to first",  "from last", "gathered", "ring",
  "ghosts", "blocks", "self",     "some idle", "no roots",  "no edges",
};

static int64_t n_roots_of(model_kind kind, uint64_t seed, int p, int size)
{
  switch (kind) {
    case MODEL_RANDOM: return osla_test_choose(seed, p, 30) + (p == 0);
    case MODEL_EVEN: return 7 + p % 3;
    case MODEL_ONE_ROOT: return p == size / 2 ? 5 : 0;
    case MODEL_TO_FIRST: return p == 0 ? 20 : 0;
    case MODEL_FROM_LAST: return p == size - 1 ? 20 : 0;
    case MODEL_GATHERED: return 6;
    case MODEL_RING:
    case MODEL_GHOSTS: return 8;
    case MODEL_BLOCKS: return BOX_X * BOX_Y * 5;
    case MODEL_SELF: return 10;
    case MODEL_SOME_IDLE: return p % 3 == 2 ? 0 : 12;
    case MODEL_NO_EDGES: return 5;
    default: return 0;
  }
}

/* Number of roots that have leaves in a graph of kind MODEL_EVEN. The last root of each rank has no
   leaves. */
static int64_t n_even(const model_graph *g)
{
  int64_t n = 0;
  for (int p = 0; p < g->size; p++)
    n += g->of[p].n_roots - 1;
  return n;
}

static int64_t n_edges_of(model_kind kind, uint64_t seed, int p, const model_graph *g)
{
  switch (kind) {
    case MODEL_RANDOM: return osla_test_choose(seed, 1000 + p, 40);
    case MODEL_EVEN: return (3 * n_even(g) - p + g->size - 1) / g->size;
    case MODEL_ONE_ROOT: return 1 + p % 3;
    case MODEL_TO_FIRST:
    case MODEL_FROM_LAST: return 15;
    case MODEL_GATHERED: return p == g->size - 1 ? 9 * g->size : 0;
    case MODEL_RING:
    case MODEL_GHOSTS: return 8;
    case MODEL_BLOCKS:
      /* the roots inside the box of one rank and, with more than two ranks, also the roots on a
       * face of another rank's box */
      return INSIDE + (g->size > 2 ? FACE : 0);
    case MODEL_SELF: return 9;
    case MODEL_SOME_IDLE: return p % 2 ? 0 : 10;
    default: return 0;
  }
}

static osla_root even_root(const model_graph *g, uint64_t seed, int64_t edge)
{
  static const int64_t primes[] = {11, 13, 17, 19, 23};
  int64_t n = n_even(g), step = 7;
  for (int i = 0; n % step == 0; i++)
    step = primes[i];
  int64_t at = (edge * step + (int64_t)(seed % 1000)) % n;
  int q = 0;
  for (; at >= g->of[q].n_roots - 1; q++)
    at -= g->of[q].n_roots - 1;
  return (osla_root){q, at};
}

static osla_root random_root(const model_graph *g, uint64_t seed, int p, int64_t e)
{
  int q = (int)osla_test_choose(seed, 5000000 * (p + 1) + 3 * e, g->size);
  while (g->of[q].n_roots == 0)
    q = (q + 1) % g->size;
  int64_t draw = 5000000 * (p + 1) + 3 * e;
  /* one edge in three is joined to root 0, so that several edges share it */
  bool first = osla_test_choose(seed, draw + 1, 3) == 0;
  return (osla_root){q, first ? 0 : osla_test_choose(seed, draw + 2, g->of[q].n_roots)};
}

/* Index of the root of edge e: the first 8 x 4 x 3 edges have roots inside the box, the next 9 x 4
 * have roots on its face at the largest x. */
static int64_t block_root(int64_t e)
{
  const int64_t on_face = e - INSIDE;
  if (e < INSIDE) return 1 + e % 8 + BOX_X * (1 + e / 8 % 4) + BOX_X * BOX_Y * (1 + e / 32);
  return BOX_X - 1 + BOX_X * (on_face % 9) + BOX_X * BOX_Y * (on_face / 9);
}
static int64_t block_leaf(int64_t e)
{
  return e < INSIDE ? e % 8 + 12 * (e / 8 % 4) + 60 * (e / 32) : 500 - 3 * (e - INSIDE);
}

static osla_root root_of(model_kind kind, uint64_t seed, int p, int64_t e, const model_graph *g)
{
  int next = (p + 1) % g->size, before = (p + g->size - 1) % g->size;
  switch (kind) {
    case MODEL_EVEN: return even_root(g, seed, p + e * g->size);
    case MODEL_ONE_ROOT: return (osla_root){g->size / 2, 3};
    case MODEL_GATHERED: return (osla_root){(int32_t)(e % g->size), e * 5 % 6};
    case MODEL_RING:
    case MODEL_GHOSTS: return (osla_root){e < 4 ? next : before, e};
    case MODEL_BLOCKS: return (osla_root){e < INSIDE ? next : before, block_root(e)};
    case MODEL_SELF: return (osla_root){p, e * 3 % 7};
    default: return random_root(g, seed, p, e);
  }
}

static int64_t leaf_of(model_kind kind, uint64_t seed, int p, int64_t e, const model_graph *g)
{
  if (g->in_order) return e;
  if (kind == MODEL_GHOSTS) return g->of[p].n_roots + g->of[p].n_edges - 1 - e;
  if (kind == MODEL_BLOCKS) return block_leaf(e);
  return 3 * e + osla_test_choose(seed, 900000 * (p + 1) + e, 3);
}

static void shuffle(model_share *s, uint64_t seed, int p)
{
  for (int64_t i = s->n_edges - 1; i > 0; i--) {
    int64_t j = osla_test_choose(seed, 700000 * (p + 1) + i, i + 1), other = s->leaf[j];
    s->leaf[j] = s->leaf[i];
    s->leaf[i] = other;
  }
}

model_graph model_graph_make(model_kind kind, uint64_t seed)
{
  model_graph g = {.name = kind_names[kind], .size = osla_test_size()};
  const bool as_it_is = kind == MODEL_GHOSTS || kind == MODEL_BLOCKS;
  g.in_order = kind == MODEL_TO_FIRST || kind == MODEL_RING;
  g.of = osla_test_allocate((size_t)g.size, sizeof *g.of);
  for (int p = 0; p < g.size; p++)
    g.of[p].n_roots = n_roots_of(kind, seed, p, g.size);
  for (int p = 0; p < g.size; p++) {
    model_share *s = &g.of[p];
    s->n_edges = n_edges_of(kind, seed, p, &g);
    s->leaf = osla_test_allocate((size_t)s->n_edges, sizeof *s->leaf);
    s->root = osla_test_allocate((size_t)s->n_edges, sizeof *s->root);
    for (int64_t e = 0; e < s->n_edges; e++) {
      s->leaf[e] = leaf_of(kind, seed, p, e, &g);
      s->root[e] = root_of(kind, seed, p, e, &g);
      if (s->leaf[e] >= s->leaf_space) s->leaf_space = s->leaf[e] + 1;
    }
    if (!g.in_order && !as_it_is) shuffle(s, seed, p);
  }
  return g;
}

void model_graph_free(model_graph *graph)
{
  for (int p = 0; p < graph->size; p++) {
    free(graph->of[p].leaf);
    free(graph->of[p].root);
  }
  free(graph->of);
}

const model_share *model_mine(const model_graph *graph)
{
  return &graph->of[osla_test_rank()];
}

static osla_forest *made(osla_err err, osla_forest *forest)
{
  if (err != OSLA_OK) {
    fprintf(stderr, "test: no forest: %s\n", osla_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return forest;
}

/* Copies the list of leaves, so that the test can overwrite the copy after it was passed. Returns
 * NULL if leaf[i] = i for all edges. */
static int64_t *copied_leaves(const model_graph *g)
{
  const model_share *s = model_mine(g);
  if (g->in_order) return NULL;
  int64_t *leaf = osla_test_allocate((size_t)s->n_edges, sizeof *leaf);
  memcpy(leaf, s->leaf, (size_t)s->n_edges * sizeof *leaf);
  return leaf;
}

osla_forest *model_forest(osla_transport *t, const model_graph *graph)
{
  const model_share *s = model_mine(graph);
  size_t bytes = (size_t)s->n_edges * sizeof *s->root;
  int64_t *leaf = copied_leaves(graph);
  osla_root *root = osla_test_allocate((size_t)s->n_edges, sizeof *root);
  osla_forest *forest = NULL;
  memcpy(root, s->root, bytes);
  osla_err err = osla_forest_create(t, s->n_roots, s->n_edges, leaf, root, &forest);
  memset(root, 0x7e, bytes);
  if (leaf) memset(leaf, 0x7e, (size_t)s->n_edges * sizeof *leaf);
  free(root);
  free(leaf);
  return made(err, forest);
}

osla_forest *model_forest_global(osla_transport *t, const model_graph *graph)
{
  const model_share *s = model_mine(graph);
  int64_t *start = osla_test_allocate((size_t)graph->size + 1, sizeof *start);
  int64_t *leaf = copied_leaves(graph),
          *root = osla_test_allocate((size_t)s->n_edges, sizeof *root);
  osla_forest *forest = NULL;
  for (int p = 0; p < graph->size; p++)
    start[p + 1] = start[p] + graph->of[p].n_roots;
  for (int64_t e = 0; e < s->n_edges; e++)
    root[e] = start[s->root[e].rank] + s->root[e].index;
  osla_err err = osla_forest_create_global(t, start, s->n_edges, leaf, root, &forest);
  memset(root, 0x7e, (size_t)s->n_edges * sizeof *root);
  memset(start, 0x7e, (size_t)(graph->size + 1) * sizeof *start);
  if (leaf) memset(leaf, 0x7e, (size_t)s->n_edges * sizeof *leaf);
  free(root);
  free(leaf);
  free(start);
  return made(err, forest);
}
