/* Starts and stops traces, measures the offsets of clocks, and sums up a trace.
 *
 * Hosts have clocks of their own, with different zeros. The lowest rank of each node asks rank 0
 * for its time in several rounds. It assumes that rank 0 answered in the middle between question
 * and arrival, and uses the fastest round. The error is less than half of that round's time (F.
 * Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989). */
#include "src/transport/trace.h"
#include "osla_clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12 };

static int leader_of(const osla_transport *t, int node)
{
  int rank = 0;
  while (osla_transport_node_of(t, rank) != node)
    rank++;
  return rank;
}

static osla_err answer_clock_requests(osla_transport *t, int rank)
{
  for (int round = 0; round < ROUNDS; round++) {
    double time;
    OSLA_CALL(osli_receive(t, rank, &time, sizeof time));
    time = osla_clock();
    OSLA_CALL(osli_send(t, rank, &time, sizeof time));
  }
  return OSLA_OK;
}

/* Measures the clock of rank 0 minus the clock of this rank. An offset below half of the shortest
 * round trip cannot be distinguished from 0 and counts as 0, for example between two nodes on one
 * host. */
static osla_err measure_clock_offset(osla_transport *t, double *offset)
{
  double shortest = HUGE_VAL;
  for (int round = 0; round < ROUNDS; round++) {
    double time = 0, asked = osla_clock();
    OSLA_CALL(osli_send(t, 0, &time, sizeof time));
    OSLA_CALL(osli_receive(t, 0, &time, sizeof time));
    double arrived = osla_clock(), difference = time - (asked + arrived) / 2;
    if (arrived - asked >= shortest) continue;
    shortest = arrived - asked;
    *offset = fabs(difference) <= shortest / 2 ? 0 : difference;
  }
  return OSLA_OK;
}

static osla_err align_clocks(osla_transport *t, double *offset)
{
  double mine = 0, *all = calloc((size_t)t->size, sizeof *all);
  osla_err err = osla_agree(
    t, all ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "clock offsets of %d ranks", t->size));
  for (int node = 0; node < t->n_nodes && err == OSLA_OK; node++) {
    int leader = leader_of(t, node);
    if (leader == 0) continue;
    if (t->rank == 0) err = answer_clock_requests(t, leader);
    if (t->rank == leader) err = measure_clock_offset(t, &mine);
  }
  if (err == OSLA_OK) err = osli_allgather(t, &mine, all, sizeof mine);
  if (err == OSLA_OK) *offset = all[leader_of(t, t->node)];
  free(all);
  return err;
}

static void clear_events(struct osla_trace *trace)
{
  (void)pthread_mutex_lock(&trace->mutex);
  for (int i = 0; i < TRACE_PIECES && trace->piece[i]; i++) {
    free(trace->piece[i]);
    trace->piece[i] = NULL;
  }
  trace->count = trace->dropped = 0;
  trace->thread[0] = pthread_self();
  trace->n_threads = 1;
  (void)pthread_mutex_unlock(&trace->mutex);
}

osla_err osla_trace_start(osla_transport *t)
{
  osla_err err = OSLA_OK;
  atomic_store(&t->tracing, NULL);
  if (!t->trace) {
    t->trace = calloc(1, sizeof *t->trace);
    if (t->trace)
      (void)pthread_mutex_init(&t->trace->mutex, NULL);
    else
      err = osla_error_set(OSLA_ERR_MEM, "trace object");
  }
  OSLA_CALL(osla_agree(t, err));
  struct osla_trace *trace = t->trace;
  clear_events(trace);
  OSLA_CALL(align_clocks(t, &trace->offset));
  trace->origin = osla_clock();
  OSLA_CALL(osla_bcast(t, &trace->origin, sizeof trace->origin, MPI_BYTE, 0));
  OSLA_CALL(osla_barrier(t)); /* the last step of the start, so that all ranks continue together */
  (void)pthread_mutex_lock(&trace->mutex);
  trace->start = trace->stop = osla_clock();
  (void)pthread_mutex_unlock(&trace->mutex);
  atomic_store(&t->tracing, trace);
  return OSLA_OK;
}

void osla_trace_stop(osla_transport *t)
{
  struct osla_trace *trace = atomic_exchange(&t->tracing, NULL);
  if (!trace) return;
  (void)pthread_mutex_lock(&trace->mutex); /* waits until no other thread is adding an event */
  trace->stop = osla_clock();
  (void)pthread_mutex_unlock(&trace->mutex);
}

osla_err osli_trace_finish(osla_transport *t)
{
  osla_trace_stop(t);
  return osla_agree(
    t, t->trace ? OSLA_OK
                : osla_error_set(OSLA_ERR_STATE, "there is no trace: call osla_trace_start first"));
}

void osli_trace_free(osla_transport *t)
{
  if (!t->trace) return;
  clear_events(t->trace);
  (void)pthread_mutex_destroy(&t->trace->mutex);
  free(t->trace);
  t->trace = NULL;
}

/* ---- totals of each kind of event, and the overlap of communication with computation ---- */

typedef struct span {
  double start, end;
} span;

static int compare_start(const void *a, const void *b)
{
  double x = ((const span *)a)->start, y = ((const span *)b)->start;
  return (x > y) - (x < y);
}

/* Returns the total time that is covered by events whose role (trace_role: how they count in the
 * overlap) is at least `least`. spans: scratch memory for all events. */
static double union_length(const struct osla_trace *trace, trace_role least, span *spans)
{
  int64_t count = 0;
  double length = 0, reached = -HUGE_VAL;
  for (int64_t i = 0; i < trace->count; i++) {
    const trace_event *event = trace_at(trace, i);
    if (osli_trace_kinds[event->kind].role >= least)
      spans[count++] = (span){event->start, event->end};
  }
  qsort(spans, (size_t)count, sizeof *spans, compare_start);
  for (int64_t i = 0; i < count; i++) {
    double from = spans[i].start > reached ? spans[i].start : reached;
    if (spans[i].end <= from) continue;
    length += spans[i].end - from;
    reached = spans[i].end;
  }
  return length;
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
  s->in_flight = union_length(trace, TRACE_FLIGHT, spans);
  s->exposed = union_length(trace, TRACE_HELD, spans);
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
