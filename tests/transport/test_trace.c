/* Tests the trace: which events are recorded, the summary, and the file. */
#include "osla_clock.h"
#include "osla_counter.h"
#include "osla_lu.h"
#include "osla_segment.h"
#include "osla_trace.h"
#include "src/transport/trace.h"
#include "tests/osla_test_help.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Shift of this rank's clock, in s: nodes pretend to have different clocks. */
static time_t shift;
int clock_gettime(clockid_t clock, struct timespec *now)
{
  int status = (int)syscall(SYS_clock_gettime, clock, now);
  if (clock == CLOCK_MONOTONIC) now->tv_sec += shift;
  return status;
}

/* --- tests of the recording of events --- */

static osla_trace_summary summary_of(osla_transport *t)
{
  osla_trace_summary s;
  OSLA_ASSERT_OK(osla_trace_summarise(t, &s));
  return s;
}

static int64_t all_events(const osla_trace_summary *s)
{
  int64_t events = 0;
  for (int kind = 0; kind < OSLA_TRACE_KINDS; kind++)
    events += s->kind[kind].events;
  return events;
}

static void test_off(void)
{
  osla_transport *t = osla_test_transport();
  osla_trace_summary s;
  CU_ASSERT(osla_trace_now(t) < 0);
  osla_trace_add(t, OSLA_TRACE_GEMM, osla_trace_now(t), 1);
  osla_trace_add(t, OSLA_TRACE_GEMM, osla_clock(), 1);
  osla_trace_stop(t);
  OSLA_ASSERT_ERR(osla_trace_summarise(t, &s), OSLA_ERR_STATE);
  OSLA_ASSERT_ERR(osla_trace_write(t, "never"), OSLA_ERR_STATE);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(access("never", F_OK) != 0);

  OSLA_ASSERT_OK(osla_trace_start(t));
  CU_ASSERT(osla_trace_now(t) > 0);
  osla_trace_stop(t);
  CU_ASSERT(osla_trace_now(t) < 0);
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_trace_add(t, OSLA_TRACE_GEMM, osla_clock(), 1);
  s = summary_of(t);
  OSLA_ASSERT_MSG(all_events(&s) == 0, "%d events while off", (int)all_events(&s));
  CU_ASSERT(isnan(s.overlap) && s.in_flight == 0 && s.exposed == 0 && s.dropped == 0);
  osla_transport_destroy(&t);
}

/* Makes a transfer in each direction with the next rank, completed by wait and by test, and a
 * notify. */
static void exchange(osla_transport *t, osla_segment *segment)
{
  enum { BYTES = 1000 };
  int rank = osla_transport_rank(t), size = osla_transport_size(t), next = (rank + 1) % size;
  char buffer[BYTES] = "";
  osla_transfer transfer;
  bool done = false;
  OSLA_ASSERT_OK(osla_segment_get(segment, next, 0, buffer, BYTES, &transfer));
  OSLA_ASSERT_OK(osla_transfer_wait(segment, &transfer));
  OSLA_ASSERT_OK(osla_segment_put(segment, next, BYTES, buffer, BYTES, &transfer));
  while (!done) {
    OSLA_ASSERT_OK(osla_transfer_test(segment, &transfer, &done));
    osla_progress(t);
  }
  /* waiting for a transfer that a test has completed records no second event */
  OSLA_ASSERT_OK(osla_transfer_wait(segment, &transfer));
  OSLA_ASSERT_OK(osla_segment_flush(segment, next));
  OSLA_ASSERT_OK(osla_put_notify(segment, next, 0, buffer, 8, 0, 1));
  osla_notify_wait(segment, (rank + size - 1) % size, 0, 1);
}

