/* Tests of the uncertainties of `osla invert`: posterior deviations, resolution, rows of the
 * covariance and resolution matrices, and the scan of priors are compared with the serial inverse
 * of the same problem. Size: 162 knots x 3 radial functions, 200 paths x 100 data. */
#include "apps/tomography/invert/invert_scan.h"
#include "apps/tomography/tests/invert_reference.h"
#include "apps/tomography/tests/invert_test_job.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *zeros(int64_t count)
{
  return calloc((size_t)count + 1, sizeof(double));
}

static char *grid_of(int rows, int columns)
{
  static char grid[32];
  snprintf(grid, sizeof grid, "%dx%d", rows, columns);
  return grid;
}

/* Returns a process grid that is nearly square; ranks that do not fit into it own nothing. */
static char *square_grid(void)
{
  const int side = (int)sqrt((double)osla_test_size());
  return grid_of(side, osla_test_size() / side);
}

/* Returns the full resolution matrix I - C P, with the posterior covariance C and the inverse prior
 * covariance P. */
static double *full_resolution(const invert_reference *r, const double *inverse)
{
  double *full = zeros(r->n * r->n), *prior = zeros(r->n * r->n);
  for (int64_t j = 0; j < r->n; j++)
    for (int64_t i = 0; i < r->n; i++)
      prior[i + j * r->n] = i <= j ? r->prior[i + j * r->n] : r->prior[j + i * r->n];
  for (int64_t j = 0; j < r->n; j++)
    for (int64_t k = 0; k < r->n; k++) {
      const double p = prior[k + j * r->n];
      for (int64_t i = 0; i < r->n && p != 0.0; i++)
        full[i + j * r->n] -= inverse[i + k * r->n] * p;
    }
  for (int64_t i = 0; i < r->n; i++)
    full[i + i * r->n] += 1.0;
  free(prior);
  return full;
}

static void compare_posterior(const invert_job *job, const invert_reference *r,
                              const double *inverse, double tolerance)
{
  const invert_posterior *p = &job->posterior;
  double *deviation = zeros(r->n), trace = 0.0, mean = 0.0, least = HUGE_VAL;
  int64_t below = 0, above = 0;
  for (int64_t i = 0; i < r->n; i++) {
    deviation[i] = sqrt(inverse[i + i * r->n]);
    trace += r->resolution[i];
    mean += deviation[i] / (double)r->n;
    least = fmin(least, deviation[i]);
    below += p->deviation[i] < p->median;
    above += p->deviation[i] > p->median;
  }
  test_job_compare("deviations", p->deviation, deviation, r->n, tolerance);
  test_job_compare("resolution", p->resolution, r->resolution, r->n, tolerance);
  OSLA_ASSERT_CLOSE(p->trace / trace, 1.0, tolerance);
  OSLA_ASSERT_CLOSE(p->mean / mean, 1.0, tolerance);
  OSLA_ASSERT_CLOSE(p->least / least, 1.0, tolerance);
  OSLA_ASSERT_CLOSE(p->most / test_job_largest(deviation, r->n), 1.0, tolerance);
  CU_ASSERT(below <= r->n / 2 && above <= r->n / 2 && p->median > 0.0);
  CU_ASSERT(trace > 0.1 * (double)r->n && trace < 0.9 * (double)r->n);
  free(deviation);
}

/* Computes the spread of a row of the serial resolution matrix by the definition of the spread. */
static double spread_of(const invert_job *job, const double *full, int64_t unknown, bool depth)
{
  const int n_radial = job->options->n_radial;
  double sum = 0.0, squares = 0.0;
  for (int64_t j = 0; j < job->n; j++) {
    const double w = full[unknown + j * job->n];
    const double x = 6371.0 * tomo_distance(tomo_mesh_knot(job->mesh, unknown / n_radial),
                                            tomo_mesh_knot(job->mesh, j / n_radial));
    const double z = tomo_radial_greville(job->radial, (int)(j % n_radial)) -
                     tomo_radial_greville(job->radial, (int)(unknown % n_radial));
    sum += w * w * (depth ? z * z : x * x);
    squares += w * w;
  }
  return sqrt(sum / squares);
}

