/* Wall-clock time (layer 0).
 *
 * Threads: any thread may call these, at any time.
 * Part: stable (osla.h).
 */
#ifndef OSLA_CLOCK_H
#define OSLA_CLOCK_H

#include "osla_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds since an arbitrary fixed point, monotonic, nanosecond resolution. Local. */
OSLA_API double osla_clock(void);

/* Synchronises the rank's simulated time with the other ranks. Call it before loading or storing a
 * word that other ranks access by load and store, unless a call of the transport does so in
 * between. Without effect on a real machine. Local. */
OSLA_API void osla_clock_settle(void);

#ifdef __cplusplus
}
#endif
#endif
