/* Moving solves in both directions. Each process column solves for its own columns of B.
 *
 * NOTRANS, right-looking: in step k the owner of block row k computes X(k) = T(k,k)^-1 B(k) and
 * publishes it to its process column. Each rank then updates its other rows: B(i) -= T(i,k) X(k).
 *
 * TRANS and CONJTRANS, left-looking: block column k of T is row k of T^T. Each rank computes the
 * partial sum of T(i,k)^T X(i) over the solved rows i that it owns, and puts it to the owner of
 * block row k. The owner adds up the partial sums and solves with the diagonal block. So T is
 * always read by block columns, which are contiguous, and X is not moved. The sums of a block row
 * come from all process rows, and need a buffer each. If there are many right-hand sides, they are
 * solved in strips of columns, one strip after another, to limit the size of the buffers. */
#include "kernels/common/panels.h"
#include "kernels/solve/trsm.h"
#include "osla_trace.h"
#include "src/blas/move.h"

bool osli_trsm_has_part(const trsm *f, const trsm_step *s, int prow)
{
  const local_view *a = &f->a;
  int64_t before = osla_index_count(s->start, a->mb, prow, a->p);
  int64_t behind = osla_index_count(s->start + s->size, a->mb, prow, a->p);
  int64_t all = osla_index_count(a->n, a->mb, prow, a->p);
  return f->uplo == OSLA_LOWER ? behind < all : before > 0;
}

/* Number of floating-point operations of the product with this rank's part of the step's block
 * column of T. */
static double product_flops(const trsm *f, const trsm_step *s)
{
  double one = f->b.dtype == OSLA_FLOAT || f->b.dtype == OSLA_DOUBLE ? 2 : 8;
  return one * (double)(s->last - s->first) * (double)s->size * (double)f->b.cols;
}

/* ---- NOTRANS ---- */

/* Computes B(i) -= T(i,k) X(k) for step k and for this rank's block rows i. The product is cut
 * into tiles. Between two tiles this rank forwards panels to other ranks (osla_progress). */
static osla_err subtract_product(trsm *f, const trsm_step *s, operand column, operand x)
{
  const local_view *b = &f->b;
  double since = osla_trace_now(b->t);
  int64_t rows = s->last - s->first;
  osla_tile tile = osli_tile_choose(f->panels, rows, b->cols);
  for (int64_t c = 0; c < b->cols; c += tile.cols)
    for (int64_t r = 0; r < rows; r += tile.rows) {
      int64_t m = rows - r < tile.rows ? rows - r : tile.rows;
      int64_t n = b->cols - c < tile.cols ? b->cols - c : tile.cols;
      OSLA_CALL(osla_blas_gemm(b->dtype, OSLA_NOTRANS, OSLA_NOTRANS, m, n, s->size, -1.0,
                               column.at + (size_t)r * b->element, column.ld,
                               x.at + (size_t)(c * x.ld) * b->element, x.ld, 1.0,
                               local_at(b, s->first + r, c), b->lld));
      if (osli_panels_forwards(f->panels)) osla_progress(b->t);
    }
  osla_trace_add(b->t, OSLA_TRACE_GEMM, since, product_flops(f, s));
  return OSLA_OK;
}

/* Returns the bytes that a root publishes in step k (member `bytes` of osla_panels_plan). */
static size_t row_bytes(const void *kernel, panel_kind kind, int64_t number, int root)
{
  const trsm *f = kernel;
  trsm_step s = osli_trsm_step(f, number);
  (void)kind;
  return root == s.prow ? (size_t)(s.size * f->b.cols) * f->b.element : 0;
}

static bool row_ready(void *kernel, panel_kind kind, int64_t number, void *room)
{
  const trsm *f = kernel;
  const local_view *b = &f->b;
  (void)kind;
  if (atomic_load(&f->solved) <= number) return false;
  if (!room) return true;
  trsm_step s = osli_trsm_step(f, number);
  double since = osla_trace_now(b->t);
  osli_pack(b->element, s.size, b->cols, local_at(b, s.row, 0), b->lld, room);
  osla_trace_add(b->t, OSLA_TRACE_PACK, since, (double)row_bytes(f, kind, number, s.prow));
  return true;
}

