/* Computes the values of a piece. At the edge of the triangle, products are divided recursively
 * into narrow ranges of columns, so that few elements outside the triangle are computed. */
#include "kernels/common/row_copy.h"
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_device.h"
#include "kernels/hessian/hessian_update.h"
#include "osla_blas.h"
#include "osla_trace.h"
#include "src/blas/move.h"

/* Number of columns that one product computes at the edge of the triangle. In host memory it is
 * small, because the product also computes elements outside the triangle. On a device it is larger,
 * because there the start of a product costs more. */
enum { EDGE_COLUMNS = 32, DEVICE_EDGE_COLUMNS = 512 };

/* Data for the products of a piece; r0 and c0 are the positions of its first row and column in the
 * sorted index lists. */
typedef struct products {
  const osla_hessian *h;
  const update *u;
  int64_t r0, c0;
  const piece *p;
  unsigned char *values; /* values of the piece, column-major with leading dimension p->ld */
} products;

/* Computes rows [low, high) of columns [c, c + cols). */
static osla_err multiply(const products *f, int64_t low, int64_t high, int64_t c, int64_t cols)
{
  const update *u = f->u;
  size_t e = f->h->element, column = (size_t)u->k * e;
  int64_t ldg = u->k > 0 ? u->k : 1;
  if (low >= high) return OSLA_OK;
  double since = osla_trace_now(f->h->v.t);
  OSLA_CALL(osla_blas_gemm(f->h->combine.update_dtype, OSLA_TRANS, OSLA_NOTRANS, high - low, cols,
                           u->k, 1.0, u->row_panel + (size_t)(f->r0 + low) * column, ldg,
                           u->col_panel + (size_t)(f->c0 + c) * column, ldg, 0.0,
                           f->values + (size_t)(low + c * f->p->ld) * e, f->p->ld));
  osla_trace_add(f->h->v.t, OSLA_TRACE_GEMM, since,
                 2.0 * (double)(high - low) * (double)cols * (double)u->k);
  return OSLA_OK;
}

/* Computes the elements between `begin` and `end` in rows [low, high) and columns [c, c + cols).
 * The rows that all of these columns need are computed by one product. The remaining rows are
 * computed recursively for each half of the columns. */
static osla_err fill_range(const products *f, int64_t low, int64_t high, int64_t c, int64_t cols)
{
  int64_t last = c + cols - 1, half = cols / 2;
  int64_t first_begin = f->p->begin[c], last_begin = f->p->begin[last];
  int64_t first_end = f->p->end[c], last_end = f->p->end[last];
  if (low < first_begin) low = first_begin;
  if (high > last_end) high = last_end;
  if (cols <= (f->h->device ? DEVICE_EDGE_COLUMNS : EDGE_COLUMNS))
    return multiply(f, low, high, c, cols);
  if (f->h->options.uplo == OSLA_LOWER) {
    OSLA_CALL(multiply(f, last_begin > low ? last_begin : low, high, c, cols));
    if (high > last_begin) high = last_begin;
  } else {
    OSLA_CALL(multiply(f, low, first_end < high ? first_end : high, c, cols));
    if (low < first_end) low = first_end;
  }
  if (low >= high) return OSLA_OK;
  OSLA_CALL(fill_range(f, low, high, c, half));
  return fill_range(f, low, high, c + half, cols - half);
}

/* Copies the elements of U for a piece whose first row and column are at positions r0 and c0 of the
 * sorted index lists. */
static void fill_elements(const osla_hessian *h, const update *u, const workspace *w, int64_t r0,
                          int64_t c0, const piece *p, unsigned char *values)
{
  size_t e = h->element;
  int64_t elements = 0;
  double since = osla_trace_now(h->v.t);
  for (int64_t c = 0; c < p->cols; c++) {
    const unsigned char *column = u->data + (size_t)(w->cols.position[c0 + c] * u->ld) * e;
    const int64_t *position = w->rows.position + r0 + p->begin[c];
    unsigned char *out = values + (size_t)(p->begin[c] + c * p->ld) * e;
    int64_t count = p->end[c] - p->begin[c];
    elements += count;
    gather_elements(e, count, column, position, out);
  }
  osli_move_charge(e, elements);
  osla_trace_add(h->v.t, OSLA_TRACE_PACK, since, (double)elements * (double)e);
}

osla_err osli_update_fill(osla_hessian *h, workspace *w, const update *u, int64_t r0, int64_t c0,
                          const piece *p, unsigned char *values)
{
  products f = {h, u, r0, c0, p, values};
  if (u->k >= 0) return fill_range(&f, 0, p->rows, 0, p->cols);
  if (osli_is_on_device(h, u->data)) {
    piece from = *p;
    from.values = u->data;
    from.ld = u->ld;
    from.row_position = w->rows.position + r0;
    from.col_position = w->cols.position + c0;
    return osli_queue_gather(h, &from, p->ld, values);
  }
  fill_elements(h, u, w, r0, c0, p, values);
  return OSLA_OK;
}
