/* Scratch memory of updating threads: taken for the length of an update, kept for the next one. */
#include "hessian.h"

#include <stdlib.h>

osla_err osla_reserve(unsigned char **buffer, size_t *have, size_t bytes)
{
  if (bytes <= *have) return OSLA_OK;
  free(*buffer);
  *buffer = malloc(bytes);
  *have = *buffer ? bytes : 0;
  OSLA_CHECK(*buffer, OSLA_ERR_MEM, "%zu bytes of scratch for an update", bytes);
  return OSLA_OK;
}

osla_err osla_workspace_take(osla_hessian *h, workspace **out)
{
  (void)pthread_mutex_lock(&h->mutex);
  workspace *w = h->free_list;
  if (w) h->free_list = w->next;
  (void)pthread_mutex_unlock(&h->mutex);
  if (!w) w = calloc(1, sizeof *w);
  *out = w;
  OSLA_CHECK(w, OSLA_ERR_MEM, "workspace of an update");
  w->stats = (osla_hessian_stats){0};
  return OSLA_OK;
}

void osla_workspace_give(osla_hessian *h, workspace *w)
{
  if (!w) return;
  (void)pthread_mutex_lock(&h->mutex);
  h->stats.updates += w->stats.updates;
  h->stats.elements += w->stats.elements;
  h->stats.bytes_sent += w->stats.bytes_sent;
  h->stats.seconds_split += w->stats.seconds_split;
  h->stats.seconds_product += w->stats.seconds_product;
  h->stats.seconds_add += w->stats.seconds_add;
  h->stats.seconds_send += w->stats.seconds_send;
  w->next = h->free_list;
  h->free_list = w;
  (void)pthread_mutex_unlock(&h->mutex);
}

void osla_workspace_free_all(osla_hessian *h)
{
  while (h->free_list) {
    workspace *w = h->free_list;
    h->free_list = w->next;
    osla_split_free(&w->rows);
    osla_split_free(&w->cols);
    free(w->begin);
    free(w->end);
    free(w->row_panel);
    free(w->col_panel);
    free(w->values);
    free(w->message);
    free(w->products);
    osla_split_free(&w->sorted);
    free(w);
  }
}
