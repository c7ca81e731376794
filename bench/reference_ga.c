/* Reference implementation of products: GA_Sgemm to GA_Zgemm of Global Arrays. See
 * bench_reference.h.
 *
 * GA's C interface numbers dimensions in the reverse order of the memory layout (GA 5.8), so an
 * array of dims {columns, rows} is column-major for OSLA and its transpose for GA. The calls
 * therefore compute the product of the transposes, C^T = op(B)^T op(A)^T. */
#include "config.h"

#include "bench/bench_reference.h"

#include <string.h>

#ifdef HAVE_GA

#include <ga.h>
#include <macdecls.h>

/* Elements of the stack and of the heap of GA's memory allocator, which hold the buffers of
 * GA_Dgemm. At N = 2048 on 2 ranks, GA_Dgemm is slower with less memory and no faster with more
 * (GA 5.8.2). */
enum { MA_DOUBLES = 16 << 20 };

/* Elements of the stack. GA_Lu_solve, which the kernel chain calls, needs room for this rank's part
 * of the matrix. */
static int64_t stack_doubles(const bench_job *job)
{
  enum { BLOCK_COLUMNS = 512 };
  const bench_settings *s = job->settings;
  int64_t most = MA_DOUBLES;
  for (int i = 0; i < s->n_count && s->uplo == OSLA_GENERAL; i++) {
    const int64_t need = s->n[i] * s->n[i] / job->size + BLOCK_COLUMNS * s->n[i];
    if (need > most) most = need;
  }
  return most;
}

osla_err reference_ga_start(bench_job *job)
{
  if (job->ga_started) return OSLA_OK;
  OSLA_CALL(osla_ga_initialize(stack_doubles(job)));
  job->ga_started = true;
  return OSLA_OK;
}

uint64_t reference_ga_bytes(const bench_job *job)
{
  return job->ga_started ? 0 : 2 * sizeof(double) * (uint64_t)stack_doubles(job);
}

void reference_ga_stop(bench_job *job)
{
  if (job->ga_started) osla_ga_terminate();
  job->ga_started = false;
}

/* This rank's part of an array: rows x cols elements from (i, j), column-major. at = NULL if the
 * part is empty. */
typedef struct part {
  int64_t i, j, rows, cols, ld;
  void *at;
} part;

static part access_part(int array)
{
  int64_t low[2], high[2], ld[1] = {0};
  part p = {0};
  NGA_Distribution64(array, GA_Nodeid(), low, high);
  if (high[0] < low[0] || high[1] < low[1]) return p;
  NGA_Access64(array, low, high, &p.at, ld);
  p.i = low[1];
  p.j = low[0];
  p.rows = high[1] - low[1] + 1;
  p.cols = high[0] - low[0] + 1;
  p.ld = ld[0];
  return p;
}

static void release_part(int array, const part *p)
{
  int64_t low[2] = {p->j, p->i}, high[2] = {p->j + p->cols - 1, p->i + p->rows - 1};
  if (p->at) NGA_Release_update64(array, low, high);
}

/* Creates an array and copies a matrix into it. The caller has checked that the array fits the
 * memory. */
static osla_err create(osla_matrix *from, int64_t rows, int64_t cols, osla_dtype dtype, int *array)
{
  static const int type[] = {C_FLOAT, C_DBL, C_SCPL, C_DCPL};
  int64_t dims[2] = {cols, rows};
  osla_err err = OSLA_OK;
  *array = NGA_Create64(type[dtype], 2, dims, "osla-bench", NULL);
  if (*array == 0) return osla_error_set(OSLA_ERR_MEM, "an array of Global Arrays");
  if (!from) return OSLA_OK;
  part p = access_part(*array);
  if (p.at) err = osla_matrix_get_block(from, p.i, p.j, p.rows, p.cols, p.at, p.ld);
  release_part(*array, &p);
  GA_Sync();
  return err;
}

