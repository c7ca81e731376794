/* osla-bench chain: assembly, LU factorisation and solution in one job, as one time. Options,
 * cases, the list of implementations, and the check. */
#include "config.h"

#include "bench/bench_chain.h"
#include "osla_clock.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_PARAMETERS = 4 };

/* ---- one run ---- */

static osla_err setup(void *data)
{
  chain *c = data;
  c->runs = 0;
  memset(c->sums, 0, sizeof c->sums);
  return c->assembly.setup(c->assembly.data);
}

static osla_err prepare(void *data)
{
  chain *c = data;
  return c->assembly.prepare(c->assembly.data);
}

static osla_err timed(chain *c, chain_phase phase, osla_err err, double *start)
{
  const double now = osla_clock();
  c->seconds[phase] = now - *start;
  *start = now;
  return err;
}

static osla_err run(void *data)
{
  chain *c = data;
  double start = osla_clock();
  OSLA_CALL(timed(c, CHAIN_ASSEMBLE, c->assembly.run(c->assembly.data), &start));
  OSLA_CALL(timed(c, CHAIN_FACTOR, c->factor(c), &start));
  /* ScaLAPACK sets info only on the ranks of its grid, so all ranks get the largest value. */
  OSLA_CALL(osla_allreduce(c->all->job->transport, &c->info, 1, MPI_INT64_T, MPI_MAX));
  if (c->info != 0) return OSLA_OK;
  return timed(c, CHAIN_SOLVE, c->solve(c), &start);
}

/* A trial of a way to accumulate makes a part of the updates, with which no system can be solved.
 */
static osla_err run_part(void *data)
{
  chain *c = data;
  return c->assembly.run_part(c->assembly.data);
}

static void teardown(void *data)
{
  chain *c = data;
  if (c->destroy) c->destroy(c);
  osla_matrix_destroy(&c->x);
  free(c->ipiv);
  free(c->pivots);
  c->ipiv = NULL;
  c->pivots = NULL;
  c->assembly.teardown(c->assembly.data);
}

/* ---- the check ---- */

/* ax := H x and row := sums of magnitudes, computed from the updates. The updates are those of
 * this rank; the sums over the ranks follow. */
static void multiply_update(chain_data *d, int64_t k)
{
  const updates *u = &d->updates;
  const int64_t *ix = updates_indices(u, k), rows = u->rows > 0 ? u->rows : u->count;
  const double *g = updates_values(u, k);
  for (int64_t b = 0; b < u->count && u->rows == 0; b++)
    for (int64_t a = 0; a < u->count; a++) {
      d->ax[ix[a]] += g[a + b * u->count] * d->x[ix[b]];
      d->row[ix[a]] += fabs(g[a + b * u->count]);
    }
  for (int64_t r = 0; r < rows && u->rows > 0; r++) {
    double product = 0, magnitude = 0;
    for (int64_t a = 0; a < u->count; a++) {
      product += g[r + a * rows] * d->x[ix[a]];
      magnitude += fabs(g[r + a * rows]);
    }
    for (int64_t a = 0; a < u->count; a++) {
      d->ax[ix[a]] += g[r + a * rows] * product;
      d->row[ix[a]] += fabs(g[r + a * rows]) * magnitude;
    }
  }
}

/* |H x - b| / (eps (|H| |x| + |b|) n) in the maximum norm, where |H| is bounded by the sum of the
 * magnitudes of all updates. */
static osla_err check(void *data, double *residual)
{
  chain *c = data;
  chain_data *d = c->all;
  osla_transport *t = d->job->transport;
  *residual = NAN;
  if (c->info != 0) return OSLA_OK;
  osla_err err = d->job->rank == 0 ? c->read(c, d->x) : OSLA_OK;
  OSLA_CALL(osla_agree(t, err));
  OSLA_CALL(osla_bcast(t, d->x, d->n, MPI_DOUBLE, 0));
  memset(d->ax, 0, 2 * (size_t)d->n * sizeof *d->ax);
  for (int64_t k = 0; k < d->updates.per_rank; k++)
    multiply_update(d, k);
  OSLA_CALL(osla_allreduce(t, d->ax, 2 * d->n, MPI_DOUBLE, MPI_SUM));
  double norm = 0, x = 0, b = 0, difference = 0;
  for (int64_t i = 0; i < d->n; i++) {
    const double side = chain_right_side(i, 0, NULL);
    norm = fmax(norm, d->row[i]);
    x = fmax(x, fabs(d->x[i]));
    b = fmax(b, fabs(side));
    difference = fmax(difference, fabs(d->ax[i] - side));
    if (isnan(d->x[i])) return OSLA_OK;
  }
  *residual = difference / (DBL_EPSILON * (norm * x + b) * (double)d->n);
  if (c->runs++ > 0)
    for (int i = 0; i < CHAIN_PHASES; i++)
      c->sums[i] += c->seconds[i];
  return OSLA_OK;
}

