/* Cases spmv and cg of the kernel forest: products with a sparse matrix, and the method CG. The
 * reference implementations exchange by hand, and use the same loops over rows as OSLA. See
 * bench_sparse.h.
 *
 * spmv writes x again before each product, as an iteration does. cg makes CG_ITERATIONS iterations
 * in each run, from x = 0. The reference implementation "loop" solves with the diagonal block of
 * each rank and exchanges nothing; the difference in time to "loop" is the cost of communication.
 */
#include "bench/bench_sparse.h"
#include "kernels/sparse/csr.h"
#include "kernels/sparse/krylov.h"
#include "kernels/sparse/spmv_rows.h"
#include "src/device/device.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IMPLS = 4, CG_ITERATIONS = 200, N_PARAMETERS = 2 };

/* Element of the vector x: a small integer, the same on every rank. */
static double x_of(int64_t column)
{
  return (double)((column * 7 + column / 11) % 17 - 8);
}

/* ---- products ---- */

static osla_err multiply(sparse_data *d, const double *x, double *y)
{
  const sparse_rows *own = &d->problem->own, *other = &d->problem->other;
  if (!d->method) return osla_spmv(OSLA_NOTRANS, d->problem->a, x, 0.0, y);
  OSLA_CALL(d->method->begin(d, x));
  gather_rows(own->n, own->first, own->column, own->value, x, 0.0, y);
  osli_spmv_charge_own(own->n, own->first[own->n]);
  OSLA_CALL(d->method->end(d));
  add_rows(other->n, other->row, other->first, other->column, other->value, d->ghosts, y);
  osli_spmv_charge_other(other->n, other->first[other->n]);
  return OSLA_OK;
}

static osla_err run_products(sparse_data *d)
{
  volatile double *x = d->x;
  for (int i = 0; i < d->iterations; i++) {
    if (d->is_on_device) {
      OSLA_CALL(osla_spmv(OSLA_NOTRANS, d->problem->on_device, d->x_on, 0.0, d->y_on));
      continue;
    }
    for (int64_t j = 0; j < d->problem->rows; j++)
      x[j] = x[j];
    OSLA_CALL(multiply(d, d->x, d->y));
  }
  return OSLA_OK;
}

/* Compares each row of the product with a sum over the entries of the row. *residual: largest
 * error of a row, divided by eps times the sum of magnitudes. */
static osla_err check_products(const sparse_data *d, double *residual)
{
  const sparse_problem *p = d->problem;
  const int64_t room = osla_csr_entries(p->a) + 1;
  int64_t *column = malloc((size_t)room * sizeof *column);
  double *value = malloc((size_t)room * sizeof *value), worst = 0.0;
  osla_err err = column && value ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "a row of the matrix");
  for (int64_t i = 0; i < p->rows && err == OSLA_OK; i++) {
    const int64_t n = osla_csr_row(p->a, i, column, value);
    double sum = 0.0, size = DBL_MIN;
    for (int64_t e = 0; e < n; e++) {
      sum += value[e] * x_of(column[e]);
      size += fabs(value[e] * x_of(column[e]));
    }
    const double error = fabs(d->y[i] - sum) / (DBL_EPSILON * size);
    if (!(error <= worst)) worst = error;
  }
  free(column);
  free(value);
  OSLA_CALL(osla_agree(p->job->transport, err));
  if (isnan(worst)) worst = INFINITY;
  *residual = worst;
  return osla_allreduce(p->job->transport, residual, 1, MPI_DOUBLE, MPI_MAX);
}

/* ---- CG ---- */

static osla_err run_osla_cg(sparse_data *d)
{
  const bool on = d->is_on_device;
  const osla_operator a = osla_csr_operator(on ? d->problem->on_device : d->problem->a);
  const osla_krylov_options options = {
    .tolerance = DBL_MIN, .iterations = CG_ITERATIONS, .check_every = d->check_every};
  osla_krylov_result result;
  OSLA_CALL(osla_cg(&a, NULL, on ? d->y_on : d->y, on ? d->x_on : d->x, &options, &result));
  d->residual = result.residual;
  d->iterations = (int)result.iterations;
  return OSLA_OK;
}

