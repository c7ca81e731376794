/* Tests the transport: nodes, agreement, collectives, the memory check, and errors. */
#include "osla_backend.h"
#include "osla_clock.h"
#include "src/transport/transport_ops.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Thread level that MPI_Query_thread returns; -1 for the real one. */
static int pretended_level = -1;
int MPI_Query_thread(int *provided)
{
  if (pretended_level < 0) return PMPI_Query_thread(provided);
  *provided = pretended_level;
  return MPI_SUCCESS;
}

static void sleep_ms(long ms)
{
  struct timespec span = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
  (void)nanosleep(&span, NULL);
}

static void test_who_is_who(void)
{
  osla_transport *t = osla_test_transport();
  int result = MPI_UNEQUAL;
  CU_ASSERT(osla_transport_rank(t) == osla_test_rank());
  CU_ASSERT(osla_transport_size(t) == osla_test_size());
  const char *wish = getenv("OSLA_TRANSPORT");
  CU_ASSERT(strcmp(osla_transport_name(t), wish ? wish : "mpi") == 0);
  MPI_Comm_compare(osla_transport_comm(t), MPI_COMM_WORLD, &result);
  /* the transport has a duplicate of the caller's communicator */
  CU_ASSERT(result == MPI_CONGRUENT);
  osla_transport_destroy(&t);
  CU_ASSERT_PTR_NULL(t);
  osla_transport_destroy(&t);
  osla_transport_destroy(NULL);
}

static int expected_nodes(const osla_transport *t)
{
  int size = osla_transport_size(t);
  const char *nodes = getenv("OSLA_EXPECT_NODES");
  if (strcmp(osla_transport_name(t), "armci") == 0) return size;
  return nodes ? atoi(nodes) : 1;
}

static void test_node_map(void)
{
  osla_transport *t = osla_test_transport();
  int size = osla_transport_size(t), node = osla_transport_node(t), same = 0, members = 0;
  int n_nodes = osla_transport_n_nodes(t), highest = -1;
  int *nodes = malloc((size_t)size * sizeof *nodes);
  MPI_Allgather(&node, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD);
  OSLA_ASSERT_MSG(n_nodes == expected_nodes(t), "%d nodes of %d ranks", n_nodes, size);
  for (int rank = 0; rank < size; rank++) {
    /* nodes are numbered in the order of their lowest ranks */
    CU_ASSERT(nodes[rank] >= 0 && nodes[rank] <= highest + 1);
    if (nodes[rank] > highest) highest = nodes[rank];
    CU_ASSERT(osla_transport_same_node(t, rank) == (nodes[rank] == node));
    if (osla_transport_same_node(t, rank)) same++;
    if (nodes[rank] == node) members++;
  }
  CU_ASSERT(highest == n_nodes - 1);
  CU_ASSERT(same == members && same == osla_transport_node_size(t));
  free(nodes);
  osla_transport_destroy(&t);
}

/* Tests a communicator in which the ranks with even numbers come first, so that the ranks of a node
 * are not consecutive (unless there is one node). */
static void test_out_of_order(void)
{
  osla_transport *job = osla_test_transport(), *t = NULL;
  int rank = osla_test_rank(), size = osla_test_size(), evens = (size + 1) / 2, highest = -1,
      near = 0;
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank % 2 * size + rank, &comm);
  OSLA_ASSERT_OK(osla_transport_create(comm, NULL, &t));
  MPI_Comm_free(&comm);
  CU_ASSERT(osla_transport_rank(t) == (rank % 2 ? evens + rank / 2 : rank / 2));
  CU_ASSERT(osla_transport_n_nodes(t) == osla_transport_n_nodes(job));
  CU_ASSERT(osla_transport_largest_node(t) == osla_transport_largest_node(job));
  for (int r = 0; r < size; r++) {
    int of_job = r < evens ? 2 * r : 2 * (r - evens) + 1, node = osla_transport_node_of(t, r);
    bool same = osla_transport_same_node(job, of_job);
    CU_ASSERT(osla_transport_same_node(t, r) == same);
    CU_ASSERT(osla_transport_node_rank_of(t, r) == (same ? near++ : -1));
    /* nodes are numbered in the order of their lowest ranks */
    CU_ASSERT(node >= 0 && node <= highest + 1);
    if (node > highest) highest = node;
  }
  CU_ASSERT(near == osla_transport_node_size(t));
  osla_transport_destroy(&t);
  osla_transport_destroy(&job);
}

