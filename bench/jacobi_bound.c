/* --bound: says whether every schedule of asynchronous sweeps converges. See osla_iterate_bound. */
#include "bench/bench_jacobi.h"

#include <stdio.h>

osla_err jacobi_bound_print(const jacobi_problem *problem)
{
  const bench_job *job = problem->job;
  const int64_t steps = job->settings->bound;
  osla_iteration *it = NULL;
  double alpha;
  if (steps == 0) return OSLA_OK;
  osla_err err = osla_iteration_create(job->transport, &problem->inner, NULL, &it);
  if (err == OSLA_OK) err = osla_iterate_bound(it, steps, &alpha);
  osla_iteration_destroy(&it);
  if (err != OSLA_OK || job->rank != 0) return err;
  if (alpha < 1.0)
    (void)printf("osla-bench jacobi: alpha = 1 - %.3g: async converges for every schedule\n",
                 1.0 - alpha);
  else
    (void)fprintf(stderr,
                  "osla-bench jacobi: warning: alpha = %g after %lld steps is not less than 1: "
                  "there may be schedules for which async diverges\n",
                  alpha, (long long)steps);
  return OSLA_OK;
}
