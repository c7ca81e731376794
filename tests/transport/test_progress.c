/* Tests progress hooks, the progress thread, and the CPU time of waits. */
#include "osla_clock.h"
#include "osla_segment.h"
#include "tests/osla_test_help.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void sleep_ms(long ms)
{
  struct timespec span = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
  (void)nanosleep(&span, NULL);
}

static osla_transport *with_progress_thread(void)
{
  osla_transport *t = NULL;
  osla_transport_options options = {.progress_thread = true};
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &options, &t));
  return t;
}

static void count_call(void *arg)
{
  atomic_fetch_add((atomic_int *)arg, 1);
}

static void test_hooks_run(void)
{
  osla_transport *t = osla_test_transport();
  atomic_int a = 0, b = 0;
  OSLA_ASSERT_OK(osla_progress_add(t, count_call, &a));
  osla_progress(t);
  CU_ASSERT(a == 1);
  OSLA_ASSERT_OK(osla_progress_add(t, count_call, &b));
  osla_progress(t);
  CU_ASSERT(a == 2 && b == 1);
  osla_progress_remove(t, count_call, &a);
  osla_progress(t);
  CU_ASSERT(a == 2 && b == 2);
  /* removing a hook that is not in the list has no effect */
  osla_progress_remove(t, count_call, &a);
  osla_progress(t);
  CU_ASSERT(a == 2 && b == 3);
  osla_progress_remove(t, count_call, &b);
  osla_progress(t);
  CU_ASSERT(b == 3);
  osla_transport_destroy(&t);
}

