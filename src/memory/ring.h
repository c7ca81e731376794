/* All messages of a writer to a reader, in order (layer 1, internal).
 *
 * The ring has R + 1 slots: up to R unreceived messages, and the one that the reader reads.
 * Messages are numbered from 1; message n goes to slot (n - 1) mod (R + 1). The head of a slot
 * holds the number of its message and is stored last, so a short message and its number share one
 * cache line. The reader publishes the number of the message that it reads; earlier ones may be
 * overwritten. Each word has one writer, and the words of the two sides lie in separate cache
 * lines. All memory begins as zeros. */
#ifndef OSLA_RING_H
#define OSLA_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { RING_LINE = 64 };

typedef struct ring {
  /* set by the writer when it has written its last message */
  _Alignas(RING_LINE) _Atomic uint32_t closed;
  /* Set by the reader: number of the message that it is reading. */
  _Alignas(RING_LINE) _Atomic uint64_t taken;
  _Atomic uint32_t gone; /* set by the reader when it will read no more messages */
} ring;

/* Head of a slot. Its size is the alignment of messages. */
typedef struct ring_slot {
  _Atomic uint64_t number;
  uint64_t stamp;
} ring_slot;
_Static_assert(sizeof(ring_slot) == 16, "messages are aligned to 16");

/* Index of the slot that follows slot `place` in a ring of in_flight + 1 slots. */
static inline int ring_next(int place, int in_flight)
{
  return place == in_flight ? 0 : place + 1;
}

/* May a writer that has sent `sent` messages write the next one? */
static inline bool ring_has_room(ring *r, uint64_t sent, int in_flight)
{
  return sent - atomic_load_explicit(&r->taken, memory_order_acquire) < (uint64_t)in_flight;
}

static inline void ring_publish(ring_slot *slot, uint64_t number)
{
  atomic_store_explicit(&slot->number, number, memory_order_release);
}

/* Has the message with this number been written to the slot? */
static inline bool ring_holds(ring_slot *slot, uint64_t number)
{
  return atomic_load_explicit(&slot->number, memory_order_acquire) == number;
}

/* Publishes that the reader reads message `number`, and no earlier one any more. */
static inline void ring_acknowledge(ring *r, uint64_t number)
{
  atomic_store_explicit(&r->taken, number, memory_order_release);
}

#endif
