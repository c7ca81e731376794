/* --robust: repeats the inversion with less weight for data that the model does not explain.
 *
 * The residuals r of a model, in standard deviations of the data, have the robust scale s = 1.4826
 * median |r - median| (Hampel, J. Am. Stat. Assoc. 69 (1974) 383-393), which outliers hardly
 * change. A residual beyond K s is an outlier and gets Huber's weight K s / |r| (Huber, Ann. Math.
 * Stat. 35 (1964) 73-101). An outlier is a cycle skip if it is a phase delay whose residual is
 * within K s deviations of a whole number of periods, and at most a quarter of the period from that
 * number. A cycle skip is a picking error that says nothing about the Earth; it gets weight 0. The
 * model is computed again with these weights (iteratively reweighted least squares) until the cycle
 * skips do not change and hardly any datum crosses the limit K s. The reports show the weights with
 * which the final model was computed.
 *
 * Memory: 32 bytes for each datum, on each rank. All ranks compute the same weights from the same
 * bits. */
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/invert/invert_rays.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES_MAX = 8 };
/* fraction of the data that may cross the limit in the last step; weights near the limit are close
 * to 1 */
#define CHANGES 1e-3

typedef struct robust_work {
  int64_t n;           /* number of data */
  double *residual;    /* [n] residuals in standard deviations */
  double *sorted;      /* [n] work array for medians */
  double *weight;      /* [n] next weights */
  invert_robust found; /* statistics of the next weights */
} robust_work;

static osla_err store_residuals(invert_worker *w)
{
  double *residual = w->job->robust.residual + tomo_data_first(&w->job->data, w->index);
  tomo_path_residuals(w->path, w->job->m, w->d, residual);
  return OSLA_OK;
}

/* Computes the residuals of all data on all ranks, as if all weights were 1. */
static osla_err find_residuals(invert_job *job, robust_work *work)
{
  const invert_pass pass = {.what = "looking for outliers", .work = store_residuals, .fixed = true};
  double *weight = job->weight, busy;
  invert_worker total;
  memset(work->residual, 0, (size_t)work->n * sizeof *work->residual);
  job->weight = NULL;
  job->robust.residual = work->residual;
  osla_err err = invert_for_all_paths(job, &pass, &total, &busy);
  invert_free_sums(&total);
  job->robust.residual = NULL;
  job->weight = weight;
  OSLA_CALL(err);
  return osla_allreduce(job->t, work->residual, work->n, MPI_DOUBLE, MPI_SUM);
}

static double find_scale(const robust_work *work)
{
  memcpy(work->sorted, work->residual, (size_t)work->n * sizeof *work->sorted);
  const double middle = tomo_median(work->sorted, work->n);
  for (int64_t i = 0; i < work->n; i++)
    work->sorted[i] = fabs(work->residual[i] - middle);
  return 1.4826 * tomo_median(work->sorted, work->n);
}

/* Returns true if a residual in seconds is close to a whole number of periods, but not to 0. */
static bool is_skip(const tomo_measure *m, double seconds, double tolerance)
{
  const double cycles = round(fabs(seconds) / m->period_s);
  return m->observable == TOMO_PHASE && cycles >= 1.0 &&
         fabs(fabs(seconds) - cycles * m->period_s) <= fmin(tolerance, 0.25 * m->period_s);
}

/* Returns the weight of a datum, by which its row of G and its value are multiplied. A datum that
 * was a cycle skip remains one while it is an outlier; otherwise it could change its class in every
 * step. */
static double weight_of_datum(const invert_job *job, double limit, double residual,
                              const tomo_set *set, int i, bool was_skip)
{
  if (fabs(residual) <= limit) return 1.0;
  const tomo_measure *m = &job->data.measure[set->measure[i]];
  if (was_skip || is_skip(m, residual * set->sigma[i], limit * set->sigma[i])) return 0.0;
  return sqrt(limit / fabs(residual));
}

static int weight_class(double weight)
{
  return weight >= 1.0 ? 1 : weight > 0.0 ? 2 : 0;
}

/* Computes the next weights from the residuals of the model. Returns true if they hardly differ
 * from the weights with which the model was computed, so that the model is final. If half of the
 * data fit exactly, the scale is 0 and there are no outliers. */
static bool find_weights(const invert_job *job, robust_work *work)
{
  invert_robust *r = &work->found;
  const double limit = r->scale > 0.0 ? job->options->outlier * r->scale : INFINITY;
  int64_t changed = 0, skips_changed = 0;
  r->outliers = r->skips = 0;
  memset(r->skips_of, 0, (size_t)job->data.n_measures * sizeof *r->skips_of);
  for (int64_t p = 0; p < job->n_paths; p++) {
    const tomo_set set = tomo_data_set(&job->data, p);
    const int64_t first = tomo_data_first(&job->data, p);
    for (int i = 0; i < set.count; i++) {
      const int before = weight_class(job->weight[first + i]);
      const double now =
        weight_of_datum(job, limit, work->residual[first + i], &set, i, before == 0);
      changed += weight_class(now) != before;
      skips_changed += (weight_class(now) == 0) != (before == 0);
      work->weight[first + i] = now;
      r->outliers += weight_class(now) == 2;
      r->skips += weight_class(now) == 0;
      r->skips_of[set.measure[i]] += weight_class(now) == 0;
    }
  }
  /* the first model is computed with weight 1 for all data */
  if (job->robust.passes == 0) return changed == 0;
  return skips_changed == 0 && (double)changed <= CHANGES * (double)work->n;
}

