/* Progress of transfers, without waiting: reads and sends values, starts transfers, and determines
 * which transfers are over (see forest.h). */
#include "kernels/forest/forest_serve.h"
#include "osla_clock.h"

#include <inttypes.h>

/* ---- reading ---- */

/* True for one call in 128. The check is rare because loading another rank's announcement takes the
 * cache line away from that rank, which writes it when it begins a transfer. */
static bool is_check_due(osla_forest *f)
{
  enum { POLLS = 128 };
  return ++f->n_polls % POLLS == 0;
}

static void next_link(forest_cursor *at)
{
  at->link++;
  at->part = 0;
}

static bool read_links(osla_forest *f, uint64_t number, forest_transfer *x)
{
  const forest_links *in = osli_forest_read_links(f, x->kind);
  if (x->two_level) return true;
  if (x->kind == FOREST_FETCH && f->sent + 1 < number) return false;
  for (; x->reading.link < in->n; next_link(&x->reading)) {
    forest_link *l = &in->of[x->reading.link];
    if (x->kind == FOREST_FETCH ? osli_forest_fetch_link(f, number, x, l)
                                : osli_forest_read_link(f, number, x, l, &x->reading)) {
      x->link_is_ordered = false;
      continue;
    }
    if (is_check_due(f)) {
      osli_forest_check_announcements(f, number, in);
      osli_forest_check_rings(f);
    }
    return false;
  }
  if (x->gathered) osli_forest_exact_end(f, x);
  return true;
}

static bool read_answers(osla_forest *f, uint64_t number, forest_transfer *x)
{
  if (x->kind != FOREST_FETCH) return true;
  for (; x->answers.link < f->to_roots.n; next_link(&x->answers))
    if (!osli_forest_read_answers(f, number, x, &f->to_roots.of[x->answers.link], &x->answers))
      return false;
  return true;
}

/* ---- sending ---- */

static bool send_links(osla_forest *f, uint64_t number, forest_transfer *x)
{
  const forest_links *out = osli_forest_send_links(f, x->kind);
  if (x->two_level) return true;
  for (; x->sending.link < out->n; next_link(&x->sending))
    if (!osli_forest_send_link(number, x, &out->of[x->sending.link], &x->sending)) return false;
  return true;
}

/* True if a transfer may send its values now. Broadcasts use the same rings as the old values that
 * a fetch returns. So a broadcast is sent only after all earlier fetches have returned their
 * values, and a fetch returns its values only after all earlier transfers have been sent
 * (read_links). */
static bool may_send(osla_forest *f, uint64_t number)
{
  if (osli_forest_transfer(f, number)->kind != FOREST_BCAST) return true;
  for (uint64_t before = f->read + 1; before < number; before++) {
    const forest_transfer *x = osli_forest_transfer(f, before);
    if (x->kind == FOREST_FETCH && x->reading.link < f->to_leaves.n) return false;
  }
  return true;
}

static void send_all(osla_forest *f)
{
  while (f->sent < f->begun && may_send(f, f->sent + 1) &&
         send_links(f, f->sent + 1, osli_forest_transfer(f, f->sent + 1)))
    f->sent++;
}

/* ---- a step of progress ---- */

static void wake_neighbours(osla_forest *f, const forest_links *links)
{
  for (int i = 0; i < links->n; i++)
    if (links->of[i].is_near && !links->of[i].is_self)
      osli_pool_wake_rank(f->pool, links->of[i].rank);
}

/* Sends acknowledgements that rings could not send earlier. */
static void send_owed_credit(osla_forest *f)
{
  bool owes_credit = false;
  if (!f->owes_credit) return;
  for (int i = 0; i < f->to_roots.n; i++)
    if (!f->to_roots.of[i].is_self) owes_credit |= !osli_ring_credit(&f->to_roots.of[i].ring);
  for (int i = 0; i < f->to_leaves.n; i++)
    if (!f->to_leaves.of[i].is_self) owes_credit |= !osli_ring_credit(&f->to_leaves.of[i].ring);
  f->owes_credit = owes_credit;
}

/* Completes reads on devices, before this rank publishes that it has read memory of other ranks:
 * waits for the queued work that does these reads, or queues a signal after this work. */
static void complete_reads(osla_forest *f)
{
  if (f->owes_wait) osli_forest_wait_for_devices(SETTLE_READ);
  if (f->owes_signal) osli_device_signal_ranks(f->owes_signal);
  f->owes_wait = false;
  f->owes_signal = NULL;
}

/* Reads and sends the values that can be read and sent without waiting for other ranks. `is_begin`
 * is true during the begin of a transfer: reads that were queued on a device without signals are
 * then not waited for, and a later call publishes them. The caller holds the pool's lock. */
