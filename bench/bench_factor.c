/* LU without pivoting of a diagonally dominant matrix, Cholesky of a positive definite one. The
 * check solves with a random right-hand side; its residual uses the matrix as it was. */
#include "config.h"

#include "osla_chol.h"
#include "osla_lu.h"
#include "osla_solve.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one implementation works on. */
typedef struct factor_set {
  struct factor_data *factor;
  osla_matrix *a, *x; /* factored in place; n x 1: the solution */
  bool own;           /* they go with this set, else they are those of `ours` */
  int64_t nb;         /* of the set's own matrices */
  int64_t info;       /* of the last run */
  int context;        /* BLACS */
  int *ipiv;
} factor_set;

typedef struct factor_data {
  bench_job *job;
  int64_t n;
  osla_fill fill;
  osla_matrix *original, *b, *x; /* what a is restored from; n x 1; n x 1 */
  factor_set ours, scalapack[BENCH_MAX_REF_NB];
  reference_names names;
  reference_gemm local;
} factor_data;

static osla_err create_set(factor_set *set, int64_t nb)
{
  factor_data *d = set->factor;
  osla_grid *grid = d->job->grid;
  osla_dtype dtype = d->job->settings->dtype;
  set->own = true;
  OSLA_CALL(osla_matrix_create(grid, dtype, d->n, d->n, nb, nb, &set->a));
  return osla_matrix_create(grid, dtype, d->n, 1, nb, nb, &set->x);
}

static void destroy_set(factor_set *set)
{
  if (!set->own) return;
  osla_matrix_destroy(&set->a);
  osla_matrix_destroy(&set->x);
  set->own = false;
}

static osla_err make_data(factor_data *d)
{
  osla_grid *grid = d->job->grid;
  osla_dtype dtype = d->job->settings->dtype;
  int64_t n = d->n, nb = d->job->settings->nb;
  OSLA_CALL(osla_matrix_create(grid, dtype, n, n, nb, nb, &d->original));
  OSLA_CALL(create_set(&d->ours, nb));
  OSLA_CALL(osla_matrix_create(grid, dtype, n, 1, nb, nb, &d->b));
  OSLA_CALL(osla_matrix_create(grid, dtype, n, 1, nb, nb, &d->x));
  OSLA_CALL(osla_matrix_fill(d->original, d->fill, 1));
  return osla_matrix_fill(d->b, OSLA_FILL_UNIFORM, 2);
}

static osla_err restore(void *data)
{
  factor_set *set = data;
  if (set->nb > 0) return osla_matrix_fill(set->a, set->factor->fill, 1);
  int64_t count = osla_matrix_lld(set->a, set->factor->job->rank) * osla_matrix_local_cols(set->a);
  if (osla_matrix_local_rows(set->a) > 0)
    memcpy(osla_matrix_local(set->a), osla_matrix_local(set->factor->original),
           (size_t)count * osla_dtype_size(osla_matrix_dtype(set->a)));
  return OSLA_OK;
}

/* Solves with what the run left in a. */
static osla_err check(factor_set *set, osla_err (*solve)(factor_set *set), double *residual)
{
  factor_data *d = set->factor;
  int64_t info = set->info; /* ScaLAPACK tells it to the ranks of the grid alone */
  OSLA_CALL(osla_allreduce(d->job->transport, &info, 1, MPI_INT64_T, MPI_MAX));
  *residual = NAN;
  if (info != 0) return OSLA_OK;
  OSLA_CALL(osla_matrix_copy(d->b, set->x));
  OSLA_CALL(solve(set));
  OSLA_CALL(osla_barrier(d->job->transport));
  OSLA_CALL(osla_matrix_copy(set->x, d->x)); /* in the blocks of the original */
  return osla_residual(d->original, d->x, d->b, residual);
}

/* --- osla --- */

static osla_err run_lu(void *data)
{
  factor_set *set = data;
  osla_lu_result result;
  OSLA_CALL(osla_getrf(set->a, NULL, &(osla_lu_options){.pivoting = OSLA_PIVOT_NONE}, &result));
  set->info = result.info;
  return OSLA_OK;
}

static osla_err solve_lu(factor_set *set)
{
  return osla_getrs_nopiv(set->a, set->x);
}

static osla_err check_lu(void *set, double *residual)
{
  return check(set, solve_lu, residual);
}

static osla_err run_chol(void *data)
{
  factor_set *set = data;
  return osla_potrf(set->a, OSLA_LOWER, NULL, &set->info);
}

static osla_err solve_chol(factor_set *set)
{
  return osla_potrs(OSLA_LOWER, set->a, set->x);
}

static osla_err check_chol(void *set, double *residual)
{
  return check(set, solve_chol, residual);
}

/* --- scalapack --- */

static osla_err setup_scalapack(void *data)
{
  factor_set *set = data;
  void *ipiv;
  if (set->nb > 0) OSLA_CALL(create_set(set, set->nb));
  uint64_t count = (uint64_t)(osla_matrix_local_rows(set->a) + osla_matrix_layout(set->a).mb);
  OSLA_CALL(bench_alloc(set->factor->job, count * sizeof(int), &ipiv));
  set->ipiv = ipiv;
  return reference_scalapack_open(set->factor->job->grid, &set->context);
}

static void teardown_scalapack(void *data)
{
  factor_set *set = data;
  reference_scalapack_close(&set->context);
  destroy_set(set);
  free(set->ipiv);
  set->ipiv = NULL;
}

static osla_err run_scalapack_lu(void *data)
{
  factor_set *set = data;
  return reference_scalapack_getrf(set->context, set->a, set->ipiv, &set->info);
}

static osla_err solve_scalapack_lu(factor_set *set)
{
  return reference_scalapack_getrs(set->context, set->a, set->ipiv, set->x);
}

