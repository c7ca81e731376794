/* The lists of a forest's links: which are kept, and in what form (private to forests).
 *
 * A rank sorts its edges by the roots' ranks. A list that ascends by 1 is known by its first index,
 * one of another node that is a block by that; all others are kept, those of leaves and of their
 * roots on the leaves' side, where neighbours read them; owners of roots on other nodes get theirs.
 */
#ifndef FOREST_LISTS_H
#define FOREST_LISTS_H

#include "kernels/forest/forest_setup.h"

/* Sorted, in the pool's scratch until the forest is made: leaves, and their roots, [n] each. */
typedef struct forest_lists {
  uint32_t *leaf, *root;
} forest_lists;

/* A list, as it is said to the rank at the other end of a link. */
typedef struct list_form {
  int64_t list; /* where it is in the pool; -1: it is not needed */
  int64_t first;
  vertex_block block; /* n[0] = 0: it is none */
} list_form;

/* Makes the lists and gives links to roots what they have of them: in which form, which roots have
 * edges, which vertices lie thinly. Errors: MEM. */
osla_err osli_forest_lists_make(osla_forest *f, const forest_edges *e, forest_lists *out);

/* Bytes of those that are kept; copies them there. */
size_t osli_forest_lists_bytes(const osla_forest *f);
void osli_forest_lists_keep(osla_forest *f, uint32_t *memory);

/* Of a link to roots, for the roots' rank: of its roots, of my leaves. */
list_form osli_forest_form_of_roots(const osla_forest *f, const forest_link *l);
list_form osli_forest_form_of_leaves(const osla_forest *f, const forest_link *l);

/* For the root's rank: what a link to leaves has, from what the leaves' rank has said. A list of
 * another node is still to be got. */
void osli_forest_take_forms(const osla_forest *f, forest_link *l, const list_form *roots,
                            const list_form *leaves);
#endif
