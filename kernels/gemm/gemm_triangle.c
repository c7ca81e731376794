/* Local product of osla_syrk and osla_herk, which computes one triangle of C in any distribution.
 *
 * Local rows and columns keep the global order, so the diagonal of C is a staircase in the local
 * array. For a range of columns, the rows that are completely inside the triangle are computed by
 * one product. For the other rows, the range of columns is halved recursively. A narrow range is
 * multiplied into a small square, and the elements of the square that are inside the triangle are
 * added to C one by one. If the matrix of C is triangular, no product spans two of its block
 * columns, which have different leading dimensions. */
#include "kernels/gemm/gemm.h"
#include "osla_blas.h"
#include "src/device/device.h"

#include <complex.h>

enum { BASE = 32 };

typedef struct product {
  const gemm_work *w;
  osla_complex alpha, beta;
  gemm_array a, b;
  int64_t k;
} product;

/* Run of local columns of C that contains column `col` and has one leading dimension. */
static stored_columns columns_of(const gemm_work *w, int64_t col)
{
  const gemm_target *c = &w->c;
  if (!c->triangular) return (stored_columns){.count = c->cols, .ld = c->ld};
  return stored_shift(osli_stored_columns(c->triangular, osla_transport_rank(w->t), c->col + col),
                      c->row, c->col);
}

/* Operand that begins with the element of C in local row `row` and local column `col`. */
static operand c_at(const gemm_work *w, int64_t row, int64_t col)
{
  const stored_columns s = columns_of(w, col);
  return (operand){osli_stored_at(w->c.at, &s, row, col, w->element), s.ld};
}

static int64_t col_index(const gemm_work *w, int64_t l)
{
  const gemm_target *c = &w->c;
  return osla_index_global(c->col + l, c->cols_of.nb, c->pcol, c->cols_of.nprocs) -
         c->cols_of.first;
}

/* Number of local rows with an index below i. */
static int64_t rows_before(const gemm_work *w, int64_t i)
{
  const gemm_target *c = &w->c;
  if (i > c->rows_of.n) i = c->rows_of.n;
  return axis_below(&c->rows_of, i, c->prow) - c->row;
}

/* Addresses of local row l of op(A), and of local column l of op(B). */
static const unsigned char *a_at(const product *p, int64_t l)
{
  return p->a.at + (size_t)(p->a.trans == OSLA_NOTRANS ? l : l * p->a.ld) * p->w->element;
}

static const unsigned char *b_at(const product *p, int64_t l)
{
  return p->b.at + (size_t)(p->b.trans == OSLA_NOTRANS ? l * p->b.ld : l) * p->w->element;
}

static osla_err multiply(const product *p, int64_t row, int64_t rows, int64_t col, int64_t cols)
{
  const operand c = c_at(p->w, row, col);
  return osla_blas_gemm(p->w->dtype, p->a.trans, p->b.trans, rows, cols, p->k, p->alpha,
                        a_at(p, row), p->a.ld, b_at(p, col), p->b.ld, p->beta, c.at, c.ld);
}

/* Computes to[i] := from[i] + beta to[i] for the `rows` elements of a column. */
static void add(const product *p, int64_t rows, const unsigned char *from, unsigned char *to)
{
  const bool keep = p->beta != 0;
  for (int64_t i = 0; i < rows; i++)
    switch (p->w->dtype) {
      case OSLA_FLOAT: {
        float *c = (float *)to + i;
        *c = (keep ? (float)creal(p->beta) * *c : 0) + ((const float *)from)[i];
        break;
      }
      case OSLA_DOUBLE: {
        double *c = (double *)to + i;
        *c = (keep ? creal(p->beta) * *c : 0) + ((const double *)from)[i];
        break;
      }
      case OSLA_COMPLEX_FLOAT: {
        float _Complex *c = (float _Complex *)to + i;
        *c = (keep ? (float _Complex)p->beta * *c : 0) + ((const float _Complex *)from)[i];
        break;
      }
      case OSLA_COMPLEX_DOUBLE: {
        osla_complex *c = (osla_complex *)to + i;
        *c = (keep ? p->beta * *c : 0) + ((const osla_complex *)from)[i];
        break;
      }
    }
}

