/* A job of `osla invert` whose steps a test calls one by one. */
#ifndef INVERT_TEST_JOB_H
#define INVERT_TEST_JOB_H

#include "apps/tomography/invert/invert.h"
#include "tools/common/command.h"

typedef struct test_job {
  invert_job job;
  invert_options options;
  command_line line;
} test_job;

/* Reads the input and makes the problem, but does not assemble it. The command line has mesh
 * frequency 4 (162 knots) and 3 radial functions, cells of 45 degrees unless the case has --data,
 * the options of the case, separated by blanks, and the process grid unless `grid` is empty.
 * Collective; false after a failed assertion. */
bool test_job_open(test_job *s, const char *case_options, const char *grid);
void test_job_close(test_job *s);

/* test_job_largest returns max |x|, NaN if an element is NaN. test_job_compare asserts max |a - b|
 * <= tolerance * max |b|. */
double test_job_largest(const double *x, int64_t count);
void test_job_compare(const char *what, const double *a, const double *b, int64_t count,
                      double tolerance);

#endif
