/* Tests segments: memory, contiguous transfers of every size and alignment, and errors. Each byte
 * of a data area is written by one rank and checked against that rank's random stream. */
#include "osla_segment.h"
#include "src/transport/transport_ops.h"
#include "tests/osla_test_help.h"
#include "tests/osla_test_watch.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* If true, MPI_Win_lock_all, which this program replaces, fails on this rank. */
static bool lock_all_fails;
/* number of windows created so far, between nodes and for node memory that MPI provides */
static int64_t opened;
int MPI_Win_lock_all(int assertion, MPI_Win win)
{
  opened++;
  int code = PMPI_Win_lock_all(assertion, win);
  return lock_all_fails ? MPI_ERR_OTHER : code;
}

/* Writer w's part of each data area begins at w * SHARE + 3, so it is not aligned. */
enum { SHARE = 150001, MAX_SIZE = 140000 };

/* Rank 1 has no data area; the sizes of the others differ. */
static size_t data_bytes(int rank, int size)
{
  return rank == 1 ? 0 : (size_t)size * SHARE + 3 + 1000 * (size_t)rank;
}

static const size_t sizes[] = {0, 1, 2, 7, 8, 15, 64, 1000, 4095, 4096, 4097, 65537, MAX_SIZE};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

/* Offset of transfer k of a writer in its part; small transfers lie side by side at odd offsets. */
static size_t place(int writer, int k)
{
  size_t at = (size_t)writer * SHARE + 3;
  if (k >= N_SIZES - 1)
    return at; /* the largest transfer fills the writer's part and is made in a round of its own */
  for (int i = 0; i < k; i++)
    at += sizes[i] + 1 + (size_t)(i % 5);
  return at;
}

static int64_t stream_of(int writer, int target)
{
  return 100 * writer + target;
}

static void put_round(osla_segment *s, int first, int end)
{
  int rank = osla_test_rank(), size = osla_test_size();
  unsigned char *source = malloc(MAX_SIZE + 16);
  for (int step = 0; step < size; step++) {
    int to = (rank + step) % size;
    for (int k = first; k < end && data_bytes(to, size) > 0; k++) {
      unsigned char *from = source + k % 7; /* the sources of transfers are not aligned either */
      osla_transfer transfer;
      osla_test_write(from, stream_of(rank, to), place(rank, k), sizes[k]);
      OSLA_ASSERT_OK(osla_segment_put(s, to, place(rank, k), from, sizes[k], &transfer));
      OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
      memset(from, 0, sizes[k]); /* after the wait the source may be reused */
    }
    OSLA_ASSERT_OK(osla_segment_flush(s, to));
  }
  free(source);
  OSLA_ASSERT_OK(osla_barrier(osla_segment_transport(s)));
}

/* Checks the data by loads from this rank's area, and by gets from the areas of all ranks. */
static void check_round(osla_segment *s, int first, int end)
{
  int rank = osla_test_rank(), size = osla_test_size();
  const unsigned char *mine = osla_segment_local(s);
  unsigned char *dest = malloc(MAX_SIZE + 16);
  for (int writer = 0; writer < size; writer++)
    for (int k = first; k < end; k++) {
      int64_t bad = 0;
      size_t at = place(writer, k);
      if (data_bytes(rank, size) > 0)
        bad = osla_test_differ(mine + at, stream_of(writer, rank), at, sizes[k]);
      OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " bytes of %zu from rank %d", bad, sizes[k], writer);
      int from = (rank + writer + k) % size;
      if (data_bytes(from, size) == 0) continue;
      osla_transfer transfer;
      unsigned char *to = dest + k % 5;
      memset(dest, 0, MAX_SIZE + 16);
      OSLA_ASSERT_OK(osla_segment_get(s, from, at, to, sizes[k], &transfer));
      OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
      bad = osla_test_differ(to, stream_of(writer, from), at, sizes[k]);
      bad += to[sizes[k]] != 0; /* checks that no byte beyond the transfer has changed */
      OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " bytes of %zu got from %d", bad, sizes[k], from);
    }
  free(dest);
  OSLA_ASSERT_OK(osla_barrier(osla_segment_transport(s)));
}

static int64_t count_nonzero(const unsigned char *bytes, size_t count)
{
  int64_t nonzero = 0;
  for (size_t i = 0; i < count; i++)
    if (bytes[i] != 0) nonzero++;
  return nonzero;
}

