/* Right-looking Cholesky on a block-cyclic matrix, driven by notify.
 *
 * Lower triangle: step k factors A(k,k) = L L^H. The ranks of its process column compute L(i,k) :=
 * A(i,k) L(k,k)^-H and publish it. Then A(i,j) -= L(i,k) L(j,k)^H for i >= j > k. A rank needs
 * L(i,k) for its own block rows i. It gets them from the rank that is both in its process row and
 * in the process column of the panel. It also needs L(j,k) for its own block columns j, and gets
 * them from the ranks of the panel's process column that own block rows j. With look-ahead the
 * column of step k + 1 is updated first and factored before the rest of the update.
 *
 * Upper triangle (A = U^H U): as the lower triangle with rows and columns exchanged. The code is
 * written for the lower triangle; chol_shape.h exchanges rows and columns where memory is accessed.
 *
 * A panel is sent in two hops (panels.h). In the first hop the whole panel is sent within process
 * rows, to the ranks with the same block rows. In the second hop these ranks send the blocks of
 * L(j,k) within process columns, to the ranks that own block columns j. Ranks on the node of the
 * panel's owner read the blocks in place and need no hop.
 *
 * Memory per rank: a copy of the panel for this rank's block columns, but not for a triangular
 * matrix. If there are several nodes, each rank also has sets of panel buffers (panels.h). */
#include "kernels/chol/chol_shape.h"
#include "kernels/common/panels.h"
#include "kernels/common/pipeline.h"
#include "osla_chol.h"
#include "osla_trace.h"
#include "src/transport/transport_ops.h"

#include <inttypes.h>
#include <stdlib.h>

/* Address of L(i,k) for this rank's block rows: in the packed copy if there is one, otherwise in
 * the matrix of the rank that owns these blocks. */
static operand rows_at(const chol *f, const chol_step *s, const void *copy)
{
  if (copy) return packed_operand(f, copy, s->rows_left, s->size);
  return peer_element(f, rank_of(f, f->prow, s->pcol), s->row_after,
                      osla_index_local(s->start, f->v.nb, f->n_pcols));
}

/* True if all ranks of this process column can read the matrix of the panel's owner in place, so
 * that the panel need not be sent to them. */
static bool reads_owner(const chol *f, int owner)
{
  return f->readable && f->column_node == osla_transport_node_of(f->v.t, owner);
}

/* ---- publishing ---- */

/* Index j > k of the first block of the panel that process row `owner` owns, and whose block column
 * this rank owns. Further blocks of this kind follow at distances of lcm. */
static int64_t first_shared(const chol *f, int64_t k, int owner)
{
  int64_t behind = (owner - (k + 1) % f->n_prows + f->n_prows) % f->n_prows, j = k + 1 + behind;
  while (j < f->steps && j % f->n_pcols != f->pcol)
    j += f->n_prows;
  return j;
}

static size_t block_bytes(const chol *f)
{
  return (size_t)(f->v.nb * f->v.nb) * f->v.element;
}

/* Returns the bytes of a panel that a root publishes in step k (member `bytes` of
 * osla_panels_plan). The whole panel goes from its process column to the ranks with the same block
 * rows. These ranks send the blocks that serve as L(j,k) within their process columns. */
static size_t panel_bytes(const void *kernel, panel_kind kind, int64_t k, int root)
{
  const chol *f = kernel;
  chol_step s = chol_step_make(f, k);
  if (kind == PANEL_ROWS) return root == s.pcol ? (size_t)(s.rows_left * s.size) * f->v.element : 0;
  if (kind == PANEL_DIAGONAL)
    return root == s.prow && f->pcol == s.pcol ? (size_t)(s.size * s.size) * f->v.element : 0;
  if (root % f->common != f->pcol % f->common || reads_owner(f, rank_of(f, root, s.pcol))) return 0;
  int64_t first = first_shared(f, k, root);
  return first < f->steps ? (size_t)((f->steps - 1 - first) / f->lcm + 1) * block_bytes(f) : 0;
}

