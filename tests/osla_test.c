#include "tests/osla_test.h"

#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

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

bool osla_test_multiple(const char *what)
{
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level >= MPI_THREAD_MULTIPLE) return true;
  if (osla_test_rank() == 0) printf("skipped: %s, without MPI_THREAD_MULTIPLE\n", what);
  CU_PASS("without MPI_THREAD_MULTIPLE");
  return false;
}
