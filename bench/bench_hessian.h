/* Functions and data shared by the implementations of the assembly of a symmetric matrix. */
#ifndef OSLA_BENCH_HESSIAN_H
#define OSLA_BENCH_HESSIAN_H

#include "bench/bench_reference.h"
#include "bench/seeded_updates.h"
#include "osla_hessian.h"

/* Phases of a run. Seconds are summed over threads, ranks and the counted runs. */
typedef enum hessian_phase {
  PHASE_WORK, /* production: the work that --work adds */
  /* sorting of indices by owner, and packing of the columns of G in that order (the binning of
   * French et al.) */
  PHASE_SPLIT,
  /* computation of G^T G; if blocks are given, extraction of the part for each owner */
  PHASE_PRODUCT,
  PHASE_ADD,      /* addition of updates to the memory of the node */
  PHASE_TRANSFER, /* transfers of updates to other nodes */
  PHASE_WAIT,     /* time spent in the commit */
  HESSIAN_PHASES
} hessian_phase;

/* One of OSLA's accumulators, with its statistics. */
typedef struct hessian_accumulator {
  struct hessian_data *data;
  bool node_sums, exact;
  osla_hessian *hessian;
  /* unit of fixed-point numbers, to which each contribution is rounded; 0: floating point */
  double unit;
  int runs;                     /* number of runs so far; the first run is the warm-up */
  double commit_seconds;        /* seconds of the commit of the latest run, without sending */
  double phase[HESSIAN_PHASES]; /* seconds of each phase, summed over all ranks */
  double bytes_sent;            /* bytes sent to other nodes in one run, all ranks */
  double elements_sent;         /* elements sent to other nodes in one run, all ranks */
  /* seconds spent on adding updates that came from other nodes; the phases include them */
  double apply;
} hessian_accumulator;

/* Window of the reference implementation `mpi-accumulate`. */
typedef struct hessian_window {
  MPI_Win win;
  void *base;   /* this rank's part of the matrix, column-major */
  size_t bytes; /* size of this rank's part in bytes, rounded up to whole pages */
  bool is_open; /* true if the window exists */
} hessian_window;

typedef struct hessian_data {
  bench_job *job;
  int64_t n;
  updates updates;
  char *products; /* memory of each thread for G^T G or for some of the columns of G^T G */
  size_t products_each;
  hessian_accumulator plain, exact, node;
  hessian_accumulator *current; /* the accumulator of the current run */
  /* seconds that this rank's threads spent on --work in the current run; guarded by the critical
   * section of hessian_each */
  double work_seconds;
  char *own; /* packed triangles, one for each thread */
  hessian_window window;
  osla_ga_hessian *ga; /* accumulator of the reference implementation `ga` */
  int ga_array;        /* GA's handle of the accumulator's array; 0 if there is no array */
  double values[UPDATES_SAMPLES];
} hessian_data;

/* Type of a function that adds update k of this rank on one of the rank's threads. */
typedef osla_err hessian_work(hessian_data *d, int64_t k, int thread);

/* Distributes this rank's updates over its threads. For each update a thread does the work of
 * --work, then calls `work`. Local. */
osla_err hessian_each(hessian_data *d, hessian_work *work);

/* Some consecutive columns of the block that an update adds; only rows in the triangle are valid.
 */
typedef struct hessian_strip {
  int64_t column, columns;
  const void *values; /* element (a, column + c) of the block is at a + c * count */
} hessian_strip;

/* Computes the block of update k, and calls `consume` for its columns. If the update is given as a
 * factor G, computes a few columns of G^T G at a time, in memory of this thread, and calls
 * `consume` each time. If the update is given as a block, calls `consume` once for the whole block.
 * If `consume` is NULL, only computes. Local. */
typedef void hessian_consume(hessian_data *d, int64_t k, int thread, const hessian_strip *strip);
osla_err hessian_strips(hessian_data *d, int64_t k, int thread, hessian_consume *consume);

/* Computes the triangle of update k's block, count x count. Local. */
osla_err hessian_block(hessian_data *d, int64_t k, int thread, const void **block);

/* Allocates memory for the products of all threads: a few columns for each thread, or if `whole` a
 * whole block. Collective. */
osla_err hessian_products_create(hessian_data *d, bool whole);
void hessian_products_free(hessian_data *d);

/* Rows [*begin, *end) of column b of a count x count block that are in the triangle. */
static inline void hessian_rows(osla_uplo uplo, int64_t count, int64_t b, int64_t *begin,
                                int64_t *end)
{
  *begin = uplo == OSLA_LOWER ? b : 0;
  *end = uplo == OSLA_LOWER ? count : b + 1;
}

/* Range of rows that a product computes for columns [column, column + columns) of the triangle. */
static inline void hessian_strip_rows(osla_uplo uplo, int64_t count, int64_t column,
                                      int64_t columns, int64_t *begin, int64_t *end)
{
  *begin = uplo == OSLA_LOWER ? column : 0;
  *end = uplo == OSLA_LOWER ? count : column + columns;
}

/* Implementation by OSLA (hessian_osla.c), which borrows `accumulator`. Local. */
bench_impl hessian_accumulator_impl(hessian_accumulator *accumulator);
/* implementation `produce`: only the production of updates (hessian_produce.c) */
extern const bench_impl hessian_produce;
/* implementations `blas` and `allreduce`: a packed triangle for each thread (hessian_own.c) */
extern const bench_impl hessian_blas, hessian_allreduce;
/* implementation `mpi-accumulate`: plain MPI-3 (hessian_accumulate.c) */
extern const bench_impl hessian_mpi_accumulate;
/* implementation `ga`: Global Arrays (hessian_ga.c) */
extern const bench_impl hessian_ga;

#endif
