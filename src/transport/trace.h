/* The recorded trace of a rank (layer 0, internal); the public calls are in osla_trace.h. */
#ifndef OSLA_TRACE_INTERNAL_H
#define OSLA_TRACE_INTERNAL_H

#include "osla_trace.h"
#include "src/transport/transport_ops.h"

typedef struct trace_event {
  double start, /* time of the begin of the event, read from osla_clock on this rank, in s */
    end;        /* time of the end of the event, read from osla_clock on this rank, in s */
  double amount;
  int32_t kind;
  /* index of the thread that recorded the event; index 0 is the thread that started the trace */
  int32_t thread;
} trace_event;

/* Sizes of the event storage. Events are stored in pieces that never move, so adding an event
 * copies no earlier ones. */
enum {
  TRACE_PIECE = 1 << 14,
  TRACE_PIECES = OSLA_TRACE_MAX_EVENTS / TRACE_PIECE,
  /* greatest number of thread indices; all further threads share the last index */
  TRACE_THREADS = 64
};

struct osla_trace {
  pthread_mutex_t mutex; /* guards the members below while tracing is on */
  trace_event *piece[TRACE_PIECES];
  int64_t count, dropped;
  pthread_t thread[TRACE_THREADS];
  int n_threads;
  double start, /* time of the start of the trace; events that began earlier are not recorded */
    stop;       /* time of the end of the trace; both times are read from osla_clock on this rank */
  double offset; /* clock of rank 0 minus the clock of this rank, in s */
  double origin; /* time 0 of the trace on the clock of rank 0 */
};

/* How a kind of event counts in the overlap; see osla_trace_summary. */
typedef enum trace_role {
  TRACE_APART,  /* the event is not part of a transfer of this rank */
  TRACE_FLIGHT, /* a transfer is in flight and the rank is free */
  TRACE_HELD    /* a transfer is in flight and the rank is busy with this transfer */
} trace_role;

typedef struct trace_kind {
  const char *name, *category, *unit;
  trace_role role;
} trace_kind;

extern const trace_kind osli_trace_kinds[OSLA_TRACE_KINDS];

static inline const trace_event *trace_at(const struct osla_trace *trace, int64_t i)
{
  return &trace->piece[i / TRACE_PIECE][i % TRACE_PIECE];
}

/* Stops the trace. Collective. Errors, on all ranks together: STATE if no trace was started. */
osla_err osli_trace_finish(osla_transport *t);

/* Frees the trace of a transport. osla_transport_destroy calls this function. */
void osli_trace_free(osla_transport *t);

#endif
