/* A job of `osla invert` whose steps a test calls itself. */
#ifndef INVERT_TEST_JOB_H
#define INVERT_TEST_JOB_H

#include "apps/tomography/invert/invert.h"
#include "tools/common/command.h"

typedef struct test_job {
  invert_job job;
  invert_options options;
  command_line line;
} test_job;

/* Reads and makes the problem; not yet assembled. Mesh 4 (162 knots) x 3 radial functions,
 * without --data cells of 45 degrees; then the options of the case, separated by blanks, and the
 * grid if not empty. Collective; false after a failed assertion. */
bool test_job_open(test_job *s, const char *case_options, const char *grid);
void test_job_close(test_job *s);

/* max |x|, NaN if there is one; and: max |a - b| <= tolerance * max |b|. */
double test_job_largest(const double *x, int64_t count);
void test_job_compare(const char *what, const double *a, const double *b, int64_t count,
                      double tolerance);

#endif
