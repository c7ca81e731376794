/* Ledger of an accumulator: sets of the ids of updates, and the gate that stops updates during a
 * checkpoint. */
#include "kernels/hessian/hessian_ledger.h"
#include "kernels/common/lists.h"
#include "kernels/hessian/hessian.h"
#include "osla_random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_MIN = 1024 }; /* number of slots of the first hash table; a power of two */

/* ---- sets of ids ---- */

/* Returns the slot that holds an id, or the empty slot where it would be stored. */
static size_t find_slot(const uint64_t *slot, size_t capacity, uint64_t id)
{
  size_t at = osla_random_bits(0, id, 0) & (capacity - 1);
  while (slot[at] != 0 && slot[at] != id)
    at = (at + 1) & (capacity - 1);
  return at;
}

bool osli_id_set_has(const id_set *set, uint64_t id)
{
  if (id == 0) return set->zero;
  return set->capacity > 0 && set->slot[find_slot(set->slot, set->capacity, id)] == id;
}

static osla_err grow_set(id_set *set)
{
  size_t capacity = set->capacity > 0 ? 2 * set->capacity : CAPACITY_MIN;
  uint64_t *slot = calloc(capacity, sizeof *slot);
  OSLA_CHECK(slot, OSLA_ERR_MEM, "no memory for %zu ids", set->count + 1);
  for (size_t i = 0; i < set->capacity; i++)
    if (set->slot[i] != 0) slot[find_slot(slot, capacity, set->slot[i])] = set->slot[i];
  free(set->slot);
  set->slot = slot;
  set->capacity = capacity;
  return OSLA_OK;
}

osla_err osli_id_set_add(id_set *set, uint64_t id, bool *added)
{
  *added = !osli_id_set_has(set, id);
  if (!*added) return OSLA_OK;
  if (id == 0) {
    set->zero = true;
  } else {
    if (4 * (set->count + 1) > 3 * set->capacity) OSLA_CALL(grow_set(set));
    set->slot[find_slot(set->slot, set->capacity, id)] = id;
  }
  set->count++;
  return OSLA_OK;
}

/* Cursor 0 stands for the id 0, and cursor i + 1 stands for slot i of the hash table. */
bool osli_id_set_next(const id_set *set, size_t *cursor, uint64_t *id)
{
  while (*cursor <= set->capacity) {
    size_t at = (*cursor)++;
    *id = at > 0 ? set->slot[at - 1] : 0;
    if (at > 0 ? *id != 0 : set->zero) return true;
  }
  return false;
}

void osli_id_set_free(id_set *set)
{
  free(set->slot);
  *set = (id_set){0};
}

/* ---- create and destroy ---- */

osla_err osli_ledger_create(osla_hessian *h)
{
  ledger *l = h->ledger = calloc(1, sizeof *l);
  OSLA_CHECK(l, OSLA_ERR_MEM, "no memory for a ledger");
  (void)pthread_mutex_init(&l->mutex, NULL);
  (void)pthread_cond_init(&l->opened, NULL);
  return OSLA_OK;
}

void osli_ledger_clear(osla_hessian *h)
{
  ledger *l = h->ledger;
  osli_id_set_free(&l->own);
  osli_id_set_free(&l->restored);
  l->used = l->broken = false;
  l->skipped = 0;
}

void osli_ledger_destroy(osla_hessian *h)
{
  if (!h->ledger) return;
  osli_ledger_clear(h);
  (void)pthread_cond_destroy(&h->ledger->opened);
  (void)pthread_mutex_destroy(&h->ledger->mutex);
  free(h->ledger);
  h->ledger = NULL;
}

/* ---- the gate ---- */

void osli_gate_enter(osla_hessian *h)
{
  ledger *l = h->ledger;
  (void)pthread_mutex_lock(&l->mutex);
  while (l->closed)
    (void)pthread_cond_wait(&l->opened, &l->mutex);
  l->active++;
  l->used = true;
  (void)pthread_mutex_unlock(&l->mutex);
}

osla_err osli_gate_leave(osla_hessian *h, osla_err err)
{
  ledger *l = h->ledger;
  (void)pthread_mutex_lock(&l->mutex);
  l->active--;
  l->broken |= err != OSLA_OK;
  (void)pthread_mutex_unlock(&l->mutex);
  return err;
}

