/* Comparison of the recovered model with the true model, for knots with dense and with sparse
 * paths. */
#include "apps/tomography/invert/invert.h"

#include <math.h>

/* The median of the ray density. If it is 0, the smallest density above 0. */
static double dense_threshold(const invert_job *job)
{
  double median = tomo_density_quantile(job->density, job->knots, 0.5), least = HUGE_VAL;
  if (median > 0.0) return median;
  for (int64_t l = 0; l < job->knots; l++)
    if (job->density[l] > 0.0 && job->density[l] < least) least = job->density[l];
  return least;
}

/* Compares the models at knots with a density above or below the threshold. Without a true model
 * only the number of knots is meaningful; the rest is NaN. */
static tomo_recovery compare_knots(const invert_job *job, double threshold, bool below)
{
  tomo_recovery result =
    tomo_model_compare(job->m_true ? job->m_true : job->m, job->m, job->density, job->knots,
                       job->options->n_radial, threshold, below);
  if (!job->m_true) result.correlation = result.variance_reduction = result.amplitude = NAN;
  return result;
}

void invert_compare_models(invert_job *job)
{
  const invert_options *o = job->options;
  const double *g = job->gradient;
  invert_result *r = &job->result;
  /* With H of the data and P of the prior, (H + P) m = g gives |d - G m|^2 = |d|^2 - 2 m g + m H m
   * = |d|^2 - m g - m P m. */
  double mg = 0.0;
  for (int64_t i = 0; i < job->n; i++)
    mg += job->m[i] * g[i];
  double mpm = tomo_prior_norm(&job->prior, job->mesh, o->n_radial, job->m);
  r->misfit_expected = r->misfit_before - mg - mpm;

  r->threshold = dense_threshold(job);
  r->dense = compare_knots(job, r->threshold, false);
  r->sparse = compare_knots(job, r->threshold, true);
  r->all = compare_knots(job, 0.0, false);
}
