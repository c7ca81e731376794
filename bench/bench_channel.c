/* osla-bench channel: messages between ranks 0 and 1 over channels. This file has the cases, the
 * implementation by OSLA and the check. See bench_channel.h.
 *
 * In every case and implementation the sender fills the whole message with values of the round, and
 * the receiver sums all of it. Without these accesses an implementation that reads messages in
 * place would move no data, and a rate in bytes would be meaningless.
 *
 *    pingpong   channels of mode LATEST in both directions; each rank waits for the next stamp. A
 *      message in one direction is one operation
 *    halo       a channel of mode LATEST from rank 0 to rank 1. Rank 1 answers by an empty message
 *      after it has read the data; then rank 0 fills the next message. Filling, sending, reading
 *      and the answer follow one another, so that no implementation overlaps them
 *    stream     a channel of mode EVERY from rank 0 to rank 1, with up to CHANNEL_IN_FLIGHT
 *      messages in flight. The time ends when rank 1 has read the last message */
#include "bench/bench_channel.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_IMPLS = 3 };

/* ---- osla ---- */

/* Between nodes, messages are staged in memory that osla_memory_available does not count.
 * Therefore this function checks whether the memory suffices. */
static osla_err setup_osla(void *data)
{
  channel_data *d = data;
  const int rank = d->job->rank;
  const int64_t bytes = (int64_t)(d->count * sizeof(uint64_t));
  const bool answers = d->which == CHANNEL_PINGPONG;
  const osla_channel_end end = {.peer = 1 - rank,
                                .kind = d->which == CHANNEL_STREAM ? OSLA_CHANNEL_EVERY
                                                                   : OSLA_CHANNEL_LATEST,
                                .in_flight = CHANNEL_IN_FLIGHT,
                                .send_bytes = rank == 0 || answers ? bytes : 0,
                                .recv_bytes = rank == 1 || answers ? bytes : 0};
  const bool staged = d->in_pair && !osla_transport_same_node(d->job->transport, 1 - rank);
  OSLA_CALL(
    bench_memory_check(d->job, staged ? (CHANNEL_IN_FLIGHT + 2) * (uint64_t)end.send_bytes : 0));
  return osla_channels_create(d->job->transport, d->in_pair, &end, &d->set);
}

static void teardown_osla(void *data)
{
  osla_channels_destroy(&((channel_data *)data)->set);
}

static osla_err send(channel_data *d)
{
  uint64_t *message = osla_channel_buffer(d->set, 0);
  OSLA_CHECK(message, OSLA_ERR_MPI, "round %llu", (unsigned long long)d->round);
  channel_write(d, message, d->round);
  return osla_channel_send(d->set, 0, d->round);
}

/* Receives the next message. It is an error if the stamp is not the number of the round. */
static osla_err receive_stamp(channel_data *d, const void **message)
{
  static const int first = 0;
  uint64_t stamp;
  osla_channels_wait(d->set, 1, &first, true);
  OSLA_CALL(osla_channel_recv(d->set, first, message, &stamp));
  if (stamp != d->round) d->is_wrong = true;
  return OSLA_OK;
}

static osla_err receive(channel_data *d)
{
  const void *message;
  OSLA_CALL(receive_stamp(d, &message));
  channel_read(d, message, d->round);
  return OSLA_OK;
}

static osla_err halo(channel_data *d)
{
  const void *answer;
  if (d->job->rank == 0) {
    OSLA_CALL(send(d));
    return receive_stamp(d, &answer);
  }
  OSLA_CALL(receive(d));
  return osla_channel_send(d->set, 0, d->round);
}

static osla_err rounds(channel_data *d)
{
  for (int i = 0; i < d->operations; i++) {
    const bool sends = d->job->rank == (d->which == CHANNEL_PINGPONG ? i % 2 : 0);
    d->round++;
    OSLA_CALL(d->which == CHANNEL_HALO ? halo(d) : sends ? send(d) : receive(d));
  }
  return OSLA_OK;
}

/* Ranks outside the pair return at once, and wait in the reduction that follows the run. */
static osla_err run_osla(void *data)
{
  channel_data *d = data;
  const osla_err err = d->in_pair ? rounds(d) : OSLA_OK;
  /* An error ends the job, because the partner would wait for ever. */
  if (err != OSLA_OK) osla_transport_abort(d->job->transport, err);
  return OSLA_OK;
}

/* ---- common to all implementations ---- */

static osla_err prepare(void *data)
{
  ((channel_data *)data)->is_wrong = false;
  return OSLA_OK;
}

static osla_err check(void *data, double *residual)
{
  const channel_data *d = data;
  double wrong = d->is_wrong ? INFINITY : 0;
  OSLA_CALL(osla_allreduce(d->job->transport, &wrong, 1, MPI_DOUBLE, MPI_MAX));
  *residual = wrong;
  return OSLA_OK;
}

