/* Factorisation of a panel by the ranks of its process column.
 *
 * One process row: LAPACK's recursive getrf on the local panel.
 *
 * Several process rows, partial pivoting: column by column (lu_pivot.c), or by the owner of the
 * diagonal block alone on a copy of all rows (osli_lu_gathers_panels decides).
 *
 * Tournament pivoting (Grigori et al.): each rank factors a copy of its rows and offers its pivot
 * rows as candidates. Every rank factors the stack of all candidates, and so knows the pivot rows
 * and the top block of the panel. This takes one exchange per panel. Then L := A U^-1. */
#include "kernels/lu/lu_panel.h"
#include "kernels/lu/lu_column.h"
#include "kernels/lu/lu_parts.h"
#include "kernels/lu/lu_rows.h"
#include "src/blas/move.h"
#include "src/blas/work.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double panel_flops(int64_t rows, int64_t width)
{
  double w = (double)width;
  return w * w * ((double)rows - w / 3);
}

/* ---- detection of NaN ---- */

static bool has_nan_on_host(const lu *f, int64_t n, const unsigned char *x)
{
  bool single = f->v.dtype == OSLA_FLOAT || f->v.dtype == OSLA_COMPLEX_FLOAT, found = false;
  int64_t numbers = n * (int64_t)(f->v.element / (single ? sizeof(float) : sizeof(double)));
  if (osli_work_modelled) return false;
  for (int64_t i = 0; i < numbers; i++)
    found |= single ? isnan(((const float *)x)[i]) : isnan(((const double *)x)[i]);
  return found;
}

/* Returns true if one of the n elements at x is NaN. Elements on a device are first copied to
 * f->candidates, which has room for this rank's rows of one column of any type. The copies are as
 * large as possible, because each of them waits for the device. */
static bool has_nan(const lu *f, int64_t n, const unsigned char *x)
{
  const size_t e = f->v.element;
  const int64_t most = f->v.rows;
  bool found = false;
  if (!osli_device_of(x)) return has_nan_on_host(f, n, x);
  for (int64_t i = 0, count; i < n && !found; i += count) {
    count = n - i < most ? n - i : most;
    osli_move_bytes(f->candidates, x + (size_t)i * e, (size_t)count * e);
    found = has_nan_on_host(f, count, (const unsigned char *)f->candidates);
  }
  return found;
}

static bool has_zero_pivot(const lu *f, const lu_step *s)
{
  lu_panel_memory p = lu_panel_memory_of(f, s);
  for (int64_t j = 0; j < s->size; j++)
    if (osli_lu_value(f->v.dtype, p.top + (size_t)(j * (f->v.nb + 1)) * f->v.element) == 0)
      return true;
  return false;
}

/* Records in the head the panel's first column with a NaN, in the top block or in `rows` rows of L
 * below it. The result does not depend on how IxAMAX treats NaN, because all columns before the
 * first NaN are free of NaN. Unless the row with the NaN becomes a pivot row, it carries NaN on to
 * the last column. So a panel is free of NaN if its last column and its pivots are free of NaN. A
 * division by a zero pivot also makes NaN, which solves may spread to earlier columns. In this case
 * the zero pivot counts, and the owner of the block has already recorded it. */
static void note_nan(const lu *f, const lu_step *s, const unsigned char *l, int64_t ld,
                     int64_t rows)
{
  lu_panel_memory p = lu_panel_memory_of(f, s);
  size_t e = f->v.element, next_l = (size_t)ld * e, next_top = (size_t)f->v.nb * e;
  int64_t last = s->size - 1, j;
  bool found = rows > 0 && has_nan(f, rows, l + (size_t)last * next_l);
  for (j = 0; j <= last && !found; j++)
    found = has_nan(f, 1, p.top + (size_t)j * (next_top + e));
  if (!found || (f->pivoting != OSLA_PIVOT_PARTIAL && has_zero_pivot(f, s))) return;
  for (j = 0; j < last; j++)
    if (has_nan(f, s->size, p.top + (size_t)j * next_top) ||
        (rows > 0 && has_nan(f, rows, l + (size_t)j * next_l)))
      break;
  if (p.head->info == 0 || p.head->info > s->start + j + 1) p.head->info = s->start + j + 1;
}

/* ---- one process row ---- */