static osla_err setup(void *data)
{
  reference_ga *g = data;
  bench_job *job = g->job;
  osla_dtype dtype = job->settings->dtype;
  osla_layout a = osla_matrix_layout(g->from_a), b = osla_matrix_layout(g->from_b);
  uint64_t elements = (uint64_t)(a.m * a.n + b.m * b.n + g->m * g->n) / (uint64_t)job->size;
  OSLA_CALL(bench_memory_check(job, elements * osla_dtype_size(dtype) + reference_ga_bytes(job)));
  OSLA_CALL(reference_ga_start(job));
  OSLA_CALL(osla_agree(job->transport, create(g->from_a, a.m, a.n, dtype, &g->a)));
  OSLA_CALL(osla_agree(job->transport, create(g->from_b, b.m, b.n, dtype, &g->b)));
  return osla_agree(job->transport, create(NULL, g->m, g->n, dtype, &g->c));
}

static void teardown(void *data)
{
  reference_ga *g = data;
  if (g->a) GA_Destroy(g->a);
  if (g->b) GA_Destroy(g->b);
  if (g->c) GA_Destroy(g->c);
  g->a = g->b = g->c = 0;
}

static osla_err prepare(void *data)
{
  reference_ga *g = data;
  size_t size = osla_dtype_size(g->job->settings->dtype);
  part p = access_part(g->c);
  for (int64_t j = 0; j < p.cols; j++)
    /* these bits are NaN in every element type */
    memset((char *)p.at + (size_t)(j * p.ld) * size, 0xff, (size_t)p.rows * size);
  release_part(g->c, &p);
  GA_Sync();
  return OSLA_OK;
}

static osla_err run(void *data)
{
  reference_ga *g = data;
  const bench_settings *s = g->job->settings;
  char ta = "ntc"[s->transa], tb = "ntc"[s->transb];
  static const SingleComplex one_c = {1, 0}, zero_c = {0, 0};
  static const DoubleComplex one_z = {1, 0}, zero_z = {0, 0};
  switch (s->dtype) {
    case OSLA_FLOAT: GA_Sgemm64(tb, ta, g->n, g->m, g->k, 1, g->b, g->a, 0, g->c); break;
    case OSLA_DOUBLE: GA_Dgemm64(tb, ta, g->n, g->m, g->k, 1, g->b, g->a, 0, g->c); break;
    case OSLA_COMPLEX_FLOAT:
      GA_Cgemm64(tb, ta, g->n, g->m, g->k, one_c, g->b, g->a, zero_c, g->c);
      break;
    case OSLA_COMPLEX_DOUBLE:
      GA_Zgemm64(tb, ta, g->n, g->m, g->k, one_z, g->b, g->a, zero_z, g->c);
      break;
  }
  return OSLA_OK;
}

static osla_err check(void *data, double *residual)
{
  reference_ga *g = data;
  osla_dtype dtype = g->job->settings->dtype;
  memset(g->y, 0, (size_t)g->m * sizeof *g->y);
  part p = access_part(g->c);
  if (p.at)
    bench_apply_local(dtype, OSLA_NOTRANS, p.rows, p.cols, p.at, p.ld, g->x + p.j, g->y + p.i);
  release_part(g->c, &p);
  OSLA_CALL(osla_allreduce(g->job->transport, g->y, 2 * g->m, MPI_DOUBLE, MPI_SUM));
  *residual = bench_residual(dtype, g->y, g->expected, g->m, g->k);
  return OSLA_OK;
}

bench_impl reference_ga_impl(reference_ga *g)
{
  return (bench_impl){.name = "ga",
                      .setup = setup,
                      .prepare = prepare,
                      .run = run,
                      .check = check,
                      .teardown = teardown,
                      .data = g,
                      .nb = BENCH_NO_NB};
}

#else

/* In a build without Global Arrays, --ref refuses "ga", so these functions are never called. */
static osla_err not_built(void *data)
{
  (void)data;
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "built without Global Arrays");
}

bench_impl reference_ga_impl(reference_ga *g)
{
  return (bench_impl){.name = "ga", .setup = not_built, .run = not_built, .data = g};
}

void reference_ga_stop(bench_job *job)
{
  (void)job;
}

#endif
