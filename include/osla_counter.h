/* A shared counter, which distributes work over all ranks without a master (layer 1).
 *
 * A step is a one-sided fetch-and-add on a word of rank 0. On one node rank 0 does nothing for a
 * step; with several nodes rank 0 serves the steps of other ranks in its progress steps.
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

/* Makes a counter with value 0. Collective. Errors: as osla_segment_create. */
OSLA_API osla_err osla_counter_create(osla_transport *transport, osla_counter **out);

/* Destroys a counter. Collective. Accepts NULL and nulls the handle. */
OSLA_API void osla_counter_destroy(osla_counter **counter);

/* Adds `step` and returns the value before the addition. Local, thread-safe. Errors: MPI. */
OSLA_API osla_err osla_counter_next(osla_counter *counter, int64_t step, int64_t *before);

#ifdef __cplusplus
}
#endif
#endif
