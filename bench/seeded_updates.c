/* Seeded updates of a symmetric matrix. See seeded_updates.h. */
#include "bench/seeded_updates.h"
#include "osla_random.h"
#include "src/blas/work.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED_INDEX = 11, SEED_SAMPLE = 12, SEED_POOL = 13, POOL_LARGEST = 8, SEED_STEP = 64 };
#define POOL_BYTES ((uint64_t)64 << 20)

/* Value that index number a of an update would have if the indices were evenly spaced. */
static int64_t even_position(const updates *u, int64_t a)
{
  return (int64_t)((__int128)a * u->n / u->count);
}

/* Finds the run of consecutive indices that contains index number a, and returns the run's first
 * index. *length: number of indices in the run. *first: number of the run's first index. */
static int64_t run_start(const updates *u, int64_t update, int64_t a, int64_t *first,
                         int64_t *length)
{
  int64_t number = a / u->run;
  *first = number * u->run;
  *length = u->count - *first < u->run ? u->count - *first : u->run;
  int64_t begin = even_position(u, *first), end = even_position(u, *first + *length);
  uint64_t bits = osla_random_bits(u->seed + SEED_INDEX, (uint64_t)update, (uint64_t)number);
  return begin + (int64_t)(bits % (uint64_t)(end - begin - *length + 1));
}

static int64_t index_of(const updates *u, int64_t update, int64_t a)
{
  int64_t first, length, start = run_start(u, update, a, &first, &length);
  return start + a - first;
}

/* Number of the index i in an update, or -1 if the update does not contain i. */
static int64_t number_of(const updates *u, int64_t update, int64_t i)
{
  int64_t a = (int64_t)(((__int128)(i + 1) * u->count - 1) / u->n);
  int64_t first, length, start = run_start(u, update, a, &first, &length);
  return i >= start && i < start + length ? first + i - start : -1;
}

static double rounded(const updates *u, double value)
{
  return u->dtype == OSLA_FLOAT ? (double)(float)value : value;
}

/* Element (row, column) of G or of a symmetric block. */
static double value_of(const updates *u, int64_t update, int64_t row, int64_t column)
{
  uint64_t r = (uint64_t)row, c = (uint64_t)column, seed = u->seed + SEED_POOL;
  if (u->rows == 0 && r > c) {
    r = (uint64_t)column;
    c = (uint64_t)row;
  }
  seed += (uint64_t)(update % u->pool_size);
  return rounded(u, osla_random_uniform(seed, r, c));
}

/* Adds what one update contributes to a sample. */
static void add_terms(const updates *u, int64_t update, updates_sample *s, int64_t *terms)
{
  int64_t a = number_of(u, update, s->i), b = number_of(u, update, s->j);
  if (a < 0 || b < 0) return;
  if (u->rows == 0) {
    double value = value_of(u, update, a, b);
    s->expected += value;
    s->scale += fabs(value);
  }
  for (int64_t r = 0; r < u->rows; r++) {
    double value = value_of(u, update, r, a) * value_of(u, update, r, b);
    s->expected += value;
    s->scale += fabs(value);
  }
  ++*terms;
}

/* Chooses the samples and computes their expected values serially, on rank 0. Seven of eight
 * samples are elements of a random update; the others are anywhere in the matrix. */
static void compute_samples(updates *u)
{
  if (osli_work_modelled) return;
  int64_t total = u->per_rank * u->job->size;
  for (int k = 0; k < UPDATES_SAMPLES; k++) {
    updates_sample *s = &u->sample[k];
    uint64_t draw[3];
    for (uint64_t part = 0; part < 3; part++)
      draw[part] = osla_random_bits(u->seed + SEED_SAMPLE, (uint64_t)k, part) >> 1;
    bool anywhere = k % 8 == 7;
    int64_t update = (int64_t)(draw[0] % (uint64_t)total);
    uint64_t range = (uint64_t)(anywhere ? u->n : u->count);
    int64_t i = (int64_t)(draw[1] % range), j = (int64_t)(draw[2] % range), terms = 0;
    if (!anywhere) {
      i = index_of(u, update, i);
      j = index_of(u, update, j);
    }
    *s = (updates_sample){.i = i > j ? i : j, .j = i > j ? j : i};
    for (int64_t any = 0; any < total; any++)
      add_terms(u, any, s, &terms);
    s->scale *= (double)(terms + u->rows);
  }
}

