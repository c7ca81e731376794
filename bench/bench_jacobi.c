/* osla-bench jacobi: Jacobi's method in three modes: synchronous, asynchronous, and with racing
 * halos. The problem is that of Bethune et al. (2014). A run makes a fixed number of sweeps, or
 * sweeps until a certified tolerance is reached. See bench_jacobi.h. */
#include "config.h"

#include "bench/bench_jacobi.h"
#include "src/base/huge_pages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t RECORD_BYTES = INT64_C(64) << 20; /* size in bytes of the record of a rank */
enum { MOST_IMPLS = 9, MODES = 3, N_PARAMETERS = 12 };

/* Allocates the state x and the spare state. Their offsets in a page of 4 KiB differ by half a
 * page, because sweeps from one state into the other are fastest then (kernels/iterate/iterate.c).
 */
static osla_err allocate_states(void *data)
{
  jacobi_data *d = data;
  enum { PAGE = 4096 };
  const uint64_t bytes = ((uint64_t)d->problem->p.length + 1) * sizeof(double);
  OSLA_CALL(bench_alloc(d->problem->job, bytes, &d->memory[0]));
  OSLA_CALL(bench_alloc(d->problem->job, bytes + PAGE, &d->memory[1]));
  osli_huge_pages_advise(d->memory[0], bytes);
  osli_huge_pages_advise(d->memory[1], bytes + PAGE);
  d->x = d->memory[0];
  const uintptr_t x = (uintptr_t)d->x, spare = (uintptr_t)d->memory[1];
  d->spare = (double *)d->memory[1] + (x + PAGE / 2 - spare) % PAGE / sizeof *d->spare;
  return OSLA_OK;
}

static osla_iterate_options options_of(const jacobi_data *d)
{
  const bench_settings *s = d->problem->job->settings;
  osla_iterate_options o = {.mode = d->mode};
  o.tolerance = s->tolerance > 0 ? s->tolerance : -1;
  o.sweeps = s->tolerance > 0 ? (int64_t)1 << 30 : s->sweeps;
  o.period = s->period;
  o.lead = s->lead;
  o.uncertified = d->plain;
  if (d->recorded) o.record_bytes = RECORD_BYTES;
  o.in_flight = s->in_flight;
  o.check = s->tolerance > 0 ? 10 : 100;
  return o;
}

static osla_err setup_osla(void *data)
{
  jacobi_data *d = data;
  const osla_iterate_options o = options_of(d);
  OSLA_CALL(allocate_states(d));
  OSLA_CALL(osla_iteration_create(d->problem->job->transport, &d->problem->p, &o, &d->iteration));
  const bench_settings *s = d->problem->job->settings;
  if (s->levels == 1 || d->one_level) return OSLA_OK;
  const osla_coarse coarse = jacobi_coarse(d->problem);
  const osla_coarse_options how = {.damping = s->damping, .sweeps = s->correct_every};
  return osla_iteration_add_coarse(d->iteration, &coarse, &how);
}

static osla_err setup_mpi(void *data)
{
  OSLA_CALL(allocate_states(data));
  return jacobi_mpi_setup(data);
}

static osla_err prepare(void *data)
{
  jacobi_data *d = data;
  osla_diffusion_fill(d->problem->diffusion, d->x);
  if (d->problem->p.length > 0) memcpy(d->spare, d->x, (size_t)d->problem->p.length * sizeof *d->x);
  return OSLA_OK;
}

#ifdef HAVE_SHMEM
static osla_err setup_shmem(void *data)
{
  OSLA_CALL(allocate_states(data));
  return jacobi_shmem_setup(data);
}

static osla_err prepare_shmem(void *data)
{
  OSLA_CALL(prepare(data));
  return jacobi_shmem_prepare(data);
}
#endif

static osla_err setup_copying(void *data)
{
  OSLA_CALL(setup_mpi(data));
  return jacobi_copying_setup(data);
}

static osla_err setup_threads(void *data)
{
  OSLA_CALL(allocate_states(data));
  return jacobi_threads_setup(data);
}

static osla_err setup_cg(void *data)
{
  OSLA_CALL(allocate_states(data));
  return jacobi_cg_setup(data);
}

