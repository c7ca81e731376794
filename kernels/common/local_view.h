/* What a kernel needs of a distributed matrix on this rank, gathered once (internal).
 *
 * Row and column arguments are global; results are local. For matrices whose block rows and block
 * columns are walked step by step.
 */
#ifndef OSLA_LOCAL_VIEW_H
#define OSLA_LOCAL_VIEW_H

#include "osla_index.h"
#include "osla_matrix.h"

typedef struct local_view {
  osla_matrix *matrix;
  osla_grid *grid;
  osla_transport *t;
  osla_dtype dtype;
  size_t element; /* bytes */
  int64_t m, n, mb, nb;
  int p, q, prow, pcol;
  int64_t rows, cols; /* local */
  int64_t lld;
  unsigned char *local;
} local_view;

/* A view of a matrix that is only read may only be read: views and parts have no other form for
 * those. */
static inline osla_matrix *without_const(const osla_matrix *a)
{
  return (osla_matrix *)a;
}

static inline local_view view_of(osla_matrix *a)
{
  osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  osla_transport *t = osla_grid_transport(grid);
  return (local_view){.matrix = a,
                      .grid = grid,
                      .t = t,
                      .dtype = osla_matrix_dtype(a),
                      .element = osla_dtype_size(osla_matrix_dtype(a)),
                      .m = l.m,
                      .n = l.n,
                      .mb = l.mb,
                      .nb = l.nb,
                      .p = l.nprow,
                      .q = l.npcol,
                      .prow = osla_grid_prow(grid),
                      .pcol = osla_grid_pcol(grid),
                      .rows = osla_matrix_local_rows(a),
                      .cols = osla_matrix_local_cols(a),
                      .lld = osla_matrix_lld(a, osla_transport_rank(t)),
                      .local = osla_matrix_local(a)};
}

/* A block that is larger than the matrix becomes as large as the matrix: the distribution is the
 * same, and buffers of a block's size stay small. */
static inline void trim_blocks(local_view *v)
{
  if (v->mb > v->m) v->mb = v->m > 1 ? v->m : 1;
  if (v->nb > v->n) v->nb = v->n > 1 ? v->n : 1;
}

/* Number of my local rows (columns) with a global index below i (j). */
static inline int64_t rows_below(const local_view *v, int64_t i)
{
  return osla_index_count(i < v->m ? i : v->m, v->mb, v->prow, v->p);
}

static inline int64_t cols_below(const local_view *v, int64_t j)
{
  return osla_index_count(j < v->n ? j : v->n, v->nb, v->pcol, v->q);
}

/* Address of local element (row, col). */
static inline unsigned char *local_at(const local_view *v, int64_t row, int64_t col)
{
  return v->local + (size_t)(row + col * v->lld) * v->element;
}

static inline int rank_at(const local_view *v, int prow, int pcol)
{
  return osla_grid_rank_at(v->grid, prow, pcol);
}

/* Do others reach the matrix (osla_matrix_wrap_own), if it has parts of others at all? */
static inline bool is_shared(const osla_matrix *a)
{
  osla_layout l = osla_matrix_layout(a);
  return osla_matrix_segment(a) || l.nprow * l.npcol == 1;
}

/* Can that rank's local array be read in place from here? Then it can read mine, too. */
static inline bool in_place(const local_view *v, int rank)
{
  return osla_matrix_peer(v->matrix, rank) != NULL;
}

/* Can this thread call BLAS, and are my part's sizes integers of its? Before others wait for what I
 * compute, since a failure then would end the job. Local. Errors: MEM, RANGE, UNSUPPORTED. */
osla_err osli_view_check_blas(const osla_matrix *a);

/* Is there a rank of the grid whose local array cannot be read in place from somewhere? The same
 * answer on all ranks: buffers are made or not made together. Collective. */
osla_err osli_view_needs_buffers(const local_view *v, bool *needed);

/* Is there a neighbour on this node whose local array cannot be read in place from here? Local. */
bool osli_view_has_hidden_neighbour(const local_view *v);

/* Do all neighbours on each node read one another's local arrays in place? The same answer on all
 * ranks. Collective. */
osla_err osli_view_neighbours_readable(const local_view *v, bool *readable);

/* Local array of a rank that is in_place, and an element of it. */
static inline unsigned char *peer_at(const local_view *v, int rank, int64_t row, int64_t col)
{
  unsigned char *peer = osla_matrix_peer(v->matrix, rank);
  return peer + (size_t)(row + col * osla_matrix_lld(v->matrix, rank)) * v->element;
}

/* Copies an m x n piece from leading dimension `from_ld` to a dense array. */
void osli_pack(size_t element, int64_t m, int64_t n, const void *from, int64_t from_ld, void *to);

#endif
