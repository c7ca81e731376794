/* What a rank has recorded (floor 0, internal). See osla_trace.h. */
#ifndef OSLA_TRACE_INTERNAL_H
#define OSLA_TRACE_INTERNAL_H

#include "osla_trace.h"
#include "src/transport/transport_ops.h"

typedef struct trace_event {
  double start, end; /* osla_clock of its rank */
  double amount;
  int32_t kind;
  int32_t thread; /* 0: the one that started the trace */
} trace_event;

/* Events lie in pieces that never move, so that adding one never copies the others. */
enum {
  TRACE_PIECE = 1 << 14,
  TRACE_PIECES = OSLA_TRACE_MAX_EVENTS / TRACE_PIECE,
  TRACE_THREADS = 64 /* further ones count as the last */
};

struct osla_trace {
  pthread_mutex_t mutex; /* guards all below while tracing is on */
  trace_event *piece[TRACE_PIECES];
  int64_t count, dropped;
  pthread_t thread[TRACE_THREADS];
  int n_threads;
  double start, stop; /* osla_clock of this rank; events begun before the start are not noted */
  double offset;      /* rank 0's clock minus mine */
  double origin;      /* time 0 of the trace, on rank 0's clock */
};

/* What a kind counts as; see osla_trace_summary. */
typedef enum trace_role {
  TRACE_APART,  /* no transfer of this rank */
  TRACE_FLIGHT, /* in flight, and the rank is free */
  TRACE_HELD    /* in flight, and the rank is held */
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

/* Stops; STATE when there never was a start. Every rank answers the same. */
osla_err osli_trace_finish(osla_transport *t);

void osli_trace_free(osla_transport *t); /* of a transport that is being destroyed */

#endif
