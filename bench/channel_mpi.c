/* Reference implementation `mpi` of the kernel channel: ping-pong by MPI_Send and MPI_Recv; a
 * stream by persistent sends and receives, with as many messages in flight as OSLA has. The
 * messages use a separate communicator, since the transport receives every message of its
 * communicator. */
#include "bench/bench_channel.h"

#include <stdlib.h>

struct channel_mpi {
  MPI_Comm comm;
  /* room for one message, or in STREAM for all messages in flight */
  uint64_t *buffer;
  MPI_Request request[CHANNEL_IN_FLIGHT]; /* persistent requests of STREAM */
};

static int bytes_of(const channel_data *d)
{
  return (int)(d->count * sizeof(uint64_t));
}

static uint64_t *buffer_at(const channel_data *d, int k)
{
  return d->mpi->buffer + (size_t)k * d->count;
}

static osla_err make_requests(channel_data *d)
{
  struct channel_mpi *m = d->mpi;
  for (int k = 0; k < CHANNEL_IN_FLIGHT; k++) {
    if (d->job->rank == 0)
      OSLA_MPI(
        MPI_Send_init(buffer_at(d, k), bytes_of(d), MPI_BYTE, 1, 0, m->comm, &m->request[k]));
    else
      OSLA_MPI(
        MPI_Recv_init(buffer_at(d, k), bytes_of(d), MPI_BYTE, 0, 0, m->comm, &m->request[k]));
  }
  return OSLA_OK;
}

osla_err channel_mpi_setup(void *data)
{
  channel_data *d = data;
  const uint64_t room = d->which == CHANNEL_STREAM ? CHANNEL_IN_FLIGHT : 1;
  void *memory;
  OSLA_CALL(bench_alloc(d->job, sizeof *d->mpi, &memory));
  d->mpi = memory;
  d->mpi->comm = MPI_COMM_NULL;
  for (int k = 0; k < CHANNEL_IN_FLIGHT; k++)
    d->mpi->request[k] = MPI_REQUEST_NULL;
  OSLA_CALL(bench_alloc(d->job, d->in_pair ? room * d->count * sizeof(uint64_t) : 0, &memory));
  d->mpi->buffer = memory;
  OSLA_MPI(MPI_Comm_dup(osla_transport_comm(d->job->transport), &d->mpi->comm));
  return d->which == CHANNEL_STREAM && d->in_pair ? make_requests(d) : OSLA_OK;
}

void channel_mpi_teardown(void *data)
{
  channel_data *d = data;
  struct channel_mpi *m = d->mpi;
  if (!m) return;
  for (int k = 0; k < CHANNEL_IN_FLIGHT; k++)
    if (m->request[k] != MPI_REQUEST_NULL) (void)MPI_Request_free(&m->request[k]);
  if (m->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&m->comm);
  free(m->buffer);
  free(m);
  d->mpi = NULL;
}

static osla_err send(channel_data *d, int peer)
{
  channel_write(d, d->mpi->buffer, d->round);
  OSLA_MPI(MPI_Send(d->mpi->buffer, bytes_of(d), MPI_BYTE, peer, 0, d->mpi->comm));
  return OSLA_OK;
}

static osla_err receive(channel_data *d, int peer)
{
  OSLA_MPI(
    MPI_Recv(d->mpi->buffer, bytes_of(d), MPI_BYTE, peer, 0, d->mpi->comm, MPI_STATUS_IGNORE));
  channel_read(d, d->mpi->buffer, d->round);
  return OSLA_OK;
}

static osla_err ping_pong(channel_data *d)
{
  for (int i = 0; i < d->operations; i++) {
    d->round++;
    OSLA_CALL(i % 2 == d->job->rank ? send(d, 1 - d->job->rank) : receive(d, 1 - d->job->rank));
  }
  return OSLA_OK;
}

static osla_err send_stream(channel_data *d)
{
  struct channel_mpi *m = d->mpi;
  for (int i = 0; i < d->operations; i++) {
    const int k = i % CHANNEL_IN_FLIGHT;
    /* returns at once if this request was not started before */
    OSLA_MPI(MPI_Wait(&m->request[k], MPI_STATUS_IGNORE));
    channel_write(d, buffer_at(d, k), ++d->round);
    OSLA_MPI(MPI_Start(&m->request[k]));
  }
  for (int k = 0; k < CHANNEL_IN_FLIGHT; k++)
    OSLA_MPI(MPI_Wait(&m->request[k], MPI_STATUS_IGNORE));
  return OSLA_OK;
}

/* Receives a stream. All requests are used, because there are more messages than
 * CHANNEL_IN_FLIGHT. */
static osla_err receive_stream(channel_data *d)
{
  struct channel_mpi *m = d->mpi;
  OSLA_MPI(MPI_Startall(CHANNEL_IN_FLIGHT, m->request));
  for (int i = 0; i < d->operations; i++) {
    const int k = i % CHANNEL_IN_FLIGHT;
    OSLA_MPI(MPI_Wait(&m->request[k], MPI_STATUS_IGNORE));
    channel_read(d, buffer_at(d, k), ++d->round);
    if (i + CHANNEL_IN_FLIGHT < d->operations) OSLA_MPI(MPI_Start(&m->request[k]));
  }
  return OSLA_OK;
}

osla_err channel_mpi_run(void *data)
{
  channel_data *d = data;
  if (!d->in_pair) return OSLA_OK;
  if (d->which == CHANNEL_PINGPONG) return ping_pong(d);
  return d->job->rank == 0 ? send_stream(d) : receive_stream(d);
}
