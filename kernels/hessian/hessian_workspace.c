/* Scratch memory of updating threads. It is acquired for one update, cached for the next one, and
 * counted against the memory cap. A thread that finds no room under the cap frees idle workspaces,
 * then waits until other threads release their workspaces. While it waits, it holds no lock and
 * makes progress steps. */
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_exact.h"
#include "kernels/hessian/hessian_update.h"

#include <inttypes.h>
#include <stdlib.h>

osla_err osli_reserve(unsigned char **buffer, size_t *have, size_t bytes)
{
  if (bytes <= *have) return OSLA_OK;
  free(*buffer);
  *buffer = malloc(bytes);
  *have = *buffer ? bytes : 0;
  OSLA_CHECK(*buffer, OSLA_ERR_MEM, "no memory for %zu bytes of scratch of an update", bytes);
  return OSLA_OK;
}

osla_err osli_reserve_like(const osla_hessian *h, unsigned char **buffer, size_t *have,
                           size_t bytes)
{
  void *memory = NULL;
  if (!h->device) return osli_reserve(buffer, have, bytes);
  if (bytes <= *have) return OSLA_OK;
  osli_device_free(*buffer);
  osla_err err = osli_device_alloc(h->device, bytes, false, &memory);
  *buffer = memory;
  *have = memory ? bytes : 0;
  return err;
}

static size_t larger(size_t a, size_t b)
{
  return a > b ? a : b;
}

/* Largest size of a piece's values: piece_bytes, or less under a memory cap, so that several
 * threads find room. One column always fits. */
size_t osli_piece_bytes(const osla_hessian *h)
{
  enum { PIECE_MIN = 4096, SHARE = 8 };
  size_t bytes = h->options.piece_bytes;
  if (h->memory_most < SIZE_MAX && bytes > h->memory_most / SHARE)
    bytes = larger(h->memory_most / SHARE, PIECE_MIN);
  return bytes;
}

/* Returns the bytes that workspace w will have if it is used for this need; w = NULL stands for a
 * new workspace. */
static size_t needed_bytes(const osla_hessian *h, const workspace_need *need, const workspace *w)
{
  static const workspace empty;
  if (!w) w = &empty;
  int64_t rows = need->rows > w->rows.capacity ? need->rows : w->rows.capacity;
  int64_t cols = need->cols > w->cols.capacity ? need->cols : w->cols.capacity;
  int64_t ranges = need->cols > w->n_range ? need->cols : w->n_range;
  size_t column = (size_t)need->k * h->element;
  size_t values = osli_piece_bytes(h);
  if ((size_t)need->rows < values / h->element / (size_t)need->cols)
    values = (size_t)(need->rows * need->cols) * h->element;
  size_t chunks = 0; /* bytes for products that are computed in chunks */
  if (need->chunks)
    chunks =
      osli_split_bytes(need->rows > w->sorted.capacity ? need->rows : w->sorted.capacity, 1) +
      larger(osli_chunk_bytes(need->rows, h->element, osli_piece_bytes(h)), w->products_bytes);
  size_t on_device = 0; /* bytes for values and G in device memory */
  if (h->device)
    on_device = larger(values, w->device_values_bytes) +
                larger(need->k > 0 ? column * (size_t)need->rows : 0, w->device_g_bytes);
  return sizeof *w + chunks + on_device + osli_split_bytes(rows, h->v.p) +
         osli_split_bytes(cols, h->v.q) + 2 * (size_t)ranges * sizeof(int64_t) +
         larger(need->k > 0 ? column * (size_t)need->rows + 1 : 0, w->row_panel_bytes) +
         larger(need->k > 0 ? column * (size_t)need->cols + 1 : 0, w->col_panel_bytes) +
         larger(values, w->values_bytes);
}

static void free_workspace(osla_hessian *h, workspace *w)
{
  h->memory -= w->reserved;
  osli_split_free(&w->rows);
  osli_split_free(&w->cols);
  free(w->begin);
  free(w->end);
  osli_free_like(w->row_panel);
  osli_free_like(w->col_panel);
  free(w->values);
  osli_free_like(w->products);
  osli_device_free(w->device_values);
  osli_device_free(w->device_g);
  osli_split_free(&w->sorted);
  free(w);
}

typedef struct wanted {
  osla_hessian *h;
  const workspace_need *need;
  workspace *w;
  bool no_memory;
} wanted;

static bool try_acquire(void *arg)
{
  wanted *a = arg;
  osla_hessian *h = a->h;
  (void)pthread_mutex_lock(&h->mutex);
  workspace *w;
  size_t old, bytes;
  for (;;) {
    w = h->free_list;
    if (w) h->free_list = w->next;
    old = w ? w->reserved : 0;
    bytes = needed_bytes(h, a->need, w);
    if (!w || h->memory - old + bytes <= h->memory_most) break;
    /* frees this workspace, because together with the other idle workspaces it is too large */
    free_workspace(h, w);
  }
  if (h->memory - old + bytes <= h->memory_most) {
    if (!w) w = calloc(1, sizeof *w);
    a->no_memory = !w;
    if (w) {
      w->reserved = bytes;
      h->memory += bytes - old;
      if (h->memory > h->memory_peak) h->memory_peak = h->memory;
    }
    a->w = w;
  }
  (void)pthread_mutex_unlock(&h->mutex);
  return a->w || a->no_memory;
}

osla_err osli_workspace_acquire(osla_hessian *h, const workspace_need *need, workspace **out)
{
  *out = NULL;
  size_t least = needed_bytes(h, need, NULL);
  OSLA_CHECK(least <= h->memory_most - h->memory_fixed, OSLA_ERR_MEM,
             "an update of %" PRId64 " x %" PRId64 " indices and %" PRId64
             " rows of G needs %zu bytes of scratch: memory_cap must be at least %zu, it is %zu",
             need->rows, need->cols, need->k, least, h->memory_fixed + least, h->memory_most);
  wanted a = {.h = h, .need = need};
  if (!try_acquire(&a)) osla_segment_wait(h->segment, try_acquire, &a);
  OSLA_CHECK(a.w, OSLA_ERR_MEM, "no memory for the workspace of an update");
  *out = a.w;
  a.w->stats = (osla_hessian_stats){0};
  return OSLA_OK;
}

static void add_stats(osla_hessian_stats *sum, const osla_hessian_stats *s)
{
  sum->updates += s->updates;
  sum->elements += s->elements;
  sum->elements_sent += s->elements_sent;
  sum->bytes_sent += s->bytes_sent;
  sum->seconds_split += s->seconds_split;
  sum->seconds_product += s->seconds_product;
  sum->seconds_add += s->seconds_add;
  sum->seconds_send += s->seconds_send;
}

void osli_workspace_release(osla_hessian *h, workspace *w)
{
  if (!w) return;
  (void)pthread_mutex_lock(&h->mutex);
  add_stats(&h->stats, &w->stats);
  w->next = h->free_list;
  h->free_list = w;
  (void)pthread_mutex_unlock(&h->mutex);
  /* Wakes threads of this rank that wait for memory. */
  if (h->memory_most < SIZE_MAX) osli_wire_wake(h, osla_transport_rank(h->v.t));
}

void osli_workspace_free_all(osla_hessian *h)
{
  while (h->free_list) {
    workspace *w = h->free_list;
    h->free_list = w->next;
    free_workspace(h, w);
  }
}
