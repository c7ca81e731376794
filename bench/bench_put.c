/* osla-bench put: latency and bandwidth of put, get and put_notify between rank 0 and a partner,
 * which is a rank of rank 0's node, or a rank of another node. put, get: time until rank 0 knows
 * that the data have arrived. both: rank 0 and the partner get from each other at the same time,
 * as ranks of a product do. put_notify: half a round trip, hence the time until the other rank has
 * seen the data. A rank that starts no transfer waits in a call of the same library, because some
 * transfers need progress of their target. */
#include "config.h"

#include "bench/bench_reference.h"
#include "osla_segment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum put_operation { PUT, GET, BOTH, NOTIFY, N_OPERATIONS } put_operation;

typedef struct put_data {
  bench_job *job;
  put_operation operation;
  int partner; /* the rank that rank 0 exchanges data with */
  bool in_pair;
  size_t bytes;
  int operations;
  unsigned char
    *source, /* [bytes] private data to put; start of an allocation that includes `sink` */
    *sink;   /* [bytes] private memory for data that arrive */
  osla_segment *segment;
  reference_window window;
  /* value of the latest notification, the same on rank 0 and the partner */
  uint64_t osla_value, mpi_value;
} put_data;

static unsigned char pattern(size_t i)
{
  return (unsigned char)(i * 31 + i / 251 + 7);
}

static bool is_first(const put_data *d)
{
  return d->job->rank == 0;
}

static bool is_target(const put_data *d)
{
  return d->job->rank == d->partner;
}

static int partner_of(const put_data *d)
{
  return is_first(d) ? d->partner : 0;
}

/* True if this rank starts puts or gets. */
static bool is_origin(const put_data *d)
{
  return is_first(d) || (is_target(d) && d->operation == BOTH);
}

static bool gets(const put_data *d)
{
  return d->operation == GET || d->operation == BOTH;
}

/* --- memory and check, for all implementations --- */

/* Prepares the memory before a run: clears it where data will arrive, and writes the data that a
 * get will read into `area`. `area` is this rank's exposed memory, or NULL if only the sink is
 * used. */
static void clear_destination(put_data *d, unsigned char *area)
{
  if (!d->in_pair) return;
  memset(d->sink, 0, d->bytes);
  if (!area) return;
  if (gets(d))
    memcpy(area, d->source, d->bytes);
  else
    memset(area, 0, d->bytes);
}

/* *residual := 0 if all bytes that should have arrived are right, else infinity. */
static osla_err compare(put_data *d, const unsigned char *area, double *residual)
{
  double wrong = 0;
  bool due_in_sink = is_origin(d) && (gets(d) || !area);
  bool due_in_area =
    area && ((is_target(d) && !gets(d)) || (is_first(d) && d->operation == NOTIFY));
  if (due_in_sink && memcmp(d->sink, d->source, d->bytes) != 0) wrong = INFINITY;
  if (due_in_area && memcmp(area, d->source, d->bytes) != 0) wrong = INFINITY;
  OSLA_CALL(osla_allreduce(d->job->transport, &wrong, 1, MPI_DOUBLE, MPI_MAX));
  *residual = wrong;
  return OSLA_OK;
}

/* --- osla --- */

static osla_err setup_osla(void *data)
{
  put_data *d = data;
  return osla_segment_create(d->job->transport, d->in_pair ? d->bytes : 0, 1, &d->segment);
}

static void teardown_osla(void *data)
{
  osla_segment_destroy(&((put_data *)data)->segment);
}

static osla_err prepare_osla(void *data)
{
  put_data *d = data;
  clear_destination(d, osla_segment_local(d->segment));
  return OSLA_OK;
}

static osla_err check_osla(void *data, double *residual)
{
  put_data *d = data;
  return compare(d, osla_segment_local(d->segment), residual);
}

static osla_err ping_pong_osla(put_data *d)
{
  int other = partner_of(d);
  for (int i = 0; i < d->operations; i += 2) {
    uint64_t value = ++d->osla_value;
    if (is_target(d)) osla_notify_wait(d->segment, other, 0, value);
    OSLA_CALL(osla_put_notify(d->segment, other, 0, d->source, d->bytes, 0, value));
    if (is_first(d)) osla_notify_wait(d->segment, other, 0, value);
  }
  return OSLA_OK;
}