/* Packs the blocks of the panel that this process column needs as L(j,k), one after another, each
 * of size x nb elements. */
static void pack_columns(const chol *f, const chol_step *s, operand rows, unsigned char *room)
{
  for (int64_t j = first_shared(f, s->k, f->prow); j < f->steps; j += f->lcm) {
    int64_t at = rows_before(f, j * f->v.nb);
    osli_chol_pack_block(f, block_size(f, j), s->size, advance_rows(f, rows, at - s->row_after),
                         room);
    room += block_bytes(f);
  }
}

static bool rows_are_here(chol *f, const chol_step *s, operand *rows)
{
  const void *copy;
  if (f->pcol == s->pcol) {
    *rows = element(f, s->row_after, s->col_on);
    return atomic_load(&f->factored) > s->k;
  }
  if (!osli_panels_has_arrived(f->panels, PANEL_ROWS, s->k, s->pcol, &copy)) return false;
  *rows = rows_at(f, s, copy);
  return true;
}

static bool panel_ready(void *kernel, panel_kind kind, int64_t k, void *room)
{
  chol *f = kernel;
  chol_step s = chol_step_make(f, k);
  operand rows, block;
  if (kind == PANEL_DIAGONAL) {
    if (atomic_load(&f->diagonals) <= k) return false;
    block = element(f, s.row_on, s.col_on);
    if (room) osli_chol_pack_block(f, s.size, s.size, block, room);
    return true;
  }
  if (!rows_are_here(f, &s, &rows)) return false;
  if (room && kind == PANEL_ROWS) osli_chol_pack_block(f, s.rows_left, s.size, rows, room);
  if (room && kind == PANEL_COLS) pack_columns(f, &s, rows, room);
  return true;
}

/* ---- factoring a step ---- */

static osla_err factor_diagonal(chol *f, const chol_step *s)
{
  int64_t info;
  operand block = element(f, s->row_on, s->col_on);
  double since = osla_trace_now(f->v.t), size = (double)s->size;
  OSLA_CALL(osla_lapack_potrf(f->v.dtype, f->uplo, s->size, block.at, block.ld, &info));
  osla_trace_add(f->v.t, OSLA_TRACE_PANEL, since, size * size * size / 3.0);
  if (info > 0 && f->info == 0) f->info = s->start + info;
  atomic_store(&f->diagonals, s->k + 1);
  osli_panels_progress(f->panels);
  return OSLA_OK;
}

static operand receive_diagonal(chol *f, const chol_step *s)
{
  const void *copy = NULL;
  if (f->prow != s->prow) copy = osli_panels_wait(f->panels, PANEL_DIAGONAL, s->k, s->prow);
  if (copy) return packed_operand(f, copy, s->size, s->size);
  return peer_element(f, rank_of(f, s->prow, s->pcol),
                      osla_index_local(s->start, f->v.nb, f->n_prows),
                      osla_index_local(s->start, f->v.nb, f->n_pcols));
}

static osla_err factor(void *kernel, int64_t k)
{
  chol *f = kernel;
  chol_step made = chol_step_make(f, k), *s = &made;
  if (f->prow == s->prow) OSLA_CALL(factor_diagonal(f, s));
  if (s->rows_left > 0) {
    operand diagonal = receive_diagonal(f, s);
    operand panel = element(f, s->row_after, s->col_on);
    OSLA_CALL(osli_chol_solve_panel(f, s->rows_left, s->size, diagonal, panel));
  }
  /* complete queued work first: as soon as f->factored has changed, a progress step may pack the
   * panel */
  osli_device_settle_kept(SETTLE_NOTIFY);
  atomic_store(&f->factored, k + 1);
  for (int i = 0; i < f->n_readers; i++)
    OSLA_CALL(osli_panels_notify_rank(f->panels, k, f->readers[i]));
  return OSLA_OK;
}

/* ---- the update ---- */

