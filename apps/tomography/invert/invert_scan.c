/* Models of one assembly under the priors of --scan. For each prior: misfit, norm of the model and
 * degrees of freedom; from these the corner of the L-curve and the least generalised
 * cross-validation.
 *
 * The direct solver saves H (invert_saved_hessian.c), then adds each prior and factors the sum in
 * the same memory; LSQR and CG run once for each prior. The trace of the resolution matrix R = I -
 * (H + P)^-1 P is estimated by the mean of z^T R z over random vectors z of signs. All priors use
 * the same vectors, so that differences of traces are more accurate than the traces (Hutchinson,
 * Commun. Statist. Simul. Comput. 19 (1990) 433-450; for cross-validation: Girard, Numer. Math. 56
 * (1989) 1-23). */
#include "apps/tomography/invert/invert_scan.h"
#include "apps/tomography/invert/invert_rays.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* allowed error of a misfit, relative to |d|^2; the same value as in invert_fit.c */
#define TRUSTED 1e-3

typedef struct scanner {
  invert_job *job;
  saved_hessian kept;
  double *z;       /* [n] random signs */
  double *columns; /* [n * (1 + vectors)] right-hand sides, later solutions; NULL for LSQR and CG */
} scanner;

bool invert_has_scan(const invert_options *o)
{
  return invert_scan_count(&o->scan) > 0;
}

void invert_release_scan(invert_scan *s)
{
  double *const arrays[] = {s->damping, s->smoothing,     s->misfit, s->norm,
                            s->freedom, s->freedom_error, s->gcv,    s->gcv_error};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    free(arrays[i]);
  free(s->line_corner);
  *s = (invert_scan){.corner = -1, .lowest = -1};
}

static osla_err open_scan(scanner *s)
{
  const invert_options *o = s->job->options;
  const invert_scan_plan *plan = &o->scan;
  invert_scan *scan = &s->job->scan;
  double **const arrays[] = {&scan->damping, &scan->smoothing,     &scan->misfit, &scan->norm,
                             &scan->freedom, &scan->freedom_error, &scan->gcv,    &scan->gcv_error};
  const bool direct = o->solver == INVERT_DIRECT, both = plan->damping.count > 0;
  const int along = both ? plan->damping.count : plan->smoothing.count;
  *scan = (invert_scan){.of_damping = both, .vectors = plan->vectors, .corner = -1, .lowest = -1};
  scan->count = invert_scan_count(plan);
  scan->lines = scan->count / along;
  bool made = true;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    *arrays[i] = malloc((size_t)scan->count * sizeof(double));
    made = made && *arrays[i];
    for (int p = 0; *arrays[i] && p < scan->count; p++)
      (*arrays[i])[p] = NAN;
  }
  scan->line_corner = malloc((size_t)scan->lines * sizeof *scan->line_corner);
  s->z = malloc((size_t)s->job->n * sizeof *s->z);
  if (direct) s->columns = malloc((size_t)s->job->n * (1 + (size_t)plan->vectors) * sizeof(double));
  made = made && scan->line_corner && s->z && (s->columns || !direct);
  OSLA_CHECK(made, OSLA_ERR_MEM, "no memory for %d vectors of %" PRId64 " unknowns",
             1 + plan->vectors, s->job->n);
  for (int p = 0; p < scan->count; p++) {
    const int in_line = p % along, line = p / along;
    scan->damping[p] = both ? invert_range_value(&plan->damping, in_line) : s->job->prior.damping;
    scan->smoothing[p] = plan->smoothing.count > 0
                           ? invert_range_value(&plan->smoothing, both ? line : in_line)
                           : s->job->prior.lateral;
  }
  return OSLA_OK;
}

/* Returns m^T C_m^-1 m for that part of the prior whose weight changes along a line, taken with
 * weight 1. */
static double norm_of(const invert_job *job, const double *m)
{
  tomo_prior_options part = job->prior;
  part.damping = job->scan.of_damping ? 1.0 : 0.0;
  part.lateral = job->scan.of_damping ? 0.0 : 1.0;
  part.radial = 0.0;
  return tomo_prior_norm(&part, job->mesh, job->options->n_radial, m);
}