static osla_err step_notrans(trsm *f, const trsm_step *s)
{
  const local_view *b = &f->b;
  bool mine = b->prow == s->prow;
  if (mine) {
    OSLA_CALL(osli_trsm_diagonal(f, s));
    /* complete queued work first: as soon as f->solved has changed, a progress step may pack
     * X(k) */
    if (b->p > 1) osli_device_settle_kept(SETTLE_NOTIFY);
    atomic_store(&f->solved, s->s + 1);
    osli_panels_progress(f->panels);
  }
  if (s->first < s->last) {
    int origin = rank_at(b, s->prow, b->pcol);
    const void *copy = mine ? NULL : osli_panels_wait(f->panels, PANEL_ROWS, s->s, s->prow);
    operand column, x = {(unsigned char *)(uintptr_t)copy, s->size};
    if (!copy) x = peer_operand(b, origin, osla_index_local(s->start, b->mb, b->p), 0);
    OSLA_CALL(osli_trsm_wait_column(f, s, &column));
    OSLA_CALL(subtract_product(f, s, column, x));
  }
  osli_panels_finish(f->panels, s->s);
  return OSLA_OK;
}

osla_err osli_trsm_run_notrans(trsm *f)
{
  OSLA_CALL(osli_trsm_prefetch(f, 0));
  for (int64_t number = 0; number < f->steps; number++) {
    trsm_step s = osli_trsm_step(f, number);
    osla_at_step(f->b.t, "osla_trsm", number);
    OSLA_CALL(osli_trsm_prefetch(f, number + 1));
    OSLA_CALL(step_notrans(f, &s));
  }
  osli_panels_drain(f->panels);
  return OSLA_OK;
}

/* ---- TRANS ---- */

/* dest := beta dest + alpha times the sum of T(i,k)^T X(i) over this rank's solved rows i. */
static osla_err partial_sum(trsm *f, const trsm_step *s, double alpha, double beta, void *dest,
                            int64_t ld)
{
  const local_view *b = &f->b;
  operand column;
  OSLA_CALL(osli_trsm_wait_column(f, s, &column));
  double since = osla_trace_now(b->t);
  OSLA_CALL(osla_blas_gemm(b->dtype, f->trans, OSLA_NOTRANS, s->size, b->cols, s->last - s->first,
                           alpha, column.at, column.ld, local_at(b, s->first, 0), b->lld, beta,
                           dest, ld));
  osla_trace_add(b->t, OSLA_TRACE_GEMM, since, product_flops(f, s));
  return OSLA_OK;
}

/* Bytes of a partial sum that one process row sends to another. */
static size_t piece_bytes(const trsm *f)
{
  return f->b.p > 1 ? (size_t)(f->a.nb * f->strip) * f->b.element : 0;
}

/* Returns the send buffer for the partial sums of a step. */
static unsigned char *send_buffer(const trsm *f, int64_t turn)
{
  return f->sums + (size_t)(turn % osli_pieces_depth(f->pieces)) * piece_bytes(f);
}

/* Subtracts a partial sum of another rank from this rank's block row. If B lies on a device, the
 * partial sum is first copied to a send buffer in device memory, which this rank does not use in
 * this step. */
static osla_err subtract_sum(trsm *f, const trsm_step *s, int64_t turn, const unsigned char *sum)
{
  const local_view *b = &f->b;
  unsigned char *row = local_at(b, s->row, 0), *copy = send_buffer(f, turn);
  if (!osli_device_of(row)) {
    osli_trsm_add(b, s->size, b->cols, -1, sum, row, b->lld);
    return OSLA_OK;
  }
  osli_move_columns(b->element, s->size, b->cols, sum, s->size, copy, s->size);
  return osli_device_add(b->dtype, s->size, b->cols, -1, copy, s->size, 1, row, b->lld);
}

/* Adds up the partial sums of the step's block row, and solves for this block row. `turn`: index of
 * the step, counted over all strips of columns. */
static osla_err step_trans_owner(trsm *f, const trsm_step *s, int64_t turn)
{
  const local_view *b = &f->b;
  if (s->first < s->last) OSLA_CALL(partial_sum(f, s, -1.0, 1.0, local_at(b, s->row, 0), b->lld));
  for (int i = 1; i < b->p; i++) {
    int prow = (b->prow + i) % b->p;
    if (!osli_trsm_has_part(f, s, prow)) continue;
    osli_pieces_wait(f->pieces, turn, rank_at(b, prow, b->pcol));
    unsigned char *sums = osli_pieces_buffer(f->pieces, turn);
    OSLA_CALL(subtract_sum(f, s, turn, sums + (size_t)prow * piece_bytes(f)));
  }
  return osli_trsm_diagonal(f, s);
}

