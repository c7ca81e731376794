/* Misfit by measure, from the sums of the second pass over the data; its output in both reports. */
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/invert/invert_json_data.h"
#include "tools/common/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

osla_err invert_store_fit(invert_job *job, const invert_worker *total)
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

/* Index of the period band in the text report; *from and *to are its ends in seconds. */
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
