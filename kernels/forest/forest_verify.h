/* Do all ranks begin the same transfers, and leave values alone that are lent? (Private to
 * forests.)
 */
#ifndef FOREST_VERIFY_H
#define FOREST_VERIFY_H

#include "kernels/forest/forest.h"

/* Ends all ranks with a line where what another one says of a transfer is not what this one has
 * begun. */
void osli_forest_check_same(const osla_forest *f, uint64_t number, const forest_transfer *x,
                            int rank, uint64_t their_number, uint64_t their_what);

/* The same of what waits in vain: neighbours' calls of that transfer; and what lies in rings that
 * nobody here reads, as of a rank that has roots alone and broadcasts while one that has leaves
 * alone reduces. By who is in the pool. */
void osli_forest_look_at_calls(const osla_forest *f, uint64_t number, const forest_links *links);
void osli_forest_look_at_rings(osla_forest *f);

/* Where OSLA_VERIFY asks for it: what neighbours read in place stays as it is from
 * osla_forest_end_read to osla_forest_writable. _lend: this transfer ends so; _check: ends all
 * ranks with a line where its values are others since; _forget: all have read. Local. */
void osli_forest_lend(osla_forest *f, uint64_t number);
void osli_forest_check_lent(osla_forest *f);
void osli_forest_forget_lent(osla_forest *f);

#endif
