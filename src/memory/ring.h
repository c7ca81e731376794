/* Every message of one writer to one reader, in order (floor 1, private).
 *
 * R + 1 slots: R messages that were not received, and the one that the reader looks at. Messages
 * are numbered from 1, and number n goes to slot (n - 1) mod (R + 1). A slot's head holds its
 * number, which is stored last: so a short message and the word that tells of it share one line.
 * The reader tells which one it looks at; what came before that may be overwritten. Each word has
 * one writer, and those of the two sides have lines of their own. All of it begins as zeros.
 */
#ifndef OSLA_RING_H
#define OSLA_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { RING_LINE = 64 };

typedef struct ring {
  _Alignas(RING_LINE) _Atomic uint32_t closed; /* by the writer: no message comes after the last */
  _Alignas(RING_LINE) _Atomic uint64_t taken;  /* by the reader: it looks at this one */
  _Atomic uint32_t gone;                       /* by the reader: it looks at none any more */
} ring;

/* Before each message; as long as the alignment of messages. */
typedef struct ring_slot {
  _Atomic uint64_t number;
  uint64_t stamp;
} ring_slot;
_Static_assert(sizeof(ring_slot) == 16, "messages are aligned to 16");

/* The slot after this one, of `in_flight` + 1. */
static inline int ring_next(int place, int in_flight)
{
  return place == in_flight ? 0 : place + 1;
}

/* May the writer, which has sent so many, write the next one? */
static inline bool ring_has_room(ring *r, uint64_t sent, int in_flight)
{
  return sent - atomic_load_explicit(&r->taken, memory_order_acquire) < (uint64_t)in_flight;
}

static inline void ring_publish(ring_slot *slot, uint64_t number)
{
  atomic_store_explicit(&slot->number, number, memory_order_release);
}

/* Has this message come to its slot? */
static inline bool ring_holds(ring_slot *slot, uint64_t number)
{
  return atomic_load_explicit(&slot->number, memory_order_acquire) == number;
}

/* The reader looks at this one, and at none before it any more. */
static inline void ring_take(ring *r, uint64_t number)
{
  atomic_store_explicit(&r->taken, number, memory_order_release);
}

#endif
