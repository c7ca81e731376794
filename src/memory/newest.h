/* The newest of many messages between two that never wait (floor 1, private).
 *
 * Three slots: the writer has one, the reader has one, and the third lies between them. Who has
 * finished exchanges its own for that one. So the writer always has where to write, the reader may
 * look at its slot for as long as it likes, and both read and write plainly: an exchange hands over
 * all that its side did before. In zeroed memory slot 0 lies between, the writer has WRITER_FIRST
 * and the reader READER_FIRST.
 *
 * (Four-slot mechanisms: Simpson, IEE Proc. E 137, 1990. With an exchange three are enough.)
 */
#ifndef OSLA_NEWEST_H
#define OSLA_NEWEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { NEWEST_SLOTS = 3, NEWEST_WRITER_FIRST = 1, NEWEST_READER_FIRST = 2, NEWEST_FRESH = 4 };

typedef struct newest {
  _Atomic uint32_t between; /* a slot, and whether the writer put it there */
  _Atomic uint32_t closed;
} newest;

/* Gives the slot away, and returns the writer's next one. */
static inline uint32_t newest_publish(newest *n, uint32_t slot)
{
  return atomic_exchange_explicit(&n->between, slot | NEWEST_FRESH, memory_order_acq_rel) &
         (NEWEST_FRESH - 1);
}

static inline bool newest_is_fresh(newest *n)
{
  return atomic_load_explicit(&n->between, memory_order_relaxed) & NEWEST_FRESH;
}

/* Gives the reader's slot back and returns the one with the newest message; only where it is
 * fresh. */
static inline uint32_t newest_take(newest *n, uint32_t slot)
{
  return atomic_exchange_explicit(&n->between, slot, memory_order_acq_rel) & (NEWEST_FRESH - 1);
}

#endif
