/* Blocks of the triangle that a step needs. They are read in place if they are on the same node.
 * Otherwise they are fetched by a contiguous get, which is started one step ahead. */
#include "kernels/solve/trsm.h"
#include "osla_trace.h"
#include "src/matrix/part_view.h"

trsm_step osli_trsm_step(const trsm *f, int64_t number)
{
  const local_view *a = &f->a;
  int64_t k = f->forward ? number : f->steps - 1 - number;
  trsm_step s = {.s = number, .k = k, .start = k * a->nb};
  s.size = osla_index_run(s.start, a->n, a->nb);
  s.prow = (int)(k % a->p);
  s.pcol = (int)(k % a->q);
  s.row = rows_below(a, s.start);
  int64_t behind = rows_below(a, s.start + s.size);
  /* local rows of the triangle in block column k, without the diagonal block */
  s.first = f->uplo == OSLA_LOWER ? behind : 0;
  s.last = f->uplo == OSLA_LOWER ? a->rows : s.row;
  return s;
}

static int column_owner(const trsm *f, const trsm_step *s)
{
  return rank_at(&f->a, f->a.prow, s->pcol);
}

/* Returns the range of this rank's rows of the triangle in the step's block column. If this process
 * row owns the diagonal block, its rows are included. */
static void column_rows(const trsm *f, const trsm_step *s, int64_t *from, int64_t *to)
{
  const local_view *a = &f->a;
  *from = f->uplo == OSLA_LOWER ? s->row : 0;
  *to = f->uplo == OSLA_LOWER ? a->rows : rows_below(a, s->start + s->size);
}

osla_err osli_trsm_prefetch(trsm *f, int64_t number)
{
  const local_view *a = &f->a;
  if (number >= f->steps) return OSLA_OK;
  trsm_step s = osli_trsm_step(f, number);
  int owner = column_owner(f, &s), slot = (int)(number % 2);
  int64_t from, to;
  column_rows(f, &s, &from, &to);
  if (from >= to || in_place(a, owner)) return OSLA_OK;
  const int64_t col = osla_index_local(s.start, a->nb, a->q);
  const stored_columns column = osli_stored_columns(a->matrix, owner, col);
  size_t offset =
    osli_matrix_start(a->matrix, owner) + (size_t)stored_index(&column, from, col) * a->element;
  size_t bytes = (size_t)((s.size - 1) * column.ld + to - from) * a->element;
  return osla_segment_fetch(osla_matrix_segment(a->matrix), owner, offset, f->column[slot], bytes,
                            &f->transfer[slot]);
}

/* Sets *out to the operand that begins with A(row, k), and waits until the prefetch is complete.
 * The row must have been prefetched. */
static osla_err find_column(trsm *f, const trsm_step *s, int64_t row, operand *out)
{
  const local_view *a = &f->a;
  const int64_t col = osla_index_local(s->start, a->nb, a->q);
  int owner = column_owner(f, s), slot = (int)(s->s % 2);
  int64_t from, to;
  if (in_place(a, owner)) {
    *out = peer_operand(a, owner, row, col);
    return OSLA_OK;
  }
  column_rows(f, s, &from, &to);
  *out = (operand){f->column[slot] + (size_t)(row - from) * a->element,
                   osli_stored_columns(a->matrix, owner, col).ld};
  return osla_transfer_wait(osla_matrix_segment(a->matrix), &f->transfer[slot]);
}

osla_err osli_trsm_wait_column(trsm *f, const trsm_step *s, operand *out)
{
  return find_column(f, s, s->first, out);
}

osla_err osli_trsm_diagonal(trsm *f, const trsm_step *s)
{
  const local_view *a = &f->a, *b = &f->b;
  operand block;
  OSLA_CALL(find_column(f, s, s->row, &block));
  double since = osla_trace_now(b->t), size = (double)s->size;
  OSLA_CALL(osla_blas_trsm(a->dtype, OSLA_LEFT, f->uplo, f->trans, f->diag, s->size, b->cols,
                           block.at, block.ld, local_at(b, s->row, 0), b->lld));
  osla_trace_add(b->t, OSLA_TRACE_TRSM, since, size * size * (double)b->cols);
  return OSLA_OK;
}

void osli_trsm_add(const local_view *b, int64_t m, int64_t n, int sign, const void *sum, void *to,
                   int64_t ld)
{
  const osla_dtype dtype = b->dtype;
  const double since = osla_trace_now(b->t);
  bool single = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
  int64_t parts = dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE ? 1 : 2;
  for (int64_t c = 0; c < n; c++)
    for (int64_t r = 0; r < m * parts; r++)
      if (single)
        ((float *)to)[r + c * ld * parts] += (float)sign * ((const float *)sum)[r + c * m * parts];
      else
        ((double *)to)[r + c * ld * parts] += sign * ((const double *)sum)[r + c * m * parts];
  osla_trace_add(b->t, OSLA_TRACE_UPDATE, since, (double)(m * n));
}