static void test_oversubscribed(void)
{
  osla_transport *t = NULL;
  osla_transport_options options = {.threads_per_rank = 100000};
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &options, &t));
  CU_ASSERT(osla_transport_oversubscribed(t));
  osla_transport_destroy(&t);
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_SELF, NULL, &t));
  CU_ASSERT(osla_transport_size(t) == 1 && osla_transport_n_nodes(t) == 1);
  CU_ASSERT(!osla_transport_oversubscribed(t));
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_transport_destroy(&t);
}

/* Tests a transport on half of the ranks in reverse order. The caller frees its communicator at
 * once. */
static void test_sub_communicator(void)
{
  int rank = osla_test_rank(), size = osla_test_size(), sum = 1;
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, size - rank, &comm);
  osla_transport *t = NULL;
  OSLA_ASSERT_OK(osla_transport_create(comm, NULL, &t));
  MPI_Comm_free(&comm);
  int members = (size + 1 - rank % 2) / 2, place = (size - 1 - rank) / 2;
  CU_ASSERT(osla_transport_size(t) == members);
  CU_ASSERT(osla_transport_rank(t) == place);
  OSLA_ASSERT_OK(osla_allreduce(t, &sum, 1, MPI_INT, MPI_SUM));
  CU_ASSERT(sum == members);
  osla_transport_destroy(&t);
}

/* --- tests of the agreement on errors --- */

/* Lets the ranks whose bits are set in `failing` fail, each with a different error, and checks the
 * agreement. */
static void agree_on(osla_transport *t, unsigned failing)
{
  int rank = osla_transport_rank(t), lowest = 0;
  osla_err mine = OSLA_OK;
  char expected[64];
  if (failing >> rank & 1)
    mine = osla_error_set((osla_err)(1 + rank % 7), "rank %d has %d apples", rank, 100 + rank);
  osla_err err = osla_agree(t, mine);
  if (failing == 0) {
    CU_ASSERT(err == OSLA_OK);
    return;
  }
  while (!(failing >> lowest & 1))
    lowest++;
  (void)snprintf(expected, sizeof expected, "rank %d has %d apples", lowest, 100 + lowest);
  osla_err first = (osla_err)(1 + lowest % 7);
  OSLA_ASSERT_MSG(err == first, "code %d for set %u", (int)err, failing);
  OSLA_ASSERT_MSG(strcmp(osla_error_text(), expected) == 0, "\"%s\" is not \"%s\"",
                  osla_error_text(), expected);
}

static void test_agree(void)
{
  osla_transport *t = osla_test_transport();
  for (unsigned failing = 0; failing < 1u << osla_test_size(); failing++)
    agree_on(t, failing);
  osla_transport_destroy(&t);
}

/* Checks that osla_agree_same compares up to OSLA_MOST_ARGUMENTS arguments, refuses one more, and
 * finds a difference in the last argument. */