static bool nothing_active(void *arg)
{
  ledger *l = arg;
  (void)pthread_mutex_lock(&l->mutex);
  bool nothing = l->active == 0;
  (void)pthread_mutex_unlock(&l->mutex);
  return nothing;
}

void osli_gate_close(osla_hessian *h)
{
  ledger *l = h->ledger;
  (void)pthread_mutex_lock(&l->mutex);
  l->closed = true;
  (void)pthread_mutex_unlock(&l->mutex);
  osla_segment_wait(h->segment, nothing_active, l);
}

void osli_gate_open(osla_hessian *h)
{
  ledger *l = h->ledger;
  (void)pthread_mutex_lock(&l->mutex);
  l->closed = false;
  (void)pthread_cond_broadcast(&l->opened);
  (void)pthread_mutex_unlock(&l->mutex);
}

/* ---- ids of the accumulator ---- */

bool osla_hessian_has_id(osla_hessian *h, uint64_t id)
{
  ledger *l = h->ledger;
  (void)pthread_mutex_lock(&l->mutex);
  bool has = osli_id_set_has(&l->restored, id) || osli_id_set_has(&l->own, id);
  (void)pthread_mutex_unlock(&l->mutex);
  return has;
}

osla_err osli_ledger_claim(osla_hessian *h, uint64_t id, bool *claimed)
{
  ledger *l = h->ledger;
  osla_err err = OSLA_OK;
  *claimed = false;
  (void)pthread_mutex_lock(&l->mutex);
  if (!osli_id_set_has(&l->restored, id)) err = osli_id_set_add(&l->own, id, claimed);
  if (err != OSLA_OK) *claimed = false;
  if (err == OSLA_OK && !*claimed) l->skipped++;
  (void)pthread_mutex_unlock(&l->mutex);
  return err;
}

osla_err osli_ledger_list(osla_hessian *h, uint64_t **ids, int64_t *count)
{
  const ledger *l = h->ledger;
  uint64_t rank = (uint64_t)osla_transport_rank(h->v.t), id, n = 0;
  uint64_t ranks = (uint64_t)osla_transport_size(h->v.t), most = l->own.count + l->restored.count;
  *count = 0;
  *ids = malloc((most + 1) * sizeof **ids);
  OSLA_CHECK(*ids, OSLA_ERR_MEM, "no memory for a list of %zu ids", (size_t)most);
  for (size_t cursor = 0; osli_id_set_next(&l->own, &cursor, &id);)
    (*ids)[n++] = id;
  for (size_t cursor = 0; osli_id_set_next(&l->restored, &cursor, &id);)
    if (osla_random_bits(1, id, 0) % ranks == rank) (*ids)[n++] = id;
  *count = (int64_t)n;
  return OSLA_OK;
}

static int by_value(const void *x, const void *y)
{
  const uint64_t *a = x, *b = y;
  return *a < *b ? -1 : *a > *b;
}

/* Each rank writes its ids into a list of zeros, at the rank's offset. The sum of the lists over
 * all ranks is the merged list. */
osla_err osli_ledger_merge(osla_hessian *h, uint64_t **ids, int64_t *count)
{
  int64_t *start = NULL, all = 0;
  uint64_t *list = NULL;
  osla_err err;
  OSLA_TRY(osli_rank_starts(h->v.t, *count, &start));
  all = start[osla_transport_size(h->v.t)];
  list = calloc((size_t)all + 1, sizeof *list);
  OSLA_TRY(osla_agree(
    h->v.t,
    list ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for a list of %" PRId64 " ids", all)));
  memcpy(list + start[osla_transport_rank(h->v.t)], *ids, (size_t)*count * sizeof *list);
  OSLA_TRY(osla_allreduce(h->v.t, list, all, MPI_UINT64_T, MPI_SUM));
  qsort(list, (size_t)all, sizeof *list, by_value);
  free(*ids);
  *ids = list;
  *count = all;
  list = NULL;
cleanup:
  free(start);
  free(list);
  return err;
}

void osli_ledger_stats(osla_hessian *h, osla_hessian_stats *stats)
{
  ledger *l = h->ledger;
  (void)pthread_mutex_lock(&l->mutex);
  stats->ids_skipped = l->skipped;
  stats->ids_restored = (int64_t)l->restored.count;
  (void)pthread_mutex_unlock(&l->mutex);
}
