#include "osla_grid.h"

#include <stdlib.h>
#include <string.h>

typedef struct grid_position {
  int prow, pcol; /* process row and column of a rank; -1 if the rank is idle */
} grid_position;

struct osla_grid {
  osla_transport *t;
  int nprow, npcol, prow, pcol;
  grid_position *position_of; /* [ranks] position of each rank */
  int rank_at[];              /* [nprow * npcol] rank at each position, row by row */
};

/* Allocates a grid in which all ranks are idle. The caller sets rank_at. */
static osla_err new_grid(osla_transport *t, int nprow, int npcol, osla_grid **out)
{
  size_t size = (size_t)osla_transport_size(t);
  osla_grid *grid = malloc(sizeof *grid + (size_t)(nprow * npcol) * sizeof grid->rank_at[0]);
  grid_position *position_of = malloc(size * sizeof *position_of);
  if (!grid || !position_of) {
    free(grid);
    free(position_of);
    return osla_error_set(OSLA_ERR_MEM, "grid of %zu ranks", size);
  }
  *grid = (osla_grid){.t = t, .nprow = nprow, .npcol = npcol, .position_of = position_of};
  for (size_t rank = 0; rank < size; rank++)
    position_of[rank] = (grid_position){-1, -1};
  *out = grid;
  return OSLA_OK;
}

static void nearest_to_square(int size, int *nprow, int *npcol)
{
  int p = 1;
  for (int d = 1; (int64_t)d * d <= size; d++)
    if (size % d == 0) p = d;
  *nprow = p;
  *npcol = size / p;
}

/* Largest number of ranks of one node for which a single process row is chosen. With more ranks,
 * several process rows share the work on a panel. */
enum { ROW_MOST = 8 };

void osla_grid_choose(int ranks, int nodes, int *nprow, int *npcol)
{
  *nprow = 1;
  *npcol = ranks;
  if (ranks > ROW_MOST || nodes > 1) nearest_to_square(ranks, nprow, npcol);
}

static osla_err check_shape(int size, int nprow, int npcol)
{
  OSLA_CHECK(nprow >= 1 && npcol >= 1, OSLA_ERR_ARG, "grid %d x %d: both sides must be at least 1",
             nprow, npcol);
  OSLA_CHECK((int64_t)nprow * npcol <= size, OSLA_ERR_ARG,
             "grid %d x %d needs %lld ranks, but there are %d", nprow, npcol,
             (long long)nprow * npcol, size);
  return OSLA_OK;
}

static osla_err fill_from_positions(osla_grid *grid)
{
  int size = osla_transport_size(grid->t);
  for (int i = 0; i < grid->nprow * grid->npcol; i++)
    grid->rank_at[i] = -1;
  for (int rank = 0; rank < size; rank++) {
    int prow = grid->position_of[rank].prow, pcol = grid->position_of[rank].pcol;
    if (prow == -1 && pcol == -1) continue;
    OSLA_CHECK(prow >= 0 && prow < grid->nprow && pcol >= 0 && pcol < grid->npcol, OSLA_ERR_ARG,
               "rank %d names position (%d, %d), which is outside the %d x %d grid", rank, prow,
               pcol, grid->nprow, grid->npcol);
    int *slot = &grid->rank_at[prow * grid->npcol + pcol];
    OSLA_CHECK(*slot < 0, OSLA_ERR_ARG, "ranks %d and %d both name position (%d, %d)", *slot, rank,
               prow, pcol);
    *slot = rank;
  }
  for (int i = 0; i < grid->nprow * grid->npcol; i++)
    OSLA_CHECK(grid->rank_at[i] >= 0, OSLA_ERR_ARG, "no rank names position (%d, %d)",
               i / grid->npcol, i % grid->npcol);
  return OSLA_OK;
}