static osla_err check_scalapack_lu(void *set, double *residual)
{
  return check(set, solve_scalapack_lu, residual);
}

static osla_err run_scalapack_chol(void *data)
{
  factor_set *set = data;
  return reference_scalapack_potrf(set->context, set->a, &set->info);
}

static osla_err solve_scalapack_chol(factor_set *set)
{
  return reference_scalapack_potrs(set->context, set->a, set->x);
}

static osla_err check_scalapack_chol(void *set, double *residual)
{
  return check(set, solve_scalapack_chol, residual);
}

/* --- the two kernels --- */

typedef struct factor_kernel {
  const char *name;
  osla_fill fill;
  int64_t part; /* the operations are 2 n^3 over it */
  osla_err (*run)(void *set), (*check)(void *set, double *residual);
  osla_err (*run_scalapack)(void *set), (*check_scalapack)(void *set, double *residual);
} factor_kernel;

static const factor_kernel lu = {
  "lu", OSLA_FILL_DOMINANT, 3, run_lu, check_lu, run_scalapack_lu, check_scalapack_lu};
static const factor_kernel chol = {
  "chol", OSLA_FILL_SPD, 6, run_chol, check_chol, run_scalapack_chol, check_scalapack_chol};

static int add_impls(factor_data *d, const factor_kernel *kernel, bench_impl *impls)
{
  const bench_settings *s = d->job->settings;
  int n = 0;
  const bench_impl scalapack = {.setup = setup_scalapack,
                                .prepare = restore,
                                .run = kernel->run_scalapack,
                                .check = kernel->check_scalapack,
                                .teardown = teardown_scalapack};
  impls[n++] = (bench_impl){.name = "osla",
                            .prepare = restore,
                            .run = kernel->run,
                            .check = kernel->check,
                            .data = &d->ours};
  impls[n++] = reference_gemm_impl(&d->local);
  for (int i = 0; i < BENCH_MAX_REF_NB; i++) {
    d->scalapack[i] = d->ours;
    d->scalapack[i].own = false;
    d->scalapack[i].nb = i < s->n_ref_nb ? s->ref_nb[i] : 0;
  }
  reference_scalapack_impls(s, &scalapack, d->scalapack, sizeof *d->scalapack, &d->names, impls,
                            &n);
  return n;
}

static osla_err run(bench_job *job, int64_t n, const factor_kernel *kernel)
{
  const bench_settings *s = job->settings;
  factor_data d = {.job = job, .n = n, .fill = kernel->fill};
  bench_impl impls[BENCH_MAX_IMPLS];
  double cube = 2.0 * (double)n * (double)n;
  bench_case c = {.kernel = kernel->name,
                  .n = n,
                  .nb = s->nb,
                  .impls = impls,
                  .precision = s->dtype == OSLA_FLOAT ? "s" : "d",
                  .unit = BENCH_GFLOPS,
                  .operations = 1,
                  .work = cube * (double)n / (double)kernel->part};
  d.ours = (factor_set){.factor = &d, .context = -1};
  osla_err err = make_data(&d);
  if (err == OSLA_OK) {
    int64_t k = n / kernel->part > 0 ? n / kernel->part : 1; /* about as many operations */
    d.local = (reference_gemm){.job = job,
                               .m = osla_matrix_local_rows(d.ours.a),
                               .n = osla_matrix_local_cols(d.ours.a),
                               .k = k,
                               .work = cube * (double)k};
    c.n_impls = add_impls(&d, kernel, impls);
    err = bench_run_case(job, &c);
  }
  destroy_set(&d.ours);
  osla_matrix_destroy(&d.original);
  osla_matrix_destroy(&d.b);
  osla_matrix_destroy(&d.x);
  return err;
}

static osla_err run_lu_case(bench_job *job, int64_t n)
{
  return run(job, n, &lu);
}

static osla_err run_chol_case(bench_job *job, int64_t n)
{
  return run(job, n, &chol);
}

#define BENCH_FACTOR_RESIDUAL                                                                      \
  "Residual: |B - A X| / ((|A| |X| + |B|) N eps) of a solve with a random B, max norms.\n"

const bench_kernel bench_lu = {
  .name = "lu",
  .summary = "LU without pivoting, diagonally dominant matrix",
  .about =
    "\nTimes A := L U without pivoting, A diagonally dominant, in GF/s (2/3 N^3 "
    "operations), beside:\n"
    "  blas       the limit: the rate of a local product of private matrices on each rank,\n"
    "             of as many operations; no communication\n"
    "  scalapack  pdgetrf (psgetrf) on the same process grid. It searches for pivots, which\n"
    "             ours does not, and finds them all on the diagonal\n" BENCH_FACTOR_RESIDUAL,
  .references = "blas" REFERENCE_SCALAPACK,
  .after = "Example: mpiexec -n 4 osla-bench lu --n 4096 --nb 128 --grid 2x2\n",
  .other_nb = true,
  .run = run_lu_case,
  .sizes = {2048},
};

const bench_kernel bench_chol = {
  .name = "chol",
  .summary = "Cholesky factorisation, lower triangle",
  .about = "\nTimes A := L L^T, A positive definite, in GF/s (1/3 N^3 operations), beside:\n"
           "  blas       the limit: the rate of a local product of private matrices on each rank,\n"
           "             of as many operations; no communication\n"
           "  scalapack  pdpotrf (pspotrf) on the same process grid\n" BENCH_FACTOR_RESIDUAL,
  .references = "blas" REFERENCE_SCALAPACK,
  .after = "Example: mpiexec -n 2 osla-bench chol --n 4096 --precision s\n",
  .other_nb = true,
  .run = run_chol_case,
  .sizes = {2048},
};