/* CG with the same steps as osla_cg, written by hand. */
static osla_err run_plain_cg(sparse_data *d)
{
  const int64_t n = d->problem->rows;
  double *r = d->r, *p = d->p, *ap = d->ap, *x = d->x;
  memcpy(p, x, (size_t)n * sizeof *p);
  OSLA_CALL(multiply(d, p, ap));
  for (int64_t i = 0; i < n; i++)
    p[i] = r[i] = d->y[i] - ap[i];
  double rr = osla_dot_local(n, r, r);
  OSLA_CALL(d->method->sum(&rr));
  for (d->iterations = 0; d->iterations < CG_ITERATIONS && rr > 0.0; d->iterations++) {
    OSLA_CALL(multiply(d, p, ap));
    double pap = osla_dot_local(n, p, ap);
    OSLA_CALL(d->method->sum(&pap));
    const double alpha = rr / pap, before = rr;
    for (int64_t i = 0; i < n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * ap[i];
    }
    rr = osla_dot_local(n, r, r);
    OSLA_CALL(d->method->sum(&rr));
    for (int64_t i = 0; i < n; i++)
      p[i] = r[i] + rr / before * p[i];
    krylov_charge_cg(n, false);
  }
  d->residual = sqrt(rr);
  return OSLA_OK;
}

/* Compares |b - A x| with the norm of the residual in CG's recurrence. *residual is 16, its limit,
 * if these two norms differ by 1e-10 |b|. */
static osla_err check_cg(sparse_data *d, double *residual)
{
  const int64_t n = d->problem->rows;
  double sum[3] = {0.0};
  memcpy(d->p, d->x, (size_t)n * sizeof *d->p);
  OSLA_CALL(multiply(d, d->p, d->ap));
  for (int64_t i = 0; i < n; i++) {
    const double left = d->y[i] - d->ap[i];
    sum[0] += left * left;
    sum[1] += d->y[i] * d->y[i];
  }
  sum[2] = d->method == &sparse_loop ? d->residual * d->residual : 0.0;
  OSLA_CALL(osla_allreduce(d->problem->job->transport, sum, 3, MPI_DOUBLE, MPI_SUM));
  const double due = d->method == &sparse_loop ? sqrt(sum[2]) : d->residual;
  *residual = fabs(sqrt(sum[0]) - due) / (1e-10 / BENCH_RESIDUAL_LIMIT * sqrt(sum[1]));
  if (isnan(*residual)) *residual = INFINITY;
  return OSLA_OK;
}

/* ---- vectors on a device ---- */

/* Copies the vectors x and y from host memory to the device, or with `back` from the device to host
 * memory. Does nothing if the runs use vectors in host memory. */
static void copy_vectors(const sparse_data *d, bool back)
{
  const size_t bytes = (size_t)d->problem->rows * sizeof *d->x;
  if (!d->is_on_device || bytes == 0) return;
  osli_device_copy_bytes(bytes, back ? d->x_on : d->x, back ? d->x : d->x_on);
  osli_device_copy_bytes(bytes, back ? d->y_on : d->y, back ? d->y : d->y_on);
}

static osla_err make_vectors(sparse_data *d)
{
  const int64_t n = d->problem->rows;
  void *memory = NULL;
  if (!d->is_on_device) return OSLA_OK;
  OSLA_CALL(
    osla_vertices_create_on(d->problem->job->device, 2 * (size_t)n * sizeof *d->x, &memory));
  d->x_on = memory;
  d->y_on = d->x_on + n;
  return OSLA_OK;
}

/* ---- an implementation ---- */

static osla_err run_case(void *data)
{
  sparse_data *d = data;
  osla_err err = d->problem->which == FOREST_SPMV ? run_products(d)
                 : d->method                      ? run_plain_cg(d)
                                                  : run_osla_cg(d);
  /* An error ends the job, because the other ranks would wait for ever. */
  if (err != OSLA_OK) osla_transport_abort(d->problem->job->transport, err);
  return OSLA_OK;
}

static osla_err prepare(void *data)
{
  sparse_data *d = data;
  const int64_t first = osla_csr_column_start(d->problem->a)[d->problem->job->rank];
  const bool cg = d->problem->which == FOREST_CG;
  for (int64_t i = 0; i < d->problem->rows; i++) {
    d->x[i] = cg ? 0.0 : x_of(first + i);
    d->y[i] = cg ? 1.0 + x_of(first + i) : 0.0;
  }
  if (d->method == &sparse_loop)
    for (int64_t g = 0; g < d->problem->n_ghosts; g++)
      d->ghosts[g] = cg ? 0.0 : x_of(d->problem->ghost[g]);
  copy_vectors(d, false);
  return osla_agree(d->problem->job->transport, osli_device_settle(SETTLE_COPY));
}

static osla_err check(void *data, double *residual)
{
  sparse_data *d = data;
  copy_vectors(d, true);
  OSLA_CALL(osla_agree(d->problem->job->transport, osli_device_settle(SETTLE_COPY)));
  return d->problem->which == FOREST_SPMV ? check_products(d, residual) : check_cg(d, residual);
}

