/* Do all ranks begin the same transfers? (Private to forests.) */
#ifndef FOREST_VERIFY_H
#define FOREST_VERIFY_H

#include "forest.h"

/* Ends all ranks with a line where what another one says of a transfer is not what this one has
 * begun. */
void osla_forest_check_same(const osla_forest *f, uint64_t number, const forest_transfer *x,
                            int rank, uint64_t their_number, uint64_t their_what);

/* The same of what waits in vain: neighbours' calls of that transfer; and what lies in rings that
 * nobody here reads, as of a rank that has roots alone and broadcasts while one that has leaves
 * alone reduces. By who is in the pool. */
void osla_forest_look_at_calls(const osla_forest *f, uint64_t number, const forest_links *links);
void osla_forest_look_at_rings(osla_forest *f);

#endif
