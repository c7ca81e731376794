/* Memory that a factorisation needs on a rank, computed from sizes alone (internal). */
#ifndef OSLA_LU_MEMORY_H
#define OSLA_LU_MEMORY_H

#include "kernels/lu/lu_state.h"

/* Sizes of the buffers in struct lu. `store` and `scratch` are in bytes, the other sizes in
 * elements. */
typedef struct lu_sizes {
  size_t pivots, moves, rows, candidates, shares, permutation, posts, leaders, store, scratch;
} lu_sizes;

/* True if the owner of the diagonal block factors whole panels with partial pivoting. It does if
 * the p > 1 ranks of a process column can read one another's matrix (`near`) and either share cores
 * or are two. Ranks that share cores would wait long for one another in every column, and two ranks
 * gain nothing by working column by column. Pure. */
bool osli_lu_gathers_panels(int p, bool near, bool own_cores);

/* Size in bytes of the first part of a panel's head and of a tournament record: the pivots or row
 * indices and the words before them. Pure. */
size_t osli_lu_index_bytes(int64_t nb);

/* Sizes of all buffers of a factorisation. Also lays out the store: sets the offsets and sizes of
 * its parts in f. Reads the numbers of the view, order, steps, pivoting, column_readable and
 * gathers_panels of f. Pure. */
lu_sizes osli_lu_sizes(lu *f);

/* Plan of the panels without its function pointers. Pure. */
osla_panels_plan osli_lu_panels_plan(const lu *f);

#endif
