/* Reference implementations of the case halo on one node, written by hand in shared memory, with
 * OSLA's functions for waiting. `memcpy` copies the message to private memory and reads the copy,
 * as a program does that has the halo in its own array. `loop` reads the message in place, which
 * is the limit. */
#include "bench/bench_channel.h"
#include "osla_segment.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

/* Counters at the start of rank 1's memory, each in a cache line of its own. The message follows
 * the counters. */
typedef struct words {
  _Alignas(LINE) _Atomic uint64_t filled; /* number of the round whose message is in memory */
  _Alignas(LINE) _Atomic uint64_t read;   /* number of the round whose message was read */
} words;

struct channel_shared {
  osla_segment *segment;
  words *words;
  uint64_t *message, *copy;
};

osla_err channel_shared_setup(void *data)
{
  channel_data *d = data;
  const size_t bytes = d->count * sizeof(uint64_t);
  const bool reads = d->job->rank == 1;
  void *memory;
  OSLA_CALL(bench_alloc(d->job, sizeof *d->shared, &memory));
  d->shared = memory;
  OSLA_CALL(bench_alloc(d->job, reads ? bytes : 0, &memory));
  d->shared->copy = memory;
  OSLA_CALL(osla_segment_create(d->job->transport, reads ? sizeof(words) + bytes : 0, 0,
                                &d->shared->segment));
  if (!d->in_pair) return OSLA_OK;
  d->shared->words = osla_segment_peer(d->shared->segment, 1);
  d->shared->message = (uint64_t *)(void *)(d->shared->words + 1);
  return OSLA_OK;
}

void channel_shared_teardown(void *data)
{
  channel_data *d = data;
  if (!d->shared) return;
  osla_segment_destroy(&d->shared->segment);
  free(d->shared->copy);
  free(d->shared);
  d->shared = NULL;
}

static bool has_message(void *arg)
{
  const channel_data *d = arg;
  return atomic_load_explicit(&d->shared->words->filled, memory_order_acquire) == d->round;
}

static bool was_read(void *arg)
{
  const channel_data *d = arg;
  return atomic_load_explicit(&d->shared->words->read, memory_order_acquire) == d->round;
}

static void notify(const channel_data *d, _Atomic uint64_t *word)
{
  atomic_store_explicit(word, d->round, memory_order_release);
  osla_segment_wake(d->shared->segment, 1 - d->job->rank);
}

static void run(channel_data *d, bool copies)
{
  const struct channel_shared *s = d->shared;
  for (int i = 0; i < d->operations && d->in_pair; i++) {
    d->round++;
    if (d->job->rank == 0) {
      channel_write(d, s->message, d->round);
      notify(d, &s->words->filled);
      osla_segment_wait(s->segment, was_read, d);
    } else {
      osla_segment_wait(s->segment, has_message, d);
      if (copies) memcpy(s->copy, s->message, d->count * sizeof *s->copy);
      channel_read(d, copies ? s->copy : s->message, d->round);
      notify(d, &s->words->read);
    }
  }
}

osla_err channel_loop_run(void *data)
{
  run(data, false);
  return OSLA_OK;
}

osla_err channel_memcpy_run(void *data)
{
  run(data, true);
  return OSLA_OK;
}