static void make_signs(const scanner *s, int vector)
{
  const uint64_t seed = s->job->options->model.seed, stream = UINT64_MAX - (uint64_t)vector;
  for (int64_t i = 0; i < s->job->n; i++)
    s->z[i] = osla_random_bits(seed, (uint64_t)i, stream) & 1 ? 1.0 : -1.0;
}

/* Sets the estimated trace of R for prior p, which is the mean of z^T R z, and its standard error.
 */
static void set_freedom(invert_scan *scan, int p, const double *value)
{
  double mean = 0.0, squares = 0.0;
  const int k = scan->vectors;
  for (int v = 0; v < k; v++)
    mean += value[v] / k;
  for (int v = 0; v < k; v++)
    squares += (value[v] - mean) * (value[v] - mean);
  scan->freedom[p] = mean;
  scan->freedom_error[p] = sqrt(squares / ((double)k * (k - 1)));
}

/* Computes *misfit = |d - G m|^2 = |d|^2 - 2 m g + m H m. For an exact solution of (H + P) m = g
 * this equals |d|^2 - m g - m P m; a difference shows rounding errors. *misfit is NaN if the
 * difference is large, or if the misfit is small compared with the rounding errors of H. */
static osla_err misfit_of(const scanner *s, const double *m, double *misfit)
{
  const invert_job *job = s->job;
  const double digits = job->options->dtype == OSLA_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;
  const double all = job->result.misfit_before;
  double mg = 0.0, mhm;
  for (int64_t i = 0; i < job->n; i++)
    mg += m[i] * job->gradient[i];
  OSLA_CALL(saved_hessian_norm(&s->kept, m, &mhm));
  const double mpm = tomo_prior_norm(&job->prior, job->mesh, job->options->n_radial, m);
  *misfit = all - 2.0 * mg + mhm;
  if (!(*misfit > 1e3 * digits * all && fabs(mhm + mpm - mg) <= TRUSTED * all)) *misfit = NAN;
  return OSLA_OK;
}

static osla_err scan_factored(scanner *s, int p, double *value)
{
  invert_job *job = s->job;
  int64_t info;
  OSLA_CALL(saved_hessian_restore(&s->kept));
  OSLA_CALL(osla_potrf(job->options->uplo, s->kept.h, NULL, &info));
  /* no model, because H + P is not positive definite within rounding */
  if (info != 0) return OSLA_OK;
  job->factor = s->kept.h;
  memcpy(s->columns, job->gradient, (size_t)job->n * sizeof *s->columns);
  for (int v = 0; v < job->scan.vectors; v++) {
    make_signs(s, v);
    tomo_prior_multiply(&job->prior, job->mesh, job->options->n_radial, s->z,
                        s->columns + (1 + v) * job->n);
  }
  OSLA_CALL(invert_solve_columns(job, INVERT_CHOLESKY, 1 + job->scan.vectors, s->columns));
  OSLA_CALL(misfit_of(s, s->columns, &job->scan.misfit[p]));
  if (isnan(job->scan.misfit[p])) return OSLA_OK;
  job->scan.norm[p] = norm_of(job, s->columns);
  for (int v = 0; v < job->scan.vectors; v++) {
    const double *x = s->columns + (1 + v) * job->n;
    make_signs(s, v);
    value[v] = (double)job->n;
    for (int64_t i = 0; i < job->n; i++)
      value[v] -= s->z[i] * x[i];
  }
  set_freedom(&job->scan, p, value);
  return OSLA_OK;
}

static osla_err scan_iterated(scanner *s, int p, double *value)
{
  invert_job *job = s->job;
  OSLA_CALL(invert_rays_replace_prior(job->rays));
  OSLA_CALL(invert_iterate_scan(job, &job->scan.misfit[p]));
  job->scan.norm[p] = norm_of(job, job->m);
  for (int v = 0; v < job->scan.vectors; v++) {
    make_signs(s, v);
    OSLA_CALL(invert_iterate_freedom(job, s->z, &value[v]));
  }
  set_freedom(&job->scan, p, value);
  return OSLA_OK;
}