static osla_err step_trans(trsm *f, const trsm_step *s, int64_t turn)
{
  const local_view *b = &f->b;
  if (b->prow == s->prow) {
    OSLA_CALL(step_trans_owner(f, s, turn));
  } else if (s->first < s->last) {
    unsigned char *sum = send_buffer(f, turn);
    /* Wait until the previous contents of this send buffer have arrived. */
    OSLA_CALL(osli_pieces_wait_posted(f->pieces, turn));
    OSLA_CALL(partial_sum(f, s, 1.0, 0.0, sum, s->size));
    OSLA_CALL(osli_pieces_post(f->pieces, turn, rank_at(b, s->prow, b->pcol),
                               (size_t)b->prow * piece_bytes(f), sum,
                               (size_t)(s->size * b->cols) * b->element));
  }
  return osli_pieces_finish(f->pieces, turn);
}

/* Runs all steps for the columns of B in f->b. `before`: number of steps of all earlier strips of
 * columns. */
static osla_err run_strip(trsm *f, int64_t before)
{
  OSLA_CALL(osli_trsm_prefetch(f, 0));
  for (int64_t number = 0; number < f->steps; number++) {
    trsm_step s = osli_trsm_step(f, number);
    osla_at_step(f->b.t, "osla_trsm", number);
    OSLA_CALL(osli_trsm_prefetch(f, number + 1));
    OSLA_CALL(step_trans(f, &s, before + number));
  }
  return OSLA_OK;
}

osla_err osli_trsm_run_trans(trsm *f)
{
  const local_view all = f->b;
  osla_err err = OSLA_OK;
  int64_t turns = 0;
  for (int64_t c = 0; c < all.cols && err == OSLA_OK; c += f->strip, turns += f->steps) {
    f->b.local = local_at(&all, 0, c);
    f->b.cols = all.cols - c < f->strip ? all.cols - c : f->strip;
    err = run_strip(f, turns);
  }
  f->b = all;
  return err;
}

/* ---- set-up ---- */

int64_t osli_trsm_strip(int64_t nb, int64_t widest, int p, size_t element)
{
  enum { LEAST = 256, SUMS_BYTES = 32 << 20 };
  int64_t column = osli_pieces_depth_for(1) * (p + 1) * nb * (int64_t)element;
  int64_t most = SUMS_BYTES / column > LEAST ? SUMS_BYTES / column : LEAST;
  int64_t strips = p > 1 ? (widest + most - 1) / most : 1;
  return strips > 1 ? (widest + strips - 1) / strips : widest;
}

osla_err osli_trsm_moving_open(trsm *f)
{
  const local_view *b = &f->b;
  if (f->trans == OSLA_NOTRANS) {
    int64_t blocks = f->steps;
    osla_panels_plan plan = {.steps = f->steps,
                             .look_ahead = 1,
                             .column_rows = blocks < b->p ? (int)blocks : b->p,
                             .readable = f->readable,
                             .device = osla_matrix_device(b->matrix),
                             .kernel = f,
                             .bytes = row_bytes,
                             .ready = row_ready};
    plan.kind[PANEL_ROWS] = (osla_panels_kind){
      .used = true, .in_column = true, .room = (size_t)(f->a.nb * f->widest) * b->element};
    return osli_panels_create(b->grid, &plan, &f->panels);
  }
  f->strip = osli_trsm_strip(f->a.nb, f->widest, b->p, b->element);
  OSLA_CALL(osli_pieces_create(b->grid, (size_t)b->p * piece_bytes(f), 1, false, &f->pieces));
  const size_t sums_bytes = (size_t)osli_pieces_depth(f->pieces) * piece_bytes(f) + 1;
  f->sums = osli_alloc_like(b->local, sums_bytes);
  return osla_agree(
    b->t,
    f->sums ? OSLA_OK : osli_alloc_like_failed(b->local, sums_bytes, "sums of a triangular solve"));
}