/* Computes a rectangle of C that the diagonal crosses. It has at most BASE columns. */
static osla_err multiply_edge(const product *p, int64_t row, int64_t end, int64_t col, int64_t cols)
{
  size_t e = p->w->element;
  _Alignas(osla_complex) unsigned char host_square[BASE * BASE * sizeof(osla_complex)];
  unsigned char *square = p->w->square ? p->w->square : host_square;
  for (int64_t first = row; first < end; first += BASE) {
    int64_t rows = end - first < BASE ? end - first : BASE;
    OSLA_CALL(osla_blas_gemm(p->w->dtype, p->a.trans, p->b.trans, rows, cols, p->k, p->alpha,
                             a_at(p, first), p->a.ld, b_at(p, col), p->b.ld, 0, square, BASE));
    for (int64_t j = 0; j < cols; j++) {
      int64_t index = col_index(p->w, col + j);
      int64_t from = 0, to = rows;
      if (p->w->triangle == OSLA_LOWER)
        from = rows_before(p->w, index) - first;
      else
        to = rows_before(p->w, index + 1) - first;
      if (from < 0) from = 0;
      if (to > rows) to = rows;
      if (from >= to) continue;
      const operand c = c_at(p->w, first + from, col + j);
      if (p->w->square)
        OSLA_CALL(osli_device_add(p->w->dtype, to - from, 1, 1,
                                  square + (size_t)(j * BASE + from) * e, BASE, p->beta, c.at,
                                  c.ld));
      else
        add(p, to - from, square + (size_t)(j * BASE + from) * e, c.at);
    }
  }
  return OSLA_OK;
}

/* Computes columns [col, col + cols) of the local rows [low, high) of C. */
static osla_err multiply_columns(const product *p, int64_t low, int64_t high, int64_t col,
                                 int64_t cols)
{
  const gemm_work *w = p->w;
  int64_t first = col_index(w, col), last = col_index(w, col + cols - 1);
  int64_t edge_from, edge_to; /* the diagonal crosses the rows [edge_from, edge_to) */
  int64_t full_from, full_to; /* the rows [full_from, full_to) lie inside the triangle */
  if (w->triangle == OSLA_LOWER) {
    edge_from = rows_before(w, first), edge_to = rows_before(w, last);
    full_from = edge_to, full_to = high;
  } else {
    edge_from = rows_before(w, first + 1), edge_to = rows_before(w, last + 1);
    full_from = low, full_to = edge_from;
  }
  if (full_from < low) full_from = low;
  if (full_to > high) full_to = high;
  if (full_from < full_to) OSLA_CALL(multiply(p, full_from, full_to - full_from, col, cols));
  if (edge_from < low) edge_from = low;
  if (edge_to > high) edge_to = high;
  if (edge_from >= edge_to) return OSLA_OK;
  if (cols <= BASE) return multiply_edge(p, edge_from, edge_to, col, cols);
  OSLA_CALL(multiply_columns(p, edge_from, edge_to, col, cols / 2));
  return multiply_columns(p, edge_from, edge_to, col + cols / 2, cols - cols / 2);
}

/* Returns the local row of the diagonal element in local column `col`, or -1 if this rank does not
 * own the element. */
static int64_t diagonal_row(const gemm_work *w, int64_t col)
{
  if (col >= w->c.cols) return -1;
  const int64_t index = col_index(w, col), row = rows_before(w, index);
  return rows_before(w, index + 1) > row ? row : -1;
}

/* Sets the imaginary parts of C's diagonal to zero, as BLAS's xHERK does. On a device, one call
 * copies zeros to several consecutive diagonal elements. */
static void make_real(const gemm_work *w)
{
  const size_t half = w->element / 2;
  if (w->dtype == OSLA_FLOAT || w->dtype == OSLA_DOUBLE) return;
  for (int64_t col = 0, run; col < w->c.cols; col += run) {
    const int64_t row = diagonal_row(w, col);
    run = 1;
    if (row < 0) continue;
    unsigned char *element = c_at(w, row, col).at;
    if (!w->square) {
      clear_imaginary(w->dtype, element);
      continue;
    }
    while (run < BASE * BASE && diagonal_row(w, col + run) == row + run)
      run++;
    osli_device_copy(half, 1, run, w->square + (size_t)(BASE * BASE) * w->element, 1,
                     element + half, 2 * (w->c.ld + 1));
  }
}

osla_err osli_gemm_triangle_allocate(gemm_work *w)
{
  device_queue *device = osli_device_of(w->c.at);
  void *memory = NULL;
  if (w->triangle < 0 || !device) return OSLA_OK;
  /* one half of the memory is the square; the other half holds zeros, which make_real copies */
  OSLA_CALL(osli_device_alloc(device, 2 * (size_t)(BASE * BASE) * w->element, true, &memory));
  w->square = memory;
  return OSLA_OK;
}

osla_err osli_gemm_triangle(const gemm_work *w, osla_complex alpha, gemm_array a, gemm_array b,
                            int64_t k, osla_complex beta)
{
  product p = {w, alpha, beta, a, b, k};
  /* The diagonal is made real after the product, and also before it, because beta times a NaN in an
   * imaginary part would reach the real part. */
  if (w->hermitian) make_real(w);
  for (int64_t col = 0, cols; col < w->c.cols; col += cols) {
    const stored_columns s = columns_of(w, col);
    cols = stored_rest(&s, col, w->c.cols);
    OSLA_CALL(multiply_columns(&p, 0, w->c.rows, col, cols));
  }
  if (w->hermitian) make_real(w);
  return OSLA_OK;
}