static osla_err scan_all_priors(scanner *s)
{
  invert_job *job = s->job;
  invert_scan *scan = &job->scan;
  const bool direct = job->options->solver == INVERT_DIRECT;
  const bool show = invert_shows_progress(job);
  const double data = (double)job->result.data;
  double value[INVERT_VECTORS_MAX];
  for (int p = 0; p < scan->count; p++) {
    if (show) (void)fprintf(stderr, "\rscanning: prior %d of %d\033[K", p + 1, scan->count);
    job->prior.damping = scan->damping[p];
    job->prior.lateral = scan->smoothing[p];
    OSLA_CALL(direct ? scan_factored(s, p, value) : scan_iterated(s, p, value));
    scan->gcv[p] = scan_gcv(data, scan->misfit[p], scan->freedom[p]);
    scan->gcv_error[p] =
      scan_gcv_error(data, scan->misfit[p], scan->freedom[p], scan->freedom_error[p]);
  }
  if (show) (void)fprintf(stderr, "\r\033[K");
  return OSLA_OK;
}

static void find_best_priors(invert_scan *s)
{
  const int along = s->count / s->lines;
  for (int p = 0; p < s->count; p++)
    if (isfinite(s->gcv[p]) && (s->lowest < 0 || s->gcv[p] < s->gcv[s->lowest])) s->lowest = p;
  for (int line = 0; line < s->lines; line++) {
    const int first = line * along, at = scan_corner(along, s->misfit + first, s->norm + first);
    s->line_corner[line] = at < 0 ? -1 : first + at;
    if (at < 0) continue;
    if (s->corner < 0 || s->gcv[first + at] < s->gcv[s->corner]) s->corner = first + at;
  }
}

static osla_err choose_prior(invert_job *job, const tomo_prior_options *given)
{
  const invert_scan *s = &job->scan;
  const invert_choice choice = job->options->choose;
  OSLA_CHECK(job->result.misfit_before > 0.0, OSLA_ERR_STATE,
             "--scan: all data are 0, and no prior explains them better than another");
  OSLA_CHECK(s->lowest >= 0, OSLA_ERR_STATE,
             "--scan: none of the %d priors gives an accurate model: they are too weak", s->count);
  const int chosen = choice == INVERT_GCV ? s->lowest : s->corner;
  job->prior = *given;
  if (choice == INVERT_AS_GIVEN) return OSLA_OK;
  OSLA_CHECK(chosen >= 0, OSLA_ERR_STATE,
             "--choose corner: the L-curve of --scan has no corner; scan a wider range, or use "
             "--choose gcv");
  job->prior.damping = s->damping[chosen];
  job->prior.lateral = s->smoothing[chosen];
  return OSLA_OK;
}

/* Broadcasts the results of rank 0, so that all ranks choose the same prior: sums by MPI may differ
 * between ranks in the last bits. */
static osla_err broadcast_results(const invert_job *job)
{
  const invert_scan *s = &job->scan;
  double *const arrays[] = {s->misfit, s->norm, s->freedom, s->freedom_error, s->gcv, s->gcv_error};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    OSLA_CALL(osla_bcast(job->t, arrays[i], s->count, MPI_DOUBLE, 0));
  return OSLA_OK;
}

static osla_err run_scan(scanner *s)
{
  const tomo_prior_options given = s->job->prior;
  const bool direct = s->job->options->solver == INVERT_DIRECT;
  if (direct) OSLA_CALL(saved_hessian_open(s->job, &s->kept));
  OSLA_CALL(scan_all_priors(s));
  OSLA_CALL(broadcast_results(s->job));
  find_best_priors(&s->job->scan);
  OSLA_CALL(osla_agree(s->job->t, choose_prior(s->job, &given)));
  s->job->factor = NULL;
  return direct ? saved_hessian_restore(&s->kept) : invert_rays_replace_prior(s->job->rays);
}

osla_err invert_scan_priors(invert_job *job)
{
  const double start = osla_clock();
  scanner s = {.job = job};
  job->scan.corner = job->scan.lowest = -1;
  if (!job->scanning) return OSLA_OK;
  osla_err err = osla_agree(job->t, open_scan(&s));
  if (err == OSLA_OK) err = run_scan(&s);
  saved_hessian_close(&s.kept);
  free(s.z);
  free(s.columns);
  job->scan.seconds = job->result.seconds[PHASE_SCAN] = osla_clock() - start;
  return err;
}