static void compare_rows(const invert_job *job, const invert_reference *r, const double *inverse,
                         double tolerance)
{
  const invert_posterior *p = &job->posterior;
  double *full = full_resolution(r, inverse), *row = zeros(r->n);
  CU_ASSERT(p->points == job->options->points);
  for (int k = 0; k < p->points; k++) {
    const int64_t unknown = p->unknown[k];
    for (int64_t j = 0; j < r->n; j++)
      row[j] = full[unknown + j * r->n];
    test_job_compare("row of resolution", p->row + k * r->n, row, r->n, tolerance);
    test_job_compare("row of covariance", p->covariance + k * r->n, inverse + unknown * r->n, r->n,
                     tolerance);
    double v[3];
    tomo_unit_vector(p->latitude[k], p->longitude[k], v);
    CU_ASSERT(tomo_distance(v, tomo_mesh_knot(job->mesh, unknown / job->options->n_radial)) <
              1e-14);
    OSLA_ASSERT_CLOSE(p->spread_km[k] / spread_of(job, full, unknown, false), 1.0, tolerance);
    OSLA_ASSERT_CLOSE(p->spread_depth_km[k] / spread_of(job, full, unknown, true), 1.0, tolerance);
    /* the unknown nearest to the position: knots are 16 degrees apart, radial functions at depths
     * of 0, 500 and 1000 km */
    CU_ASSERT(fabs(p->latitude[k] - job->options->point[k].latitude) < 12.0);
    CU_ASSERT(fabs(p->depth_km[k] - job->options->point[k].depth_km) <= 250.0);
    if (p->deviation)
      OSLA_ASSERT_CLOSE(sqrt(p->covariance[k * r->n + unknown]), p->deviation[unknown],
                        tolerance * p->deviation[unknown]);
  }
  free(full);
  free(row);
}

static void run_posterior(const char *options, const char *grid, double tolerance)
{
  test_job s;
  invert_reference r = {0};
  if (!test_job_open(&s, options, grid)) return;
  invert_job *job = &s.job;
  if (OSLA_ASSERT_OK(invert_assemble(job)) && OSLA_ASSERT_OK(invert_solve(job)) &&
      reference_assemble(job, &r) && reference_solve(job, &r)) {
    double *inverse = zeros(r.n * r.n);
    reference_invert(&r, inverse);
    OSLA_ASSERT_OK(invert_find_rows(job));
    OSLA_ASSERT_OK(invert_find_posterior(job));
    if (s.options.posterior) compare_posterior(job, &r, inverse, tolerance);
    CU_ASSERT((job->posterior.deviation != NULL) == (s.options.posterior != 0));
    compare_rows(job, &r, inverse, tolerance);
    free(inverse);
  }
  reference_free(&r);
  test_job_close(&s);
}

static void test_posterior(void)
{
  run_posterior("--max-paths 200 --posterior --nb 32 --spread 40,20,100;-90,0,1000", "", 1e-9);
  run_posterior("--max-paths 200 --posterior --nb 48 --triangle upper --spread 0,180,480",
                square_grid(), 1e-9);
  run_posterior("--max-paths 200 --posterior --nb 600 --full", grid_of(osla_test_size(), 1), 1e-9);
}

/* The posterior computed from columns of the inverse, all at once or one at a time, equals that of
 * the inverse in place. */
static void test_columns(void)
{
  run_posterior("--max-paths 200 --posterior --inverse columns --nb 32", "", 1e-9);
  run_posterior("--max-paths 200 --posterior --inverse columns --nb 600 --triangle upper",
                square_grid(), 1e-9);
  run_posterior("--max-paths 200 --posterior --solver lu --nb 40 --spread 0,180,480",
                grid_of(osla_test_size(), 1), 1e-9);
  run_posterior("--max-paths 200 --posterior --inverse columns --precision float --nb 17", "",
                1e-3);
}

static void test_posterior_float(void)
{
  run_posterior("--max-paths 200 --posterior --precision float --nb 17 --spread 10,-20,0", "",
                1e-3);
}

static void test_rows_of_lu(void)
{
  run_posterior("--max-paths 200 --solver lu --nb 40 --spread 40,20,100;-40,-20,900", "", 1e-9);
}

/* Computes the mean of z^T R z over the scan's random vectors z, with the resolution matrix R, and
 * the standard error of the mean. */
