/* Tests notifies, posts and the shared counter, under contention. */
#include "osla_clock.h"
#include "osla_counter.h"
#include "osla_grid.h"
#include "osla_segment.h"
#include "tests/osla_test_help.h"
#include "tests/osla_test_watch.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 1003, STEPS = 60 };

/* A token with data passes around a ring of ranks; a rank that sees the notify must see the data.
 */
static void test_ping_pong(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size();
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  osla_segment *s = NULL;
  unsigned char *block = malloc(BLOCK);
  int64_t bad = 0;
  OSLA_ASSERT_OK(osla_segment_create(t, BLOCK + 5, 2, &s));
  for (int step = 1; step <= STEPS; step++) {
    size_t length = (size_t)(step * 37 % BLOCK);
    if (rank > 0 || step > 1) {
      uint64_t value = (uint64_t)(rank > 0 ? step : step - 1);
      size_t expected = (size_t)((int)value * 37 % BLOCK);
      osla_notify_wait(s, before, 1, value);
      CU_ASSERT(osla_notify_read(s, before, 1) == value);
      bad +=
        osla_test_differ((unsigned char *)osla_segment_local(s) + 5, (int64_t)value, 0, expected);
    }
    osla_test_write(block, step, 0, length);
    OSLA_ASSERT_OK(osla_put_notify(s, next, 5, block, length, 1, (uint64_t)step));
    memset(block, 0, BLOCK); /* the source may be reused */
  }
  OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " bytes not seen with their notify", bad);
  OSLA_ASSERT_OK(osla_barrier(t));
  free(block);
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

enum { LARGE = 300000, ROUNDS = 8 };

