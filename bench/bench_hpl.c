/* osla-bench hpl: the Linpack benchmark, run and printed as HPL does. A and b are uniform in
 * [-1/2, 1/2). The time is that of the factorisation and the solve. The check generates A again.
 * Rules and output follow Petitet, Whaley, Dongarra, Cleary, "HPL - A Portable Implementation of
 * the High-Performance Linpack Benchmark" (netlib.org/benchmark/hpl). */
#include "config.h"

#include "bench/bench_factor.h"
#include "osla_solve.h"

#include <inttypes.h>
#include <math.h>

enum { SEED_B = 2, LINE = 80 };

typedef struct hpl_data {
  factor_data f; /* must be the first member, because factor_set.factor points to it */
  osla_matrix *b;
} hpl_data;

static osla_err prepare(void *data)
{
  factor_set *set = data;
  OSLA_CALL(factor_restore(set));
  return osla_matrix_copy(((hpl_data *)set->factor)->b, set->x);
}

static osla_err run_osla(void *data)
{
  factor_set *set = data;
  OSLA_CALL(factor_lu.run(set));
  return set->info == 0 ? factor_lu.solve(set) : OSLA_OK;
}

static osla_err run_scalapack(void *data)
{
  factor_set *set = data;
  OSLA_CALL(factor_lu.run_scalapack(set));
  return set->info == 0 ? factor_lu.solve_scalapack(set) : OSLA_OK;
}

/* HPL's eps is the unit round-off, half of DBL_EPSILON. Therefore HPL's residual is twice that of
 * osla_residual. */
static osla_err check(void *data, double *residual)
{
  factor_set *set = data;
  hpl_data *d = (hpl_data *)set->factor;
  bool usable;
  *residual = NAN;
  OSLA_CALL(factor_usable(set, &usable));
  if (!usable) return OSLA_OK;
  OSLA_CALL(osla_barrier(d->f.job->transport));
  OSLA_CALL(factor_restore(set));
  OSLA_CALL(osla_residual(set->a, set->x, d->b, residual));
  *residual *= 2;
  return OSLA_OK;
}

/* --- HPL's form --- */

static void print_line(char c)
{
  for (int i = 0; i < LINE; i++)
    (void)putchar(c);
  (void)putchar('\n');
}

/* Writes HPL's column T/V: W for wall-clock time; R, C, T or A for the order of the ranks (rows,
 * columns, tiles or across); the number of panels factored ahead; OSLA or SCAL for the library; P,
 * T or N for the pivoting. */
static void describe(const bench_job *job, bool osla, char text[9])
{
  int look_ahead = job->settings->look_ahead;
  char order = "RCCTA"[job->settings->order];
  if (osla)
    (void)snprintf(text, 9, "W%c%dOSLA%c", order,
                   look_ahead < 0    ? 0
                   : look_ahead == 0 ? 1
                                     : look_ahead % 10,
                   "PTN"[job->settings->pivoting]);
  else
    (void)snprintf(text, 9, "W%c0SCALP", order);
}

static void print(const bench_job *job, const bench_case *c, const bench_result *r)
{
  char variant[9];
  describe(job, r->impl == c->impls, variant);
  for (int rep = 0; rep < job->settings->reps; rep++) {
    print_line('=');
    (void)printf("%-8s%12s %5s %5s %5s %18s %22s\n", "T/V", "N", "NB", "P", "Q", "Time", "Gflops");
    print_line('-');
    (void)printf("%-8s%12" PRId64 " %5" PRId64 " %5d %5d %18.2f %22.4e\n", variant, c->n,
                 bench_block_size(c, r->impl), osla_grid_nprow(job->grid),
                 osla_grid_npcol(job->grid), r->seconds[rep], 1e-9 * r->work / r->seconds[rep]);
    print_line('-');
    (void)printf("||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   %.8e ...... %s\n",
                 r->residual, r->pass ? "PASSED" : "FAILED");
  }
}

static void finish(const bench_job *job)
{
  print_line('=');
  (void)printf("Finished %6d tests with the following results:\n"
               "         %6d tests completed and passed residual checks,\n"
               "         %6d tests completed and failed residual checks,\n"
               "         %6d tests skipped because of illegal input values.\n",
               job->n_passed + job->n_failed, job->n_passed, job->n_failed, 0);
  print_line('=');
  (void)fflush(stdout);
}

/* --- the kernel --- */

static osla_err measure(hpl_data *d)
{
  factor_data *f = &d->f;
  const bench_settings *s = f->job->settings;
  const bench_impl osla = {.prepare = prepare, .run = run_osla, .check = check};
  const bench_impl scalapack = {.setup = factor_setup_scalapack,
                                .prepare = prepare,
                                .run = run_scalapack,
                                .check = check,
                                .teardown = factor_teardown_scalapack};
  bench_impl impls[BENCH_MAX_IMPLS];
  double n = (double)f->n;
  OSLA_CALL(osla_matrix_create(f->job->grid, s->dtype, f->n, 1, s->nb, factor_rhs_block(f), &d->b));
  OSLA_CALL(osla_matrix_fill(d->b, OSLA_FILL_UNIFORM, SEED_B));
  bench_case c = {.kernel = "hpl",
                  .precision = "d",
                  .n = f->n,
                  .nb = s->nb,
                  .pivoting = factor_pivoting_name(s->pivoting),
                  .look_ahead = true,
                  .impls = impls,
                  .n_impls = factor_impls(f, &osla, &scalapack, impls),
                  .work = 2.0 / 3.0 * n * n * n + 1.5 * n * n,
                  .unit = BENCH_GFLOPS,
                  .operations = 1,
                  .cold = true,
                  .print = print};
  return bench_run_case(f->job, &c);
}

static osla_err run(bench_job *job, int64_t n)
{
  OSLA_CHECK(!osla_simulated_machine(), OSLA_ERR_UNSUPPORTED,
             "hpl cannot mark its figures as simulated: use lu and solve");
  hpl_data d = {
    .f = {.job = job, .kind = &factor_lu, .pivoting = job->settings->pivoting, .n = n, .nrhs = 1}};
  osla_err err = factor_create(&d.f);
  if (err == OSLA_OK) err = measure(&d);
  factor_destroy(&d.f);
  osla_matrix_destroy(&d.b);
  return err;
}

const bench_kernel bench_hpl = {
  .name = "hpl",
  .summary = "the Linpack benchmark in the form of HPL's output",
  .about =
    "\nMakes A and b random, solves A x = b by LU with pivoting, checks with A made anew; all\n"
    "combinations of --n, --nb and --grid. Printed as HPL does, with its operations (2/3 N^3 +\n"
    "3/2 N^2); the time is that of factorisation and solve. T/V is WC (WR: --order rows, WT: "
    "tiles,\n"
    "WA: across), the panels factored ahead, OSLA (SCAL: scalapack), and P or T: partial or "
    "tournament pivoting.\n"
    "References:\n"
    "  scalapack  pdgetrf, pdgetrs on the same process grid\n",
  .references = REFERENCE_SCALAPACK_ALONE,
  .default_references = "none",
  .after = "Example: mpiexec -n 4 osla-bench hpl --n 2048,4096 --nb 64,128 --grid 2x2,1x4\n",
  .precisions = "d",
  .other_nb = true,
  .pivotings = "partial,tournament",
  .most_look_ahead = 2,
  .reps = 1,
  .run = run,
  .finish = finish,
  .sizes = {2048},
};