double updates_residual(const updates *u, const double *values, double unit)
{
  double worst = 0;
  for (int k = 0; k < UPDATES_SAMPLES; k++) {
    const updates_sample *s = &u->sample[k];
    double error = fabs(values[k] - s->expected);
    if (error == 0) continue;
    double rounding = s->scale > 0 ? unit * (double)(u->per_rank * u->job->size) : 0;
    /* becomes infinite if the scale is 0, because then no update contributes */
    double scaled = error / (bench_eps(u->dtype) * s->scale + rounding);
    if (isnan(scaled)) return scaled;
    if (scaled > worst) worst = scaled;
  }
  return worst;
}

double updates_product_residual(const updates *u, int64_t k, int64_t a, int64_t b, double value)
{
  const void *g = updates_values(u, k);
  double sum = 0, magnitudes = 0;
  for (int64_t r = 0; r < u->rows; r++) {
    double term =
      bench_element(u->dtype, g, r + a * u->rows) * bench_element(u->dtype, g, r + b * u->rows);
    sum += term;
    magnitudes += fabs(term);
  }
  return fabs(value - sum) / (bench_eps(u->dtype) * 2 * (double)u->rows * magnitudes);
}

static void fill_pool(updates *u, int64_t rows)
{
  if (osli_work_modelled) return;
  for (int64_t p = 0; p < u->pool_size; p++)
    for (int64_t column = 0; column < u->count; column++)
      for (int64_t row = 0; row < rows; row++) {
        int64_t at = (p * u->count + column) * rows + row;
        double value = value_of(u, p, row, column);
        if (u->dtype == OSLA_FLOAT)
          ((float *)u->pool)[at] = (float)value;
        else
          ((double *)u->pool)[at] = value;
      }
}

osla_err updates_create(bench_job *job, int64_t n, int64_t count, updates *out)
{
  const bench_settings *s = job->settings;
  *out = (updates){.job = job,
                   .dtype = s->dtype,
                   .n = n,
                   .count = count,
                   .rows = s->rows,
                   .run = s->run,
                   .seed = (uint64_t)s->seed * SEED_STEP,
                   .per_rank = s->updates};
  void *ix;
  int64_t rows = s->rows > 0 ? s->rows : count;
  uint64_t each = (uint64_t)(rows * count) * osla_dtype_size(s->dtype);
  out->pool_size = (int)(each * POOL_LARGEST <= POOL_BYTES ? POOL_LARGEST : POOL_BYTES / each);
  if (out->pool_size < 1) out->pool_size = 1;
  OSLA_CALL(bench_alloc(job, (uint64_t)(s->updates * count) * sizeof(int64_t), &ix));
  out->ix = ix;
  OSLA_CALL(bench_alloc(job, each * (uint64_t)out->pool_size, &out->pool));
  for (int64_t k = 0; k < s->updates; k++)
    for (int64_t a = 0; a < count; a++)
      out->ix[k * count + a] = index_of(out, job->rank * s->updates + k, a);
  fill_pool(out, rows);
  if (job->rank == 0) compute_samples(out);
  return osla_bcast(job->transport, out->sample, (int64_t)sizeof out->sample, MPI_BYTE, 0);
}

void updates_free(updates *u)
{
  free(u->ix);
  free(u->pool);
  u->ix = NULL;
  u->pool = NULL;
}

const int64_t *updates_indices(const updates *u, int64_t k)
{
  return u->ix + k * u->count;
}

const void *updates_values(const updates *u, int64_t k)
{
  int64_t p = (u->job->rank * u->per_rank + k) % u->pool_size;
  int64_t each = (u->rows > 0 ? u->rows : u->count) * u->count;
  return (const char *)u->pool + (size_t)(p * each) * osla_dtype_size(u->dtype);
}

osla_err updates_each_count(bench_job *job, int64_t n, updates_run *run, void *data)
{
  const bench_settings *s = job->settings;
  const int counts = s->n_densities > 0 ? s->n_densities : s->n_counts;
  const bool last = job->last_size;
  osla_err err = OSLA_OK;
  for (int i = 0; i < counts && err == OSLA_OK; i++) {
    const int64_t count =
      s->n_densities > 0 ? (int64_t)llround(s->density[i] * (double)n) : s->counts[i];
    job->last_size = last && i + 1 == counts;
    err = run(job, n, count > 0 ? count : 1, data);
  }
  return err;
}
