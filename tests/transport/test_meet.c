/* Tests osla_meet.h, by which all ranks agree at the beginning of each collective call. The cases
 * are objects that all ranks have dropped, ranks that make different calls, and ranks that fail. */
#include "osla_meet.h"
#include "tests/osla_test_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Writes to the list of rank r the numbers below `most`, except those whose remainder is r when
 * divided by `skip`. */
static int64_t make_list(int64_t most, int64_t skip, int64_t *list)
{
  int64_t n = 0;
  for (int64_t number = 0; number < most; number++)
    if (number % skip != osla_test_rank()) list[n++] = number;
  return n;
}

static void test_common(void)
{
  osla_transport *t = osla_test_transport();
  const int64_t sizes[] = {0, 1, 5, 63, 64, 65, 128, 1000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    int64_t most = sizes[s], skip = 7, *list = malloc((size_t)(most + 1) * sizeof *list);
    int64_t n = make_list(most, skip, list), common = -1, expected = 0;
    OSLA_ASSERT_OK(osla_meet(t, OSLA_OK, "a call", n, list, &common));
    for (int64_t number = 0; number < most; number++)
      if (number % skip >= osla_test_size()) {
        CU_ASSERT(expected < common && list[expected] == number);
        expected++;
      }
    OSLA_ASSERT_MSG(common == expected, "%lld of %lld", (long long)common, (long long)expected);
    free(list);
  }
  osla_transport_destroy(&t);
}

/* Tests lists of very different lengths. */
static void test_uneven(void)
{
  osla_transport *t = osla_test_transport();
  bool last = osla_test_rank() == osla_test_size() - 1;
  int64_t n = last ? 1 : 300, common = -1, list[300];
  for (int64_t i = 0; i < n; i++)
    list[i] = last ? 299 * 1000 : i * 1000;
  OSLA_ASSERT_OK(osla_meet(t, OSLA_OK, "a call", n, list, &common));
  CU_ASSERT(common == 1 && list[0] == 299 * 1000);

  for (int64_t i = 0; i < n; i++)
    /* even numbers on all ranks but the last one, which has odd numbers */
    list[i] = 2 * i + (last ? 1 : 0);
  OSLA_ASSERT_OK(osla_meet(t, OSLA_OK, "a call", n, list, &common));
  CU_ASSERT(common == (osla_test_size() == 1 ? n : 0));

  n = last ? 0 : 300;
  OSLA_ASSERT_OK(osla_meet(t, OSLA_OK, "a call", n, list, &common));
  CU_ASSERT(common == 0);
  osla_transport_destroy(&t);
}

static void test_failure(void)
{
  osla_transport *t = osla_test_transport();
  int64_t common = -1, list[] = {1, 2};
  bool last = osla_test_rank() == osla_test_size() - 1;
  osla_err local = last ? osla_error_set(OSLA_ERR_RANGE, "77 is too much here") : OSLA_OK;
  OSLA_ASSERT_ERR(osla_meet(t, local, "a call", 2, list, &common), OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("77 is too much here");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(common == 0 && list[0] == 1 && list[1] == 2);
  /* the call works after the failure */
  OSLA_ASSERT_OK(osla_meet(t, OSLA_OK, "a call", 2, list, &common));
  CU_ASSERT(common == 2);
  osla_transport_destroy(&t);
}

static void test_elsewhere(void)
{
  osla_transport *t = osla_test_transport();
  int64_t common = -1, list[] = {1};
  bool last = osla_test_size() > 1 && osla_test_rank() == osla_test_size() - 1;
  osla_err err = osla_meet(t, OSLA_OK, last ? "getrf" : "potrf", 1, list, &common);
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(err, OSLA_ERR_STATE);
    OSLA_ASSERT_TEXT("calls getrf where rank 0 calls potrf");
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT(common == 0);
  }
  OSLA_ASSERT_OK(osla_meet(t, OSLA_OK, "potrf", 1, list, &common));
  CU_ASSERT(common == 1);
  osla_transport_destroy(&t);
}

/* Tests calls with the same name whose texts behind the name differ, also if a rank fails before it
 * can know this text.
 */
static void test_arguments(void)
{
  osla_transport *t = osla_test_transport();
  int64_t common = -1, list[] = {1};
  bool last = osla_test_size() > 1 && osla_test_rank() == osla_test_size() - 1;
  osla_err err =
    osla_meet(t, OSLA_OK, last ? "bcast of int64" : "bcast of double", 1, list, &common);
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(err, OSLA_ERR_STATE);
    OSLA_ASSERT_TEXT("calls bcast of int64 where rank 0 calls bcast of double");
    OSLA_ASSERT_SAME_TEXT();
    err = last ? osla_error_set(OSLA_ERR_RANGE, "77 is too much here") : OSLA_OK;
    err = osla_meet(t, err, last ? "bcast" : "bcast of double", 1, list, &common);
    OSLA_ASSERT_ERR(err, OSLA_ERR_RANGE);
    OSLA_ASSERT_TEXT("77 is too much here");
    CU_ASSERT(common == 0);
  }
  /* the names of the calls differ behind the part that error texts show */
  if (osla_test_size() > 1) {
    char call[100];
    (void)snprintf(call, sizeof call, "gemm %070d", last);
    OSLA_ASSERT_ERR(osla_meet(t, OSLA_OK, call, 1, list, &common), OSLA_ERR_STATE);
    OSLA_ASSERT_TEXT("gemm 0000");
    OSLA_ASSERT_TEXT("other ranks differ after the first 63 bytes");
    OSLA_ASSERT_SAME_TEXT();
  }
  OSLA_ASSERT_OK(osla_meet(t, OSLA_OK, "bcast of int64", 1, list, &common));
  CU_ASSERT(common == 1);
  osla_transport_destroy(&t);
}