static bench_impl implementation(const char *name, osla_err (*setup)(void *data),
                                 osla_err (*run)(void *data), void (*teardown)(void *data),
                                 channel_data *d)
{
  return (bench_impl){.name = name,
                      .setup = setup,
                      .prepare = prepare,
                      .run = run,
                      .check = check,
                      .teardown = teardown,
                      .data = d};
}

/* Number of messages in a run: an even number, such that the run takes about 10 ms. */
static int operations_of(channel_case which, int64_t bytes, bool same_node)
{
  const int64_t most = same_node ? 10000 : 1000, least = 4 * CHANNEL_IN_FLIGHT;
  const int64_t fit = ((int64_t)(which == CHANNEL_STREAM ? 128 : 32) << 20) / bytes / 2 * 2;
  return (int)(fit > most ? most : fit < least ? least : fit);
}

static osla_err run_case(bench_job *job, channel_case which, int64_t bytes)
{
  static const char *const names[] = {"channel/pingpong", "channel/halo", "channel/stream"};
  static const bench_figure in_flight = {"in_flight", CHANNEL_IN_FLIGHT, false};
  const bool same_node =
    osla_transport_node_of(job->transport, 0) == osla_transport_node_of(job->transport, 1);
  channel_data data[MOST_IMPLS];
  bench_impl impls[MOST_IMPLS];
  int k = 0;
  for (int i = 0; i < MOST_IMPLS; i++)
    data[i] = (channel_data){.job = job,
                             .which = which,
                             .count = (size_t)bytes / sizeof(uint64_t),
                             .operations = operations_of(which, bytes, same_node),
                             .in_pair = job->rank < 2};
  impls[k++] = implementation("osla", setup_osla, run_osla, teardown_osla, &data[0]);
  if (which != CHANNEL_HALO)
    impls[k++] =
      implementation("mpi", channel_mpi_setup, channel_mpi_run, channel_mpi_teardown, &data[1]);
  else if (same_node) {
    impls[k++] = implementation("memcpy", channel_shared_setup, channel_memcpy_run,
                                channel_shared_teardown, &data[1]);
    impls[k++] = implementation("loop", channel_shared_setup, channel_loop_run,
                                channel_shared_teardown, &data[2]);
  }
  const bench_case c = {.kernel = names[which],
                        .precision = "",
                        .n = bytes,
                        .parameters = &in_flight,
                        .n_parameters = 1,
                        .impls = impls,
                        .n_impls = k,
                        .work = (double)bytes,
                        .unit = which == CHANNEL_STREAM ? BENCH_GBYTES : BENCH_MICROSECONDS,
                        .operations = data[0].operations};
  return bench_run_case(job, &c);
}

static osla_err run(bench_job *job, int64_t n)
{
  static const int64_t sizes[CHANNEL_CASE_COUNT][5] = {
    {8, 1024, 80000, 0}, {8, 1024, 80000, 1048576, 0}, {65536, 262144, 1048576, 4194304, 0}};
  const int64_t given[] = {n, 0};
  const unsigned cases = job->settings->cases;
  const bool last = job->last_size;
  for (int which = 0; which < CHANNEL_CASE_COUNT; which++) {
    const int64_t *bytes = n > 0 ? given : sizes[which];
    for (int i = 0; bytes[i] && cases >> which & 1; i++) {
      job->last_size = last && cases >> which == 1 && bytes[i + 1] == 0;
      OSLA_CALL(run_case(job, (channel_case)which, bytes[i]));
    }
  }
  return OSLA_OK;
}

const bench_kernel bench_channel = {
  .name = "channel",
  .summary = "messages over channels: latency, halos, streams",
  .about =
    "\nTimes messages of N bytes between ranks 0 and 1. Who sends fills all of a message, and who\n"
    "receives adds up all of it, in OSLA and in the references:\n"
    "  pingpong   LATEST to and fro; us one way\n"
    "  halo       LATEST, filled, sent, read, and answered; us of a round\n"
    "  stream     EVERY, up to 8 under way, in GB/s of what was read\n"
    "Beside it:\n"
    "  mpi        pingpong: MPI_Send and MPI_Recv; stream: persistent sends and receives, as many\n"
    "             under way\n"
    "  memcpy     halo on a node: by hand in shared memory, copied and then read\n"
    "  loop       the same, read where it lies: the limit\n"
    "Residual: 0, or inf when a sum or a stamp is wrong. Needs at least 2 ranks.\n",
  .references = "mpi,memcpy,loop",
  .after = "Example: mpiexec -n 2 osla-bench channel --case pingpong,halo --bytes 8,80000\n",
  .run = run,
  .pairs = true,
  .channel = true,
};
