/* Broadcasts between nodes where one value goes to several leaves of a node, and reductions whose
 * bits do not depend on their order, or need not (private to forests): one value crosses for all of
 * them. Section 5.2 of the paper leaves that to MPI.
 *
 * Such a forest has three more, whose edges together do what its own do:
 *   near    from roots on this node to leaves
 *   wire    from roots on other nodes to *proxies*, one on each node for each root that leaves of
 *           the node are joined to; a node's proxies are distributed over its ranks
 *   spread  from proxies on this node to leaves
 * A broadcast begins on `near` and `wire`, and on `spread` when the proxies' values are here: in a
 * step of progress. A reduction goes by `near` and `spread` to roots and proxies, then by `wire`.
 * Of two transfers the earlier one is the earlier one on all three, on all ranks. Reductions in
 * order and fetches go along the forest's own edges. */
#ifndef FOREST_SHARE_H
#define FOREST_SHARE_H

#include "kernels/forest/forest_setup.h"

typedef struct forest_share {
  osla_forest *near, *wire, *spread;
  int64_t n_proxies;
  uint64_t next_wire, next_spread; /* the first transfer that may be still to begin there */
  struct osla_forest *next_sharing;
  bool is_sharing; /* some are: in the pool's list */
} forest_share;

/* Of a transfer: the numbers of those that it is made of; 0: not begun. */
typedef struct shared_run {
  uint64_t near, wire, spread;
  unsigned char *proxies;
} shared_run;

/* Makes f->share where at least a quarter less would cross, and it is more than a few values.
 * Collective. Errors, on all ranks together: as osla_forest_create. */
osla_err osli_forest_share_create(osla_forest *f, const forest_edges *edges);

/* Collective; nothing is under way. */
osla_err osli_forest_share_destroy(osla_forest *f);

/* Is a transfer, as it is described, one of these? The same on all ranks. */
bool osli_forest_is_shared(const osla_forest *f, const forest_transfer *x);

/* Begins `near`; for a place of f's that is x. Errors: MEM. */
osla_err osli_forest_share_begin(osla_forest *f, forest_transfer *x, osla_unit unit);

/* Its number is known. By who is in the pool. */
void osli_forest_share_begun(osla_forest *f);

/* Begins what can begin on `wire` and `spread`. True: something. By who is in the pool. */
bool osli_forest_shares_advance(forest_pool *pool);

/* Is this transfer over? Then, by _end, its parts have ended, too. By who is in the pool. */
bool osli_forest_share_is_over(osla_forest *f, const forest_transfer *x, bool with_readers);
void osli_forest_share_end(osla_forest *f, forest_transfer *x);

#endif