/* Ranks whose `lost` is true search for the call; the other ranks make the call on the transport
 * `at`. */
static void look(osla_transport *both[2], osla_transport *at, bool lost)
{
  int64_t common = -1;
  osla_transport *found = NULL;
  if (!lost) {
    OSLA_ASSERT_ERR(osla_meet(at, OSLA_OK, "a call", 0, NULL, &common), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("one is lost");
    return;
  }
  OSLA_ASSERT_OK(osla_meet_find(2, both, &found));
  CU_ASSERT(found == at);
  if (found == at)
    OSLA_ASSERT_ERR(
      osla_meet(at, osla_error_set(OSLA_ERR_ARG, "one is lost"), "a call", 0, NULL, &common),
      OSLA_ERR_ARG);
}

/* Tests searches for the transport of a call among two transports: one of all ranks, and one of
 * every second rank in reverse order. */
static void test_find(void)
{
  osla_transport *all = osla_test_transport(), *part = NULL, *found = all;
  int rank = osla_test_rank(), size = osla_test_size();
  MPI_Comm comm;
  CU_ASSERT_FATAL(MPI_Comm_split(MPI_COMM_WORLD, rank & 1, -rank, &comm) == MPI_SUCCESS);
  OSLA_ASSERT_OK(osla_transport_create(comm, NULL, &part));
  MPI_Comm_free(&comm);
  int mine = osla_transport_rank(part), parts = osla_transport_size(part);
  osla_transport *both[] = {all, part}, *turned[] = {part, all};

  OSLA_ASSERT_OK(osla_meet_find(0, NULL, &found));
  CU_ASSERT(found == NULL);
  /* a transport that is the only candidate is found at once */
  OSLA_ASSERT_OK(osla_meet_find(1, &all, &found));
  CU_ASSERT(found == (size > 1 ? all : NULL));
  for (int i = 0; i < 4; i++) {
    if (size > 1) look(i % 2 ? both : turned, all, rank == i % size);
    if (size > 1) look(both, all, rank != i % size);
    if (parts > 1) look(turned, part, mine == i % parts);
    if (parts > 1) look(both, part, mine != i % parts);
    /* All ranks search; then the ranks whose second transport has several ranks search again. */
    OSLA_ASSERT_OK(osla_meet_find(2, i % 2 ? both : turned, &found));
    CU_ASSERT(found == NULL);
    OSLA_ASSERT_OK(osla_barrier(all));
    if (parts > 1 || size == 1) {
      OSLA_ASSERT_OK(osla_meet_find(2, both, &found));
      CU_ASSERT(found == NULL);
    }
    /* this barrier also waits for the ranks that did not search */
    OSLA_ASSERT_OK(osla_barrier(all));
  }
  osla_transport_destroy(&part);
  osla_transport_destroy(&all);
}

/* Two transports of two ranks have rank 2 in common, and all ranks search. The first ranks of both
 * transports ask at the same time whether to abandon the search, and rank 2 can answer yes to only
 * one of the two questions. */
static void test_two_give_up(void)
{
  enum { ROUNDS = 8 };
  osla_transport *all = osla_test_transport(), *mine[4] = {NULL}, *found = all;
  int rank = osla_test_rank(), n = 0;
  OSLA_ASSERT_OK(osla_barrier(all));
  if (osla_test_size() == 3) {
    /* two transports of the ranks {0, 2}, and two of the ranks {1, 2} */
    for (int i = 0; i < 4; i++) {
      MPI_Comm comm;
      bool in = rank == 2 || rank == i % 2;
      CU_ASSERT_FATAL(MPI_Comm_split(MPI_COMM_WORLD, in ? 1 : MPI_UNDEFINED, rank, &comm) ==
                      MPI_SUCCESS);
      if (in) OSLA_ASSERT_OK(osla_transport_create(comm, NULL, &mine[n++]));
      if (in) MPI_Comm_free(&comm);
    }
    for (int i = 0; i < ROUNDS; i++) {
      OSLA_ASSERT_OK(osla_barrier(all));
      if (rank == 2) /* rank 2 begins its search last, on both of its transports */
        (void)nanosleep(&(struct timespec){0, 20000000}, NULL);
      for (int time = 0; time < (rank == 2 ? 2 : 1); time++) {
        OSLA_ASSERT_OK(osla_meet_find(2, mine, &found));
        CU_ASSERT(found == NULL);
      }
    }
  }
  while (n > 0)
    osla_transport_destroy(&mine[--n]);
  osla_transport_destroy(&all);
}

static const osla_test_case cases[] = {
  {"common", test_common},           {"uneven", test_uneven},
  {"failure", test_failure},         {"elsewhere", test_elsewhere},
  {"arguments", test_arguments},     {"find", test_find},
  {"two give up", test_two_give_up}, {NULL, NULL}};
OSLA_TEST_SUITE(test_meet, cases);
