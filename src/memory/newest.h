/* The newest message of a writer to a reader, where neither waits (layer 1, internal).
 *
 * There are three slots: one belongs to the writer, one to the reader, and one lies between them. A
 * side that has finished with its slot exchanges it for the slot between. So the writer can always
 * write, and the reader may keep its slot for any time. Slots are accessed by plain loads and
 * stores, because the exchange orders them. In zeroed memory slot 0 lies between, and the sides
 * begin with NEWEST_WRITER_FIRST and NEWEST_READER_FIRST.
 *
 * Simpson, IEE Proc. E 137, 1990, describes four-slot mechanisms without an atomic exchange. */
#ifndef OSLA_NEWEST_H
#define OSLA_NEWEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { NEWEST_SLOTS = 3, NEWEST_WRITER_FIRST = 1, NEWEST_READER_FIRST = 2, NEWEST_FRESH = 4 };

typedef struct newest {
  /* index of the slot that neither side holds, plus NEWEST_FRESH if the writer put it there */
  _Atomic uint32_t between;
  _Atomic uint32_t closed;
} newest;

/* Publishes the writer's slot, and returns the slot that the writer fills next. */
static inline uint32_t newest_publish(newest *n, uint32_t slot)
{
  return atomic_exchange_explicit(&n->between, slot | NEWEST_FRESH, memory_order_acq_rel) &
         (NEWEST_FRESH - 1);
}

static inline bool newest_is_fresh(newest *n)
{
  return atomic_load_explicit(&n->between, memory_order_relaxed) & NEWEST_FRESH;
}

/* Returns the slot with the newest message to the reader, and takes the reader's slot in exchange.
 * Call it only if newest_is_fresh returns true. */
static inline uint32_t newest_acquire(newest *n, uint32_t slot)
{
  return atomic_exchange_explicit(&n->between, slot, memory_order_acq_rel) & (NEWEST_FRESH - 1);
}

#endif