static osla_err setup(void *data)
{
  sparse_data *d = data;
  const sparse_problem *p = d->problem;
  void *memory;
  const uint64_t rows = (uint64_t)p->rows + 8;
  OSLA_CALL(osla_vertices_create(p->job->transport, rows * sizeof *d->x, &memory));
  d->x = memory;
  OSLA_CALL(bench_alloc(p->job, (4 * rows + (uint64_t)p->n_ghosts) * sizeof *d->y, &memory));
  d->y = memory;
  d->r = d->y + rows;
  d->p = d->r + rows;
  d->ap = d->p + rows;
  d->ghosts = d->ap + rows;
  OSLA_CALL(make_vectors(d));
  if (d->method) OSLA_CALL(d->method->create(d));
  OSLA_CALL(prepare(d));
  return p->which == FOREST_SPMV
           ? bench_choose_iterations(p->job->transport, run_case, d, &d->iterations)
           : OSLA_OK;
}

static void teardown(void *data)
{
  sparse_data *d = data;
  osla_transport *t = d->problem->job->transport;
  void *memory = d->x, *on_device = d->x_on;
  if (d->method) d->method->destroy(d);
  (void)osla_vertices_free(t, &on_device);
  (void)osla_vertices_free(t, &memory);
  free(d->y);
  d->x = d->y = d->x_on = d->y_on = NULL;
}

static int operations(const void *data)
{
  const sparse_data *d = data;
  return d->problem->which == FOREST_SPMV ? d->iterations : CG_ITERATIONS;
}

static bench_impl implementation(const char *name, const sparse_problem *p,
                                 const sparse_method *method, sparse_data *d)
{
  *d = (sparse_data){.problem = p, .method = method};
  return (bench_impl){.name = name,
                      .setup = setup,
                      .prepare = prepare,
                      .run = run_case,
                      .check = check,
                      .teardown = teardown,
                      .operations = operations,
                      .data = d};
}

/* Returns an implementation that runs OSLA, with vectors on the device if is_on_device is true,
 * otherwise in host memory. On a device CG tests for convergence once in check_every iterations
 * (0: the default). */
static bench_impl osla_implementation(const char *name, const sparse_problem *p, bool is_on_device,
                                      int check_every, sparse_data *d)
{
  bench_impl impl = implementation(name, p, NULL, d);
  impl.is_osla = true;
  d->is_on_device = is_on_device;
  d->check_every = check_every;
  return impl;
}

/* Fills in the implementations that are measured with --device, and returns their number. "sync" is
 * CG that tests for convergence in each iteration. */
static int list_on_device(const sparse_problem *p, bool cg, bench_impl *impls, sparse_data *data)
{
  impls[0] = osla_implementation("osla", p, true, 0, &data[0]);
  impls[1] = osla_implementation("host-host", p, false, 0, &data[1]);
  if (!cg) return 2;
  impls[2] = osla_implementation("sync", p, true, 1, &data[2]);
  return 3;
}

osla_err bench_sparse_case(bench_job *job, forest_case which, int64_t n)
{
  sparse_problem problem;
  sparse_data data[MOST_IMPLS];
  osla_err err = sparse_problem_create(job, which, n, &problem);
  const bool cg = which == FOREST_CG;
  int k = 0;
  bench_impl impls[MOST_IMPLS];
  if (job->device) {
    k = list_on_device(&problem, cg, impls, data);
  } else {
    impls[k++] = implementation("osla", &problem, NULL, &data[0]);
    impls[k++] = implementation("mpi", &problem, &sparse_mpi, &data[1]);
    impls[k++] = implementation("neighbor", &problem, &sparse_neighbor, &data[2]);
    impls[k++] = implementation("loop", &problem, &sparse_loop, &data[3]);
  }
  const bench_figure parameters[N_PARAMETERS] = {{"entries", (double)problem.all_entries, false},
                                                 {"ghosts", (double)problem.n_ghosts, false}};
  const bench_case c = {.kernel = cg ? "forest/cg" : "forest/spmv",
                        .precision = "d",
                        .n = problem.all_rows,
                        .parameters = parameters,
                        .n_parameters = N_PARAMETERS,
                        .impls = impls,
                        .n_impls = k,
                        .work = 2.0 * (double)problem.all_entries,
                        .unit = BENCH_GFLOPS};
  if (err == OSLA_OK) err = bench_run_case(job, &c);
  sparse_problem_free(&problem);
  return err;
}