static osla_err transfer_osla(put_data *d)
{
  for (int i = 0; i < d->operations; i++) {
    osla_transfer transfer;
    if (gets(d))
      OSLA_CALL(osla_segment_get(d->segment, partner_of(d), 0, d->sink, d->bytes, &transfer));
    else
      OSLA_CALL(osla_segment_put(d->segment, d->partner, 0, d->source, d->bytes, &transfer));
    OSLA_CALL(osla_transfer_wait(d->segment, &transfer));
    if (d->operation == PUT) OSLA_CALL(osla_segment_flush(d->segment, d->partner));
  }
  return OSLA_OK;
}

/* Ranks that start no transfer go on to the reduction that follows the run. While they wait in the
 * reduction, the library makes progress on the transfers. */
static osla_err run_osla(void *data)
{
  put_data *d = data;
  osla_err err = OSLA_OK;
  if (d->operation == NOTIFY && d->in_pair)
    err = ping_pong_osla(d);
  else if (is_origin(d))
    err = transfer_osla(d);
  /* An error ends the job, because the partner would wait for ever. */
  if (err != OSLA_OK) osla_transport_abort(d->job->transport, err);
  return OSLA_OK;
}

/* --- mpi --- */

static osla_err setup_mpi(void *data)
{
  put_data *d = data;
  return reference_window_create(d->in_pair ? d->bytes : 0, &d->window);
}

static void teardown_mpi(void *data)
{
  reference_window_free(&((put_data *)data)->window);
}

static osla_err prepare_mpi(void *data)
{
  put_data *d = data;
  clear_destination(d, d->window.base);
  return OSLA_OK;
}

static osla_err check_mpi(void *data, double *residual)
{
  put_data *d = data;
  return compare(d, d->window.base, residual);
}

static osla_err ping_pong_mpi(put_data *d)
{
  int other = partner_of(d);
  for (int i = 0; i < d->operations; i += 2) {
    uint64_t value = ++d->mpi_value;
    if (is_target(d)) OSLA_CALL(reference_window_wait(&d->window, value));
    OSLA_CALL(reference_window_notify(&d->window, other, d->source, d->bytes, value));
    if (is_first(d)) OSLA_CALL(reference_window_wait(&d->window, value));
  }
  return OSLA_OK;
}

static osla_err run_mpi(void *data)
{
  put_data *d = data;
  if (!d->in_pair) return OSLA_OK;
  if (d->operation == NOTIFY) OSLA_CALL(ping_pong_mpi(d));
  for (int i = 0; i < d->operations && is_origin(d) && d->operation != NOTIFY; i++) {
    if (gets(d))
      OSLA_CALL(reference_window_get(&d->window, partner_of(d), d->sink, d->bytes));
    else
      OSLA_CALL(reference_window_put(&d->window, d->partner, d->source, d->bytes));
  }
  return is_first(d) ? reference_signal(d->partner) : reference_await(0);
}

/* --- send: a two-sided message, only for put_notify --- */

static osla_err check_send(void *data, double *residual)
{
  put_data *d = data;
  double wrong = d->in_pair && memcmp(d->sink, d->source, d->bytes) != 0 ? INFINITY : 0;
  OSLA_CALL(osla_allreduce(d->job->transport, &wrong, 1, MPI_DOUBLE, MPI_MAX));
  *residual = wrong;
  return OSLA_OK;
}

