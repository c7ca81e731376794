/* Reference implementation `mpi`: Jacobi's method by two-sided messages, as in Bethune, Bull,
 * Dingle and Higham (Int. J. High Perf. Comput. Appl. 28(1), 2014, sections 3.1.1 to 3.1.3).
 *
 *    sync   MPI_Isend and MPI_Irecv of all halos, one MPI_Waitall
 *    async  up to R messages in flight to each neighbour, by MPI_Issend, which completes when
 *      the message is received. The requests form a circular buffer; a halo for which there is
 *      no free request is not sent; of several halos that arrived the newest is used
 *    racy   like async, with a single receive buffer for all R messages
 *
 * The reference swaps pointers, where the authors copy whole states, so that the comparison is
 * fair; the reference implementation `copying` (jacobi_copying.c) has the copies, and uses the
 * exchange of halos of this file. The number of sweeps is fixed; messages that are in flight at
 * the end are received. */
#include "bench/bench_jacobi.h"

#include <stdlib.h>

/* One direction of the exchange with one neighbour: R buffers and requests in a ring, of which
 * `used` are in use, starting at number `first`. */
typedef struct lane {
  double *buffer;
  MPI_Request *request;
  int first, used;
  /* numbers: doubles in a message. total: messages sent or received in this run. */
  int64_t numbers, total;
} lane;

struct jacobi_mpi {
  /* separate communicator, because the transport's communicator has other messages */
  MPI_Comm comm;
  int n, in_flight;
  lane *out, *in; /* [n] lanes to each neighbour (out) and from each neighbour (in) */
};

static osla_err make_lane(bench_job *job, lane *l, int64_t numbers, int buffers, int in_flight)
{
  void *memory;
  *l = (lane){.numbers = numbers};
  OSLA_CALL(bench_alloc(job, (uint64_t)buffers * (uint64_t)numbers * sizeof(double), &memory));
  l->buffer = memory;
  OSLA_CALL(bench_alloc(job, (uint64_t)in_flight * sizeof(MPI_Request), &memory));
  l->request = memory;
  for (int k = 0; k < in_flight; k++)
    l->request[k] = MPI_REQUEST_NULL;
  return OSLA_OK;
}

/* All ranks create the same number of lanes, because allocation is collective. A lane without a
 * neighbour is empty. */
osla_err jacobi_mpi_setup(void *data)
{
  enum { FACES = 6 };
  jacobi_data *d = data;
  bench_job *job = d->problem->job;
  const osla_fixed_point *p = &d->problem->p;
  const int r = d->mode == OSLA_ITERATE_SYNC ? 1 : job->settings->in_flight;
  void *memory;
  OSLA_CALL(bench_alloc(job, sizeof *d->mpi, &memory));
  d->mpi = memory;
  *d->mpi = (struct jacobi_mpi){.comm = MPI_COMM_NULL, .n = p->n_halos, .in_flight = r};
  OSLA_MPI(MPI_Comm_dup(osla_transport_comm(job->transport), &d->mpi->comm));
  OSLA_CALL(bench_alloc(job, FACES * sizeof(lane), &memory));
  d->mpi->out = memory;
  OSLA_CALL(bench_alloc(job, FACES * sizeof(lane), &memory));
  d->mpi->in = memory;
  for (int h = 0; h < FACES; h++) {
    const osla_halo *halo = h < p->n_halos ? &p->halos[h] : NULL;
    OSLA_CALL(make_lane(job, &d->mpi->out[h], halo ? halo->send : 0, r, r));
    OSLA_CALL(make_lane(job, &d->mpi->in[h], halo ? halo->recv : 0,
                        d->mode == OSLA_ITERATE_RACY ? 1 : r, r));
  }
  return OSLA_OK;
}

void jacobi_mpi_teardown(void *data)
{
  jacobi_data *d = data;
  if (!d->mpi) return;
  for (int h = 0; h < 6; h++) {
    if (d->mpi->out) {
      free(d->mpi->out[h].buffer);
      free(d->mpi->out[h].request);
    }
    if (d->mpi->in) {
      free(d->mpi->in[h].buffer);
      free(d->mpi->in[h].request);
    }
  }
  if (d->mpi->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&d->mpi->comm);
  free(d->mpi->out);
  free(d->mpi->in);
  free(d->mpi);
  d->mpi = NULL;
}

static MPI_Comm comm_of(const jacobi_data *d)
{
  return d->mpi->comm;
}

/* Buffer of request number k of a lane. */
static double *buffer_at(const jacobi_data *d, const lane *l, bool received, int k)
{
  return received && d->mode == OSLA_ITERATE_RACY ? l->buffer : l->buffer + k * l->numbers;
}

static osla_err post_receive(jacobi_data *d, int h)
{
  lane *l = &d->mpi->in[h];
  const osla_halo *halo = &d->problem->p.halos[h];
  const int k = (l->first + l->used++) % d->mpi->in_flight;
  OSLA_MPI(MPI_Irecv(buffer_at(d, l, true, k), (int)l->numbers, MPI_DOUBLE, halo->peer, halo->tag,
                     comm_of(d), &l->request[k]));
  return OSLA_OK;
}

static osla_err send_halo(jacobi_data *d, int h)
{
  lane *l = &d->mpi->out[h];
  const osla_fixed_point *p = &d->problem->p;
  const int k = (l->first + l->used++) % d->mpi->in_flight;
  p->pack(p->arg, h, d->x, buffer_at(d, l, false, k));
  l->total++;
  const double *message = buffer_at(d, l, false, k);
  const int n = (int)l->numbers, peer = p->halos[h].peer, tag = p->halos[h].tag;
  if (d->mode == OSLA_ITERATE_SYNC)
    OSLA_MPI(MPI_Isend(message, n, MPI_DOUBLE, peer, tag, comm_of(d), &l->request[k]));
  else
    OSLA_MPI(MPI_Issend(message, n, MPI_DOUBLE, peer, tag, comm_of(d), &l->request[k]));
  return OSLA_OK;
}

