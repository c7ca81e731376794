/* Runs all implementations of a case, repeats the runs and measures them. See bench.h. */
#include "bench/bench.h"
#include "osla_clock.h"
#include "osla_trace.h"
#include "src/blas/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *data_of(const bench_case *c, const bench_impl *impl)
{
  return impl->data ? impl->data : c->data;
}

static int operations_of(const bench_case *c, const bench_impl *impl)
{
  return impl->operations ? impl->operations(data_of(c, impl)) : c->operations;
}

/* Runs one implementation once. All ranks start together after a barrier, or after
 * osla_trace_start, which has a barrier. The reported time is that of the slowest rank. */
static osla_err run_once(bench_job *job, const bench_case *c, bench_result *r, bool traced,
                         double *seconds)
{
  double residual = 0;
  void *data = data_of(c, r->impl);
  if (r->impl->prepare && (!osli_work_modelled || r->impl->models))
    OSLA_CALL(r->impl->prepare(data));
  OSLA_CALL(traced ? osla_trace_start(job->transport) : osla_barrier(job->transport));
  double start = osla_clock();
  OSLA_CALL(r->impl->run(data));
  *seconds = (osla_clock() - start) / operations_of(c, r->impl);
  osla_trace_stop(job->transport);
  OSLA_CALL(osla_allreduce(job->transport, seconds, 1, MPI_DOUBLE, MPI_MAX));
  if (r->impl->check && (!osli_work_modelled || r->impl->models))
    OSLA_CALL(r->impl->check(data, &residual));
  /* modelled work computes no values that could be checked */
  if (osli_work_modelled) residual = NAN;
  if (isnan(residual) || residual > r->residual) r->residual = residual;
  if (!(residual < BENCH_RESIDUAL_LIMIT) && !osli_work_modelled) r->pass = false;
  return OSLA_OK;
}

/* Warms up each implementation, then measures them in turn (A B A B ...). Cold cases and modelled
 * work have no warm-up. */
static osla_err measure(bench_job *job, const bench_case *c, bench_result *results, int n_results)
{
  double not_counted;
  for (int i = 0; i < n_results && !c->cold && !osli_work_modelled; i++)
    OSLA_CALL(run_once(job, c, &results[i], false, &not_counted));
  for (int rep = 0; rep < job->settings->reps; rep++)
    for (int i = 0; i < n_results; i++) {
      bool traced = job->settings->trace && job->last_size && rep + 1 == job->settings->reps;
      OSLA_CALL(run_once(job, c, &results[i], traced && i == 0, &results[i].seconds[rep]));
    }
  job->traced = c->kernel;
  job->traced_n = c->n;
  return OSLA_OK;
}

osla_err bench_choose_iterations(osla_transport *t, osla_err (*run)(void *data), void *data,
                                 int *iterations)
{
  enum { MOST_ITERATIONS = 1 << 24 };
  const double least_seconds = 0.02;
  double seconds = 0;
  *iterations = 1;
  OSLA_CALL(run(data));
  for (;;) {
    OSLA_CALL(osla_barrier(t));
    double start = osla_clock();
    OSLA_CALL(run(data));
    seconds = osla_clock() - start;
    OSLA_CALL(osla_allreduce(t, &seconds, 1, MPI_DOUBLE, MPI_MAX));
    if (seconds >= least_seconds || *iterations >= MOST_ITERATIONS) return OSLA_OK;
    double more = 1.2 * least_seconds / seconds;
    /* the number grows by a factor of at most 16 at a time, also if seconds = 0 */
    *iterations = (int)ceil(*iterations * (more < 16 ? more : 16));
  }
}

/* --- trials --- */

/* Sets up a candidate, runs it, and tears it down. The shortest run counts. A candidate has up to
 * TRIAL_RUNS runs, until they have taken one second together, but at least two, because the first
 * run touches new memory. Only a candidate whose first run takes more than a second and ten times
 * `fastest`, the time of the fastest earlier candidate, has a single run. */