static void sample_trace(const invert_job *job, const double *full, double *mean, double *error)
{
  const int vectors = job->scan.vectors;
  double *value = zeros(vectors), *z = zeros(job->n), squares = 0.0;
  *mean = 0.0;
  for (int v = 0; v < vectors; v++) {
    for (int64_t i = 0; i < job->n; i++)
      z[i] = osla_random_bits(job->options->model.seed, (uint64_t)i, UINT64_MAX - (uint64_t)v) & 1
               ? 1.0
               : -1.0;
    for (int64_t j = 0; j < job->n; j++)
      for (int64_t i = 0; i < job->n; i++)
        value[v] += z[i] * z[j] * full[i + j * job->n];
    *mean += value[v] / vectors;
  }
  for (int v = 0; v < vectors; v++)
    squares += (value[v] - *mean) * (value[v] - *mean);
  *error = sqrt(squares / (vectors * (vectors - 1.0)));
  free(value);
  free(z);
}

/* Compares one prior of the scan with a serial inversion. */
static void compare_prior(const invert_job *scanned, int p, double tolerance)
{
  const invert_scan *s = &scanned->scan;
  invert_job job = *scanned;
  invert_reference r = {0};
  job.prior.damping = s->damping[p];
  job.prior.lateral = s->smoothing[p];
  if (reference_assemble(&job, &r) && reference_solve(&job, &r)) {
    double *inverse = zeros(r.n * r.n), trace = 0.0, norm = 0.0, mean, error;
    reference_invert(&r, inverse);
    double *full = full_resolution(&r, inverse);
    sample_trace(&job, full, &mean, &error);
    for (int64_t i = 0; i < r.n; i++)
      trace += r.resolution[i];
    tomo_prior_options part = {.damping = s->of_damping, .lateral = !s->of_damping};
    norm = tomo_prior_norm(&part, job.mesh, job.options->n_radial, r.model);
    OSLA_ASSERT_CLOSE(s->misfit[p] / r.misfit_after, 1.0, tolerance);
    OSLA_ASSERT_CLOSE(s->norm[p] / norm, 1.0, 10.0 * tolerance);
    OSLA_ASSERT_CLOSE(s->freedom[p] / mean, 1.0, tolerance);
    OSLA_ASSERT_CLOSE(s->freedom_error[p] / error, 1.0, 10.0 * tolerance);
    OSLA_ASSERT_CLOSE(s->freedom[p], trace, 5.0 * s->freedom_error[p]);
    const double n = (double)job.result.data, left = n - s->freedom[p];
    OSLA_ASSERT_CLOSE(s->gcv[p] * left * left / (n * s->misfit[p]), 1.0, 1e-12);
    CU_ASSERT(s->gcv_error[p] > 0.0);
    free(inverse);
    free(full);
  }
  reference_free(&r);
}

/* Compares every prior of the scan with a serial inversion, and then the model with the chosen
 * prior. */
static void run_scan(const char *options, const char *grid, double tolerance)
{
  test_job s;
  invert_reference r = {0};
  if (!test_job_open(&s, options, grid)) return;
  invert_job *job = &s.job;
  const bool direct = s.options.solver == INVERT_DIRECT;
  if (OSLA_ASSERT_OK(direct ? invert_assemble(job) : invert_trace_paths(job)) &&
      OSLA_ASSERT_OK(invert_scan_priors(job)) &&
      OSLA_ASSERT_OK(direct ? invert_solve(job) : invert_iterate_model(job))) {
    const invert_scan *scan = &job->scan;
    CU_ASSERT(scan->count == invert_scan_count(&s.options.scan));
    for (int p = 0; p < scan->count; p++)
      compare_prior(job, p, tolerance);
    CU_ASSERT(scan->lowest >= 0);
    if (s.options.choose == INVERT_GCV) {
      CU_ASSERT(job->prior.damping == scan->damping[scan->lowest]);
      CU_ASSERT(job->prior.lateral == scan->smoothing[scan->lowest]);
    }
    if (s.options.choose == INVERT_AS_GIVEN)
      CU_ASSERT(job->prior.damping == s.options.prior.damping);
    if (reference_assemble(job, &r) && reference_solve(job, &r)) {
      test_job_compare("model", job->m, r.model, job->n, 10.0 * tolerance);
      invert_compare_models(job);
      OSLA_ASSERT_OK(invert_measure_misfit(job));
      OSLA_ASSERT_CLOSE(job->result.misfit_after / r.misfit_after, 1.0, tolerance);
    }
  }
  reference_free(&r);
  test_job_close(&s);
}

