/* main of the test programs. It runs suites one after the other, and prints the lines that
 * osla_test.h describes. */
#include "osla_armci.h"
#include "osla_farewell.h"
#include "osla_shmem.h"
#include "osla_transport.h"
#include "tests/osla_test.h"
#include "tests/process_state.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static osla_test_suite *suites; /* list of all suites, sorted by name */

void osla_test_add(osla_test_suite *suite)
{
  osla_test_suite **at = &suites;
  while (*at && strcmp((*at)->name, suite->name) < 0)
    at = &(*at)->next;
  suite->next = *at;
  *at = suite;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
  if (osla_test_rank() != 0) return;
  va_list args;
  va_start(args, format);
  (void)vprintf(format, args);
  va_end(args);
  (void)fflush(stdout);
}

/* Writes each line with one call, so that lines of different ranks do not mix. */
static void print_failures(const char *name)
{
  for (const CU_FailureRecord *f = CU_get_failure_list(); f != NULL; f = f->pNext) {
    char line[1400];
    (void)snprintf(line, sizeof line, "  [%d] %s: %s:%u: %s\n", osla_test_rank(), name,
                   f->strFileName, f->uiLineNumber, f->strCondition);
    (void)fputs(line, stdout);
    (void)fflush(stdout);
  }
}

/* Runs one case. Collective. Returns 0, or 1 if the case failed on any rank. */
static int run_case(CU_pSuite holder, const osla_test_case *test)
{
  CU_pTest added = CU_add_test(holder, test->name, test->run);
  int local[2] = {1, 0}; /* number of failures and number of assertions on this rank */
  if (added != NULL && CU_run_test(holder, added) == CUE_SUCCESS) {
    local[0] = (int)(CU_get_number_of_failures() + CU_get_number_of_tests_failed());
    local[1] = (int)CU_get_number_of_asserts();
    print_failures(test->name);
  }
  int all[2] = {0, 0};
  MPI_Allreduce(local, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const bool failed = all[0] != 0 || all[1] == 0;
  if (failed) /* lets the other ranks print their failures first */
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  say("%s%s %s\n", failed ? "FAIL" : "ok", all[1] == 0 ? " (no assertion ran)" : "", test->name);
  return failed;
}

/* Runs the cases of a suite that are called `only`, or all cases if `only` is NULL. Collective.
 * Returns 0, or 1 if a case failed or no case has this name. */
static int run_suite(const osla_test_suite *suite, const char *only)
{
  int failed = 0, n = 0;
  CU_pSuite holder = CU_get_suite(suite->name);
  if (holder == NULL) holder = CU_add_suite(suite->name, NULL, NULL);
  say("== begin %s\n", suite->name);
  for (const osla_test_case *test = suite->cases; test->name != NULL; test++)
    if (!only || strcmp(only, test->name) == 0) {
      failed |= run_case(holder, test);
      n++;
    }
  if (n == 0) say("FAIL no case is called %s\n", only ? only : "anything");
  failed |= n == 0;
  process_state_restore();
  say("== end %s %s\n", suite->name, failed ? "FAIL" : "ok");
  return failed;
}

/* Runs the suites or the case that an argument SUITE or SUITE/CASE names. Collective. */
static int run_named(const char *name)
{
  const size_t length = strcspn(name, "/");
  for (const osla_test_suite *suite = suites; suite; suite = suite->next)
    if (strlen(suite->name) == length && strncmp(suite->name, name, length) == 0)
      return run_suite(suite, name[length] ? name + length + 1 : NULL);
  say("FAIL no suite is called %s\n", name);
  return 1;
}

static void begin(int *argc, char ***argv)
{
  int provided = MPI_THREAD_SINGLE;
  int wanted = getenv("OSLA_TEST_SERIALIZED") ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
  MPI_Init_thread(argc, argv, wanted, &provided);
  (void)osla_farewell_arrange(MPI_COMM_WORLD);
  /* These calls make OSLA_TRANSPORT=armci and shmem possible; they fail in builds without ARMCI or
   * OpenSHMEM. */
  (void)osla_armci_offer();
  (void)osla_shmem_offer();
  bool threads = provided >= wanted || osla_simulated_machine();
  if (CU_initialize_registry() != CUE_SUCCESS || !threads) {
    fprintf(stderr, "test: CUnit or MPI's thread level is not available\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  process_state_note();
}

int main(int argc, char **argv)
{
  int failed = 0;
  begin(&argc, &argv);
  for (int i = 1; i < argc; i++)
    failed |= run_named(argv[i]);
  for (const osla_test_suite *suite = argc > 1 ? NULL : suites; suite; suite = suite->next)
    failed |= run_suite(suite, NULL);
  CU_cleanup_registry();
  MPI_Finalize();
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