static osla_err run_send(void *data)
{
  put_data *d = data;
  int other = partner_of(d);
  for (int i = 0; i < d->operations && d->in_pair; i++)
    if (is_first(d) == (i % 2 == 0))
      OSLA_MPI(MPI_Send(d->source, (int)d->bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD));
    else
      OSLA_MPI(
        MPI_Recv(d->sink, (int)d->bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  return OSLA_OK;
}

/* --- blas: a copy in private memory --- */

static osla_err prepare_copy(void *data)
{
  clear_destination(data, NULL);
  return OSLA_OK;
}

static osla_err check_copy(void *data, double *residual)
{
  return compare(data, NULL, residual);
}

static osla_err run_copy(void *data)
{
  put_data *d = data;
  for (int i = 0; i < d->operations && is_origin(d); i++) {
    memcpy(d->sink, d->source, d->bytes);
    __asm__ volatile("" ::: "memory"); /* Keeps the compiler from merging the copies. */
  }
  return OSLA_OK;
}

/* --- the kernel --- */

static const bench_impl impls[] = {
  {.name = "osla",
   .setup = setup_osla,
   .prepare = prepare_osla,
   .run = run_osla,
   .check = check_osla,
   .teardown = teardown_osla},
  {.name = "blas", .prepare = prepare_copy, .run = run_copy, .check = check_copy},
  {.name = "mpi",
   .setup = setup_mpi,
   .prepare = prepare_mpi,
   .run = run_mpi,
   .check = check_mpi,
   .teardown = teardown_mpi},
  {.name = "send", .prepare = prepare_copy, .run = run_send, .check = check_send},
};
enum { N_IMPLS = sizeof impls / sizeof *impls };

static osla_err run_pair(bench_job *job, size_t bytes, int partner, put_operation operation,
                         const char *name, int most)
{
  put_data d = {.job = job,
                .operation = operation,
                .partner = partner,
                .bytes = bytes,
                .in_pair = job->rank == 0 || job->rank == partner};
  size_t room = (bytes + 63) / 64 * 64, fit = ((size_t)16 << 20) / bytes;
  void *buffer;
  d.operations = fit > (size_t)most ? most : fit < 4 ? 4 : (int)fit / 2 * 2;
  bench_case c = {.kernel = name,
                  .precision = "",
                  .n = (int64_t)bytes,
                  .impls = impls,
                  .n_impls = operation == NOTIFY ? N_IMPLS : N_IMPLS - 1,
                  .data = &d,
                  .work = (double)bytes,
                  .unit = bytes <= 4096 ? BENCH_MICROSECONDS : BENCH_GBYTES,
                  .operations = d.operations};
  OSLA_CALL(bench_alloc(job, d.in_pair ? 2 * room : 0, &buffer));
  d.source = buffer;
  d.sink = d.source + room;
  for (size_t i = 0; i < bytes && d.in_pair; i++)
    d.source[i] = pattern(i);
  osla_err err = bench_run_case(job, &c);
  free(buffer);
  return err;
}

/* Lowest rank other than 0 that is on rank 0's node if same_node, else on another node; -1 if
 * there is none. */
static int find_partner(const bench_job *job, bool same_node)
{
  for (int rank = 1; rank < job->size; rank++)
    if ((osla_transport_node_of(job->transport, rank) ==
         osla_transport_node_of(job->transport, 0)) == same_node)
      return rank;
  return -1;
}

static osla_err run(bench_job *job, int64_t n)
{
  static const char *const names[2][N_OPERATIONS] = {
    {"put/put/node", "put/get/node", "put/both/node", "put/notify/node"},
    {"put/put/across", "put/get/across", "put/both/across", "put/notify/across"}};
  /* Largest number of operations in a run: on a node, and between nodes. */
  static const int most[2] = {1000, 100};
  OSLA_CHECK(n <= (int64_t)1 << 30, OSLA_ERR_ARG, "--n: more than 1 GiB in one transfer");
  for (int across = 0; across < 2; across++) {
    int partner = find_partner(job, !across);
    for (int o = 0; o < N_OPERATIONS && partner > 0; o++)
      OSLA_CALL(
        run_pair(job, (size_t)n, partner, (put_operation)o, names[across][o], most[across]));
  }
  return OSLA_OK;
}

const bench_kernel bench_put = {
  .name = "put",
  .summary = "latency and bandwidth of put, get, put_notify between two ranks",
  .about =
    "\nTimes transfers of N bytes from rank 0 to a rank of its node, and to a rank of another "
    "node\n"
    "if there is one: put (wait and flush), get (wait), both (both get at once), notify "
    "(put_notify;\n"
    "half a round trip), in us per transfer up to 4 KiB, in GB/s above, beside:\n"
    "  blas       the limit: memcpy in private memory\n"
    "  mpi        MPI_Put or MPI_Get and MPI_Win_flush on a window of MPI_Win_allocate; notify:\n"
    "             MPI_Put, flush, MPI_Put of a flag, flush\n"
    "  send       notify alone: MPI_Send and MPI_Recv\n"
    "Residual: 0, or inf when a byte is wrong. Needs at least 2 ranks.\n",
  .references = "blas,mpi,send",
  .default_references = "blas,mpi",
  .after =
    "Example: mpiexec -n 2 osla-bench put --n 8,65536\n"
    "Two nodes on one machine, with MPICH: MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_CLIQUES_BY_BLOCK=1\n",
  .run = run,
  .sizes = {8, 64, 512, 4096, 32768, 262144, 2097152, 8388608},
  .pairs = true,
};
