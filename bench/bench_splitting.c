/* osla-bench splitting: Poisson's equation in a cube, solved by block Jacobi with one block for
 * each rank or group of ranks (a multisplitting), in three modes of the iteration. The blocks are
 * solved by CG or by sparse Cholesky; with --inner points each point is a block, which is Jacobi's
 * method. The matrix has 7-point differences, and the right-hand side is random between 1/2 and
 * 3/2, so that all frequencies occur. The grid of points and ranks is that of osla-bench jacobi
 * (bench_jacobi.h).
 *
 * Times are those of the iteration. Factorisations belong to the setup and are not timed. */
#include "bench/bench_jacobi.h"
#include "kernels/iterate/splitting.h"
#include "osla_krylov.h"
#include "osla_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IMPLS = 4, MODES = 3, N_PARAMETERS = 4 };

/* The linear system, which all implementations of a case solve. */
typedef struct poisson_problem {
  jacobi_problem grid;
  osla_csr *a;
  int64_t rows;
  double *b, *product; /* [rows] right-hand side; memory for A x */
  double b_norm;       /* norm of b over all ranks */
} poisson_problem;

/* One implementation. Each run starts from x = 0. */
typedef struct splitting_data {
  poisson_problem *problem;
  osla_iterate_mode mode;
  bool is_points; /* true: each point is a block, whatever --inner says */
  osla_splitting *splitting;
  jacobi_problem
    slowed; /* fixed-point problem of the splitting, with longer sweeps on the slow rank */
  osla_iteration *iteration;
  double
    *x; /* [slowed.p.length, at least rows] state; the first `rows` elements are the solution */
  osla_iterate_result result;
  osla_krylov_result cg;
  int64_t iterations_before; /* CG iterations of the inner solver before the latest run */
  /* means over the ranks: CG iterations of the inner solver in the latest run; bytes of the sparse
   * factor */
  double inner_iterations, factor_bytes;
  double certified; /* |b - A x| / |b| of the latest run, computed by the check */
} splitting_data;

/* ---- the linear system ---- */

static osla_err norm_over_ranks(const poisson_problem *p, const double *v, double *out)
{
  *out = osla_dot_local(p->rows, v, v);
  OSLA_CALL(osla_allreduce(p->grid.job->transport, out, 1, MPI_DOUBLE, MPI_SUM));
  *out = sqrt(*out);
  return OSLA_OK;
}

/* The value at a point depends only on its position in the whole grid. */
static void fill_right_side(const poisson_problem *p)
{
  enum { SEED_F = 17 };
  int64_t first[3], count[3], row = 0;
  osla_diffusion_own(p->grid.diffusion, first, count);
  for (int64_t k = 0; k < count[2]; k++)
    for (int64_t j = 0; j < count[1]; j++)
      for (int64_t i = 0; i < count[0]; i++) {
        const int64_t in_plane = first[0] + i + (first[1] + j) * (INT64_C(1) << 20);
        p->b[row++] =
          1.0 + osla_random_uniform(SEED_F, (uint64_t)in_plane, (uint64_t)(first[2] + k));
      }
}

static osla_err poisson_create(bench_job *job, int64_t n, poisson_problem *p)
{
  void *memory = NULL;
  *p = (poisson_problem){0};
  OSLA_CALL(jacobi_problem_create(job, n, &p->grid));
  const jacobi_grid grid = jacobi_grid_of(&p->grid);
  p->rows = jacobi_grid_points(&grid);
  OSLA_CALL(bench_alloc(job, (uint64_t)p->rows * sizeof *p->b, &memory));
  p->b = memory;
  OSLA_CALL(bench_alloc(job, (uint64_t)p->rows * sizeof *p->product, &memory));
  p->product = memory;
  OSLA_CALL(bench_alloc(job, (uint64_t)p->grid.inner.length * sizeof(double), &memory));
  const osla_err err = jacobi_matrix_create(&p->grid, memory, &p->a);
  free(memory);
  OSLA_CALL(err);
  fill_right_side(p);
  return norm_over_ranks(p, p->b, &p->b_norm);
}

static void poisson_free(poisson_problem *p)
{
  (void)osla_csr_destroy(&p->a);
  free(p->b);
  free(p->product);
  jacobi_problem_free(&p->grid);
}

/* Computes |b - A x|. Collective. */
static osla_err compute_residual(const poisson_problem *p, const double *x, double *norm)
{
  if (p->rows > 0) memcpy(p->product, p->b, (size_t)p->rows * sizeof *p->product);
  OSLA_CALL(osla_spmv(OSLA_NOTRANS, p->a, x, -1.0, p->product));
  return norm_over_ranks(p, p->product, norm);
}

/* ---- the implementations ---- */

static const bench_settings *settings_of(const splitting_data *d)
{
  return d->problem->grid.job->settings;
}

