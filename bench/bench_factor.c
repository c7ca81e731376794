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

typedef struct factor_data {
  bench_job *job;
  int64_t n;
  osla_matrix *original, *a; /* a: factored in place; original: what it is restored from */
  osla_matrix *b, *x;        /* n x 1 */
  int64_t info;              /* of the last run */
  reference_gemm local;
  int64_t local_k; /* inner size of the limit's product */
  int context;     /* BLACS */
  int *ipiv;
} factor_data;

static osla_err make_data(factor_data *d, osla_fill fill)
{
  osla_grid *grid = d->job->grid;
  osla_dtype dtype = d->job->settings->dtype;
  int64_t n = d->n, nb = d->job->settings->nb;
  OSLA_CALL(osla_matrix_create(grid, dtype, n, n, nb, nb, &d->original));
  OSLA_CALL(osla_matrix_create(grid, dtype, n, n, nb, nb, &d->a));
  OSLA_CALL(osla_matrix_create(grid, dtype, n, 1, nb, nb, &d->b));
  OSLA_CALL(osla_matrix_create(grid, dtype, n, 1, nb, nb, &d->x));
  OSLA_CALL(osla_matrix_fill(d->original, fill, 1));
  return osla_matrix_fill(d->b, OSLA_FILL_UNIFORM, 2);
}

static osla_err restore(void *data)
{
  factor_data *d = data;
  int64_t count = osla_matrix_lld(d->a, d->job->rank) * osla_matrix_local_cols(d->a);
  if (osla_matrix_local_rows(d->a) > 0)
    memcpy(osla_matrix_local(d->a), osla_matrix_local(d->original),
           (size_t)count * osla_dtype_size(osla_matrix_dtype(d->a)));
  return OSLA_OK;
}

/* Solves with what the run left in a. */
static osla_err check(factor_data *d, osla_err (*solve)(factor_data *d), double *residual)
{
  int64_t info = d->info; /* ScaLAPACK tells it to the ranks of the grid alone */
  OSLA_CALL(osla_allreduce(d->job->transport, &info, 1, MPI_INT64_T, MPI_MAX));
  *residual = NAN;
  if (info != 0) return OSLA_OK;
  OSLA_CALL(osla_matrix_copy(d->b, d->x));
  OSLA_CALL(solve(d));
  OSLA_CALL(osla_barrier(d->job->transport));
  return osla_residual(d->original, d->x, d->b, residual);
}

/* --- osla --- */

static osla_err run_lu(void *data)
{
  factor_data *d = data;
  osla_lu_result result;
  OSLA_CALL(osla_getrf_nopiv(d->a, NULL, &result));
  d->info = result.info;
  return OSLA_OK;
}

static osla_err solve_lu(factor_data *d)
{
  return osla_getrs_nopiv(d->a, d->x);
}

static osla_err check_lu(void *data, double *residual)
{
  return check(data, solve_lu, residual);
}

static osla_err run_chol(void *data)
{
  factor_data *d = data;
  return osla_potrf(d->a, OSLA_LOWER, NULL, &d->info);
}

static osla_err solve_chol(factor_data *d)
{
  return osla_potrs(OSLA_LOWER, d->a, d->x);
}

static osla_err check_chol(void *data, double *residual)
{
  return check(data, solve_chol, residual);
}

/* --- blas: the rate of a product with about as many operations --- */

static osla_err setup_blas(void *data)
{
  factor_data *d = data;
  return reference_gemm_setup(&d->local, d->job, osla_matrix_local_rows(d->a),
                              osla_matrix_local_cols(d->a), d->local_k);
}

static osla_err prepare_blas(void *data)
{
  reference_gemm_prepare(&((factor_data *)data)->local);
  return OSLA_OK;
}

static osla_err run_blas(void *data)
{
  return reference_gemm_run(&((factor_data *)data)->local);
}

static osla_err check_blas(void *data, double *residual)
{
  return reference_gemm_check(&((factor_data *)data)->local, residual);
}

