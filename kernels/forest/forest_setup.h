/* Making a forest's links (private to forests). */
#ifndef FOREST_SETUP_H
#define FOREST_SETUP_H

#include "kernels/forest/forest.h"

/* A rank's edges as the caller gave them, and how many there are to each rank. */
typedef struct forest_edges {
  int64_t n, leaf_space, low_leaf;
  const int64_t *leaf; /* NULL: 0 .. n - 1 */
  const osla_root *root;
  int64_t *start; /* [size + 1] edges to rank p: start[p] .. start[p + 1] - 1 of the sorted ones */
} forest_edges;

/* Errors, of this rank: ARG, RANGE, MEM. */
osla_err osli_forest_count(const osla_transport *t, int64_t n_roots, int64_t n_edges,
                           const int64_t *leaf, const osla_root *root, forest_edges *out);
void osli_forest_edges_free(forest_edges *edges);

/* Lists of the edges' leaves and roots, [n] indices, sorted by the roots' ranks; in the order of
 * the caller's list on each. */
void osli_forest_sort(int size, const forest_edges *edges, uint32_t *leaf, uint32_t *root);

/* Errors: ARG: a leaf stands there twice; MEM. */
osla_err osli_forest_check_once(const forest_edges *edges, const uint32_t *leaf);

/* As osla_forest_create, but without a forest_share. */
osla_err osli_forest_create_bare(osla_transport *t, int64_t n_roots, int64_t n_edges,
                                 const int64_t *leaf, const osla_root *root, osla_forest **out);

/* Links to all ranks that I am joined to. Collective. Errors, on all ranks together: ARG (a root
 * that its owner has not), MEM, MPI. */
osla_err osli_forest_join(osla_forest *f, const forest_edges *edges);

#endif
