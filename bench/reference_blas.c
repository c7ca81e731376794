/* The local limit: the BLAS on private memory. See reference.h. */
#include "osla_blas.h"
#include "osla_random.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void fill(osla_dtype dtype, void *array, int64_t count, uint64_t seed, uint64_t rank)
{
  for (int64_t i = 0; i < count; i++) {
    double value = osla_random_uniform(seed, rank, (uint64_t)i);
    if (dtype == OSLA_FLOAT)
      ((float *)array)[i] = (float)value;
    else
      ((double *)array)[i] = value;
  }
}

static int64_t at_least_one(int64_t n)
{
  return n > 1 ? n : 1;
}

osla_err reference_gemm_setup(reference_gemm *g, bench_job *job, int64_t m, int64_t n, int64_t k)
{
  uint64_t size = osla_dtype_size(job->settings->dtype), me = (uint64_t)job->rank;
  *g = (reference_gemm){.job = job, .dtype = job->settings->dtype, .m = m, .n = n, .k = k};
  OSLA_CALL(bench_alloc(job, (uint64_t)m * (uint64_t)k * size, &g->a));
  OSLA_CALL(bench_alloc(job, (uint64_t)k * (uint64_t)n * size, &g->b));
  OSLA_CALL(bench_alloc(job, (uint64_t)m * (uint64_t)n * size, &g->c));
  void *vectors;
  OSLA_CALL(bench_alloc(job, (uint64_t)(n + k + 2 * m) * sizeof(double), &vectors));
  g->x = vectors;
  g->expected = g->x + n;
  g->y = g->expected + m; /* m + k elements: y, and B x */
  fill(g->dtype, g->a, m * k, 31, me);
  fill(g->dtype, g->b, k * n, 32, me);
  fill(OSLA_DOUBLE, g->x, n, 33, 0);
  double *bx = g->y + m;
  bench_apply_local(g->dtype, k, n, g->b, k, g->x, bx);
  bench_apply_local(g->dtype, m, k, g->a, m, bx, g->expected);
  return OSLA_OK;
}

void reference_gemm_prepare(reference_gemm *g)
{
  memset(g->c, 0xff, (size_t)(g->m * g->n) * osla_dtype_size(g->dtype)); /* NaN */
}

osla_err reference_gemm_run(reference_gemm *g)
{
  return osla_blas_gemm(g->dtype, OSLA_NOTRANS, OSLA_NOTRANS, g->m, g->n, g->k, 1, g->a,
                        at_least_one(g->m), g->b, at_least_one(g->k), 0, g->c, at_least_one(g->m));
}

osla_err reference_gemm_check(reference_gemm *g, double *residual)
{
  double scale = bench_max(g->expected, g->m), value = 0;
  memset(g->y, 0, (size_t)g->m * sizeof *g->y);
  bench_apply_local(g->dtype, g->m, g->n, g->c, at_least_one(g->m), g->x, g->y);
  if (g->m > 0 && g->n > 0)
    value = bench_max_difference(g->y, g->expected, g->m) /
            (bench_eps(g->dtype) * sqrt((double)g->k) * scale);
  if (isnan(value)) value = INFINITY; /* MAX of NaN is not defined */
  OSLA_CALL(osla_allreduce(g->job->transport, &value, 1, MPI_DOUBLE, MPI_MAX));
  *residual = value;
  return OSLA_OK;
}

void reference_gemm_teardown(reference_gemm *g)
{
  free(g->a);
  free(g->b);
  free(g->c);
  free(g->x);
  *g = (reference_gemm){0};
}