static osla_err factor_alone(lu *f, const lu_step *s)
{
  const local_view *v = &f->v;
  lu_panel_memory p = lu_panel_memory_of(f, s);
  unsigned char *a = local_at(v, s->row, s->col);
  int64_t rows = v->rows - s->row, info;
  OSLA_CALL(osla_lapack_getrf(v->dtype, rows, s->size, a, v->lld, p.pivots, &info));
  for (int64_t i = 0; i < s->size; i++)
    p.pivots[i] += s->start;
  p.head->info = info > 0 ? s->start + info : 0;
  osli_move_columns(v->element, s->size, s->size, a, v->lld, p.top, v->nb);
  return OSLA_OK;
}

/* ---- tournament pivoting and no pivoting: the top block is known before L ---- */

/* L := A U^-1 in this rank's rows below the top block. */
static osla_err solve_for_l(const lu *f, const lu_step *s, const lu_panel_memory *p)
{
  const local_view *v = &f->v;
  int64_t rows = v->rows - s->row_after;
  if (rows <= 0) return OSLA_OK;
  return osla_blas_trsm(v->dtype, OSLA_RIGHT, OSLA_UPPER, OSLA_NOTRANS, OSLA_NONUNIT, rows, s->size,
                        p->top, v->nb, local_at(v, s->row_after, s->col), v->lld);
}

static osla_err factor_unpivoted(lu *f, const lu_step *s)
{
  const local_view *v = &f->v;
  lu_panel_memory p = lu_panel_memory_of(f, s);
  int64_t info = 0;
  for (int64_t i = 0; i < s->size; i++)
    p.pivots[i] = s->start + i;
  if (has_top(f, s)) {
    osli_move_columns(v->element, s->size, s->size, local_at(v, s->row, s->col), v->lld, p.top,
                      v->nb);
    OSLA_CALL(osli_lu_block(v->dtype, s->size, p.top, v->nb, &info));
    p.head->info = info > 0 ? s->start + info : 0;
  }
  if (v->p > 1) {
    size_t bytes = (size_t)(s->size * v->nb) * v->element;
    if (has_top(f, s)) osli_move_message(osli_lu_my_record(f), p.top, bytes);
    OSLA_CALL(osli_lu_record_publish(f, has_top(f, s) ? bytes : 0));
    /* waits for all records, so that no rank is two exchanges ahead of another one */
    for (int prow = 0; prow < v->p; prow++) {
      const unsigned char *record = osli_lu_record_of(f, prow);
      if (prow == s->prow && !has_top(f, s)) osli_move_message(p.top, record, bytes);
    }
  }
  return solve_for_l(f, s, &p);
}

/* rows[i] := the row that LAPACK's interchanges move to position i, for all i < count. */
static void follow(const int64_t *interchanges, int64_t count, int64_t *rows)
{
  for (int64_t i = 0; i < count; i++) {
    int64_t other = rows[interchanges[i]];
    rows[interchanges[i]] = rows[i];
    rows[i] = other;
  }
}

/* A tournament record: number of rows, their global indices, and their elements (leading dimension
 * nb). */
typedef struct candidates {
  int64_t count;
  int64_t *indices;
  unsigned char *elements;
} candidates;

static candidates candidates_at(const lu *f, const void *record)
{
  candidates c = {.indices = (int64_t *)(uintptr_t)record + 1};
  memcpy(&c.count, record, sizeof c.count);
  c.elements = (unsigned char *)(c.indices + f->v.nb);
  return c;
}

/* Selects this rank's candidates: the pivot rows of its own part of the panel. */
static osla_err offer_candidates(lu *f, const lu_step *s, unsigned char *record)
{
  const local_view *v = &f->v;
  int64_t rows = v->rows - s->row, info, *order = f->candidates, *swaps = order + rows;
  int64_t count = rows < s->size ? rows : s->size;
  candidates mine = candidates_at(f, record);
  if (rows > 0) {
    osli_move_columns(v->element, rows, s->size, local_at(v, s->row, s->col), v->lld, f->scratch,
                      rows);
    OSLA_CALL(osla_lapack_getrf(v->dtype, rows, s->size, f->scratch, rows, swaps, &info));
  }
  for (int64_t i = 0; i < rows; i++)
    order[i] = i;
  follow(swaps, count, order);
  for (int64_t i = 0; i < count; i++) {
    mine.indices[i] = osla_index_global(s->row + order[i], v->mb, v->prow, v->p);
    for (int64_t c = 0; c < s->size && !osli_work_modelled; c++)
      memcpy(mine.elements + (size_t)(i + c * v->nb) * v->element,
             local_at(v, s->row + order[i], s->col + c), v->element);
  }
  work_charge(OSLA_WORK_LASWP, v->dtype, 1, s->size, (count + 1) / 2);
  memcpy(record, &count, sizeof count);
  return OSLA_OK;
}

