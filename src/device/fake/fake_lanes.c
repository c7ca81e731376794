/* Queues work of the fake device in lanes. Work runs when a call waits for it, or, if a signal
 * follows it in its lane, about a millisecond after this signal was submitted. */
#include "src/device/fake/fake_lanes.h"

#include "src/base/futex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  SIGNAL_US = 1000, /* time from the submission of a signal until the helper runs it */
  AWAIT_US = 20     /* time between two loads of a word that a lane waits for */
};

static void lock(fake_lanes *q)
{
  (void)pthread_mutex_lock(&q->mutex);
}

static void unlock(fake_lanes *q)
{
  (void)pthread_mutex_unlock(&q->mutex);
}

/* Releases the mutex for AWAIT_US microseconds, so that other threads can use the device. The
 * caller holds the mutex. */
static void yield_device(fake_lanes *q)
{
  unlock(q);
  osli_nap(AWAIT_US);
  lock(q);
}

static uint64_t mark_of(uint64_t number, device_lane lane)
{
  return LANES * number + (uint64_t)lane;
}

/* ---- running work ---- */

static osla_err run_lane(fake_lanes *q, uint64_t mark);

static osla_err run_entry(fake_lanes *q, const fake_entry *e)
{
  device_work w = e->work;
  if (e->after) return run_lane(q, e->after);
  switch (w.kind) {
    case DEVICE_SIGNAL: atomic_store_explicit(w.word, w.value, memory_order_release); break;
    case DEVICE_AWAIT:
      while (atomic_load_explicit(w.word, memory_order_acquire) < w.value)
        yield_device(q);
      break;
    default: return q->run(q->device, w);
  }
  return OSLA_OK;
}

/* Runs all queued work that a mark names. Runs work of the other lane only if osli_device_after has
 * ordered the named work after it. The caller holds the mutex, which is released while an entry
 * waits for a word. If another thread runs an entry of the lane, the call waits for this thread. */
static osla_err run_lane(fake_lanes *q, uint64_t mark)
{
  osla_err err = OSLA_OK;
  fake_lane *l = &q->lane[mark % LANES];
  while (l->done < mark / LANES) {
    if (l->is_running) {
      yield_device(q);
      continue;
    }
    fake_entry e = l->entries[l->first++];
    l->n_entries--;
    l->is_running = true;
    if (e.work.vertices) e.work.vertices = &e.vertices;
    const osla_err one = run_entry(q, &e);
    l->is_running = false;
    l->done++;
    free(e.lists);
    if (err == OSLA_OK) err = one;
  }
  return err;
}

/* Stores an error of work that the helper thread has run; only the first one is kept. The caller
 * holds the mutex. */
static void keep_error(fake_lanes *q, osla_err err)
{
  if (err == OSLA_OK || q->failed != OSLA_OK) return;
  q->failed = err;
  (void)snprintf(q->text, sizeof q->text, "%s", osla_error_text());
}

/* Sets mark[lane] to the mark of the latest signal of each lane. Returns true if one of these
 * signals has not run. The caller holds the mutex. */
static bool find_signals(const fake_lanes *q, uint64_t mark[LANES])
{
  bool any = false;
  for (device_lane lane = 0; lane < LANES; lane++) {
    mark[lane] = mark_of(q->lane[lane].signal, lane);
    any |= q->lane[lane].signal > q->lane[lane].done;
  }
  return any;
}

/* Runs the helper thread, which runs each lane up to its latest signal until `stops` is set. */
static void *run_signals(void *arg)
{
  fake_lanes *q = arg;
  uint64_t mark[LANES];
  lock(q);
  while (!q->stops) {
    if (!find_signals(q, mark)) {
      (void)pthread_cond_wait(&q->new_signal, &q->mutex);
      continue;
    }
    unlock(q);
    osli_nap(SIGNAL_US);
    lock(q);
    for (int lane = 0; lane < LANES; lane++)
      keep_error(q, run_lane(q, mark[lane]));
  }
  unlock(q);
  return NULL;
}

/* ---- the queue ---- */

/* Makes room for one more entry after the entries of a lane. Returns false if there is not enough
 * memory. */
static bool reserve_entry(fake_lane *l)
{
  if (l->first > 0 && l->first + l->n_entries == l->most) {
    memmove(l->entries, l->entries + l->first, l->n_entries * sizeof *l->entries);
    l->first = 0;
  }
  if (l->first + l->n_entries < l->most) return true;
  size_t more = 2 * l->most + 64;
  fake_entry *grown = realloc(l->entries, more * sizeof *grown);
  if (grown) l->entries = grown, l->most = more;
  return grown != NULL;
}

