/* Tests the striped lock, under contention and with threads that might starve. */
#include "osla_clock.h"
#include "osla_segment.h"
#include "osla_stripes.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static void test_masks(void)
{
  osla_transport *t = osla_test_transport();
  osla_stripes lock = {0};
  CU_ASSERT(osla_stripes_try(&lock, 0x0f));
  CU_ASSERT(!osla_stripes_try(&lock, 0x08));
  /* the attempt acquires neither of the two stripes, although one of them is free */
  CU_ASSERT(!osla_stripes_try(&lock, 0x18));
  CU_ASSERT(osla_stripes_try(&lock, 0x10));
  CU_ASSERT(osla_stripes_try(&lock, UINT64_C(1) << 63));
  CU_ASSERT(osla_stripes_try(&lock, 0)); /* an empty mask */
  osla_stripes_release(t, &lock, 0x0c);
  CU_ASSERT(osla_stripes_try(&lock, 0x0c));
  CU_ASSERT(!osla_stripes_try(&lock, 0x01));
  osla_stripes_release(t, &lock, 0x1f | UINT64_C(1) << 63);
  CU_ASSERT(osla_stripes_try(&lock, UINT64_MAX));
  CU_ASSERT(!osla_stripes_try(&lock, 1));
  osla_stripes_release(t, &lock, UINT64_MAX);
  osla_stripes_take(t, &lock, UINT64_MAX);
  osla_stripes_release(t, &lock, UINT64_MAX);
  CU_ASSERT(lock.held == 0);
  osla_transport_destroy(&t);
}

enum { THREADS = 3, TAKES = 2000, STRIPES = 64 };

/* Data in the segment of the node's lowest rank. The counts are plain integers, which only the lock
 * protects. */
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
  /* chooses from only eight stripes, for more contention */
  uint64_t mask = UINT64_C(1) << osla_test_choose(seed, 3 * k, 8);
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
    osla_stripes_release(l->t, &p->lock, mask);
  }
  return NULL;
}

static void test_exclude(void)
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

/* --- tests of a thread that waits for all stripes while others hold one each --- */

enum { STREAMS = 6, TURNS = 5, HOLD_US = 200, RARELY_US = 3000 };
static const double limit_s = 4.0;

static void nap(long us)
{
  struct timespec span = {.tv_nsec = 1000 * us};
  (void)nanosleep(&span, NULL);
}

typedef struct stream {
  osla_transport *t;
  osla_stripes *lock;
  uint64_t mask;
  double end;
  atomic_bool *stop;
} stream;

/* Holds a stripe nearly all the time until the other threads are done, or a time limit ends the
 * test. */
static void *hold_one(void *arg)
{
  stream *s = arg;
  while (!atomic_load(s->stop) && osla_clock() < s->end) {
    osla_stripes_take(s->t, s->lock, s->mask);
    nap(HOLD_US);
    osla_stripes_release(s->t, s->lock, s->mask);
  }
  return NULL;
}

/* Tries to acquire all stripes as a progress step does, without waiting. */
static void poll_for_all(osla_stripes *lock)
{
  osla_stripes_patience patience = {0};
  while (!osla_stripes_try_again(lock, UINT64_MAX, &patience))
    nap(RARELY_US);
  CU_ASSERT(patience.ticket == 0);
}

/* Two threads, a waiting and a polling one, acquire all stripes TURNS times while STREAMS other
 * threads hold one stripe each. There is no moment when all stripes happen to be free. */
typedef struct wanting {
  osla_transport *t;
  osla_stripes *lock;
} wanting;

static void *wait_for_all(void *arg)
{
  wanting *w = arg;
  for (int turn = 0; turn < TURNS; turn++) {
    osla_stripes_take(w->t, w->lock, UINT64_MAX);
    osla_stripes_release(w->t, w->lock, UINT64_MAX);
  }
  return NULL;
}

