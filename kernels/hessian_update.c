/* An update: split the indices by owner, form each owner's block, deliver it.
 *
 * The block for the owner at (pr, pc) is G(:, rows of pr)^T G(:, columns of pc): one gemm for each
 * run of columns, over the rows that the triangle asks for. Owners are visited from a random start
 * in a cyclic order, so that ranks which update at the same rate do not all meet at one owner
 * (French et al., section III.C).
 */
#include "hessian_exact.h"
#include "osla_blas.h"
#include "osla_clock.h"
#include "osla_random.h"
#include "osla_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Columns that one gemm computes: few enough that the rows outside the triangle cost little. */
enum { GEMM_COLUMNS = 128 };

/* What fills a piece: the products of columns of G, or the elements of U. */
typedef struct update {
  int64_t k;                 /* rows of G; < 0: a block update */
  const unsigned char *data; /* G or U */
  int64_t ld;
  const unsigned char *row_panel, *col_panel; /* G's columns in the splits' order, k x count */
} update;

static osla_err check_indices(const osla_hessian *h, const char *name, int64_t count,
                              const int64_t *ix)
{
  OSLA_CHECK(count >= 0, OSLA_ERR_ARG, "%s of %" PRId64 " indices", name, count);
  OSLA_CHECK(ix || count == 0, OSLA_ERR_ARG, "%s is NULL", name);
  for (int64_t i = 0; i < count; i++)
    OSLA_CHECK(ix[i] >= 0 && ix[i] < h->n, OSLA_ERR_ARG,
               "%s[%" PRId64 "] = %" PRId64 " is outside 0 to %" PRId64, name, i, ix[i], h->n - 1);
  return OSLA_OK;
}

/* Columns of G in the order of a split. */
static osla_err gather_panel(const osla_hessian *h, const update *u, int64_t count,
                             const index_split *split, unsigned char **panel, size_t *have)
{
  size_t column = (size_t)u->k * h->element;
  OSLA_CALL(osla_reserve(panel, have, column * (size_t)count + 1));
  for (int64_t i = 0; i < count; i++)
    memcpy(*panel + (size_t)i * column, u->data + (size_t)(split->position[i] * u->ld) * h->element,
           column);
  return OSLA_OK;
}

/* values (rows x cols, ld = rows) := the products for rows [r0, r0 + rows) and columns
 * [c0, c0 + cols) of the splits, at least where begin and end say. */
