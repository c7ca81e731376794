/* Process grids: ranks arranged in nprow rows and npcol columns (floor 2).
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
 * By nodes: process columns are filled one after another, node by node. So each lies on as few
 * nodes as can be, which is where LU and Cholesky exchange most often (HPL's PMAP says the same).
 * By tiles: each node fills a rectangle that is as near to square as fits, with at least as many
 * rows as columns. So a node needs the least from others; worth it where a line that many ranks
 * share is the limit (doc/grid_and_blocks.md). By nodes where there is no such rectangle: nodes of
 * different size, idle ranks, sides that do not divide the grid's, nodes of whole columns.
 * Across: each node fills a part of one process column, as by nodes, but the next node goes on in
 * the process rows, along which panels pass from node to node. Worth it where that way is the
 * limit, as on a torus; elsewhere pivots, which go along process columns, have the longer way. By
 * nodes where there is no such part: nodes of different size, idle ranks, process columns that are
 * not made of whole nodes.
 */
typedef enum osla_grid_order {
  OSLA_GRID_ROWS,    /* (prow, pcol) is rank prow * npcol + pcol: BLACS's 'R' */
  OSLA_GRID_COLUMNS, /* (prow, pcol) is rank prow + pcol * nprow: BLACS's 'C' */
  OSLA_GRID_NODES,   /* as columns, with the ranks sorted by node */
  OSLA_GRID_TILES,   /* a rectangle for each node */
  OSLA_GRID_ACROSS   /* as nodes, but these follow one another in process rows */
} osla_grid_order;

/* Makes a grid of the first nprow * npcol ranks in an order. Collective on the transport. The other
 * ranks are idle (prow = pcol = -1), own nothing, and still take part in collective calls. nprow =
 * npcol = 0 chooses a grid of all ranks: on one node with at most 8 ranks one process row, else the
 * one that is nearest to square, with nprow <= npcol. (Process rows save transfers between nodes;
 * on a node there are none, and panels and columns of updates that are not cut are faster.) The
 * transport is borrowed and must outlive the grid. Errors: ARG, MEM. */
OSLA_API osla_err osla_grid_create_ordered(osla_transport *transport, int nprow, int npcol,
                                           osla_grid_order order, osla_grid **out);

/* The same by rows; if nprow = npcol = 0, in the order that osla_grid_choose_order says. */
OSLA_API osla_err osla_grid_create(osla_transport *transport, int nprow, int npcol,
                                   osla_grid **out);

/* The shape that is chosen for that many ranks and nodes. Local, pure. */
OSLA_API void osla_grid_choose(int ranks, int nodes, int *nprow, int *npcol);

/* The order that is chosen for a grid of that shape (0 x 0: the chosen one): by tiles from 16
 * process rows and 8 ranks a node on, else by nodes. Local. */
OSLA_API osla_grid_order osla_grid_choose_order(const osla_transport *transport, int nprow,
                                                int npcol);

/* Makes a grid in which each rank names its own position, as Cblacs_gridinfo reports it: so that
 * matrices on an existing BLACS context can be used (ranks outside it pass -1, -1). Collective.
 * Errors, on all ranks together: ARG when ranks name other shapes, two ranks name one position, a
 * position is empty, or one is outside the grid. */
OSLA_API osla_err osla_grid_create_at(osla_transport *transport, int nprow, int npcol, int prow,
                                      int pcol, osla_grid **out);

/* Makes the grid in which position (0, 0) is position (prow, pcol) of `grid` and the others follow
 * cyclically: for matrices whose first block lies on process (prow, pcol) (ScaLAPACK's RSRC, CSRC).
 * Local; the same arguments on all ranks. Errors: ARG (no such position), MEM. */
OSLA_API osla_err osla_grid_shift(const osla_grid *grid, int prow, int pcol, osla_grid **out);

/* Are they of one transport and one shape, with the same rank at each position? Local. */
OSLA_API bool osla_grid_same(const osla_grid *x, const osla_grid *y);

/* For segments in which ranks are notified from their process row, their column and their node
 * alone: so many slots instead of all ranks. Borrows the grid. Local. */
OSLA_API osla_notifiers osla_grid_notifiers(const osla_grid *grid);

/* Local. Accepts NULL and nulls the handle. */
OSLA_API void osla_grid_destroy(osla_grid **grid);

/* Local queries. */
OSLA_API int osla_grid_nprow(const osla_grid *grid);
OSLA_API int osla_grid_npcol(const osla_grid *grid);
OSLA_API int osla_grid_prow(const osla_grid *grid); /* mine; -1 when idle */
OSLA_API int osla_grid_pcol(const osla_grid *grid);
OSLA_API int osla_grid_rank_at(const osla_grid *grid, int prow, int pcol);
OSLA_API int osla_grid_prow_of(const osla_grid *grid, int rank);     /* -1 when idle */
OSLA_API osla_transport *osla_grid_transport(const osla_grid *grid); /* its object keeps it */

#ifdef __cplusplus
}
#endif
#endif