static void test_agree_most(void)
{
  osla_transport *t = osla_test_transport();
  osla_argument arguments[OSLA_MOST_ARGUMENTS + 1];
  for (int i = 0; i < OSLA_MOST_ARGUMENTS + 1; i++)
    arguments[i] = (osla_argument){"width", i};
  OSLA_ASSERT_OK(osla_agree_same(t, OSLA_OK, "call", arguments, OSLA_MOST_ARGUMENTS));
  OSLA_ASSERT_ERR(osla_agree_same(t, OSLA_OK, "call", arguments, OSLA_MOST_ARGUMENTS + 1),
                  OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("compares 33 arguments, and 32 are the most");
  if (osla_test_rank() == osla_test_size() - 1)
    arguments[OSLA_MOST_ARGUMENTS - 1] = (osla_argument){"height", 7};
  if (osla_test_size() > 1)
    OSLA_ASSERT_ERR(osla_agree_same(t, OSLA_OK, "call", arguments, OSLA_MOST_ARGUMENTS),
                    OSLA_ERR_ARG);
  osla_transport_destroy(&t);
}

static void test_agree_long_text(void)
{
  osla_transport *t = osla_test_transport();
  char longest[600];
  memset(longest, 'y', sizeof longest);
  longest[511] = '\0';
  bool last = osla_test_rank() == osla_test_size() - 1;
  osla_err err = osla_agree(t, last ? osla_error_set(OSLA_ERR_IO, "%s", longest) : OSLA_OK);
  CU_ASSERT(err == OSLA_ERR_IO);
  CU_ASSERT(strcmp(osla_error_text(), longest) == 0);
  osla_transport_destroy(&t);
}

/* --- tests of collectives --- */

/* Tests that no rank leaves a barrier before the last one has entered it. All processes of the
 * machine have one clock. */
static void test_barrier(void)
{
  osla_transport *t = osla_test_transport();
  for (int late = 0; late < osla_test_size(); late++) {
    if (osla_test_rank() == late) sleep_ms(5);
    double entered = osla_clock(), last = 0.0;
    OSLA_ASSERT_OK(osla_barrier(t));
    double left = osla_clock();
    MPI_Allreduce(&entered, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    OSLA_ASSERT_MSG(left >= last, "left %.6f s before the last one entered", last - left);
  }
  osla_transport_destroy(&t);
}

static void test_allreduce(void)
{
  osla_transport *t = osla_test_transport();
  enum { COUNT = 100003 };
  int rank = osla_test_rank(), size = osla_test_size(), wrong = 0;
  int64_t *values = malloc(COUNT * sizeof *values);
  for (int i = 0; i < COUNT; i++)
    values[i] = i * (int64_t)(rank + 1);
  OSLA_ASSERT_OK(osla_allreduce(t, values, COUNT, MPI_INT64_T, MPI_SUM));
  for (int i = 0; i < COUNT; i++)
    if (values[i] != i * (int64_t)size * (size + 1) / 2) wrong++;
  CU_ASSERT(wrong == 0);
  free(values);
  double largest = -rank;
  OSLA_ASSERT_OK(osla_allreduce(t, &largest, 1, MPI_DOUBLE, MPI_MAX));
  CU_ASSERT(largest == 0.0);
  OSLA_ASSERT_OK(osla_allreduce(t, NULL, 0, MPI_DOUBLE, MPI_MAX));
  osla_transport_destroy(&t);
}

static void test_bcast(void)
{
  osla_transport *t = osla_test_transport();
  enum { BYTES = 70001 };
  unsigned char *bytes = malloc(BYTES);
  for (int root = 0; root < osla_test_size(); root++) {
    memset(bytes, 0, BYTES);
    if (osla_test_rank() == root) osla_test_write(bytes, root, 0, BYTES);
    OSLA_ASSERT_OK(osla_bcast(t, bytes, BYTES, MPI_BYTE, root));
    CU_ASSERT(osla_test_differ(bytes, root, 0, BYTES) == 0);
  }
  OSLA_ASSERT_OK(osla_bcast(t, NULL, 0, MPI_BYTE, 0));
  free(bytes);
  osla_transport_destroy(&t);
}

/* Tests a broadcast of more elements than one MPI call of the library handles (2^27). Only with two
 * ranks, to save memory. */
static void test_bcast_in_pieces(void)
{
  osla_transport *t = osla_test_transport();
  const int64_t count = (INT64_C(1) << 27) + 3;
  bool fits = osla_test_size() == 2 && osla_transport_n_nodes(t) == 1;
  unsigned char *bytes = fits ? calloc((size_t)count, 1) : NULL;
  CU_ASSERT(!fits || bytes);
  if (bytes) {
    const int64_t at[] = {0, 12345, count - 4, count - 3, count - 1};
    for (int i = 0; i < 5; i++)
      bytes[at[i]] = osla_test_rank() == 1 ? (unsigned char)(i + 1) : 0;
    OSLA_ASSERT_OK(osla_bcast(t, bytes, count, MPI_BYTE, 1));
    for (int i = 0; i < 5; i++)
      CU_ASSERT(bytes[at[i]] == i + 1);
  }
  free(bytes);
  osla_transport_destroy(&t);
}

static void test_alltoall(void)
{
  osla_transport *t = osla_test_transport();
  enum { COUNT = 5 };
  int rank = osla_test_rank(), size = osla_test_size(), wrong = 0;
  int *send = malloc((size_t)size * COUNT * sizeof *send);
  int *recv = calloc((size_t)size * COUNT, sizeof *recv);
  for (int i = 0; i < size * COUNT; i++)
    send[i] = 1000 * rank + i;
  OSLA_ASSERT_OK(osla_alltoall(t, send, recv, COUNT, MPI_INT));
  for (int i = 0; i < size * COUNT; i++)
    if (recv[i] != 1000 * (i / COUNT) + rank * COUNT + i % COUNT) wrong++;
  CU_ASSERT(wrong == 0);
  free(send);
  free(recv);
  osla_transport_destroy(&t);
}

static void test_mpi_failure(void)
{
  osla_transport *t = osla_test_transport();
  int value = 0;
  OSLA_ASSERT_ERR(osla_bcast(t, &value, 1, MPI_INT, osla_test_size()), OSLA_ERR_MPI);
  OSLA_ASSERT_TEXT("MPI_Ibcast");
  OSLA_ASSERT_ERR(osla_allreduce(t, &value, 1, MPI_INT, MPI_OP_NULL), OSLA_ERR_MPI);
  OSLA_ASSERT_TEXT("MPI_Iallreduce");
  OSLA_ASSERT_OK(osla_barrier(t)); /* the transport works after the error */
  osla_transport_destroy(&t);
}

/* --- tests of creation errors and of the memory check --- */

/* Tests a low thread level of MPI on the last rank only; all ranks fail with the same error. */
static void test_thread_level(void)
{
  osla_transport *t = (osla_transport *)&pretended_level;
  osla_transport_options options = {.progress_thread = true};
  if (osla_test_rank() == osla_test_size() - 1) pretended_level = MPI_THREAD_SERIALIZED;
  OSLA_ASSERT_ERR(osla_transport_create(MPI_COMM_WORLD, &options, &t), OSLA_ERR_STATE);
  pretended_level = -1;
  char level[32];
  (void)snprintf(level, sizeof level, "level %d", MPI_THREAD_SERIALIZED);
  OSLA_ASSERT_TEXT(level);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT_PTR_NULL(t);
}

/* Tests a transport on which only one rank asks for a progress thread. */
static void test_one_progress_thread(void)
{
  if (!osla_test_multiple("a progress thread")) return;
  osla_transport *t = NULL;
  const osla_transport_options with = {.progress_thread = true};
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, osla_test_rank() == 0 ? &with : NULL, &t));
  int64_t sum[5] = {1, 1, 1, 1, 1};
  OSLA_ASSERT_OK(osla_allreduce(t, sum, 5, MPI_INT64_T, MPI_SUM));
  CU_ASSERT(sum[0] == osla_test_size() && sum[4] == osla_test_size());
  osla_transport_destroy(&t);
}