static osla_err fill_products(const osla_hessian *h, const update *u, int64_t r0, int64_t c0,
                              const piece *p, unsigned char *values)
{
  size_t column = (size_t)u->k * h->element;
  for (int64_t c = 0; c < p->cols; c += GEMM_COLUMNS) {
    int64_t width = p->cols - c < GEMM_COLUMNS ? p->cols - c : GEMM_COLUMNS;
    int64_t low = h->options.uplo == OSLA_LOWER ? p->begin[c] : p->begin[c + width - 1];
    int64_t high = h->options.uplo == OSLA_LOWER ? p->end[c] : p->end[c + width - 1];
    if (low >= high) continue;
    double since = osla_trace_now(h->v.t);
    OSLA_CALL(osla_blas_gemm(h->combine.update_dtype, OSLA_TRANS, OSLA_NOTRANS, high - low, width,
                             u->k, 1.0, u->row_panel + (size_t)(r0 + low) * column,
                             u->k > 0 ? u->k : 1, u->col_panel + (size_t)(c0 + c) * column,
                             u->k > 0 ? u->k : 1, 0.0,
                             values + (size_t)(low + c * p->ld) * h->element, p->ld));
    osla_trace_add(h->v.t, OSLA_TRACE_GEMM, since,
                   2.0 * (double)(high - low) * (double)width * (double)u->k);
  }
  return OSLA_OK;
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

/* Adds a filled piece on the node, or sends it. */
static osla_err deliver(osla_hessian *h, workspace *w, int owner, const piece *p)
{
  double start = osla_clock();
  osla_stripes *lock = osla_hessian_lock(h, owner);
  if (!lock) {
    osla_err err = osla_ring_send(h, w, owner, p);
    w->stats.seconds_send += osla_clock() - start;
    return err;
  }
  uint64_t stripes = osla_piece_stripes(h, p);
  osla_stripes_take(h->v.t, lock, stripes);
  osla_piece_add(h, p, osla_matrix_peer(h->matrix, owner), osla_matrix_lld(h->matrix, owner));
  osla_stripes_release(lock, stripes);
  w->stats.seconds_add += osla_clock() - start;
  return OSLA_OK;
}

/* Rows and columns that a piece for this owner may have: bounded by piece_bytes, and off the node
 * by what fits a slot of the ring. */
static void piece_limits(const osla_hessian *h, bool on_node, int64_t rows, int64_t *max_rows,
                         int64_t *max_cols)
{
  size_t limit = h->options.piece_bytes;
  if (!on_node && h->slot_bytes < limit) limit = h->slot_bytes;
  size_t one_row = h->element + sizeof(int64_t); /* in a message of a single column */
  *max_rows = (int64_t)(limit / (2 * one_row));
  if (*max_rows < 1) *max_rows = 1;
  int64_t r = rows < *max_rows ? rows : *max_rows;
  *max_cols = 1;
  size_t fixed = osla_ring_message_bytes(h, r, 0, 0);
  size_t per_column = osla_ring_message_bytes(h, r, 1, r) - fixed;
  if (limit > fixed + per_column) *max_cols = (int64_t)((limit - fixed) / per_column);
}

static bool consecutive(int64_t count, const int64_t *place)
{
  for (int64_t i = 1; i < count; i++)
    if (place[i] != place[0] + i) return false;
  return true;
}

/* A ready block for an owner on the node is added from the caller's own array. */
static osla_err add_block(osla_hessian *h, workspace *w, const update *u, int owner, int64_t r0,
                          int64_t rows, int64_t c0, int64_t cols)
{
  osla_split_triangle(h->options.uplo, rows, w->rows.global + r0, cols, w->cols.global + c0,
                      w->begin, w->end);
  piece p = {.rows = rows,
             .cols = cols,
             .row = w->rows.local + r0,
             .col = w->cols.local + c0,
             .begin = w->begin,
             .end = w->end,
             .values = u->data,
             .ld = u->ld,
             .row_place = w->rows.position + r0,
             .col_place = w->cols.position + c0};
  if (consecutive(rows, p.row_place)) {
    p.values += (size_t)p.row_place[0] * h->element;
    p.row_place = NULL;
  }
  int64_t elements = osla_piece_elements(&p);
  w->stats.elements += elements;
  return elements > 0 ? deliver(h, w, owner, &p) : OSLA_OK;
}

/* The part of one owner, piece by piece. */
static osla_err update_owner(osla_hessian *h, workspace *w, const update *u, int prow, int pcol)
{
  int64_t row_start = w->rows.start[prow], all_rows = w->rows.start[prow + 1] - row_start;
  int64_t col_start = w->cols.start[pcol], all_cols = w->cols.start[pcol + 1] - col_start;
  if (all_rows == 0 || all_cols == 0) return OSLA_OK;
  int owner = rank_at(&h->v, prow, pcol);
  if (u->k < 0 && osla_hessian_lock(h, owner))
    return add_block(h, w, u, owner, row_start, all_rows, col_start, all_cols);
  int64_t max_rows, max_cols;
  piece_limits(h, osla_hessian_lock(h, owner) != NULL, all_rows, &max_rows, &max_cols);

  for (int64_t r = 0; r < all_rows; r += max_rows)
    for (int64_t c = 0; c < all_cols; c += max_cols) {
      int64_t r0 = row_start + r, c0 = col_start + c;
      int64_t rows = all_rows - r < max_rows ? all_rows - r : max_rows;
      int64_t cols = all_cols - c < max_cols ? all_cols - c : max_cols;
      double start = osla_clock();
      osla_split_triangle(h->options.uplo, rows, w->rows.global + r0, cols, w->cols.global + c0,
                          w->begin, w->end);
      piece p = {.rows = rows,
                 .cols = cols,
                 .row = w->rows.local + r0,
                 .col = w->cols.local + c0,
                 .begin = w->begin,
                 .end = w->end,
                 .ld = rows};
      int64_t elements = osla_piece_elements(&p);
      if (elements == 0) continue;
      OSLA_CALL(osla_reserve(&w->values, &w->values_bytes, (size_t)(rows * cols) * h->element));
      p.values = w->values;
      if (u->k < 0)
        fill_elements(h, u, w, r0, c0, &p, w->values);
      else
        OSLA_CALL(fill_products(h, u, r0, c0, &p, w->values));
      w->stats.seconds_product += osla_clock() - start;
      w->stats.elements += elements;
      OSLA_CALL(deliver(h, w, owner, &p));
    }
  return OSLA_OK;
}

static osla_err update_all_owners(osla_hessian *h, workspace *w, const update *u)
{
  int owners = h->v.p * h->v.q;
  uint64_t draw = osla_random_bits(0, (uint64_t)osla_transport_rank(h->v.t), w->draws++);
  int first = (int)(draw % (uint64_t)owners);
  for (int i = 0; i < owners; i++) {
    int owner = (first + i) % owners;
    OSLA_CALL(update_owner(h, w, u, owner / h->v.q, owner % h->v.q));
  }
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
    OSLA_CALL(gather_panel(h, u, rows, &w->rows, &w->row_panel, &w->row_panel_bytes));
    OSLA_CALL(gather_panel(h, u, cols, &w->cols, &w->col_panel, &w->col_panel_bytes));
    u->row_panel = w->row_panel;
    u->col_panel = w->col_panel;
  }
  w->stats.seconds_split += osla_clock() - start;
  size_t column = u->k > 0 ? (size_t)u->k * h->element : 0;
  osla_trace_add(h->v.t, OSLA_TRACE_PACK, since,
                 (double)(rows + cols) * (double)(sizeof *ix + column));
  w->stats.updates++;
  return update_all_owners(h, w, u);
}

