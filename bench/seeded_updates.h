/* Seeded updates of a symmetric matrix, and what a sample of its elements must be (floor 4).
 *
 * Update u of the job (rank r has those from r * U on) adds a dense symmetric block to the `count`
 * indices ix(u, 0) < ix(u, 1) < ...: runs of `run` consecutive ones (the last may be shorter), one
 * run somewhere in each of as many parts of 0 .. n-1, as paths through a model with several
 * parameters at each place have them. With rows > 0 the block is G^T G, G with `rows` rows; else it
 * is ready. Blocks come from a small pool. All is a pure function of a seed: the same updates, in
 * number rank * U, on any grid.
 */
#ifndef OSLA_BENCH_SEEDED_UPDATES_H
#define OSLA_BENCH_SEEDED_UPDATES_H

#include "bench/bench.h"

enum { UPDATES_SAMPLES = 256 };

typedef struct updates_sample {
  int64_t i, j;    /* i >= j */
  double expected; /* serial sum */
  double scale;    /* (terms + rows) * sum of magnitudes: its rounding error is below eps * scale */
} updates_sample;

typedef struct updates {
  bench_job *job;
  osla_dtype dtype;
  int64_t n, count, rows, run, per_rank;
  int64_t *ix; /* [per_rank][count] of this rank */
  int pool_size;
  void *pool;                             /* [pool_size] of rows x count (G) or count x count (U) */
  updates_sample sample[UPDATES_SAMPLES]; /* the same on all ranks */
} updates;

/* Of `count` <= n indices; the rest is the job's. Collective. Errors: MEM. */
osla_err updates_create(bench_job *job, int64_t n, int64_t count, updates *out);
void updates_free(updates *u);

/* Indices, and G or block, of this rank's update k. Local. */
const int64_t *updates_indices(const updates *u, int64_t k);
const void *updates_values(const updates *u, int64_t k);

/* max |values[s] - expected| / (eps scale) over the samples; where each contribution is rounded to
 * a multiple of `unit`, eps scale is more by unit for each update of the job. Local. */
double updates_residual(const updates *u, const double *values, double unit);

/* |value - element (a, b) of G^T G of this rank's update k| / (eps 2 K sum of magnitudes): NaN for
 * NaN. Local. */
double updates_product_residual(const updates *u, int64_t k, int64_t a, int64_t b, double value);

#endif
