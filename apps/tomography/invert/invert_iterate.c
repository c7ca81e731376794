/* Computes the model by LSQR or CG, without assembly.
 *
 * LSQR minimises |d - G m|^2 + |L m|^2, the least-squares problem whose normal equations the direct
 * solver solves. CG solves these normal equations H m = G^T d, where H = G^T G + L^T L includes
 * the prior L. The scaling of LSQR and the preconditioner of CG use the diagonal of H. Source:
 * Nolet, "Solving or resolving inadequate and noisy tomographic systems", J. Comput. Phys. 61
 * (1985) 463-482. */
#include "apps/tomography/invert/invert_rays.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One linear system: its operator A (the rows of G, followed by the rows L of the prior), and this
 * rank's parts of the vectors. */
typedef struct iteration {
  invert_job *job;
  osla_operator a;
  double *b;        /* [a.rows] right-hand side */
  double *rows;     /* [a.rows] work array of CG */
  double *x,        /* [a.columns] solution */
    *y;             /* [a.columns] work array */
  double *diagonal; /* [a.columns] 1 / H[j, j] for CG, its square root for LSQR */
  bool show;
  double shown;
} iteration;

static void close_iteration(iteration *it)
{
  free(it->b);
  free(it->rows);
  free(it->x);
  free(it->y);
  free(it->diagonal);
}

static osla_err allocate_vectors(iteration *it)
{
  const size_t rows = (size_t)it->a.rows + 1, columns = (size_t)it->a.columns + 1;
  it->b = calloc(rows, sizeof *it->b);
  it->x = calloc(columns, sizeof *it->x);
  it->y = calloc(columns, sizeof *it->y);
  it->diagonal = calloc(columns, sizeof *it->diagonal);
  const bool cg = it->job->options->solver == INVERT_CG;
  if (cg) it->rows = calloc(rows, sizeof *it->rows);
  OSLA_CHECK(it->b && it->x && it->y && it->diagonal && (!cg || it->rows), OSLA_ERR_MEM,
             "no memory for vectors of %zu rows and %zu unknowns", rows, columns);
  return OSLA_OK;
}

static osla_err open_iteration(invert_job *job, iteration *it)
{
  const bool cg = job->options->solver == INVERT_CG;
  *it = (iteration){.job = job, .a = invert_rays_operator(job->rays)};
  it->show = invert_shows_progress(job);
  OSLA_CALL(osla_agree(job->t, allocate_vectors(it)));
  OSLA_CALL(invert_rays_diagonal(job->rays, it->diagonal));
  for (int64_t j = 0; j < it->a.columns; j++) {
    double *d = &it->diagonal[j];
    /* x[j] stays 0 if neither the data nor the prior depend on the unknown j */
    *d = *d > 0.0 ? 1.0 / *d : 1.0;
    if (!cg) *d = sqrt(*d);
  }
  return OSLA_OK;
}

/* y := H x + beta y. H is symmetric, so `op` is ignored. */
static osla_err apply_normal(void *arg, osla_trans op, const double *x, double beta, double *y)
{
  iteration *it = arg;
  (void)op;
  OSLA_CALL(it->a.multiply(it->a.arg, OSLA_NOTRANS, x, 0.0, it->rows));
  return it->a.multiply(it->a.arg, OSLA_TRANS, it->rows, beta, y);
}

static osla_err apply_jacobi(void *arg, const double *r, double *z)
{
  const iteration *it = arg;
  for (int64_t j = 0; j < it->a.columns; j++)
    z[j] = it->diagonal[j] * r[j];
  return OSLA_OK;
}

static void show_iteration(void *arg, int64_t iteration_number, double left)
{
  iteration *it = arg;
  const double now = osla_clock();
  if (!it->show || now - it->shown < 0.2) return;
  it->shown = now;
  (void)fprintf(stderr, "\riterating: %" PRId64 ", %.2g of %g\033[K", iteration_number, left,
                it->job->options->tolerance);
  (void)fflush(stderr);
}

static void clear_line(const iteration *it)
{
  if (it->shown == 0.0) return;
  (void)fprintf(stderr, "\r\033[K");
  (void)fflush(stderr);
}

static osla_err check_convergence(const iteration *it, const osla_krylov_result *r)
{
  const invert_options *o = it->job->options;
  const char *name = o->solver == INVERT_CG ? "CG" : "LSQR";
  OSLA_CHECK(r->end != OSLA_KRYLOV_ITERATIONS, OSLA_ERR_STATE,
             "%s has not converged: %.3g is left after %" PRId64
             " iterations, and --tolerance is %g; raise --iterations, --damping or --smoothing",
             name, r->left, r->iterations, o->tolerance);
  OSLA_CHECK(r->end == OSLA_KRYLOV_CONVERGED, OSLA_ERR_STATE,
             "%s broke down after %" PRId64
             " iterations: the Hessian is not positive definite; raise --damping or --smoothing",
             name, r->iterations);
  return OSLA_OK;
}

/* Computes it->x, the minimiser of |b - A x|. */
static osla_err solve_system(iteration *it, osla_krylov_result *result)
{
  const invert_options *o = it->job->options;
  const osla_krylov_options options = {
    .tolerance = o->tolerance, .iterations = o->iterations, .each = show_iteration, .arg = it};
  osla_err err;
  if (o->solver == INVERT_LSQR) {
    err = osla_lsqr(&it->a, it->b, 0.0, it->diagonal, it->x, &options, result);
  } else {
    const osla_operator normal = {.transport = it->a.transport,
                                  .rows = it->a.columns,
                                  .columns = it->a.columns,
                                  .multiply = apply_normal,
                                  .arg = it};
    const osla_preconditioner jacobi = {.apply = apply_jacobi, .arg = it};
    OSLA_CALL(it->a.multiply(it->a.arg, OSLA_TRANS, it->b, 0.0, it->y));
    err = osla_cg(&normal, &jacobi, it->y, it->x, &options, result);
  }
  clear_line(it);
  return err == OSLA_OK ? check_convergence(it, result) : err;
}