static void teardown(void *data)
{
  jacobi_data *d = data;
  jacobi_cg_teardown(d);
  jacobi_threads_teardown(d);
  jacobi_copying_teardown(d);
  jacobi_mpi_teardown(d);
#ifdef HAVE_SHMEM
  jacobi_shmem_teardown(d);
#endif
  osla_iteration_destroy(&d->iteration);
  free(d->memory[0]);
  free(d->memory[1]);
}

static osla_err run_osla(void *data)
{
  jacobi_data *d = data;
  d->problem->copies = d->mode != OSLA_ITERATE_SYNC;
  return osla_iterate(d->iteration, d->x, &d->result);
}

/* Computes |b - A x| of the whole state by one synchronous step that does not change the state.
 * Collective. */
static osla_err compute_residual(const jacobi_data *d, const double *x, double *residual,
                                 double *rounding)
{
  osla_iterate_options o = {.mode = OSLA_ITERATE_SYNC, .sweeps = -1};
  osla_iteration *it;
  osla_iterate_result r;
  double *copy = malloc(((size_t)d->problem->p.length + 1) * sizeof *copy);
  OSLA_CALL(osla_agree(d->problem->job->transport,
                       copy ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "a copy of the state")));
  if (d->problem->p.length > 0) memcpy(copy, x, (size_t)d->problem->p.length * sizeof *copy);
  osla_err err = osla_iteration_create(d->problem->job->transport, &d->problem->p, &o, &it);
  if (err == OSLA_OK) err = osla_iterate(it, copy, &r);
  if (err == OSLA_OK) {
    *residual = r.residual;
    *rounding = r.rounding;
  }
  osla_iteration_destroy(&it);
  free(copy);
  return err;
}

/* *residual := 0 if the reported residual is that of the returned state, and at most as large as
 * requested; else infinity. */
static osla_err check_osla(void *data, double *residual)
{
  jacobi_data *d = data;
  const bench_settings *s = d->problem->job->settings;
  const osla_iterate_result *r = &d->result;
  double found, rounding;
  OSLA_CALL(compute_residual(d, d->x, &found, &rounding));
  const bool is_true = fabs(found - r->residual) <= 1e-9 * found + 2 * rounding;
  const bool is_small = s->tolerance > 0 ? r->end == OSLA_ITERATE_CONVERGED &&
                                             found <= s->tolerance * r->norm * (1 + 1e-9)
                                         : found < r->start && r->end == OSLA_ITERATE_SWEEPS;
  *residual = is_true && is_small ? 0 : INFINITY;
  if (s->record && d->recorded && !d->is_reference) OSLA_CALL(jacobi_record_write(d));
  if (d->mode == OSLA_ITERATE_SYNC) d->problem->sync_residual = found;
  return OSLA_OK;
}

/* Checks the result of a reference implementation. With a tolerance, the residual must be as small
 * as requested. With a number of sweeps, the residual must be smaller than at the start; and if
 * the mode is sync with new halos in each sweep, it must equal OSLA's residual up to rounding. */
static osla_err check_reference(void *data, double *residual)
{
  jacobi_data *d = data;
  const bench_settings *s = d->problem->job->settings;
  const double osla = d->problem->sync_residual;
  double found, start, rounding;
  osla_diffusion_fill(d->problem->diffusion, d->spare);
  OSLA_CALL(compute_residual(d, d->spare, &start, &rounding));
  OSLA_CALL(compute_residual(d, d->x, &found, &rounding));
  const bool is_known = d->mode == OSLA_ITERATE_SYNC && s->period == 1 && osla > 0;
  const bool is_same = fabs(found - osla) <= 1e-9 * osla + 2 * rounding;
  const bool is_small = s->tolerance > 0 ? found <= s->tolerance * start * (1 + 1e-9) + 2 * rounding
                                         : found < start && (is_same || !is_known);
  d->certified = found / start;
  *residual = is_small ? 0 : INFINITY;
  return OSLA_OK;
}