static void test_starving(void)
{
  osla_transport *t = osla_test_transport();
  osla_segment *s = NULL;
  int first = 0;
  OSLA_ASSERT_OK(osla_segment_create(t, sizeof(osla_stripes), 0, &s));
  while (!osla_transport_same_node(t, first))
    first++;
  osla_stripes *lock = osla_segment_peer(s, first);
  pthread_t threads[STREAMS], waiter;
  stream streams[STREAMS];
  atomic_bool stop = false;
  double start = osla_clock();
  for (int i = 0; i < STREAMS; i++) {
    streams[i] =
      (stream){t, lock, UINT64_C(1) << (osla_test_rank() * STREAMS + i), start + limit_s, &stop};
    CU_ASSERT(pthread_create(&threads[i], NULL, hold_one, &streams[i]) == 0);
  }
  wanting w = {t, lock};
  CU_ASSERT(pthread_create(&waiter, NULL, wait_for_all, &w) == 0);
  for (int turn = 0; turn < TURNS; turn++) {
    poll_for_all(lock);
    osla_stripes_release(t, lock, UINT64_MAX);
  }
  (void)pthread_join(waiter, NULL);
  double seconds = osla_clock() - start;
  OSLA_ASSERT_MSG(seconds < limit_s, "%.3f s: not before the others stopped", seconds);
  /* the other threads of all ranks hold stripes until this barrier */
  OSLA_ASSERT_OK(osla_barrier(t));
  atomic_store(&stop, true);
  for (int i = 0; i < STREAMS; i++)
    (void)pthread_join(threads[i], NULL);
  OSLA_ASSERT_OK(osla_barrier(t));
  CU_ASSERT(lock->held == 0 && lock->claimed == 0 && lock->claimant == 0);
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

/* Tries to acquire the stripes, without success, until the thread has a claim on them. */
static void try_in_vain(osla_stripes *lock, uint64_t mask, osla_stripes_patience *patience)
{
  double end = osla_clock() + limit_s;
  while ((patience->ticket == 0 || lock->claimant != patience->ticket) && osla_clock() < end)
    CU_ASSERT(!osla_stripes_try_again(lock, mask, patience));
}

/* Tests that the claim of the older ticket has precedence, and that a thread that stops trying does
 * not block others for ever. */
static void test_claims(void)
{
  osla_transport *t = osla_test_transport();
  osla_stripes lock = {0};
  osla_stripes_patience older = {0}, younger = {0};
  CU_ASSERT(osla_stripes_try(&lock, 1));
  try_in_vain(&lock, 3, &older);
  CU_ASSERT(lock.claimed == 3 && lock.claimant == older.ticket);
  try_in_vain(&lock, 5, &younger); /* the claim of the older ticket has ended meanwhile */
  CU_ASSERT(lock.claimed == 5 && lock.claimant == younger.ticket);
  try_in_vain(&lock, 3, &older);
  CU_ASSERT(lock.claimed == 3 && lock.claimant == older.ticket);
  CU_ASSERT(older.ticket < younger.ticket);
  CU_ASSERT(osla_stripes_try(&lock, 8)); /* no thread claims the stripe of mask 8 */
  osla_stripes_release(t, &lock, 1);
  CU_ASSERT(osla_stripes_try_again(&lock, 3, &older));
  CU_ASSERT(lock.claimed == 0 && lock.claimant == 0 && older.ticket == 0 && older.since == 0);
  try_in_vain(&lock, 5, &younger);
  osla_stripes_release(t, &lock, 3 | 8);
  /* the younger claimant makes no further attempt, and its claim ends by time */
  osla_stripes_take(t, &lock, 5);
  osla_stripes_release(t, &lock, 5);
  CU_ASSERT(lock.held == 0);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"masks", test_masks},
  {"exclude", test_exclude},
  {"starving", test_starving},
  {"claims", test_claims},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_stripes, cases);
