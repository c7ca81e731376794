/* Products G^T G whose bits depend only on the update (order-independent mode).
 *
 * The last bits of a gemm depend on its shape and on an element's position in it. So the sorted
 * list of indices is cut into chunks of a fixed number of columns. Each chunk is computed by one
 * gemm over all rows that belong to its part of the triangle. The shape of this gemm depends only
 * on the indices and on k. It does not depend on the grid, the block size or the memory for
 * values. */
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_exact.h"
#include "kernels/hessian/hessian_split.h"
#include "osla_blas.h"
#include "osla_trace.h"

enum { STRIP_COLUMNS = 128 };

static int64_t smaller(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* Finds the rows [low, high) that belong to the triangle in columns [c, past). If a row and a
 * column have equal indices, the element belongs to either triangle. */
static void rows_of(osla_uplo uplo, int64_t count, const int64_t *sorted, int64_t c, int64_t past,
                    int64_t *low, int64_t *high)
{
  *low = 0;
  *high = count;
  if (uplo == OSLA_LOWER) {
    *low = c;
    while (*low > 0 && sorted[*low - 1] == sorted[c])
      --*low;
  } else if (uplo == OSLA_UPPER) {
    *high = past;
    while (*high < count && sorted[*high] == sorted[past - 1])
      ++*high;
  }
}

/* Returns the number of columns in a group: as many whole chunks as fit into `limit` bytes, but at
 * least one. */
static int64_t group_columns(int64_t count, size_t element, size_t limit)
{
  int64_t fit = (int64_t)(limit / element) / count / STRIP_COLUMNS * STRIP_COLUMNS;
  return smaller(fit > STRIP_COLUMNS ? fit : STRIP_COLUMNS, count);
}

size_t osli_chunk_bytes(int64_t count, size_t element, size_t limit)
{
  return element_offset(0, group_columns(count, element, limit), count, element);
}

chunk_group osli_chunk_group(osla_uplo uplo, int64_t count, const int64_t *sorted, int64_t col,
                             size_t element, size_t limit)
{
  chunk_group g = {.col = col, .cols = smaller(group_columns(count, element, limit), count - col)};
  int64_t low, high;
  rows_of(uplo, count, sorted, col, col + g.cols, &low, &high);
  g.row = low;
  g.rows = high - low;
  return g;
}

osla_err osli_chunk_products(const osla_hessian *h, int64_t count, const int64_t *sorted, int64_t k,
                             const unsigned char *panel, const chunk_group *g,
                             unsigned char *values)
{
  for (int64_t c = g->col; c < g->col + g->cols; c += STRIP_COLUMNS) {
    int64_t width = smaller(STRIP_COLUMNS, g->col + g->cols - c), low, high;
    rows_of(h->options.uplo, count, sorted, c, c + width, &low, &high);
    double since = osla_trace_now(h->v.t);
    OSLA_CALL(osla_blas_gemm(
      h->combine.update_dtype, OSLA_TRANS, OSLA_NOTRANS, high - low, width, k, 1.0,
      panel + element_offset(0, low, k, h->element), k, panel + element_offset(0, c, k, h->element),
      k, 0.0, values + element_offset(low - g->row, c - g->col, g->rows, h->element), g->rows));
    osla_trace_add(h->v.t, OSLA_TRACE_GEMM, since,
                   2.0 * (double)(high - low) * (double)width * (double)k);
  }
  return OSLA_OK;
}