static void teardown_blas(void *data)
{
  reference_gemm_teardown(&((factor_data *)data)->local);
}

static double work_blas(const void *data)
{
  const factor_data *d = data;
  return 2.0 * (double)d->n * (double)d->n * (double)d->local_k;
}

/* --- scalapack --- */

static osla_err setup_scalapack(void *data)
{
  factor_data *d = data;
  void *ipiv;
  uint64_t count = (uint64_t)(osla_matrix_local_rows(d->a) + d->job->settings->nb);
  OSLA_CALL(bench_alloc(d->job, count * sizeof(int), &ipiv));
  d->ipiv = ipiv;
  return reference_scalapack_open(d->job->grid, &d->context);
}

static void teardown_scalapack(void *data)
{
  factor_data *d = data;
  reference_scalapack_close(&d->context);
  free(d->ipiv);
  d->ipiv = NULL;
}

static osla_err run_scalapack_lu(void *data)
{
  factor_data *d = data;
  return reference_scalapack_getrf(d->context, d->a, d->ipiv, &d->info);
}

static osla_err solve_scalapack_lu(factor_data *d)
{
  return reference_scalapack_getrs(d->context, d->a, d->ipiv, d->x);
}

static osla_err check_scalapack_lu(void *data, double *residual)
{
  return check(data, solve_scalapack_lu, residual);
}

static osla_err run_scalapack_chol(void *data)
{
  factor_data *d = data;
  return reference_scalapack_potrf(d->context, d->a, &d->info);
}

static osla_err solve_scalapack_chol(factor_data *d)
{
  return reference_scalapack_potrs(d->context, d->a, d->x);
}

static osla_err check_scalapack_chol(void *data, double *residual)
{
  return check(data, solve_scalapack_chol, residual);
}

/* --- the two kernels --- */

static const bench_impl lu_impls[] = {
  {"osla", NULL, restore, run_lu, check_lu, NULL, NULL},
  {"blas", setup_blas, prepare_blas, run_blas, check_blas, teardown_blas, work_blas},
  {"scalapack", setup_scalapack, restore, run_scalapack_lu, check_scalapack_lu, teardown_scalapack,
   NULL},
};

static const bench_impl chol_impls[] = {
  {"osla", NULL, restore, run_chol, check_chol, NULL, NULL},
  {"blas", setup_blas, prepare_blas, run_blas, check_blas, teardown_blas, work_blas},
  {"scalapack", setup_scalapack, restore, run_scalapack_chol, check_scalapack_chol,
   teardown_scalapack, NULL},
};

/* `part` is 3 for LU, 6 for Cholesky: the operations are 2 n^3 over it. */
static osla_err run(bench_job *job, int64_t n, const char *kernel, const bench_impl *impls,
                    osla_fill fill, int64_t part)
{
  factor_data d = {.job = job, .n = n, .context = -1, .local_k = n / part > 0 ? n / part : 1};
  bench_case c = {.kernel = kernel,
                  .n = n,
                  .nb = job->settings->nb,
                  .impls = impls,
                  .precision = job->settings->dtype == OSLA_FLOAT ? "s" : "d",
                  .n_impls = 3,
                  .data = &d,
                  .unit = BENCH_GFLOPS,
                  .operations = 1,
                  .work = 2.0 * (double)n * (double)n * (double)n / (double)part};
  osla_err err = make_data(&d, fill);
  if (err == OSLA_OK) err = bench_run_case(job, &c);
  osla_matrix_destroy(&d.original);
  osla_matrix_destroy(&d.a);
  osla_matrix_destroy(&d.b);
  osla_matrix_destroy(&d.x);
  return err;
}

static osla_err run_lu_case(bench_job *job, int64_t n)
{
  return run(job, n, "lu", lu_impls, OSLA_FILL_DOMINANT, 3);
}

static osla_err run_chol_case(bench_job *job, int64_t n)
{
  return run(job, n, "chol", chol_impls, OSLA_FILL_SPD, 6);
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
  .run = run_chol_case,
  .sizes = {2048},
};