/* Replaces the weights of the job by the next weights. */
static osla_err use_next_weights(invert_job *job, robust_work *work)
{
  invert_robust *r = &job->robust;
  double *weight = job->weight;
  int64_t *skips_of = r->skips_of;
  OSLA_CHECK(work->found.skips < work->n, OSLA_ERR_STATE,
             "--robust: all %" PRId64 " data are cycle skips, and none is left", work->n);
  job->weight = work->weight;
  work->weight = weight;
  r->scale = work->found.scale;
  r->outliers = work->found.outliers;
  r->skips = work->found.skips;
  r->skips_of = work->found.skips_of;
  work->found.skips_of = skips_of;
  r->passes++;
  return OSLA_OK;
}

static osla_err allocate(invert_job *job, robust_work *work)
{
  const size_t n = (size_t)work->n, measures = (size_t)job->data.n_measures;
  job->weight = malloc(n * sizeof *job->weight);
  job->robust.skips_of = calloc(measures, sizeof *job->robust.skips_of);
  work->found.skips_of = calloc(measures, sizeof *work->found.skips_of);
  work->residual = malloc(n * sizeof *work->residual);
  work->sorted = malloc(n * sizeof *work->sorted);
  work->weight = malloc(n * sizeof *work->weight);
  OSLA_CHECK(job->weight && job->robust.skips_of && work->found.skips_of && work->residual &&
               work->sorted && work->weight,
             OSLA_ERR_MEM, "no memory for weights of %zu data", n);
  for (size_t i = 0; i < n; i++)
    job->weight[i] = 1.0;
  return OSLA_OK;
}

static osla_err reweight_until_settled(invert_job *job, robust_work *work)
{
  invert_robust *r = &job->robust;
  for (;;) {
    OSLA_CALL(find_residuals(job, work));
    work->found.scale = find_scale(work);
    if (r->passes == 0) r->scale = work->found.scale;
    r->settled = find_weights(job, work);
    if (r->settled || r->passes == PASSES_MAX) return OSLA_OK;
    OSLA_CALL(use_next_weights(job, work)); /* all ranks get the same result */
    OSLA_CALL(invert_compute_model(job, true));
  }
}

osla_err invert_solve_robustly(invert_job *job)
{
  robust_work work = {.n = tomo_data_first(&job->data, job->n_paths)};
  if (!job->options->robust) return OSLA_OK;
  osla_err err = osla_agree(job->t, allocate(job, &work));
  if (err == OSLA_OK) err = reweight_until_settled(job, &work);
  free(work.found.skips_of);
  free(work.residual);
  free(work.sorted);
  free(work.weight);
  return err;
}

void invert_print_robust(const invert_job *job)
{
  const invert_robust *r = &job->robust;
  if (!job->options->robust) return;
  (void)printf("\nOutliers   %" PRId64
               " data beyond %g deviations of %.3f sigma have less weight, %" PRId64
               " cycle skips are left out (models found again: %d%s)\n",
               r->outliers, job->options->outlier, r->scale, r->skips, r->passes,
               r->settled ? "" : ", and not settled: outliers still come and go");
  for (int64_t i = 0, shown = 0; i < job->data.n_measures && shown < 10; i++) {
    char text[TOMO_MEASURE_TEXT];
    if (r->skips_of[i] == 0) continue;
    tomo_measure_text(&job->data.measure[i], text);
    (void)printf("           %6" PRId64 " of %s\n", r->skips_of[i], text);
    shown++;
  }
}

json_t *invert_robust_json(const invert_job *job)
{
  const invert_robust *r = &job->robust;
  json_t *list = json_array();
  for (int64_t i = 0; i < job->data.n_measures; i++) {
    const tomo_measure *m = &job->data.measure[i];
    if (r->skips_of[i] > 0)
      (void)json_array_append_new(
        list, json_pack("{s:s, s:s, s:i, s:f, s:I}", "wave", tomo_wave_name(m->wave), "observable",
                        tomo_observable_name(m->observable), "branch", m->branch, "period_s",
                        m->period_s, "data", (json_int_t)r->skips_of[i]));
  }
  return json_pack("{s:i, s:b, s:f, s:I, s:I, s:o}", "models", r->passes, "settled", r->settled,
                   "scale_sigma", r->scale, "outliers", (json_int_t)r->outliers, "cycle_skips",
                   (json_int_t)r->skips, "cycle_skips_by_measure", list);
}

osla_err invert_compute_model(invert_job *job, bool again)
{
  if (job->options->solver == INVERT_DIRECT) {
    OSLA_CALL(again ? invert_replace_hessian(job) : invert_restore_checkpoint(job));
    OSLA_CALL(invert_assemble(job));
    OSLA_CALL(invert_scan_priors(job));
    return invert_solve(job);
  }
  invert_rays_destroy(&job->rays);
  OSLA_CALL(invert_trace_paths(job));
  OSLA_CALL(invert_scan_priors(job));
  return invert_iterate_model(job);
}
