/* Helpers that evaluate the trace of a factorisation's loop. */
#ifndef KERNEL_TRACE_H
#define KERNEL_TRACE_H

#include "osla_transport.h"

/* Events of the calling rank. The loop of a factorisation begins with its first panel, product,
 * triangular solve or exchange of rows, and ends with the last event of these kinds. */
typedef struct loop_trace {
  /* number of panels, products, triangular solves and exchanges of rows; 0 if this rank had no
   * work */
  int64_t work;
  /* number of collective operations that overlap the loop; number of collective operations outside
   * the loop */
  int64_t inside, outside;
} loop_trace;

/* Evaluates the events recorded since the last osla_trace_start, and stops the trace. Local. */
loop_trace loop_trace_of(osla_transport *t);

/* Asserts that at least one rank has a loop, that collective operations occur outside the loop, and
 * that none occurs inside the loop on any rank. Collective. */
bool loop_trace_expect(osla_transport *t, const char *what);

#endif
