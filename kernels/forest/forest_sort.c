/* A rank's edges are checked, counted and sorted. */
#include "kernels/forest/forest_setup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
  uint32_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return x < y ? -1 : x > y;
}

/* One bit for each leaf, or where the indices lie far apart, a sorted copy. */
osla_err osli_forest_check_once(const forest_edges *e, const uint32_t *leaf)
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
  OSLA_CHECK(twice < 0, OSLA_ERR_ARG, "leaf %" PRId64 " is joined twice", twice);
  return OSLA_OK;
}

/* Counts, too: start[p + 1] is the number of edges to rank p. */
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
               "edge %" PRId64 ": no rank %" PRId32 " among %d", i, root[i].rank, size);
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

osla_err osli_forest_count(const osla_transport *t, int64_t n_roots, int64_t n_edges,
                           const int64_t *leaf, const osla_root *root, forest_edges *out)
{
  int size = osla_transport_size(t);
  OSLA_CHECK(n_roots >= 0, OSLA_ERR_ARG, "%" PRId64 " roots", n_roots);
  OSLA_CHECK(n_edges >= 0, OSLA_ERR_ARG, "%" PRId64 " edges", n_edges);
  OSLA_CHECK(n_roots - 1 <= UINT32_MAX && n_edges - 1 <= UINT32_MAX, OSLA_ERR_RANGE,
             "%" PRId64 " roots, %" PRId64 " edges: at most 2^32 on a rank", n_roots, n_edges);
  OSLA_CHECK(root || n_edges == 0, OSLA_ERR_ARG, "%" PRId64 " edges, and no roots named", n_edges);
  *out = (forest_edges){.n = n_edges, .leaf = leaf, .root = root};
  out->start = calloc((size_t)size + 2, sizeof *out->start);
  OSLA_CHECK(out->start, OSLA_ERR_MEM, "counts of %d ranks", size);
  OSLA_CALL(check_edges(size, n_edges, leaf, root, out));
  for (int p = 0; p < size; p++)
    out->start[p + 1] += out->start[p];
  return OSLA_OK;
}

/* start[p] is the next free place of rank p meanwhile. */
void osli_forest_sort(int size, const forest_edges *e, uint32_t *leaf, uint32_t *root)
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

void osli_forest_edges_free(forest_edges *edges)
{
  free(edges->start);
  *edges = (forest_edges){0};
}