static void serve_forest(osla_forest *f, bool is_begin)
{
  if (f->sent < f->begun) send_all(f);
  while (f->read < f->begun) {
    forest_transfer *x = osli_forest_transfer(f, f->read + 1);
    bool is_read = read_links(f, f->read + 1, x), has_answers = read_answers(f, f->read + 1, x);
    if (!is_read || !has_answers || (f->owes_wait && is_begin)) break;
    f->read++;
    if (x->reading.link == 0 && !x->two_level)
      continue; /* no rank waits until this transfer is read, because it reads from no link */
    if (osli_device_any()) complete_reads(f);
    osla_clock_settle();
    atomic_store_explicit(&f->control->read, f->read, memory_order_release);
    wake_neighbours(f, osli_forest_read_links(f, x->kind));
  }
  if (f->sent < f->begun) send_all(f); /* sends broadcasts that had to wait for earlier fetches */
  send_owed_credit(f);
}

/* Adds the forest to the pool's list of active forests. The caller holds the pool's lock. */
static void activate(osla_forest *f)
{
  if (f->is_active) return;
  osli_forest_watch_lines(f, true);
  f->is_active = true;
  f->next_active = f->pool->active;
  f->pool->active = f;
}

bool osli_forests_serve_locked(forest_pool *pool)
{
  bool any = false;
  osla_forest **at = &pool->active;
  while (*at) {
    osla_forest *f = *at;
    uint64_t before = f->read + f->sent;
    serve_forest(f, false);
    any |= f->read + f->sent != before;
    f->is_active = f->read < f->begun || f->sent < f->begun || f->owes_credit;
    if (f->is_active) {
      at = &f->next_active;
    } else {
      *at = f->next_active;
      osli_forest_watch_lines(f, false);
    }
  }
  if (pool->pending) any |= pool->advance_pending(pool);
  return any;
}

void osli_forests_serve(forest_pool *pool)
{
  if (!osli_pool_try_lock(pool)) return;
  bool any = osli_forests_serve_locked(pool);
  osli_pool_unlock(pool);
  if (any)
    osli_pool_wake_rank(
      pool,
      /* Another thread of this rank may wait for the values that were read or sent. */
      osla_transport_rank(pool->t));
}

/* ---- starting a transfer ---- */

uint64_t osli_forest_start_next(osla_forest *f)
{
  const uint64_t number = ++f->begun;
  forest_transfer *x = osli_forest_transfer(f, number);
  x->ended = x->is_ordered = false;
  f->pool->n_under_way++;
  if (f->to_roots.n + f->to_leaves.n == 0) {
    f->read = f->sent = number;
    return number;
  }
  if (x->is_awaited) {
    osli_forest_announce(f, number, x);
    osli_forest_wake_readers(f, x);
  }
  activate(f);
  serve_forest(f, true);
  /* The transfer is announced only now, because parts for other nodes are sent first. */
  if (!x->is_awaited) osli_forest_announce(f, number, x);
  return number;
}

uint64_t osli_forest_start(osla_forest *f, const forest_transfer *what)
{
  forest_transfer *x = osli_forest_transfer(f, f->begun + 1);
  *x = *what;
  osli_forest_locate_values(f, x);
  return osli_forest_start_next(f);
}

/* ---- waiting for ranks that read values ---- */

/* True if another rank of the node has read a transfer. That rank's counter `read` is loaded only
 * if the value seen earlier is too low, because each load takes the cache line away from its
 * writer. */
static bool has_read(forest_link *l, uint64_t number)
{
  if (atomic_load_explicit(&l->seen, memory_order_acquire) >= number) return true;
  const uint64_t read = atomic_load_explicit(&l->control->read, memory_order_acquire);
  atomic_store_explicit(&l->seen, read, memory_order_release);
  return read >= number;
}

bool osli_forest_values_are_read(osla_forest *f, uint64_t number)
{
  const forest_transfer *x = osli_forest_transfer(f, number);
  const forest_links *out = osli_forest_send_links(f, x->kind);
  for (int i = 0; i < out->n; i++)
    if (osli_forest_is_read_in_place(x, &out->of[i]) && !has_read(&out->of[i], number))
      return false;
  return true;
}

bool osli_forest_neighbours_are_done(osla_forest *f, uint64_t number)
{
  const forest_transfer *x = osli_forest_transfer(f, number);
  const forest_links *out = osli_forest_send_links(f, x->kind);
  for (int i = 0; i < out->n; i++)
    if (out->of[i].is_near && !out->of[i].is_self && !has_read(&out->of[i], number)) return false;
  return true;
}

typedef struct reader_wait {
  osla_forest *forest;
  uint64_t number;
  bool (*is_done)(osla_forest *f, uint64_t number);
} reader_wait;

