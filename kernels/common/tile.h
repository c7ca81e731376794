/* Products in tiles, between which panels pass (internal).
 *
 * Who computes passes no panel on meanwhile, and each node of a ring adds that wait. So a product
 * is cut into tiles that take some 1 ms each, by the rate of those before them: beyond that lines
 * stand idle, below it copying operands costs.
 *
 *   osla_tile tile = osla_tile_choose(panels, rows, cols, depth);
 *   for each tile: multiply; osla_tile_done(panels, rows of it, cols of it, depth);
 */
#ifndef OSLA_TILE_H
#define OSLA_TILE_H

#include "panels.h"

typedef struct osla_tile {
  int64_t rows, cols;
} osla_tile;

/* Rows and columns of a product of depth `depth` that are computed at a time: all of them where
 * nothing has to pass. A tile's time is counted from here, or from the end of the one before. */
osla_tile osla_tile_choose(osla_panels *panels, int64_t rows, int64_t cols, int64_t depth);

/* A tile is computed: notes its rate, and makes a progress step where panels pass. */
void osla_tile_done(osla_panels *panels, int64_t rows, int64_t cols, int64_t depth);

#endif
