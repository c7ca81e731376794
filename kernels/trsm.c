/* B := op(T)^-1 B: contract, memory, and the operands that both directions fetch.
 *
 * T is only read, so its blocks are taken one-sided, in place or by a get that runs one step ahead;
 * what passes between the ranks by notify are block rows of B (trsm_run.c).
 */
#include "trsm.h"

#include <inttypes.h>
#include <stdlib.h>

trsm_step osla_trsm_step(const trsm *f, int64_t number)
{
  const local_view *a = &f->a;
  int64_t k = f->forward ? number : f->steps - 1 - number;
  trsm_step s = {.s = number, .k = k, .start = k * a->nb};
  s.size = osla_index_run(s.start, a->n, a->nb);
  s.prow = (int)(k % a->p);
  s.pcol = (int)(k % a->q);
  s.row = rows_below(a, s.start);
  int64_t behind = rows_below(a, s.start + s.size);
  /* The triangle's part of block column k, without the diagonal block. */
  s.first = f->uplo == OSLA_LOWER ? behind : 0;
  s.last = f->uplo == OSLA_LOWER ? a->rows : s.row;
  return s;
}

static int column_owner(const trsm *f, const trsm_step *s)
{
  return rank_at(&f->a, f->a.prow, s->pcol);
}

osla_err osla_trsm_prefetch(trsm *f, int64_t number)
{
  const local_view *a = &f->a;
  if (number >= f->steps) return OSLA_OK;
  trsm_step s = osla_trsm_step(f, number);
  int owner = column_owner(f, &s), slot = (int)(number % 2);
  if (s.first >= s.last || in_place(a, owner)) return OSLA_OK;
  int64_t lld = osla_matrix_lld(a->matrix, owner);
  int64_t col = osla_index_local(s.start, a->nb, a->q);
  size_t from = (size_t)(s.first + col * lld) * a->element;
  size_t bytes = (size_t)((s.size - 1) * lld + s.last - s.first) * a->element;
  f->pending[slot] = true;
  return osla_segment_get(osla_matrix_segment(a->matrix), owner, from, f->column[slot], bytes,
                          &f->transfer[slot]);
}

osla_err osla_trsm_column(trsm *f, const trsm_step *s, unsigned char **at, int64_t *ld)
{
  const local_view *a = &f->a;
  int owner = column_owner(f, s), slot = (int)(s->s % 2);
  *ld = osla_matrix_lld(a->matrix, owner);
  if (in_place(a, owner)) {
    *at = peer_at(a, owner, s->first, osla_index_local(s->start, a->nb, a->q));
    return OSLA_OK;
  }
  *at = f->column[slot];
  f->pending[slot] = false;
  return osla_transfer_wait(osla_matrix_segment(a->matrix), &f->transfer[slot]);
}

osla_err osla_trsm_diagonal(trsm *f, const trsm_step *s)
{
  const local_view *a = &f->a, *b = &f->b;
  int owner = rank_at(a, s->prow, s->pcol);
  const unsigned char *block = f->diagonal;
  int64_t ld = s->size;
  if (in_place(a, owner)) {
    block = peer_at(a, owner, osla_index_local(s->start, a->nb, a->p),
                    osla_index_local(s->start, a->nb, a->q));
    ld = osla_matrix_lld(a->matrix, owner);
  } else {
    OSLA_CALL(osla_matrix_get_block(a->matrix, s->start, s->start, s->size, s->size, f->diagonal,
                                    s->size));
  }
  return osla_blas_trsm(a->dtype, OSLA_LEFT, f->uplo, f->trans, f->diag, s->size, b->cols, block, ld,
                        local_at(b, s->row, 0), b->lld);
}