static int figures(const void *data, bench_figure *out)
{
  static const char *const names[CHAIN_PHASES] = {"assemble", "factor", "solve"};
  const chain *c = data;
  for (int i = 0; i < CHAIN_PHASES; i++)
    out[i] = (bench_figure){names[i], c->sums[i] / (c->runs > 1 ? c->runs - 1 : 1), true};
  return CHAIN_PHASES;
}

/* ---- implementations ---- */

static chain *start(chain_data *d, chain *c)
{
  *c = (chain){.all = d, .context = -1, .job = *d->job, .settings = *d->job->settings};
  c->h = (hessian_data){
    .job = d->job, .n = d->n, .updates = d->updates, .counted = d->job->settings->updates};
  return c;
}

static bench_impl impl_of(chain *c, const char *group)
{
  return (bench_impl){.name = c->name,
                      .group = group,
                      .setup = setup,
                      .prepare = prepare,
                      .run = run,
                      .run_part = c->assembly.run_part ? run_part : NULL,
                      .check = check,
                      .teardown = teardown,
                      .figures = figures,
                      .data = c,
                      .nb = c->assembly.nb};
}

/* OSLA on a matrix of its own, on memory of the caller, and on a Global Array. */
static int add_osla(chain_data *d, bench_impl *impls)
{
  static const char *const names[CHAIN_OSLA] = {"osla", "osla-wrapped", "osla-ga"};
  static const char *const refs[CHAIN_OSLA] = {"osla", "wrapped", "on-ga"};
  for (int i = 0; i < CHAIN_OSLA; i++) {
    chain *c = start(d, &d->osla[i]);
    (void)snprintf(c->name, sizeof c->name, "%s", names[i]);
    c->h.plain = (hessian_accumulator){&c->h, c->name, refs[i], .wrapped = i == 1, .on_ga = i == 2};
    chain_osla_make(c, &c->h.plain);
    impls[i] = impl_of(c, NULL);
    impls[i].ref = refs[i];
  }
  return CHAIN_OSLA;
}

/* MPI and ScaLAPACK with each block size, with both ways to complete an accumulate. */
static int add_scalapack(chain_data *d, bench_impl *impls)
{
  const bench_settings *s = d->job->settings;
  int n = 0;
  for (int i = 0; i < s->n_ref_nb; i++)
    for (int locks = 0; locks < 2; locks++) {
      chain *c = start(d, &d->scalapack[n]);
      c->settings.nb = s->ref_nb[i];
      c->job.settings = &c->settings;
      c->h.job = &c->job;
      (void)snprintf(c->name, sizeof c->name, "scalapack-%" PRId64 "%s", s->ref_nb[i],
                     locks ? "-lock" : "");
      c->h.lock = (hessian_window){.data = &c->h, .locks = locks};
      chain_scalapack_make(c, &c->h.lock);
      impls[n] = impl_of(c, "scalapack");
      impls[n++].nb = s->ref_nb[i];
    }
  return n;
}

static int add_ga(chain_data *d, bench_impl *impls)
{
  for (int i = 0; i < CHAIN_GA; i++) {
    chain *c = start(d, &d->ga[i]);
    c->h.ga[0] = (hessian_ga){.data = &c->h, .way = (hessian_ga_way)i};
    chain_ga_make(c, &c->h.ga[0]);
    (void)snprintf(c->name, sizeof c->name, "%s", c->assembly.name);
    impls[i] = impl_of(c, "ga");
  }
  return CHAIN_GA;
}

/* ---- the kernel ---- */

static osla_err measure(chain_data *d, int64_t count)
{
  const bench_settings *s = d->job->settings;
  bench_impl impls[BENCH_MAX_IMPLS];
  char variant[40];
  const bench_figure parameters[N_PARAMETERS] = {{"size", (double)count, false},
                                                 {"run", (double)s->run, false},
                                                 {"rows", (double)s->rows, false},
                                                 {"updates", (double)s->updates, false}};
  int n_impls = add_osla(d, impls);
  n_impls += add_scalapack(d, impls + n_impls);
  n_impls += add_ga(d, impls + n_impls);
  const double n = (double)d->n, total = (double)s->updates * d->job->size;
  (void)snprintf(variant, sizeof variant, "%" PRId64, count);
  const bench_case c = {.kernel = "chain",
                        .precision = "d",
                        .n = d->n,
                        .nb = s->nb,
                        .variant = variant,
                        .parameters = parameters,
                        .n_parameters = N_PARAMETERS,
                        .impls = impls,
                        .n_impls = n_impls,
                        .data = d,
                        .operations = 1,
                        .unit = BENCH_GFLOPS,
                        .work = 2.0 / 3 * n * n * n + total * (double)count * (double)count};
  return bench_run_case(d->job, &c);
}

