/* Collectives and messages that sleep while they wait: MPI's nonblocking calls with the library's
 * wait. A blocking call would spin: of four ranks on two cores, two that wait in MPI_Barrier double
 * the time of the two that compute. */
#include "src/transport/transport_ops.h"

#include <stdlib.h>

typedef struct posted {
  osla_transport *t;
  MPI_Request request;
  int code;
} posted;

static bool request_done(void *arg)
{
  posted *p = arg;
  int flag = 0;
  (void)pthread_mutex_lock(&p->t->mutex);
  p->code = MPI_Test(&p->request, &flag, MPI_STATUS_IGNORE);
  (void)pthread_mutex_unlock(&p->t->mutex);
  return flag || p->code != MPI_SUCCESS;
}

static int post_collective(const osla_collective *c, MPI_Comm comm, MPI_Request *request)
{
  switch (c->kind) {
    case OSLA_DO_BARRIER: return MPI_Ibarrier(comm, request);
    case OSLA_DO_ALLREDUCE:
      return MPI_Iallreduce(MPI_IN_PLACE, c->recv, c->count, c->type, c->op, comm, request);
    case OSLA_DO_BCAST: return MPI_Ibcast(c->recv, c->count, c->type, c->root, comm, request);
    case OSLA_DO_ALLTOALL:
      return MPI_Ialltoall(c->send, c->count, c->type, c->recv, c->count, c->type, comm, request);
    case OSLA_DO_ALLGATHER:
      return MPI_Iallgather(c->send, c->count, c->type, c->recv, c->count, c->type, comm, request);
  }
  return MPI_ERR_ARG;
}

osla_err osli_mpi_collective(osla_transport *t, const osla_collective *what)
{
  static const char *const names[] = {"MPI_Ibarrier", "MPI_Iallreduce", "MPI_Ibcast",
                                      "MPI_Ialltoall", "MPI_Iallgather"};
  posted p = {.t = t, .request = MPI_REQUEST_NULL};
  (void)pthread_mutex_lock(&t->mutex);
  p.code = post_collective(what, t->comm, &p.request);
  (void)pthread_mutex_unlock(&t->mutex);
  if (p.code == MPI_SUCCESS) osli_wait_until(t, request_done, &p, NULL);
  return p.code == MPI_SUCCESS ? OSLA_OK : osla_error_set_mpi(p.code, names[what->kind]);
}

osla_err osli_mpi_message(osla_transport *t, const osla_message *m)
{
  posted p = {.t = t, .request = MPI_REQUEST_NULL};
  (void)pthread_mutex_lock(&t->mutex);
  p.code = m->is_sent ? MPI_Isend(m->buffer, m->bytes, MPI_BYTE, m->other, 0, t->comm, &p.request)
                      : MPI_Irecv(m->buffer, m->bytes, MPI_BYTE, m->other, 0, t->comm, &p.request);
  (void)pthread_mutex_unlock(&t->mutex);
  if (p.code == MPI_SUCCESS) osli_wait_until(t, request_done, &p, NULL);
  if (p.code == MPI_SUCCESS) return OSLA_OK;
  return osla_error_set_mpi(p.code, m->is_sent ? "MPI_Isend" : "MPI_Irecv");
}

/* ---- exchanges of letters ---- */

/* Letters travel by MPI messages with the algorithm NBX (exchange.h). Each turn of a wait advances
 * the exchange as far as possible. */

/* Tags depend on the index of the exchange, because a rank may already send in the next exchange.
 * No rank can be two exchanges ahead of another one. FIRST_TAG + TAGS is below 32767, which every
 * MPI supports. */
enum { FIRST_TAG = 64, TAGS = 16384 };

typedef struct exchange_state {
  osla_transport *t;
  const osla_sparse *x;
  int tag;
  int next; /* index of the next letter to send */
  /* number of letters that have arrived, including letters lost for lack of memory */
  int n_received;
  int code;              /* MPI error code of the exchange; MPI_SUCCESS if no call has failed */
  osla_err memory_error; /* OSLA_OK unless memory for a letter was lacking */
  bool in_barrier, is_over;
  int window; /* largest number of concurrent sends */
  MPI_Request *sending, barrier;
} exchange_state;

