/* An update: split the indices by owner, form each owner's block; hessian_deliver.c delivers it.
 *
 * The block for the owner at (pr, pc) is G(:, rows of pr)^T G(:, columns of pc), of which the
 * triangle asks for a part: it is halved down to narrow ranges of columns.
 */
#include "hessian_exact.h"
#include "osla_blas.h"
#include "osla_clock.h"
#include "osla_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Columns at the edge of the triangle that share a product: few enough that the rows outside cost
 * little. */
enum { EDGE_COLUMNS = 32 };

static bool in_order(int64_t count, const int64_t *position)
{
  for (int64_t i = 0; i < count; i++)
    if (position[i] != i) return false;
  return true;
}

/* Columns of G in the order of a split, k apart: G itself, or a copy in the buffer. */
static osla_err order_columns(const osla_hessian *h, const update *u, int64_t count,
                              const index_split *split, unsigned char **buffer, size_t *have,
                              const unsigned char **panel)
{
  size_t column = (size_t)u->k * h->element;
  *panel = u->data;
  if (u->ld == u->k && in_order(count, split->position)) return OSLA_OK;
  OSLA_CALL(osla_reserve(buffer, have, column * (size_t)count + 1));
  for (int64_t i = 0; i < count; i++)
    memcpy(*buffer + (size_t)i * column,
           u->data + (size_t)(split->position[i] * u->ld) * h->element, column);
  *panel = *buffer;
  return OSLA_OK;
}

/* Products of an update for a piece whose first row and column are r0, c0 of the splits. */
typedef struct products {
  const osla_hessian *h;
  const update *u;
  int64_t r0, c0;
  const piece *p;
  unsigned char *values; /* ld = p->ld */
} products;

/* Rows [low, high), columns [c, c + cols). */
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

/* Of rows [low, high) and columns [c, c + cols) all that begin and end ask for: the rows that all
 * columns need in one product, then each half of the columns by itself. */
