/* C := A B, all n x n. The check multiplies with a random vector: C x against A (B x). Source:
 * Freivalds, "Probabilistic machines can use less running time" (IFIP 1977). */
#include "config.h"

#include "osla_gemm.h"
#include "osla_index.h"
#include "osla_random.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct gemm_data {
  bench_job *job;
  int64_t n;
  osla_matrix *a, *b, *c;
  double *x, *y, *expected; /* [n] each, whole on every rank; one allocation at x */
  reference_gemm local;
  int context; /* BLACS */
} gemm_data;

static osla_err make_data(gemm_data *d)
{
  osla_grid *grid = d->job->grid;
  osla_dtype dtype = d->job->settings->dtype;
  int64_t n = d->n, nb = d->job->settings->nb;
  void *vectors;
  OSLA_CALL(osla_matrix_create(grid, dtype, n, n, nb, nb, &d->a));
  OSLA_CALL(osla_matrix_create(grid, dtype, n, n, nb, nb, &d->b));
  OSLA_CALL(osla_matrix_create(grid, dtype, n, n, nb, nb, &d->c));
  OSLA_CALL(osla_matrix_fill(d->a, OSLA_FILL_UNIFORM, 1));
  OSLA_CALL(osla_matrix_fill(d->b, OSLA_FILL_UNIFORM, 2));
  OSLA_CALL(bench_alloc(d->job, 3 * (uint64_t)n * sizeof(double), &vectors));
  d->x = vectors;
  d->y = d->x + n;
  d->expected = d->y + n;
  for (int64_t i = 0; i < n; i++)
    d->x[i] = osla_random_uniform(3, (uint64_t)i, 0);
  OSLA_CALL(bench_apply(d->b, d->x, d->y));
  return bench_apply(d->a, d->y, d->expected);
}

/* So that a result of the run before cannot pass for this one's. */
static osla_err spoil(void *data)
{
  gemm_data *d = data;
  int64_t count = osla_matrix_lld(d->c, d->job->rank) * osla_matrix_local_cols(d->c);
  if (osla_matrix_local_rows(d->c) > 0)
    memset(osla_matrix_local(d->c), 0xff, /* NaN */
           (size_t)count * osla_dtype_size(osla_matrix_dtype(d->c)));
  return OSLA_OK;
}

/* |C x - A (B x)|_inf / (eps sqrt(n) |A (B x)|_inf): rounding errors of random data grow with the
 * square root of the number of terms, so that this is of order 1 for every n. */
static osla_err check(void *data, double *residual)
{
  gemm_data *d = data;
  OSLA_CALL(bench_apply(d->c, d->x, d->y));
  *residual =
    bench_max_difference(d->y, d->expected, d->n) /
    (bench_eps(d->job->settings->dtype) * sqrt((double)d->n) * bench_max(d->expected, d->n));
  return OSLA_OK;
}

static osla_err run_osla(void *data)
{
  gemm_data *d = data;
  return osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, osla_whole(d->a), osla_whole(d->b), 0,
                   osla_whole(d->c), NULL);
}

static osla_err setup_blas(void *data)
{
  gemm_data *d = data;
  return reference_gemm_setup(&d->local, d->job, osla_matrix_local_rows(d->c),
                              osla_matrix_local_cols(d->c), d->n);
}

static osla_err prepare_blas(void *data)
{
  reference_gemm_prepare(&((gemm_data *)data)->local);
  return OSLA_OK;
}

static osla_err run_blas(void *data)
{
  return reference_gemm_run(&((gemm_data *)data)->local);
}

static osla_err check_blas(void *data, double *residual)
{
  return reference_gemm_check(&((gemm_data *)data)->local, residual);
}

static void teardown_blas(void *data)
{
  reference_gemm_teardown(&((gemm_data *)data)->local);
}

static osla_err setup_scalapack(void *data)
{
  gemm_data *d = data;
  return reference_scalapack_open(d->job->grid, &d->context);
}

static osla_err run_scalapack(void *data)
{
  gemm_data *d = data;
  return reference_scalapack_gemm(d->context, d->a, d->b, d->c);
}

static void teardown_scalapack(void *data)
{
  reference_scalapack_close(&((gemm_data *)data)->context);
}

static const bench_impl impls[] = {
  {"osla", NULL, spoil, run_osla, check, NULL, NULL},
  {"blas", setup_blas, prepare_blas, run_blas, check_blas, teardown_blas, NULL},
  {"scalapack", setup_scalapack, spoil, run_scalapack, check, teardown_scalapack, NULL},
};

static osla_err run(bench_job *job, int64_t n)
{
  gemm_data d = {.job = job, .n = n, .context = -1};
  bench_case c = {.kernel = "gemm",
                  .n = n,
                  .nb = job->settings->nb,
                  .impls = impls,
                  .precision = job->settings->dtype == OSLA_FLOAT ? "s" : "d",
                  .n_impls = sizeof impls / sizeof *impls,
                  .data = &d,
                  .unit = BENCH_GFLOPS,
                  .work = 2.0 * (double)n * (double)n * (double)n,
                  .operations = 1};
  osla_err err = make_data(&d);
  if (err == OSLA_OK) err = bench_run_case(job, &c);
  osla_matrix_destroy(&d.a);
  osla_matrix_destroy(&d.b);
  osla_matrix_destroy(&d.c);
  free(d.x);
  return err;
}

const bench_kernel bench_gemm = {
  .name = "gemm",
  .summary = "C := A B by SRUMMA",
  .about = "\nTimes C := A B, all N x N, in GF/s (2 N^3 operations), beside:\n"
           "  blas       the limit: each rank's share of C, with the same N, by one local product\n"
           "             of private matrices; no communication\n"
           "  scalapack  pdgemm (psgemm) on the same memory and the same process grid\n"
           "Residual: |C x - A (B x)| / (eps sqrt(N) |A (B x)|), x random, max norms.\n",
  .references = "blas" REFERENCE_SCALAPACK,
  .after = "Example: mpiexec -n 2 osla-bench gemm --n 1024,2048 --ref blas,scalapack\n",
  .run = run,
  .sizes = {2048},
};
