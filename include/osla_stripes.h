/* A striped lock between the ranks of a node (layer 1).
 *
 * One word holds 64 stripes. A holder acquires all its stripes in one atomic step, so no thread
 * holds stripes while it waits for others, and deadlock is impossible. A lock lies in a segment and
 * begins as zeros.
 *
 * The lock is free of starvation. A thread that has waited for 5 ms draws a ticket, and the oldest
 * ticket claims its stripes: no other thread acquires one of them any more. Only threads whose call
 * had already begun may still acquire them, each thread once. So the claimant acquires its stripes
 * at its first try after these threads and the present holders have released them. A claim ends 1
 * ms after the claimant's latest try; the time doubles whenever it was too short. So a thread that
 * tries every d ms fails at most log2(d) + 1 times, and a claimant that was stopped does not block
 * others for ever. A claim only makes others wait; mutual exclusion depends on the word of stripes
 * alone.
 *
 * Threads: any thread may call these, at any time.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_STRIPES_H
#define OSLA_STRIPES_H

#include "osla_api.h"
#include "osla_transport.h"
#include <stdalign.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_stripes {
  alignas(64) uint64_t held;
  uint32_t bell[2];
  uint64_t claimant, claimed,
    /* the present claim: ticket of the claimant (0: no claim), stripes that it claims, and end of
       the claim in microseconds */
    until;
  uint64_t tickets; /* number of tickets that threads have drawn so far */
} osla_stripes;

/* Acquires all stripes of the mask, or none; returns whether it did. Local, thread-safe. */
OSLA_API bool osla_stripes_try(osla_stripes *lock, uint64_t mask);

/* State of a thread that calls osla_stripes_try_again, with the same mask, until it returns true.
 * Such a thread cannot starve. The state begins as {0}. Local. */
typedef struct osla_stripes_patience {
  double since; /* time of the thread's first try, in s */
  uint64_t ticket, span, until;
} osla_stripes_patience;
OSLA_API bool osla_stripes_try_again(osla_stripes *lock, uint64_t mask,
                                     osla_stripes_patience *patience);

/* Waits until this thread has acquired all stripes of the mask. Sleeps, and makes progress.
 * Local. */
OSLA_API void osla_stripes_take(osla_transport *transport, osla_stripes *lock, uint64_t mask);

/* Releases the stripes. The next holder sees what this holder stored. Local. */
OSLA_API void osla_stripes_release(osla_transport *transport, osla_stripes *lock, uint64_t mask);

#ifdef __cplusplus
}
#endif
#endif
