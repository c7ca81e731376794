/* Tests segments on the caller's memory: at any alignment, inside other windows, and of no bytes.
 * Each byte is written by one rank and checked against that rank's random stream. */
#include "osla_segment.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int64_t stream_of(int writer, int target)
{
  return 100 * writer + target;
}

enum { GUARD = 64, ATTACHED = 70000 };

/* Each rank puts a piece of odd size at an odd offset of every rank's area, and reads the pieces of
 * others. */
static void use_attached(osla_segment *s, const unsigned char *base)
{
  osla_transport *t = osla_segment_transport(s);
  int rank = osla_test_rank(), size = osla_test_size();
  size_t part = ATTACHED / (size_t)size, length = part - 3;
  unsigned char *buffer = malloc(ATTACHED);
  osla_transfer transfer;
  for (int to = 0; to < size; to++) {
    osla_test_write(buffer, stream_of(rank, to), 0, length);
    OSLA_ASSERT_OK(osla_segment_put(s, to, (size_t)rank * part + 1, buffer, length, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
    OSLA_ASSERT_OK(osla_segment_flush(s, to));
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  for (int w = 0; w < size; w++) {
    const unsigned char *here = base + (size_t)w * part;
    int64_t bad = osla_test_differ(here + 1, stream_of(w, rank), 0, length);
    OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " bytes from rank %d", bad, w);
    CU_ASSERT(here[0] == 0 && here[part - 2] == 0 && here[part - 1] == 0);
    int from = (rank + w) % size;
    OSLA_ASSERT_OK(osla_segment_get(s, from, (size_t)w * part + 1, buffer, length, &transfer));
    OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
    bad = osla_test_differ(buffer, stream_of(w, from), 0, length);
    OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " bytes of rank %d got from %d", bad, w, from);
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  free(buffer);
}

static void test_attach(void)
{
  osla_transport *t = osla_test_transport();
  static const size_t misaligned[] = {0, 1, 8, 4, 15, 12};
  int rank = osla_test_rank();
  for (int round = 0; round < 3; round++) {
    size_t shift = misaligned[(rank + round) % 6], wrong = 0;
    unsigned char *memory = aligned_alloc(64, ATTACHED + 3 * GUARD - (ATTACHED % 64));
    unsigned char *base = memory + GUARD + shift;
    memset(memory, 0xee, ATTACHED + 2 * GUARD);
    memset(base, 0, ATTACHED);
    osla_segment *s = NULL;
    OSLA_ASSERT_OK(osla_segment_attach(t, base, ATTACHED, &s));
    CU_ASSERT(osla_segment_local(s) == base && osla_segment_bytes(s) == ATTACHED);
    for (int peer = 0; peer < osla_test_size(); peer++)
      CU_ASSERT(peer == rank || osla_segment_peer(s, peer) == NULL);
    use_attached(s, base);
    osla_segment_destroy(&s);
    for (size_t i = 0; i < GUARD + shift; i++)
      wrong += memory[i] != 0xee;
    for (size_t i = GUARD + shift + ATTACHED; i < ATTACHED + 2 * GUARD; i++)
      wrong += memory[i] != 0xee;
    OSLA_ASSERT_MSG(wrong == 0, "%zu bytes beside the area, shift %zu", wrong, shift);
    free(memory);
  }
  osla_transport_destroy(&t);
}

/* Tests memory inside another segment, and inside a window of the caller, because MPI may use the
 * address of the outer memory. */
static void test_attach_within(void)
{
  enum { BEFORE = 144, BYTES = ATTACHED + 2 * BEFORE };
  osla_transport *t = osla_test_transport();
  unsigned char *memory = calloc(BYTES, 1);
  osla_segment *whole = NULL, *part = NULL;
  MPI_Win window;
  /* Open MPI creates no window in a job of one rank, so the second turn needs several ranks */
  for (int turn = 0; turn < (osla_test_size() > 1 ? 2 : 1); turn++) {
    memset(memory, 0, BYTES);
    if (turn == 0)
      OSLA_ASSERT_OK(osla_segment_attach(t, memory, BYTES, &whole));
    else
      MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    size_t before = (size_t)(turn + osla_test_rank() % 2) * (BEFORE / 2);
    OSLA_ASSERT_OK(osla_segment_attach(t, memory + before, ATTACHED, &part));
    use_attached(part, memory + before);
    osla_segment_destroy(&part);
    if (turn == 0)
      osla_segment_destroy(&whole);
    else
      MPI_Win_free(&window);
  }
  free(memory);
  osla_transport_destroy(&t);
}

/* Tests a segment to which some ranks attach no bytes. */
static void test_attach_nothing(void)
{
  osla_transport *t = osla_test_transport();
  osla_segment *s = NULL;
  int64_t words[2] = {osla_test_rank(), 7}, got = -1;
  osla_transfer transfer;
  bool empty = osla_test_rank() > 0;
  OSLA_ASSERT_OK(osla_segment_attach(t, empty ? NULL : words, empty ? 0 : sizeof words, &s));
  OSLA_ASSERT_OK(osla_segment_get(s, 0, 8, &got, sizeof got, &transfer));
  OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
  CU_ASSERT(got == 7);
  OSLA_ASSERT_OK(osla_segment_get(s, osla_test_size() - 1, 0, &got, 0, &transfer));
  OSLA_ASSERT_OK(osla_transfer_wait(s, &transfer));
  osla_segment_destroy(&s);
  osla_transport_destroy(&t);
}

static bool second_call(void *arg)
{
  return ++*(int *)arg > 3;
}

/* An attached segment has no slots: a notify is an error, and a wait does not change the memory. */
static void test_attach_has_no_slots(void)
{
  osla_transport *t = osla_test_transport();
  osla_segment *s = NULL;
  unsigned char *memory = calloc(1, 4096);
  int calls = 0;
  OSLA_ASSERT_OK(osla_segment_attach(t, memory, 4096, &s));
  OSLA_ASSERT_ERR(osla_notify(s, 0, 0, 77), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("purpose = 0");
  osla_segment_wait(s, second_call, &calls);
  CU_ASSERT(calls == 4);
  OSLA_ASSERT_OK(osla_barrier(t));
  int changed = 0;
  for (int i = 0; i < 4096; i++)
    changed += memory[i] != 0;
  CU_ASSERT(changed == 0);
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_segment_destroy(&s);
  free(memory);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"attach", test_attach},
  {"within", test_attach_within},
  {"nothing", test_attach_nothing},
  {"has_no_slots", test_attach_has_no_slots},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_attach, cases);
