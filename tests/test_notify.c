/* Floor 1: notify, the shared counter and the striped lock, under contention. */
#include "osla_clock.h"
#include "osla_counter.h"
#include "osla_segment.h"
#include "osla_stripes.h"
#include "osla_test_help.h"
#include "osla_test_watch.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1003, STEPS = 60 };

/* A token with data goes round the ring; who sees the notify must see the data. */
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

/* Data that came by an ordinary put, small and large, is there when a later notify is. */
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

/* Posts of all sizes under way at a time, between them notifies that nobody waits for and one put
 * that waits: each arrives with its data, and values only grow. */
static void test_posts(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size();
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  osla_segment *s = NULL;
  unsigned char *blocks = malloc((size_t)POSTS * LARGE);
  osla_posted posted[POSTS];
  int64_t bad = 0, backward = 0;
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
  OSLA_ASSERT_OK(osla_posted_wait(s, &posted[0])); /* none left: nothing happens */
  osla_notify_wait(s, before, 1, 2 * POSTS);
  OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " bytes not seen with their notify", bad);
  OSLA_ASSERT_MSG(backward == 0, "a slot went back %" PRId64 " times", backward);
  CU_ASSERT(osla_put_notify_post(s, next, 0, blocks, 1, 2, 1, &posted[0]) == OSLA_ERR_ARG);
  CU_ASSERT(osla_notify_post(s, next, -1, 1) == OSLA_ERR_ARG);
  OSLA_ASSERT_OK(osla_notify_post(s, next, 0, 1)); /* under way while the segment goes */
  osla_segment_destroy(&s);
  free(blocks);
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

/* Every (origin, purpose) has a slot of its own; values go far beyond 32 bits. */
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

/* Rank 0 computes for 100 ms before it notifies: all others see it soon after, and not before. The
 * clock is one for all processes of the machine. */
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

/* --- the counter ----------------------------------------------------------------------------- */

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

/* All threads of all ranks draw; every multiple of step from 0 on is handed out exactly once. */
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
  OSLA_ASSERT_OK(osla_counter_next(counter, 0, &end)); /* step 0 only reads */
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

/* --- the striped lock ------------------------------------------------------------------------ */

static void test_stripes_masks(void)
{
  osla_transport *t = osla_test_transport();
  osla_stripes lock = {0};
  CU_ASSERT(osla_stripes_try(&lock, 0x0f));
  CU_ASSERT(!osla_stripes_try(&lock, 0x08));
  CU_ASSERT(!osla_stripes_try(&lock, 0x18)); /* none of it, not the free half */
  CU_ASSERT(osla_stripes_try(&lock, 0x10));
  CU_ASSERT(osla_stripes_try(&lock, UINT64_C(1) << 63));
  CU_ASSERT(osla_stripes_try(&lock, 0)); /* nothing wanted */
  osla_stripes_release(&lock, 0x0c);
  CU_ASSERT(osla_stripes_try(&lock, 0x0c));
  CU_ASSERT(!osla_stripes_try(&lock, 0x01));
  osla_stripes_release(&lock, 0x1f | UINT64_C(1) << 63);
  CU_ASSERT(osla_stripes_try(&lock, UINT64_MAX));
  CU_ASSERT(!osla_stripes_try(&lock, 1));
  osla_stripes_release(&lock, UINT64_MAX);
  osla_stripes_take(t, &lock, UINT64_MAX);
  osla_stripes_release(&lock, UINT64_MAX);
  CU_ASSERT(lock.held == 0);
  osla_transport_destroy(&t);
}

enum { TAKES = 2000, STRIPES = 64 };

/* In the segment of the node's lowest rank. The counts are plain: only the lock protects them. */
typedef struct protected
{
  osla_stripes lock;
  volatile int64_t count[STRIPES];
  volatile int64_t inside[STRIPES];
}
protected;

typedef struct locker {
  osla_transport *t;
  protected *shared;
  uint64_t seed;
  int64_t taken[STRIPES], intruders;
} locker;

static uint64_t some_mask(uint64_t seed, int64_t k)
{
  if (k % 50 == 0) return UINT64_MAX;
  uint64_t mask = UINT64_C(1) << osla_test_choose(seed, 3 * k, 8); /* eight of them are crowded */
  if (k % 2) mask |= UINT64_C(1) << osla_test_choose(seed, 3 * k + 1, STRIPES);
  return mask | UINT64_C(1) << osla_test_choose(seed, 3 * k + 2, 8);
}

static void *lock_often(void *arg)
{
  locker *l = arg;
  protected *p = l->shared;
  for (int64_t k = 0; k < TAKES; k++) {
    uint64_t mask = some_mask(l->seed, k);
    osla_stripes_take(l->t, &p->lock, mask);
    for (int i = 0; i < STRIPES; i++)
      if (mask >> i & 1 && p->inside[i]++ != 0) l->intruders++;
    for (int i = 0; i < STRIPES; i++)
      if (mask >> i & 1) {
        p->count[i]++;
        l->taken[i]++;
        if (p->inside[i]-- != 1) l->intruders++;
      }
    osla_stripes_release(&p->lock, mask);
  }
  return NULL;
}

static void test_stripes_exclude(void)
{
  osla_transport *t = osla_test_transport();
  int node = osla_transport_node(t), first = 0;
  osla_segment *s = NULL;
  int64_t *sums = calloc((size_t)osla_transport_n_nodes(t) * STRIPES, sizeof *sums);
  OSLA_ASSERT_OK(osla_segment_create(t, sizeof(protected), 0, &s));
  while (!osla_transport_same_node(t, first))
    first++;
  protected *shared = osla_segment_peer(s, first);
  pthread_t threads[THREADS];
  locker lockers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    lockers[i] = (locker){t, shared, (uint64_t)(osla_test_rank() * THREADS + i), {0}, 0};
    CU_ASSERT(pthread_create(&threads[i], NULL, lock_often, &lockers[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    CU_ASSERT(pthread_join(threads[i], NULL) == 0);
    OSLA_ASSERT_MSG(lockers[i].intruders == 0, "%" PRId64 " times", lockers[i].intruders);
    for (int k = 0; k < STRIPES; k++)
      sums[node * STRIPES + k] += lockers[i].taken[k];
  }
  OSLA_ASSERT_OK(
    osla_allreduce(t, sums, osla_transport_n_nodes(t) * STRIPES, MPI_INT64_T, MPI_SUM));
  for (int k = 0; k < STRIPES; k++)
    OSLA_ASSERT_MSG(shared->count[k] == sums[node * STRIPES + k],
                    "stripe %d: %" PRId64 ", taken %" PRId64 " times", k, shared->count[k],
                    sums[node * STRIPES + k]);
  CU_ASSERT(shared->lock.held == 0);
  OSLA_ASSERT_OK(osla_barrier(t));
  free(sums);
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {
    {"ping_pong", test_ping_pong},
    {"notify_after_put", test_notify_after_put},
    {"posts", test_posts},
    {"all_to_all", test_all_to_all},
    {"late_notify", test_late_notify},
    {"counter", test_counter},
    {"stripes_masks", test_stripes_masks},
    {"stripes_exclude", test_stripes_exclude},
    {NULL, NULL},
  };
  return osla_test_main(argc, argv, cases);
}