static int figures(const void *data, bench_figure *out)
{
  const jacobi_data *d = data;
  const osla_iterate_result *r = &d->result;
  const bench_figure all[] = {
    {"sweeps_least", (double)r->least, false},
    {"sweeps_mean", r->mean, false},
    {"sweeps_most", (double)r->most, false},
    {"snapshots", (double)r->snapshots, false},
    {"corrections", (double)osla_iteration_corrections(d->iteration), false},
    {"tolerance", d->problem->job->settings->tolerance, false},
    {"slow_factor", d->problem->job->settings->slow_factor, false},
    {"certified", r->norm > 0 ? r->residual / r->norm : 0, false}};
  memcpy(out, all, sizeof all);
  return (int)(sizeof all / sizeof *all);
}

static int figures_of_threads(const void *data, bench_figure *out)
{
  const jacobi_data *d = data;
  out[0] = (bench_figure){"sweeps_least", (double)d->result.least, false};
  out[1] = (bench_figure){"sweeps_mean", d->result.mean, false};
  out[2] = (bench_figure){"sweeps_most", (double)d->result.most, false};
  out[3] = (bench_figure){"tolerance", d->problem->job->settings->tolerance, false};
  out[4] = (bench_figure){"certified", d->certified, false};
  return 5;
}

static int figures_of_cg(const void *data, bench_figure *out)
{
  const jacobi_data *d = data;
  out[0] = (bench_figure){"iterations", (double)jacobi_cg_iterations(d), false};
  out[1] = (bench_figure){"tolerance", d->problem->job->settings->tolerance, false};
  out[2] = (bench_figure){"certified", d->certified, false};
  return 3;
}

static bench_impl osla_impl(const char *name, jacobi_data *d)
{
  return (bench_impl){.name = name,
                      .setup = setup_osla,
                      .prepare = prepare,
                      .run = run_osla,
                      .check = check_osla,
                      .teardown = teardown,
                      .figures = figures,
                      .data = d};
}

static bench_impl reference_impl(const char *name, osla_err (*setup)(void *),
                                 osla_err (*run)(void *), jacobi_data *d)
{
  return (bench_impl){.name = name,
                      .setup = setup,
                      .prepare = prepare,
                      .run = run,
                      .check = check_reference,
                      .teardown = teardown,
                      .data = d};
}

static osla_err run_mode(bench_job *job, void *of_jacobi, osla_iterate_mode mode, int64_t n)
{
  jacobi_problem *problem = of_jacobi;
  static const char *const names[MODES] = {"jacobi/async", "jacobi/racy", "jacobi/sync"};
  const bench_settings *s = job->settings;
  const bool solves = s->tolerance > 0;
  const bench_figure parameters[N_PARAMETERS] = {
    {"whole", s->whole, false},         {"sweeps", (double)s->sweeps, false},
    {"period", s->period, false},       {"lead", s->lead, false},
    {"in_flight", s->in_flight, false}, {"slow_rank", s->slow_rank, false},
    {"levels", s->levels, false},       {"correct_every", s->correct_every, false},
    {"damping", s->damping, false},     {"zeros", s->zeros, false},
    {"threads", s->threads, false},     {"cost_points", (double)s->cost_points, false}};
  bench_impl impls[MOST_IMPLS];
  jacobi_data data[MOST_IMPLS];
  int k = 0;
  for (int i = 0; i < MOST_IMPLS; i++)
    data[i] = (jacobi_data){.problem = problem, .mode = mode};
  data[0].recorded = s->record != NULL;
  impls[k++] = osla_impl("osla", &data[0]);
  if (mode != OSLA_ITERATE_SYNC) {
    data[k].mode = OSLA_ITERATE_SYNC;
    impls[k] = osla_impl("sync", &data[k]);
    k++;
  }
  if (s->levels == 2) {
    data[k].one_level = true;
    impls[k] = osla_impl("one-level", &data[k]);
    k++;
  }
  data[k].recorded = data[k].is_reference = data[k].one_level = true;
  impls[k] = osla_impl("recorded", &data[k]);
  k++;
  if (!solves) {
    data[k].plain = true;
    impls[k] = osla_impl("uncertified", &data[k]);
    impls[k].check = check_reference;
    k++;
    impls[k] = reference_impl("compute", allocate_states, jacobi_compute, &data[k]);
    impls[k++].check = NULL;
    impls[k] = reference_impl("mpi", setup_mpi, jacobi_mpi_run, &data[k]);
    k++;
#ifdef HAVE_SHMEM
    impls[k] = reference_impl("shmem", setup_shmem, jacobi_shmem_run, &data[k]);
    impls[k++].prepare = prepare_shmem;
#endif
    impls[k] = reference_impl("copying", setup_copying, jacobi_mpi_run, &data[k]);
    k++;
  } else {
    impls[k] = reference_impl("cg", setup_cg, jacobi_cg_run, &data[k]);
    impls[k++].figures = figures_of_cg;
  }
  impls[k] = reference_impl("threads", setup_threads, jacobi_threads_run, &data[k]);
  impls[k++].figures = figures_of_threads;
  const bench_case c = {.kernel = names[mode],
                        .precision = "d",
                        .n = n,
                        .variant = s->whole ? "whole" : NULL,
                        .parameters = parameters,
                        .n_parameters = N_PARAMETERS,
                        .impls = impls,
                        .n_impls = k,
                        .work = problem->points * (solves ? 1.0 : (double)s->sweeps),
                        .unit = BENCH_MELEMENTS,
                        /* On a simulated machine all repetitions take equal time, so there is no
                         * warm-up. */
                        .cold = osla_simulated_machine() != NULL,
                        .operations = 1};
  return bench_run_case(job, &c);
}

