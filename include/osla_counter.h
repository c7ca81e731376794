/* A shared counter: hands out work to all ranks without a master (floor 1).
 *
 * One-sided fetch-and-add on a word of rank 0's segment; rank 0 takes no part in it on one node,
 * and serves it in its progress steps otherwise.
 *
 * Threads: as osla_transport.h says of collective calls; any thread may make local ones.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_COUNTER_H
#define OSLA_COUNTER_H

#include "osla_api.h"
#include "osla_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_counter osla_counter;

/* Makes a counter that stands at 0. Collective. Errors: as osla_segment_create. */
OSLA_API osla_err osla_counter_create(osla_transport *transport, osla_counter **out);

/* Collective. Accepts NULL and nulls the handle. */
OSLA_API void osla_counter_destroy(osla_counter **counter);

/* Adds `step` and returns the value before. Local, thread-safe. Errors: MPI. */
OSLA_API osla_err osla_counter_next(osla_counter *counter, int64_t step, int64_t *before);

#ifdef __cplusplus
}
#endif
#endif
