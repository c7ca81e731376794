/* osla-bench solve: triangular solves with factors that are computed before. OSLA and ScaLAPACK get
 * the same factors, those of OSLA. B is distributed over all process columns. */
#include "config.h"

#include "bench/bench_factor.h"
#include "osla_index.h"
#include "osla_solve.h"

#include <math.h>
#include <stdlib.h>

static const osla_pivoting pivoting = OSLA_PIVOT_PARTIAL; /* pivoting of the LU factorisation */

typedef struct solve_data {
  /* must be the first member, because factor_set.factor points to it */
  factor_data f;
  osla_matrix *original, /* matrix A */
    *b,                  /* right-hand sides B */
    *x;                  /* solutions X, distributed as B */
} solve_data;

static osla_err solve_create(solve_data *d)
{
  factor_data *f = &d->f;
  osla_dtype dtype = f->job->settings->dtype;
  osla_grid *grid = f->job->grid;
  int64_t n = f->n, nb = f->job->settings->nb, rhs_nb = factor_rhs_block(f);
  OSLA_CALL(factor_create(f));
  OSLA_CALL(osla_matrix_create(grid, dtype, n, n, nb, nb, &d->original));
  OSLA_CALL(osla_matrix_create(grid, dtype, n, f->nrhs, nb, rhs_nb, &d->b));
  OSLA_CALL(osla_matrix_create(grid, dtype, n, f->nrhs, nb, rhs_nb, &d->x));
  OSLA_CALL(osla_matrix_fill(d->b, OSLA_FILL_UNIFORM, 2));
  OSLA_CALL(factor_restore(&f->osla));
  OSLA_CALL(osla_matrix_copy(f->osla.a, d->original));
  return f->kind->run(&f->osla);
}

static void solve_destroy(solve_data *d)
{
  factor_destroy(&d->f);
  osla_matrix_destroy(&d->original);
  osla_matrix_destroy(&d->b);
  osla_matrix_destroy(&d->x);
}

static osla_err prepare(void *data)
{
  factor_set *set = data;
  return osla_matrix_copy(((solve_data *)set->factor)->b, set->x);
}

static osla_err check(void *data, double *residual)
{
  factor_set *set = data;
  solve_data *d = (solve_data *)set->factor;
  *residual = NAN;
  if (d->f.osla.info != 0) return OSLA_OK;
  OSLA_CALL(osla_barrier(d->f.job->transport));
  OSLA_CALL(osla_matrix_copy(set->x, d->x));
  return osla_residual(d->original, d->x, d->b, residual);
}

/* Creates ScaLAPACK's matrices, and copies the factors and the pivots into them. */
static osla_err setup_scalapack(void *data)
{
  factor_set *set = data;
  factor_data *f = set->factor;
  void *memory;
  OSLA_CALL(factor_setup_scalapack(set));
  OSLA_CALL(osla_matrix_copy(f->osla.a, set->a));
  if (!set->ipiv) return OSLA_OK;
  OSLA_CALL(bench_alloc(f->job, (uint64_t)f->n * sizeof(int64_t), &memory));
  int64_t *pivots = memory;
  osla_err err = factor_pivots(&f->osla, pivots);
  osla_layout l = osla_matrix_layout(set->a);
  int prow = osla_grid_prow(f->job->grid);
  for (int64_t i = 0; i < osla_matrix_local_rows(set->a) && err == OSLA_OK; i++)
    set->ipiv[i] = (int)pivots[osla_index_global(i, l.mb, prow, l.nprow)] + 1;
  free(pivots);
  return err;
}

static osla_err measure(solve_data *d)
{
  factor_data *f = &d->f;
  const bench_settings *s = f->job->settings;
  const char precision[2] = {osla_dtype_letter(s->dtype), '\0'};
  const bench_impl osla = {.prepare = prepare, .run = f->kind->solve, .check = check};
  const bench_impl scalapack = {.setup = setup_scalapack,
                                .prepare = prepare,
                                .run = f->kind->solve_scalapack,
                                .check = check,
                                .teardown = factor_teardown_scalapack};
  bench_impl impls[BENCH_MAX_IMPLS];
  double work = factor_each(f) * (double)f->n * (double)f->n * (double)f->nrhs;
  int64_t rows = osla_matrix_local_rows(f->osla.a), cols = osla_matrix_local_cols(f->osla.a);
  f->local = (reference_gemm){
    .job = f->job, .m = cols > 0 ? rows : 0, .n = f->nrhs, .k = cols, .work = work};
  bench_case c = {.kernel = s->chol ? "solve/chol" : "solve/lu",
                  .precision = precision,
                  .n = f->n,
                  .nb = s->nb,
                  .nrhs = f->nrhs,
                  .impls = impls,
                  .n_impls = factor_impls(f, &osla, &scalapack, impls),
                  .work = work,
                  .unit = BENCH_GFLOPS,
                  .operations = 1};
  return bench_run_case(f->job, &c);
}

static osla_err run(bench_job *job, int64_t n)
{
  solve_data d = {.f = {.job = job,
                        .kind = job->settings->chol ? &factor_chol : &factor_lu,
                        .pivoting = pivoting,
                        .n = n,
                        .nrhs = job->settings->nrhs}};
  osla_err err = solve_create(&d);
  if (err == OSLA_OK) err = measure(&d);
  solve_destroy(&d);
  return err;
}

const bench_kernel bench_solve = {
  .name = "solve",
  .summary = "solves with the factors of lu or chol",
  .about = "\nTimes X := A^-1 B with factors of A that are there (LU with pivots, or Cholesky), B\n"
           "N x NRHS, in GF/s (2 N^2 NRHS operations, complex 8), beside:\n"
           "  blas       the limit: each rank's share of A times NRHS columns, by a local product\n"
           "             of private matrices; no communication\n"
           "  triangle   OSLA with A stored as a triangle, osla-triangle; needs --kind chol\n"
           "  scalapack  pdgetrs (pdpotrs) and the like with the same factors\n"
           "Residual: |B - A X| / ((|A| |X| + |B|) N eps), max norms.\n",
  .references = "triangle,blas" REFERENCE_SCALAPACK,
  .default_references = "blas" REFERENCE_SCALAPACK,
  .device_references = "blas",
  .after = "Example: mpiexec -n 2 osla-bench solve --kind chol --n 2048 --nrhs 100\n",
  .precisions = "sdcz",
  .other_nb = true,
  .solves = true,
  .run = run,
  .sizes = {2048},
};