/* Checks that the error text has the number of bytes needed on the host of the lowest failing rank,
 * and the number of bytes available there. */
static void check_absurd(osla_transport *t, uint64_t mine, uint64_t needed_there)
{
  OSLA_ASSERT_ERR(osla_memory_check(t, mine), OSLA_ERR_MEM);
  OSLA_ASSERT_SAME_TEXT();
  uint64_t needed = 0, offered = 0, shared = 0, available = 0;
  int found =
    sscanf(osla_error_text(), "%" SCNu64 " bytes are needed on a node, but only %" SCNu64 " bytes",
           &needed, &offered);
  osla_memory_available(&shared, &available);
  OSLA_ASSERT_MSG(found == 2, "%d numbers in \"%s\"", found, osla_error_text());
  OSLA_ASSERT_MSG(needed == needed_there, "%" PRIu64 " needed, not %" PRIu64, needed, needed_there);
  OSLA_ASSERT_MSG(offered > available / 2 && offered / 2 < available,
                  "%" PRIu64 " offered, %" PRIu64 " available", offered, available);
}

static void test_memory_check(void)
{
  osla_transport *t = osla_test_transport();
  uint64_t here = (uint64_t)osla_test_size(); /* number of ranks on the host, in all its nodes */
  OSLA_ASSERT_OK(osla_memory_check(t, 0));
  OSLA_ASSERT_OK(osla_memory_check(t, 4096));
  check_absurd(t, UINT64_C(1) << 50, here << 50);
  check_absurd(t, osla_test_rank() == 0 ? UINT64_C(1) << 55 : 0, UINT64_C(1) << 55);
  osla_transport_destroy(&t);
}

