/* Triangular solve for few right-hand sides with T on other nodes, TRANS and CONJTRANS: T stays in
 * place; sums and X are moved (fan-in: Heath, Romine, SIAM J. Sci. Stat. Comput. 9, 1988).
 *
 * Block column k of T is row k of T^T. Each rank of the process column that owns it computes the
 * sum of T(i,k)^T X(i) over the solved rows i that it owns, for all right-hand sides, and sends the
 * sum to the owner of the diagonal block. The ranks of the owner's process row send their columns
 * of B(k). The owner solves, and X(k) is sent along the process row, where each rank stores its
 * columns of B and keeps all of X(k) in f->share for later sums. A sum is computed in two parts:
 * first the part without the latest X(k), while that is in flight. */
#include "kernels/solve/trsm.h"
#include "osla_trace.h"
#include "src/blas/move.h"

#include <stdlib.h>

/* ---- set-up ---- */

static size_t columns_bytes(const trsm *f)
{
  return (size_t)(f->a.nb * f->widest) * f->a.element;
}

osla_err osli_trsm_stationary_open_trans(trsm *f)
{
  f->widest = osla_index_count(f->b.n, f->b.nb, 0, f->b.q);
  size_t piece = columns_bytes(f);
  OSLA_CALL(osli_pieces_create(f->a.grid, (size_t)f->a.q * piece, 1, true, &f->columns_of_b));
  f->packed = malloc((size_t)osli_pieces_depth(f->columns_of_b) * piece + 1);
  return osla_agree(f->a.t, f->packed
                              ? OSLA_OK
                              : osla_error_set(OSLA_ERR_MEM, "columns of B in a triangular solve"));
}

/* ---- sums ---- */

/* sum := beta sum + T(first .. last, k)^T X(first .. last). The product is cut into pieces; between
 * two pieces messages are served. */
static osla_err add_product(const trsm *f, const trsm_step *s, int64_t first, int64_t last,
                            double beta)
{
  const local_view *a = &f->a;
  const int64_t tile = osli_trsm_tile_rows(f, s->size);
  double one = a->dtype == OSLA_FLOAT || a->dtype == OSLA_DOUBLE ? 2 : 8;
  int64_t now;
  do { /* one product is computed even if there are no rows, because it sets the sum to zero */
    double since = osla_trace_now(a->t);
    now = last - first < tile ? last - first : tile;
    const operand column = own_column(f, s, first);
    OSLA_CALL(osla_blas_gemm(a->dtype, f->trans, OSLA_NOTRANS, s->size, f->b.n, now, 1.0, column.at,
                             column.ld, share_at(f, first, 0), f->share_ld, beta, sum_at(f, s),
                             s->size));
    osla_trace_add(a->t, OSLA_TRACE_GEMM, since,
                   one * (double)now * (double)s->size * (double)f->b.n);
    osla_progress(a->t);
    first += now;
    beta = 1;
  } while (first < last);
  return OSLA_OK;
}

/* Returns whether this rank owns the rows of the previous step. If it owns them, they are the last
 * solved rows that arrive. */
static bool follows_mine(const trsm *f, const trsm_step *s)
{
  return s->s > 0 && osli_trsm_step(f, s->s - 1).prow == f->a.prow;
}

/* Computes this rank's sum over all solved rows except those of the previous step. */
static osla_err begin_sum(trsm *f, const trsm_step *s)
{
  int64_t first = s->first, last = s->last;
  if (f->a.pcol != s->pcol || first >= last) return OSLA_OK;
  /* Wait until the previous contents of this send buffer have arrived. */
  OSLA_CALL(osli_pieces_wait_posted(f->pieces, s->s));
  if (follows_mine(f, s)) {
    trsm_step before = osli_trsm_step(f, s->s - 1);
    if (f->uplo == OSLA_LOWER)
      first = before.row + before.size;
    else
      last = before.row;
  }
  return add_product(f, s, first, last, 0);
}

/* Adds to the sum the products with the rows of X from the previous step, and sends the sum to the
 * owner of the diagonal block. */
static osla_err finish_sum(trsm *f, const trsm_step *s)
{
  const local_view *a = &f->a;
  if (a->pcol != s->pcol || s->first >= s->last) return OSLA_OK;
  if (follows_mine(f, s)) {
    trsm_step before = osli_trsm_step(f, s->s - 1);
    OSLA_CALL(add_product(f, s, before.row, before.row + before.size, 1));
  }
  if (a->prow == s->prow) return OSLA_OK;
  return osli_pieces_post(f->pieces, s->s, rank_at(a, s->prow, s->pcol),
                          (size_t)a->prow * block_row_bytes(f), sum_at(f, s),
                          (size_t)(s->size * f->b.n) * a->element);
}

/* ---- columns of B ---- */

