/* Wall-clock time (floor 0).
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

/* Where time is simulated, others now see this rank where its clock is: to be said before a word
 * that other ranks read by loads is stored or read, where no call of the transport does it. On a
 * real machine nothing. Local. */
OSLA_API void osla_clock_settle(void);

#ifdef __cplusplus
}
#endif
#endif