static bool poll_readers(void *arg)
{
  const reader_wait *w = arg;
  osla_forest *f = w->forest;
  osli_forests_serve(f->pool);
  if (w->is_done(f, w->number)) return true;
  osli_pool_lock(f->pool);
  osli_forest_check_rings(f);
  osli_pool_unlock(f->pool);
  return false;
}

static void wait_until(reader_wait w)
{
  if (w.is_done(w.forest, w.number)) return;
  osla_segment_wait(w.forest->pool->segments->segment, poll_readers, &w);
}

void osli_forest_order_devices(osla_forest *f, uint64_t number)
{
  forest_transfer *x = osli_forest_transfer(f, number);
  osla_device *on[2];
  const forest_links *out = osli_forest_send_links(f, x->kind);
  if (x->is_ordered || osli_device_faults & DEVICE_FAULT_END) return;
  x->is_ordered = true;
  for (int k = osli_forest_devices(f, &x->at, on) - 1; k >= 0; k--)
    for (int i = 0; i < out->n; i++)
      if (osli_forest_is_read_in_place(x, &out->of[i]))
        osli_device_await_rank(on[k], out->of[i].rank);
}

void osli_forest_wait_for_readers(osla_forest *f, uint64_t number)
{
  wait_until((reader_wait){f, number, osli_forest_values_are_read});
  osli_forest_order_after_readers(f, number);
}

osla_err osli_forest_check_free(const osla_forest *f)
{
  if (f->begun < MOST_TRANSFERS) return OSLA_OK;
  uint64_t before = f->begun + 1 - MOST_TRANSFERS;
  OSLA_CHECK(f->transfer[before % MOST_TRANSFERS].ended, OSLA_ERR_STATE,
             "transfer %" PRIu64
             " of a forest has not ended, and %d have begun since: end it first",
             before, MOST_TRANSFERS - 1);
  return OSLA_OK;
}

osla_err osli_forest_wait_for_free(osla_forest *f)
{
  OSLA_CALL(osli_forest_check_free(f));
  if (f->begun < MOST_TRANSFERS) return OSLA_OK;
  const uint64_t before = f->begun + 1 - MOST_TRANSFERS;
  wait_until((reader_wait){f, before, osli_forest_neighbours_are_done});
  osli_forest_order_after_readers(f, before);
  return OSLA_OK;
}

/* ---- transfers that are over ---- */

/* True if all parts for other nodes arrive without further progress steps of this rank. This
 * condition is needed because the next wait of this rank may be in another library, where it makes
 * no progress steps. */
static bool are_posted(const forest_links *out)
{
  bool all = true;
  for (int i = 0; i < out->n; i++)
    if (!out->of[i].is_near) all &= osli_ring_is_posted(&out->of[i].ring);
  return all;
}

static bool is_posted(osla_forest *f, const forest_transfer *x)
{
  if (!are_posted(osli_forest_send_links(f, x->kind))) return false;
  return x->kind != FOREST_FETCH || are_posted(&f->to_leaves);
}

/* Copies values for ranks of the node that read many of them in place. */
static void help_readers(osla_forest *f, uint64_t number, const forest_transfer *x)
{
  const forest_links *out = osli_forest_send_links(f, x->kind);
  for (int i = 0; i < out->n; i++)
    if (osli_forest_is_read_in_place(x, &out->of[i]) && osli_forest_is_large(x, &out->of[i]))
      osli_forest_help_reader(f, number, x, &out->of[i]);
}

static bool is_over(osla_forest *f, uint64_t number, const forest_transfer *x, bool with_readers)
{
  if (f->read < number || f->sent < number) return false;
  if (x->two_level) return true;
  if (f->n_far > 0 && !is_posted(f, x)) return false;
  if (!x->is_awaited) return true;
  /* In a fetch, the ranks that read the values may also write the old values in place. */
  const bool waits = (x->at.values.array >= 0 && with_readers) || x->at.before.array >= 0;
  if (!waits || osli_forest_values_are_read(f, number)) return true;
  if (with_readers && x->helps) help_readers(f, number, x);
  return false;
}

bool osli_forest_is_over(osla_forest *f, uint64_t number, bool with_readers)
{
  const forest_transfer *x = osli_forest_transfer(f, number);
  if (is_over(f, number, x, with_readers)) return true;
  if (is_check_due(f)) {
    osli_forest_check_announcements(f, number, osli_forest_read_links(f, x->kind));
    osli_forest_check_announcements(f, number, osli_forest_send_links(f, x->kind));
    osli_forest_check_rings(f);
  }
  return false;
}

void osli_forest_mark_ended(osla_forest *f, uint64_t number, bool with_readers)
{
  forest_transfer *x = osli_forest_transfer(f, number);
  if (with_readers || x->at.before.array >= 0) osli_forest_order_after_readers(f, number);
  x->ended = true;
  f->pool->n_under_way--;
}
