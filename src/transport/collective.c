/* Collectives, split into calls whose counts fit an int, and agreement of the ranks on errors and
 * arguments. */
#include "osla_trace.h"
#include "src/device/device.h"
#include "src/transport/transport_ops.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

osla_err osla_barrier(osla_transport *t)
{
  double since = osla_trace_now(t);
  osli_device_settle_kept(SETTLE_COLLECTIVE);
  atomic_thread_fence(memory_order_seq_cst);
  OSLA_CALL(t->ops->collective(t, &(osla_collective){.kind = OSLA_DO_BARRIER, .type = MPI_BYTE}));
  atomic_thread_fence(memory_order_seq_cst);
  osla_trace_add(t, OSLA_TRACE_BARRIER, since, 0);
  return osli_device_settle(SETTLE_COLLECTIVE);
}

/* Largest count of one MPI call; larger collectives take several calls. */
enum { MAX_COUNT = 1 << 27 };

static osla_err run_collective_in_pieces(osla_transport *t, osla_collective what, int64_t count,
                                         osla_trace_kind traced_as)
{
  MPI_Aint low, extent;
  double since = osla_trace_now(t);
  osli_device_settle_kept(SETTLE_COLLECTIVE);
  OSLA_REFUSES_DEVICE("osla_allreduce, osla_bcast", what.recv);
  OSLA_MPI(MPI_Type_get_extent(what.type, &low, &extent));
  unsigned char *at = what.recv;
  for (int64_t left = count; left > 0; left -= MAX_COUNT, at += MAX_COUNT * extent) {
    what.recv = at;
    what.count = (int)(left < MAX_COUNT ? left : MAX_COUNT);
    OSLA_CALL(t->ops->collective(t, &what));
  }
  osla_trace_add(t, traced_as, since, (double)count * (double)extent);
  return OSLA_OK;
}

osla_err osla_allreduce(osla_transport *t, void *buffer, int64_t count, MPI_Datatype type,
                        MPI_Op op)
{
  osla_collective what = {.kind = OSLA_DO_ALLREDUCE, .recv = buffer, .type = type, .op = op};
  return run_collective_in_pieces(t, what, count, OSLA_TRACE_ALLREDUCE);
}

osla_err osla_bcast(osla_transport *t, void *buffer, int64_t count, MPI_Datatype type, int root)
{
  osla_collective what = {.kind = OSLA_DO_BCAST, .recv = buffer, .type = type, .root = root};
  return run_collective_in_pieces(t, what, count, OSLA_TRACE_BCAST);
}

osla_err osla_alltoall(osla_transport *t, const void *send, void *recv, int count,
                       MPI_Datatype type)
{
  MPI_Aint low, extent;
  double since = osla_trace_now(t);
  osli_device_settle_kept(SETTLE_COLLECTIVE);
  OSLA_REFUSES_DEVICE("osla_alltoall", send, recv);
  OSLA_MPI(MPI_Type_get_extent(type, &low, &extent));
  OSLA_CALL(t->ops->collective(
    t, &(osla_collective){OSLA_DO_ALLTOALL, send, recv, count, type, MPI_OP_NULL, 0}));
  osla_trace_add(t, OSLA_TRACE_ALLTOALL, since, (double)count * (double)extent * t->size);
  return OSLA_OK;
}

osla_err osli_allgather(osla_transport *t, const void *mine, void *all, int bytes)
{
  double since = osla_trace_now(t);
  osli_device_settle_kept(SETTLE_COLLECTIVE);
  OSLA_CALL(t->ops->collective(
    t, &(osla_collective){OSLA_DO_ALLGATHER, mine, all, bytes, MPI_BYTE, MPI_OP_NULL, 0}));
  osla_trace_add(t, OSLA_TRACE_ALLGATHER, since, (double)bytes * t->size);
  return OSLA_OK;
}

osla_err osli_send(osla_transport *t, int to, const void *buffer, int bytes)
{
  osli_device_settle_kept(SETTLE_COLLECTIVE);
  return t->ops->message(t, &(osla_message){true, to, bytes, (void *)(uintptr_t)buffer});
}

osla_err osli_receive(osla_transport *t, int from, void *buffer, int bytes)
{
  return t->ops->message(t, &(osla_message){false, from, bytes, buffer});
}

/* Broadcasts the error of `rank` to all ranks. */
static osla_err broadcast_failure(osla_transport *t, osla_err local, int rank)
{
  struct {
    int code;
    char text[512];
  } verdict = {.code = (int)local};
  (void)strncpy(verdict.text, osla_error_text(), sizeof verdict.text - 1);
  OSLA_CALL(osla_bcast(t, &verdict, sizeof verdict, MPI_BYTE, rank));
  return osla_error_set((osla_err)verdict.code, "%s", verdict.text);
}

