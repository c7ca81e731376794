/* Starts and stops traces, and measures the offsets of clocks.
 *
 * Hosts have clocks of their own, with different zeros. The lowest rank of each node asks rank 0
 * for its time in several rounds. It assumes that rank 0 answered in the middle between question
 * and arrival, and uses the fastest round. The error is less than half of that round's time (F.
 * Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989). */
#include "src/transport/trace.h"
#include "osla_clock.h"

#include <math.h>
#include <stdlib.h>

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
  OSLA_CALL(osla_barrier(t)); /* last, so that all ranks continue together */
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
  (void)pthread_mutex_lock(&trace->mutex); /* waits for a thread that is adding an event */
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