static osla_err check(const local_view *a, const local_view *b)
{
  OSLA_CHECK(a->m == a->n && a->mb == a->nb, OSLA_ERR_ARG,
             "solve: A is %" PRId64 " x %" PRId64 " in blocks of %" PRId64 " x %" PRId64
             ": both must be square",
             a->m, a->n, a->mb, a->nb);
  OSLA_CHECK(b->m == a->n, OSLA_ERR_ARG, "solve: B has %" PRId64 " rows, A is of order %" PRId64,
             b->m, a->n);
  OSLA_CHECK(b->mb == a->nb && b->grid == a->grid, OSLA_ERR_ARG,
             "solve: B must have A's grid and block rows (%" PRId64 ", not %" PRId64 ")", a->nb,
             b->mb);
  OSLA_CHECK(a->dtype == b->dtype, OSLA_ERR_ARG, "solve: types '%c' and '%c' differ",
             osla_dtype_letter(a->dtype), osla_dtype_letter(b->dtype));
  OSLA_CHECK(a->dtype == OSLA_FLOAT || a->dtype == OSLA_DOUBLE, OSLA_ERR_UNSUPPORTED,
             "solve of type '%c'", osla_dtype_letter(a->dtype));
  return OSLA_OK;
}

static osla_err set_up(trsm *f)
{
  const local_view *a = &f->a, *b = &f->b;
  bool buffers_a, buffers_b;
  size_t bytes[PANEL_KINDS] = {0};
  OSLA_CALL(osla_view_needs_buffers(a, &buffers_a));
  OSLA_CALL(osla_view_needs_buffers(b, &buffers_b));
  f->widest = osla_index_count(b->n, b->nb, 0, b->q);
  size_t block_row = (size_t)(a->nb * f->widest) * b->element;
  /* NOTRANS passes solved rows, which neighbours read in place; TRANS passes partial sums, which
   * always need room: one piece for each process row. */
  if (f->trans == OSLA_TRANS)
    bytes[PANEL_COLS] = (size_t)a->p * block_row;
  else if (buffers_b)
    bytes[PANEL_ROWS] = block_row;

  int64_t lld = 1;
  for (int rank = 0; rank < osla_transport_size(a->t); rank++)
    if (osla_matrix_lld(a->matrix, rank) > lld) lld = osla_matrix_lld(a->matrix, rank);
  osla_err err = OSLA_OK;
  f->packed = malloc(block_row + 1);
  f->diagonal = malloc((size_t)(a->nb * a->nb) * a->element);
  bool complete = f->packed && f->diagonal;
  for (int i = 0; i < 2 && buffers_a; i++) {
    f->column[i] = malloc((size_t)(lld * a->nb) * a->element);
    complete = complete && f->column[i];
  }
  if (!complete) err = osla_error_set(OSLA_ERR_MEM, "buffers of a triangular solve");
  OSLA_CALL(osla_agree(a->t, err));
  return osla_panels_create(b->grid, bytes, osla_panels_row_or_column, &f->panels);
}

static void clean_up(trsm *f)
{
  osla_panels_destroy(&f->panels);
  free(f->packed);
  free(f->diagonal);
  free(f->column[0]);
  free(f->column[1]);
}

osla_err osla_trsm_left(osla_uplo uplo, osla_trans trans, osla_diag diag, osla_matrix *a,
                        osla_matrix *b)
{
  trsm f = {.a = view_of(a), .b = view_of(b), .uplo = uplo, .trans = trans, .diag = diag};
  osla_err err;
  OSLA_CALL(check(&f.a, &f.b));
  trim_blocks(&f.a);
  trim_blocks(&f.b);
  f.steps = (f.a.n + f.a.nb - 1) / f.a.nb;
  f.forward = (uplo == OSLA_LOWER) == (trans == OSLA_NOTRANS);
  OSLA_TRY(osla_barrier(f.a.t)); /* A and B are complete everywhere */
  OSLA_TRY(set_up(&f));
  bool work = f.b.rows > 0 && f.b.cols > 0;
  err = !work ? OSLA_OK : trans == OSLA_TRANS ? osla_trsm_run_trans(&f) : osla_trsm_run_notrans(&f);
  if (err != OSLA_OK) osla_transport_abort(f.a.t, err); /* the others wait for my rows */
  OSLA_TRY(osla_barrier(f.a.t)); /* nobody reads my rows any more */
cleanup:
  clean_up(&f);
  return err;
}
