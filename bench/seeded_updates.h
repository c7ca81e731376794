/* Seeded updates of a symmetric matrix, and the expected values of a sample of its elements.
 *
 * Each rank has U updates: rank r has the updates r * U to r * U + U - 1. Update u adds a dense
 * symmetric block to the `count` indices ix(u, 0) < ix(u, 1) < ... The indices form runs of `run`
 * consecutive ones (the last run may be shorter). The range 0 .. n-1 is divided into as many parts
 * as there are runs, and each part has one run at a random position. Paths through a model with
 * several parameters at each position have such indices. With rows > 0 the block is G^T G, where G
 * has `rows` rows; with rows = 0 the block is given. Blocks come from a small pool. Everything is a
 * function of a seed, so that jobs with the same total number of updates have the same updates.
 * updates.md of this folder describes the generator, so that other programs can make the same
 * updates. */
#ifndef OSLA_BENCH_SEEDED_UPDATES_H
#define OSLA_BENCH_SEEDED_UPDATES_H

#include "bench/bench.h"

enum { UPDATES_SAMPLES = 256 };

typedef struct updates_sample {
  int64_t i, j;    /* row and column of the sampled element, i >= j */
  double expected; /* expected value: the sum over all updates, computed serially */
  /* (terms + rows) * (sum of magnitudes of the terms); the rounding error is below eps * scale */
  double scale;
} updates_sample;

typedef struct updates {
  bench_job *job;
  osla_dtype dtype;
  int64_t n, count, rows, run, per_rank;
  uint64_t
    seed;      /* offset of the seeds of indices, samples and values: 64 times the option --seed */
  int64_t *ix; /* [per_rank][count] matrix indices of this rank's updates */
  int pool_size;
  /* [pool_size] matrices G (rows x count) or blocks (count x count) */
  void *pool;
  updates_sample sample[UPDATES_SAMPLES]; /* sampled elements, the same on all ranks */
} updates;

/* Creates the updates, each with `count` <= n indices; other sizes come from the job's settings.
 * Collective. Errors: MEM. */
osla_err updates_create(bench_job *job, int64_t n, int64_t count, updates *out);
void updates_free(updates *u);

/* Calls `run` once for each number of indices that --size or --density gives. job->last_size is
 * true during the last call. Collective. */
typedef osla_err updates_run(bench_job *job, int64_t n, int64_t count, void *data);
osla_err updates_each_count(bench_job *job, int64_t n, updates_run *run, void *data);

/* Indices of this rank's update k, and the matrix G or the given block. Local. */
const int64_t *updates_indices(const updates *u, int64_t k);
const void *updates_values(const updates *u, int64_t k);

/* max |values[s] - expected| / (eps scale) over the samples. If each contribution is rounded to a
 * multiple of `unit`, the divisor grows by `unit` for each update of the job. Local. */
double updates_residual(const updates *u, const double *values, double unit);

/* |value - element (a, b) of G^T G| / (eps 2 K sum of magnitudes) for this rank's update k; NaN if
 * value is NaN. Local. */
double updates_product_residual(const updates *u, int64_t k, int64_t a, int64_t b, double value);

#endif
