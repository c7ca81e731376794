/* A rank's edges: checked, counted, sorted by root rank, and stored in the shortest form.
 *
 * Indices that ascend by 1 are stored as the first index. Indices of a link to another node that
 * form a block of a regular grid are stored as that block. All other indices are stored as lists in
 * the leaf rank's part of the pool. Ranks of the same node read a list there; ranks of other nodes
 * copy it. */
#include "kernels/forest/forest.h"
#include "src/blas/work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks ---- */

static int compare(const void *a, const void *b)
{
  uint32_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return x < y ? -1 : x > y;
}

/* Searches for two edges with one leaf. Uses one bit for each leaf, or a sorted copy of the leaves
 * if their indices lie far apart. */
osla_err osli_edges_check_unique(const forest_edges *e, const uint32_t *leaf)
{
  enum { DENSE = 64 };
  int64_t twice = -1;
  if (e->leaf_space / DENSE <= e->n) {
    unsigned char *seen = calloc((size_t)e->leaf_space / 8 + 1, 1);
    OSLA_CHECK(seen, OSLA_ERR_MEM, "a bit for each of %" PRId64 " leaves", e->leaf_space);
    for (int64_t i = 0; i < e->n && twice < 0; i++) {
      uint32_t at = leaf[i];
      if (seen[at / 8] >> (at % 8) & 1) twice = at;
      seen[at / 8] |= (unsigned char)(1 << (at % 8));
    }
    free(seen);
  } else {
    uint32_t *copy = malloc((size_t)e->n * sizeof *copy);
    OSLA_CHECK(copy, OSLA_ERR_MEM, "a copy of %" PRId64 " leaves", e->n);
    memcpy(copy, leaf, (size_t)e->n * sizeof *copy);
    qsort(copy, (size_t)e->n, sizeof *copy, compare);
    for (int64_t i = 1; i < e->n && twice < 0; i++)
      if (copy[i] == copy[i - 1]) twice = copy[i];
    free(copy);
  }
  OSLA_CHECK(twice < 0, OSLA_ERR_ARG, "leaf %" PRId64 " is joined twice: a leaf has one root",
             twice);
  return OSLA_OK;
}

/* Checks all edges, and counts them: start[p + 1] is the number of edges to roots of rank p. */
static osla_err check_edges(int size, int64_t n, const int64_t *leaf, const osla_root *root,
                            forest_edges *e)
{
  int64_t low = n > 0 ? INT64_MAX : 0, space = 0, *start = e->start;
  for (int64_t i = 0; i < n; i++) {
    int64_t at = leaf ? leaf[i] : i;
    OSLA_CHECK(at >= 0, OSLA_ERR_ARG, "edge %" PRId64 ": leaf %" PRId64 " is negative", i, at);
    OSLA_CHECK(at <= UINT32_MAX, OSLA_ERR_RANGE,
               "edge %" PRId64 ": leaf %" PRId64 " is not below 2^32", i, at);
    OSLA_CHECK(root[i].rank >= 0 && root[i].rank < size, OSLA_ERR_ARG,
               "edge %" PRId64 ": rank %" PRId32 " is outside 0 .. %d", i, root[i].rank, size - 1);
    OSLA_CHECK(root[i].index >= 0, OSLA_ERR_ARG,
               "edge %" PRId64 ": root %" PRId64 " of rank %" PRId32 " is negative", i,
               root[i].index, root[i].rank);
    OSLA_CHECK(root[i].index <= UINT32_MAX, OSLA_ERR_RANGE,
               "edge %" PRId64 ": root %" PRId64 " of rank %" PRId32 " is not below 2^32", i,
               root[i].index, root[i].rank);
    if (at < low) low = at;
    if (at >= space) space = at + 1;
    start[root[i].rank + 1]++;
  }
  e->low_leaf = low;
  e->leaf_space = space;
  return OSLA_OK;
}

osla_err osli_edges_check(const osla_transport *t, int64_t n_roots, int64_t n_edges,
                          const int64_t *leaf, const osla_root *root, forest_edges *out)
{
  int size = osla_transport_size(t);
  OSLA_CHECK(n_roots >= 0, OSLA_ERR_ARG, "n_roots = %" PRId64 " is negative", n_roots);
  OSLA_CHECK(n_edges >= 0, OSLA_ERR_ARG, "n_edges = %" PRId64 " is negative", n_edges);
  OSLA_CHECK(n_roots - 1 <= UINT32_MAX && n_edges - 1 <= UINT32_MAX, OSLA_ERR_RANGE,
             "%" PRId64 " roots, %" PRId64 " edges: at most 2^32 on a rank", n_roots, n_edges);
  OSLA_CHECK(root || n_edges == 0, OSLA_ERR_ARG, "root is NULL, but n_edges = %" PRId64, n_edges);
  *out = (forest_edges){.n = n_edges, .leaf = leaf, .root = root};
  out->start = calloc((size_t)size + 2, sizeof *out->start);
  OSLA_CHECK(out->start, OSLA_ERR_MEM, "counts of %d ranks", size);
  OSLA_CALL(check_edges(size, n_edges, leaf, root, out));
  for (int p = 0; p < size; p++)
    out->start[p + 1] += out->start[p];
  return OSLA_OK;
}

void osli_edges_free(forest_edges *edges)
{
  free(edges->start);
  *edges = (forest_edges){0};
}

/* ---- lists ---- */