/* Sets whole[] on all ranks to the concatenated parts of all ranks. n is the length of this rank's
 * part. Collective. */
static osla_err gather_vector(invert_job *job, int64_t n, const double *part, double *whole)
{
  memset(whole, 0, (size_t)job->n * sizeof *whole);
  for (int64_t j = 0; j < n; j++)
    whole[job->rays->first + j] = part[j];
  return osla_allreduce(job->t, whole, job->n, MPI_DOUBLE, MPI_SUM);
}

/* Computes gradient and model, replicated on all ranks, from the data of this rank's paths. */
static osla_err solve_for_model(iteration *it, osla_krylov_result *result)
{
  invert_job *job = it->job;
  memcpy(it->b, job->rays->d, (size_t)job->rays->rows * sizeof *it->b);
  OSLA_CALL(it->a.multiply(it->a.arg, OSLA_TRANS, it->b, 0.0, it->y));
  OSLA_CALL(gather_vector(job, it->a.columns, it->y, job->gradient));
  OSLA_CALL(solve_system(it, result));
  return gather_vector(job, it->a.columns, it->x, job->m);
}

osla_err invert_trace_paths(invert_job *job)
{
  const double start = osla_clock();
  OSLA_CALL(invert_rays_create(job));
  int64_t bytes = (int64_t)invert_rays_bytes(job->rays);
  OSLA_CALL(osla_allreduce(job->t, &bytes, 1, MPI_INT64_T, MPI_SUM));
  job->result.rays_bytes = (uint64_t)bytes;
  job->result.seconds[PHASE_COMPUTE] = osla_clock() - start;
  return OSLA_OK;
}

osla_err invert_iterate_model(invert_job *job)
{
  invert_result *r = &job->result;
  osla_krylov_result result;
  iteration it;
  osla_err err = open_iteration(job, &it);
  if (err == OSLA_OK) err = solve_for_model(&it, &result);
  close_iteration(&it);
  OSLA_CALL(err);
  r->iterations = result.iterations;
  r->left = result.left;
  r->seconds[PHASE_PRODUCTS] = result.seconds_products;
  r->seconds[PHASE_SUMS] = result.seconds_sums;
  r->seconds[PHASE_SOLVE] = result.seconds - result.seconds_products - result.seconds_sums;
  return OSLA_OK;
}

/* Sets *misfit = |d - G m|^2 for the model in it->x. It is the misfit of the factored rows plus
 * |d|^2 - |Q^T d|^2, the part of the data that no model explains. */
static osla_err measure_model(iteration *it, double *misfit)
{
  const int64_t count = it->job->rays->rows;
  const double *d = it->job->rays->d;
  OSLA_CALL(it->a.multiply(it->a.arg, OSLA_NOTRANS, it->x, 0.0, it->b));
  double sum = -osla_dot_local(count, d, d);
  for (int64_t i = 0; i < count; i++)
    sum += (d[i] - it->b[i]) * (d[i] - it->b[i]);
  OSLA_CALL(osla_allreduce(it->job->t, &sum, 1, MPI_DOUBLE, MPI_SUM));
  *misfit = it->job->result.misfit_before + sum;
  return OSLA_OK;
}

osla_err invert_iterate_scan(invert_job *job, double *misfit)
{
  osla_krylov_result result;
  iteration it;
  osla_err err = open_iteration(job, &it);
  if (err == OSLA_OK) err = solve_for_model(&it, &result);
  if (err == OSLA_OK) err = measure_model(&it, misfit);
  close_iteration(&it);
  return err;
}

/* Computes it->x = (H + P)^-1 P y for the vector y in it->y. In this formula H does not include the
 * prior. The result x minimises |G x|^2 + |L (y - x)|^2. The resolution matrix R gives R y = y - x
 * (invert_resolution.c). */
static osla_err solve_prior_product(iteration *it)
{
  osla_krylov_result result;
  OSLA_CALL(it->a.multiply(it->a.arg, OSLA_NOTRANS, it->y, 0.0, it->b));
  memset(it->b, 0, (size_t)it->job->rays->rows * sizeof *it->b);
  return solve_system(it, &result);
}

osla_err invert_iterate_freedom(invert_job *job, const double *y, double *value)
{
  iteration it;
  osla_err err = open_iteration(job, &it);
  const double *mine = y + job->rays->first;
  *value = 0.0;
  if (err == OSLA_OK) {
    memcpy(it.y, mine, (size_t)it.a.columns * sizeof *it.y);
    err = solve_prior_product(&it);
  }
  for (int64_t j = 0; err == OSLA_OK && j < it.a.columns; j++)
    *value += mine[j] * (mine[j] - it.x[j]);
  close_iteration(&it);
  OSLA_CALL(err);
  return osla_allreduce(job->t, value, 1, MPI_DOUBLE, MPI_SUM);
}

osla_err invert_iterate_resolution(invert_job *job, int64_t unknown, double *value)
{
  double *unit = calloc((size_t)job->n, sizeof *unit);
  if (unit) unit[unknown] = 1.0;
  osla_err err = osla_agree(
    job->t, unit ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for a unit vector"));
  if (err == OSLA_OK) err = invert_iterate_freedom(job, unit, value);
  free(unit);
  return err;
}
