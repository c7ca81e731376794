/* A distributed matrix as seen from this rank: layout, process position and local array in one
 * struct (internal).
 *
 * Row and column arguments of the functions below are global indices; results are local indices. */
#ifndef OSLA_LOCAL_VIEW_H
#define OSLA_LOCAL_VIEW_H

#include "osla_forward.h"
#include "osla_index.h"
#include "osla_matrix.h"
#include "src/matrix/stored.h"

typedef struct local_view {
  osla_matrix *matrix;
  osla_grid *grid;
  osla_transport *t;
  osla_dtype dtype;
  size_t element; /* bytes of an element */
  int64_t m, n, mb, nb;
  int p, q, prow, pcol;
  int64_t rows; /* number of rows of the local array */
  int64_t cols; /* number of columns of the local array */
  int64_t lld;  /* leading dimension of the local array; 0 for a triangular matrix */
  unsigned char *local;
} local_view;

/* An operand of the BLAS: its address and leading dimension. */
typedef struct operand {
  unsigned char *at;
  int64_t ld;
} operand;

/* Sets the imaginary part of an element to zero; does nothing for real types. */
static inline void clear_imaginary(osla_dtype dtype, unsigned char *element)
{
  if (dtype == OSLA_COMPLEX_FLOAT) ((float *)element)[1] = 0;
  if (dtype == OSLA_COMPLEX_DOUBLE) ((double *)element)[1] = 0;
}

/* Casts const away, because views and parts exist for writable matrices only. The caller must not
 * write through the result. */
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

/* Reduces blocks that are larger than the matrix to the size of the matrix. The distribution stays
 * the same, and buffers of one block stay small. */
static inline void trim_blocks(local_view *v)
{
  if (v->mb > v->m) v->mb = v->m > 1 ? v->m : 1;
  if (v->nb > v->n) v->nb = v->n > 1 ? v->n : 1;
}

/* Returns the number of this rank's rows with a global index below i. */
static inline int64_t rows_below(const local_view *v, int64_t i)
{
  return osla_index_count(i < v->m ? i : v->m, v->mb, v->prow, v->p);
}

/* Returns the number of this rank's columns with a global index below j. */
static inline int64_t cols_below(const local_view *v, int64_t j)
{
  return osla_index_count(j < v->n ? j : v->n, v->nb, v->pcol, v->q);
}

/* Address of the local element (row, col) of a full matrix. */
static inline unsigned char *local_at(const local_view *v, int64_t row, int64_t col)
{
  return v->local + (size_t)(row + col * v->lld) * v->element;
}

static inline int rank_at(const local_view *v, int prow, int pcol)
{
  return osla_grid_rank_at(v->grid, prow, pcol);
}

/* True if other ranks can reach the matrix. False only for a matrix that osla_matrix_wrap_own made
 * on several processes. */
static inline bool is_shared(const osla_matrix *a)
{
  osla_layout l = osla_matrix_layout(a);
  return osla_matrix_segment(a) || l.nprow * l.npcol == 1;
}

/* True if this rank can read the local array of `rank` in place. If it can, `rank` can also read
 * this rank's local array. */
static inline bool in_place(const local_view *v, int rank)
{
  return osla_matrix_peer(v->matrix, rank) != NULL;
}

/* Checks that this thread can call BLAS, and that the sizes of this rank's part fit into the
 * integers of BLAS. Called before other ranks wait for this rank's results, because a later failure
 * would end the job. Local. Errors: MEM, RANGE, UNSUPPORTED. */
osla_err osli_view_check_blas(const osla_matrix *a);

/* True if some rank of the grid cannot read the local array of another rank in place. The result is
 * the same on all ranks, so that they allocate buffers together. Collective. */
osla_err osli_view_needs_buffers(const local_view *v, bool *needed);

/* True if this rank cannot read the local array of some rank of its node in place. Local. */
bool osli_view_has_hidden_neighbour(const local_view *v);

/* True if all ranks of each node can read one another's local arrays in place. The result is the
 * same on all ranks. Collective. */
osla_err osli_view_neighbours_readable(const local_view *v, bool *readable);

/* Operand that begins with local element (row, col) of `rank`, for which in_place is true. The
 * matrix may be full or triangular. The operand must not extend beyond the run of columns that
 * osli_stored_columns returns for `col`, nor above the stored rows of the run. */
static inline operand peer_operand(const local_view *v, int rank, int64_t row, int64_t col)
{
  const stored_columns s = osli_stored_columns(v->matrix, rank, col);
  return (operand){osli_stored_at(osla_matrix_peer(v->matrix, rank), &s, row, col, v->element),
                   s.ld};
}

/* Operand that begins with this rank's local element (row, col); otherwise as peer_operand. */
static inline operand local_operand(const local_view *v, int64_t row, int64_t col)
{
  const stored_columns s = osli_stored_columns(v->matrix, osla_transport_rank(v->t), col);
  return (operand){osli_stored_at(v->local, &s, row, col, v->element), s.ld};
}

/* Address of element (row, col) of a full matrix in the local array of a rank for which in_place is
 * true. */
static inline unsigned char *peer_at(const local_view *v, int rank, int64_t row, int64_t col)
{
  unsigned char *peer = osla_matrix_peer(v->matrix, rank);
  return peer + (size_t)(row + col * osla_matrix_lld(v->matrix, rank)) * v->element;
}

/* Copies an m x n matrix with leading dimension `from_ld` to a dense array. */
void osli_pack(size_t element, int64_t m, int64_t n, const void *from, int64_t from_ld, void *to);

/* ---- checks of arguments ----
 *
 * Errors: ARG (a value is not one of its type). `call` begins the message. Local. */

osla_err osli_check_side(const char *call, osla_side side);
osla_err osli_check_trans(const char *call, osla_trans trans);
osla_err osli_check_diag(const char *call, osla_diag diag);

/* Checks that `uplo` names a triangle that the matrix stores. */
osla_err osli_check_uplo(const char *call, osla_uplo uplo, const osla_matrix *matrix);

/* Checks the options look_ahead and forward of a factorisation or an inverse. *depth is the
 * number of panels that are factored ahead (0, 1 or 2); it is set even if the check fails.
 * Local. Errors: ARG. */
osla_err osli_check_panel_options(const char *call, int look_ahead, osla_forward forward,
                                  int *depth);

#endif
