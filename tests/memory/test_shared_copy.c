/* Tests of copies that two sides carry out together (src/memory/shared_copy.h). */
#include "src/memory/shared_copy.h"
#include "tests/osla_test.h"

#include <pthread.h>
#include <sched.h>

/* ---- claims in a known order ---- */

static void test_claims(void)
{
  shared_copy c = {0};
  CU_ASSERT_EQUAL(shared_copy_claim(&c, 7, 5, true), -1); /* the copy is not open */
  shared_copy_open(&c, 7);
  CU_ASSERT_EQUAL(shared_copy_claim(&c, 6, 5, true), -1);
  CU_ASSERT_EQUAL(shared_copy_claim(&c, 7, 5, false), 0);
  CU_ASSERT_EQUAL(shared_copy_claim(&c, 7, 5, true), 4);
  CU_ASSERT_EQUAL(shared_copy_claim(&c, 7, 5, false), 1);
  shared_copy_push(&c, 7, 5, 4);
  CU_ASSERT_EQUAL(shared_copy_claim(&c, 7, 5, true), 3);
  CU_ASSERT_EQUAL(shared_copy_claim(&c, 7, 5, false), 2);
  CU_ASSERT_EQUAL(shared_copy_claim(&c, 7, 5, false), -1);
  CU_ASSERT_EQUAL(shared_copy_claim(&c, 7, 5, true), -1);
  CU_ASSERT_FALSE(shared_copy_is_complete(&c)); /* chunk 3 is claimed, but not copied */
  shared_copy_push(&c, 7, 5, 3);
  CU_ASSERT_TRUE(shared_copy_is_complete(&c));
}

/* A count of pushed chunks that belongs to an earlier copy completes no later copy. */
static void test_earlier_copy(void)
{
  shared_copy c = {0};
  for (uint32_t id = 1; id <= 3; id++) {
    shared_copy_open(&c, id);
    CU_ASSERT_EQUAL(shared_copy_claim(&c, id, 2, true), 1);
    CU_ASSERT_EQUAL(shared_copy_claim(&c, id, 2, false), 0);
    CU_ASSERT_FALSE(shared_copy_is_complete(&c));
    shared_copy_push(&c, id, 2, 1);
    CU_ASSERT_TRUE(shared_copy_is_complete(&c));
  }
}

static void test_most_chunks(void)
{
  shared_copy c = {0};
  int64_t wrong = 0;
  shared_copy_open(&c, UINT32_MAX);
  for (int64_t i = 0; i < SHARED_COPY_CHUNKS; i++)
    wrong += shared_copy_claim(&c, UINT32_MAX, SHARED_COPY_CHUNKS, false) != i;
  CU_ASSERT_EQUAL(shared_copy_claim(&c, UINT32_MAX, SHARED_COPY_CHUNKS, true), -1);
  CU_ASSERT_TRUE(shared_copy_is_complete(&c));
  shared_copy_open(&c, 1);
  for (int64_t i = SHARED_COPY_CHUNKS - 1; i >= 0; i--) {
    wrong += shared_copy_claim(&c, 1, SHARED_COPY_CHUNKS, true) != i;
    shared_copy_push(&c, 1, SHARED_COPY_CHUNKS, i);
  }
  CU_ASSERT_EQUAL(shared_copy_claim(&c, 1, SHARED_COPY_CHUNKS, false), -1);
  CU_ASSERT_TRUE(shared_copy_is_complete(&c));
  CU_ASSERT_EQUAL(wrong, 0);
}

/* ---- two threads ---- */

enum { COPIES = 2000, MOST = 64 };

typedef struct both {
  shared_copy copy;
  /* number of times that each chunk has been copied; the claims and `pushed` order the accesses */
  int times[MOST];
  _Atomic uint32_t n_read; /* number of copies that the reader has completed */
} both;

static int64_t chunks_of(uint32_t id)
{
  return 1 + id % MOST;
}

static void *own(void *arg)
{
  both *b = arg;
  for (uint32_t id = 1; id <= COPIES; id++)
    while (atomic_load(&b->n_read) < id) {
      const int64_t n = chunks_of(id), i = shared_copy_claim(&b->copy, id, n, true);
      if (i < 0) {
        (void)sched_yield();
        continue;
      }
      b->times[i]++;
      shared_copy_push(&b->copy, id, n, i);
    }
  return NULL;
}

/* Each chunk of each copy is copied exactly once. */
static void test_two_threads(void)
{
  static both b;
  pthread_t owner;
  int64_t wrong = 0;
  CU_ASSERT(pthread_create(&owner, NULL, own, &b) == 0);
  for (uint32_t id = 1; id <= COPIES; id++) {
    const int64_t n = chunks_of(id);
    for (int i = 0; i < MOST; i++)
      b.times[i] = 0;
    shared_copy_open(&b.copy, id);
    for (int64_t i; (i = shared_copy_claim(&b.copy, id, n, false)) >= 0;) {
      b.times[i]++;
      if (id % 3 == 0) (void)sched_yield();
    }
    while (!shared_copy_is_complete(&b.copy))
      (void)sched_yield();
    for (int i = 0; i < MOST; i++)
      wrong += b.times[i] != (i < n);
    atomic_store(&b.n_read, id);
  }
  CU_ASSERT(pthread_join(owner, NULL) == 0);
  CU_ASSERT_EQUAL(wrong, 0);
}

static const osla_test_case cases[] = {
  {"claims", test_claims},
  {"earlier_copy", test_earlier_copy},
  {"most_chunks", test_most_chunks},
  {"two_threads", test_two_threads},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_shared_copy, cases);
