/* Tests of properties that only the transport on ARMCI has. With OSLA_TRANSPORT=armci all other
 * tests run on this transport. */
#include "osla_armci.h"
#include "osla_counter.h"
#include "osla_segment.h"
#include "tests/osla_test_help.h"

#include <armci.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* This must be the first case, because it needs ARMCI before its start. */
static void test_errors(void)
{
  int size = osla_test_size();
  osla_transport *t = (osla_transport *)&size;
  OSLA_ASSERT_ERR(osla_test_try_transport(MPI_COMM_WORLD, "carrier pigeon", &t),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("transport 'carrier pigeon': this program has only: mpi, armci");
  CU_ASSERT_PTR_NULL(t);
  if (size == 1) return;
  OSLA_ASSERT_ERR(osla_test_try_transport(MPI_COMM_SELF, "armci", &t), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("has 1 ranks, but must have all of MPI_COMM_WORLD");
  CU_ASSERT_PTR_NULL(t);
  const char *names[] = {"mpi", "armci"}; /* the names differ between ranks, so all ranks fail */
  OSLA_ASSERT_ERR(osla_test_try_transport(MPI_COMM_WORLD, names[osla_test_rank() == 0], &t),
                  OSLA_ERR_ARG);
  CU_ASSERT_PTR_NULL(t);
}

static void test_nodes(void)
{
  osla_transport *t = osla_test_transport_on("armci");
  CU_ASSERT(strcmp(osla_transport_name(t), "armci") == 0);
  CU_ASSERT(osla_transport_n_nodes(t) == osla_test_size());
  OSLA_ASSERT_OK(osla_armci_offer()); /* a second call of the function has no effect */
  osla_transport_destroy(&t);
}

/* Tests puts and gets: every rank puts a piece of odd size at an odd offset into every rank's
 * data, and gets it back; the owner checks the piece. Sizes differ between ranks; the last rank
 * has `far` bytes before its data. */
static void exchange(osla_transport *t, size_t far)
{
  enum { PIECE = 10007 };
  int rank = osla_transport_rank(t), size = osla_transport_size(t);
  osla_segment *s = NULL;
  osla_transfer transfer;
  size_t first = (rank == size - 1 ? far : 0) + 13;
  unsigned char *buffer = malloc(PIECE), *back = malloc(PIECE);
  OSLA_ASSERT_OK(osla_segment_create(t, first + (size_t)(size * PIECE + rank), 1, &s));
  for (int to = 0; to < size; to++) {
    size_t at = (to == size - 1 ? far : 0) + 13 + (size_t)(rank * PIECE);
    osla_test_write(buffer, rank * size + to, 0, PIECE);
    OSLA_ASSERT_OK(osla_segment_put(s, to, at, buffer, PIECE, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
    OSLA_ASSERT_OK(osla_segment_flush(s, to));
    memset(back, 0, PIECE);
    OSLA_ASSERT_OK(osla_segment_get(s, to, at, back, PIECE, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
    CU_ASSERT(memcmp(buffer, back, PIECE) == 0);
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  const unsigned char *mine = osla_segment_local(s);
  CU_ASSERT((uintptr_t)mine % 4096 == 0);
  for (int from = 0; from < size; from++)
    CU_ASSERT(osla_test_differ(mine + first + from * PIECE, from * size + rank, 0, PIECE) == 0);
  CU_ASSERT(osla_segment_peer(s, rank) == mine);
  if (size > 1) CU_ASSERT_PTR_NULL(osla_segment_peer(s, (rank + 1) % size));
  osla_segment_destroy(&s);
  free(buffer);
  free(back);
}

static void test_regions(void)
{
  osla_transport *t = osla_test_transport_on("armci");
  for (size_t far = 0; far < 5000; far += 977)
    exchange(t, far);
  osla_transport_destroy(&t);
}

static void test_big_offset(void)
{
  const size_t far = ((size_t)1 << 31) + 4096 + 5;
  osla_transport *t = osla_test_transport_on("armci");
  if (osla_test_size() == 2) exchange(t, far);
  CU_ASSERT(osla_test_size() > 0);
  osla_transport_destroy(&t);
}

/* Tests that a notification is never seen before the data that were put with it, whatever other
 * transfers are under way. */
static void test_order(void)
{
  enum { ROUNDS = 60, WORDS = 3001, NOISE = 20 };
  osla_transport *t = osla_test_transport_on("armci");
  int rank = osla_test_rank(), size = osla_test_size(), next = (rank + 1) % size,
      before = (rank + size - 1) % size;
  osla_segment *s = NULL;
  size_t bytes = WORDS * sizeof(int64_t), bad = 0;
  int64_t *data = malloc(bytes), noise[NOISE];
  osla_transfer transfers[NOISE];
  OSLA_ASSERT_OK(osla_segment_create(t, 2 * bytes + sizeof noise, 2, &s));
  const int64_t *mine = osla_segment_local(s);
  for (int round = 1; round <= ROUNDS; round++) {
    size_t area = (size_t)(round % 2) * bytes;
    for (int i = 0; i < WORDS; i++)
      data[i] = (int64_t)round * WORDS + i;
    for (size_t i = 0; i < NOISE; i++)
      OSLA_ASSERT_OK(osla_segment_get(s, next, 2 * bytes + i * 8, &noise[i], 8, &transfers[i]));
    if (round % 3 == 0) {
      osla_posted posted;
      OSLA_ASSERT_OK(osla_put_notify_post(s, next, area, data, bytes, 0, (uint64_t)round, &posted));
      OSLA_ASSERT_OK(osla_posted_wait(s, &posted));
    } else {
      OSLA_ASSERT_OK(osla_put_notify(s, next, area, data, bytes, 0, (uint64_t)round));
    }
    osla_notify_wait(s, before, 0, (uint64_t)round);
    for (int i = 0; i < WORDS; i++)
      bad += mine[area / 8 + (size_t)i] != (int64_t)round * WORDS + i;
    /* notifies the writer that it may write to this area again */
    OSLA_ASSERT_OK(osla_notify(s, before, 1, (uint64_t)round));
    osla_notify_wait(s, next, 1, (uint64_t)round - 1);
    for (int i = 0; i < NOISE; i++)
      OSLA_ASSERT_OK(osla_transfer_wait(s, &transfers[i]));
  }
  CU_ASSERT(bad == 0);
  free(data);
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

/* Tests additions: all ranks add small numbers, while rank 0 also adds numbers that ARMCI's own
 * fetch-and-add does not support. */
static void test_fetch_add(void)
{
  enum { TIMES = 100, LARGE = 10 };
  const int64_t large = (int64_t)1 << 42;
  osla_transport *t = osla_test_transport_on("armci");
  osla_counter *counter = NULL;
  int64_t before = -1, last = -1, end = 0, bad = 0, size = osla_test_size();
  OSLA_ASSERT_OK(osla_counter_create(t, &counter));
  for (int i = 0; i < TIMES; i++) {
    OSLA_ASSERT_OK(osla_counter_next(counter, 3, &before));
    bad += before <= last;
    last = before;
    if (osla_test_rank() > 0 || i % (TIMES / LARGE) > 0) continue;
    OSLA_ASSERT_OK(osla_counter_next(counter, large, &before));
    bad += before <= last;
    last = before;
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  OSLA_ASSERT_OK(osla_counter_next(counter, 0, &end));
  OSLA_ASSERT_MSG(end == 3 * TIMES * size + LARGE * large, "%" PRId64, end);
  CU_ASSERT(bad == 0);
  OSLA_ASSERT_OK(osla_barrier(t));
  if (osla_test_rank() == 0) { /* adds a large negative number to bring the counter back to zero */
    OSLA_ASSERT_OK(osla_counter_next(counter, -end, &before));
    OSLA_ASSERT_OK(osla_counter_next(counter, -1, &before));
    CU_ASSERT(before == 0);
  }
  osla_counter_destroy(&counter);
  osla_transport_destroy(&t);
}

/* Waits for the turn of this rank. Windows on disjoint communicators are created one after the
 * other, because Open MPI 4's osc rdma would give them one file if they were created at the same
 * time on one host (issue 9492 of Open MPI). */
static void begin_turn(int turn)
{
  for (int i = 0; i < turn; i++)
    MPI_Barrier(MPI_COMM_WORLD);
}
static void end_turn(int turn, int turns)
{
  begin_turn(turns - turn);
}

/* Tests transports on parts of MPI_COMM_WORLD whose ranks have the reverse order, beside a
 * transport on the whole of it. */
static void test_parts(void)
{
  osla_transport *world = osla_test_transport_on("armci"), *part = NULL;
  int rank = osla_test_rank(), size = osla_test_size();
  osla_segment *everywhere = NULL, *here = NULL;
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
  OSLA_ASSERT_OK(osla_test_try_transport(comm, "armci", &part));
  MPI_Comm_free(&comm);
  OSLA_ASSERT_OK(osla_segment_create(world, 64, 1, &everywhere));
  begin_turn(rank % 2);
  /* this segment must stay valid after fences of other transports */
  OSLA_ASSERT_OK(osla_segment_create(part, 64, 1, &here));
  end_turn(rank % 2, 2);
  for (int to = 0; to < size; to++)
    OSLA_ASSERT_OK(osla_notify(everywhere, to, 0, 7));
  for (int to = 0; to < size; to++)
    OSLA_ASSERT_OK(osla_notify(everywhere, to, 0, 8));
  for (int from = 0; from < size; from++)
    osla_notify_wait(everywhere, from, 0, 8);
  begin_turn(rank % 2);
  exchange(part, 0);
  end_turn(rank % 2, 2);
  exchange(world, 0);
  osla_segment_destroy(&here);
  osla_segment_destroy(&everywhere);
  osla_transport_destroy(&part);
  osla_transport_destroy(&world);
}

/* Tests that memory which ARMCI gave to another user, such as Global Arrays, is used in place. */
static void test_attach(void)
{
  enum { BYTES = 3000 };
  osla_transport *t = osla_test_transport_on("armci");
  int rank = osla_test_rank(), size = osla_test_size(), next = (rank + 1) % size;
  void **base = calloc((size_t)size, sizeof *base);
  osla_segment *s = NULL;
  osla_transfer transfer;
  unsigned char buffer[BYTES];
  CU_ASSERT(ARMCI_Malloc(base, BYTES) == 0);
  OSLA_ASSERT_OK(osla_segment_attach(t, base[rank], BYTES, &s));
  osla_test_write(buffer, rank, 0, BYTES);
  OSLA_ASSERT_OK(osla_segment_put(s, next, 0, buffer, BYTES, &transfer));
  OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
  OSLA_ASSERT_OK(osla_segment_flush(s, next));
  OSLA_ASSERT_OK(osla_barrier(t));
  CU_ASSERT(osla_test_differ(base[rank], (rank + size - 1) % size, 0, BYTES) == 0);
  OSLA_ASSERT_OK(osla_segment_get(s, next, 0, buffer, BYTES, &transfer));
  OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
  CU_ASSERT(osla_test_differ(buffer, rank, 0, BYTES) == 0);
  osla_segment_destroy(&s);
  CU_ASSERT(ARMCI_Free(base[rank]) == 0);
  free(base);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"errors", test_errors},         {"nodes", test_nodes},   {"regions", test_regions},
  {"big_offset", test_big_offset}, {"order", test_order},   {"fetch_add", test_fetch_add},
  {"parts", test_parts},           {"attach", test_attach}, {NULL, NULL}};
OSLA_TEST_SUITE(test_armci, cases);