osla_err jacobi_run_modes(bench_job *job, jacobi_mode_function *run_one, void *problem, int64_t n)
{
  static const osla_iterate_mode mode_of[MODES] = {OSLA_ITERATE_SYNC, OSLA_ITERATE_ASYNC,
                                                   OSLA_ITERATE_RACY};
  const unsigned modes = job->settings->cases;
  const bool last = job->last_size;
  osla_err err = OSLA_OK;
  for (int k = 0; k < MODES && err == OSLA_OK; k++) {
    if (!(modes >> k & 1)) continue;
    job->last_size = last && modes >> k == 1;
    err = run_one(job, problem, mode_of[k], n);
  }
  return err;
}

static osla_err run(bench_job *job, int64_t n)
{
  jacobi_problem problem;
  osla_err err = jacobi_problem_create(job, n, &problem);
  if (err == OSLA_OK) err = jacobi_bound_print(&problem);
  if (err == OSLA_OK) err = jacobi_run_modes(job, run_mode, &problem, n);
  if (problem.diffusion) jacobi_problem_free(&problem);
  return err;
}

const bench_kernel bench_jacobi = {
  .name = "jacobi",
  .summary = "Jacobi's method in lock-step, without waiting, with racing halos",
  .about =
    "\nTimes sweeps of Jacobi's method on Laplace's equation, a cube of N points a side on each\n"
    "rank, in million points/s: --sweeps of them; or with --tolerance until |b - A x| is so much\n"
    "smaller than that of the start, which is certified. Beside each mode:\n"
    "  sync       async, racy: OSLA in mode sync\n"
    "  compute    the sweeps of each rank alone, without halos\n"
    "  mpi        the same mode by two-sided messages (Bethune et al. 2014)\n"
    "  shmem      the same mode by puts of OpenSHMEM (Bethune et al. 2014; only in builds\n"
    "             with OpenSHMEM)\n"
    "  copying    mpi in their own loops: a new array that is copied back, the residual apart\n"
    "  threads    their OpenMP form, for one rank: --threads slabs, each of N layers\n"
    "  one-level  --levels 2: OSLA without the coarse level\n"
    "  recorded   OSLA with a record of what each sweep read\n"
    "  uncertified  OSLA without certificate\n"
    "  cg         osla_cg, until the residual is as small: with --tolerance\n"
    "compute, mpi, shmem, copying, uncertified: only with --sweeps. Residual: 0, or inf if what "
    "was reported is not\n"
    "true.\n",
  .references =
    "sync,compute,mpi,copying,uncertified,one-level,recorded" JACOBI_SHMEM JACOBI_THREADS ",cg",
  .default_references = "sync,compute,mpi",
  .after = "Example: mpiexec -n 2 osla-bench jacobi --points 100 --mode sync,async --ref mpi\n",
  .run = run,
  .sizes = {50, 100, 0},
  .jacobi = true,
};
