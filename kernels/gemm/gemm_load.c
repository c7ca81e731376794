/* Enumeration of the gets (one-sided transfers) of which a load consists. */
#include "kernels/gemm/gemm.h"

/* Visits the gets for rows [row, row + rows) of local columns [col, col + cols) of a rank, to be
 * stored from byte `to` of the buffer on. */
static osla_err walk_rectangle(const gemm_operand *x, int rank, int64_t row, int64_t rows,
                               int64_t col, int64_t cols, size_t to, gemm_get *visit, void *arg)
{
  size_t e = x->v.element;
  int64_t lld = osla_matrix_lld(x->v.matrix, rank), ld = gemm_buffer_ld(x, rank, rows);
  size_t offset = (size_t)(row + col * lld) * e;
  if (ld == lld) return visit(arg, rank, offset, to, (size_t)((cols - 1) * lld + rows) * e);
  for (int64_t c = 0; c < cols; c++)
    OSLA_CALL(visit(arg, rank, offset + (size_t)(c * lld) * e, to + (size_t)(c * ld) * e,
                    (size_t)rows * e));
  return OSLA_OK;
}

static osla_err walk_panel(const gemm_work *w, int which, const gemm_load *load, gemm_get *visit,
                           void *arg)
{
  const gemm_operand *x = &w->x[which];
  const gemm_task *task = &w->tasks[load->task];
  for (int g = 0; g < x->n_groups; g++) {
    const gemm_group *group = &x->groups[g];
    int rank = gemm_rank(x, g, load->owner);
    int64_t rows = group->hi - group->lo, ld = gemm_buffer_ld(x, rank, rows);
    int64_t at = group->base * w->width;
    for (int64_t i = task->first; i < task->first + task->count; i++) {
      const gemm_segment *s = &w->segments[i];
      OSLA_CALL(walk_rectangle(x, rank, group->lo, rows, s->local[which], s->size,
                               (size_t)at * x->v.element, visit, arg));
      at += s->size * ld;
    }
  }
  return OSLA_OK;
}

osla_err osli_gemm_load_walk(const gemm_work *w, int which, const gemm_load *load, gemm_get *visit,
                             void *arg)
{
  const gemm_operand *x = &w->x[which];
  if (x->panel) return walk_panel(w, which, load, visit, arg);
  for (int64_t p = 0; p < x->n_pieces; p++) {
    const gemm_piece *piece = &x->pieces[p];
    OSLA_CALL(walk_rectangle(x, gemm_rank(x, piece->group, load->owner), load->lo,
                             load->hi - load->lo, piece->local, piece->size,
                             (size_t)piece->base * x->v.element, visit, arg));
  }
  return OSLA_OK;
}