static void test_transfers(void)
{
  osla_transport *t = osla_test_transport();
  int size = osla_transport_size(t), far = 0;
  osla_segment *segment = NULL;
  int64_t before, sum = 1;
  osla_counter *counter = NULL;
  for (int rank = 0; rank < size; rank++)
    if (osla_transport_node_of(t, rank) != osla_transport_node_of(t, (rank + 1) % size)) far++;
  OSLA_ASSERT_OK(osla_segment_create(t, 4000, 1, &segment));
  OSLA_ASSERT_OK(osla_counter_create(t, &counter));
  OSLA_ASSERT_OK(osla_trace_start(t));
  exchange(t, segment);
  OSLA_ASSERT_OK(osla_counter_next(counter, 1, &before));
  OSLA_ASSERT_OK(osla_barrier(t));
  OSLA_ASSERT_OK(osla_allreduce(t, &sum, 1, MPI_INT64_T, MPI_SUM));
  OSLA_ASSERT_OK(osla_bcast(t, &sum, 1, MPI_INT64_T, 0));
  osla_trace_summary s = summary_of(t);
  CU_ASSERT(s.kind[OSLA_TRACE_GET].events == far && s.kind[OSLA_TRACE_PUT].events == far);
  CU_ASSERT(s.kind[OSLA_TRACE_GET].amount == 1000.0 * far);
  CU_ASSERT(s.kind[OSLA_TRACE_ISSUE].events == 2 * far);
  CU_ASSERT(s.kind[OSLA_TRACE_COPY].events == 2 * (size - far));
  CU_ASSERT(s.kind[OSLA_TRACE_COPY].amount == 2000.0 * (size - far));
  /* a wait is recorded only if the transfer was incomplete */
  CU_ASSERT(s.kind[OSLA_TRACE_WAIT].events <= far);
  CU_ASSERT(s.kind[OSLA_TRACE_FLUSH].events == size);
  CU_ASSERT(s.kind[OSLA_TRACE_NOTIFY].events == size &&
            s.kind[OSLA_TRACE_NOTIFY].amount == 8 * size);
  CU_ASSERT(s.kind[OSLA_TRACE_NOTIFY_WAIT].events <= size);
  CU_ASSERT(s.kind[OSLA_TRACE_FETCH_ADD].events == size);
  CU_ASSERT(s.kind[OSLA_TRACE_BARRIER].events == size);
  CU_ASSERT(s.kind[OSLA_TRACE_ALLREDUCE].events == size);
  CU_ASSERT(s.kind[OSLA_TRACE_BCAST].events == size && s.kind[OSLA_TRACE_BCAST].amount == 8 * size);
  CU_ASSERT(s.overlap >= 0 && s.overlap <= 1);
  CU_ASSERT(far > 0 || s.overlap == 0); /* on the node all transfers are complete on return */
  for (int kind = 0; kind < OSLA_TRACE_KINDS; kind++)
    CU_ASSERT(s.kind[kind].seconds_largest <= s.kind[kind].seconds &&
              s.kind[kind].seconds <= s.seconds * size);

  OSLA_ASSERT_OK(osla_trace_start(t)); /* starting a trace discards the events of the earlier one */
  s = summary_of(t);
  CU_ASSERT(all_events(&s) == 0);
  osla_counter_destroy(&counter);
  osla_segment_destroy(&segment);
  osla_transport_destroy(&t);
}

/* Tests that the local products of a factorisation do as many floating-point operations as the
 * factorisation needs. The grid has one process row, because with several process rows each of them
 * solves for the rows of U. */