static void test_create(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size();
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  /* from round 1 on the memory comes from the cache and must be zeroed again */
  for (int round = 0; round < 5; round++) {
    osla_segment *s = NULL;
    size_t bytes = data_bytes(rank, size);
    OSLA_ASSERT_OK(osla_segment_create(t, bytes, round, &s));
    CU_ASSERT(osla_segment_bytes(s) == bytes);
    CU_ASSERT(osla_segment_transport(s) == t);
    unsigned char *local = osla_segment_local(s);
    CU_ASSERT((uintptr_t)local % page == 0);
    CU_ASSERT(count_nonzero(local, bytes) == 0);
    for (int peer = 0; peer < size; peer++)
      CU_ASSERT((osla_segment_peer(s, peer) != NULL) == osla_transport_same_node(t, peer));
    CU_ASSERT(osla_segment_peer(s, rank) == local);
    OSLA_ASSERT_OK(osla_barrier(t));
    memset(local, 0xff, bytes);
    osla_segment_destroy(&s);
    CU_ASSERT_PTR_NULL(s);
    osla_segment_destroy(&s);
  }
  osla_segment_destroy(NULL);
  osla_transport_destroy(&t);
}

static void test_put_get(void)
{
  osla_transport *t = osla_test_transport();
  osla_segment *s = NULL;
  OSLA_ASSERT_OK(osla_segment_create(t, data_bytes(osla_test_rank(), osla_test_size()), 1, &s));
  put_round(s, 0, N_SIZES - 1);
  check_round(s, 0, N_SIZES - 1);
  put_round(s, N_SIZES - 1, N_SIZES);
  check_round(s, N_SIZES - 1, N_SIZES);
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

/* Tests that ranks of a node store and load through pointers, ordered by a barrier. */
static void test_peer_pointers(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size();
  osla_segment *s = NULL;
  OSLA_ASSERT_OK(osla_segment_create(t, (size_t)size * 8, 0, &s));
  for (int peer = 0; peer < size; peer++) {
    int64_t *words = osla_segment_peer(s, peer);
    if (words) words[rank] = 1000 * peer + rank + 1;
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  const int64_t *mine = osla_segment_local(s);
  for (int peer = 0; peer < size; peer++)
    CU_ASSERT(mine[peer] == (osla_transport_same_node(t, peer) ? 1000 * rank + peer + 1 : 0));
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

/* --- tests of many transfers at the same time --- */

enum { MANY = 500, PIECE = 48 };

/* Completes the transfers in a scattered order, by wait or by test. */
static void finish_all(osla_segment *s, osla_transfer *transfers)
{
  for (int k = 0; k < MANY; k++) {
    /* 287 and MANY = 500 are coprime, so every transfer is completed */
    int which = (int)((int64_t)k * 287 % MANY);
    bool done = k % 3 != 0;
    while (!done) {
      if (!OSLA_ASSERT_OK(osla_transfer_test(s, &transfers[which], &done))) break;
      if (!done) osla_progress(osla_segment_transport(s));
    }
    /* waiting has no effect, even after a test that completed the transfer */
    OSLA_ASSERT_OK(osla_transfer_wait(s, &transfers[which]));
  }
}

static void test_many_outstanding(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size();
  int next = (rank + 1) % size, before = (rank + size - 1) % size;
  osla_segment *s = NULL;
  osla_transfer transfers[MANY];
  unsigned char *buffer = malloc(MANY * PIECE);
  OSLA_ASSERT_OK(osla_segment_create(t, MANY * PIECE, 0, &s));

  osla_test_watch_start();
  osla_test_write(buffer, rank, 0, MANY * PIECE);
  for (size_t k = 0; k < MANY; k++)
    OSLA_ASSERT_OK(osla_segment_put(s, next, k * PIECE, buffer + k * PIECE, PIECE, &transfers[k]));
  finish_all(s, transfers);
  OSLA_ASSERT_OK(osla_segment_flush(s, next));
  OSLA_ASSERT_OK(osla_barrier(t));
  CU_ASSERT(osla_test_differ(osla_segment_local(s), before, 0, MANY * PIECE) == 0);

  memset(buffer, 0, MANY * PIECE);
  for (size_t k = 0; k < MANY; k++)
    OSLA_ASSERT_OK(osla_segment_get(s, next, k * PIECE, buffer + k * PIECE, PIECE, &transfers[k]));
  finish_all(s, transfers);
  CU_ASSERT(osla_test_differ(buffer, rank, 0, MANY * PIECE) == 0);
  osla_test_watch w = osla_test_watch_read();
  bool by_requests = !osla_transport_same_node(t, next) && !osla_test_on_offered(t);
  CU_ASSERT(w.started == (by_requests ? 2 * MANY : 0));
  OSLA_ASSERT_MSG(w.most_outstanding <= 128, "%d at one time", w.most_outstanding);
  OSLA_ASSERT_OK(osla_barrier(t));
  free(buffer);
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

/* --- tests of errors --- */

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  bool last = osla_test_rank() == osla_test_size() - 1;
  osla_segment *s = (osla_segment *)&last;
  OSLA_ASSERT_ERR(osla_segment_create(t, 10, -3, &s), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("n_purposes = -3");
  CU_ASSERT_PTR_NULL(s);
  const osla_notifiers fewer_than_none = {.n_origins = -1};
  s = (osla_segment *)&last;
  OSLA_ASSERT_ERR(osla_segment_create_for(t, 10, 1, &fewer_than_none, &s), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("n_origins = -1");
  CU_ASSERT_PTR_NULL(s);
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_segment_create(t, 0, last ? 600 : 1, &s), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("n_purposes is 1 on rank 0, but 600 on rank ");
    CU_ASSERT_PTR_NULL(s);
  }

  const size_t absurd[] = {(size_t)1 << 50, (size_t)1 << 63, SIZE_MAX - 4096, SIZE_MAX};
  for (int i = 0; i < 4; i++) { /* one rank asks for too much memory, and all ranks fail */
    uint64_t needed = 0, offered = 0;
    s = (osla_segment *)&last;
    OSLA_ASSERT_ERR(osla_segment_create(t, last ? absurd[i] : 8, 1, &s), OSLA_ERR_MEM);
    int found =
      sscanf(osla_error_text(), "%" SCNu64 " bytes are needed on a node, but only %" SCNu64,
             &needed, &offered);
    OSLA_ASSERT_MSG(found == 2 && offered > 0 && needed >= (uint64_t)1 << 50, "\"%s\"",
                    osla_error_text());
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT_PTR_NULL(s);
  }

  s = (osla_segment *)&last;
  OSLA_ASSERT_ERR(osla_segment_attach(t, last ? NULL : (void *)&t, sizeof t - last, &s),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("base is NULL, but bytes = 7");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT_PTR_NULL(s);

  OSLA_ASSERT_OK(osla_segment_create(t, 8, 2, &s)); /* the transport works after the error */
  OSLA_ASSERT_ERR(osla_notify(s, 0, 2, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("purpose = 2");
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

/* Tests a call of MPI that fails on the last rank only: the call of the library fails on all ranks,
 * no rank hangs, and the next attempt works. */
static void test_mpi_failure(void)
{
  osla_transport *t = osla_test_transport();
  osla_segment *s = (osla_segment *)t;
  int64_t words[4] = {0};
  lock_all_fails = osla_test_rank() == osla_test_size() - 1;
  if (osla_test_size() > 1) { /* in a job of one rank there is no window */
    OSLA_ASSERT_ERR(osla_segment_attach(t, words, sizeof words, &s), OSLA_ERR_MPI);
    OSLA_ASSERT_TEXT("MPI_Win_lock_all");
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT_PTR_NULL(s);
  }
  /* a transport on ARMCI ignores MPI's error code, and one on OpenSHMEM makes no window */
  if (osla_transport_n_nodes(t) > 1 && !osla_test_on_offered(t)) {
    OSLA_ASSERT_ERR(osla_segment_create(t, 8, 1, &s), OSLA_ERR_MPI);
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT_PTR_NULL(s);
  }
  lock_all_fails = false;
  OSLA_ASSERT_OK(osla_segment_attach(t, words, sizeof words, &s));
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

/* Tests that memory of destroyed segments is reused: it is zeroed, with slots at zero, after any
 * stores, puts and posts. Sizes differ by rank, grow and shrink. */
static void test_again(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size(), next = (rank + 1) % size;
  int64_t bad = 0;
  for (int round = 0; round < 30; round++) {
    size_t bytes = (size_t)(100 + osla_test_choose(11, round, 70000) + 300 * rank);
    osla_segment *s = NULL, *other = NULL;
    OSLA_ASSERT_OK(osla_segment_create(t, bytes, 1 + round % 3, &s));
    if (round % 2) OSLA_ASSERT_OK(osla_segment_create(t, bytes / 3, 1, &other));
    unsigned char *data = osla_segment_local(s);
    for (size_t i = 0; i < bytes; i++)
      bad += data[i] != 0;
    for (int origin = 0; origin < size; origin++)
      bad += osla_notify_read(s, origin, round % 3) != 0;
    OSLA_ASSERT_OK(osla_barrier(t)); /* all ranks have checked their notify slots */
    memset(data, 0xA5, bytes);
    OSLA_ASSERT_OK(osla_notify_post(s, next, round % 3, 99));
    if (other) memset(osla_segment_local(other), 0x5A, bytes / 3);
    osla_segment_destroy(&s);
    osla_segment_destroy(&other);
  }
  OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " bytes or slots were not zero", bad);
  osla_transport_destroy(&t);
}

/* Tests two transports with more segments than are cached. Every second rank of a node destroys
 * them in a different order. No rank waits, and a rank can read a segment that it has not destroyed
 * yet. */
static void test_orders(void)
{
  enum { SEGMENTS = 18, BYTES = 1000 };
  int rank = osla_test_rank(), size = osla_test_size(), first = 0;
  osla_transport *t[2] = {osla_test_transport(), osla_test_transport()};
  osla_segment *s[2][SEGMENTS];
  int64_t bad = 0;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < SEGMENTS; i++) {
      OSLA_ASSERT_OK(osla_segment_create(t[k], BYTES, 0, &s[k][i]));
      osla_test_write(osla_segment_local(s[k][i]), rank, 0, BYTES);
    }
    OSLA_ASSERT_OK(osla_barrier(t[k]));
  }
  const bool frees_alone = !t[0]->memory_by_mpi && !osla_test_on_offered(t[0]);
  if (osla_transport_n_nodes(t[0]) == 1 && frees_alone) first = rank % 2;
  for (int turn = 0; turn < 2; turn++) {
    int k = (first + turn) % 2;
    for (int i = 0; i < SEGMENTS; i++) {
      for (int peer = 0; peer < size; peer++)
        if (osla_segment_peer(s[k][i], peer))
          bad += osla_test_differ(osla_segment_peer(s[k][i], peer), peer, 0, BYTES);
      osla_segment_destroy(&s[k][i]);
    }
    osla_transport_destroy(&t[k]);
  }
  OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " bytes", bad);
}

/* Tests that the oldest regions leave a full cache: memory that is used again and again needs no
 * new window, although many other segments were freed. */
static void test_latest_kept(void)
{
  enum { OTHERS = 20, BYTES = 1000, LARGER = 100000 };
  osla_transport *t = osla_test_transport();
  osla_segment *others[OTHERS], *s = NULL;
  for (int i = 0; i < OTHERS; i++)
    OSLA_ASSERT_OK(osla_segment_create(t, BYTES, 0, &others[i]));
  for (int i = 0; i < OTHERS; i++)
    osla_segment_destroy(&others[i]);
  int64_t before = opened;
  /* no cached region is large enough, so a new region is made */
  OSLA_ASSERT_OK(osla_segment_create(t, LARGER, 0, &s));
  osla_segment_destroy(&s);
  int64_t new = opened - before;
  const bool symmetric = strcmp(osla_transport_name(t), "shmem") == 0; /* memory without windows */
  bool windows = (osla_transport_n_nodes(t) > 1 && !symmetric) || t->memory_by_mpi;
  CU_ASSERT(windows ? new > 0 : new == 0);
  for (int again = 0; again < 3; again++) {
    before = opened;
    OSLA_ASSERT_OK(osla_segment_create(t, LARGER, 0, &s));
    osla_segment_destroy(&s);
    OSLA_ASSERT_MSG(opened == before, "%" PRId64 " windows were made again", opened - before);
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"create", test_create},
  {"put_get", test_put_get},
  {"peer_pointers", test_peer_pointers},
  {"many_outstanding", test_many_outstanding},
  {"errors", test_errors},
  {"mpi_failure", test_mpi_failure},
  {"again", test_again},
  {"orders", test_orders},
  {"latest_kept", test_latest_kept},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_segment, cases);