static osla_err try_candidate(bench_job *job, const bench_case *c, const bench_impl *impl,
                              double fastest, bench_result *out, double *shortest)
{
  enum { TRIAL_RUNS = 5 };
  double sum = 0, seconds;
  bench_impl candidate = *impl;
  bench_result r = {.impl = &candidate, .pass = true};
  if (impl->run_part) {
    candidate.run = impl->run_part;
    candidate.check = NULL;
  }
  *shortest = INFINITY;
  osla_err err = impl->setup ? impl->setup(data_of(c, impl)) : OSLA_OK;
  for (int i = 0; i < TRIAL_RUNS && err == OSLA_OK; i++) {
    bool is_hopeless = *shortest > 10 * fastest;
    if (sum >= 1 && (i > 1 || (i == 1 && is_hopeless))) break;
    err = run_once(job, c, &r, false, &seconds);
    if (err != OSLA_OK) break;
    sum += seconds * operations_of(c, impl);
    if (seconds < *shortest) *shortest = seconds;
  }
  if (impl->teardown) impl->teardown(data_of(c, impl));
  if (isnan(r.residual) || r.residual > out->residual) out->residual = r.residual;
  out->pass = out->pass && r.pass;
  return err;
}

/* Runs the candidates of a group in a trial, if there are at least two, and makes `out` the result
 * of the fastest one. The times are equal on all ranks, so that all ranks choose the same one. */
static osla_err choose_fastest(bench_job *job, const bench_case *c, const char *group,
                               bench_result *out)
{
  const bench_impl *candidates[BENCH_MAX_IMPLS];
  int count = 0;
  for (int i = 0; i < c->n_impls; i++)
    if (c->impls[i].group && strcmp(c->impls[i].group, group) == 0)
      candidates[count++] = &c->impls[i];
  for (int i = 0; i < count && count > 1; i++) {
    bench_trial *trial = &out->trials[i];
    trial->name = candidates[i]->name;
    double fastest = i > 0 ? out->trials[out->fastest].seconds : INFINITY;
    OSLA_CALL(try_candidate(job, c, candidates[i], fastest, out, &trial->seconds));
    if (trial->seconds < out->trials[out->fastest].seconds) out->fastest = i;
  }
  out->n_trials = count > 1 ? count : 0;
  out->chosen = *candidates[out->fastest];
  out->chosen.name = out->chosen.ref = group;
  out->impl = &out->chosen;
  return OSLA_OK;
}

static bool is_first_of_group(const bench_case *c, int i)
{
  for (int k = 0; k < i; k++)
    if (c->impls[k].group && strcmp(c->impls[k].group, c->impls[i].group) == 0) return false;
  return true;
}

/* --- a case --- */

static bool is_selected(const bench_job *job, const bench_impl *impl, int i)
{
  return i == 0 || impl->is_osla ||
         bench_list_has(job->settings->ref, impl->ref ? impl->ref : impl->name);
}

osla_err bench_run_case(bench_job *job, const bench_case *c)
{
  bench_result results[BENCH_MAX_IMPLS] = {0};
  int n_results = 0;
  osla_err err = OSLA_OK;
  for (int i = 0; i < c->n_impls && err == OSLA_OK; i++) {
    const bench_impl *impl = &c->impls[i];
    bench_result *r = &results[n_results];
    r->pass = true;
    if (is_selected(job, impl, i)) {
      r->impl = impl;
      n_results++;
    } else if (impl->group && bench_list_has(job->settings->ref, impl->group) &&
               is_first_of_group(c, i)) {
      err = choose_fastest(job, c, impl->group, r);
      n_results++;
    }
  }

  if (err != OSLA_OK) return err;
  double *seconds = calloc((size_t)job->settings->reps * BENCH_MAX_IMPLS, sizeof *seconds);
  if (!seconds) err = osla_error_set(OSLA_ERR_MEM, "times of %d runs", job->settings->reps);
  err = osla_agree(job->transport, err);
  int n_set_up = 0;
  while (err == OSLA_OK && n_set_up < n_results) {
    bench_result *r = &results[n_set_up];
    r->seconds = seconds + (size_t)n_set_up * (size_t)job->settings->reps;
    if (r->impl->setup) err = r->impl->setup(data_of(c, r->impl));
    r->work = r->impl->work ? r->impl->work(data_of(c, r->impl)) : c->work;
    n_set_up++;
  }
  if (err == OSLA_OK) err = measure(job, c, results, n_results);
  if (err == OSLA_OK) err = osla_agree(job->transport, bench_report(job, c, results, n_results));
  for (int i = 0; i < n_set_up; i++)
    if (results[i].impl->teardown) results[i].impl->teardown(data_of(c, results[i].impl));
  free(seconds);
  return err;
}