static osla_err step(jacobi_data *d, int64_t k)
{
  if (d->copying) return jacobi_copying_step(d, k);
  jacobi_sweep(d);
  return OSLA_OK;
}

static osla_err run_sync(jacobi_data *d)
{
  const osla_fixed_point *p = &d->problem->p;
  const bench_settings *s = d->problem->job->settings;
  for (int64_t k = 0; k < s->sweeps; k++) {
    MPI_Request all[12];
    MPI_Status statuses[12];
    int n = 0;
    for (int h = 0; h < p->n_halos && k % s->period == 0; h++) {
      d->mpi->in[h].first = d->mpi->in[h].used = d->mpi->out[h].first = d->mpi->out[h].used = 0;
      OSLA_CALL(post_receive(d, h));
      OSLA_CALL(send_halo(d, h));
      all[n++] = d->mpi->in[h].request[0];
      all[n++] = d->mpi->out[h].request[0];
    }
    OSLA_MPI(MPI_Waitall(n, all, statuses));
    for (int h = 0; h < p->n_halos; h++)
      p->unpack(p->arg, h, d->mpi->in[h].buffer, d->x);
    OSLA_CALL(step(d, k));
  }
  return OSLA_OK;
}

/* Completes requests in order, from the oldest on, until one is pending. *newest := buffer of the
 * last one that completed, or NULL. */
static osla_err complete_requests(const jacobi_data *d, lane *l, bool received,
                                  const double **newest)
{
  *newest = NULL;
  while (l->used > 0) {
    int done;
    OSLA_MPI(MPI_Test(&l->request[l->first], &done, MPI_STATUS_IGNORE));
    if (!done) break;
    *newest = buffer_at(d, l, received, l->first);
    l->first = (l->first + 1) % d->mpi->in_flight;
    l->used--;
    l->total += received;
  }
  return OSLA_OK;
}

static osla_err exchange_halo(jacobi_data *d, int h, bool sends)
{
  const osla_fixed_point *p = &d->problem->p;
  const double *newest;
  OSLA_CALL(complete_requests(d, &d->mpi->out[h], false, &newest));
  if (sends && d->mpi->out[h].used < d->mpi->in_flight) OSLA_CALL(send_halo(d, h));
  OSLA_CALL(complete_requests(d, &d->mpi->in[h], true, &newest));
  if (newest) p->unpack(p->arg, h, newest, d->x);
  if (newest && !d->copying) p->unpack(p->arg, h, newest, d->spare);
  while (d->mpi->in[h].used < d->mpi->in_flight)
    OSLA_CALL(post_receive(d, h));
  return OSLA_OK;
}

static osla_err wait_for_oldest(const jacobi_data *d, lane *l)
{
  OSLA_MPI(MPI_Wait(&l->request[l->first], MPI_STATUS_IGNORE));
  l->first = (l->first + 1) % d->mpi->in_flight;
  l->used--;
  return OSLA_OK;
}

/* Receives all messages that the neighbour has sent, also those for which no receive was posted
 * yet. For each receive that the neighbour still waits for, sends it an additional message. This
 * replaces MPI_Cancel, which few libraries support well. */
static osla_err drain_messages(jacobi_data *d, int h)
{
  enum { TAG = 1000 };
  lane *in = &d->mpi->in[h], *out = &d->mpi->out[h];
  const osla_halo *halo = &d->problem->p.halos[h];
  /* numbers of messages sent and of receives posted in this run */
  const int64_t mine[] = {out->total, in->total + in->used};
  int64_t theirs[2];
  OSLA_MPI(MPI_Sendrecv(mine, 2, MPI_INT64_T, halo->peer, TAG + halo->tag, theirs, 2, MPI_INT64_T,
                        halo->peer, TAG + halo->tag, comm_of(d), MPI_STATUS_IGNORE));
  for (int64_t begun = mine[1]; begun < theirs[0]; begun++) {
    OSLA_CALL(wait_for_oldest(d, in));
    OSLA_CALL(post_receive(d, h));
  }
  while (out->used > 0)
    OSLA_CALL(wait_for_oldest(d, out));
  for (int64_t sent = mine[0]; sent < theirs[1]; sent++)
    OSLA_MPI(
      MPI_Send(out->buffer, (int)out->numbers, MPI_DOUBLE, halo->peer, halo->tag, comm_of(d)));
  while (in->used > 0)
    OSLA_CALL(wait_for_oldest(d, in));
  return OSLA_OK;
}

static osla_err run_async(jacobi_data *d)
{
  const bench_settings *s = d->problem->job->settings;
  for (int h = 0; h < d->mpi->n; h++)
    d->mpi->in[h].total = d->mpi->out[h].total = 0;
  for (int64_t k = 0; k < s->sweeps; k++) {
    for (int h = 0; h < d->mpi->n; h++)
      OSLA_CALL(exchange_halo(d, h, k % s->period == 0));
    OSLA_CALL(step(d, k));
  }
  for (int h = 0; h < d->mpi->n; h++)
    OSLA_CALL(drain_messages(d, h));
  return d->copying ? jacobi_copying_end(d) : OSLA_OK;
}

osla_err jacobi_mpi_run(void *data)
{
  jacobi_data *d = data;
  return d->mode == OSLA_ITERATE_SYNC ? run_sync(d) : run_async(d);
}
