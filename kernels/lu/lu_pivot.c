/* Partial pivoting over several process rows, as in HPL.
 *
 * For each column, every rank offers its largest element together with the whole row of that
 * element. The owner of the diagonal block adds the row that is to be replaced. After one exchange
 * all ranks know the pivot row (lu_column.h). They store
 * it in their copy of the top block, interchange the rows in the matrix, and update their own rows.
 * Columns are halved recursively, so that most of the work is in matrix products. */
#include "kernels/lu/lu_column.h"
#include "kernels/lu/lu_panel.h"
#include "kernels/lu/lu_parts.h"
#include "src/blas/work.h"

#include <complex.h>
#include <math.h>
#include <string.h>

enum { BASE = 8 }; /* panels of at most this width are not halved */

static double magnitude(osla_complex x)
{
  return fabs(creal(x)) +
         fabs(cimag(x)); /* |re| + |im|, the magnitude by which IxAMAX compares complex elements */
}

/* First words of an offer for a column. The offered row follows, and from the owner of the diagonal
 * block also the row to be replaced: `size` elements each, in room for nb. */
typedef struct offer {
  double value; /* magnitude of the element, never NaN; negative if the rank has no row */
  int64_t row;  /* global row index, -1 if the rank has no row */
  int64_t has_top;
} offer;

static size_t top_offset(const lu *f)
{
  return sizeof(offer) + (size_t)f->v.nb * f->v.element;
}

/* First local row that is not yet a pivot row when column j is eliminated. */
static int64_t first_row(const lu *f, const lu_step *s, int64_t j)
{
  return has_top(f, s) ? s->row + j : s->row;
}

static void gather_row(const lu *f, const lu_step *s, int64_t row, unsigned char *to)
{
  size_t e = f->v.element;
  if (osli_work_modelled) return;
  for (int64_t c = 0; c < s->size; c++)
    memcpy(to + (size_t)c * e, local_at(&f->v, row, s->col + c), e);
}

static void scatter_row(const lu *f, const lu_step *s, int64_t row, const unsigned char *from)
{
  size_t e = f->v.element;
  if (osli_work_modelled) return;
  for (int64_t c = 0; c < s->size; c++)
    memcpy(local_at(&f->v, row, s->col + c), from + (size_t)c * e, e);
}

/* Writes this rank's offer for column j to `record`. *bytes is the size of the offer. */
static osla_err make_offer(lu *f, const lu_step *s, int64_t j, unsigned char *record, size_t *bytes)
{
  const local_view *v = &f->v;
  size_t row_bytes = (size_t)s->size * v->element;
  bool top = has_top(f, s);
  offer mine = {.value = -1, .row = -1, .has_top = top};
  int64_t first = first_row(f, s, j), at;
  if (first < v->rows) {
    const void *column = local_at(v, first, s->col + j);
    OSLA_CALL(osla_blas_iamax(v->dtype, v->rows - first, column, &at));
    mine.value = magnitude(osli_lu_value(v->dtype, local_at(v, first + at, s->col + j)));
    /* all ranks must choose the same offer, so NaN counts as the largest value */
    if (isnan(mine.value)) mine.value = HUGE_VAL;
    mine.row = osla_index_global(first + at, v->mb, v->prow, v->p);
    gather_row(f, s, first + at, record + sizeof mine);
  }
  memcpy(record, &mine, sizeof mine);
  if (top) gather_row(f, s, s->row + j, record + top_offset(f));
  *bytes = (top ? top_offset(f) : sizeof mine) + row_bytes;
  return OSLA_OK;
}

/* True if offer `a` is better than `b`: a larger element, or an equal one in an earlier row. */
static bool is_better(const offer *a, const offer *b)
{
  if (a->row < 0 || b->row < 0) return a->row >= 0;
  return a->value > b->value || (a->value == b->value && a->row < b->row);
}

/* Returns the row with the largest element of all ranks' records. *top is the row to be
 * replaced. */
static const unsigned char *best_of_all(const lu *f, const lu_step *s, offer *best,
                                        const unsigned char **top)
{
  const unsigned char *best_at = NULL;
  *best = (offer){.value = -1, .row = -1};
  for (int prow = 0; prow < f->v.p; prow++) {
    const unsigned char *record = osli_lu_record_of(f, prow);
    offer o;
    memcpy(&o, record, sizeof o);
    if (best_at && !is_better(&o, best)) continue;
    *best = o;
    best_at = record + sizeof o;
  }
  *top = osli_lu_record_of(f, s->prow) + top_offset(f);
  return best_at;
}

/* Combines two offers: keeps the better offer with its row, and the row to be replaced from the
 * record that has it. */
