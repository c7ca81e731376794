/* Tests of `osla invert --robust` with noisy data of a synthetic test, some of which are then
 * changed by large errors. The model must be close to the model of the unchanged data. */
#include "apps/tomography/tests/invert_test_job.h"
#include "tests/osla_test.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "osla_random.h"

/* Adds large errors to one datum of a hundred. *skips is set to the number of data whose error is
 * one period, or to -1 if that number is not known. */
typedef void spoil(invert_job *job, int64_t *skips);

static char table[] = "/tmp/osla-test-robust-XXXXXX";

/* Makes the table of a synthetic test: 400 paths x 12 phases. */
static bool make_table(void)
{
  test_job s;
  char options[200];
  if (osla_test_rank() == 0) {
    const int fd = mkstemp(table);
    if (fd >= 0) close(fd);
  }
  MPI_Bcast(table, sizeof table, MPI_CHAR, 0, MPI_COMM_WORLD);
  snprintf(options, sizeof options, "--max-paths 400 --periods 6 --branches 2 --write-data %s",
           table);
  const bool made = test_job_open(&s, options, "") && OSLA_ASSERT_OK(invert_write_data(&s.job));
  test_job_close(&s);
  return made;
}

/* Adds errors to data chosen at random: 5 to 50 standard deviations to half of them, one period to
 * the others. */
static void at_random(invert_job *job, int64_t *skips)
{
  *skips = 0;
  for (int64_t p = 0; p < job->n_paths; p++) {
    const tomo_set set = tomo_data_set(&job->data, p);
    for (int i = 0; i < set.count; i++) {
      const int64_t at = tomo_data_first(&job->data, p) + i;
      const uint64_t n = (uint64_t)at;
      const double sign = osla_random_uniform(5, n, 1) < 0.0 ? -1.0 : 1.0;
      if (osla_random_uniform(5, n, 0) >= -0.49) continue;
      if (osla_random_uniform(5, n, 2) < 0.0) {
        job->data.delay[at] += sign * job->data.measure[set.measure[i]].period_s;
        ++*skips;
      } else {
        job->data.delay[at] +=
          sign * set.sigma[i] * (5.0 + 45.0 * (osla_random_uniform(5, n, 3) + 0.5));
      }
    }
  }
}

/* Makes every hundredth datum late, so that the errors do not cancel: alternately by 50 standard
 * deviations and by one period. */
static void all_late(invert_job *job, int64_t *skips)
{
  *skips = 0;
  for (int64_t p = 0; p < job->n_paths; p++) {
    const tomo_set set = tomo_data_set(&job->data, p);
    for (int i = 0; i < set.count; i++) {
      const int64_t at = tomo_data_first(&job->data, p) + i;
      if (at % 200 == 0) job->data.delay[at] += 50.0 * set.sigma[i];
      if (at % 200 != 101) continue;
      job->data.delay[at] += job->data.measure[set.measure[i]].period_s;
      ++*skips;
    }
  }
}

/* Adds a minute to all data of some paths, like a wrong clock; such errors agree with each
 * other. */
static void whole_paths(invert_job *job, int64_t *skips)
{
  *skips = -1;
  for (int64_t p = 50; p < job->n_paths; p += 100)
    for (int64_t at = tomo_data_first(&job->data, p); at < tomo_data_first(&job->data, p + 1); at++)
      job->data.delay[at] += 60.0;
}

/* Returns the model that fits the table's data after `wild` has changed some of them; the caller
 * frees it. */
static double *find_model(const char *case_options, spoil *wild, int64_t *n)
{
  test_job s;
  char options[300];
  int64_t skips = -1;
  double *m = NULL;
  snprintf(options, sizeof options, "--data %s --reference stand-in --resolution 0 %s", table,
           case_options);
  if (test_job_open(&s, options, "")) {
    invert_job *job = &s.job;
    if (wild) wild(job, &skips);
    const bool direct = s.options.solver == INVERT_DIRECT;
    OSLA_ASSERT_OK(direct ? invert_assemble(job) : invert_trace_paths(job));
    OSLA_ASSERT_OK(direct ? invert_solve(job) : invert_iterate_model(job));
    OSLA_ASSERT_OK(invert_solve_robustly(job));
    invert_compare_models(job);
    /* invert_measure_misfit also compares the misfit with the prediction of the normal equations */
    OSLA_ASSERT_OK(invert_measure_misfit(job));
    const invert_robust *r = &job->robust;
    if (s.options.robust && osla_test_rank() == 0)
      printf("%s: %d models, scale %.3f, %lld outliers, %lld skips\n", case_options, r->passes,
             r->scale, (long long)r->outliers, (long long)r->skips);
    if (s.options.robust && skips >= 0) {
      CU_ASSERT((double)r->skips >= 0.95 * (double)skips);
      CU_ASSERT((double)r->skips <= 1.5 * (double)skips + 2.0);
      CU_ASSERT(job->result.data == tomo_data_first(&job->data, job->n_paths) - r->skips);
    }
    *n = job->n;
    m = malloc((size_t)job->n * sizeof *m);
    if (m) memcpy(m, job->m, (size_t)job->n * sizeof *m);
  }
  test_job_close(&s);
  return m;
}

static double correlation(const double *a, const double *b, int64_t n)
{
  double sa = 0.0, sb = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;
  for (int64_t i = 0; i < n; i++) {
    sa += a[i];
    sb += b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
    ab += a[i] * b[i];
  }
  const double count = (double)n;
  return (ab - sa * sb / count) / sqrt((aa - sa * sa / count) * (bb - sb * sb / count));
}

/* Asserts that the model with --robust is close to the model of the unchanged data, and closer than
 * the model without --robust. */
static void compare(const char *options, spoil *wild)
{
  char robust[200];
  int64_t n = 0;
  snprintf(robust, sizeof robust, "--robust %s", options);
  double *good = find_model(robust, NULL, &n), *plain = find_model(options, wild, &n);
  double *found = find_model(robust, wild, &n);
  if (good && plain && found) {
    const double with = correlation(found, good, n), without = correlation(plain, good, n);
    if (osla_test_rank() == 0) printf("%s: %.4f, without --robust %.4f\n", options, with, without);
    OSLA_ASSERT_MSG(with >= 0.95, "correlation %.4f", with);
    OSLA_ASSERT_MSG(with > without, "correlation %.4f, without %.4f", with, without);
  }
  free(good);
  free(plain);
  free(found);
}

static void test_wild(void)
{
  if (!make_table()) return;
  compare("--threads 2", at_random);
  compare("", all_late);
  compare("--solver lsqr", at_random);
  compare("--reproducible", all_late);
  compare("--solver cg", whole_paths);
  if (osla_test_rank() == 0) unlink(table);
}

static const osla_test_case cases[] = {{"wild data", test_wild}, {NULL, NULL}};
OSLA_TEST_SUITE(test_invert_robust, cases);
