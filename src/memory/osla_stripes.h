/* A striped lock between the ranks of a node (floor 1).
 *
 * 64 stripes in one word: a holder takes all the stripes it needs in a single atomic step, so
 * nobody ever holds some while waiting for others, and no cycle of waiters can arise. Lies in a
 * segment, zero-initialised.
 */
#ifndef OSLA_STRIPES_H
#define OSLA_STRIPES_H

#include "osla_transport.h"
#include <stdalign.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_stripes {
  alignas(64) uint64_t held;
  uint32_t bell[2];
} osla_stripes;

/* Takes all stripes of the mask, or none. Local, thread-safe. */
bool osla_stripes_try(osla_stripes *lock, uint64_t mask);

/* Waits until all stripes of the mask are taken: sleeps, and makes progress. Local. */
void osla_stripes_take(osla_transport *transport, osla_stripes *lock, uint64_t mask);

/* Gives the stripes back; what the holder stored is visible to the next one. Local. */
void osla_stripes_release(osla_stripes *lock, uint64_t mask);

#ifdef __cplusplus
}
#endif
#endif