osla_err osla_grid_create_at(osla_transport *t, int nprow, int npcol, int prow, int pcol,
                             osla_grid **out)
{
  *out = NULL;
  int size = osla_transport_size(t), rank = osla_transport_rank(t);
  osla_grid *grid = NULL;
  osla_err err = check_shape(size, nprow, npcol);
  if (err == OSLA_OK) err = new_grid(t, nprow, npcol, &grid);
  const osla_argument shape[] = {{"nprow", nprow}, {"npcol", npcol}};
  OSLA_TRY(osla_agree_same(t, err, "osla_grid_create", shape, 2));

  grid->prow = prow;
  grid->pcol = pcol;
  memset(grid->position_of, 0, (size_t)size * sizeof *grid->position_of);
  grid->position_of[rank] = (grid_position){prow, pcol};
  OSLA_TRY(osla_allreduce(t, grid->position_of, 2 * (int64_t)size, MPI_INT, MPI_SUM));
  OSLA_TRY(osla_agree(t, fill_from_positions(grid)));
  *out = grid;
  grid = NULL;
cleanup:
  osla_grid_destroy(&grid);
  return err;
}

/* Position of a rank in the list of all ranks, sorted by node and then by rank. */
static int index_by_node(const osla_transport *t, int rank)
{
  int before = 0, node = osla_transport_node_of(t, rank);
  for (int other = 0; other < osla_transport_size(t); other++) {
    int its = osla_transport_node_of(t, other);
    if (its < node || (its == node && other < rank)) before++;
  }
  return before;
}

/* Rows of the rectangle that each node fills, or 0 if no rectangle fits (see osla_grid_order). */
static int tile_rows(const osla_transport *t, osla_grid_order order, int nprow, int npcol)
{
  const int each = osla_transport_largest_node(t), size = osla_transport_size(t);
  const bool regular = (int64_t)osla_transport_n_nodes(t) * each == size;
  if (order != OSLA_GRID_TILES && order != OSLA_GRID_ACROSS) return 0;
  if (!regular || (int64_t)nprow * npcol != size || each % nprow == 0) return 0;
  if (order == OSLA_GRID_ACROSS) return nprow % each == 0 ? each : 0;
  for (int rows = 1; rows <= each; rows++)
    if (each % rows == 0 && (int64_t)rows * rows >= each && nprow % rows == 0 &&
        npcol % (each / rows) == 0)
      return rows;
  return 0;
}

/* Smallest numbers of process rows and of ranks per node with which tiles are chosen. In
 * simulations, LU on nodes of four ranks was up to 1.06 times slower with tiles. */
enum { TILED_LEAST = 16, TILED_LEAST_EACH = 8 };

/* Replaces the shape 0 x 0 by the chosen shape of the grid. */
static void choose_shape(const osla_transport *t, int *nprow, int *npcol)
{
  if (*nprow == 0 && *npcol == 0)
    osla_grid_choose(osla_transport_size(t), osla_transport_n_nodes(t), nprow, npcol);
}

osla_grid_order osla_grid_choose_order(const osla_transport *t, int nprow, int npcol)
{
  choose_shape(t, &nprow, &npcol);
  const bool tiled = nprow >= TILED_LEAST && osla_transport_largest_node(t) >= TILED_LEAST_EACH &&
                     tile_rows(t, OSLA_GRID_TILES, nprow, npcol) > 0;
  return tiled ? OSLA_GRID_TILES : OSLA_GRID_NODES;
}

static osla_err check_order(osla_grid_order order)
{
  OSLA_CHECK((int)order >= OSLA_GRID_ROWS && (int)order <= OSLA_GRID_ACROSS, OSLA_ERR_ARG,
             "%d is not an order of ranks (osla_grid_order)", (int)order);
  return OSLA_OK;
}

osla_err osla_grid_create_ordered(osla_transport *t, int nprow, int npcol, osla_grid_order order,
                                  osla_grid **out)
{
  *out = NULL;
  int number = osla_transport_rank(t), rows = 0;
  const osla_argument same[] = {{"order", (int)order}};
  osla_err err = osla_agree_same(t, check_order(order), "osla_grid_create_ordered", same, 1);
  if (err != OSLA_OK) return err;
  choose_shape(t, &nprow, &npcol);
  if (order >= OSLA_GRID_NODES) number = index_by_node(t, number);
  if (nprow > 0 && npcol > 0) rows = tile_rows(t, order, nprow, npcol);
  bool member = nprow > 0 && npcol > 0 && number < (int64_t)nprow * npcol;
  if (!member) return osla_grid_create_at(t, nprow, npcol, -1, -1, out);
  if (order == OSLA_GRID_ROWS)
    return osla_grid_create_at(t, nprow, npcol, number / npcol, number % npcol, out);
  if (rows > 0) {
    int each = osla_transport_largest_node(t), tile = number / each, in_tile = number % each;
    int cols = each / rows, down = nprow / rows, across = npcol / cols;
    int row = order == OSLA_GRID_ACROSS ? tile / across : tile % down;
    int col = order == OSLA_GRID_ACROSS ? tile % across : tile / down;
    return osla_grid_create_at(t, nprow, npcol, row * rows + in_tile % rows,
                               col * cols + in_tile / rows, out);
  }
  return osla_grid_create_at(t, nprow, npcol, number % nprow, number / nprow, out);
}

