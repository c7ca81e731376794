/* Operations on the column vectors of a product: fetch a whole column, gather elements of it, add
 * to it, and sum it over the ranks. */
#include "kernels/products/columns.h"
#include "osla_blas.h"

#include <complex.h>
#include <string.h>

local_piece osli_local_piece_of(const osla_part *a)
{
  const local_view v = view_of(a->matrix);
  const int64_t row = rows_below(&v, a->i), col = cols_below(&v, a->j);
  return (local_piece){.v = v,
                       .i = a->i,
                       .j = a->j,
                       .row = row,
                       .col = col,
                       .rows = rows_below(&v, a->i + a->m) - row,
                       .cols = cols_below(&v, a->j + a->n) - col};
}

int64_t osli_piece_row(const local_piece *a, int64_t l)
{
  return osla_index_global(a->row + l, a->v.mb, a->v.prow, a->v.p) - a->i;
}

int64_t osli_piece_col(const local_piece *a, int64_t l)
{
  return osla_index_global(a->col + l, a->v.nb, a->v.pcol, a->v.q) - a->j;
}

int64_t osli_piece_rows_before(const local_piece *a, int64_t i)
{
  return rows_below(&a->v, a->i + i) - a->row;
}

int64_t osli_piece_run(const local_piece *a, int64_t col)
{
  const stored_columns s =
    osli_stored_columns(a->v.matrix, osla_transport_rank(a->v.t), a->col + col);
  return stored_rest(&s, a->col + col, a->col + a->cols);
}

/* Number of consecutive elements, from row or column l of the piece on, that are also contiguous in
 * the whole column. *index is the position of the first element in the column. */
static int64_t run_from(const local_piece *a, piece_axis axis, int64_t l, int64_t *index)
{
  const bool rows = axis == PIECE_ROWS;
  const int64_t at = (rows ? a->row : a->col) + l, end = rows ? a->row + a->rows : a->col + a->cols;
  *index = rows ? osli_piece_row(a, l) : osli_piece_col(a, l);
  return osla_index_run(at, end, rows ? a->v.mb : a->v.nb);
}

void osli_columns_gather(const local_piece *a, piece_axis axis, const void *whole, void *local)
{
  const int64_t count = axis == PIECE_ROWS ? a->rows : a->cols;
  const size_t e = a->v.element;
  for (int64_t l = 0, run, index; l < count; l += run) {
    run = run_from(a, axis, l, &index);
    memcpy((unsigned char *)local + (size_t)l * e, (const unsigned char *)whole + (size_t)index * e,
           (size_t)run * e);
  }
}

static bool is_single(osla_dtype dtype)
{
  return dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
}

/* Number of real numbers in `elements` elements. */
static int64_t numbers(osla_dtype dtype, int64_t elements)
{
  return dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE ? elements : 2 * elements;
}

static void add(osla_dtype dtype, int64_t elements, const void *from, void *to)
{
  const int64_t n = numbers(dtype, elements);
  if (is_single(dtype)) {
    for (int64_t i = 0; i < n; i++)
      ((float *)to)[i] += ((const float *)from)[i];
  } else {
    for (int64_t i = 0; i < n; i++)
      ((double *)to)[i] += ((const double *)from)[i];
  }
}

void osli_columns_add(const local_piece *a, piece_axis axis, const void *local, void *whole)
{
  const int64_t count = axis == PIECE_ROWS ? a->rows : a->cols;
  const size_t e = a->v.element;
  for (int64_t l = 0, run, index; l < count; l += run) {
    run = run_from(a, axis, l, &index);
    add(a->v.dtype, run, (const unsigned char *)local + (size_t)l * e,
        (unsigned char *)whole + (size_t)index * e);
  }
}

osla_err osli_column_get(const osla_part *x, void *whole)
{
  return osla_matrix_get_block(x->matrix, x->i, x->j, x->m, 1, whole, x->m > 0 ? x->m : 1);
}

/* Computes y := whole + beta y in this rank's rows of y. */
static osla_err finish(const void *whole, osla_complex beta, const local_piece *y)
{
  const osla_dtype dtype = y->v.dtype;
  if (y->rows == 0 || y->cols == 0) return OSLA_OK;
  unsigned char *mine = piece_operand(y, 0, 0).at;
  if (beta == 0)
    memset(mine, 0, (size_t)y->rows * y->v.element);
  else if (beta != 1)
    OSLA_CALL(osla_blas_scal(dtype, y->rows, beta, mine));
  for (int64_t l = 0, run, index; l < y->rows; l += run) {
    run = run_from(y, PIECE_ROWS, l, &index);
    add(dtype, run, (const unsigned char *)whole + (size_t)index * y->v.element,
        mine + (size_t)l * y->v.element);
  }
  return OSLA_OK;
}

osla_err osli_column_sum(void *whole, osla_complex beta, const osla_part *y)
{
  const local_piece mine = osli_local_piece_of(y);
  const osla_dtype dtype = mine.v.dtype;
  OSLA_CALL(osla_allreduce(mine.v.t, whole, numbers(dtype, y->m),
                           is_single(dtype) ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM));
  /* This call is also a barrier: after it y is complete on all ranks. */
  return osla_agree(mine.v.t, finish(whole, beta, &mine));
}
