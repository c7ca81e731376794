#include "osla_test.h"
#include "osla_armci.h"
#include "osla_farewell.h"
#include "osla_transport.h"

#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int osla_test_rank(void)
{
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int osla_test_size(void)
{
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

bool osla_test_check(bool held, const char *file, int line, const char *format, ...)
{
  char text[1024] = "";
  if (!held) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
  }
  (void)CU_assertImplementation(held, (unsigned)line, text, file, "", CU_FALSE);
  return held;
}

bool osla_test_ok(osla_err err, const char *call, const char *file, int line)
{
  return osla_test_check(err == OSLA_OK, file, line, "%s: %s: %s", call, osla_err_name(err),
                         osla_error_text());
}

bool osla_test_err(osla_err err, osla_err expected, const char *call, const char *file, int line)
{
  bool code = osla_test_check(err == expected, file, line, "%s: got \"%s\" (%s), not \"%s\"", call,
                              osla_err_name(err), osla_error_text(), osla_err_name(expected));
  bool text = osla_test_check(osla_error_text()[0] != '\0', file, line, "%s: no error text", call);
  return code && text;
}

bool osla_test_close(double actual, double expected, double tol, const char *text, const char *file,
                     int line)
{
  double distance = fabs(actual - expected);
  return osla_test_check(distance <= tol, file, line, "%s: %.17g, expected %.17g within %.3g", text,
                         actual, expected, tol);
}

/* One write per line, so that the lines of different ranks do not mix. */
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

/* Collective. Returns 0, or 1 when the case failed on some rank. */
static int run_case(CU_pSuite suite, const osla_test_case *test)
{
  CU_pTest added = CU_add_test(suite, test->name, test->run);
  int local[2] = {1, 0}; /* failures, assertions */
  if (added != NULL && CU_run_test(suite, added) == CUE_SUCCESS) {
    local[0] = (int)(CU_get_number_of_failures() + CU_get_number_of_tests_failed());
    local[1] = (int)CU_get_number_of_asserts();
    print_failures(test->name);
  }
  int all[2] = {0, 0};
  MPI_Allreduce(local, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const char *verdict = all[0] != 0 ? "FAIL" : all[1] == 0 ? "FAIL (no assertion ran)" : "ok";
  if (osla_test_rank() == 0) {
    printf("%s %s\n", verdict, test->name);
    (void)fflush(stdout);
  }
  return all[0] != 0 || all[1] == 0;
}

static bool selected(int argc, char **argv, const char *name)
{
  bool found = argc <= 1;
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], name) == 0) found = true;
  return found;
}

/* The number of names on the command line that are in no case. */
static int count_unknown(int argc, char **argv, const osla_test_case *cases)
{
  int unknown = 0;
  for (int i = 1; i < argc; i++) {
    const osla_test_case *test = cases;
    while (test->name != NULL && strcmp(test->name, argv[i]) != 0)
      test++;
    if (test->name == NULL) {
      unknown++;
      if (osla_test_rank() == 0) printf("FAIL no case is called %s\n", argv[i]);
    }
  }
  return unknown;
}

bool osla_test_multiple(const char *what)
{
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level >= MPI_THREAD_MULTIPLE) return true;
  if (osla_test_rank() == 0) printf("skipped: %s, without MPI_THREAD_MULTIPLE\n", what);
  CU_PASS("without MPI_THREAD_MULTIPLE");
  return false;
}

int osla_test_main(int argc, char **argv, const osla_test_case *cases)
{
  int provided = MPI_THREAD_SINGLE;
  int wanted = getenv("OSLA_TEST_SERIALIZED") ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  (void)osla_farewell_arrange(MPI_COMM_WORLD);
  (void)osla_armci_offer(); /* for OSLA_TRANSPORT=armci; not in every build */
  CU_pSuite suite = NULL;
  if (CU_initialize_registry() == CUE_SUCCESS) suite = CU_add_suite("osla", NULL, NULL);
  bool threads = provided >= wanted || osla_simulated_machine();
  if (suite == NULL || !threads) {
    fprintf(stderr, "test: CUnit or MPI's thread level is not available\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  int failed = count_unknown(argc, argv, cases);
  for (const osla_test_case *test = cases; test->name != NULL; test++)
    if (selected(argc, argv, test->name)) failed += run_case(suite, test);
  CU_cleanup_registry();
  MPI_Finalize();
  return failed != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
