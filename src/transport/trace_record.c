/* Defines the kinds of events of a trace, and records single events. */
#include "osla_clock.h"
#include "src/transport/trace.h"

#include <stdlib.h>

const trace_kind osli_trace_kinds[OSLA_TRACE_KINDS] = {
  [OSLA_TRACE_GET] = {"get", "transfer", "bytes", TRACE_FLIGHT},
  [OSLA_TRACE_PUT] = {"put", "transfer", "bytes", TRACE_FLIGHT},
  [OSLA_TRACE_ISSUE] = {"issue", "transfer", "bytes", TRACE_HELD},
  [OSLA_TRACE_WAIT] = {"wait", "transfer", "", TRACE_HELD},
  [OSLA_TRACE_COPY] = {"copy", "transfer", "bytes", TRACE_HELD},
  [OSLA_TRACE_FLUSH] = {"flush", "transfer", "", TRACE_HELD},
  [OSLA_TRACE_NOTIFY] = {"notify", "transfer", "bytes", TRACE_HELD},
  [OSLA_TRACE_FORWARD] = {"forward", "transfer", "bytes", TRACE_HELD},
  [OSLA_TRACE_NOTIFY_WAIT] = {"notify_wait", "wait", "", TRACE_APART},
  [OSLA_TRACE_FETCH_ADD] = {"fetch_add", "wait", "", TRACE_APART},
  [OSLA_TRACE_LOCK] = {"lock", "wait", "", TRACE_APART},
  [OSLA_TRACE_BARRIER] = {"barrier", "collective", "", TRACE_APART},
  [OSLA_TRACE_ALLREDUCE] = {"allreduce", "collective", "bytes", TRACE_APART},
  [OSLA_TRACE_BCAST] = {"bcast", "collective", "bytes", TRACE_APART},
  [OSLA_TRACE_ALLTOALL] = {"alltoall", "collective", "bytes", TRACE_APART},
  [OSLA_TRACE_ALLGATHER] = {"allgather", "collective", "bytes", TRACE_APART},
  [OSLA_TRACE_PACK] = {"pack", "compute", "bytes", TRACE_APART},
  [OSLA_TRACE_GEMM] = {"gemm", "compute", "flops", TRACE_APART},
  [OSLA_TRACE_SYRK] = {"syrk", "compute", "flops", TRACE_APART},
  [OSLA_TRACE_TRSM] = {"trsm", "compute", "flops", TRACE_APART},
  [OSLA_TRACE_ROWS] = {"rows", "compute", "elements", TRACE_APART},
  [OSLA_TRACE_PANEL] = {"panel", "compute", "flops", TRACE_APART},
  [OSLA_TRACE_UPDATE] = {"update", "compute", "elements", TRACE_APART},
  [OSLA_TRACE_SWEEP] = {"sweep", "compute", "elements", TRACE_APART},
};

const char *osla_trace_name(osla_trace_kind kind)
{
  return osli_trace_kinds[kind].name;
}
const char *osla_trace_unit(osla_trace_kind kind)
{
  return osli_trace_kinds[kind].unit;
}

/* Index of the calling thread among the recording threads. The caller holds the mutex. */
static int thread_number(struct osla_trace *trace)
{
  pthread_t self = pthread_self();
  for (int i = 0; i < trace->n_threads; i++)
    if (pthread_equal(trace->thread[i], self)) return i;
  if (trace->n_threads == TRACE_THREADS) return TRACE_THREADS - 1;
  trace->thread[trace->n_threads] = self;
  return trace->n_threads++;
}

static trace_event *next_event(struct osla_trace *trace)
{
  if (trace->count == OSLA_TRACE_MAX_EVENTS) return NULL;
  trace_event **piece = &trace->piece[trace->count / TRACE_PIECE];
  if (!*piece) *piece = malloc(TRACE_PIECE * sizeof **piece);
  return *piece ? *piece + trace->count % TRACE_PIECE : NULL;
}

double osla_trace_now(const osla_transport *t)
{
  return atomic_load_explicit(&t->tracing, memory_order_relaxed) ? osla_clock() : -1.0;
}

void osla_trace_add(osla_transport *t, osla_trace_kind kind, double since, double amount)
{
  struct osla_trace *trace =
    since < 0 ? NULL : atomic_load_explicit(&t->tracing, memory_order_acquire);
  if (!trace) return;
  const double until = osla_clock();
  (void)pthread_mutex_lock(&trace->mutex);
  if (since >= trace->start && atomic_load(&t->tracing)) {
    trace_event *event = next_event(trace);
    if (event) {
      *event = (trace_event){since, until, amount, (int32_t)kind, thread_number(trace)};
      trace->count++;
    } else {
      trace->dropped++;
    }
  }
  (void)pthread_mutex_unlock(&trace->mutex);
}