/* Appends an entry to a lane. Returns false if there is not enough memory. */
static bool add_entry(fake_lanes *q, device_lane lane, fake_entry e)
{
  fake_lane *l = &q->lane[lane];
  lock(q);
  const bool added = reserve_entry(l);
  if (added) l->entries[l->first + l->n_entries++] = e;
  if (added && e.work.kind == DEVICE_SIGNAL) {
    l->signal = l->done + l->is_running + l->n_entries;
    q->has_helper = q->has_helper || pthread_create(&q->helper, NULL, run_signals, q) == 0;
    (void)pthread_cond_signal(&q->new_signal);
    /* without a helper the signal runs at once, because another rank may wait for it */
    if (!q->has_helper) keep_error(q, run_lane(q, mark_of(l->signal, lane)));
  }
  unlock(q);
  return added;
}

/* Runs a piece of work after the queued work of its lane. */
static osla_err run_now(fake_lanes *q, const device_work *w)
{
  const fake_entry e = {.work = *w};
  const osla_err queued = osli_fake_lanes_wait(q, osli_fake_lanes_mark(q, w->lane));
  lock(q);
  const osla_err err = run_entry(q, &e);
  unlock(q);
  return queued == OSLA_OK ? err : queued;
}

/* Copies the lists or pivots of an entry's work, because the caller may change them before the work
 * runs. Returns false if there is not enough memory. */
static bool copy_lists(fake_entry *e)
{
  device_work *w = &e->work;
  const bool swaps = w->kind == DEVICE_LASWP;
  const size_t bytes = (size_t)(swaps ? w->k : w->n_lists) * sizeof *e->lists;
  if (bytes == 0) return true;
  e->lists = malloc(bytes);
  if (!e->lists) return false;
  memcpy(e->lists, swaps ? w->pivots : w->lists, bytes);
  if (swaps)
    w->pivots = e->lists;
  else
    w->lists = e->lists;
  return true;
}

/* If there is not enough memory for the queue, the work runs at once instead of failing, because a
 * collective call that has begun could not return this error on all ranks. */
osla_err osli_fake_lanes_submit(fake_lanes *q, const device_work *w)
{
  if (q->early || w->info) return run_now(q, w);
  fake_entry e = {.work = *w};
  if (w->vertices) e.vertices = *w->vertices;
  if (copy_lists(&e) && add_entry(q, w->lane, e)) return OSLA_OK;
  free(e.lists);
  return run_now(q, w);
}

uint64_t osli_fake_lanes_mark(fake_lanes *q, device_lane lane)
{
  const fake_lane *l = &q->lane[lane];
  lock(q);
  const uint64_t number = l->done + l->is_running + l->n_entries;
  unlock(q);
  return mark_of(number, lane);
}

osla_err osli_fake_lanes_wait(fake_lanes *q, uint64_t mark)
{
  lock(q);
  osla_err err = run_lane(q, mark);
  if (err == OSLA_OK && q->failed != OSLA_OK) err = osla_error_set(q->failed, "%s", q->text);
  q->failed = OSLA_OK;
  unlock(q);
  return err;
}

osla_err osli_fake_lanes_after(fake_lanes *q, device_lane lane, uint64_t mark)
{
  const bool done = mark < LANES || add_entry(q, lane, (fake_entry){.after = mark});
  return done ? OSLA_OK : osli_fake_lanes_wait(q, mark);
}

uint64_t osli_fake_lanes_queued(fake_lanes *q, device_lane lane)
{
  const fake_lane *l = &q->lane[lane];
  uint64_t queued = 0;
  lock(q);
  for (size_t i = 0; i < l->n_entries; i++)
    queued += l->entries[l->first + i].after == 0;
  unlock(q);
  return queued;
}

void osli_fake_lanes_open(fake_lanes *q, device_state *device, fake_run *run, bool early)
{
  *q = (fake_lanes){.device = device, .run = run, .early = early};
  (void)pthread_mutex_init(&q->mutex, NULL);
  (void)pthread_cond_init(&q->new_signal, NULL);
}

void osli_fake_lanes_close(fake_lanes *q)
{
  lock(q);
  q->stops = true;
  (void)pthread_cond_signal(&q->new_signal);
  unlock(q);
  if (q->has_helper) (void)pthread_join(q->helper, NULL);
  (void)pthread_cond_destroy(&q->new_signal);
  (void)pthread_mutex_destroy(&q->mutex);
  for (int lane = 0; lane < LANES; lane++)
    free(q->lane[lane].entries);
}