static osla_splitting_options splitting_options(const splitting_data *d)
{
  const bench_settings *s = settings_of(d);
  osla_splitting_options o = {.block = INT64_MAX};
  if (d->is_points)
    o.block = 1;
  else if (strcmp(s->inner, "sparse") == 0)
    o.factor = OSLA_SPLITTING_SPARSE;
  else {
    o.factor = OSLA_SPLITTING_CG;
    o.inner_tolerance = s->inner_tolerance;
    o.group = s->group;
  }
  return o;
}

static osla_err setup_splitting(void *data)
{
  splitting_data *d = data;
  const bench_settings *s = settings_of(d);
  bench_job *job = d->problem->grid.job;
  const osla_splitting_options how = splitting_options(d);
  /* a check for convergence costs little beside a sweep with a solve */
  const osla_iterate_options o = {.mode = d->mode,
                                  .tolerance = s->tolerance,
                                  .sweeps = INT64_C(1) << 30,
                                  .lead = s->lead,
                                  .check = d->is_points ? 10 : 1};
  void *memory;
  OSLA_CALL(osla_splitting_create(d->problem->a, d->problem->b, &how, &d->splitting));
  const osla_fixed_point inner = osla_splitting_problem(d->splitting);
  d->slowed = d->problem->grid;
  jacobi_problem_wrap(&d->slowed, &inner);
  OSLA_CALL(bench_alloc(job, ((uint64_t)d->slowed.p.length + 1) * sizeof *d->x, &memory));
  d->x = memory;
  return osla_iteration_create(job->transport, &d->slowed.p, &o, &d->iteration);
}

static osla_err setup_cg(void *data)
{
  splitting_data *d = data;
  void *memory;
  OSLA_CALL(
    bench_alloc(d->problem->grid.job, ((uint64_t)d->problem->rows + 1) * sizeof *d->x, &memory));
  d->x = memory;
  return OSLA_OK;
}

static osla_err prepare(void *data)
{
  splitting_data *d = data;
  const int64_t rows = d->problem->rows, length = d->slowed.p.length;
  memset(d->x, 0, (size_t)(length > rows ? length : rows) * sizeof *d->x);
  return OSLA_OK;
}

static osla_err run_splitting(void *data)
{
  splitting_data *d = data;
  double bytes;
  osli_splitting_inner_work(d->splitting, &d->iterations_before, &bytes);
  return osla_iterate(d->iteration, d->x, &d->result);
}

static osla_err run_cg(void *data)
{
  splitting_data *d = data;
  const osla_operator a = osla_csr_operator(d->problem->a);
  const osla_krylov_options o = {.tolerance = settings_of(d)->tolerance,
                                 .iterations = INT64_C(1) << 30};
  return osla_cg(&a, NULL, d->problem->b, d->x, &o, &d->cg);
}

/* Sets the figures of the inner solver to means over the ranks. Collective. */
static osla_err average_inner_work(splitting_data *d)
{
  const bench_job *job = d->problem->grid.job;
  int64_t iterations;
  double sum[2];
  osli_splitting_inner_work(d->splitting, &iterations, &sum[1]);
  sum[0] = (double)(iterations - d->iterations_before);
  OSLA_CALL(osla_allreduce(job->transport, sum, 2, MPI_DOUBLE, MPI_SUM));
  d->inner_iterations = sum[0] / job->size;
  d->factor_bytes = sum[1] / job->size;
  return OSLA_OK;
}

/* *residual := 0 if the reported residual is that of the returned x, and at most as large as
 * requested; else infinity. */
static osla_err check_splitting(void *data, double *residual)
{
  splitting_data *d = data;
  const osla_iterate_result *r = &d->result;
  double found;
  OSLA_CALL(average_inner_work(d));
  OSLA_CALL(compute_residual(d->problem, d->x, &found));
  d->certified = found / d->problem->b_norm;
  const bool is_true = fabs(found - r->residual) <= 1e-9 * found + 2 * r->rounding;
  const bool is_small =
    r->end == OSLA_ITERATE_CONVERGED && found <= settings_of(d)->tolerance * r->norm * (1 + 1e-9);
  *residual = is_true && is_small ? 0 : INFINITY;
  return OSLA_OK;
}

/* CG ends by the residual of its recurrence, which differs from the true one by rounding errors. */
static osla_err check_cg(void *data, double *residual)
{
  splitting_data *d = data;
  double found;
  OSLA_CALL(compute_residual(d->problem, d->x, &found));
  d->certified = found / d->problem->b_norm;
  *residual = d->certified <= settings_of(d)->tolerance * (1 + 1e-3) ? 0 : INFINITY;
  return OSLA_OK;
}

static void teardown(void *data)
{
  splitting_data *d = data;
  osla_iteration_destroy(&d->iteration);
  osla_splitting_destroy(&d->splitting);
  free(d->x);
}