static void test_kernel(void)
{
  enum { N = 90, NB = 16 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = NULL;
  osla_matrix *a = NULL;
  osla_lu_result result;
  OSLA_ASSERT_OK(osla_grid_create(t, 1, osla_test_size(), &grid));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, N, NB, NB, &a));
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_DOMINANT, 1));
  OSLA_ASSERT_OK(osla_trace_start(t));
  OSLA_ASSERT_OK(osla_getrf(a, NULL, &(osla_lu_options){.pivoting = OSLA_PIVOT_NONE}, &result));
  osla_trace_summary s = summary_of(t);
  double flops = s.kind[OSLA_TRACE_GEMM].amount + s.kind[OSLA_TRACE_TRSM].amount +
                 s.kind[OSLA_TRACE_PANEL].amount;
  OSLA_ASSERT_CLOSE(flops / (2.0 / 3.0 * N * N * N), 1.0, 1e-12);
  CU_ASSERT(s.kind[OSLA_TRACE_PANEL].events == (N + NB - 1) / NB);
  osla_matrix_destroy(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* --- tests of the definition of overlap, with artificial events --- */

static void add(osla_transport *t, osla_trace_kind kind, double since, double from, double to)
{
  osla_trace_add(t, kind, since + from, 1);
  if (t->trace->count > 0) t->trace->piece[0][t->trace->count - 1].end = since + to;
}

static void test_overlap(void)
{
  osla_transport *t = osla_test_transport();
  int size = osla_transport_size(t);
  bool first = osla_transport_rank(t) == 0;
  OSLA_ASSERT_OK(osla_trace_start(t));
  double since = osla_trace_now(t);
  /* two concurrent gets between the times 0 and 4, waits for them from 3 to 4, and a copy */
  if (first) {
    add(t, OSLA_TRACE_GET, since, 0, 4);
    add(t, OSLA_TRACE_GET, since, 1, 3.5);
    add(t, OSLA_TRACE_WAIT, since, 3, 3.5);
    add(t, OSLA_TRACE_WAIT, since, 3.25, 4);
    add(t, OSLA_TRACE_GEMM, since, 0, 3);
    add(t, OSLA_TRACE_NOTIFY_WAIT, since, 5, 9); /* a wait for a notify is not part of a transfer */
    add(t, OSLA_TRACE_COPY, since, 10, 11);
  }
  osla_trace_summary s = summary_of(t);
  OSLA_ASSERT_CLOSE(s.in_flight, 5, 1e-6);
  OSLA_ASSERT_CLOSE(s.exposed, 2, 1e-6);
  OSLA_ASSERT_CLOSE(s.overlap, 0.6, 1e-6);
  OSLA_ASSERT_CLOSE(s.kind[OSLA_TRACE_GET].seconds, 6.5, 1e-6);
  OSLA_ASSERT_CLOSE(s.kind[OSLA_TRACE_GET].amount, 2, 0);

  /* the times of all ranks are added up; only waits and issues have exposed times */
  OSLA_ASSERT_OK(osla_trace_start(t));
  since = osla_trace_now(t);
  add(t, OSLA_TRACE_PUT, since, 0, first ? 10 : 1);
  add(t, OSLA_TRACE_ISSUE, since, 0, 1);
  s = summary_of(t);
  OSLA_ASSERT_CLOSE(s.overlap, 1 - size / (10.0 + size - 1), 1e-6);
  OSLA_ASSERT_CLOSE(s.kind[OSLA_TRACE_PUT].seconds_largest, 10, 1e-6);

  OSLA_ASSERT_OK(osla_trace_start(t)); /* an event that began before the start is not recorded */
  add(t, OSLA_TRACE_GET, since, 0, 1);
  osla_trace_add(t, OSLA_TRACE_GET, -1, 1);
  s = summary_of(t);
  CU_ASSERT(all_events(&s) == 0);
  osla_transport_destroy(&t);
}

/* --- tests with many threads and many events --- */

enum { EACH = 40000, THREADS = 3 };

static void *add_many(void *arg)
{
  osla_transport *t = arg;
  for (int i = 0; i < EACH; i++)
    osla_trace_add(t, OSLA_TRACE_UPDATE, osla_trace_now(t), 1);
  return NULL;
}

static void test_threads(void)
{
  osla_transport *t = osla_test_transport();
  pthread_t thread[THREADS];
  OSLA_ASSERT_OK(osla_trace_start(t));
  for (int i = 0; i < THREADS; i++)
    (void)pthread_create(&thread[i], NULL, add_many, t);
  for (int i = 0; i < THREADS; i++)
    (void)pthread_join(thread[i], NULL);
  osla_trace_summary s = summary_of(t);
  int64_t expected = (int64_t)EACH * THREADS * osla_transport_size(t);
  CU_ASSERT(s.kind[OSLA_TRACE_UPDATE].events == expected);
  CU_ASSERT(s.kind[OSLA_TRACE_UPDATE].amount == (double)expected);
  osla_transport_destroy(&t);
}

static void test_limit(void)
{
  osla_transport *t = osla_test_transport();
  bool last = osla_transport_rank(t) == osla_transport_size(t) - 1;
  OSLA_ASSERT_OK(osla_trace_start(t));
  double since = osla_trace_now(t);
  for (int64_t i = 0; last && i < OSLA_TRACE_MAX_EVENTS + 5; i++)
    osla_trace_add(t, OSLA_TRACE_PACK, since, 0);
  osla_trace_summary s = summary_of(t);
  CU_ASSERT(s.kind[OSLA_TRACE_PACK].events == OSLA_TRACE_MAX_EVENTS);
  CU_ASSERT(s.dropped == 5);
  osla_transport_destroy(&t);
}

/* --- tests of the file of a trace --- */

/* Makes a folder for the files of a test. All ranks get its name. */
static void make_folder(char name[32])
{
  (void)snprintf(name, 32, "/tmp/osla-test-XXXXXX");
  if (osla_test_rank() == 0) CU_ASSERT(mkdtemp(name) != NULL);
  MPI_Bcast(name, 32, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void remove_folder(const char *name)
{
  MPI_Barrier(MPI_COMM_WORLD);
  if (osla_test_rank() == 0) OSLA_ASSERT_MSG(rmdir(name) == 0, "%s is not empty", name);
}

static const char *text_of(const json_t *event, const char *key)
{
  const char *text = json_string_value(json_object_get(event, key));
  return text ? text : "";
}

static double number_of(const json_t *event, const char *key)
{
  return json_number_value(json_object_get(event, key));
}

/* The events of one rank in a trace file: how many there are, and their times. */
typedef struct seen {
  int names, events, begun, ended;
  double last_end, barrier_start, barrier_end;
} seen;

static void look_at(const osla_transport *t, const json_t *event, double tolerance, seen *all)
{
  int size = osla_transport_size(t), rank = (int)number_of(event, "tid") % size;
  const char *phase = text_of(event, "ph"), *name = text_of(event, "name");
  double start = number_of(event, "ts"), end = start + number_of(event, "dur");
  seen *s = &all[rank];
  CU_ASSERT((int)number_of(event, "pid") == osla_transport_node_of(t, rank));
  if (phase[0] == 'M') {
    if (strcmp(name, "thread_name") == 0) s->names++;
    return;
  }
  s->events++;
  CU_ASSERT(start >= -tolerance && start < 60e6 && end >= start); /* times in the file are in us */
  CU_ASSERT((int)number_of(json_object_get(event, "args"), "rank") == rank);
  if (phase[0] == 'b') s->begun++;
  if (phase[0] == 'e') s->ended++;
  if (phase[0] != 'X') return;
  /* one thread records each event when it ends, so the ends are in ascending order */
  CU_ASSERT(end >= s->last_end - 1e-3);
  s->last_end = end;
  if (strcmp(name, "barrier") != 0) return;
  s->barrier_start = start;
  s->barrier_end = end;
}

/* Checks the file on rank 0. Clocks agree within `tolerance` microseconds. */
static void check_file(const osla_transport *t, const char *path, int transfers, double tolerance)
{
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error), *event;
  int size = osla_transport_size(t), pairs = 0;
  size_t i;
  seen *all = calloc((size_t)size, sizeof *all);
  OSLA_ASSERT_MSG(json_is_array(root), "%s: %s", path, error.text);
  json_array_foreach(root, i, event) look_at(t, event, tolerance, all);
  for (int rank = 0; rank < size; rank++) {
    CU_ASSERT(all[rank].names == 1 && all[rank].events > 0);
    CU_ASSERT(all[rank].begun == all[rank].ended);
    pairs += all[rank].begun;
    /* no rank has left the barrier before all have entered it */
    for (int other = 0; other < size; other++)
      OSLA_ASSERT_MSG(all[rank].barrier_end >= all[other].barrier_start - tolerance,
                      "rank %d left %.3f us before %d came", rank,
                      all[other].barrier_start - all[rank].barrier_end, other);
  }
  OSLA_ASSERT_MSG(pairs == transfers, "%d transfers, not %d", pairs, transfers);
  free(all);
  json_decref(root);
}

/* Makes transfers, writes the trace twice (the second file replaces the first), and checks the
 * file. */
static void write_and_check(osla_transport *t, double tolerance)
{
  char folder[32], path[64];
  osla_segment *segment = NULL;
  make_folder(folder);
  (void)snprintf(path, sizeof path, "%s/trace.json", folder);
  OSLA_ASSERT_OK(osla_segment_create(t, 4000, 1, &segment));
  OSLA_ASSERT_OK(osla_trace_start(t));
  exchange(t, segment);
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_trace_stop(t);
  osla_trace_summary s = summary_of(t);
  int transfers = (int)(s.kind[OSLA_TRACE_GET].events + s.kind[OSLA_TRACE_PUT].events);
  for (int again = 0; again < 2; again++) {
    OSLA_ASSERT_OK(osla_trace_write(t, path));
    if (osla_test_rank() == 0) check_file(t, path, transfers, tolerance);
  }
  if (osla_test_rank() == 0) CU_ASSERT(remove(path) == 0);
  osla_segment_destroy(&segment);
  remove_folder(folder);
}

/* All processes of a machine have one clock, so the measured offset is 0. */
static void test_file(void)
{
  osla_transport *t = osla_test_transport();
  write_and_check(t, 0);
  osla_transport_destroy(&t);
}

/* Tests clocks that differ by hours between nodes; their offsets are found within a round trip. */
static void test_clocks(void)
{
  osla_transport *t = osla_test_transport();
  shift = 10000 * osla_transport_node(t);
  write_and_check(t, 5000);
  shift = 0;
  osla_transport_destroy(&t);
}

/* Tests a file with several pieces of events from each rank, and with dropped events. */
static void test_long_file(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_transport_rank(t), size = osla_transport_size(t);
  char folder[32], path[64];
  make_folder(folder);
  (void)snprintf(path, sizeof path, "%s/trace.json", folder);
  OSLA_ASSERT_OK(osla_trace_start(t));
  double since = osla_trace_now(t);
  for (int i = 0; i < 16384 * rank + 7; i++)
    osla_trace_add(t, OSLA_TRACE_GEMM, since, i);
  osla_trace_add(t, OSLA_TRACE_GEMM, since, (double)NAN); /* JSON has no NaN */
  OSLA_ASSERT_OK(osla_trace_write(t, path));
  if (rank == 0) {
    json_t *root = json_load_file(path, 0, NULL);
    size_t expected = 0;
    for (int other = 0; other < size; other++)
      expected += 3 + 16384 * (size_t)other + 8; /* each rank has three events that name its rows */
    OSLA_ASSERT_MSG(json_array_size(root) == expected, "%zu, not %zu", json_array_size(root),
                    expected);
    json_decref(root);
    CU_ASSERT(remove(path) == 0);
  }
  osla_transport_destroy(&t);
  remove_folder(folder);
}

static const osla_test_case cases[] = {
  {"off", test_off},
  {"transfers", test_transfers},
  {"kernel", test_kernel},
  {"overlap", test_overlap},
  {"threads", test_threads},
  {"limit", test_limit},
  {"file", test_file},
  {"clocks", test_clocks},
  {"long_file", test_long_file},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_trace, cases);
