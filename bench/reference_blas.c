/* The local limit: a product by the BLAS on private memory. See bench_reference.h. */
#include "bench/bench_reference.h"
#include "osla_blas.h"
#include "osla_random.h"
#include "src/blas/work.h"
#include "src/device/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fills an array with random elements; a complex element counts as two real ones. */
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

/* Leading dimension of an array with `rows` rows, chosen as for OSLA's own matrices. */
static int64_t ld_of(int64_t rows, osla_dtype dtype)
{
  osla_layout column = {.m = rows, .n = 1, .mb = 1, .nb = 1, .nprow = 1, .npcol = 1};
  return (int64_t)(osla_matrix_bytes(&column, dtype) / osla_dtype_size(dtype));
}

static int64_t ld_a(const reference_gemm *g)
{
  return ld_of(g->transa == OSLA_NOTRANS ? g->m : g->k, g->dtype);
}

static int64_t ld_b(const reference_gemm *g)
{
  return ld_of(g->transb == OSLA_NOTRANS ? g->k : g->n, g->dtype);
}

int64_t reference_gemm_ld(const reference_gemm *g, int array)
{
  return array == 0 ? ld_a(g) : array == 1 ? ld_b(g) : ld_of(g->m, g->dtype);
}

/* Numbers of elements of the arrays that hold A and B, where op(A) is m x k and op(B) is k x n. */
static int64_t size_a(const reference_gemm *g)
{
  return ld_a(g) * (g->transa == OSLA_NOTRANS ? g->k : g->m);
}

static int64_t size_b(const reference_gemm *g)
{
  return ld_b(g) * (g->transb == OSLA_NOTRANS ? g->n : g->k);
}

static int64_t size_c(const reference_gemm *g)
{
  return ld_of(g->m, g->dtype) * g->n;
}

/* Starts a copy of `elements` elements between host memory and the device. Later calls that wait
 * for the device report an error of the copy. */
static void cross(const reference_gemm *g, int64_t elements, const void *from, void *to)
{
  osli_device_copy_bytes((size_t)elements * osla_dtype_size(g->dtype), from, to);
}

/* Sets g->on_device to the arrays of the product. With a device they are in device memory, which
 * gets copies of A and B. */
static osla_err place_operands(reference_gemm *g)
{
  const size_t element = osla_dtype_size(g->dtype), line = 256;
  const size_t a = ((size_t)size_a(g) * element + line - 1) / line * line;
  const size_t b = ((size_t)size_b(g) * element + line - 1) / line * line;
  g->on_device[0] = g->a, g->on_device[1] = g->b, g->on_device[2] = g->c;
  if (!g->job->device || g->in_host_memory) return OSLA_OK;
  OSLA_CALL(
    osla_segment_create_on(g->job->device, a + b + (size_t)size_c(g) * element, 0, &g->segment));
  unsigned char *base = osla_segment_local(g->segment);
  g->on_device[0] = base, g->on_device[1] = base + a, g->on_device[2] = base + a + b;
  cross(g, size_a(g), g->a, g->on_device[0]);
  cross(g, size_b(g), g->b, g->on_device[1]);
  return OSLA_OK;
}

static osla_err setup(void *data)
{
  reference_gemm *g = data;
  bench_job *job = g->job;
  int64_t m = g->m, n = g->n, k = g->k;
  g->dtype = job->settings->dtype;
  uint64_t size = osla_dtype_size(g->dtype), me = (uint64_t)job->rank;
  void *vectors;
  OSLA_CALL(bench_alloc(job, (uint64_t)size_a(g) * size, &g->a));
  OSLA_CALL(bench_alloc(job, (uint64_t)size_b(g) * size, &g->b));
  OSLA_CALL(bench_alloc(job, (uint64_t)size_c(g) * size, &g->c));
  OSLA_CALL(bench_alloc(job, (uint64_t)(n + k + 2 * m) * sizeof(osla_complex), &vectors));
  g->x = vectors;
  g->expected = g->x + n;
  g->y = g->expected + m; /* room for y (m elements) and op(B) x (k elements) */
  if (osli_work_modelled) return OSLA_OK;
  fill(g->dtype, g->a, size_a(g), 31, me);
  fill(g->dtype, g->b, size_b(g), 32, me);
  bench_fill_vector(g->dtype, g->x, n, 33);
  osla_complex *bx = g->y + m;
  int64_t ra = g->transa == OSLA_NOTRANS ? m : k, rb = g->transb == OSLA_NOTRANS ? k : n;
  bench_apply_local(g->dtype, g->transb, rb, k + n - rb, g->b, ld_b(g), g->x, bx);
  bench_apply_local(g->dtype, g->transa, ra, m + k - ra, g->a, ld_a(g), bx, g->expected);
  return place_operands(g);
}

static osla_err prepare(void *data)
{
  reference_gemm *g = data;
  /* these bits are NaN in every element type */
  memset(g->c, 0xff, (size_t)size_c(g) * osla_dtype_size(g->dtype));
  if (g->segment) cross(g, size_c(g), g->c, g->on_device[2]);
  return OSLA_OK;
}

static osla_err run(void *data)
{
  reference_gemm *g = data;
  OSLA_CALL(osla_blas_gemm(g->dtype, g->transa, g->transb, g->m, g->n, g->k, 1, g->on_device[0],
                           ld_a(g), g->on_device[1], ld_b(g), 0, g->on_device[2],
                           ld_of(g->m, g->dtype)));
  return osli_device_settle(SETTLE_COLLECTIVE);
}

static osla_err check(void *data, double *residual)
{
  reference_gemm *g = data;
  double value = 0;
  if (g->segment) cross(g, size_c(g), g->on_device[2], g->c);
  memset(g->y, 0, (size_t)g->m * sizeof *g->y);
  bench_apply_local(g->dtype, OSLA_NOTRANS, g->m, g->n, g->c, ld_of(g->m, g->dtype), g->x, g->y);
  if (g->m > 0 && g->n > 0) value = bench_residual(g->dtype, g->y, g->expected, g->m, g->k);
  if (isnan(value)) value = INFINITY; /* a NaN is replaced, because MPI_MAX of NaN is undefined */
  OSLA_CALL(osla_allreduce(g->job->transport, &value, 1, MPI_DOUBLE, MPI_MAX));
  *residual = value;
  return OSLA_OK;
}

static void teardown(void *data)
{
  reference_gemm *g = data;
  osla_segment_destroy(&g->segment);
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