/* Waits until L(i,k) of this rank's block rows has arrived. */
static operand receive_rows(chol *f, const chol_step *s)
{
  const void *copy = NULL;
  if (f->pcol != s->pcol) copy = osli_panels_wait(f->panels, PANEL_ROWS, s->k, s->pcol);
  return rows_at(f, s, copy);
}

/* Address of L(j,k): in this rank's part of the panel, in the matrix of its owner, or among the
 * blocks that this rank has received in the second hop. */
static operand find_block(chol *f, const chol_step *s, operand rows, int64_t j)
{
  int owner = (int)(j % f->n_prows), origin = rank_of(f, owner, s->pcol);
  int64_t at = osla_index_local(j * f->v.nb, f->v.nb, f->n_prows);
  if (owner == f->prow) return advance_rows(f, rows, at - s->row_after);
  if (f->readable && osla_transport_same_node(f->v.t, origin)) {
    osli_panels_wait_rank(f->panels, s->k, origin);
    return peer_element(f, origin, at, osla_index_local(s->start, f->v.nb, f->n_pcols));
  }
  const unsigned char *blocks = osli_panels_wait(f->panels, PANEL_COLS, s->k, owner);
  /* number of blocks before block j that this rank gets from this owner */
  size_t before = (size_t)((j - s->k - 1) / f->lcm);
  return packed_operand(f, blocks + before * block_bytes(f), block_size(f, j), s->size);
}

/* Copies L(j,k) for this rank's block columns, from local column `from` on, to the dense array
 * f->columns. */
static operand gather_block_columns(chol *f, const chol_step *s, operand rows, int64_t from)
{
  int64_t count = f->n_cols - from;
  double since = osla_trace_now(f->v.t);
  operand all = packed_operand(f, f->columns, count, s->size);
  for (int64_t c = 0; c < count; c += f->v.nb) {
    int64_t j = osla_index_global(from + c, f->v.nb, f->pcol, f->n_pcols) / f->v.nb;
    operand block = find_block(f, s, rows, j);
    osli_chol_copy_block(f, block_size(f, j), s->size, block, advance_rows(f, all, c));
  }
  osla_trace_add(f->v.t, OSLA_TRACE_PACK, since,
                 (double)count * (double)s->size * (double)f->v.element);
  return all;
}

/* Operands of a step's update: L(i,k) for this rank's block rows, and L(j,k) from local column
 * `first` on. */
typedef struct update_of {
  const chol_step *s;
  operand rows, columns;
  int64_t first;
} update_of;

/* Updates A(i,j) -= L(i,k) L(j,k)^H where i runs over the local rows [behind, end) and j over the
 * local columns [from, to). This rectangle is completely inside the triangle. The product is cut
 * into tiles, between which panels are forwarded. */
static osla_err update_behind(chol *f, const update_of *u, int64_t behind, int64_t end,
                              int64_t from, int64_t to)
{
  osla_tile tile = osli_tile_choose(f->panels, end - behind, to - from);
  for (int64_t at = from; at < to; at += tile.cols)
    for (int64_t i = behind; i < end; i += tile.rows) {
      int64_t m = end - i < tile.rows ? end - i : tile.rows;
      int64_t n = to - at < tile.cols ? to - at : tile.cols;
      OSLA_CALL(
        osli_chol_update_block(f, m, n, u->s->size, advance_rows(f, u->rows, i - u->s->row_after),
                               advance_rows(f, u->columns, at - u->first), element(f, i, at)));
      if (osli_panels_forwards(f->panels)) osla_progress(f->v.t);
    }
  return OSLA_OK;
}

/* Updates A(i,j) -= L(i,k) L(j,k)^H for i >= j, where j runs over the local columns [from, to) and
 * i over the local rows before `end`. The columns have one leading dimension. The rows below the
 * diagonal element of the last of these columns are one product; the other rows are halved
 * recursively down to blocks. If this rank has all blocks on a device, the recursion ends earlier,
 * because a device is slow at many small products. */
