/* Do all ranks begin the same transfers? (Private to forests.) */
#ifndef FOREST_VERIFY_H
#define FOREST_VERIFY_H

#include "forest.h"

/* Ends all ranks with a line where what another one says of a transfer is not what this one has
 * begun. */
void osla_forest_check_same(const osla_forest *f, uint64_t number, const forest_transfer *x,
                            int rank, uint64_t their_number, uint64_t their_what);

#endif
