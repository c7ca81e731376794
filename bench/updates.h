/* Seeded updates of a symmetric matrix, and what a sample of its elements must be (floor 4).
 *
 * Update u of the job (rank r has those from r * U on) adds a dense symmetric block to the `count`
 * indices ix(u, 0) < ix(u, 1) < ...: one drawn from each of `count` equal parts of 0 .. n-1. With
 * rows > 0 the block is G^T G, G with `rows` rows; else it is ready. Blocks come from a small pool.
 * All is a pure function of a seed: the same updates, in number rank * U, on any grid.
 */
#ifndef OSLA_BENCH_UPDATES_H
#define OSLA_BENCH_UPDATES_H

#include "bench.h"

enum { UPDATES_SAMPLES = 256 };

typedef struct updates_sample {
  int64_t i, j;    /* i >= j */
  double expected; /* serial sum */
  double scale;    /* (terms + rows) * sum of magnitudes: its rounding error is below eps * scale */
} updates_sample;

typedef struct updates {
  bench_job *job;
  osla_dtype dtype;
  int64_t n, count, rows, per_rank;
  int64_t *ix; /* [per_rank][count] of this rank */
  int pool_size;
  void *pool;                             /* [pool_size] of rows x count (G) or count x count (U) */
  updates_sample sample[UPDATES_SAMPLES]; /* the same on all ranks */
} updates;

/* Collective. Errors: MEM. */
osla_err updates_create(bench_job *job, int64_t n, updates *out);
void updates_free(updates *u);

/* Indices, and G or block, of this rank's update k. Local. */
const int64_t *updates_indices(const updates *u, int64_t k);
const void *updates_values(const updates *u, int64_t k);

/* max |values[s] - expected| / (eps scale) over the samples. Local. */
double updates_residual(const updates *u, const double *values);

#endif
