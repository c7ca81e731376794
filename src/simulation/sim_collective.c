/* Collectives of simulated ranks. The last rank to arrive executes the operation for all, in the
 * order of ranks. The operation ends on all ranks after the time that the usual algorithms take at
 * the host's bandwidth (Thakur, Rabenseifner, Gropp, Optimization of collective communication
 * operations in MPICH, 2005). The model ignores other transfers on the links. */
#include "src/simulation/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double seconds_of(const sim_job *job, const osla_collective *c, size_t bytes)
{
  double start = job->machine.latency + job->machine.overhead, each = 1 / job->machine.bandwidth;
  double rounds = ceil(log2(job->size)), size = job->size, n = (double)bytes, pairs, relays;
  if (job->size == 1) return 0;
  switch (c->kind) {
    case OSLA_DO_BARRIER: return rounds * start;
    case OSLA_DO_ALLREDUCE: return 2 * rounds * start + 2 * n * each;
    case OSLA_DO_BCAST: return rounds * start + 2 * n * each;
    case OSLA_DO_ALLTOALL:
      pairs = start + (size - 1) * (job->machine.overhead + n * each);
      relays = rounds * (start + size / 2 * n * each); /* Bruck's algorithm, better for few bytes */
      return pairs < relays ? pairs : relays;
    case OSLA_DO_ALLGATHER: return rounds * start + (size - 1) * n * each;
  }
  return 0;
}

static osla_err reduce(sim_job *job, size_t bytes)
{
  const osla_collective *all = job->collective.arguments;
  void *sum = malloc(bytes + 1);
  OSLA_CHECK(sum, OSLA_ERR_MEM, "%zu bytes to reduce", bytes);
  memcpy(sum, all[job->size - 1].recv, bytes);
  for (int rank = job->size - 2; rank >= 0; rank--)
    (void)MPI_Reduce_local(all[rank].recv, sum, all[0].count, all[0].type, all[0].op);
  for (int rank = 0; rank < job->size; rank++)
    memcpy(all[rank].recv, sum, bytes);
  free(sum);
  return OSLA_OK;
}

static osla_err execute(sim_job *job, size_t bytes)
{
  const osla_collective *all = job->collective.arguments;
  switch (all[0].kind) {
    case OSLA_DO_BARRIER: break;
    case OSLA_DO_ALLREDUCE: return reduce(job, bytes);
    case OSLA_DO_BCAST:
      for (int to = 0; to < job->size; to++)
        if (to != all[0].root) memcpy(all[to].recv, all[all[0].root].recv, bytes);
      break;
    case OSLA_DO_ALLTOALL:
      for (int to = 0; to < job->size; to++)
        for (int from = 0; from < job->size; from++)
          memcpy((unsigned char *)all[to].recv + (size_t)from * bytes,
                 (const unsigned char *)all[from].send + (size_t)to * bytes, bytes);
      break;
    case OSLA_DO_ALLGATHER:
      for (int to = 0; to < job->size; to++)
        for (int from = 0; from < job->size; from++)
          memcpy((unsigned char *)all[to].recv + (size_t)from * bytes, all[from].send, bytes);
      break;
  }
  return OSLA_OK;
}

typedef struct collective_end {
  const sim_collective_state *state;
  uint64_t number;
} collective_end;

static bool is_over(void *arg)
{
  const collective_end *end = arg;
  return end->state->number >= end->number;
}

osla_err osli_sim_collective(osla_transport *t, const osla_collective *what)
{
  sim_job *job = sim_job_of(t);
  sim_collective_state *m = &job->collective;
  MPI_Aint low, extent;
  OSLA_MPI(MPI_Type_get_extent(what->type, &low, &extent));
  size_t bytes = (size_t)what->count * (size_t)extent;
  osli_sim_sync_clock();
  collective_end end = {m, m->number + 1};
  m->arguments[t->rank] = *what;
  if (++m->arrived == job->size) {
    m->arrived = 0;
    m->err = execute(job, bytes);
    m->end_time = simgrid_get_clock() + seconds_of(job, what, bytes);
    m->number++;
    for (int rank = 0; rank < job->size; rank++)
      osli_sim_resume(&job->rank[rank]);
  } else {
    osli_wait_until(t, is_over, &end, NULL);
  }
  /* m->err is valid, because the next collective operation cannot end without this rank */
  osla_err err = m->err;
  osli_sim_advance_clock(m->end_time - simgrid_get_clock());
  osli_sim_sync_clock(); /* callers may call MPI next, which reads the simulator's clock */
  return err == OSLA_OK ? OSLA_OK : osla_error_set(err, "no memory for a collective operation");
}

static sim_pending_message *find_match(sim_job *job, const sim_pending_message *own_message)
{
  for (sim_pending_message *x = job->messages; x; x = x->next)
    if (x->from == own_message->from && x->to == own_message->to &&
        x->is_sent != own_message->is_sent)
      return x;
  return NULL;
}

static void append(sim_job *job, sim_pending_message *message)
{
  sim_pending_message **at = &job->messages;
  while (*at)
    at = &(*at)->next;
  *at = message;
}

static void unlink_message(sim_job *job, const sim_pending_message *message)
{
  sim_pending_message **at = &job->messages;
  while (*at != message)
    at = &(*at)->next;
  *at = message->next;
}

typedef struct arrival {
  sim_rank *rank[2]; /* ranks that wait for the message */
  bool *done[2];
} arrival;

static void arrive(void *arg)
{
  arrival *a = arg;
  for (int i = 0; i < 2; i++) {
    *a->done[i] = true;
    osli_sim_resume(a->rank[i]);
  }
  free(a);
}

static bool has_arrived(void *arg)
{
  const bool *done = arg;
  return *done;
}

/* The rank that calls later (sender or receiver) starts the transfer. */
osla_err osli_sim_message(osla_transport *t, const osla_message *m)
{
  sim_job *job = sim_job_of(t);
  osli_sim_sync_clock();
  sim_pending_message own_message = {.from = m->is_sent ? t->rank : m->other,
                                     .to = m->is_sent ? m->other : t->rank,
                                     .bytes = m->bytes,
                                     .is_sent = m->is_sent,
                                     .buffer = m->buffer};
  sim_pending_message *other_message = find_match(job, &own_message);
  if (!other_message) {
    append(job, &own_message);
  } else {
    arrival *a = malloc(sizeof *a);
    OSLA_CHECK(a, OSLA_ERR_MEM, "a message");
    unlink_message(job, other_message);
    const sim_pending_message *from = m->is_sent ? &own_message : other_message,
                              *to = m->is_sent ? other_message : &own_message;
    memcpy(to->buffer, from->buffer, (size_t)(from->bytes < to->bytes ? from->bytes : to->bytes));
    *a = (arrival){{sim_self(t), &job->rank[m->other]}, {&own_message.done, &other_message->done}};
    osli_sim_transfer(job->rank[own_message.from].host, job->rank[own_message.to].host,
                      (size_t)m->bytes, 0, arrive, a);
  }
  osli_wait_until(t, has_arrived, &own_message.done, NULL);
  return OSLA_OK;
}