/* Sends this rank's columns of B(k) to the owner of the diagonal block. */
static osla_err send_columns(trsm *f, int64_t number)
{
  const local_view *a = &f->a, *b = &f->b;
  if (f->reuses_shares || number >= f->steps) return OSLA_OK;
  trsm_step s = osli_trsm_step(f, number);
  if (a->prow != s.prow || a->pcol == s.pcol || b->cols == 0) return OSLA_OK;
  size_t piece = columns_bytes(f), set = (size_t)(number % osli_pieces_depth(f->columns_of_b));
  unsigned char *packed = f->packed + set * piece;
  OSLA_CALL(osli_pieces_wait_posted(f->columns_of_b, number));
  osli_pack(b->element, s.size, b->cols, local_at(b, s.row, 0), b->lld, packed);
  return osli_pieces_post(f->columns_of_b, number, rank_at(a, s.prow, s.pcol),
                          (size_t)a->pcol * piece, packed, (size_t)(s.size * b->cols) * b->element);
}

/* Collects all columns of B(k) in f->share, where X(k) will replace them. */
static void gather_columns(trsm *f, const trsm_step *s)
{
  const local_view *a = &f->a, *b = &f->b;
  const unsigned char *pieces = osli_pieces_buffer(f->columns_of_b, s->s);
  for (int i = 0; i < a->q; i++) {
    int pcol = (a->pcol + i) % a->q;
    int64_t cols = osla_index_count(b->n, b->nb, pcol, b->q);
    const unsigned char *from = pieces + (size_t)pcol * columns_bytes(f);
    int64_t ld = s->size;
    if (cols == 0) continue;
    if (pcol == a->pcol)
      from = local_at(b, s->row, 0), ld = b->lld;
    else
      osli_pieces_wait(f->columns_of_b, s->s, rank_at(a, a->prow, pcol));
    for (int64_t c = 0; c < cols; c += osla_index_run(c, cols, b->nb))
      osli_move_columns(b->element, s->size, osla_index_run(c, cols, b->nb),
                        from + (size_t)(c * ld) * b->element, ld,
                        share_at(f, s->row, osla_index_global(c, b->nb, pcol, b->q)), f->share_ld);
  }
}

/* ---- the steps ---- */

static osla_err solve_block(trsm *f, const trsm_step *s)
{
  const local_view *a = &f->a;
  const unsigned char *sums = osli_pieces_buffer(f->pieces, s->s);
  unsigned char *x = share_at(f, s->row, 0);
  if (!f->reuses_shares) gather_columns(f, s);
  if (s->first < s->last) osli_trsm_add(a, s->size, f->b.n, -1, sum_at(f, s), x, f->share_ld);
  for (int i = 1; i < a->p; i++) {
    int prow = (a->prow + i) % a->p;
    if (!osli_trsm_has_part(f, s, prow)) continue;
    osli_pieces_wait(f->pieces, s->s, rank_at(a, prow, a->pcol));
    osli_trsm_add(a, s->size, f->b.n, -1, sums + (size_t)prow * block_row_bytes(f), x, f->share_ld);
  }
  const operand block = own_column(f, s, s->row);
  double since = osla_trace_now(a->t), size = (double)s->size;
  OSLA_CALL(osla_blas_trsm(a->dtype, OSLA_LEFT, f->uplo, f->trans, f->diag, s->size, f->b.n,
                           block.at, block.ld, x, f->share_ld));
  osla_trace_add(a->t, OSLA_TRACE_TRSM, since, size * size * (double)f->b.n);
  atomic_store(&f->publishable, s->s + 1);
  osli_panels_progress(f->panels);
  return OSLA_OK;
}

/* Receives X(k): stores this rank's columns of X(k) in B, and all of X(k) in f->share for later
 * sums. */
static void receive_block(trsm *f, int64_t number)
{
  const local_view *a = &f->a;
  trsm_step s = osli_trsm_step(f, number);
  if (a->prow == s.prow && a->pcol != s.pcol) {
    const void *x = osli_panels_wait(f->panels, PANEL_COLS, number, s.pcol);
    osli_move_columns(a->element, s.size, f->b.n, x, s.size, share_at(f, s.row, 0), f->share_ld);
  }
  if (a->prow == s.prow && !f->keeps_shares)
    osli_trsm_store_columns(f, &s, share_at(f, s.row, 0), f->share_ld);
  osli_panels_finish(f->panels, number);
}

osla_err osli_trsm_stationary_run_trans(trsm *f)
{
  const local_view *a = &f->a;
  OSLA_CALL(send_columns(f, 0));
  for (int64_t number = 0; number < f->steps; number++) {
    trsm_step s = osli_trsm_step(f, number);
    osla_at_step(a->t, "osla_trsm", number);
    OSLA_CALL(send_columns(f, number + 1));
    OSLA_CALL(begin_sum(f, &s));
    if (number > 0) receive_block(f, number - 1);
    OSLA_CALL(finish_sum(f, &s));
    if (a->prow == s.prow && a->pcol == s.pcol) OSLA_CALL(solve_block(f, &s));
    OSLA_CALL(osli_pieces_finish(f->pieces, number));
    if (!f->reuses_shares) OSLA_CALL(osli_pieces_finish(f->columns_of_b, number));
  }
  receive_block(f, f->steps - 1);
  osli_panels_drain(f->panels);
  return OSLA_OK;
}