osla_err osla_grid_create(osla_transport *t, int nprow, int npcol, osla_grid **out)
{
  bool chosen = nprow == 0 && npcol == 0;
  osla_grid_order order = chosen ? osla_grid_choose_order(t, 0, 0) : OSLA_GRID_ROWS;
  return osla_grid_create_ordered(t, nprow, npcol, order, out);
}

osla_err osla_grid_shift(const osla_grid *grid, int prow, int pcol, osla_grid **out)
{
  int p = grid->nprow, q = grid->npcol;
  *out = NULL;
  OSLA_CHECK(prow >= 0 && prow < p && pcol >= 0 && pcol < q, OSLA_ERR_ARG,
             "position (%d, %d) is outside the %d x %d grid", prow, pcol, p, q);
  osla_grid *shifted = NULL;
  OSLA_CALL(new_grid(grid->t, p, q, &shifted));
  for (int i = 0; i < p; i++)
    for (int j = 0; j < q; j++) {
      int rank = osla_grid_rank_at(grid, (i + prow) % p, (j + pcol) % q);
      shifted->rank_at[i * q + j] = rank;
      shifted->position_of[rank] = (grid_position){i, j};
    }
  grid_position mine = shifted->position_of[osla_transport_rank(grid->t)];
  shifted->prow = mine.prow;
  shifted->pcol = mine.pcol;
  *out = shifted;
  return OSLA_OK;
}

bool osla_grid_same(const osla_grid *x, const osla_grid *y)
{
  if (x->t != y->t || x->nprow != y->nprow || x->npcol != y->npcol) return false;
  return memcmp(x->rank_at, y->rank_at, (size_t)(x->nprow * x->npcol) * sizeof x->rank_at[0]) == 0;
}

void osla_grid_destroy(osla_grid **grid)
{
  if (!grid || !*grid) return;
  free((*grid)->position_of);
  free(*grid);
  *grid = NULL;
}

int osla_grid_nprow(const osla_grid *grid)
{
  return grid->nprow;
}
int osla_grid_npcol(const osla_grid *grid)
{
  return grid->npcol;
}
int osla_grid_prow(const osla_grid *grid)
{
  return grid->prow;
}
int osla_grid_pcol(const osla_grid *grid)
{
  return grid->pcol;
}
osla_transport *osla_grid_transport(const osla_grid *grid)
{
  return grid->t;
}

int osla_grid_prow_of(const osla_grid *grid, int rank)
{
  return grid->position_of[rank].prow;
}
int osla_grid_pcol_of(const osla_grid *grid, int rank)
{
  return grid->position_of[rank].pcol;
}

/* Index of an origin in its target's table of notifiers: first the ranks of the target's process
 * column, then of its process row, then of its node. This rank is the origin or the target. */
static int notifier_index(const void *arg, int origin, int target)
{
  const osla_grid *grid = arg;
  grid_position from = grid->position_of[origin], to = grid->position_of[target];
  if (from.prow >= 0 && from.pcol == to.pcol) return from.prow;
  if (from.prow >= 0 && from.prow == to.prow) return grid->nprow + from.pcol;
  int other = origin == osla_transport_rank(grid->t) ? target : origin;
  if (!osla_transport_same_node(grid->t, other)) return -1;
  return grid->nprow + grid->npcol + osla_transport_node_rank_of(grid->t, origin);
}

osla_notifiers osla_grid_notifiers(const osla_grid *grid)
{
  int notifiers = grid->nprow + grid->npcol + osla_transport_largest_node(grid->t);
  return (osla_notifiers){notifiers, notifier_index, grid};
}

int osla_grid_rank_at(const osla_grid *grid, int prow, int pcol)
{
  return grid->rank_at[prow * grid->npcol + pcol];
}
