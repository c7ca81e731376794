/* Tiles of a product, between which progress steps forward panels (internal). */
#ifndef OSLA_TILE_H
#define OSLA_TILE_H

#include "kernels/common/panels.h"

/* Size of the part of a product that is computed between two progress steps. It is the whole
 * product if this rank forwards nothing; otherwise smaller products have smaller parts. */
typedef struct osla_tile {
  int64_t rows, cols;
} osla_tile;
osla_tile osli_tile_choose(const osla_panels *panels, int64_t rows, int64_t cols);

#endif
