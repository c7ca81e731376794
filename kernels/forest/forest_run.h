/* Beginning transfers (private to forests). */
#ifndef FOREST_RUN_H
#define FOREST_RUN_H

#include "kernels/forest/forest.h"

/* Begins one whose place is free, as it is described; its number. By who is in the pool. */
uint64_t osli_forest_launch(osla_forest *f, const forest_transfer *what);

#endif
