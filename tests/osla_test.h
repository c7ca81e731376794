/* CUnit under mpiexec: the main routine of every test program, and the assertions it adds.
 *
 * A test program is a table of cases and a call:
 *
 *   static void test_sum(void) { CU_ASSERT(1 + 1 == 2); }
 *   int main(int argc, char **argv)
 *   {
 *     static const osla_test_case cases[] = {{"sum", test_sum}, {NULL, NULL}};
 *     return osla_test_main(argc, argv, cases);
 *   }
 *
 * It runs under mpiexec on any rank count, or alone as one rank. Assertions are local and do not
 * end the case, so that all ranks reach the same collective calls; do not use the *_FATAL forms.
 * CUnit is not thread-safe: assert outside OpenMP regions.
 */
#ifndef OSLA_TEST_H
#define OSLA_TEST_H

#include <CUnit/CUnit.h>
#include <stdbool.h>

#include "osla_error.h"

typedef struct osla_test_case {
  const char *name;
  void (*run)(void);
} osla_test_case;

/* Runs the cases in order, up to the one whose name is NULL. Collective over MPI_COMM_WORLD, which
 * it initialises (MPI_THREAD_MULTIPLE; with OSLA_TEST_SERIALIZED in the environment SERIALIZED) and
 * finalises. Arguments on the command line name the cases
 * to run; none means all. After each case the failures of all ranks are summed; rank 0 prints "ok
 * NAME" or "FAIL NAME", and every failed assertion is printed with its rank, file, line and text.
 * Returns the exit status, the same on all ranks: 0, or 1 if any case failed, ran no assertion on
 * any rank, or is not in the table. */
int osla_test_main(int argc, char **argv, const osla_test_case *cases);

/* The calling rank and the number of ranks in MPI_COMM_WORLD. Local. */
int osla_test_rank(void);
int osla_test_size(void);

/* Is there MPI_THREAD_MULTIPLE? If not, says that `what` is skipped. Local. */
bool osla_test_multiple(const char *what);

/* The call returns OSLA_OK; otherwise its error text is printed. */
#define OSLA_ASSERT_OK(call) osla_test_ok((call), #call, __FILE__, __LINE__)

/* The call returns this error code and leaves a text that is not empty. */
#define OSLA_ASSERT_ERR(call, code) osla_test_err((call), (code), #call, __FILE__, __LINE__)

/* |actual - expected| <= tol; a NaN in any of the three fails. */
#define OSLA_ASSERT_CLOSE(actual, expected, tol)                                                   \
  osla_test_close((actual), (expected), (tol), #actual, __FILE__, __LINE__)

/* The condition holds; otherwise a printf-style text is printed beside it. */
#define OSLA_ASSERT_MSG(condition, ...)                                                            \
  osla_test_check((condition), __FILE__, __LINE__, #condition ": " __VA_ARGS__)

/* What the macros call. Each returns whether the assertion held, so that a case can stop early. */
bool osla_test_check(bool held, const char *file, int line, const char *format, ...)
  __attribute__((format(printf, 4, 5)));
bool osla_test_ok(osla_err err, const char *call, const char *file, int line);
bool osla_test_err(osla_err err, osla_err expected, const char *call, const char *file, int line);
bool osla_test_close(double actual, double expected, double tol, const char *text, const char *file,
                     int line);

#endif
