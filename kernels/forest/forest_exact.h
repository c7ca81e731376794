/* Sums of leaves at roots that are rounded once (private to forests). The values of all leaves are
 * gathered beside one another, in any order; then each root's are summed. */
#ifndef FOREST_EXACT_H
#define FOREST_EXACT_H

#include "kernels/forest/forest.h"

/* Which edges of my roots are gathered where; made by the forest's first such reduction. */
typedef struct forest_gather {
  int64_t *start;  /* [n_roots + 1] of `edge` */
  uint32_t *edge;  /* of root j: edge[start[j]] .. ; numbers of all edges to my leaves' ranks */
  int64_t *before; /* [links to leaves] edges of the links before it */
} forest_gather;

void osli_forest_gather_free(forest_gather **gather);

/* Gets what the transfer needs. Local. Errors: MEM, RANGE (2^32 edges or more). */
osla_err osli_forest_exact_begin(osla_forest *f, forest_transfer *x);

/* Where the values of a link to leaves go. */
vertex_list osli_forest_exact_place(const osla_forest *f, const forest_transfer *x,
                                    const forest_link *l);

/* All are there: roots := roots + leaves, and what _begin got is given back. */
void osli_forest_exact_end(osla_forest *f, forest_transfer *x);

#endif