/* Appends the candidates of a record to the `total` rows of f->scratch (leading dimension
 * stack_rows) and to the list of their indices. Returns the new number of rows. */
static int64_t stack(const lu *f, const lu_step *s, const void *record, int64_t total,
                     int64_t *rows)
{
  const local_view *v = &f->v;
  candidates c = candidates_at(f, record);
  memcpy(rows + total, c.indices, (size_t)c.count * sizeof *rows);
  osli_move_columns(v->element, c.count, s->size, c.elements, v->nb,
                    f->scratch + (size_t)total * v->element, f->stack_rows);
  return total + c.count;
}

/* Combines two tournament records: `record` becomes the pivot rows of both. The candidates are
 * stacked in the order of their first rows, so that the order of the operands does not matter
 * (binary tree of Grigori et al., section 3). */
static osla_err add_candidates(const lu *f, const lu_step *s, void *record, const void *other)
{
  const local_view *v = &f->v;
  candidates mine = candidates_at(f, record), theirs = candidates_at(f, other);
  bool before = mine.count > 0 && (theirs.count == 0 || mine.indices[0] < theirs.indices[0]);
  const void *first = before ? record : other, *second = before ? other : record;
  int64_t *rows = f->candidates, *order = rows + 2 * v->nb, *swaps = order + 2 * v->nb, info;
  int64_t total = stack(f, s, second, stack(f, s, first, 0, rows), rows), ld = f->stack_rows;
  int64_t count = total < s->size ? total : s->size;
  size_t e = v->element;
  unsigned char *unfactored =
    f->scratch +
    (size_t)(2 * v->nb) *
      e; /* copy of the candidate rows, made before the factorisation changes these rows */
  osli_move_columns(e, total, s->size, f->scratch, ld, unfactored, ld);
  OSLA_CALL(osla_lapack_getrf(v->dtype, total, s->size, f->scratch, ld, swaps, &info));
  for (int64_t i = 0; i < total; i++)
    order[i] = i;
  follow(swaps, count, order);
  for (int64_t i = 0; i < count; i++) {
    mine.indices[i] = rows[order[i]];
    for (int64_t c = 0; c < s->size && !osli_work_modelled; c++)
      memcpy(mine.elements + (size_t)(i + c * v->nb) * e,
             unfactored + (size_t)(order[i] + c * ld) * e, e);
  }
  work_charge(OSLA_WORK_LASWP, v->dtype, 1, s->size, (count + 1) / 2);
  memcpy(record, &count, sizeof count);
  return OSLA_OK;
}

/* Stacks the candidates of all ranks in f->scratch. If records are combined, stacks the best
 * candidates, which are the same on all ranks of the process column. */
static osla_err stack_all_candidates(lu *f, const lu_step *s, int64_t *rows, int64_t *total)
{
  *total = 0;
  if (f->combines_records) {
    OSLA_CALL(offer_candidates(f, s, f->my_offer));
    OSLA_CALL(osli_lu_combine(f, s, f->my_offer, f->record_bytes, add_candidates));
    *total = stack(f, s, f->my_offer, 0, rows);
    return OSLA_OK;
  }
  OSLA_CALL(offer_candidates(f, s, osli_lu_my_record(f)));
  OSLA_CALL(osli_lu_record_publish(f, f->record_bytes));
  for (int prow = 0; prow < f->v.p; prow++)
    *total = stack(f, s, osli_lu_record_of(f, prow), *total, rows);
  return OSLA_OK;
}

/* Converts the list of pivot rows into successive interchanges: row start + j is interchanged with
 * row pivots[j]. */
static void make_interchanges(const lu_step *s, const int64_t *rows, int64_t *pivots)
{
  for (int64_t j = 0; j < s->size; j++) {
    int64_t at = rows[j];
    for (int64_t i = 0; i < j; i++)
      at = at == s->start + i ? pivots[i] : at == pivots[i] ? s->start + i : at;
    pivots[j] = at;
  }
}