static osla_err fill_range(const products *f, int64_t low, int64_t high, int64_t c, int64_t cols)
{
  int64_t last = c + cols - 1, half = cols / 2;
  int64_t first_begin = f->p->begin[c], last_begin = f->p->begin[last];
  int64_t first_end = f->p->end[c], last_end = f->p->end[last];
  if (low < first_begin) low = first_begin;
  if (high > last_end) high = last_end;
  if (cols <= EDGE_COLUMNS) return multiply(f, low, high, c, cols);
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

static void gather_double(int64_t count, const int64_t *position, const double *column, double *out)
{
  for (int64_t r = 0; r < count; r++)
    out[r] = column[position[r]];
}

static void gather_float(int64_t count, const int64_t *position, const float *column, float *out)
{
  for (int64_t r = 0; r < count; r++)
    out[r] = column[position[r]];
}

/* values := the elements of U for rows [r0, ...) and columns [c0, ...) of the splits. */
static void fill_elements(const osla_hessian *h, const update *u, const workspace *w, int64_t r0,
                          int64_t c0, const piece *p, unsigned char *values)
{
  size_t e = h->element;
  int64_t elements = 0;
  double since = osla_trace_now(h->v.t);
  for (int64_t c = 0; c < p->cols; c++) {
    const void *column = u->data + (size_t)(w->cols.position[c0 + c] * u->ld) * e;
    const int64_t *position = w->rows.position + r0 + p->begin[c];
    void *out = values + (size_t)(p->begin[c] + c * p->ld) * e;
    int64_t count = p->end[c] - p->begin[c];
    if (h->combine.update_dtype == OSLA_DOUBLE)
      gather_double(count, position, column, out);
    else
      gather_float(count, position, column, out);
    elements += count;
  }
  osla_trace_add(h->v.t, OSLA_TRACE_PACK, since, (double)elements * (double)e);
}

osla_err osla_update_fill(osla_hessian *h, workspace *w, const update *u, int64_t r0, int64_t c0,
                          const piece *p, unsigned char *values)
{
  products f = {h, u, r0, c0, p, values};
  if (u->k >= 0) return fill_range(&f, 0, p->rows, 0, p->cols);
  fill_elements(h, u, w, r0, c0, p, values);
  return OSLA_OK;
}

static osla_err reserve_lists(osla_hessian *h, workspace *w, int64_t rows, int64_t cols)
{
  OSLA_CALL(osla_split_reserve(&w->rows, rows, h->v.p));
  OSLA_CALL(osla_split_reserve(&w->cols, cols, h->v.q));
  if (cols <= w->n_range) return OSLA_OK;
  free(w->begin);
  free(w->end);
  w->begin = malloc((size_t)cols * sizeof *w->begin);
  w->end = malloc((size_t)cols * sizeof *w->end);
  w->n_range = w->begin && w->end ? cols : 0;
  OSLA_CHECK(w->n_range == cols, OSLA_ERR_MEM, "ranges of %" PRId64 " columns", cols);
  return OSLA_OK;
}

static osla_err run(osla_hessian *h, workspace *w, update *u, int64_t rows, const int64_t *ix,
                    int64_t cols, const int64_t *jx)
{
  double start = osla_clock(), since = osla_trace_now(h->v.t);
  OSLA_CALL(reserve_lists(h, w, rows, cols));
  osla_split_indices(&w->rows, rows, ix, h->options.nb, h->v.p);
  osla_split_indices(&w->cols, cols, jx, h->options.nb, h->v.q);
  if (u->k >= 0) {
    OSLA_CALL(
      order_columns(h, u, rows, &w->rows, &w->row_panel, &w->row_panel_bytes, &u->row_panel));
    OSLA_CALL(
      order_columns(h, u, cols, &w->cols, &w->col_panel, &w->col_panel_bytes, &u->col_panel));
  }
  w->stats.seconds_split += osla_clock() - start;
  size_t column = u->k > 0 ? (size_t)u->k * h->element : 0;
  osla_trace_add(h->v.t, OSLA_TRACE_PACK, since,
                 (double)(rows + cols) * (double)(sizeof *ix + column));
  w->stats.updates++;
  return osla_update_owners(h, w, u);
}

/* Order-independent mode: the products are made in strips of the sorted list, whoever owns them,
 * and added like ready blocks. */
static osla_err run_strips(osla_hessian *h, workspace *w, const update *u, int64_t count,
                           const int64_t *ix)
{
  double start = osla_clock();
  OSLA_CALL(osla_split_reserve(&w->sorted, count, 1));
  osla_split_indices(&w->sorted, count, ix, h->n, 1);
  const unsigned char *panel = NULL;
  OSLA_CALL(order_columns(h, u, count, &w->sorted, &w->row_panel, &w->row_panel_bytes, &panel));
  w->stats.seconds_split += osla_clock() - start;
  const int64_t *sorted = w->sorted.global;
  strip_group g;
  for (int64_t c = 0; c < count; c += g.cols) {
    start = osla_clock();
    g = osla_strip_group(h->options.uplo, count, sorted, c, h->element, osla_piece_bytes(h));
    OSLA_CALL(osla_reserve(&w->products, &w->products_bytes,
                           osla_element_offset(0, g.cols, g.rows, h->element)));
    OSLA_CALL(osla_strip_products(h, count, sorted, u->k, panel, &g, w->products));
    w->stats.seconds_product += osla_clock() - start;
    update block = {.k = -1, .data = w->products, .ld = g.rows};
    OSLA_CALL(run(h, w, &block, g.rows, sorted + g.row, g.cols, sorted + g.col));
    if (c > 0) w->stats.updates--; /* one update, in several groups */
  }
  return OSLA_OK;
}

osla_err osla_update_run(osla_hessian *h, update *u, int64_t rows, const int64_t *ix, int64_t cols,
                         const int64_t *jx)
{
  workspace *w = NULL;
  osla_progress(h->v.t); /* adds what other nodes have sent here */
  (void)pthread_mutex_lock(&h->mutex);
  h->dirty = true;
  (void)pthread_mutex_unlock(&h->mutex);
  bool strips = h->exact && u->k > 0;
  const workspace_need need = {rows, cols, u->k > 0 ? u->k : 0, strips};
  osla_err err = osla_workspace_take(h, &need, &w);
  if (err == OSLA_OK)
    err = strips ? run_strips(h, w, u, rows, ix) : run(h, w, u, rows, ix, cols, jx);
  osla_workspace_give(h, w);
  return err;
}
