/* Update of the trailing matrix by a step.
 *
 * Each product needs U, and so an exchange of rows within the process column. An exchange takes
 * longer with more ranks, because it waits for the slowest of them. Where rows come from other
 * nodes, exchanges overlap with products. The columns are split into two parts. The rows of the
 * second part are exchanged during the product of the first part. During the product of the second
 * part, the first exchange of the next step begins as soon as its panel has arrived and its columns
 * are up to date. All ranks of a process column make the exchanges in the same order. */
#include "kernels/common/panels.h"
#include "kernels/lu/lu_parts.h"
#include "kernels/lu/lu_publish.h"
#include "kernels/lu/lu_rows.h"

/* Local columns [col, col + cols) of an update. The first `lead` of these columns are the first of
 * its two parts. */
typedef struct columns {
  int64_t col, cols, lead;
} columns;

/* Returns the number of local columns in block columns whose index is less than `block`. The
 * columns to the right of the last panel count as one block column. */
static int64_t columns_before(const lu *f, int64_t block)
{
  const local_view *v = &f->v;
  if (block > f->steps) return v->cols;
  lu_step last = osli_lu_step_make(f, block - 1);
  return cols_below(v, last.start + last.size);
}

static bool overlaps(const lu *f)
{
  return f->v.p > 1 && !f->column_readable;
}

/* Splits the columns of an update into two parts. Two parts take twice as many messages, so a small
 * number of columns is not split. */
static columns columns_of(const lu *f, int64_t from, int64_t to)
{
  enum { LEAST = 256, LEAST_EACH = 8, PARTS = 2 };
  columns c = {.col = columns_before(f, from)};
  c.cols = columns_before(f, to) - c.col;
  bool few = c.cols < LEAST || c.cols < (int64_t)LEAST_EACH * f->v.p;
  c.lead = few || !overlaps(f) ? c.cols : c.cols / PARTS;
  return c;
}

/* Returns the columns of the first exchange of step k: the columns of the panel that is factored
 * ahead, if this rank has them; otherwise the columns to the right of that panel.
 * osli_pipeline_run uses the same order. */
static columns first_of(const lu *f, int64_t k)
{
  int64_t panel = k + f->look_ahead;
  if (panel >= f->steps) return columns_of(f, f->steps, INT64_MAX);
  if (f->v.pcol == panel % f->v.q) return columns_of(f, panel, panel + 1);
  return columns_of(f, panel + 1, INT64_MAX);
}

/* Begins the first exchange of the next step, or advances it. Local columns before `done` are up to
 * date with step k. */
static osla_err advance_next_step(lu *f, int64_t k, int64_t done)
{
  if (!overlaps(f) || f->look_ahead == 0 || k + 1 >= f->steps) return OSLA_OK;
  if (f->has_ahead) return osli_lu_rows_advance(f, &f->ahead);
  columns c = first_of(f, k + 1);
  lu_step next = osli_lu_step_make(f, k + 1);
  if (c.cols <= 0 || c.col + c.lead > done || !osli_lu_panel_has_arrived(f, &next)) return OSLA_OK;
  lu_panel panel = osli_lu_receive(f, &next);
  f->has_ahead = true;
  return osli_lu_rows_begin(f, &next, &panel, c.col, c.lead, &f->ahead);
}

/* Begins the exchange of columns [col, col + cols), or takes over the exchange that has already
 * begun. */
static osla_err begin_exchange(lu *f, const lu_step *s, const lu_panel *panel, int64_t col,
                               int64_t cols, lu_exchange *x)
{
  if (!f->has_ahead) return osli_lu_rows_begin(f, s, panel, col, cols, x);
  *x = f->ahead;
  f->has_ahead = false;
  return OSLA_OK;
}

/* Computes A(i,j) -= L(i,k) U(k,j) for step k, for this rank's block rows i below block row k
 * and for the block columns j of the exchange x. The product is cut into tiles; between tiles,
 * panels are forwarded, and `next`, an exchange of step k or of step k + 1, advances. */
static osla_err multiply(lu *f, const lu_panel *panel, const lu_exchange *x, lu_exchange *next)
{
  const local_view *v = &f->v;
  const lu_step *s = &x->s;
  const int64_t cols = x->cols, col = x->col;
  const operand u = x->u;
  int64_t rows = v->rows - s->row_after;
  osla_tile tile = osli_tile_choose(f->panels, rows, cols);
  for (int64_t c = 0; c < cols; c += tile.cols)
    for (int64_t r = 0; r < rows; r += tile.rows) {
      int64_t m = rows - r < tile.rows ? rows - r : tile.rows;
      int64_t n = cols - c < tile.cols ? cols - c : tile.cols;
      double since = osla_trace_now(v->t);
      OSLA_CALL(osla_blas_gemm(v->dtype, OSLA_NOTRANS, OSLA_NOTRANS, m, n, s->size, -1,
                               panel->l.at + (size_t)r * v->element, panel->l.ld,
                               u.at + (size_t)(c * u.ld) * v->element, u.ld, 1,
                               local_at(v, s->row_after + r, col + c), v->lld));
      osla_trace_add(v->t, OSLA_TRACE_GEMM, since, 2.0 * (double)(m * n) * (double)s->size);
      if (osli_panels_forwards(f->panels)) osla_progress(v->t);
      if (next) OSLA_CALL(osli_lu_rows_advance(f, next));
      if (!next) OSLA_CALL(advance_next_step(f, s->k, col + c + (r + m < rows ? 0 : n)));
    }
  return OSLA_OK;
}

osla_err osli_lu_update(lu *f, const lu_step *s, const lu_panel *panel, int64_t from, int64_t to)
{
  const columns c = columns_of(f, from, to);
  lu_exchange first, rest;
  if (c.cols <= 0) return OSLA_OK;
  OSLA_CALL(begin_exchange(f, s, panel, c.col, c.lead, &first));
  OSLA_CALL(osli_lu_rows_finish(f, &first));
  if (c.lead == c.cols) return multiply(f, panel, &first, NULL);
  OSLA_CALL(osli_lu_rows_begin(f, s, panel, c.col + c.lead, c.cols - c.lead, &rest));
  OSLA_CALL(multiply(f, panel, &first, &rest));
  OSLA_CALL(osli_lu_rows_finish(f, &rest));
  return multiply(f, panel, &rest, NULL);
}
