/* Recording: start with clocks in step, events, stop. See osla_trace.h.
 *
 * Hosts have clocks of their own, which count from different moments. The lowest rank of each node
 * asks rank 0 for its time, some rounds one after the other; the answer is taken to have been given
 * in the middle between question and arrival, and the fastest round is believed, which errs by less
 * than half its time (F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3,
 * 1989).
 */
#include "src/transport/trace.h"
#include "osla_clock.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 12 };

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
};

const char *osla_trace_name(osla_trace_kind kind)
{
  return osli_trace_kinds[kind].name;
}
const char *osla_trace_unit(osla_trace_kind kind)
{
  return osli_trace_kinds[kind].unit;
}

/* --- start and stop --- */

static int leader_of(const osla_transport *t, int node)
{
  int rank = 0;
  while (osla_transport_node_of(t, rank) != node)
    rank++;
  return rank;
}

static osla_err answer(osla_transport *t, int rank)
{
  for (int round = 0; round < ROUNDS; round++) {
    double time;
    OSLA_CALL(osli_receive(t, rank, &time, sizeof time));
    time = osla_clock();
    OSLA_CALL(osli_send(t, rank, &time, sizeof time));
  }
  return OSLA_OK;
}

/* Rank 0's clock minus mine. Less than half a round is no difference that this can see: the clocks
 * are one, as those of two nodes that MPI keeps apart on one host. */
static osla_err ask(osla_transport *t, double *offset)
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
    if (t->rank == 0) err = answer(t, leader);
    if (t->rank == leader) err = ask(t, &mine);
  }
  if (err == OSLA_OK) err = osli_allgather(t, &mine, all, sizeof mine);
  if (err == OSLA_OK) *offset = all[leader_of(t, t->node)];
  free(all);
  return err;
}

static void clear(struct osla_trace *trace)
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
  clear(trace);
  OSLA_CALL(align_clocks(t, &trace->offset));
  trace->origin = osla_clock();
  OSLA_CALL(osla_bcast(t, &trace->origin, sizeof trace->origin, MPI_BYTE, 0));
  OSLA_CALL(osla_barrier(t)); /* last, so that the ranks go on together */
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
  (void)pthread_mutex_lock(&trace->mutex); /* who adds right now is done after this */
  trace->stop = osla_clock();
  (void)pthread_mutex_unlock(&trace->mutex);
}

osla_err osli_trace_finish(osla_transport *t)
{
  osla_trace_stop(t);
  return osla_agree(
    t,
    t->trace ? OSLA_OK : osla_error_set(OSLA_ERR_STATE, "no trace: osla_trace_start comes first"));
}

void osli_trace_free(osla_transport *t)
{
  if (!t->trace) return;
  clear(t->trace);
  (void)pthread_mutex_destroy(&t->trace->mutex);
  free(t->trace);
  t->trace = NULL;
}

/* --- events --- */

/* The caller's number among the threads that have recorded. Needs the mutex. */
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

void osla_trace_add_until(osla_transport *t, osla_trace_kind kind, double since, double until,
                          double amount)
{
  struct osla_trace *trace = atomic_load_explicit(&t->tracing, memory_order_acquire);
  if (!trace || since < 0) return;
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

void osla_trace_add(osla_transport *t, osla_trace_kind kind, double since, double amount)
{
  if (since < 0) return;
  osla_trace_add_until(t, kind, since, osla_clock(), amount);
}
