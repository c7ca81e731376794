/* Tests puts with notify as messages: which MPI calls they use, their order among all kinds of
 * transfers, flow control, and the lifetime of regions. The functions MPI_... of this program
 * replace those of MPI and count the calls. */
#include "osla_clock.h"
#include "osla_segment.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Numbers of calls so far: sends of messages (except with osli_send's tag 0), RMA operations. */
static atomic_int n_messages, n_rma;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  if (tag != 0) atomic_fetch_add(&n_messages, 1);
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Rput(const void *source, int count, MPI_Datatype type, int target, MPI_Aint disp,
             int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
  atomic_fetch_add(&n_rma, 1);
  return PMPI_Rput(source, count, type, target, disp, target_count, target_type, win, request);
}

int MPI_Rget_accumulate(const void *source, int count, MPI_Datatype type, void *result,
                        int result_count, MPI_Datatype result_type, int target, MPI_Aint disp,
                        int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                        MPI_Request *request)
{
  atomic_fetch_add(&n_rma, 1);
  return PMPI_Rget_accumulate(source, count, type, result, result_count, result_type, target, disp,
                              target_count, target_type, op, win, request);
}

/* Simulates a loaded machine: sleeps of 2 ms and more take six times as long. */
static atomic_bool is_crowded;

int nanosleep(const struct timespec *span, struct timespec *rest)
{
  struct timespec longer = *span;
  if (atomic_load(&is_crowded) && span->tv_sec == 0 && span->tv_nsec >= 2000000)
    longer = (struct timespec){6 * span->tv_nsec / 1000000000, 6 * span->tv_nsec % 1000000000};
  return clock_nanosleep(CLOCK_MONOTONIC, 0, &longer, rest) == 0 ? 0 : -1;
}

/* Makes a transport with the given value of OSLA_MESSAGES; NULL keeps the user's value. */
static osla_transport *with(const char *messages)
{
  const char *had = getenv("OSLA_MESSAGES");
  char *was = had ? strdup(had) : NULL;
  if (messages) (void)setenv("OSLA_MESSAGES", messages, 1);
  osla_transport *t = osla_test_transport();
  if (messages && was) (void)setenv("OSLA_MESSAGES", was, 1);
  if (messages && !was) (void)unsetenv("OSLA_MESSAGES");
  free(was);
  return t;
}

/* The rank to communicate with, on another node if there is one. */
static int partner(void)
{
  return (osla_test_rank() + osla_test_size() / 2) % osla_test_size();
}

static int origin_of_mine(void)
{
  return (osla_test_rank() + osla_test_size() - osla_test_size() / 2) % osla_test_size();
}

/* --- tests of the MPI calls of a put --- */

enum { MOST = 16384 + 64 };

static void expect(osla_transport *t, osla_segment *s, size_t bytes, uint64_t value, int messages,
                   bool rma)
{
  static unsigned char block[MOST + 1];
  int to = partner();
  bool near = osla_transport_same_node(t, to);
  size_t at = 3 + (size_t)value * sizeof block; /* offset of bytes that no earlier put has used */
  OSLA_ASSERT_OK(osla_barrier(t));
  n_messages = n_rma = 0;
  osla_test_write(block, (int64_t)value, 0, bytes);
  OSLA_ASSERT_OK(osla_put_notify(s, to, at, block, bytes, 0, value));
  int sent = n_messages, transfers = n_rma;
  memset(block, 0, sizeof block);
  OSLA_ASSERT_MSG(sent == (near ? 0 : messages) && (transfers > 0) == (rma && !near),
                  "%zu bytes: %d messages, %d transfers", bytes, sent, transfers);
  osla_notify_wait(s, origin_of_mine(), 0, value);
  CU_ASSERT(
    osla_test_differ((unsigned char *)osla_segment_local(s) + at, (int64_t)value, 0, bytes) == 0);
}

static void test_ways(void)
{
  static const struct {
    const char *setting;
    size_t most;
    bool any;
  } ways[] = {{"on", MOST, true}, {"100", 100, true}, {"0", 0, true}, {"off", 0, false}};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    osla_transport *t = with(ways[i].setting);
    osla_segment *s = NULL;
    bool any = ways[i].any;
    OSLA_ASSERT_OK(osla_segment_create(t, (size_t)6 * MOST, 1, &s));
    expect(t, s, 0, 1, any ? 1 : 0, !any);
    expect(t, s, ways[i].most, 2, any ? 1 : 0, !any);
    expect(t, s, ways[i].most + 1, 3, any ? 2 : 0, !any); /* the data travel in a second message */
    expect(t, s, 0, 4, any ? 1 : 0, !any);
    osla_segment_destroy(&s);
    osla_transport_destroy(&t);
  }
}

