/* Evaluation of traces of the loop of a factorisation. */
#ifndef KERNEL_TRACE_H
#define KERNEL_TRACE_H

#include "osla_transport.h"

/* Events of the calling rank. The loop begins with its first panel, product, triangular solve or
 * exchange of rows, and ends with the last of these events. */
typedef struct loop_trace {
  int64_t work;            /* number of these events; 0: this rank had no work and no loop */
  int64_t inside, outside; /* collective operations that overlap the loop, and those that do not */
} loop_trace;

/* Evaluates what was recorded since the last osla_trace_start, and stops the trace. Local. */
loop_trace loop_trace_of(osla_transport *t);

/* Asserts that some rank has a loop, that there are collective operations outside it, and none
 * inside it on any rank. Collective. */
bool loop_trace_expect(osla_transport *t, const char *what);

#endif
