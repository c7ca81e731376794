/* Tests the environment variables of a transport, which must be equal on all ranks. */
#include "tests/osla_test_help.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When set, this rank pretends to have another build than rank 0, by changing what MPI_Bcast
 * delivers. */
static bool other_build;
int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  int code = PMPI_Bcast(buffer, count, type, root, comm);
  char *text = buffer;
  if (other_build && strstr(text, "(build ")) {
    text[strlen(text) - 2] ^= 1;
    other_build = false;
  }
  return code;
}

static bool alone(void)
{
  CU_ASSERT(true);
  return osla_test_size() == 1;
}

static void expect_error(osla_err expected, const char *part)
{
  osla_transport *t = NULL;
  OSLA_ASSERT_ERR(osla_transport_create(MPI_COMM_WORLD, NULL, &t), expected);
  CU_ASSERT_PTR_NULL(t);
  OSLA_ASSERT_TEXT(part);
  OSLA_ASSERT_SAME_TEXT();
}

static void test_differ(void)
{
  static const char *const names[] = {"OSLA_SHARED_MEMORY", "OSLA_FAKE_NODES", "OSLA_PATIENCE",
                                      "OSLA_WINDOW_INFO",   "OSLA_MESSAGES",   "OSLA_SPARSE_FROM",
                                      "OSLA_OWN_CORES",     "OSLA_VERIFY"};
  if (alone()) return;
  int last = osla_test_size() - 1;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char part[80], *was = getenv(names[i]) ? strdup(getenv(names[i])) : NULL;
    if (osla_test_rank() == last) (void)setenv(names[i], "77", 1);
    (void)snprintf(part, sizeof part, "but '77' on rank %d", last);
    expect_error(OSLA_ERR_ARG, part);
    OSLA_ASSERT_TEXT(names[i]);
    if (was)
      (void)setenv(names[i], was, 1);
    else
      (void)unsetenv(names[i]);
    free(was);
  }
}

static void test_other_build(void)
{
  if (alone()) return;
  other_build = osla_test_rank() == 1;
  osla_transport *t = NULL;
  OSLA_ASSERT_ERR(osla_transport_create(MPI_COMM_WORLD, NULL, &t), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("on rank 1: all ranks need one build");
  CU_ASSERT(!other_build);
}

static void test_wrong_values(void)
{
  static const char *const wrong[][2] = {{"OSLA_FAKE_NODES", "0"},
                                         {"OSLA_FAKE_NODES", "2x"},
                                         {"OSLA_FAKE_NODES", "-1"},
                                         {"OSLA_EXPECT_NODES", "many"},
                                         {"OSLA_PATIENCE", "-1"},
                                         {"OSLA_PATIENCE", "soon"},
                                         {"OSLA_PATIENCE", "nan"},
                                         {"OSLA_PATIENCE", "0x10"},
                                         {"OSLA_WINDOW_INFO", "no"},
                                         {"OSLA_MESSAGES", "yes"},
                                         {"OSLA_MESSAGES", "-1"},
                                         {"OSLA_MESSAGES", "65537"},
                                         {"OSLA_EXPECT_RANKS", "0"},
                                         {"OSLA_SPARSE_FROM", "0"},
                                         {"OSLA_SPARSE_FROM", "all"},
                                         {"OSLA_VERIFY", "1"},
                                         {"OSLA_EXPECT_RANKS", "99999999999"},
                                         {"OSLA_OWN_CORES", "yes"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char part[80], *was = getenv(wrong[i][0]) ? strdup(getenv(wrong[i][0])) : NULL;
    (void)setenv(wrong[i][0], wrong[i][1], 1);
    (void)snprintf(part, sizeof part, "%s=%s", wrong[i][0], wrong[i][1]);
    expect_error(OSLA_ERR_ARG, part);
    if (was)
      (void)setenv(wrong[i][0], was, 1);
    else
      (void)unsetenv(wrong[i][0]);
    free(was);
  }
}

static void test_expectations(void)
{
  char part[80];
  (void)setenv("OSLA_EXPECT_RANKS", "1000", 1);
  (void)snprintf(part, sizeof part, "%d rank%s, and OSLA_EXPECT_RANKS asks for 1000",
                 osla_test_size(), osla_test_size() == 1 ? "" : "s");
  expect_error(OSLA_ERR_STATE, part);
  (void)unsetenv("OSLA_EXPECT_RANKS");

  /* A transport on some of the ranks ignores OSLA_EXPECT_RANKS. */
  osla_transport *t = NULL;
  if (osla_test_size() > 1) {
    (void)setenv("OSLA_EXPECT_RANKS", "1000", 1);
    OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_SELF, NULL, &t));
    (void)unsetenv("OSLA_EXPECT_RANKS");
    osla_transport_destroy(&t);
  }
}

static void test_fake_nodes(void)
{
  int size = osla_test_size();
  osla_transport *t = NULL;
  if (getenv("OSLA_FAKE_NODES")) return;
  (void)unsetenv("OSLA_EXPECT_NODES");
  /* if there are more fake nodes than ranks, each rank is a node */
  (void)setenv("OSLA_FAKE_NODES", "3", 1);
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, NULL, &t));
  CU_ASSERT(osla_transport_n_nodes(t) == (size < 3 ? size : 3));
  CU_ASSERT(osla_transport_node_of(t, size - 1) == osla_transport_n_nodes(t) - 1);
  if (size == 4) CU_ASSERT(osla_transport_same_node(t, 0) == (osla_test_rank() < 2));
  osla_transport_destroy(&t);
  (void)setenv("OSLA_FAKE_NODES", "all", 1);
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, NULL, &t));
  CU_ASSERT(osla_transport_n_nodes(t) == size);
  osla_transport_destroy(&t);
  (void)unsetenv("OSLA_FAKE_NODES");
}

static const osla_test_case cases[] = {{"differ", test_differ},
                                       {"other_build", test_other_build},
                                       {"wrong_values", test_wrong_values},
                                       {"expectations", test_expectations},
                                       {"fake_nodes", test_fake_nodes},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_settings, cases);