/* Order-independent mode: the products are made in strips of the sorted list, whoever owns them,
 * and added like ready blocks. */
static osla_err run_strips(osla_hessian *h, workspace *w, const update *u, int64_t count,
                           const int64_t *ix)
{
  double start = osla_clock();
  OSLA_CALL(osla_split_reserve(&w->sorted, count, 1));
  osla_split_indices(&w->sorted, count, ix, h->n, 1);
  OSLA_CALL(gather_panel(h, u, count, &w->sorted, &w->row_panel, &w->row_panel_bytes));
  w->stats.seconds_split += osla_clock() - start;
  const int64_t *sorted = w->sorted.global;
  strip_group g;
  for (int64_t c = 0; c < count; c += g.cols) {
    start = osla_clock();
    g = osla_strip_group(h->options.uplo, count, sorted, c, h->element, h->options.piece_bytes);
    OSLA_CALL(osla_reserve(&w->products, &w->products_bytes,
                           osla_element_offset(0, g.cols, g.rows, h->element)));
    OSLA_CALL(osla_strip_products(h, count, sorted, u->k, w->row_panel, &g, w->products));
    w->stats.seconds_product += osla_clock() - start;
    update block = {.k = -1, .data = w->products, .ld = g.rows};
    OSLA_CALL(run(h, w, &block, g.rows, sorted + g.row, g.cols, sorted + g.col));
    if (c > 0) w->stats.updates--; /* one update, in several groups */
  }
  return OSLA_OK;
}

static osla_err run_in_workspace(osla_hessian *h, update *u, int64_t rows, const int64_t *ix,
                                 int64_t cols, const int64_t *jx)
{
  workspace *w = NULL;
  osla_progress(h->v.t); /* adds what other nodes have sent here */
  (void)pthread_mutex_lock(&h->mutex);
  h->dirty = true;
  (void)pthread_mutex_unlock(&h->mutex);
  osla_err err = osla_workspace_take(h, &w);
  if (err == OSLA_OK)
    err = h->exact && u->k >= 0 ? run_strips(h, w, u, rows, ix) : run(h, w, u, rows, ix, cols, jx);
  osla_workspace_give(h, w);
  return err;
}

osla_err osla_hessian_update(osla_hessian *h, int64_t count, const int64_t *ix, int64_t k,
                             const void *g, int64_t ldg)
{
  OSLA_CALL(check_indices(h, "ix", count, ix));
  OSLA_CHECK(k >= 0, OSLA_ERR_ARG, "update with %" PRId64 " rows of G", k);
  OSLA_CHECK(ldg >= k && ldg >= 1, OSLA_ERR_ARG, "ldg = %" PRId64 " is below k = %" PRId64, ldg, k);
  OSLA_CHECK(g || k == 0 || count == 0, OSLA_ERR_ARG, "G is NULL");
  if (count == 0 || k == 0) return OSLA_OK;
  update u = {.k = k, .data = g, .ld = ldg};
  return run_in_workspace(h, &u, count, ix, count, ix);
}

osla_err osla_hessian_update_block(osla_hessian *h, int64_t rows, const int64_t *ix, int64_t cols,
                                   const int64_t *jx, const void *u_block, int64_t ldu)
{
  OSLA_CALL(check_indices(h, "ix", rows, ix));
  OSLA_CALL(check_indices(h, "jx", cols, jx));
  OSLA_CHECK(ldu >= rows && ldu >= 1, OSLA_ERR_ARG,
             "ldu = %" PRId64 " is below the %" PRId64 " rows", ldu, rows);
  OSLA_CHECK(u_block || rows == 0 || cols == 0, OSLA_ERR_ARG, "U is NULL");
  if (rows == 0 || cols == 0) return OSLA_OK;
  update u = {.k = -1, .data = u_block, .ld = ldu};
  return run_in_workspace(h, &u, rows, ix, cols, jx);
}

osla_err osla_hessian_update_gradient(osla_hessian *h, int64_t count, const int64_t *ix,
                                      const double *values)
{
  OSLA_CALL(check_indices(h, "ix", count, ix));
  OSLA_CHECK(values || count == 0, OSLA_ERR_ARG, "gradient values are NULL");
  if (count == 0) return OSLA_OK;
  osla_err err = OSLA_OK;
  (void)pthread_mutex_lock(&h->mutex);
  if (h->exact)
    err = osla_exact_gradient(h, count, ix, values);
  else
    for (int64_t i = 0; i < count; i++)
      h->pending_gradient[ix[i]] += values[i];
  h->dirty |= err == OSLA_OK;
  (void)pthread_mutex_unlock(&h->mutex);
  return err;
}
