/* Wall-clock time (floor 0). */
#ifndef OSLA_CLOCK_H
#define OSLA_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds since an arbitrary fixed point, monotonic, nanosecond resolution. Local. */
double osla_clock(void);

#ifdef __cplusplus
}
#endif
#endif
