/* A job of `osla invert` whose steps a test calls one by one (contract: invert_test_job.h). */
#include "apps/tomography/tests/invert_test_job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/osla_test_help.h"

enum { ARGUMENTS_MAX = 48 };

static bool parse(test_job *s, const char *case_options, const char *grid)
{
  static char text[1024];
  static char *argv[ARGUMENTS_MAX]; /* words of the command line; the options point into them */
  char *save = NULL;
  int argc = 0, status;
  const char *cell = strstr(case_options, "--data") ? "" : "--cell 45";
  snprintf(text, sizeof text, "invert --mesh 4 --radial 3 %s --quiet %s %s %s", cell, case_options,
           grid[0] ? "--grid" : "", grid);
  for (char *word = strtok_r(text, " ", &save); word && argc < ARGUMENTS_MAX - 1;
       word = strtok_r(NULL, " ", &save))
    argv[argc++] = word;
  argv[argc] = NULL;
  bool parsed = invert_parse(argc, argv, osla_test_size(), &s->options, &s->line, &status);
  return OSLA_ASSERT_MSG(parsed, "'%s' is not accepted", case_options);
}

bool test_job_open(test_job *s, const char *case_options, const char *grid)
{
  *s = (test_job){0};
  if (!parse(s, case_options, grid)) return false;
  s->job.options = &s->options;
  s->job.scanning = invert_has_scan(&s->options);
  s->job.blas_threads = 1;
  const osla_transport_options transport = {.progress_thread = s->options.progress_thread,
                                            .threads_per_rank = s->options.threads};
  return OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &transport, &s->job.t)) &&
         OSLA_ASSERT_OK(invert_read_input(&s->job)) && OSLA_ASSERT_OK(invert_make_problem(&s->job));
}

void test_job_close(test_job *s)
{
  invert_destroy(&s->job);
  osla_transport_destroy(&s->job.t);
  command_release(&s->line);
}

double test_job_largest(const double *x, int64_t count)
{
  double most = 0.0;
  for (int64_t i = 0; i < count; i++) {
    if (isnan(x[i])) return NAN;
    if (fabs(x[i]) > most) most = fabs(x[i]);
  }
  return most;
}

void test_job_compare(const char *what, const double *a, const double *b, int64_t count,
                      double tolerance)
{
  double difference = 0.0, scale = test_job_largest(b, count);
  for (int64_t i = 0; i < count; i++)
    if (!(fabs(a[i] - b[i]) <= difference)) difference = fabs(a[i] - b[i]);
  OSLA_ASSERT_MSG(scale > 0.0 && difference <= tolerance * scale, "%s: difference %g of %g", what,
                  difference, scale);
}
