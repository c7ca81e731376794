/* How well the solution explains the data: a second pass over all paths, independent of H. */
#include "invert.h"

#include <math.h>
#include <stdlib.h>

static osla_err measure_path(invert_worker *w)
{
  order_free_add(&w->sums[SUM_MISFIT], 0, tomo_path_misfit(w->path, w->job->m, w->d));
  return OSLA_OK;
}

#define TRUSTED 1e-3 /* of |d|^2 */

/* The misfit of an exact solution is known beforehand; a Hessian that is singular within rounding
 * can pass the factorisation and still give a model that is far from it. */
static osla_err check_solution(const invert_job *job)
{
  const invert_result *r = &job->result;
  const bool is_float = job->options->dtype == OSLA_FLOAT;
  double error = fabs(r->misfit_after - r->misfit_expected);
  OSLA_CHECK(error <= TRUSTED * r->misfit_before, OSLA_ERR_STATE,
             "the solution is not to be trusted: its misfit is %.6g where the normal equations say "
             "%.6g; raise --damping or --smoothing%s",
             r->misfit_after, r->misfit_expected, is_float ? ", or use --precision double" : "");
  return OSLA_OK;
}

osla_err invert_measure_misfit(invert_job *job)
{
  invert_worker total;
  double start = osla_clock(), busy;
  const invert_pass pass = {
    .what = "measuring misfit", .work = measure_path, .n_sums = {[SUM_MISFIT] = 1}};
  osla_err err = invert_for_all_paths(job, &pass, &total, &busy);
  if (err == OSLA_OK) job->result.misfit_after = order_free_value(&total.sums[SUM_MISFIT], 0);
  invert_free_sums(&total);
  job->result.seconds[PHASE_MISFIT] = osla_clock() - start;
  OSLA_CALL(err);
  return osla_agree(job->t, check_solution(job));
}