static int figures(const void *data, bench_figure *out)
{
  const splitting_data *d = data;
  const osla_iterate_result *r = &d->result;
  const bench_settings *s = settings_of(d);
  const bench_figure all[] = {
    {"sweeps_least", (double)r->least, false},
    {"sweeps_mean", r->mean, false},
    {"sweeps_most", (double)r->most, false},
    {"snapshots", (double)r->snapshots, false},
    {"inner_tolerance", s->inner_tolerance, false},
    {"inner_iterations", d->inner_iterations, false},
    {"factor_bytes", d->factor_bytes, false},
    {"tolerance", s->tolerance, false},
    {"slow_factor", s->slow_factor, false},
    {"certified", d->certified, false},
  };
  memcpy(out, all, sizeof all);
  return (int)(sizeof all / sizeof *all);
}

static int figures_of_cg(const void *data, bench_figure *out)
{
  const splitting_data *d = data;
  out[0] = (bench_figure){"iterations", (double)d->cg.iterations, false};
  out[1] = (bench_figure){"tolerance", settings_of(d)->tolerance, false};
  out[2] = (bench_figure){"certified", d->certified, false};
  return 3;
}

static bench_impl splitting_impl(const char *name, splitting_data *d)
{
  return (bench_impl){.name = name,
                      .setup = setup_splitting,
                      .prepare = prepare,
                      .run = run_splitting,
                      .check = check_splitting,
                      .teardown = teardown,
                      .figures = figures,
                      .data = d};
}

/* ---- the cases ---- */

/* Lists the implementations of a mode: OSLA, mode sync, Jacobi's method, CG. Returns their
 * number. */
static int list_impls(poisson_problem *problem, osla_iterate_mode mode, splitting_data *data,
                      bench_impl *impls)
{
  const bool is_points = strcmp(problem->grid.job->settings->inner, "points") == 0;
  int k = 0;
  for (int i = 0; i < MOST_IMPLS; i++)
    data[i] = (splitting_data){.problem = problem, .mode = mode, .is_points = is_points};
  impls[k] = splitting_impl("osla", &data[k]);
  k++;
  if (mode != OSLA_ITERATE_SYNC) {
    data[k].mode = OSLA_ITERATE_SYNC;
    impls[k] = splitting_impl("sync", &data[k]);
    k++;
  }
  if (!is_points) {
    data[k].is_points = true;
    impls[k] = splitting_impl("points", &data[k]);
    k++;
  }
  impls[k] = (bench_impl){.name = "cg",
                          .setup = setup_cg,
                          .prepare = prepare,
                          .run = run_cg,
                          .check = check_cg,
                          .teardown = teardown,
                          .figures = figures_of_cg,
                          .data = &data[k]};
  return k + 1;
}

static osla_err run_mode(bench_job *job, void *poisson, osla_iterate_mode mode, int64_t n)
{
  poisson_problem *problem = poisson;
  static const char *const names[MODES] = {"splitting/async", "splitting/racy", "splitting/sync"};
  const bench_settings *s = job->settings;
  const bench_figure parameters[N_PARAMETERS] = {{"whole", s->whole, false},
                                                 {"lead", s->lead, false},
                                                 {"slow_rank", s->slow_rank, false},
                                                 {"group", (double)s->group, false}};
  bench_impl impls[MOST_IMPLS];
  splitting_data data[MOST_IMPLS];
  const int n_impls = list_impls(problem, mode, data, impls);
  const bench_case c = {.kernel = names[mode],
                        .precision = "d",
                        .n = n,
                        .variant = s->inner,
                        .inner = s->inner,
                        .parameters = parameters,
                        .n_parameters = N_PARAMETERS,
                        .impls = impls,
                        .n_impls = n_impls,
                        .work = problem->grid.points,
                        .unit = BENCH_MELEMENTS,
                        /* On a simulated machine all repetitions take equal time, so there is no
                         * warm-up. */
                        .cold = osla_simulated_machine() != NULL,
                        .operations = 1};
  return bench_run_case(job, &c);
}

static osla_err run(bench_job *job, int64_t n)
{
  poisson_problem problem;
  osla_err err = poisson_create(job, n, &problem);
  if (err == OSLA_OK) err = jacobi_run_modes(job, run_mode, &problem, n);
  poisson_free(&problem);
  return err;
}

const bench_kernel bench_splitting = {
  .name = "splitting",
  .summary = "block Jacobi (multisplitting) in lock-step, without waiting, with racing halos",
  .about =
    "\nTimes solves of Poisson's equation, a cube of N points a side on each rank, in million\n"
    "points/s, by block Jacobi with one block for each rank (or for --group ranks), until\n"
    "|b - A x| is --tolerance times that of the start, which is certified. The times contain no\n"
    "factorisation. Beside each mode:\n"
    "  sync    async, racy: the same in mode sync\n"
    "  points  the same mode of Jacobi's method, in which each point is a block (not with --inner\n"
    "          points)\n"
    "  cg      osla_cg, until the residual is as small\n"
    "Residual: 0, or inf if what was reported is not true.\n",
  .references = "sync,points,cg",
  .after =
    "Example: mpiexec -n 2 osla-bench splitting --points 20 --inner sparse --mode sync,async\n",
  .run = run,
  .sizes = {16, 32, 0},
  .splitting = true,
};
