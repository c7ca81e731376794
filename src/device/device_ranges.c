/* Keeps the table of device memory of this process. */
#include "src/device/device_ranges.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A list of pieces of device memory. */
typedef struct range_list {
  device_range *at; /* [most] pieces, of which the first n exist, sorted by address */
  size_t n, most;
} range_list;

/* `mutex` guards both lists. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static range_list disjoint;   /* allocated and imported pieces, which do not overlap */
static range_list registered; /* registered pieces, which are few and may overlap */

_Atomic uint64_t osli_registrations;

static range_list *list_of(device_origin origin)
{
  return origin == ORIGIN_REGISTERED ? &registered : &disjoint;
}

/* Returns the index of the first piece of the list `l` that begins after `address`, or the number
 * of pieces if no piece does. The caller holds `mutex`. */
static size_t index_behind(const range_list *l, uintptr_t address)
{
  size_t low = 0, high = l->n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (l->at[middle].from <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns whether a piece contains the byte at an address. A piece of 0 bytes counts as a piece of
 * one byte. */
static bool has_byte(const device_range *r, uintptr_t byte)
{
  return r->from <= byte && (byte < r->to || byte == r->from);
}

/* Sets *out to the piece that contains the byte at an address, and returns true; false if there is
 * none. If several registered pieces contain the byte, *out is the one that ends last. The caller
 * holds `mutex`. */
static bool find_byte(uintptr_t byte, device_range *out)
{
  const size_t end = index_behind(&registered, byte);
  size_t i = index_behind(&disjoint, byte);
  bool found = i > 0 && has_byte(&disjoint.at[i - 1], byte);
  if (found) {
    *out = disjoint.at[i - 1];
    return true;
  }
  for (i = 0; i < end; i++)
    if (has_byte(&registered.at[i], byte) && (!found || registered.at[i].to > out->to)) {
      *out = registered.at[i];
      found = true;
    }
  return found;
}

bool osli_range_find(const void *address, device_range *out)
{
  const uintptr_t at = (uintptr_t)address;
  (void)pthread_mutex_lock(&mutex);
  const bool found = find_byte(at, out) || (at > 0 && find_byte(at - 1, out));
  (void)pthread_mutex_unlock(&mutex);
  return found;
}

bool osli_range_any(const struct device_queue *queue, device_range *out)
{
  bool found = false;
  (void)pthread_mutex_lock(&mutex);
  for (int k = 0; k < 2; k++) {
    const range_list *l = k == 0 ? &disjoint : &registered;
    for (size_t i = 0; i < l->n && !found; i++) {
      found = l->at[i].queue == queue;
      if (found) *out = l->at[i];
    }
  }
  (void)pthread_mutex_unlock(&mutex);
  return found;
}

/* Raises osli_registrations after a piece was entered in a list or removed from it, if the list is
 * that of registered pieces. */
static void count_change(const range_list *l)
{
  if (l == &registered) atomic_fetch_add(&osli_registrations, 1);
}

osla_err osli_range_add(device_range range)
{
  range_list *l = list_of(range.origin);
  osla_err err = OSLA_OK;
  (void)pthread_mutex_lock(&mutex);
  if (l->n == l->most) {
    const size_t more = 2 * l->most + 16;
    device_range *grown = realloc(l->at, more * sizeof *grown);
    if (grown) l->at = grown, l->most = more;
    if (!grown) err = osla_error_set(OSLA_ERR_MEM, "table of %zu pieces of device memory", more);
  }
  if (err == OSLA_OK) {
    const size_t i = index_behind(l, range.from);
    memmove(l->at + i + 1, l->at + i, (l->n - i) * sizeof *l->at);
    l->at[i] = range;
    l->n++;
    count_change(l);
  }
  (void)pthread_mutex_unlock(&mutex);
  return err;
}

static bool is_equal(const device_range *x, const device_range *y)
{
  return x->from == y->from && x->to == y->to && x->queue == y->queue && x->origin == y->origin;
}

bool osli_range_remove(const device_range *range)
{
  range_list *l = list_of(range->origin);
  (void)pthread_mutex_lock(&mutex);
  size_t i = index_behind(l, range->from);
  while (i > 0 && !is_equal(&l->at[i - 1], range))
    i--;
  if (i > 0) {
    l->n--;
    memmove(l->at + i - 1, l->at + i, (l->n - (i - 1)) * sizeof *l->at);
    count_change(l);
  }
  (void)pthread_mutex_unlock(&mutex);
  return i > 0;
}
