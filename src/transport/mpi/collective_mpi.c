/* Collectives and messages that sleep while they wait: MPI's nonblocking calls with the library's
 * wait. A blocking call would spin: of four ranks on two cores, two that wait in MPI_Barrier double
 * the time of the two that compute. */
#include "src/transport/transport_ops.h"

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