static osla_err add_offer(const lu *f, const lu_step *s, void *record, const void *other)
{
  (void)s;
  offer mine, theirs;
  size_t row_bytes = (size_t)f->v.nb * f->v.element;
  unsigned char *to = record;
  const unsigned char *from = other;
  memcpy(&mine, to, sizeof mine);
  memcpy(&theirs, from, sizeof theirs);
  bool better = is_better(&theirs, &mine), their_top = theirs.has_top && !mine.has_top;
  if (better) memcpy(to + sizeof mine, from + sizeof mine, row_bytes);
  if (their_top) memcpy(to + top_offset(f), from + top_offset(f), row_bytes);
  if (better) mine = (offer){theirs.value, theirs.row, mine.has_top};
  mine.has_top = mine.has_top || theirs.has_top;
  memcpy(to, &mine, sizeof mine);
  return OSLA_OK;
}

/* Finds the pivot row of column j and the row to be replaced; the result is the same on all ranks
 * of the process column. */
static osla_err find_pivot(lu *f, const lu_step *s, int64_t j, offer *best,
                           const unsigned char **row, const unsigned char **top)
{
  size_t bytes;
  if (!f->combines_records) {
    OSLA_CALL(make_offer(f, s, j, osli_lu_my_record(f), &bytes));
    OSLA_CALL(osli_lu_record_publish(f, bytes));
    *row = best_of_all(f, s, best, top);
    return OSLA_OK;
  }
  OSLA_CALL(make_offer(f, s, j, f->my_offer, &bytes));
  OSLA_CALL(
    osli_lu_combine(f, s, f->my_offer, top_offset(f) + (size_t)f->v.nb * f->v.element, add_offer));
  memcpy(best, f->my_offer, sizeof *best);
  *row = f->my_offer + sizeof *best;
  *top = f->my_offer + top_offset(f);
  return OSLA_OK;
}

/* Eliminates column j: finds its pivot, interchanges rows, computes its part of L, and updates the
 * columns up to `end`. */
static osla_err eliminate(lu *f, const lu_step *s, int64_t j, int64_t end)
{
  const local_view *v = &f->v;
  lu_panel_memory p = lu_panel_memory_of(f, s);
  size_t e = v->element;
  offer best;
  const unsigned char *row, *top;
  OSLA_CALL(find_pivot(f, s, j, &best, &row, &top));
  for (int64_t c = 0; c < s->size && !osli_work_modelled; c++)
    memcpy(p.top + (size_t)(j + c * v->nb) * e, row + (size_t)c * e, e);
  p.pivots[j] = best.row;
  if (best.row != s->start + j) {
    if (osla_index_owner(best.row, v->mb, v->p) == v->prow)
      scatter_row(f, s, osla_index_local(best.row, v->mb, v->p), top);
    if (has_top(f, s)) scatter_row(f, s, s->row + j, row);
  }
  osla_complex pivot = osli_lu_value(v->dtype, p.top + (size_t)(j + j * v->nb) * e);
  if (pivot == 0) {
    if (p.head->info == 0) p.head->info = s->start + j + 1;
    return OSLA_OK;
  }
  int64_t first = first_row(f, s, j + 1), rows = v->rows - first;
  if (rows <= 0) return OSLA_OK;
  unsigned char *l = local_at(v, first, s->col + j);
  OSLA_CALL(osla_blas_scal(v->dtype, rows, 1 / pivot, l));
  return osla_blas_ger(v->dtype, rows, end - j - 1, -1, l, 1,
                       p.top + (size_t)(j + (j + 1) * v->nb) * e, v->nb,
                       local_at(v, first, s->col + j + 1), v->lld);
}

osla_err osli_lu_factor_columns(lu *f, const lu_step *s, int64_t j, int64_t width)
{
  const local_view *v = &f->v;
  if (width <= BASE) {
    for (int64_t c = j; c < j + width; c++)
      OSLA_CALL(eliminate(f, s, c, j + width));
    return OSLA_OK;
  }
  int64_t left = width / 2, right = width - left, nb = v->nb;
  lu_panel_memory p = lu_panel_memory_of(f, s);
  OSLA_CALL(osli_lu_factor_columns(f, s, j, left));
  unsigned char *l11 = p.top + (size_t)(j + j * nb) * v->element;
  unsigned char *u12 = p.top + (size_t)(j + (j + left) * nb) * v->element;
  OSLA_CALL(osla_blas_trsm(v->dtype, OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, left, right,
                           l11, nb, u12, nb));
  int64_t first = first_row(f, s, j + left), rows = v->rows - first;
  if (rows > 0)
    OSLA_CALL(osla_blas_gemm(v->dtype, OSLA_NOTRANS, OSLA_NOTRANS, rows, right, left, -1,
                             local_at(v, first, s->col + j), v->lld, u12, nb, 1,
                             local_at(v, first, s->col + j + left), v->lld));
  return osli_lu_factor_columns(f, s, j + left, right);
}
