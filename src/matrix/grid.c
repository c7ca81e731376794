#include "osla_grid.h"

#include <stdlib.h>
#include <string.h>

struct osla_grid {
  osla_transport *t;
  int nprow, npcol, prow, pcol;
  int rank_at[]; /* [nprow * npcol], row-major */
};

static void nearest_to_square(int size, int *nprow, int *npcol)
{
  int p = 1;
  for (int d = 1; (int64_t)d * d <= size; d++)
    if (size % d == 0) p = d;
  *nprow = p;
  *npcol = size / p;
}

/* Ranks of one node that make one process row: more of them share the work on a panel. */
enum { ROW_MOST = 8 };

/* See osla_grid_create. */
static void choose_shape(const osla_transport *t, int *nprow, int *npcol)
{
  int size = osla_transport_size(t);
  *nprow = 1;
  *npcol = size;
  if (size > ROW_MOST || osla_transport_n_nodes(t) > 1) nearest_to_square(size, nprow, npcol);
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

static osla_err fill_from_places(osla_grid *grid, const int *place)
{
  int size = osla_transport_size(grid->t);
  for (int i = 0; i < grid->nprow * grid->npcol; i++)
    grid->rank_at[i] = -1;
  for (int rank = 0; rank < size; rank++) {
    int prow = place[2 * rank], pcol = place[2 * rank + 1];
    if (prow == -1 && pcol == -1) continue;
    OSLA_CHECK(prow >= 0 && prow < grid->nprow && pcol >= 0 && pcol < grid->npcol, OSLA_ERR_ARG,
               "rank %d names place (%d, %d), which is outside the %d x %d grid", rank, prow, pcol,
               grid->nprow, grid->npcol);
    int *slot = &grid->rank_at[prow * grid->npcol + pcol];
    OSLA_CHECK(*slot < 0, OSLA_ERR_ARG, "ranks %d and %d both name place (%d, %d)", *slot, rank,
               prow, pcol);
    *slot = rank;
  }
  for (int i = 0; i < grid->nprow * grid->npcol; i++)
    OSLA_CHECK(grid->rank_at[i] >= 0, OSLA_ERR_ARG, "no rank names place (%d, %d)", i / grid->npcol,
               i % grid->npcol);
  return OSLA_OK;
}

osla_err osla_grid_create_at(osla_transport *t, int nprow, int npcol, int prow, int pcol,
                             osla_grid **out)
{
  *out = NULL;
  int size = osla_transport_size(t), rank = osla_transport_rank(t);
  int *place = NULL;
  osla_grid *grid = NULL;
  osla_err err = check_shape(size, nprow, npcol);
  if (err == OSLA_OK) {
    place = calloc(2 * (size_t)size, sizeof *place);
    grid = malloc(sizeof *grid + (size_t)(nprow * npcol) * sizeof grid->rank_at[0]);
    if (!place || !grid) err = osla_error_set(OSLA_ERR_MEM, "grid of %d ranks", size);
  }
  const osla_argument shape[] = {{"nprow", nprow}, {"npcol", npcol}};
  OSLA_TRY(osla_agree_same(t, err, "osla_grid_create", shape, 2));

  place[2 * rank] = prow;
  place[2 * rank + 1] = pcol;
  OSLA_TRY(osla_allreduce(t, place, 2 * (int64_t)size, MPI_INT, MPI_SUM));
  *grid = (osla_grid){t, nprow, npcol, prow, pcol};
  OSLA_TRY(osla_agree(t, fill_from_places(grid, place)));
  *out = grid;
  grid = NULL;
cleanup:
  free(place);
  free(grid);
  return err;
}

/* How many ranks come before this one, by node and rank. */
static int number_by_node(const osla_transport *t, int rank)
{
  int before = 0, node = osla_transport_node_of(t, rank);
  for (int other = 0; other < osla_transport_size(t); other++) {
    int its = osla_transport_node_of(t, other);
    if (its < node || (its == node && other < rank)) before++;
  }
  return before;
}

osla_err osla_grid_create_ordered(osla_transport *t, int nprow, int npcol, osla_grid_order order,
                                  osla_grid **out)
{
  int number = osla_transport_rank(t);
  if (nprow == 0 && npcol == 0) choose_shape(t, &nprow, &npcol);
  if (order == OSLA_GRID_NODES) number = number_by_node(t, number);
  bool member = nprow > 0 && npcol > 0 && number < (int64_t)nprow * npcol;
  if (!member) return osla_grid_create_at(t, nprow, npcol, -1, -1, out);
  if (order == OSLA_GRID_ROWS)
    return osla_grid_create_at(t, nprow, npcol, number / npcol, number % npcol, out);
  return osla_grid_create_at(t, nprow, npcol, number % nprow, number / nprow, out);
}

osla_err osla_grid_create(osla_transport *t, int nprow, int npcol, osla_grid **out)
{
  bool chosen = nprow == 0 && npcol == 0 && osla_transport_n_nodes(t) > 1;
  return osla_grid_create_ordered(t, nprow, npcol, chosen ? OSLA_GRID_NODES : OSLA_GRID_ROWS, out);
}

osla_err osla_grid_shift(const osla_grid *grid, int prow, int pcol, osla_grid **out)
{
  int p = grid->nprow, q = grid->npcol;
  *out = NULL;
  OSLA_CHECK(prow >= 0 && prow < p && pcol >= 0 && pcol < q, OSLA_ERR_ARG,
             "place (%d, %d) is outside the %d x %d grid", prow, pcol, p, q);
  osla_grid *shifted = malloc(sizeof *shifted + (size_t)(p * q) * sizeof shifted->rank_at[0]);
  OSLA_CHECK(shifted, OSLA_ERR_MEM, "grid of %d ranks", p * q);
  *shifted = (osla_grid){grid->t, p, q, grid->prow, grid->pcol};
  if (grid->prow >= 0) {
    shifted->prow = (grid->prow - prow + p) % p;
    shifted->pcol = (grid->pcol - pcol + q) % q;
  }
  for (int i = 0; i < p; i++)
    for (int j = 0; j < q; j++)
      shifted->rank_at[i * q + j] = osla_grid_rank_at(grid, (i + prow) % p, (j + pcol) % q);
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
  if (!grid) return;
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

int osla_grid_rank_at(const osla_grid *grid, int prow, int pcol)
{
  return grid->rank_at[prow * grid->npcol + pcol];
}