static osla_err factor_tournament(lu *f, const lu_step *s)
{
  const local_view *v = &f->v;
  lu_panel_memory p = lu_panel_memory_of(f, s);
  int64_t *rows = f->candidates, ld = f->stack_rows, *swaps = rows + ld, info, total;
  OSLA_CALL(stack_all_candidates(f, s, rows, &total));
  OSLA_CALL(osla_lapack_getrf(v->dtype, total, s->size, f->scratch, ld, swaps, &info));
  follow(swaps, s->size, rows);
  p.head->info = info > 0 ? s->start + info : 0;
  osli_move_columns(v->element, s->size, s->size, f->scratch, ld, p.top, v->nb);
  make_interchanges(s, rows, p.pivots);
  OSLA_CALL(osli_lu_exchange_rows(f, s, p.pivots, s->col, s->size));
  return solve_for_l(f, s, &p);
}

/* ---- one rank factors the panel of several process rows ---- */

/* Copies the rows of the panel between their owners' arrays and f->scratch, in global order. */
static void copy_panel(const lu *f, const lu_step *s, bool to_scratch)
{
  const local_view *v = &f->v;
  int64_t ld = v->m - s->start, width = s->size, col = osla_index_local(s->start, v->nb, v->q);
  for (int64_t i = s->start, run; i < v->m; i += run) {
    run = osla_index_run(i, v->m, v->mb);
    int rank = rank_at(v, osla_index_owner(i, v->mb, v->p), v->pcol);
    unsigned char *there = peer_at(v, rank, osla_index_local(i, v->mb, v->p), col);
    unsigned char *here = f->scratch + (size_t)(i - s->start) * v->element;
    int64_t lld = osla_matrix_lld(v->matrix, rank);
    if (to_scratch)
      osli_move_columns(v->element, run, width, there, lld, here, ld);
    else
      osli_move_columns(v->element, run, width, here, ld, there, lld);
  }
}

/* Factors the whole panel on the owner of the diagonal block. The other ranks only notify the owner
 * that their parts are up to date, and continue. */
static osla_err factor_gathered(lu *f, const lu_step *s)
{
  const local_view *v = &f->v;
  lu_panel_memory p = lu_panel_memory_of(f, s);
  uint64_t turn = (uint64_t)s->k + 1;
  int64_t info, ld = v->m - s->start;
  if (!has_top(f, s)) return osla_notify(f->store, rank_at(v, s->prow, s->pcol), LU_COLUMN, turn);
  for (int prow = 0; prow < v->p; prow++)
    if (prow != v->prow) osla_notify_wait(f->store, rank_at(v, prow, v->pcol), LU_COLUMN, turn);
  double since = osla_trace_now(v->t);
  copy_panel(f, s, true);
  OSLA_CALL(osla_lapack_getrf(v->dtype, ld, s->size, f->scratch, ld, p.pivots, &info));
  for (int64_t i = 0; i < s->size; i++)
    p.pivots[i] += s->start;
  p.head->info = info > 0 ? s->start + info : 0;
  osli_move_columns(v->element, s->size, s->size, f->scratch, ld, p.top, v->nb);
  note_nan(f, s, f->scratch + (size_t)s->size * v->element, ld, ld - s->size);
  copy_panel(f, s, false);
  osla_trace_add(v->t, OSLA_TRACE_PANEL, since, panel_flops(ld, s->size));
  return OSLA_OK;
}

osla_err osli_lu_factor_panel(lu *f, const lu_step *s)
{
  const local_view *v = &f->v;
  if (f->gathers_panels) return factor_gathered(f, s);
  double since = osla_trace_now(v->t);
  lu_panel_memory p = lu_panel_memory_of(f, s);
  bool alone = v->p == 1 && f->pivoting != OSLA_PIVOT_NONE;
  p.head->info = 0;
  if (alone)
    OSLA_CALL(factor_alone(f, s));
  else if (f->pivoting == OSLA_PIVOT_NONE)
    OSLA_CALL(factor_unpivoted(f, s));
  else if (f->pivoting == OSLA_PIVOT_PARTIAL)
    OSLA_CALL(osli_lu_factor_columns(f, s, 0, s->size));
  else
    OSLA_CALL(factor_tournament(f, s));
  if (!alone && has_top(f, s))
    osli_move_columns(v->element, s->size, s->size, p.top, v->nb, local_at(v, s->row, s->col),
                      v->lld);
  note_nan(f, s, local_at(v, s->row_after, s->col), v->lld, v->rows - s->row_after);
  osla_trace_add(v->t, OSLA_TRACE_PANEL, since, panel_flops(v->rows - s->row, s->size));
  return OSLA_OK;
}