static int receive_all(exchange_state *p)
{
  unsigned char letter[OSLA_MOST_LETTER];
  for (;;) {
    int flag = 0;
    MPI_Message message;
    MPI_Status status;
    int code = MPI_Improbe(MPI_ANY_SOURCE, p->tag, p->t->comm, &flag, &message, &status);
    if (code != MPI_SUCCESS || !flag) return code;
    code = MPI_Mrecv(letter, p->x->in->bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
    const osla_err err = osli_letters_add(p->x->in, status.MPI_SOURCE, letter);
    if (p->memory_error == OSLA_OK) p->memory_error = err;
    p->n_received++;
  }
}

/* Starts sends of letters while requests are free. Sets *all_taken to true if the receivers have
 * received all letters of this rank. */
static int start_sends(exchange_state *p, bool *all_taken)
{
  const osla_letters *out = p->x->out;
  *all_taken = true;
  for (int i = 0; i < p->window; i++) {
    int done = 1;
    if (p->sending[i] != MPI_REQUEST_NULL) {
      int code = MPI_Test(&p->sending[i], &done, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) return code;
    }
    while (done && p->next < out->n && osli_letter_rank(out, p->next) == p->t->rank)
      p->next++;
    if (done && p->next < out->n) {
      int code = MPI_Issend(osli_letter(out, p->next), out->bytes, MPI_BYTE,
                            osli_letter_rank(out, p->next), p->tag, p->t->comm, &p->sending[i]);
      if (code != MPI_SUCCESS) return code;
      p->next++;
      done = 0;
    }
    *all_taken &= done;
  }
  return MPI_SUCCESS;
}

static int advance_exchange(exchange_state *p)
{
  bool all_taken = true;
  int code = receive_all(p), flag = 0;
  if (code == MPI_SUCCESS && !p->in_barrier) code = start_sends(p, &all_taken);
  if (code != MPI_SUCCESS || !all_taken) return code;
  if (p->x->expected >= 0) {
    p->is_over = p->n_received >= p->x->expected;
    return code;
  }
  if (!p->in_barrier) code = MPI_Ibarrier(p->t->comm, &p->barrier);
  p->in_barrier = true;
  if (code == MPI_SUCCESS) code = MPI_Test(&p->barrier, &flag, MPI_STATUS_IGNORE);
  p->is_over = flag;
  return code;
}

static bool is_over(void *arg)
{
  exchange_state *p = arg;
  (void)pthread_mutex_lock(&p->t->mutex);
  p->code = advance_exchange(p);
  (void)pthread_mutex_unlock(&p->t->mutex);
  return p->is_over || p->code != MPI_SUCCESS;
}

/* Exchanges the letters. If memory for the requests of all letters is lacking, sends one letter at
 * a time. An MPI error ends all ranks, because MPI may still read letters of the caller, and other
 * ranks wait for letters. */
osla_err osli_mpi_exchange(osla_transport *t, const osla_sparse *x)
{
  const int n = x->out->n;
  MPI_Request one, *all = n > 1 ? malloc((size_t)n * sizeof *all) : NULL;
  exchange_state p = {.t = t, .x = x, .tag = FIRST_TAG + (int)(x->number % TAGS)};
  p.window = all ? n : 1;
  p.sending = all ? all : &one;
  p.barrier = MPI_REQUEST_NULL;
  for (int i = 0; i < p.window; i++)
    p.sending[i] = MPI_REQUEST_NULL;
  osli_wait_until(t, is_over, &p, NULL);
  if (p.code != MPI_SUCCESS)
    osla_transport_abort(t, osla_error_set_mpi(p.code, "an exchange of letters"));
  free(all);
  return p.memory_error == OSLA_OK ? OSLA_OK
                                   : osla_error_set(p.memory_error, "no memory for letters");
}
