/* Runs an update: divides the indices among the owners; hessian_deliver.c then delivers each
 * owner's part. For the owner at grid position (pr, pc) the part is G(:, rows of pr)^T G(:, columns
 * of pc), or the same rows and columns of U. */
#include "kernels/hessian/hessian_update.h"
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_device.h"
#include "kernels/hessian/hessian_exact.h"
#include "osla_clock.h"
#include "osla_trace.h"
#include "src/blas/move.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool in_order(int64_t count, const int64_t *position)
{
  for (int64_t i = 0; i < count; i++)
    if (position[i] != i) return false;
  return true;
}

/* Sets *panel to the columns of G, k elements each, in the order of the sorted index list. It is G
 * itself if G has this order, otherwise a copy in the buffer. */
static osla_err order_columns(const osla_hessian *h, const update *u, int64_t count,
                              const index_split *split, unsigned char **buffer, size_t *have,
                              const unsigned char **panel)
{
  size_t column = (size_t)u->k * h->element;
  *panel = u->data;
  if (u->ld == u->k && in_order(count, split->position)) return OSLA_OK;
  OSLA_CALL(osli_reserve_like(h, buffer, have, column * (size_t)count + 1));
  *panel = *buffer;
  if (h->device)
    return osli_queue_columns(h, u->k, count, split->position, u->data, u->ld, *buffer);
  for (int64_t i = 0; i < count && !osli_work_modelled; i++)
    memcpy(*buffer + (size_t)i * column,
           u->data + (size_t)(split->position[i] * u->ld) * h->element, column);
  osli_move_charge(column, count);
  return OSLA_OK;
}

static osla_err reserve_lists(osla_hessian *h, workspace *w, int64_t rows, int64_t cols)
{
  OSLA_CALL(osli_split_reserve(&w->rows, rows, h->v.p));
  OSLA_CALL(osli_split_reserve(&w->cols, cols, h->v.q));
  if (cols <= w->n_range) return OSLA_OK;
  free(w->begin);
  free(w->end);
  w->begin = malloc((size_t)cols * sizeof *w->begin);
  w->end = malloc((size_t)cols * sizeof *w->end);
  w->n_range = w->begin && w->end ? cols : 0;
  OSLA_CHECK(w->n_range == cols, OSLA_ERR_MEM, "no memory for ranges of %" PRId64 " columns", cols);
  return OSLA_OK;
}

static osla_err perform_update(osla_hessian *h, workspace *w, update *u, int64_t rows,
                               const int64_t *ix, int64_t cols, const int64_t *jx)
{
  double start = osla_clock(), since = osla_trace_now(h->v.t);
  OSLA_CALL(reserve_lists(h, w, rows, cols));
  osli_split_indices(&w->rows, rows, ix, h->options.nb, h->v.p);
  osli_split_indices(&w->cols, cols, jx, h->options.nb, h->v.q);
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
  return osli_update_owners(h, w, u);
}

/* Update in order-independent mode: computes the products in chunks of the sorted index list,
 * regardless of owners, and adds each chunk like a ready block. */
static osla_err perform_in_chunks(osla_hessian *h, workspace *w, const update *u, int64_t count,
                                  const int64_t *ix)
{
  double start = osla_clock();
  OSLA_CALL(osli_split_reserve(&w->sorted, count, 1));
  osli_split_indices(&w->sorted, count, ix, h->n, 1);
  const unsigned char *panel = NULL;
  OSLA_CALL(order_columns(h, u, count, &w->sorted, &w->row_panel, &w->row_panel_bytes, &panel));
  w->stats.seconds_split += osla_clock() - start;
  const int64_t *sorted = w->sorted.global;
  chunk_group g;
  for (int64_t c = 0; c < count; c += g.cols) {
    start = osla_clock();
    g = osli_chunk_group(h->options.uplo, count, sorted, c, h->element, osli_piece_bytes(h));
    OSLA_CALL(osli_reserve_like(h, &w->products, &w->products_bytes,
                                element_offset(0, g.cols, g.rows, h->element)));
    OSLA_CALL(osli_chunk_products(h, count, sorted, u->k, panel, &g, w->products));
    w->stats.seconds_product += osla_clock() - start;
    update block = {.k = -1, .data = w->products, .ld = g.rows};
    OSLA_CALL(perform_update(h, w, &block, g.rows, sorted + g.row, g.cols, sorted + g.col));
    if (c > 0) w->stats.updates--; /* all groups of columns together count as one update */
  }
  return OSLA_OK;
}

/* Copies a matrix G in host memory to the device of H. */
static osla_err upload_panel(const osla_hessian *h, workspace *w, int64_t count, update *u)
{
  if (!h->device || u->k <= 0 || osli_is_on_device(h, u->data)) return OSLA_OK;
  OSLA_CALL(
    osli_reserve_like(h, &w->device_g, &w->device_g_bytes, (size_t)(u->k * count) * h->element));
  OSLA_CALL(osli_queue_panel(h, u->k, count, u->data, u->ld, w->device_g));
  u->data = w->device_g;
  u->ld = u->k;
  return OSLA_OK;
}

osla_err osli_update_run(osla_hessian *h, update *u, int64_t rows, const int64_t *ix, int64_t cols,
                         const int64_t *jx)
{
  workspace *w = NULL;
  osla_progress(h->v.t); /* adds messages that have arrived from other nodes */
  (void)pthread_mutex_lock(&h->mutex);
  h->dirty = true;
  (void)pthread_mutex_unlock(&h->mutex);
  bool chunks = h->exact && u->k > 0;
  const workspace_need need = {rows, cols, u->k > 0 ? u->k : 0, chunks};
  osla_err err = osli_workspace_acquire(h, &need, &w);
  if (err == OSLA_OK) err = upload_panel(h, w, rows, u);
  if (err == OSLA_OK)
    err =
      chunks ? perform_in_chunks(h, w, u, rows, ix) : perform_update(h, w, u, rows, ix, cols, jx);
  /* The update waits for the device even after an error, because the caller may overwrite a matrix
   * G or U in device memory when this call returns. */
  const osla_err of_work = h->device ? osli_device_finish(h->device) : OSLA_OK;
  if (err == OSLA_OK) err = of_work;
  osli_workspace_release(h, w);
  return err;
}
