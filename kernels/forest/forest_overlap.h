/* Do values that a transfer reads and values that it writes lie apart? (private to forests) */
#ifndef FOREST_OVERLAP_H
#define FOREST_OVERLAP_H

#include "kernels/forest/forest.h"

/* Roots and leaves may lie in one array, as a mesh's own points and its ghosts do, where no vertex
 * is both. Errors: ARG: one is; MEM. Local. */
osla_err osli_forest_check_apart(osla_forest *f, const forest_transfer *x);

#endif
