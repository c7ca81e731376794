/* The misfit of the solution by a second pass over all paths, independent of H. */
#include "apps/tomography/invert/invert.h"

#include <math.h>
#include <stdlib.h>

/* Adds the squared residuals of a path, by measure. A datum with weight 0 is not counted. */
static osla_err measure_path(invert_worker *w)
{
  double sum = 0.0;
  for (int i = 0; i < w->set.count; i++)
    order_free_add(&w->sums[SUM_BEFORE], w->set.measure[i], w->d[i] * w->d[i]);
  tomo_path_residuals(w->path, w->job->m, w->d, w->d);
  for (int i = 0; i < w->set.count; i++) {
    const double square = w->d[i] * w->d[i];
    sum += square;
    order_free_add(&w->sums[SUM_AFTER], w->set.measure[i], square);
    if (!w->factor || w->factor[i] > 0.0)
      order_free_add(&w->sums[SUM_DATA], w->set.measure[i], 1.0);
  }
  order_free_add(&w->sums[SUM_MISFIT], 0, sum);
  return OSLA_OK;
}

#define TRUSTED 1e-3 /* allowed error of the misfit, relative to |d|^2 */

/* Compares the measured misfit with the misfit that the normal equations predict. A Hessian that
 * is singular within rounding can pass the factorisation and still give a wrong model. */
static osla_err check_solution(const invert_job *job)
{
  const invert_result *r = &job->result;
  const bool is_float = job->options->dtype == OSLA_FLOAT;
  double error = fabs(r->misfit_after - r->misfit_expected);
  OSLA_CHECK(error <= TRUSTED * r->misfit_before, OSLA_ERR_STATE,
             "the solution is inaccurate: its misfit is %.6g, and the normal equations predict "
             "%.6g; raise --damping or --smoothing%s",
             r->misfit_after, r->misfit_expected, is_float ? ", or use --precision double" : "");
  return OSLA_OK;
}

osla_err invert_measure_misfit(invert_job *job)
{
  invert_worker total;
  double start = osla_clock(), busy;
  const int64_t measures = job->data.n_measures;
  const invert_pass pass = {
    .what = "measuring misfit",
    .work = measure_path,
    .n_sums = {
      [SUM_MISFIT] = 1, [SUM_BEFORE] = measures, [SUM_AFTER] = measures, [SUM_DATA] = measures}};
  osla_err err = invert_for_all_paths(job, &pass, &total, &busy);
  if (err == OSLA_OK) job->result.misfit_after = order_free_value(&total.sums[SUM_MISFIT], 0);
  if (err == OSLA_OK) err = osla_agree(job->t, invert_store_fit(job, &total));
  invert_free_sums(&total);
  job->result.seconds[PHASE_MISFIT] = osla_clock() - start;
  OSLA_CALL(err);
  return osla_agree(job->t, check_solution(job));
}