/* Sorts the edges by root rank; edges to the same rank stay in the caller's order. Uses start[p] as
 * the next free index for an edge to rank p, and restores it at the end. */
static void sort_edges(int size, const forest_edges *e, uint32_t *leaf, uint32_t *root)
{
  int64_t *start = e->start;
  for (int64_t i = 0; i < e->n; i++) {
    const int64_t at = start[e->root[i].rank]++;
    leaf[at] = (uint32_t)(e->leaf ? e->leaf[i] : i);
    root[at] = (uint32_t)e->root[i].index;
  }
  for (int p = size; p > 0; p--)
    e->start[p] = e->start[p - 1];
  e->start[0] = 0;
}

static bool ascends(const uint32_t *list, int64_t n)
{
  for (int64_t i = 1; i < n; i++)
    if ((int64_t)list[i] != (int64_t)list[0] + i) return false;
  return true;
}

/* Returns the shortest form of an index list. block: memory for a block, or NULL if the result must
 * not be a block. */
static vertex_index compress_list(const uint32_t *list, int64_t n, vertex_block *block)
{
  if (ascends(list, n)) return (vertex_index){.first = list[0]};
  if (block && osli_block_find(list, n, block)) return (vertex_index){.block = block, .n = n};
  return (vertex_index){.list = list, .n = n};
}

static void find_range(const uint32_t *list, int64_t n, int64_t *low, int64_t *high)
{
  uint32_t least = list[0], largest = list[0];
#pragma omp simd reduction(min : least) reduction(max : largest)
  for (int64_t i = 0; i < n; i++) {
    least = list[i] < least ? list[i] : least;
    largest = list[i] > largest ? list[i] : largest;
  }
  *low = least;
  *high = largest;
}

/* Sets the range of root indices of a link to roots. The leaf rank sends the range to the root
 * rank, because the list is in the leaf rank's cache. */
static void find_root_range(forest_link *l)
{
  const vertex_index *roots = &l->theirs;
  l->low_root = roots->first;
  l->high_root = roots->first + l->edges - 1;
  if (roots->block) osli_block_range(roots->block, &l->low_root, &l->high_root);
  if (roots->list) find_range(roots->list, l->edges, &l->low_root, &l->high_root);
}

osla_err osli_forest_lists_make(osla_forest *f, const forest_edges *e, forest_lists *out)
{
  const size_t n = (size_t)e->n + 1;
  uint32_t *memory = malloc(2 * n * sizeof *memory);
  OSLA_CHECK(memory, OSLA_ERR_MEM, "lists of %" PRId64 " edges", e->n);
  *out = (forest_lists){memory, memory + n};
  sort_edges(osla_transport_size(f->t), e, out->leaf, out->root);
  /* charges the simulated clock for checking, counting and sorting the edges */
  work_charge(OSLA_WORK_ADD, OSLA_DOUBLE, 1, 3 * e->n, 1);
  for (int i = 0; i < f->to_roots.n; i++) {
    forest_link *l = &f->to_roots.of[i];
    const int64_t start = e->start[l->rank];
    l->mine = compress_list(out->leaf + start, l->edges, l->is_near ? NULL : &l->block[0]);
    l->theirs = compress_list(out->root + start, l->edges, l->is_near ? NULL : &l->block[1]);
    find_root_range(l);
  }
  return OSLA_OK;
}

size_t osli_forest_lists_bytes(const osla_forest *f)
{
  size_t n = 0;
  for (int i = 0; i < f->to_roots.n; i++) {
    const forest_link *l = &f->to_roots.of[i];
    n += l->mine.list ? (size_t)l->edges : 0;
    n += l->theirs.list ? (size_t)l->edges : 0;
  }
  return n * sizeof(uint32_t);
}

static void copy_list(const uint32_t **list, int64_t n, uint32_t **memory)
{
  if (!*list) return;
  memcpy(*memory, *list, (size_t)n * sizeof **memory);
  *list = *memory;
  *memory += n;
}

void osli_forest_lists_copy(osla_forest *f, uint32_t *memory)
{
  for (int i = 0; i < f->to_roots.n; i++) {
    forest_link *l = &f->to_roots.of[i];
    copy_list(&l->mine.list, l->edges, &memory);
    copy_list(&l->theirs.list, l->edges, &memory);
  }
}

/* ---- lists of other ranks ---- */

list_description osli_list_describe(const osla_forest *f, const vertex_index *index)
{
  list_description d = {.list = -1, .first = index->first};
  if (index->block) d.block = *index->block;
  if (index->list)
    d.list = (const unsigned char *)index->list - (const unsigned char *)f->piece.memory +
             (int64_t)f->piece.offset;
  return d;
}

static vertex_index peer_list(const osla_forest *f, const forest_link *l, const list_description *d)
{
  const unsigned char *memory = osla_segment_peer(f->piece.segment, l->rank);
  const void *list = d->list < 0 ? NULL : memory + d->list;
  return (vertex_index){.list = list, .first = d->first, .n = l->edges};
}

void osli_link_set_lists(const osla_forest *f, forest_link *l, const list_description *roots,
                         const list_description *leaves)
{
  if (l->is_near) {
    l->mine = peer_list(f, l, roots);
    l->theirs = peer_list(f, l, leaves);
    return;
  }
  l->mine = (vertex_index){.first = roots->first, .n = l->edges};
  if (roots->block.n[0] == 0) return;
  l->block[0] = roots->block;
  l->mine.block = &l->block[0];
}
