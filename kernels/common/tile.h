/* Tiles of a product, between which panels pass (internal). */
#ifndef OSLA_TILE_H
#define OSLA_TILE_H

#include "kernels/common/panels.h"

/* Rows and columns that are computed at a time, then a progress step: all of them where nothing has
 * to pass; else even tiles that are the smaller the smaller the product. */
typedef struct osla_tile {
  int64_t rows, cols;
} osla_tile;
osla_tile osli_tile_choose(const osla_panels *panels, int64_t rows, int64_t cols);

#endif