/* Tests the measurement that the first region of a transport makes: whether a transfer by RMA waits
 * while its target computes. The result is right even if the measuring rank comes late. */
static void test_late(void)
{
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  (void)MPI_Get_library_version(version, &length);
  const bool needs = strstr(version, "MPICH"); /* RMA of MPICH needs calls of the target */
  atomic_store(&is_crowded, true);
  osla_transport *t = with("auto");
  osla_segment *s = NULL;
  OSLA_ASSERT_OK(osla_segment_create(t, (size_t)6 * MOST, 1, &s));
  atomic_store(&is_crowded, false);
  if (needs) expect(t, s, 8, 1, 1, false);
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

/* --- tests of the order of transfers --- */

enum { STEPS = 150, AREA = 250000, LENGTH = 200000 };
typedef enum action {
  PUT_NOTIFY,
  POST,
  PUT_AND_NOTIFY,
  NOTIFY,
  GET_BACK,
  FETCH_BACK,
  ACTIONS
} action;

typedef struct step {
  action what;
  size_t at, length;
} step;

static step step_of(int origin, int i)
{
  static const int64_t most[] = {1, 100, MOST + 2, 40000, LENGTH};
  uint64_t seed = 31 + (uint64_t)origin;
  step s = {(action)osla_test_choose(seed, 4 * i, ACTIONS), 0, 0};
  s.length = (size_t)osla_test_choose(seed, 4 * i + 1, most[osla_test_choose(seed, 4 * i + 2, 5)]);
  s.at = (size_t)osla_test_choose(seed, 4 * i + 3, AREA - LENGTH);
  if (s.what == NOTIFY) s.length = 0;
  return s;
}

/* Makes step i of a series of transfers of all kinds and sizes to the same bytes. The target does
 * not respond between the steps. */
static void take_step(osla_segment *s, int i, unsigned char *source, unsigned char *all,
                      osla_posted *posted)
{
  int to = partner();
  step now = step_of(osla_test_rank(), i);
  size_t mine = (size_t)osla_test_rank() * AREA + now.at;
  uint64_t value = (uint64_t)i + 1;
  osla_transfer transfer;
  bool back = now.what == GET_BACK || now.what == FETCH_BACK;
  bool rma = now.what == PUT_AND_NOTIFY || back;
  for (int k = 0; k < i && rma; k++) /* RMA may overtake posts that are under way */
    OSLA_ASSERT_OK(osla_posted_wait(s, &posted[k]));
  if (back) {
    osla_err (*get)(osla_segment *, int, size_t, void *, size_t, osla_transfer *) =
      now.what == GET_BACK ? osla_segment_get : osla_segment_fetch;
    OSLA_ASSERT_OK(get(s, to, mine, source, now.length, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
    OSLA_ASSERT_MSG(memcmp(source, all + now.at, now.length) == 0, "step %d: not what was put", i);
    return;
  }
  osla_test_write(source, i + 7, 0, now.length);
  memcpy(all + now.at, source, now.length);
  if (now.what == PUT_AND_NOTIFY) {
    OSLA_ASSERT_OK(osla_segment_put(s, to, mine, source, now.length, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
    OSLA_ASSERT_OK(osla_notify(s, to, 0, value));
  } else if (now.what == PUT_NOTIFY) {
    OSLA_ASSERT_OK(osla_put_notify(s, to, mine, source, now.length, 0, value));
  } else if (now.what == NOTIFY) {
    OSLA_ASSERT_OK(osla_notify_post(s, to, 0, value));
  } else {
    OSLA_ASSERT_OK(osla_put_notify_post(s, to, mine, source, now.length, 0, value, &posted[i]));
  }
}

/* Compares this rank's area with the result of the origin's steps. */
static int64_t compare_area(osla_segment *s, int origin, unsigned char *all)
{
  memset(all, 0, AREA);
  for (int i = 0; i < STEPS; i++) {
    step now = step_of(origin, i);
    if (now.what != GET_BACK && now.what != FETCH_BACK)
      osla_test_write(all + now.at, i + 7, 0, now.length);
  }
  const unsigned char *mine = (unsigned char *)osla_segment_local(s) + (size_t)origin * AREA;
  int64_t bad = 0;
  for (size_t k = 0; k < AREA; k++)
    bad += mine[k] != all[k];
  return bad;
}

static void mix(const char *setting)
{
  osla_transport *t = with(setting);
  osla_segment *s = NULL;
  unsigned char *sources = malloc((size_t)STEPS * LENGTH), *all = calloc(1, AREA);
  osla_posted posted[STEPS] = {{0}};
  int origin = origin_of_mine();
  uint64_t last = 0;
  int64_t backward = 0;
  OSLA_ASSERT_OK(osla_segment_create(t, (size_t)osla_test_size() * AREA, 1, &s));
  for (int i = 0; i < STEPS; i++) {
    take_step(s, i, sources + (size_t)i * LENGTH, all, posted);
    uint64_t seen = osla_notify_read(s, origin, 0);
    backward += seen < last;
    last = seen;
  }
  OSLA_ASSERT_OK(osla_notify_post(s, partner(), 0, STEPS + 1));
  osla_notify_wait(s, origin, 0, STEPS + 1);
  int64_t bad = compare_area(s, origin, all);
  OSLA_ASSERT_MSG(bad == 0, "%s: %" PRId64 " bytes of rank %d's are not the latest", setting, bad,
                  origin);
  OSLA_ASSERT_MSG(backward == 0, "a slot went back %" PRId64 " times", backward);
  for (int i = 0; i < STEPS; i++)
    OSLA_ASSERT_OK(osla_posted_wait(s, &posted[i]));
  osla_segment_destroy(&s);
  free(sources);
  free(all);
  osla_transport_destroy(&t);
}

static void test_order(void)
{
  mix("on");
  mix("50");
  mix("off");
}

/* Waits for the origin's notice that it has flushed, and processes no messages in the first 20 ms.
 */
static void await_flush(osla_transport *t, int origin)
{
  double start = osla_clock();
  for (int there = 0; !there;) {
    CU_ASSERT(MPI_Iprobe(origin, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    if (!there && osla_clock() > start + 0.02) osla_progress(t);
  }
  CU_ASSERT(MPI_Recv(NULL, 0, MPI_BYTE, origin, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
            MPI_SUCCESS);
}

/* After a flush the data of a put with notify are in the target's memory. */
static void test_flush(void)
{
  osla_transport *t = with("on");
  osla_segment *s = NULL;
  unsigned char block[500];
  int rank = osla_test_rank();
  OSLA_ASSERT_OK(osla_segment_create(t, sizeof block, 1, &s));
  for (int origin = 0; origin < osla_test_size() && osla_test_size() > 1; origin++) {
    int to = (origin + osla_test_size() / 2) % osla_test_size();
    if (rank == origin) {
      osla_test_write(block, origin, 0, sizeof block);
      OSLA_ASSERT_OK(osla_put_notify(s, to, 0, block, sizeof block, 0, 1));
      OSLA_ASSERT_OK(osla_segment_flush(s, to));
      CU_ASSERT(MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
      OSLA_ASSERT_OK(osla_notify(s, to, 0, 2)); /* a notify without data */
      OSLA_ASSERT_OK(osla_segment_flush(s, to));
      CU_ASSERT(MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    } else if (rank == to) {
      await_flush(t, origin);
      CU_ASSERT(osla_notify_read(s, origin, 0) >= 1);
      CU_ASSERT(osla_test_differ(osla_segment_local(s), origin, 0, sizeof block) == 0);
      await_flush(t, origin);
      CU_ASSERT(osla_notify_read(s, origin, 0) == 2);
    }
    CU_ASSERT(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
  }
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

/* Tests a flush of a region without words, which uses no messages. The flush completes although the
 * target, which is inside MPI, has processed no message of another region. */
static void test_flush_of_another(void)
{
  osla_transport *t = with("on");
  osla_segment *words = NULL, *plain = NULL;
  const int last = osla_test_size() - 1;
  const double number = 42.0;
  OSLA_ASSERT_OK(osla_segment_create(t, 8, 1, &words));
  OSLA_ASSERT_OK(osla_segment_create(t, sizeof number, 0, &plain));
  if (last > 0 && osla_test_rank() == 0) {
    osla_transfer transfer;
    OSLA_ASSERT_OK(osla_notify(words, last, 0, 1));
    OSLA_ASSERT_OK(osla_segment_put(plain, last, 0, &number, sizeof number, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(plain, &transfer));
    OSLA_ASSERT_OK(osla_segment_flush(plain, last));
    CU_ASSERT(MPI_Send(NULL, 0, MPI_BYTE, last, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
  } else if (last > 0 && osla_test_rank() == last) {
    CU_ASSERT(MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CU_ASSERT(*(const double *)osla_segment_local(plain) == number);
    osla_notify_wait(words, 0, 0, 1);
  }
  osla_segment_destroy(&plain);
  osla_segment_destroy(&words);
  osla_transport_destroy(&t);
}

/* --- tests with many messages --- */

enum { FLOOD = 2000, MOST_UNSEEN = 17 };

/* All ranks post to rank 0, which processes nothing: each rank stops after a few messages, and
 * continues later. */
static void test_flood(void)
{
  osla_transport *t = with("on");
  osla_segment *s = NULL;
  unsigned char block[300];
  int rank = osla_test_rank();
  osla_posted posted = {0};
  OSLA_ASSERT_OK(osla_segment_create(t, sizeof block * (size_t)osla_test_size(), 2, &s));
  n_messages = 0;
  CU_ASSERT(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
  osla_test_write(block, rank, 0, sizeof block);
  for (uint64_t i = 1; i <= FLOOD && rank > 0; i++)
    OSLA_ASSERT_OK(osla_notify_post(s, 0, 0, i));
  if (rank > 0)
    OSLA_ASSERT_OK(
      osla_put_notify_post(s, 0, sizeof block * (size_t)rank, block, sizeof block, 1, 1, &posted));
  int sent = n_messages;
  OSLA_ASSERT_MSG(sent <= MOST_UNSEEN, "%d messages to a rank that has taken none", sent);
  CU_ASSERT(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int origin = 1; origin < osla_test_size() && rank == 0; origin++) {
    osla_notify_wait(s, origin, 1, 1);
    CU_ASSERT(osla_notify_read(s, origin, 0) == FLOOD);
    CU_ASSERT(
      osla_test_differ((unsigned char *)osla_segment_local(s) + sizeof block * (size_t)origin,
                       origin, 0, sizeof block) == 0);
  }
  OSLA_ASSERT_OK(osla_posted_wait(s, &posted));
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

enum { THREADS = 3, TURNS = 100, LARGEST = 30000 };

typedef struct sender {
  osla_segment *s;
  int purpose;
  osla_err err;
} sender;

static void *send_many(void *arg)
{
  sender *me = arg;
  unsigned char *block = malloc(LARGEST);
  size_t at = ((size_t)osla_test_rank() * THREADS + (size_t)me->purpose) * LARGEST;
  for (int i = 1; i <= TURNS && me->err == OSLA_OK; i++) {
    size_t length = i % 10 == 0 ? LARGEST : (size_t)(i * 13);
    osla_test_write(block, i, 0, length);
    me->err = osla_put_notify(me->s, partner(), at, block, length, me->purpose, (uint64_t)i);
  }
  free(block);
  return NULL;
}

/* Tests posts by threads with one purpose each, while the first thread makes progress. */
static void test_threads(void)
{
  osla_transport *t = with("on");
  osla_segment *s = NULL;
  pthread_t threads[THREADS];
  sender senders[THREADS];
  int from = origin_of_mine();
  OSLA_ASSERT_OK(osla_segment_create(t, (size_t)osla_test_size() * THREADS * LARGEST, THREADS, &s));
  for (int i = 0; i < THREADS; i++) {
    senders[i] = (sender){s, i, OSLA_OK};
    CU_ASSERT(pthread_create(&threads[i], NULL, send_many, &senders[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    osla_notify_wait(s, from, i, TURNS);
    size_t at = ((size_t)from * THREADS + (size_t)i) * LARGEST;
    CU_ASSERT(osla_test_differ((unsigned char *)osla_segment_local(s) + at, TURNS, 0, LARGEST) ==
              0);
  }
  for (int i = 0; i < THREADS; i++) {
    CU_ASSERT(pthread_join(threads[i], NULL) == 0);
    CU_ASSERT(senders[i].err == OSLA_OK);
  }
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

/* Tests notifies that are not awaited, while segments are destroyed and memory is reused. */
static void test_regions(void)
{
  osla_transport *t = with("on");
  int64_t bad = 0;
  for (int round = 0; round < 12; round++) {
    osla_segment *s[3] = {NULL};
    for (int i = 0; i < 3; i++) {
      OSLA_ASSERT_OK(osla_segment_create(t, (size_t)(100 << i), 2, &s[i]));
      for (int origin = 0; origin < osla_test_size(); origin++)
        bad += osla_notify_read(s[i], origin, 1) != 0;
    }
    OSLA_ASSERT_OK(osla_barrier(t)); /* all ranks have checked their notify slots */
    for (int i = 0; i < 30; i++)
      OSLA_ASSERT_OK(osla_notify_post(s[i % 3], partner(), 1, (uint64_t)i + 1));
    for (int i = 0; i < 3; i++)
      osla_segment_destroy(&s[(i + round) % 3]);
  }
  OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " slots of new segments were not zero", bad);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"late", test_late},
  {"ways", test_ways},
  {"order", test_order},
  {"flush", test_flush},
  {"flush_of_another", test_flush_of_another},
  {"flood", test_flood},
  {"threads", test_threads},
  {"regions", test_regions},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_eager, cases);
