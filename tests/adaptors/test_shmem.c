/* Tests of properties that only the transport on OpenSHMEM has. With OSLA_TRANSPORT=shmem all other
 * tests run on this transport. */
#include "osla_counter.h"
#include "osla_segment.h"
#include "osla_shmem.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This must be the first case, because it needs OpenSHMEM before its start. */
static void test_errors(void)
{
  osla_transport *t = NULL;
  OSLA_ASSERT_OK(osla_shmem_offer()); /* a second call of the function has no effect */
  OSLA_ASSERT_ERR(osla_test_try_transport(MPI_COMM_WORLD, "carrier pigeon", &t),
                  OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("transport 'carrier pigeon': this program has only: mpi, ");
  OSLA_ASSERT_TEXT(", shmem");
  CU_ASSERT(!strstr(strstr(osla_error_text(), "shmem") + 1, "shmem"));
  if (osla_test_size() == 1) return;
  OSLA_ASSERT_ERR(osla_test_try_transport(MPI_COMM_SELF, "shmem", &t), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("has 1 ranks, but must have all of MPI_COMM_WORLD");
  CU_ASSERT_PTR_NULL(t);
  if (getenv("SMA_SYMMETRIC_SIZE")) return;
  if (osla_test_rank() == 1) (void)setenv("SMA_SYMMETRIC_SIZE", "1.5k", 1);
  OSLA_ASSERT_ERR(osla_test_try_transport(MPI_COMM_WORLD, "shmem", &t), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("SMA_SYMMETRIC_SIZE is 0 on rank 0, but 1536 on rank 1");
  (void)unsetenv("SMA_SYMMETRIC_SIZE");
}

/* Tests segments whose largest part is on the last rank. Every rank puts a piece of odd size at an
 * odd offset into every rank's data, and gets it back; the owner checks the piece. */
static void exchange(osla_transport *t)
{
  enum { PIECE = 10007 };
  const size_t far = 300001;
  const int rank = osla_transport_rank(t), size = osla_transport_size(t);
  osla_segment *s = NULL;
  osla_transfer transfer;
  const size_t first = (rank == size - 1 ? far : 0) + 13;
  unsigned char *buffer = malloc(PIECE), *back = malloc(PIECE);
  OSLA_ASSERT_OK(osla_segment_create(t, first + (size_t)(size * PIECE), 1, &s));
  for (int to = 0; to < size; to++) {
    const size_t at = (to == size - 1 ? far : 0) + 13 + (size_t)(rank * PIECE);
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
  for (int from = 0; from < size; from++)
    CU_ASSERT(osla_test_differ(mine + first + from * PIECE, from * size + rank, 0, PIECE) == 0);
  for (int peer = 0; peer < size; peer++)
    CU_ASSERT((osla_segment_peer(s, peer) != NULL) == osla_transport_same_node(t, peer));
  osla_segment_destroy(&s);
  free(buffer);
  free(back);
}

static void test_regions(void)
{
  osla_transport *t = osla_test_transport_on("shmem");
  for (int i = 0; i < 3; i++)
    exchange(t);
  osla_transport_destroy(&t);
}

/* Bytes of the symmetric heap on each rank: SHMEM_SYMMETRIC_SIZE, or else Open MPI's 256 MiB. */
static size_t heap_bytes(void)
{
  const char *size = getenv("SHMEM_SYMMETRIC_SIZE");
  char *unit;
  const size_t number = strtoull(size ? size : "256M", &unit, 10);
  switch (size ? *unit : 'M') {
    case 'g':
    case 'G': return number << 30;
    case 'm':
    case 'M': return number << 20;
    case 'k':
    case 'K': return number << 10;
    default: return number;
  }
}

/* Tests a heap that is too small: the error names the bytes and the variable, and the transport
 * works afterwards. Freed memory is available again, also for a larger segment after the smaller
 * ones were cached. */
static void test_heap(void)
{
  const size_t most = heap_bytes() + 1, part = heap_bytes() / 256;
  osla_transport *t = osla_test_transport_on("shmem");
  osla_segment *s = NULL, *first = NULL, *second = NULL;
  size_t asked = 0, megabytes = 0;
  const bool last = osla_test_rank() == osla_test_size() - 1;
  OSLA_ASSERT_ERR(osla_segment_create(t, last ? most : 8, 1, &s), OSLA_ERR_MEM);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT_PTR_NULL(s);
  const char *room = strstr(osla_error_text(), "no room for ");
  const char *variable = strstr(osla_error_text(), "set SHMEM_SYMMETRIC_SIZE=");
  const bool is_complete = room && variable && sscanf(room, "no room for %zu", &asked) == 1 &&
                           sscanf(variable, "set SHMEM_SYMMETRIC_SIZE=%zuM", &megabytes) == 1;
  OSLA_ASSERT_MSG(is_complete, "\"%s\"", osla_error_text());
  CU_ASSERT(asked > most && asked < most + 100000);
  CU_ASSERT(megabytes << 19 >= asked && megabytes << 18 <= asked);
  /* the third segment fits only after the cached regions of the two others are freed */
  OSLA_ASSERT_OK(osla_segment_create(t, part * 100, 1, &first));
  OSLA_ASSERT_OK(osla_segment_create(t, part * 60, 1, &s));
  OSLA_ASSERT_OK(osla_segment_create(t, part * 60, 1, &second));
  osla_segment_destroy(&s);
  osla_segment_destroy(&second);
  OSLA_ASSERT_OK(osla_segment_create(t, part * 110, 1, &s));
  osla_segment_destroy(&s);
  osla_segment_destroy(&first);
  osla_transport_destroy(&t);
}

/* Tests additions of small, large and negative numbers by all ranks. */
static void test_fetch_add(void)
{
  enum { TIMES = 100 };
  const int64_t large = (int64_t)1 << 42;
  osla_transport *t = osla_test_transport_on("shmem");
  osla_counter *counter = NULL;
  int64_t before = -1, last = -1, end = 0, bad = 0, size = osla_test_size();
  OSLA_ASSERT_OK(osla_counter_create(t, &counter));
  for (int i = 0; i < TIMES; i++) {
    OSLA_ASSERT_OK(osla_counter_next(counter, i % 2 ? 3 : large, &before));
    bad += before <= last;
    last = before;
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  OSLA_ASSERT_OK(osla_counter_next(counter, 0, &end));
  OSLA_ASSERT_MSG(end == TIMES / 2 * size * (3 + large), "%" PRId64, end);
  CU_ASSERT(bad == 0);
  OSLA_ASSERT_OK(osla_barrier(t));
  if (osla_test_rank() == 0) {
    OSLA_ASSERT_OK(osla_counter_next(counter, -end, &before));
    OSLA_ASSERT_OK(osla_counter_next(counter, -1, &before));
    CU_ASSERT(before == 0);
  }
  osla_counter_destroy(&counter);
  osla_transport_destroy(&t);
}

/* Tests a transport whose ranks have the reverse order, and transports on parts of MPI_COMM_WORLD,
 * beside one on the whole of it. The parts have memory from MPI. */
static void test_parts(void)
{
  osla_transport *world = osla_test_transport_on("shmem"), *reverse = NULL, *part = NULL;
  const int rank = osla_test_rank();
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  OSLA_ASSERT_OK(osla_test_try_transport(comm, "shmem", &reverse));
  MPI_Comm_free(&comm);
  exchange(reverse);
  exchange(world);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
  OSLA_ASSERT_OK(osla_test_try_transport(comm, "shmem", &part));
  MPI_Comm_free(&comm);
  exchange(part);
  exchange(world);
  osla_transport_destroy(&part);
  osla_transport_destroy(&reverse);
  osla_transport_destroy(&world);
}

static const osla_test_case cases[] = {{"errors", test_errors}, {"regions", test_regions},
                                       {"heap", test_heap},     {"fetch_add", test_fetch_add},
                                       {"parts", test_parts},   {NULL, NULL}};
OSLA_TEST_SUITE(test_shmem, cases);
