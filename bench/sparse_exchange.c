/* Exchanges of ghosts, as a program without a library does them: by persistent sends and receives,
 * or by MPI_Ineighbor_alltoallv. Both pack by hand, and complete after the local part of the
 * product. Sums use MPI_Allreduce. "loop" exchanges nothing. See bench_sparse.h. */
#include "bench/bench_sparse.h"

#include <stdlib.h>

typedef struct exchange {
  MPI_Comm comm;
  double *out; /* values packed for sending */
  MPI_Request *request;
  /* MPI_STATUSES_IGNORE, read from memory, because gcc 12 mistakes the constant for an array
   * without elements */
  MPI_Status *ignored;
  int n_requests;
} exchange;

static osla_err open_exchange(sparse_data *d, int n_requests)
{
  const sparse_problem *p = d->problem;
  void *memory;
  OSLA_CALL(bench_alloc(p->job, sizeof(exchange), &d->own));
  exchange *e = d->own;
  e->comm = MPI_COMM_NULL;
  e->ignored = MPI_STATUSES_IGNORE;
  OSLA_CALL(
    bench_alloc(p->job, (uint64_t)p->asked.start[p->asked.n_peers] * sizeof *e->out, &memory));
  e->out = memory;
  OSLA_CALL(bench_alloc(p->job, (uint64_t)n_requests * sizeof *e->request, &memory));
  e->request = memory;
  return OSLA_OK;
}

static void close_exchange(sparse_data *d)
{
  exchange *e = d->own;
  if (!e) return;
  for (int i = 0; i < e->n_requests; i++)
    (void)MPI_Request_free(&e->request[i]);
  if (e->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&e->comm);
  free(e->out);
  free(e->request);
  free(e);
  d->own = NULL;
}

static void pack(const sparse_data *d, int from, int to, const double *x)
{
  const forest_list *asked = &d->problem->asked;
  double *out = ((exchange *)d->own)->out;
  for (int k = from; k < to; k++)
    out[k] = x[asked->index[k]];
}

static osla_err sum_mpi(double *value)
{
  OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  return OSLA_OK;
}

/* ---- mpi ---- */

static osla_err create_mpi(sparse_data *d)
{
  const forest_list *needed = &d->problem->needed, *asked = &d->problem->asked;
  OSLA_CALL(open_exchange(d, needed->n_peers + asked->n_peers));
  exchange *e = d->own;
  OSLA_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &e->comm));
  for (int p = 0; p < needed->n_peers; p++)
    OSLA_MPI(MPI_Recv_init(d->ghosts + needed->start[p], needed->count[p], MPI_DOUBLE,
                           needed->peer[p], 0, e->comm, &e->request[e->n_requests++]));
  for (int p = 0; p < asked->n_peers; p++)
    OSLA_MPI(MPI_Send_init(e->out + asked->start[p], asked->count[p], MPI_DOUBLE, asked->peer[p], 0,
                           e->comm, &e->request[e->n_requests++]));
  return OSLA_OK;
}

static osla_err begin_mpi(sparse_data *d, const double *x)
{
  const forest_list *needed = &d->problem->needed, *asked = &d->problem->asked;
  exchange *e = d->own;
  OSLA_MPI(MPI_Startall(needed->n_peers, e->request));
  for (int p = 0; p < asked->n_peers; p++) {
    pack(d, asked->start[p], asked->start[p + 1], x);
    OSLA_MPI(MPI_Start(&e->request[needed->n_peers + p]));
  }
  return OSLA_OK;
}

static osla_err end_mpi(sparse_data *d)
{
  exchange *e = d->own;
  OSLA_MPI(MPI_Waitall(e->n_requests, e->request, e->ignored));
  return OSLA_OK;
}

const sparse_method sparse_mpi = {.create = create_mpi,
                                  .begin = begin_mpi,
                                  .end = end_mpi,
                                  .sum = sum_mpi,
                                  .destroy = close_exchange};

/* ---- neighbor ---- */

static osla_err create_neighbor(sparse_data *d)
{
  const forest_list *needed = &d->problem->needed, *asked = &d->problem->asked;
  /* Open MPI defines MPI_UNWEIGHTED as the address 2, and gcc 12 mistakes this address for an
   * array without elements. */
  const int *volatile unweighted = MPI_UNWEIGHTED;
  OSLA_CALL(open_exchange(d, 1));
  OSLA_MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, needed->n_peers, needed->peer, unweighted,
                                          asked->n_peers, asked->peer, unweighted, MPI_INFO_NULL, 0,
                                          &((exchange *)d->own)->comm));
  return OSLA_OK;
}

static osla_err begin_neighbor(sparse_data *d, const double *x)
{
  const forest_list *needed = &d->problem->needed, *asked = &d->problem->asked;
  exchange *e = d->own;
  pack(d, 0, asked->start[asked->n_peers], x);
  OSLA_MPI(MPI_Ineighbor_alltoallv(e->out, asked->count, asked->start, MPI_DOUBLE, d->ghosts,
                                   needed->count, needed->start, MPI_DOUBLE, e->comm, e->request));
  return OSLA_OK;
}

static osla_err end_neighbor(sparse_data *d)
{
  OSLA_MPI(MPI_Wait(((exchange *)d->own)->request, MPI_STATUS_IGNORE));
  return OSLA_OK;
}

const sparse_method sparse_neighbor = {.create = create_neighbor,
                                       .begin = begin_neighbor,
                                       .end = end_neighbor,
                                       .sum = sum_mpi,
                                       .destroy = close_exchange};

/* ---- loop: the ghosts keep their first values, which are 0 in CG ---- */

static osla_err nothing(sparse_data *d)
{
  (void)d;
  return OSLA_OK;
}

static osla_err begin_nothing(sparse_data *d, const double *x)
{
  (void)d, (void)x;
  return OSLA_OK;
}

static osla_err sum_nothing(double *value)
{
  (void)value;
  return OSLA_OK;
}

static void leave(sparse_data *d)
{
  (void)d;
}

const sparse_method sparse_loop = {
  .create = nothing, .begin = begin_nothing, .end = nothing, .sum = sum_nothing, .destroy = leave};
