/* Process grids: ranks arranged in nprow rows and npcol columns (layer 2).
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_GRID_H
#define OSLA_GRID_H

#include "osla_api.h"
#include "osla_segment.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_grid osla_grid;

/* How ranks are distributed over the positions of a grid.
 * NODES: process columns are filled one after another, node by node. Each process column then lies
 * on as few nodes as possible. LU and Cholesky exchange most often within process columns (HPL's
 * PMAP has the same reason).
 * TILES: each node fills a rectangle, as near to square as possible, with at least as many rows as
 * columns. A node then needs the least data from other nodes. This order pays where many ranks
 * share one network link (doc/grid_and_blocks.md). Falls back to NODES if there is no such
 * rectangle: nodes of different size, idle ranks, rectangles whose sides do not divide the sides of
 * the grid, nodes that hold whole process columns.
 * ACROSS: each node fills a part of one process column, as with NODES, but consecutive nodes follow
 * one another along the process rows, along which panels pass from node to node. This order pays
 * where the network distance limits the transfer of panels, as on a torus. Its disadvantage is the
 * longer path of pivots, which travel along process columns. Falls back to NODES if there is no
 * such part: nodes of different size, idle ranks, process columns that do not consist of whole
 * nodes.
 */
typedef enum osla_grid_order {
  OSLA_GRID_ROWS,    /* position (prow, pcol) has rank prow * npcol + pcol, as BLACS's 'R' */
  OSLA_GRID_COLUMNS, /* position (prow, pcol) has rank prow + pcol * nprow, as BLACS's 'C' */
  OSLA_GRID_NODES,   /* ranks sorted by node fill the grid column by column */
  OSLA_GRID_TILES,   /* each node fills one rectangle of the grid */
  /* each node fills a part of a process column; nodes follow one another along process rows */
  OSLA_GRID_ACROSS
} osla_grid_order;

/* Makes a grid of the first nprow * npcol ranks in the given order. Collective on the transport.
 * The other ranks are idle (prow = pcol = -1): they own nothing, and still take part in collective
 * calls. nprow = npcol = 0 chooses a grid of all ranks: one process row for at most 8 ranks on one
 * node, else the most nearly square grid with nprow <= npcol. (Several process rows save transfers
 * between nodes, of which one node has none. With one process row, panels and columns of updates
 * are not divided, which makes calls faster.) The transport is borrowed and must outlive the grid.
 * Errors: ARG, MEM. */
OSLA_API osla_err osla_grid_create_ordered(osla_transport *transport, int nprow, int npcol,
                                           osla_grid_order order, osla_grid **out);

/* Makes a grid in the order OSLA_GRID_ROWS. If nprow = npcol = 0, it has the shape that
 * osla_grid_create_ordered chooses and the order of osla_grid_choose_order. Otherwise as
 * osla_grid_create_ordered. */
OSLA_API osla_err osla_grid_create(osla_transport *transport, int nprow, int npcol,
                                   osla_grid **out);

/* Returns the shape of the grid that osla_grid_create chooses for these numbers of ranks and nodes
 * if nprow = npcol = 0. Local, pure. */
OSLA_API void osla_grid_choose(int ranks, int nodes, int *nprow, int *npcol);

/* The order recommended for a grid of this shape (0 x 0: the chosen shape): TILES for at least 16
 * process rows and 8 ranks per node, else NODES. Local. */
OSLA_API osla_grid_order osla_grid_choose_order(const osla_transport *transport, int nprow,
                                                int npcol);

/* Makes a grid in which each rank gives its own position, as Cblacs_gridinfo reports it, for
 * matrices on an existing BLACS context. Ranks outside the context pass -1, -1. Collective. Errors,
 * on all ranks together: ARG if ranks give different shapes, two ranks give one position, a
 * position is empty, or one is outside the grid. */
OSLA_API osla_err osla_grid_create_at(osla_transport *transport, int nprow, int npcol, int prow,
                                      int pcol, osla_grid **out);

/* Makes a grid in which position (0, 0) is position (prow, pcol) of `grid`, and the others follow
 * cyclically: for matrices whose first block is on process (prow, pcol) (ScaLAPACK's RSRC, CSRC).
 * Local; call it with equal arguments on all ranks. Errors: ARG (no such position), MEM. */
OSLA_API osla_err osla_grid_shift(const osla_grid *grid, int prow, int pcol, osla_grid **out);

/* True if both grids belong to one transport and have one shape, with the same rank at each
 * position. Local. */
OSLA_API bool osla_grid_same(const osla_grid *x, const osla_grid *y);

/* Table of notifiers for segments in which a rank is notified only by ranks of its process row, its
 * process column and its node. Such a segment needs notify slots for these ranks instead of all
 * ranks. Borrows the grid. Local. */
OSLA_API osla_notifiers osla_grid_notifiers(const osla_grid *grid);

/* Destroys a grid. Local. Accepts NULL, and sets the handle to NULL. */
OSLA_API void osla_grid_destroy(osla_grid **grid);

/* Local queries of a grid. */
OSLA_API int osla_grid_nprow(const osla_grid *grid);
OSLA_API int osla_grid_npcol(const osla_grid *grid);
OSLA_API int osla_grid_prow(const osla_grid *grid); /* this rank's process row; -1 if idle */
OSLA_API int osla_grid_pcol(const osla_grid *grid);
OSLA_API int osla_grid_rank_at(const osla_grid *grid, int prow, int pcol);
/* process row of `rank`; -1 if that rank is idle */
OSLA_API int osla_grid_prow_of(const osla_grid *grid, int rank);
/* process column of `rank`; -1 if that rank is idle */
OSLA_API int osla_grid_pcol_of(const osla_grid *grid, int rank);
/* transport of the grid; owned by its creator */
OSLA_API osla_transport *osla_grid_transport(const osla_grid *grid);

#ifdef __cplusplus
}
#endif
#endif
