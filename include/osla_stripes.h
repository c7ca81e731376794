/* A striped lock between the ranks of a node (floor 1).
 *
 * 64 stripes in one word: a holder takes all the stripes it needs in a single atomic step, so
 * nobody ever holds some while waiting for others, and no cycle of waiters can arise. Lies in a
 * segment, zero-initialised.
 *
 * Nobody starves. Who has waited for 5 ms draws a ticket, and the oldest ticket claims its stripes:
 * from then on nobody else takes one of them, except, once each, threads whose call had begun
 * before. So it has them at its first try after those and the present holders have given them back,
 * and each waiter is passed by what came in 5 ms, by the older tickets, and by those. A claim
 * lasts 1 ms from the claimant's latest try, twice as long whenever that was too short: so who
 * tries every d ms has at most log2(d) + 1 tries in vain, and who never comes back, because it was
 * stopped, keeps nobody waiting for ever. A claim only lets others wait: what excludes them is the
 * one word.
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
  uint64_t claimant, claimed, until; /* a ticket, 0: none; its stripes; end of the claim in us */
  uint64_t tickets;                  /* drawn so far */
} osla_stripes;

/* Takes all stripes of the mask, or none. Local, thread-safe. */
OSLA_API bool osla_stripes_try(osla_stripes *lock, uint64_t mask);

/* The same for who comes back with the same mask and patience until it is true, and so has its
 * turn. {0}: for the first time, and again after it was true. Local. */
typedef struct osla_stripes_patience {
  double since; /* the first try */
  uint64_t ticket, span, until;
} osla_stripes_patience;
OSLA_API bool osla_stripes_try_again(osla_stripes *lock, uint64_t mask,
                                     osla_stripes_patience *patience);

/* Waits until all stripes of the mask are taken: sleeps, and makes progress. Local. */
OSLA_API void osla_stripes_take(osla_transport *transport, osla_stripes *lock, uint64_t mask);

/* Gives the stripes back; what the holder stored is visible to the next one. Local. */
OSLA_API void osla_stripes_release(osla_transport *transport, osla_stripes *lock, uint64_t mask);

#ifdef __cplusplus
}
#endif
#endif
