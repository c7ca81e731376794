/* Two reference implementations, in which each thread adds to a packed triangle of its own. `blas`
 * does not communicate, and is the limit. `allreduce` sums the triangles by MPI_Allreduce.
 *
 * The loop of `blas` is bound by memory latency, so it prefetches the next column while it adds to
 * the current one. At N = 8192 in double, with 2000 scattered indices, the prefetch makes the loop
 * twice as fast. AVX-512 scatters are slower than this loop. */
#include "bench/bench_hessian.h"
#include "src/blas/work.h"

#include <stdlib.h>
#include <string.h>

static int64_t packed_elements(const hessian_data *d)
{
  return d->n * (d->n + 1) / 2;
}

/* Offset of column j in the packed triangle: element (i, j) is at this offset + i. */
static int64_t packed_column(const hessian_data *d, int64_t j)
{
  return d->job->settings->uplo == OSLA_LOWER ? j * (2 * d->n - j - 1) / 2 : j * (j + 1) / 2;
}

/* Allocates the triangles, unless another implementation of this case has allocated them. */
static osla_err setup_own(void *data)
{
  hessian_data *d = data;
  void *own;
  OSLA_CALL(hessian_products_create(d, false));
  if (d->own) return OSLA_OK;
  uint64_t each = osla_dtype_size(d->updates.dtype) * (uint64_t)d->job->settings->threads;
  OSLA_CALL(bench_alloc(d->job, (uint64_t)packed_elements(d) * each, &own));
  d->own = own;
  return OSLA_OK;
}

static void teardown_own(void *data)
{
  hessian_data *d = data;
  free(d->own);
  d->own = NULL;
  hessian_products_free(d);
}

static osla_err prepare_own(void *data)
{
  hessian_data *d = data;
  size_t each = osla_dtype_size(d->updates.dtype) * (size_t)d->job->settings->threads;
  memset(d->own, 0, (size_t)packed_elements(d) * each);
  return OSLA_OK;
}

/* Adds the update's values to `column` at the indices ix, and prefetches the same indices of
 * `next`, the column to which values are added next. */
static void add_float(int64_t count, const int64_t *ix, const float *values, float *column,
                      const float *next)
{
  for (int64_t a = 0; a < count; a++) {
    __builtin_prefetch(next + ix[a], 1);
    column[ix[a]] += values[a];
  }
}

static void add_double(int64_t count, const int64_t *ix, const double *values, double *column,
                       const double *next)
{
  for (int64_t a = 0; a < count; a++) {
    __builtin_prefetch(next + ix[a], 1);
    column[ix[a]] += values[a];
  }
}

static void scatter_strip(hessian_data *d, int64_t k, int thread, const hessian_strip *strip)
{
  const updates *u = &d->updates;
  const int64_t *ix = updates_indices(u, k);
  char *own = d->own;
  size_t size = osla_dtype_size(u->dtype);
  int64_t added = 0;
  own += (size_t)thread * (size_t)packed_elements(d) * size;
  for (int64_t c = 0; c < strip->columns; c++) {
    int64_t b = strip->column + c, begin, end;
    int64_t behind = b + 1 < u->count ? b + 1 : b;
    hessian_rows(d->job->settings->uplo, u->count, b, &begin, &end);
    added += end - begin;
    if (osli_work_modelled) continue;
    const char *values = (const char *)strip->values + (size_t)(begin + c * u->count) * size;
    char *column = own + packed_column(d, ix[b]) * (int64_t)size;
    const char *next = own + packed_column(d, ix[behind]) * (int64_t)size;
    if (u->dtype == OSLA_FLOAT)
      add_float(end - begin, ix + begin, (const float *)(const void *)values,
                (float *)(void *)column, (const float *)(const void *)next);
    else
      add_double(end - begin, ix + begin, (const double *)(const void *)values,
                 (double *)(void *)column, (const double *)(const void *)next);
  }
  work_charge(OSLA_WORK_ADD, u->dtype, 1, added, 1);
}

static osla_err update_own(hessian_data *d, int64_t k, int thread)
{
  return hessian_strips(d, k, thread, scatter_strip);
}

static osla_err run_blas(void *data)
{
  return hessian_each(data, update_own);
}

/* Sums the triangles of the threads, then those of the ranks. */
static osla_err run_allreduce(void *data)
{
  hessian_data *d = data;
  int64_t count = packed_elements(d);
  int threads = d->job->settings->threads;
  OSLA_CALL(hessian_each(d, update_own));
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < count; i++)
    for (int64_t other = 1; other < threads; other++) {
      if (d->updates.dtype == OSLA_FLOAT)
        ((float *)(void *)d->own)[i] += ((float *)(void *)d->own)[i + other * count];
      else
        ((double *)(void *)d->own)[i] += ((double *)(void *)d->own)[i + other * count];
    }
  return reference_allreduce(d->updates.dtype, d->own, count);
}

/* Reads the sampled elements from the triangles of the first `threads` threads, and sums them. */
static void sample_own(hessian_data *d, int threads)
{
  const updates *u = &d->updates;
  bool lower = d->job->settings->uplo == OSLA_LOWER;
  for (int k = 0; k < UPDATES_SAMPLES; k++) {
    int64_t i = u->sample[k].i, j = u->sample[k].j;
    int64_t at = lower ? packed_column(d, j) + i : packed_column(d, i) + j;
    d->values[k] = 0;
    for (int64_t thread = 0; thread < threads; thread++)
      d->values[k] += bench_element(u->dtype, d->own, at + thread * packed_elements(d));
  }
}

static osla_err check_blas(void *data, double *residual)
{
  hessian_data *d = data;
  sample_own(d, d->job->settings->threads);
  OSLA_CALL(osla_allreduce(d->job->transport, d->values, UPDATES_SAMPLES, MPI_DOUBLE, MPI_SUM));
  *residual = updates_residual(&d->updates, d->values, 0);
  return OSLA_OK;
}

static osla_err check_allreduce(void *data, double *residual)
{
  hessian_data *d = data;
  sample_own(d, 1);
  *residual = updates_residual(&d->updates, d->values, 0);
  return osla_bcast(d->job->transport, residual, 1, MPI_DOUBLE, 0);
}

const bench_impl hessian_blas = {.name = "blas",
                                 .setup = setup_own,
                                 .prepare = prepare_own,
                                 .run = run_blas,
                                 .check = check_blas,
                                 .teardown = teardown_own};

const bench_impl hessian_allreduce = {.name = "allreduce",
                                      .setup = setup_own,
                                      .prepare = prepare_own,
                                      .run = run_allreduce,
                                      .check = check_allreduce,
                                      .teardown = teardown_own};
