/* The computation that makes the updates: work on G, and G^T G, as in the paper's synthetic
 * application (French et al., section IV.A). The reference implementation `produce` times this
 * computation alone. Ideally, all communication is hidden behind it. */
#include "bench/bench_hessian.h"
#include "osla_blas.h"
#include "osla_clock.h"

#include <math.h>
#include <stdlib.h>

/* Number of columns in one product. A small number wastes little work on rows outside the triangle,
 * and the values are still in the second-level cache when they are added. */
enum { STRIP_COLUMNS = 128 };

/* --- production --- */

/* Computes columns [column, column + columns) of G^T G; element (a, column) is at `values` + a. */
static osla_err multiply(hessian_data *d, int64_t k, int64_t column, int64_t columns, char *values)
{
  const updates *u = &d->updates;
  int64_t begin, end;
  size_t size = osla_dtype_size(u->dtype);
  const char *g = updates_values(u, k);
  hessian_strip_rows(d->job->settings->uplo, u->count, column, columns, &begin, &end);
  return osla_blas_gemm(u->dtype, OSLA_TRANS, OSLA_NOTRANS, end - begin, columns, u->rows, 1,
                        g + (size_t)(begin * u->rows) * size, u->rows,
                        g + (size_t)(column * u->rows) * size, u->rows, 0,
                        values + (size_t)begin * size, u->count);
}

osla_err hessian_strips(hessian_data *d, int64_t k, int thread, hessian_consume *consume)
{
  const updates *u = &d->updates;
  hessian_strip strip = {.columns = u->count, .values = updates_values(u, k)};
  if (u->rows == 0) {
    if (consume) consume(d, k, thread, &strip);
    return OSLA_OK;
  }
  char *values = d->products + (size_t)thread * d->products_each;
  strip.values = values;
  for (; strip.column < u->count; strip.column += STRIP_COLUMNS) {
    int64_t left = u->count - strip.column;
    strip.columns = left < STRIP_COLUMNS ? left : STRIP_COLUMNS;
    OSLA_CALL(multiply(d, k, strip.column, strip.columns, values));
    if (consume) consume(d, k, thread, &strip);
  }
  return OSLA_OK;
}

osla_err hessian_block(hessian_data *d, int64_t k, int thread, const void **block)
{
  const updates *u = &d->updates;
  *block = updates_values(u, k);
  if (u->rows == 0) return OSLA_OK;
  char *values = d->products + (size_t)thread * d->products_each;
  size_t column_bytes = (size_t)u->count * osla_dtype_size(u->dtype);
  *block = values;
  for (int64_t column = 0; column < u->count; column += STRIP_COLUMNS) {
    int64_t left = u->count - column;
    OSLA_CALL(multiply(d, k, column, left < STRIP_COLUMNS ? left : STRIP_COLUMNS,
                       values + (size_t)column * column_bytes));
  }
  return OSLA_OK;
}

osla_err hessian_products_create(hessian_data *d, bool whole)
{
  const updates *u = &d->updates;
  int64_t columns = whole || u->count < STRIP_COLUMNS ? u->count : STRIP_COLUMNS;
  size_t each = (size_t)(u->count * columns) * osla_dtype_size(u->dtype);
  void *products;
  if (u->rows == 0 || d->products_each >= each) return OSLA_OK;
  hessian_products_free(d);
  OSLA_CALL(bench_alloc(d->job, each * (uint64_t)d->job->settings->threads, &products));
  d->products = products;
  d->products_each = each;
  return OSLA_OK;
}

void hessian_products_free(hessian_data *d)
{
  free(d->products);
  d->products = NULL;
  d->products_each = 0;
}

/* --- all updates of a rank --- */

/* Makes progress after every eighth group of columns, as an application without a progress thread
 * does. More progress would cost real time in simulations. */
static void progress_between_strips(hessian_data *d, int64_t k, int thread,
                                    const hessian_strip *strip)
{
  enum { EVERY = 8 * STRIP_COLUMNS };
  (void)k;
  (void)thread;
  if (strip->column % EVERY == 0) osla_progress(d->job->transport);
}

/* Does the work that stands for the production of G: products whose results are not used. */
static osla_err work_before(hessian_data *d, int64_t k, int thread, double *seconds)
{
  int64_t work = d->job->settings->work;
  if (work == 0) return OSLA_OK;
  double start = osla_clock();
  for (int64_t i = 0; i < work; i++)
    OSLA_CALL(hessian_strips(d, k, thread, progress_between_strips));
  *seconds += osla_clock() - start;
  return OSLA_OK;
}

static osla_err one_thread(hessian_data *d, hessian_work *work, int thread, double *seconds)
{
  for (int64_t k = thread; k < d->counted; k += d->job->settings->threads) {
    OSLA_CALL(work_before(d, k, thread, seconds));
    OSLA_CALL(work(d, k, thread));
  }
  return OSLA_OK;
}

/* Returns the first error of any thread, and sets the error text of the calling thread. */
osla_err hessian_each(hessian_data *d, hessian_work *work)
{
  osla_err result = OSLA_OK;
  char text[512] = "";
  int threads = d->job->settings->threads;
  d->work_seconds = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int thread = 0; thread < threads; thread++) {
    double seconds = 0;
    osla_err err = one_thread(d, work, thread, &seconds);
#pragma omp critical(bench_hessian_each)
    {
      d->work_seconds += seconds;
      if (err != OSLA_OK && result == OSLA_OK) {
        result = err;
        (void)snprintf(text, sizeof text, "%s", osla_error_text());
      }
    }
  }
  return result == OSLA_OK ? OSLA_OK : osla_error_set(result, "%s", text);
}

/* --- produce --- */

static osla_err setup(void *data)
{
  return hessian_products_create(data, false);
}

static osla_err produce_one(hessian_data *d, int64_t k, int thread)
{
  return hessian_strips(d, k, thread, NULL);
}

static osla_err run(void *data)
{
  return hessian_each(data, produce_one);
}

/* Checks the last column of the last product of the first thread, which is still in memory. */
static osla_err check(void *data, double *residual)
{
  hessian_data *d = data;
  const updates *u = &d->updates;
  int threads = d->job->settings->threads;
  int64_t last = (u->per_rank - 1) / threads * threads, b = u->count - 1, begin, end;
  int64_t column = b / STRIP_COLUMNS * STRIP_COLUMNS;
  hessian_strip_rows(d->job->settings->uplo, u->count, column, u->count - column, &begin, &end);
  *residual = 0;
  for (int64_t a = begin; a < end; a++) {
    double value = bench_element(u->dtype, d->products, a + (b - column) * u->count);
    double scaled = updates_product_residual(u, last, a, b, value);
    if (isnan(scaled) || scaled > *residual) *residual = scaled;
  }
  return osla_allreduce(d->job->transport, residual, 1, MPI_DOUBLE, MPI_MAX);
}

static void teardown(void *data)
{
  hessian_products_free(data);
}

const bench_impl hessian_produce = {
  .name = "produce", .setup = setup, .run = run, .check = check, .teardown = teardown};