/* Prints an argument as an integer, or as the double that has its bits. */
enum { NUMBER = 32 };
static void print_number(bool is_bits, int64_t value, char text[NUMBER])
{
  double x;
  memcpy(&x, &value, sizeof x);
  if (is_bits)
    (void)snprintf(text, NUMBER, "%.17g", x);
  else
    (void)snprintf(text, NUMBER, "%" PRId64, value);
}

/* Reports an argument that differs, with its value on rank 0 and on the lowest rank that has
 * another value. */
static osla_err report_difference(osla_transport *t, const char *call, const osla_argument *differs)
{
  int64_t here = differs->value, there = differs->value;
  OSLA_CALL(osla_bcast(t, &here, 1, MPI_INT64_T, 0));
  int rank = here == there ? INT_MAX : t->rank;
  OSLA_CALL(osla_allreduce(t, &rank, 1, MPI_INT, MPI_MIN));
  OSLA_CALL(osla_bcast(t, &there, 1, MPI_INT64_T, rank));
  static const char ending[] = " (bits)";
  const size_t length = strlen(differs->name), of_ending = sizeof ending - 1;
  const bool bits = length > of_ending && !strcmp(differs->name + length - of_ending, ending);
  char first[NUMBER], other[NUMBER];
  print_number(bits, here, first);
  print_number(bits, there, other);
  return osla_error_set(
    OSLA_ERR_ARG, "%s: %.*s is %s on rank 0, but %s on rank %d: all ranks must pass the same", call,
    (int)(bits ? length - of_ending : length), differs->name, first, other, rank);
}

/* Replaces each of `count` values, at most 2 OSLA_MOST_ARGUMENTS, by its minimum over all ranks.
 * Sets *failed to the lowest rank on which *local is an error, or to INT_MAX if there is no such
 * rank. If *local is OSLA_OK, waits for queued work on devices and sets *local to its error.
 * Collective. */
static osla_err reduce_least(osla_transport *t, osla_err *local, int64_t *values, int count,
                             int *failed)
{
  int64_t least[1 + 2 * OSLA_MOST_ARGUMENTS];
  const size_t bytes = (size_t)count * sizeof *values;
  if (*local == OSLA_OK) *local = osli_device_settle(SETTLE_COLLECTIVE);
  least[0] = *local == OSLA_OK ? INT_MAX : t->rank;
  memcpy(least + 1, values, bytes);
  OSLA_CALL(osla_allreduce(t, least, 1 + count, MPI_INT64_T, MPI_MIN));
  memcpy(values, least + 1, bytes);
  *failed = (int)least[0];
  return OSLA_OK;
}

osla_err osla_agree_same(osla_transport *t, osla_err local, const char *call,
                         const osla_argument *arguments, int count)
{
  /* values[2 i] is the value of argument i, and values[2 i + 1] its bitwise complement. The two
   * minima over all ranks are complements only if all ranks pass the same value. */
  int64_t values[2 * OSLA_MOST_ARGUMENTS];
  int failed = INT_MAX;
  OSLA_CHECK(count <= OSLA_MOST_ARGUMENTS, OSLA_ERR_RANGE,
             "%s: osla_agree_same compares %d arguments, and %d are the most", call, count,
             OSLA_MOST_ARGUMENTS);
  for (int i = 0; i < count; i++) {
    values[2 * i] = arguments[i].value;
    values[2 * i + 1] = ~arguments[i].value;
  }
  OSLA_CALL(reduce_least(t, &local, values, 2 * count, &failed));
  for (int i = 0; i < count; i++)
    if (values[2 * i] != ~values[2 * i + 1]) return report_difference(t, call, &arguments[i]);
  return failed == INT_MAX ? OSLA_OK : broadcast_failure(t, local, failed);
}

osla_err osla_agree(osla_transport *t, osla_err local)
{
  return osla_agree_same(t, local, "", NULL, 0);
}

osla_err osli_agree_calloc(osla_transport *t, size_t bytes, const char *purpose, void **out)
{
  void *memory = calloc(1, bytes);
  const osla_err err =
    osla_agree(t, memory ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%zu bytes: %s", bytes, purpose));
  if (err != OSLA_OK) {
    free(memory);
    memory = NULL;
  }
  *out = memory;
  return err;
}

osla_err osli_agree_least(osla_transport *t, osla_err local, int64_t *values, int count)
{
  int failed = INT_MAX;
  OSLA_CHECK(count <= 2 * OSLA_MOST_ARGUMENTS, OSLA_ERR_RANGE, "%d values, and %d are the most",
             count, 2 * OSLA_MOST_ARGUMENTS);
  OSLA_CALL(reduce_least(t, &local, values, count, &failed));
  return failed == INT_MAX ? OSLA_OK : broadcast_failure(t, local, failed);
}