static void test_scan(void)
{
  run_scan("--max-paths 200 --nb 32 --scan damping=0.01:10:3,vectors=9", "", 1e-8);
  run_scan("--max-paths 200 --nb 48 --triangle upper --choose gcv "
           "--scan damping=0.001:0.1:3,smoothing=0.1:1:3,vectors=3",
           square_grid(), 1e-8);
  run_scan("--max-paths 200 --nb 600 --solver lu --scan smoothing=0.1:10:3,vectors=4",
           grid_of(osla_test_size(), 1), 1e-8);
}

static void test_scan_float(void)
{
  run_scan("--max-paths 200 --precision float --nb 40 --scan damping=0.1:10:3,vectors=6", "", 1e-3);
}

static void test_scan_iterated(void)
{
  run_scan("--max-paths 200 --solver lsqr --tolerance 1e-12 --scan damping=0.05:5:3,vectors=3", "",
           1e-5);
  run_scan("--max-paths 200 --solver cg --tolerance 1e-12 --choose gcv "
           "--scan smoothing=0.05:5:3,vectors=3",
           "", 1e-5);
}

/* Some unknowns are touched by no path. A prior that is too weak to determine these unknowns gives
 * NaN; other priors do not. */
static void test_scan_too_weak(void)
{
  test_job s;
  if (!test_job_open(&s,
                     "--max-paths 20 --precision float --smoothing 0 --radial-smoothing 0 "
                     "--damping 1 --scan damping=1e-12:1:3 --nb 64",
                     ""))
    return;
  if (OSLA_ASSERT_OK(invert_assemble(&s.job)) && OSLA_ASSERT_OK(invert_scan_priors(&s.job))) {
    const invert_scan *scan = &s.job.scan;
    CU_ASSERT(isnan(scan->misfit[0]) && isnan(scan->gcv[0]));
    CU_ASSERT(isfinite(scan->misfit[2]) && scan->lowest == 2 && scan->corner == -1);
    OSLA_ASSERT_OK(invert_solve(&s.job));
  }
  test_job_close(&s);
  if (!test_job_open(&s,
                     "--max-paths 20 --precision float --smoothing 0 --radial-smoothing 0 "
                     "--damping 1 --scan damping=1e-14:1e-12:3",
                     ""))
    return;
  OSLA_ASSERT_OK(invert_assemble(&s.job));
  OSLA_ASSERT_ERR(invert_scan_priors(&s.job), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("none of the 3 priors");
  OSLA_ASSERT_SAME_TEXT();
  test_job_close(&s);
}

/* Tests of the corner of an L-curve. A curve that bulges outward, or has fewer than three points,
 * has no corner. */
static void test_corner(void)
{
  double misfit[21], norm[21];
  /* the curve is vertical, then horizontal; the corner is where the two parts meet */
  for (int i = 0; i < 21; i++) {
    const double weight = pow(10.0, 0.5 * (i - 10));
    misfit[i] = 1.0 + weight;
    norm[i] = 1.0 + 1.0 / weight;
  }
  CU_ASSERT(scan_corner(21, misfit, norm) == 10);
  misfit[9] = NAN;
  CU_ASSERT(scan_corner(21, misfit, norm) == 10);
  misfit[9] = 1.0 + pow(10.0, -0.5);
  for (int i = 0; i < 21; i++) { /* a quarter circle that bulges outward has no corner */
    const double angle = 0.07 * i;
    misfit[i] = pow(10.0, 2.0 * sin(angle));
    norm[i] = pow(10.0, 2.0 * cos(angle));
  }
  CU_ASSERT(scan_corner(21, misfit, norm) == -1);
  CU_ASSERT(scan_corner(2, misfit, norm) == -1);
  OSLA_ASSERT_CLOSE(scan_gcv(100.0, 50.0, 20.0), 100.0 * 50.0 / 6400.0, 1e-15);
  OSLA_ASSERT_CLOSE(scan_gcv_error(100.0, 50.0, 20.0, 1e-3) /
                      (scan_gcv(100.0, 50.0, 20.001) - scan_gcv(100.0, 50.0, 20.0)),
                    1.0, 1e-4);
  CU_ASSERT(isnan(scan_gcv(100.0, 50.0, 100.0)));
}

static const osla_test_case cases[] = {{"posterior", test_posterior},
                                       {"posterior float", test_posterior_float},
                                       {"columns", test_columns},
                                       {"rows of lu", test_rows_of_lu},
                                       {"scan", test_scan},
                                       {"scan float", test_scan_float},
                                       {"scan iterated", test_scan_iterated},
                                       {"scan too weak", test_scan_too_weak},
                                       {"corner", test_corner},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_invert_uncertainty, cases);
