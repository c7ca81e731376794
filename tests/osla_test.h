/* CUnit under mpiexec: suites of cases, OSLA's additional assertions, and main.
 *
 * A test file is one suite, with the name of the file:
 *
 *   static void test_sum(void) { CU_ASSERT(1 + 1 == 2); }
 *   static const osla_test_case cases[] = {{"sum", test_sum}, {NULL, NULL}};
 *   OSLA_TEST_SUITE(test_example, cases);
 *
 * A program links any number of suites with libosla_test, which has main. It runs under mpiexec
 * with any number of ranks, or alone as one rank:
 *
 *   PROGRAM [SUITE | SUITE/CASE]...
 *
 * runs all suites, or those that the arguments name, in their order. All ranks print their failed
 * assertions; for each suite rank 0 prints
 *
 *   == begin SUITE
 *   ok CASE, or FAIL CASE, one line for each case
 *   == end SUITE ok, or == end SUITE FAIL
 *
 * A case fails if an assertion failed on any rank, or if no assertion ran. The exit status is the
 * same on all ranks: 0, or 1 if a case failed or an argument names no suite or case. Between suites
 * the environment, the working directory and the umask are restored.
 *
 * Assertions are local and do not end the case, so that all ranks reach the same collective calls;
 * do not use the *_FATAL forms. CUnit is not thread-safe: assert outside OpenMP regions.
 */
#ifndef OSLA_TEST_H
#define OSLA_TEST_H

#include <CUnit/CUnit.h>
#include <stdbool.h>

#include "osla_error.h"

typedef struct osla_test_case {
  const char *name; /* the last entry of a table has the name NULL */
  void (*run)(void);
} osla_test_case;

typedef struct osla_test_suite {
  const char *name;
  const osla_test_case *cases;
  struct osla_test_suite *next;
} osla_test_suite;

/* Registers a table of cases as a suite of the program, before main runs. */
#define OSLA_TEST_SUITE(name, cases)                                                               \
  __attribute__((constructor)) static void osla_test_add_##name(void)                              \
  {                                                                                                \
    static osla_test_suite suite = {#name, cases, NULL};                                           \
    osla_test_add(&suite);                                                                         \
  }                                                                                                \
  struct osla_test_suite
void osla_test_add(osla_test_suite *suite);

/* The calling rank and the number of ranks in MPI_COMM_WORLD. Local. */
int osla_test_rank(void);
int osla_test_size(void);

/* True if MPI provides MPI_THREAD_MULTIPLE. If not, prints that `what` is skipped. Local. */
bool osla_test_multiple(const char *what);

/* Asserts that the call returns OSLA_OK. If it fails, its error text is printed. */
#define OSLA_ASSERT_OK(call) osla_test_ok((call), #call, __FILE__, __LINE__)

/* Asserts that the call returns this error code and sets a non-empty error text. */
#define OSLA_ASSERT_ERR(call, code) osla_test_err((call), (code), #call, __FILE__, __LINE__)

/* Asserts |actual - expected| <= tol. Fails if one of the three arguments is NaN. */
#define OSLA_ASSERT_CLOSE(actual, expected, tol)                                                   \
  osla_test_close((actual), (expected), (tol), #actual, __FILE__, __LINE__)

/* Asserts the condition; if it fails, also prints a printf-style text. */
#define OSLA_ASSERT_MSG(condition, ...)                                                            \
  osla_test_check((condition), __FILE__, __LINE__, #condition ": " __VA_ARGS__)

/* Functions that the assertion macros call. Each returns true if the assertion is true, so that a
 * case can stop early. */
bool osla_test_check(bool held, const char *file, int line, const char *format, ...)
  __attribute__((format(printf, 4, 5)));
bool osla_test_ok(osla_err err, const char *call, const char *file, int line);
bool osla_test_err(osla_err err, osla_err expected, const char *call, const char *file, int line);
bool osla_test_close(double actual, double expected, double tol, const char *text, const char *file,
                     int line);

#endif