static void test_hooks_limit(void)
{
  osla_transport *t = osla_test_transport();
  atomic_int calls[17];
  for (int i = 0; i < 17; i++)
    calls[i] = 0;
  for (int i = 0; i < 16; i++)
    OSLA_ASSERT_OK(osla_progress_add(t, count_call, &calls[i]));
  OSLA_ASSERT_ERR(osla_progress_add(t, count_call, &calls[16]), OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("16");
  osla_progress(t);
  for (int i = 0; i < 17; i++)
    CU_ASSERT(calls[i] == (i < 16));
  for (int i = 0; i < 16; i += 2)
    osla_progress_remove(t, count_call, &calls[i]);
  osla_progress(t);
  for (int i = 0; i < 16; i++)
    CU_ASSERT(calls[i] == 1 + i % 2);
  /* the removal has made room for one hook */
  OSLA_ASSERT_OK(osla_progress_add(t, count_call, &calls[16]));
  osla_progress(t);
  CU_ASSERT(calls[16] == 1);
  osla_transport_destroy(&t);
}

typedef struct nest {
  osla_transport *t;
  osla_segment *segment;
  atomic_int calls, inside, overlaps;
} nest;

/* A hook that makes progress. Its progress step must not run the hooks again, and the hook may wait
 * for a transfer. */
static void call_progress(void *arg)
{
  nest *n = arg;
  if (atomic_fetch_add(&n->inside, 1) != 0) atomic_fetch_add(&n->overlaps, 1);
  atomic_fetch_add(&n->calls, 1);
  osla_progress(n->t);
  if (n->segment) {
    osla_transfer transfer;
    int64_t word = -1;
    if (osla_segment_get(n->segment, 0, 0, &word, sizeof word, &transfer) != OSLA_OK ||
        osla_transfer_wait(n->segment, &transfer) != OSLA_OK || word != 42)
      atomic_fetch_add(&n->overlaps, 1000);
  }
  atomic_fetch_sub(&n->inside, 1);
}

static void test_hooks_never_nest(void)
{
  osla_transport *t = osla_test_transport();
  nest n = {.t = t};
  OSLA_ASSERT_OK(osla_segment_create(t, 8, 0, &n.segment));
  *(int64_t *)osla_segment_local(n.segment) = 42;
  OSLA_ASSERT_OK(osla_barrier(t));
  OSLA_ASSERT_OK(osla_progress_add(t, call_progress, &n));
  osla_progress(t);
  OSLA_ASSERT_MSG(n.calls == 1 && n.overlaps == 0, "%d calls, %d overlaps", n.calls, n.overlaps);
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_progress_remove(t, call_progress, &n);
  CU_ASSERT(n.overlaps == 0);
  osla_segment_destroy(&n.segment);
  osla_transport_destroy(&t);
}

/* Tests hooks while two threads make progress, the progress thread and this one. A hook that was
 * removed is not called any more. */
static void test_hooks_one_at_a_time(void)
{
  if (!osla_test_multiple("a progress thread")) return;
  osla_transport *t = with_progress_thread();
  nest n = {.t = t};
  OSLA_ASSERT_OK(osla_progress_add(t, call_progress, &n));
  double end = osla_clock() + 5.0; /* time limit, much longer than the calls need */
  for (int i = 0; (i < 2000 || n.calls < 2000) && osla_clock() < end; i++)
    osla_progress(t);
  osla_progress_remove(t, call_progress, &n);
  int calls = n.calls;
  OSLA_ASSERT_MSG(calls >= 2000 && n.overlaps == 0, "%d calls, %d overlaps", calls, n.overlaps);
  sleep_ms(2);
  CU_ASSERT(n.calls == calls);
  osla_transport_destroy(&t);
}

/* Tests that hooks run while their rank waits, in a collective and for a notify. */
static void test_hooks_run_in_waits(void)
{
  osla_transport *t = osla_test_transport();
  osla_segment *segment = NULL;
  atomic_int calls = 0;
  int rank = osla_transport_rank(t), size = osla_transport_size(t);
  OSLA_ASSERT_OK(osla_segment_create(t, 0, 1, &segment));
  OSLA_ASSERT_OK(osla_progress_add(t, count_call, &calls));
  if (rank == 0) sleep_ms(60);
  OSLA_ASSERT_OK(osla_barrier(t));
  if (rank != 0) OSLA_ASSERT_MSG(calls >= 2, "%d calls in a barrier of 60 ms", calls);
  calls = 0;
  OSLA_ASSERT_OK(osla_barrier(t));
  if (rank == 0) {
    sleep_ms(60);
    for (int to = 0; to < size; to++)
      OSLA_ASSERT_OK(osla_notify(segment, to, 0, 1));
  }
  osla_notify_wait(segment, 0, 0, 1);
  if (rank != 0) OSLA_ASSERT_MSG(calls >= 2, "%d calls in a notify wait of 60 ms", calls);
  osla_progress_remove(t, count_call, &calls);
  osla_segment_destroy(&segment);
  osla_transport_destroy(&t);
}

/* CPU time of all threads of this process, in s. */
static double cpu_seconds(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Tests that a wait of at least 200 ms takes less than half of its time as CPU time, and so leaves
 * the core to computing ranks. */
static void test_waits_sleep(void)
{
  osla_transport *t = osla_test_transport();
  osla_segment *segment = NULL;
  int rank = osla_transport_rank(t), size = osla_transport_size(t);
  OSLA_ASSERT_OK(osla_segment_create(t, 0, 1, &segment));
  double used[2], waited[2];
  for (int way = 0; way < 2; way++) {
    OSLA_ASSERT_OK(osla_barrier(t));
    const double start = cpu_seconds(), since = osla_clock();
    if (rank == 0) sleep_ms(200);
    for (int to = 0; way == 1 && rank == 0 && to < size; to++)
      OSLA_ASSERT_OK(osla_notify(segment, to, 0, 1));
    if (way == 0)
      OSLA_ASSERT_OK(osla_barrier(t));
    else
      osla_notify_wait(segment, 0, 0, 1);
    used[way] = cpu_seconds() - start;
    waited[way] = osla_clock() - since;
  }
  for (int way = 0; way < 2; way++)
    OSLA_ASSERT_MSG(used[way] < 0.5 * waited[way], "%.3f s of processor time in a %s of %.3f s",
                    used[way], way == 0 ? "barrier" : "notify wait", waited[way]);
  osla_segment_destroy(&segment);
  osla_transport_destroy(&t);
}

/* Rank 0 calls neither MPI nor the library until it sees in its memory the words that the other
 * ranks have put. Between nodes only the progress thread, or remote DMA, can deliver them. */
static void test_progress_thread_serves(void)
{
  if (!osla_test_multiple("a progress thread")) return;
  osla_transport *t = with_progress_thread();
  int rank = osla_transport_rank(t), size = osla_transport_size(t);
  osla_segment *segment = NULL;
  OSLA_ASSERT_OK(osla_segment_create(t, (size_t)size * 64, 0, &segment));
  OSLA_ASSERT_OK(osla_barrier(t));
  if (rank == 0) {
    double end = osla_clock() + 10.0;
    int seen = 1;
    while (seen < size && osla_clock() < end) {
      seen = 1;
      for (int from = 1; from < size; from++)
        if (atomic_load((_Atomic int64_t *)osla_segment_local(segment) + 8 * from) == from) seen++;
    }
    OSLA_ASSERT_MSG(seen == size, "words of %d ranks seen within 10 s", seen - 1);
  } else {
    osla_transfer transfer;
    int64_t word = rank;
    OSLA_ASSERT_OK(osla_segment_put(segment, 0, (size_t)rank * 64, &word, sizeof word, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(segment, &transfer));
    OSLA_ASSERT_OK(osla_segment_flush(segment, 0));
  }
  osla_segment_destroy(&segment);
  osla_transport_destroy(&t);
}

/* Tests that the progress thread runs hooks while its rank computes, and ends with the transport.
 */
static void test_progress_thread_runs_hooks(void)
{
  if (!osla_test_multiple("a progress thread")) return;
  osla_transport *t = with_progress_thread();
  atomic_int calls = 0;
  OSLA_ASSERT_OK(osla_progress_add(t, count_call, &calls));
  double end = osla_clock() + 10.0;
  while (calls < 10 && osla_clock() < end)
    continue;
  CU_ASSERT(calls >= 10);
  osla_transport_destroy(&t);
  int at_end = calls;
  sleep_ms(2);
  CU_ASSERT(calls == at_end);
}

static const osla_test_case cases[] = {
  {"hooks_run", test_hooks_run},
  {"hooks_limit", test_hooks_limit},
  {"hooks_never_nest", test_hooks_never_nest},
  {"hooks_one_at_a_time", test_hooks_one_at_a_time},
  {"hooks_run_in_waits", test_hooks_run_in_waits},
  {"waits_sleep", test_waits_sleep},
  {"progress_thread_serves", test_progress_thread_serves},
  {"progress_thread_runs_hooks", test_progress_thread_runs_hooks},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_progress, cases);