static osla_err update(chol *f, const update_of *u, int64_t from, int64_t to, int64_t end)
{
  /* the recursion of `update` ends on a device at triangles with this number of block columns */
  enum { LARGE = 8 };
  const int64_t nb = f->v.nb, least = f->is_whole ? LARGE * nb : nb;
  if (from >= to) return OSLA_OK;
  int64_t start = osla_index_global(from, nb, f->pcol, f->n_pcols);
  int64_t last = osla_index_global(to - 1, nb, f->pcol, f->n_pcols);
  int64_t behind = rows_before(f, last + 1);
  if (behind < end) OSLA_CALL(update_behind(f, u, behind, end, from, to));
  if (to - from > least) {
    int64_t half = from + ((to - from) / nb + 1) / 2 * nb;
    OSLA_CALL(update(f, u, from, half, behind));
    return update(f, u, half, to, behind);
  }
  int64_t on = rows_before(f, start);
  if (on >= behind) return OSLA_OK; /* this rank does not own the diagonal block */
  return osli_chol_update_diagonal(
    f, to - from, u->s->size, advance_rows(f, u->columns, from - u->first), element(f, on, from));
}

/* ---- the loop ---- */

static bool owns(const void *kernel, int64_t k)
{
  const chol *f = kernel;
  return f->pcol == k % f->n_pcols;
}

static osla_err apply(void *kernel, int64_t k, int64_t from, int64_t to)
{
  chol *f = kernel;
  chol_step s = chol_step_make(f, k);
  int64_t first = from < f->steps ? cols_before(f, from * f->v.nb) : f->n_cols;
  int64_t end = to < f->steps ? cols_before(f, to * f->v.nb) : f->n_cols;
  if (s.rows_left == 0 || first >= end) return OSLA_OK;
  operand rows = receive_rows(f, &s);
  /* Look-ahead updates a single block column, which needs one block. */
  const bool in_place = to == from + 1 || !osli_chol_copies_columns(f);
  operand gathered = {0};
  if (!in_place) gathered = gather_block_columns(f, &s, rows, first);
  for (int64_t col = first, n; col < end; col += n) {
    n = columns_from(f, col, end);
    const int64_t j = osla_index_global(col, f->v.nb, f->pcol, f->n_pcols) / f->v.nb;
    const update_of u = {&s, rows, in_place ? find_block(f, &s, rows, j) : gathered, col};
    OSLA_CALL(update(f, &u, col, col + n, f->n_rows));
  }
  return OSLA_OK;
}

static osla_err run_steps(chol *f)
{
  osla_pipeline p = {.name = "osla_potrf",
                     .steps = f->steps,
                     .look_ahead = f->look_ahead,
                     .panels = f->panels,
                     .queue = osli_device_of(f->v.local),
                     .kernel = f,
                     .owns = owns,
                     .apply = apply,
                     .factor = factor};
  return f->v.prow < 0 ? OSLA_OK : osli_pipeline_run(&p);
}

static osla_err agree_info(const chol *f, int64_t *info)
{
  int64_t first = f->info > 0 ? f->info : INT64_MAX;
  OSLA_CALL(osli_agree_least(f->v.t, OSLA_OK, &first, 1));
  *info = first == INT64_MAX ? 0 : first;
  return OSLA_OK;
}

osla_err osla_potrf(osla_uplo uplo, osla_matrix *a, const osla_chol_options *options, int64_t *info)
{
  chol f;
  osla_err err;
  *info = 0;
  err = osli_chol_init(&f, "Cholesky", a, uplo, options);
  /* This call is also a barrier: after it A is complete on all ranks. */
  OSLA_CALL(osli_chol_agree(a, err, "osla_potrf", uplo, options));
  OSLA_TRY(osli_chol_allocate(&f, panel_bytes, panel_ready));
  err = run_steps(&f);
  /* The error must end all ranks, because some of them wait for panels of this rank. */
  if (err != OSLA_OK) osla_transport_abort(f.v.t, err);
  OSLA_TRY(agree_info(&f, info)); /* this call is also a barrier: after it no rank reads panels */
cleanup:
  osli_chol_free(&f);
  return err;
}
