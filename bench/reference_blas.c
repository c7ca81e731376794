/* The local limit: the BLAS on private memory. See reference.h. */
#include "osla_blas.h"
#include "osla_random.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements of type s or d; a complex one counts as two. */
static void fill(osla_dtype dtype, void *array, int64_t count, uint64_t seed, uint64_t rank)
{
  bool single = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
  if (dtype == OSLA_COMPLEX_FLOAT || dtype == OSLA_COMPLEX_DOUBLE) count *= 2;
  for (int64_t i = 0; i < count; i++) {
    double value = osla_random_uniform(seed, rank, (uint64_t)i);
    if (single)
      ((float *)array)[i] = (float)value;
    else
      ((double *)array)[i] = value;
  }
}

static int64_t at_least_one(int64_t n)
{
  return n > 1 ? n : 1;
}

/* The stored shapes: op(A) is m x k, op(B) k x n. */
static int64_t rows_a(const reference_gemm *g)
{
  return g->transa == OSLA_NOTRANS ? g->m : g->k;
}

static int64_t rows_b(const reference_gemm *g)
{
  return g->transb == OSLA_NOTRANS ? g->k : g->n;
}

static osla_err setup(void *data)
{
  reference_gemm *g = data;
  bench_job *job = g->job;
  int64_t m = g->m, n = g->n, k = g->k;
  g->dtype = job->settings->dtype;
  uint64_t size = osla_dtype_size(g->dtype), me = (uint64_t)job->rank;
  void *vectors;
  OSLA_CALL(bench_alloc(job, (uint64_t)m * (uint64_t)k * size, &g->a));
  OSLA_CALL(bench_alloc(job, (uint64_t)k * (uint64_t)n * size, &g->b));
  OSLA_CALL(bench_alloc(job, (uint64_t)m * (uint64_t)n * size, &g->c));
  OSLA_CALL(bench_alloc(job, (uint64_t)(n + k + 2 * m) * sizeof(osla_complex), &vectors));
  g->x = vectors;
  g->expected = g->x + n;
  g->y = g->expected + m; /* m + k elements: y, and op(B) x */
  fill(g->dtype, g->a, m * k, 31, me);
  fill(g->dtype, g->b, k * n, 32, me);
  bench_fill_vector(g->dtype, g->x, n, 33);
  osla_complex *bx = g->y + m;
  int64_t ra = rows_a(g), rb = rows_b(g);
  bench_apply_local(g->dtype, g->transb, rb, k + n - rb, g->b, rb, g->x, bx);
  bench_apply_local(g->dtype, g->transa, ra, m + k - ra, g->a, ra, bx, g->expected);
  return OSLA_OK;
}

static osla_err prepare(void *data)
{
  reference_gemm *g = data;
  memset(g->c, 0xff, (size_t)(g->m * g->n) * osla_dtype_size(g->dtype)); /* NaN */
  return OSLA_OK;
}

static osla_err run(void *data)
{
  reference_gemm *g = data;
  return osla_blas_gemm(g->dtype, g->transa, g->transb, g->m, g->n, g->k, 1, g->a,
                        at_least_one(rows_a(g)), g->b, at_least_one(rows_b(g)), 0, g->c,
                        at_least_one(g->m));
}

static osla_err check(void *data, double *residual)
{
  reference_gemm *g = data;
  double value = 0;
  memset(g->y, 0, (size_t)g->m * sizeof *g->y);
  bench_apply_local(g->dtype, OSLA_NOTRANS, g->m, g->n, g->c, at_least_one(g->m), g->x, g->y);
  if (g->m > 0 && g->n > 0) value = bench_residual(g->dtype, g->y, g->expected, g->m, g->k);
  if (isnan(value)) value = INFINITY; /* MAX of NaN is not defined */
  OSLA_CALL(osla_allreduce(g->job->transport, &value, 1, MPI_DOUBLE, MPI_MAX));
  *residual = value;
  return OSLA_OK;
}

static void teardown(void *data)
{
  reference_gemm *g = data;
  free(g->a);
  free(g->b);
  free(g->c);
  free(g->x);
  g->a = g->b = g->c = NULL;
  g->x = NULL;
}

static double work(const void *data)
{
  return ((const reference_gemm *)data)->work;
}

bench_impl reference_gemm_impl(reference_gemm *g)
{
  return (bench_impl){.name = "blas",
                      .setup = setup,
                      .prepare = prepare,
                      .run = run,
                      .check = check,
                      .teardown = teardown,
                      .work = work,
                      .data = g};
}
