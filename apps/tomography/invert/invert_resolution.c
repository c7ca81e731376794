/* Diagonal of the resolution matrix at knots with dense and with sparse paths.
 *
 * The resolution matrix R = (H + P)^-1 H = I - (H + P)^-1 P maps the true model to the recovered
 * model; P is the inverse covariance of the prior (Tarantola, "Inverse Problem Theory", SIAM 2005,
 * section 3.2). A diagonal element is 1 where the data decide and 0 where the prior decides. The
 * direct solver computes a sample of columns of R by one solve, whose right-hand sides are columns
 * of P. LSQR and CG solve one system for each column. */
#include "apps/tomography/invert/invert.h"
#include <math.h>

#include <inttypes.h>
#include <stdlib.h>

typedef struct sample {
  int count;
  int64_t *unknown; /* [count] sampled unknowns */
  bool *dense;      /* [count] true if the knot of the unknown has dense paths */
  /* [n * count] right-hand sides P e_j, later the solutions x_j; R e_j = e_j - x_j */
  double *columns;
  int64_t n;
} sample;

/* Chooses the sampled unknowns: half from knots with dense paths and half from knots with sparse
 * paths, evenly spaced in the order of the knots, for the middle radial function. */
static void choose_unknowns(const invert_job *job, sample *s)
{
  int n_radial = job->options->n_radial;
  int64_t dense = job->result.dense.knots, sparse = job->knots - dense, seen[2] = {0, 0};
  int want_dense = (s->count + 1) / 2, want_sparse = s->count - want_dense, taken[2] = {0, 0};
  if (want_dense > dense) want_dense = (int)dense;
  if (want_sparse > sparse) want_sparse = (int)sparse;
  s->count = 0;
  for (int64_t l = 0; l < job->knots; l++) {
    bool is_dense = job->density[l] >= job->result.threshold;
    int64_t all = is_dense ? dense : sparse;
    int want = is_dense ? want_dense : want_sparse, *have = &taken[is_dense];
    bool turn = *have < want && seen[is_dense] >= all * *have / want;
    seen[is_dense]++;
    if (!turn) continue;
    s->unknown[s->count] = l * n_radial + (n_radial - 1) / 2;
    s->dense[s->count++] = is_dense;
    ++*have;
  }
}

/* Makes the right-hand sides P e_j for the sampled unknowns j. */
static osla_err prior_columns(const invert_job *job, sample *s)
{
  double *unit = calloc((size_t)s->n + 1, sizeof *unit);
  OSLA_CHECK(unit, OSLA_ERR_MEM, "no memory for a column of the prior");
  for (int j = 0; j < s->count; j++) {
    unit[s->unknown[j]] = 1.0;
    tomo_prior_multiply(&job->prior, job->mesh, job->options->n_radial, unit,
                        s->columns + j * s->n);
    unit[s->unknown[j]] = 0.0;
  }
  free(unit);
  return OSLA_OK;
}

static void add_element(invert_job *job, bool dense, double value)
{
  invert_result *r = &job->result;
  *(dense ? &r->resolution_dense : &r->resolution_sparse) += value;
  ++*(dense ? &r->sampled_dense : &r->sampled_sparse);
}

static osla_err solve_elements(invert_job *job, sample *s)
{
  OSLA_CALL(invert_solve_columns(job, job->options->factor, s->count, s->columns));
  for (int j = 0; j < s->count; j++)
    add_element(job, s->dense[j], 1.0 - s->columns[s->unknown[j] + j * s->n]);
  return OSLA_OK;
}

/* Computes the diagonal elements without a factor: one system by LSQR or CG for each. */
static osla_err iterate_elements(invert_job *job, const sample *s)
{
  for (int j = 0; j < s->count; j++) {
    double value;
    OSLA_CALL(invert_iterate_resolution(job, s->unknown[j], &value));
    add_element(job, s->dense[j], value);
  }
  return OSLA_OK;
}

osla_err invert_sample_resolution(invert_job *job)
{
  invert_result *r = &job->result;
  const bool direct = job->options->solver == INVERT_DIRECT;
  double start = osla_clock();
  sample s = {.count = job->options->resolution, .n = job->n};
  if (s.count == 0) return OSLA_OK;
  s.unknown = malloc((size_t)s.count * sizeof *s.unknown);
  s.dense = malloc((size_t)s.count * sizeof *s.dense);
  if (direct) s.columns = calloc((size_t)s.count * (size_t)job->n, sizeof *s.columns);
  osla_err err = OSLA_OK;
  if (!s.unknown || !s.dense || (direct && !s.columns)) {
    err =
      osla_error_set(OSLA_ERR_MEM, "no memory for %d columns of the resolution matrix", s.count);
  } else {
    choose_unknowns(job, &s);
    if (direct) err = prior_columns(job, &s);
  }
  err = osla_agree(job->t, err);
  if (err == OSLA_OK && s.count > 0)
    err = direct ? solve_elements(job, &s) : iterate_elements(job, &s);
  if (r->sampled_dense > 0) r->resolution_dense /= r->sampled_dense;
  if (r->sampled_sparse > 0) r->resolution_sparse /= r->sampled_sparse;
  free(s.unknown);
  free(s.dense);
  free(s.columns);
  r->seconds[PHASE_SOLVE] += osla_clock() - start;
  return err;
}

/* ---- comparison of the recovered model with the true model: at knots that many paths touch
 * (dense), and at the other knots (sparse) ---- */

/* Returns the median of the ray density, or if the median is 0, the smallest density above 0. */
static double dense_threshold(const invert_job *job)
{
  double median = tomo_density_quantile(job->density, job->knots, 0.5), least = HUGE_VAL;
  if (median > 0.0) return median;
  for (int64_t l = 0; l < job->knots; l++)
    if (job->density[l] > 0.0 && job->density[l] < least) least = job->density[l];
  return least;
}

/* Compares both models at the knots whose ray density is at least, or is below, the threshold.
 * Without a true model only the number of knots is set; all other results are NaN. */
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
