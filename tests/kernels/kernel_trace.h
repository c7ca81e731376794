/* What the trace tells about the loop of a factorisation. */
#ifndef KERNEL_TRACE_H
#define KERNEL_TRACE_H

#include "osla_transport.h"

/* Of the calling rank: the loop lasts from the start of its first panel, product, triangular solve
 * or exchange of rows to the end of the last one. */
typedef struct loop_trace {
  int64_t work;            /* such events; 0: this rank had nothing to do, and no loop */
  int64_t inside, outside; /* collective operations that overlap the loop, and others */
} loop_trace;

/* Of what was recorded since the last osla_trace_start; stops it. Local. */
loop_trace loop_trace_of(osla_transport *t);

/* There is a loop on some rank, collectives outside it, and none inside on any. Collective. */
bool loop_trace_expect(osla_transport *t, const char *what);

#endif
