/* Computes the misfit of each measure from sums that the second pass over the data has accumulated,
 * and writes the misfits to the text report and to the JSON report. */
#include "apps/tomography/invert/invert.h"
#include "tools/common/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Stores the misfit of each measure from the sums of the second pass. */
static osla_err store_fit(invert_job *job, const invert_worker *total)
{
  invert_fit *fit = &job->fit;
  const size_t n = (size_t)job->data.n_measures;
  fit->measure = malloc(n * sizeof *fit->measure);
  fit->data = malloc(n * sizeof *fit->data);
  fit->before = malloc(n * sizeof *fit->before);
  fit->after = malloc(n * sizeof *fit->after);
  OSLA_CHECK(fit->measure && fit->data && fit->before && fit->after, OSLA_ERR_MEM,
             "misfit of %zu measures", n);
  for (int64_t i = 0; i < job->data.n_measures; i++) {
    const double data = order_free_value(&total->sums[SUM_DATA], i);
    if (data <= 0.0) continue;
    fit->measure[fit->count] = job->data.measure[i];
    fit->data[fit->count] = (int64_t)llround(data);
    fit->before[fit->count] = order_free_value(&total->sums[SUM_BEFORE], i);
    fit->after[fit->count++] = order_free_value(&total->sums[SUM_AFTER], i);
  }
  return OSLA_OK;
}

void invert_free_fit(invert_fit *fit)
{
  free(fit->measure);
  free(fit->data);
  free(fit->before);
  free(fit->after);
  *fit = (invert_fit){0};
}

/* Returns the index of the period band of the text report that holds period_s; *from and *to are
 * the ends of the band in seconds. */
static int band_of(double period_s, double *from, double *to)
{
  static const double ends[] = {0.0, 25.0, 50.0, 100.0, 200.0, 400.0, HUGE_VAL};
  int band = 0;
  while (period_s >= ends[band + 1])
    band++;
  *from = ends[band];
  *to = ends[band + 1];
  return band;
}

static bool is_one_line(const tomo_measure *a, const tomo_measure *b)
{
  double from, to;
  return a->wave == b->wave && a->observable == b->observable && a->branch == b->branch &&
         band_of(a->period_s, &from, &to) == band_of(b->period_s, &from, &to);
}

void invert_print_fit(const invert_job *job)
{
  const invert_fit *fit = &job->fit;
  (void)printf("\nMisfit per datum by measure       period (s)        data    before     after\n");
  for (int i = 0, end; i < fit->count; i = end) {
    const tomo_measure *m = &fit->measure[i];
    int64_t data = 0;
    double before = 0.0, after = 0.0, from, to;
    for (end = i; end < fit->count && is_one_line(m, &fit->measure[end]); end++) {
      data += fit->data[end];
      before += fit->before[end];
      after += fit->after[end];
    }
    char kind[40], band[24];
    (void)band_of(m->period_s, &from, &to);
    (void)snprintf(kind, sizeof kind, "%s %s, branch %d", tomo_wave_name(m->wave),
                   tomo_observable_name(m->observable), m->branch);
    (void)snprintf(band, sizeof band, isinf(to) ? "%g and more" : "%g to %g", from, to);
    (void)printf("  %-30s  %-12s %10" PRId64 " %9.3f %9.3f\n", kind, band, data,
                 before / (double)data, after / (double)data);
  }
}

json_t *invert_fit_json(const invert_job *job)
{
  const invert_fit *fit = &job->fit;
  json_t *array = json_array();
  for (int i = 0; i < fit->count; i++) {
    const tomo_measure *m = &fit->measure[i];
    json_t *entry = json_pack(
      "{s:s, s:s, s:i, s:f, s:I, s:f, s:f}", "wave", tomo_wave_name(m->wave), "observable",
      tomo_observable_name(m->observable), "branch", m->branch, "period_s", m->period_s, "data",
      (json_int_t)fit->data[i], "misfit_before", fit->before[i], "misfit_after", fit->after[i]);
    if (!entry || json_array_append_new(array, entry) != 0) {
      json_decref(array);
      return NULL;
    }
  }
  return array;
}

/* ---- the misfit of the model by a second pass over all paths, which does not use H ---- */

/* Adds the squared residuals of a path to the sums of their measures. A datum with weight 0 is not
 * counted. */
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

/* allowed difference between measured and predicted misfit, relative to |d|^2 */
#define TRUSTED 1e-3

/* Compares the measured misfit with the misfit that the normal equations predict. If H is singular
 * within rounding, the factorisation can succeed and the model still be wrong. */
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
  if (err == OSLA_OK) err = osla_agree(job->t, store_fit(job, &total));
  invert_free_sums(&total);
  job->result.seconds[PHASE_MISFIT] = osla_clock() - start;
  OSLA_CALL(err);
  return osla_agree(job->t, check_solution(job));
}