/* Refuses updates whose sum is certainly singular: each unknown must occur in at least one update,
 * and the different matrices G must together have at least as many rows as an update has
 * indices. */
static osla_err check_regular(chain_data *d)
{
  const updates *u = &d->updates;
  int64_t missing = 0;
  OSLA_CHECK(u->rows == 0 || u->rows * u->pool_size >= u->count, OSLA_ERR_ARG,
             "the updates have %d different matrices G of %" PRId64 " rows for %" PRId64
             " indices, so the matrix is singular: raise --rows to %" PRId64,
             u->pool_size, u->rows, u->count, (u->count + u->pool_size - 1) / u->pool_size);
  for (int64_t k = 0; k < u->per_rank; k++)
    for (int64_t a = 0; a < u->count; a++)
      d->row[updates_indices(u, k)[a]] = 1;
  OSLA_CALL(osla_allreduce(d->job->transport, d->row, d->n, MPI_DOUBLE, MPI_SUM));
  for (int64_t i = 0; i < d->n; i++)
    missing += d->row[i] == 0;
  OSLA_CHECK(missing == 0, OSLA_ERR_ARG,
             "%" PRId64 " of the %" PRId64
             " unknowns are in no update, so the matrix is singular: raise --updates or --size",
             missing, d->n);
  return OSLA_OK;
}

static osla_err run_count(bench_job *job, int64_t n, int64_t count, void *unused)
{
  (void)unused;
  void *memory = NULL;
  chain_data *d = calloc(1, sizeof *d);
  osla_err err = d ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%zu bytes", sizeof *d);
  OSLA_CALL(osla_agree(job->transport, err));
  d->job = job;
  d->n = n;
  err = updates_create(job, n, count, &d->updates);
  if (err == OSLA_OK) err = bench_alloc(job, 4 * (uint64_t)n * sizeof(double), &memory);
  if (err == OSLA_OK) {
    d->b = memory;
    d->x = d->b + n;
    d->ax = d->x + n;
    d->row = d->ax + n;
    for (int64_t i = 0; i < n; i++)
      d->b[i] = chain_right_side(i, 0, NULL);
    err = check_regular(d);
    if (err == OSLA_OK) err = measure(d, count);
  }
  free(memory);
  updates_free(&d->updates);
  free(d);
  return err;
}

static osla_err run_all(bench_job *job, int64_t n)
{
  bench_keep_freed_memory();
  return updates_each_count(job, n, run_count, NULL);
}

#ifdef HAVE_GA
#define REFERENCE_CHAIN_GA ",on-ga,ga"
#else
#define REFERENCE_CHAIN_GA ""
#endif

const bench_kernel bench_chain = {
  .name = "chain",
  .summary = "assembly as in hessian, LU and solution, in one job",
  .about =
    "\nTimes U updates of each rank, the commit, the LU factorisation of the whole matrix in "
    "place,\nand one solution, in GF/s; below, the seconds of the three parts. Beside it:\n"
    "  wrapped    OSLA on memory that only its owner can access, osla-wrapped\n"
    "  on-ga      OSLA on the memory of a Global Array, osla-ga\n"
    "  scalapack  the fastest of MPI_Accumulate with flush or lock, then pdgetrf and pdgetrs, "
    "with\n"
    "             each block size\n"
    "  ga         the fastest way to accumulate into a Global Array, then GA_Lu_solve\n"
    "Residual: |H x - b| / (eps (|H| |x| + |b|) N), |H| bounded by the sum over the updates.\n"
    "Every unknown must occur in some update.\n",
  .references = "wrapped" REFERENCE_CHAIN_GA REFERENCE_SCALAPACK,
  .default_references = "wrapped",
  .after = "Example: mpiexec -n 2 osla-bench chain --n 4096 --size 400 --ref scalapack\n",
  .precisions = "d",
  .run = run_all,
  .sizes = {4096},
  .updates = true,
  .general = true,
  .other_nb = true,
};
