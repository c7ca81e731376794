/* Panels of an inverse from LU: two in each step (getri.h), packed in progress steps as soon as
 * their owners have solved for them. */
#include "kernels/inverse/getri.h"
#include "osla_trace.h"
#include "src/blas/move.h"

#include <stdlib.h>

/* ---- functions of osla_panels_plan ---- */

static size_t panel_bytes(const void *kernel, panel_kind kind, int64_t k, int root)
{
  const getri *f = kernel;
  const local_view *v = &f->v;
  getri_step s = getri_make_step(v, k);
  bool left = kind == PANEL_LEFT;
  if (root != (left ? s.pcol : s.prow)) return 0;
  return (size_t)((left ? v->rows : v->cols) * s.size) * v->element;
}

static bool panel_ready(void *kernel, panel_kind kind, int64_t k, void *room)
{
  getri *f = kernel;
  const local_view *v = &f->v;
  if (atomic_load(&f->solved[kind]) <= k) return false;
  if (room) {
    getri_step s = getri_make_step(v, k);
    bool left = kind == PANEL_LEFT;
    int64_t rows = left ? v->rows : s.size, cols = left ? s.size : v->cols;
    operand from = left ? mine_at(f, 0, s.col_on) : mine_at(f, s.row_on, 0);
    double since = osla_trace_now(v->t);
    osli_move_columns(v->element, rows, cols, from.at, from.ld, room, rows);
    osla_trace_add(v->t, OSLA_TRACE_PACK, since, (double)rows * (double)cols * (double)v->element);
  }
  atomic_store(&f->packed[kind], k + 1);
  return true;
}

/* ---- waits for panels ---- */

static operand copy_at(const void *copy, int64_t ld)
{
  return (operand){(unsigned char *)(uintptr_t)copy, ld};
}

operand osli_getri_wait_left(getri *f, const getri_step *s)
{
  if (f->v.pcol == s->pcol) return mine_at(f, 0, s->col_on);
  return copy_at(osli_panels_wait(f->panels, PANEL_LEFT, s->k, s->pcol), f->v.rows);
}

operand osli_getri_wait_top(getri *f, const getri_step *s)
{
  if (f->v.prow == s->prow) return mine_at(f, s->row_on, 0);
  return copy_at(osli_panels_wait(f->panels, PANEL_TOP, s->k, s->prow), s->size);
}

void osli_getri_wait_packed(getri *f, panel_kind kind, const getri_step *s)
{
  const local_view *v = &f->v;
  bool left = kind == PANEL_LEFT, published = left ? v->q > 1 : v->p > 1;
  if (published && panel_bytes(f, kind, s->k, left ? v->pcol : v->prow) > 0)
    osli_panels_wait_count(f->panels, &f->packed[kind], s->k);
}

/* ---- memory ---- */

osla_err osli_getri_allocate(getri *f, const int64_t *pivots)
{
  f->inverse = malloc(osli_getri_block_bytes(f) + 1);
  OSLA_CALL(
    osla_agree(f->v.t, f->inverse ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "inverse: a block")));
  if (pivots)
    OSLA_CALL(osli_interchange_open(f->v.matrix, OSLA_COLUMNS, pivots, true, &f->columns));
  osla_panels_plan plan = osli_getri_plan(f);
  plan.kernel = f;
  plan.bytes = panel_bytes;
  plan.ready = panel_ready;
  return osli_panels_create(f->v.grid, &plan, &f->panels);
}

void osli_getri_free(getri *f)
{
  osli_panels_destroy(&f->panels);
  osli_interchange_close(f->columns);
  free(f->inverse);
}
