/* Sums up a trace: totals of each kind of event, and the overlap of communication with computation.
 */
#include "src/transport/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct span {
  double start, end;
} span;

static int compare_start(const void *a, const void *b)
{
  double x = ((const span *)a)->start, y = ((const span *)b)->start;
  return (x > y) - (x < y);
}

/* Length of the union of the spans. Sorts them. */
static double union_length(span *spans, int64_t count)
{
  double length = 0, reached = -HUGE_VAL;
  qsort(spans, (size_t)count, sizeof *spans, compare_start);
  for (int64_t i = 0; i < count; i++) {
    double from = spans[i].start > reached ? spans[i].start : reached;
    if (spans[i].end <= from) continue;
    length += spans[i].end - from;
    reached = spans[i].end;
  }
  return length;
}

/* Length of the union of all events whose role is at least `least`. spans: room for all events. */
static double union_length_of_role(const struct osla_trace *trace, trace_role least, span *spans)
{
  int64_t count = 0;
  for (int64_t i = 0; i < trace->count; i++) {
    const trace_event *event = trace_at(trace, i);
    if (osli_trace_kinds[event->kind].role >= least)
      spans[count++] = (span){event->start, event->end};
  }
  return union_length(spans, count);
}

/* Values that are summed over the ranks. Counts are doubles, which are exact below 2^53. */
typedef struct sums {
  double events[OSLA_TRACE_KINDS], seconds[OSLA_TRACE_KINDS], amount[OSLA_TRACE_KINDS];
  double in_flight, exposed, dropped;
} sums;

typedef struct maxima {
  double seconds[OSLA_TRACE_KINDS], span;
} maxima;

static osla_err sum_mine(const struct osla_trace *trace, sums *s, maxima *most)
{
  span *spans = malloc(((size_t)trace->count + 1) * sizeof *spans);
  OSLA_CHECK(spans, OSLA_ERR_MEM, "times of %" PRId64 " events", trace->count);
  for (int64_t i = 0; i < trace->count; i++) {
    const trace_event *event = trace_at(trace, i);
    s->events[event->kind]++;
    s->seconds[event->kind] += event->end - event->start;
    s->amount[event->kind] += event->amount;
  }
  s->in_flight = union_length_of_role(trace, TRACE_FLIGHT, spans);
  s->exposed = union_length_of_role(trace, TRACE_HELD, spans);
  s->dropped = (double)trace->dropped;
  memcpy(most->seconds, s->seconds, sizeof most->seconds);
  most->span = trace->stop - trace->start;
  free(spans);
  return OSLA_OK;
}

osla_err osla_trace_summarise(osla_transport *t, osla_trace_summary *out)
{
  sums s = {0};
  maxima most = {0};
  *out = (osla_trace_summary){0};
  OSLA_CALL(osli_trace_finish(t));
  OSLA_CALL(osla_agree(t, sum_mine(t->trace, &s, &most)));
  OSLA_CALL(osla_allreduce(t, &s, sizeof s / sizeof(double), MPI_DOUBLE, MPI_SUM));
  OSLA_CALL(osla_allreduce(t, &most, sizeof most / sizeof(double), MPI_DOUBLE, MPI_MAX));
  for (int kind = 0; kind < OSLA_TRACE_KINDS; kind++)
    out->kind[kind] = (osla_trace_total){(int64_t)s.events[kind], s.seconds[kind],
                                         most.seconds[kind], s.amount[kind]};
  out->seconds = most.span;
  out->in_flight = s.in_flight;
  out->exposed = s.exposed;
  out->overlap = s.in_flight > 0 ? 1 - s.exposed / s.in_flight : (double)NAN;
  out->dropped = (int64_t)s.dropped;
  return OSLA_OK;
}
