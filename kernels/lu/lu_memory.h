/* What a factorisation takes of a rank, from numbers alone (internal). */
#ifndef OSLA_LU_MEMORY_H
#define OSLA_LU_MEMORY_H

#include "kernels/lu/lu_state.h"

/* Elements of what has a name of its type, bytes of what is raw. */
typedef struct lu_sizes {
  size_t pivots, moves, rows, candidates, shares, permutation, posts, leaders, store, scratch;
} lu_sizes;

/* Does the owner of the diagonal block factor whole panels, with partial pivoting? Where the p
 * ranks of a process column read one another's (near), and they share cores, or are two: who waits,
 * column by column, for a rank that has no core waits long, and two gain nothing by it. Pure. */
bool osli_lu_gathers_panels(int p, bool near, bool own_cores);

/* The first bytes of a panel's head and of a record of candidates: pivots or indices, and what
 * stands before them. Pure. */
size_t osli_lu_index_bytes(int64_t nb);

/* What the set-up needs of a rank; lays out the store. Of f the view's numbers, order, steps,
 * pivoting, near, and gathered. Pure. */
lu_sizes osli_lu_sizes(lu *f);

/* Of the panels, but for the functions. Pure. */
osla_panels_plan osli_lu_panels_plan(const lu *f);

#endif