/* Sums of bytes that exceed 64 bits count as too large. */
static void test_memory_check_overflow(void)
{
  osla_transport *t = osla_test_transport();
  OSLA_ASSERT_ERR(osla_memory_check(t, UINT64_MAX), OSLA_ERR_MEM);
  OSLA_ASSERT_ERR(osla_memory_check(t, UINT64_C(1) << 63), OSLA_ERR_MEM);
  OSLA_ASSERT_ERR(osla_memory_check(t, UINT64_C(1) << 62), OSLA_ERR_MEM);
  osla_transport_destroy(&t);
}

static osla_err start_nothing(osla_transport *t)
{
  (void)t;
  return osla_error_set(OSLA_ERR_STATE, "a backend of this test");
}

static void finish_nothing(osla_transport *t)
{
  (void)t;
}

/* Tests backends that the ranks offer in different orders, and more of them than there is room
 * for. It must be the last case, because the backends stay known. */
static void test_offers(void)
{
  enum { OFFERS = 5 };
  static osla_transport_ops ops[OFFERS];
  static const char *const names[OFFERS] = {"first", "second", "third", "fourth", "fifth"};
  osla_transport *t = NULL;
  const int turn = osla_test_rank() % 2;
  const osla_transport_options options = {.transport = names[0]},
                               other = {.transport = names[turn]};
  for (int i = 0; i < OFFERS; i++)
    ops[i] =
      (osla_transport_ops){.name = names[i], .start = start_nothing, .finish = finish_nothing};
  CU_ASSERT_PTR_NOT_NULL(osla_backend_offer(&ops[turn]));
  CU_ASSERT_PTR_NOT_NULL(osla_backend_offer(&ops[1 - turn]));
  OSLA_ASSERT_ERR(osla_transport_create(MPI_COMM_WORLD, &options, &t), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("a backend of this test");
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_transport_create(MPI_COMM_WORLD, &other, &t), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("other ranks ask for a different one");
  }
  for (int i = 2; i < OFFERS; i++)
    (void)osla_backend_offer(&ops[i]);
  CU_ASSERT_PTR_NULL(osla_backend_offer(&ops[OFFERS - 1]));
  CU_ASSERT_PTR_NOT_NULL(osla_backend_offer(&ops[0]));
}

static const osla_test_case cases[] = {
  {"who_is_who", test_who_is_who},
  {"node_map", test_node_map},
  {"out_of_order", test_out_of_order},
  {"oversubscribed", test_oversubscribed},
  {"sub_communicator", test_sub_communicator},
  {"agree", test_agree},
  {"agree_most", test_agree_most},
  {"agree_long_text", test_agree_long_text},
  {"barrier", test_barrier},
  {"allreduce", test_allreduce},
  {"bcast", test_bcast},
  {"bcast_in_pieces", test_bcast_in_pieces},
  {"alltoall", test_alltoall},
  {"mpi_failure", test_mpi_failure},
  {"thread_level", test_thread_level},
  {"one_progress_thread", test_one_progress_thread},
  {"memory_check", test_memory_check},
  {"memory_check_overflow", test_memory_check_overflow},
  {"offers", test_offers},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_transport, cases);