/* Tests that data of an earlier put, small or large, are visible with a later notify. */
static void test_notify_after_put(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size();
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  osla_segment *s = NULL;
  unsigned char *block = malloc(LARGE);
  int64_t bad = 0;
  OSLA_ASSERT_OK(osla_segment_create(t, (size_t)ROUNDS * LARGE, 1, &s));
  osla_test_watch_start();
  for (int round = 0; round < ROUNDS; round++) {
    size_t at = (size_t)round * LARGE, length = round % 2 ? LARGE : 40;
    osla_transfer transfer;
    osla_test_write(block, rank + round, 0, length);
    OSLA_ASSERT_OK(osla_segment_put(s, next, at, block, length, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
    OSLA_ASSERT_OK(osla_notify(s, next, 0, (uint64_t)round + 1));
    osla_notify_wait(s, before, 0, (uint64_t)round + 1);
    bad += osla_test_differ((unsigned char *)osla_segment_local(s) + at, before + round, 0, length);
  }
  osla_test_watch w = osla_test_watch_read();
  OSLA_ASSERT_MSG(w.overtaking == 0, "%d notify words sent before a flush", w.overtaking);
  CU_ASSERT(w.unflushed == 0);
  OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " bytes not seen with their notify", bad);
  OSLA_ASSERT_OK(osla_barrier(t));
  free(block);
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

enum { POSTS = 24 };

/* Tests posts of all sizes that are under way at the same time, with a waiting put and with
 * notifies that no rank awaits in between. Each post arrives with its data, and the notified values
 * only grow. */
static void test_posts(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size();
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  osla_segment *s = NULL;
  unsigned char *blocks = malloc((size_t)POSTS * LARGE);
  osla_posted posted[POSTS];
  int64_t bad = 0, backward = 0;
  osla_test_watch_start();
  OSLA_ASSERT_OK(osla_segment_create(t, (size_t)POSTS * LARGE, 2, &s));
  for (int i = 0; i < POSTS; i++) {
    size_t at = (size_t)i * LARGE, length = i % 3 == 0 ? LARGE : (size_t)(i % 3) * 50;
    uint64_t value = 2 * (uint64_t)i + 1;
    osla_test_write(blocks + at, rank + i, 0, length);
    posted[i] = (osla_posted){0};
    if (i == POSTS / 2)
      OSLA_ASSERT_OK(osla_put_notify(s, next, at, blocks + at, length, 1, value));
    else
      OSLA_ASSERT_OK(osla_put_notify_post(s, next, at, blocks + at, length, 1, value, &posted[i]));
    OSLA_ASSERT_OK(osla_notify_post(s, next, 1, value + 1));
  }
  uint64_t last = 0;
  for (int i = 0; i < POSTS; i++) {
    size_t at = (size_t)i * LARGE, length = i % 3 == 0 ? LARGE : (size_t)(i % 3) * 50;
    osla_notify_wait(s, before, 1, 2 * (uint64_t)i + 1);
    uint64_t seen = osla_notify_read(s, before, 1);
    backward += seen < last;
    last = seen;
    bad += osla_test_differ((unsigned char *)osla_segment_local(s) + at, before + i, 0, length);
  }
  for (int i = POSTS - 1; i >= 0; i--)
    OSLA_ASSERT_OK(osla_posted_wait(s, &posted[i]));
  /* a wait for a post that is already complete does nothing */
  OSLA_ASSERT_OK(osla_posted_wait(s, &posted[0]));
  osla_notify_wait(s, before, 1, 2 * POSTS);
  CU_ASSERT(osla_test_watch_read().on_bells == 0);
  OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " bytes not seen with their notify", bad);
  OSLA_ASSERT_MSG(backward == 0, "a slot went back %" PRId64 " times", backward);
  CU_ASSERT(osla_put_notify_post(s, next, 0, blocks, 1, 2, 1, &posted[0]) == OSLA_ERR_ARG);
  CU_ASSERT(osla_notify_post(s, next, -1, 1) == OSLA_ERR_ARG);
  /* this post is under way while the segment is destroyed */
  OSLA_ASSERT_OK(osla_notify_post(s, next, 0, 1));
  osla_segment_destroy(&s);
  free(blocks);
  osla_transport_destroy(&t);
}

/* CPU time of this thread, in s. */
static double work_clock(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { MANY = 5000, TIMES = 8 };

/* Returns the CPU time of posting `count` notifies behind a post that is held back. Afterwards all
 * of them arrive. */
static double queue_posts(osla_transport *t, osla_segment *s, uint64_t *value, int count)
{
  int rank = osla_test_rank(), last = osla_test_size() - 1;
  unsigned char block[64] = {0};
  osla_posted posted = {0};
  double work = 0;
  OSLA_ASSERT_OK(osla_barrier(t));
  if (rank == 0) {
    osla_test_watch_hold(!osla_test_on_offered(t));
    OSLA_ASSERT_OK(osla_put_notify_post(s, last, 0, block, sizeof block, 0, *value + 1, &posted));
    work = -work_clock();
    for (int i = 2; i <= count; i++)
      OSLA_ASSERT_OK(osla_notify_post(s, last, 0, *value + (uint64_t)i));
    work += work_clock();
    osla_test_watch_hold(false);
    OSLA_ASSERT_OK(osla_posted_wait(s, &posted));
  }
  *value += (uint64_t)count;
  if (rank == last) osla_notify_wait(s, 0, 0, *value);
  return work;
}

/* Tests that the CPU time of posts grows in proportion to their number, and not to its square.
 * Allocating new memory takes time as well.
 */
static void test_many_posts(void)
{
  osla_transport *t = osla_test_transport();
  osla_segment *s = NULL;
  uint64_t value = 0;
  double best[2] = {1e9, 1e9};
  OSLA_ASSERT_OK(osla_segment_create(t, 64, 1, &s));
  for (int i = 0; i < 8; i++) {
    int few = osla_test_on_offered(t) ? 10 : MANY;
    double work = queue_posts(t, s, &value, i % 2 ? TIMES * few : few);
    if (work < best[i % 2]) best[i % 2] = work;
  }
  if (osla_test_rank() == 0 && !osla_test_on_offered(t) &&
      osla_transport_node(t) != osla_transport_node_of(t, osla_test_size() - 1))
    OSLA_ASSERT_MSG(best[1] < 3 * TIMES * best[0],
                    "%.6f s of work for %d posts, %.6f s for %d times as many", best[0], MANY,
                    best[1], (int)TIMES);
  OSLA_ASSERT_OK(osla_barrier(t));
  CU_ASSERT(osla_notify_read(s, 0, 0) == (osla_test_rank() == osla_test_size() - 1 ? value : 0));
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

typedef struct all_seen {
  osla_segment *s;
  int size, purposes;
  uint64_t value;
} all_seen;

static bool all_slots_reached(void *arg)
{
  all_seen *a = arg;
  for (int origin = 0; origin < a->size; origin++)
    for (int purpose = 0; purpose < a->purposes; purpose++)
      if (osla_notify_read(a->s, origin, purpose) < a->value + (uint64_t)purpose) return false;
  return true;
}

/* Tests that every pair (origin, purpose) has its own slot, and that values may exceed 32 bits. */
static void test_all_to_all(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size();
  enum { PURPOSES = 5 };
  osla_segment *s = NULL;
  OSLA_ASSERT_OK(osla_segment_create(t, (size_t)size * 8, PURPOSES, &s));
  for (int origin = 0; origin < size; origin++)
    CU_ASSERT(osla_notify_read(s, origin, PURPOSES - 1) == 0);
  OSLA_ASSERT_OK(osla_barrier(t));
  for (uint64_t round = 1; round <= 3; round++) {
    uint64_t value = round << 40;
    for (int step = 0; step < size; step++) {
      int to = (rank + step) % size;
      int64_t word = (int64_t)round * 1000 + rank * 10 + to;
      for (int purpose = 0; purpose < PURPOSES; purpose++)
        OSLA_ASSERT_OK(osla_put_notify(s, to, (size_t)rank * 8, &word, sizeof word, purpose,
                                       value + (uint64_t)purpose));
    }
    all_seen a = {s, size, PURPOSES, value};
    osla_segment_wait(s, all_slots_reached, &a);
    const int64_t *words = osla_segment_local(s);
    for (int origin = 0; origin < size; origin++)
      CU_ASSERT(words[origin] == (int64_t)round * 1000 + origin * 10 + rank);
    OSLA_ASSERT_OK(osla_barrier(t));
  }
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

static bool has_slot(const osla_transport *t, bool in_grid, int p, int mine, int other)
{
  if (osla_transport_same_node(t, other)) return true;
  return in_grid && (other % p == mine % p || other / p == mine / p);
}

/* Tests which ranks have slots: only those of the process row, the process column and the node.
 * Each rank has separate slots for 9 purposes, which together take more than a cache line. The head
 * has the size of a table of these ranks. */
static void test_row_and_column(void)
{
  enum { PURPOSES = 9 };
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size(), p = size > 3 ? 2 : 1, q = size / p;
  osla_grid *grid = NULL;
  osla_segment *s = NULL;
  OSLA_ASSERT_OK(osla_grid_create_ordered(t, p, q, OSLA_GRID_COLUMNS, &grid));
  osla_notifiers who = osla_grid_notifiers(grid);
  OSLA_ASSERT_OK(osla_segment_create_for(t, 8, PURPOSES, &who, &s));
  bool in_grid = rank < p * q;
  for (int to = 0; to < size; to++) {
    bool near = has_slot(t, in_grid && to < p * q, p, rank, to);
    for (int purpose = 0; purpose < PURPOSES; purpose++) {
      uint64_t value = (uint64_t)(1 + 100 * rank + purpose);
      if (near)
        OSLA_ASSERT_OK(osla_notify(s, to, purpose, value));
      else
        OSLA_ASSERT_ERR(osla_notify(s, to, purpose, value), OSLA_ERR_ARG);
    }
    /* without this flush, the notifies could arrive at `to` after the barrier */
    if (near) OSLA_ASSERT_OK(osla_segment_flush(s, to));
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  for (int from = 0; from < size; from++) {
    bool near = has_slot(t, in_grid && from < p * q, p, rank, from);
    for (int purpose = 0; purpose < PURPOSES; purpose++)
      CU_ASSERT(osla_notify_read(s, from, purpose) ==
                (near ? (uint64_t)(1 + 100 * from + purpose) : 0));
  }
  osla_segment_destroy(&s);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
  /* footprints for 10,000 ranks on a square grid with 128 on a node, and for an accumulator */
  CU_ASSERT(osla_segment_footprint(0, 5, 328) == 24576 + 4096);
  CU_ASSERT(osla_segment_footprint(0, 3, 10000) <= 10000 * 64 + 2 * 4096);
}

/* Tests a rank 0 that computes for 100 ms before it notifies. All other ranks see the notify soon
 * after that and not earlier. All processes of the machine have one clock. */
static void test_late_notify(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size();
  osla_segment *s = NULL;
  double sent = 0.0, seen = 0.0;
  OSLA_ASSERT_OK(osla_segment_create(t, sizeof sent, 1, &s));
  if (rank == 0) {
    double end = osla_clock() + 0.1;
    while ((sent = osla_clock()) < end)
      continue;
    for (int to = 1; to < size; to++)
      OSLA_ASSERT_OK(osla_put_notify(s, to, 0, &sent, sizeof sent, 0, 1));
  } else {
    osla_notify_wait(s, 0, 0, 1);
    seen = osla_clock();
    memcpy(&sent, osla_segment_local(s), sizeof sent);
    OSLA_ASSERT_MSG(sent > 0.0 && seen >= sent, "sent at %.6f, seen at %.6f", sent, seen);
    OSLA_ASSERT_MSG(seen - sent < 2.0, "woken %.3f s late", seen - sent);
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  CU_ASSERT(osla_notify_read(s, 0, 0) == (rank > 0));
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

/* --- tests of the shared counter --- */

enum { THREADS = 3, DRAWS = 40 };

typedef struct drawer {
  osla_counter *counter;
  int64_t step, values[DRAWS];
  osla_err err;
} drawer;

static void *draw(void *arg)
{
  drawer *d = arg;
  for (int k = 0; k < DRAWS && d->err == OSLA_OK; k++)
    d->err = osla_counter_next(d->counter, d->step, &d->values[k]);
  return NULL;
}

/* All threads of all ranks use the counter; every multiple of step from 0 on is returned exactly
 * once. */
static void draw_all(osla_transport *t, int64_t step)
{
  int total = osla_test_size() * THREADS * DRAWS, wrong = 0, falling = 0;
  int *times = calloc((size_t)total, sizeof *times);
  osla_counter *counter = NULL;
  OSLA_ASSERT_OK(osla_counter_create(t, &counter));
  pthread_t threads[THREADS];
  drawer drawers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    drawers[i] = (drawer){.counter = counter, .step = step};
    CU_ASSERT(pthread_create(&threads[i], NULL, draw, &drawers[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    CU_ASSERT(pthread_join(threads[i], NULL) == 0);
    CU_ASSERT(drawers[i].err == OSLA_OK);
    for (int k = 0; k < DRAWS; k++) {
      int64_t ticket = drawers[i].values[k] / step;
      if (drawers[i].values[k] % step != 0 || ticket < 0 || ticket >= total)
        wrong++;
      else
        times[ticket]++;
      if (k > 0 && drawers[i].values[k] / step <= drawers[i].values[k - 1] / step) falling++;
    }
  }
  OSLA_ASSERT_OK(osla_allreduce(t, times, total, MPI_INT, MPI_SUM));
  for (int k = 0; k < total; k++)
    if (times[k] != 1) wrong++;
  OSLA_ASSERT_MSG(wrong == 0 && falling == 0, "%d values wrong, %d not rising", wrong, falling);
  int64_t end = 0;
  /* a step of 0 reads the counter without changing it */
  OSLA_ASSERT_OK(osla_counter_next(counter, 0, &end));
  CU_ASSERT(end == total * step);
  free(times);
  osla_counter_destroy(&counter);
  CU_ASSERT_PTR_NULL(counter);
  osla_counter_destroy(&counter);
}

static void test_counter(void)
{
  osla_transport *t = osla_test_transport();
  draw_all(t, 1);
  draw_all(t, -5);
  draw_all(t, INT64_C(1) << 40);
  osla_counter_destroy(NULL);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"ping_pong", test_ping_pong},
  {"notify_after_put", test_notify_after_put},
  {"posts", test_posts},
  {"many_posts", test_many_posts},
  {"all_to_all", test_all_to_all},
  {"row_and_column", test_row_and_column},
  {"late_notify", test_late_notify},
  {"counter", test_counter},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_notify, cases);
