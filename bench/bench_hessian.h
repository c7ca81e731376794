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
  const char *name, /* name of the accumulator in the tables */
    *ref;           /* name of the accumulator in the option --ref */
  bool node_sums, exact, wrapped, on_ga;
  bool triangle; /* true: H is stored as a triangle, in about half the memory */
  osla_hessian *hessian;
  /* matrix in the memory of this rank; NULL if the accumulator has a matrix of its own */
  osla_matrix *matrix;
  void *memory;
  osla_ga_hessian *on_array; /* NULL unless H is a Global Array */
  int array;                 /* GA's handle of H; 0 unless H is a Global Array */
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

/* Window of a reference implementation `mpi-accumulate-...`. */
typedef struct hessian_window {
  struct hessian_data *data;
  /* true: each accumulate is between an exclusive MPI_Win_lock and MPI_Win_unlock; false: all
   * accumulates are in one epoch of MPI_Win_lock_all, and each is followed by a local flush */
  bool locks;
  MPI_Win win;
  void *base;   /* this rank's part of the matrix, column-major */
  size_t bytes; /* size of this rank's part in bytes, rounded up to whole pages */
  bool is_open; /* true if the window exists */
} hessian_window;

/* Calls by which a reference implementation `ga-...` adds an update. */
typedef enum hessian_ga_way {
  HESSIAN_GA_SCATTER, /* NGA_Scatter_acc_flat64 of single elements */
  HESSIAN_GA_PATCH,   /* NGA_NbAcc64 of patches of consecutive rows and columns */
  HESSIAN_GA_VECTOR   /* ARMCI_NbAccV of segments of consecutive rows, for each owner */
} hessian_ga_way;

/* Array and buffers of a reference implementation `ga-...` (hessian_ga.c). */
typedef struct hessian_ga {
  struct hessian_data *data;
  hessian_ga_way way;
  int array; /* GA's handle; 0 if there is no array */
  struct hessian_ga_buffers *buffers;
} hessian_ga;

typedef struct hessian_data {
  bench_job *job;
  int64_t n;
  updates updates;
  char *products; /* memory of each thread for G^T G or for some of the columns of G^T G */
  size_t products_each;
  hessian_accumulator plain, exact, triangle, node, wrapped, staged, on_ga;
  hessian_accumulator *current; /* the accumulator of the current run */
  /* seconds that this rank's threads spent on --work in the current run; guarded by the critical
   * section of hessian_each */
  double work_seconds;
  char *own;       /* packed triangles, one for each thread */
  int64_t counted; /* number of updates that hessian_each makes on this rank */
  hessian_window lock, flush;
  const hessian_window *window; /* window of the current run */
  hessian_ga ga[3];
  hessian_ga *current_ga; /* array of the current run */
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
  *end = uplo == OSLA_UPPER ? b + 1 : count;
}

/* Range of rows that a product computes for columns [column, column + columns) of the triangle. */
static inline void hessian_strip_rows(osla_uplo uplo, int64_t count, int64_t column,
                                      int64_t columns, int64_t *begin, int64_t *end)
{
  *begin = uplo == OSLA_LOWER ? column : 0;
  *end = uplo == OSLA_UPPER ? column + columns : count;
}

/* Implementation by OSLA (hessian_osla.c), which borrows `accumulator`. Local. */
bench_impl hessian_accumulator_impl(hessian_accumulator *accumulator);
/* Create an accumulator on a Global Array with the job's grid and block size, commit, and destroy
 * it with the array (hessian_on_ga.c). Collective. */
osla_err hessian_on_ga_create(hessian_accumulator *a, const osla_hessian_options *options);
osla_err hessian_on_ga_commit(hessian_accumulator *a);
void hessian_on_ga_destroy(hessian_accumulator *a);
/* implementation `produce`: only the production of updates (hessian_produce.c) */
extern const bench_impl hessian_produce;
/* implementations `blas` and `allreduce`: a packed triangle for each thread (hessian_own.c) */
extern const bench_impl hessian_blas, hessian_allreduce;
/* Implementations of the group `mpi-accumulate`: plain MPI-3 (hessian_accumulate.c). Local. */
bench_impl hessian_window_impl(hessian_window *window);
/* Implementations of the group `ga`: Global Arrays (hessian_ga.c). Local. */
bench_impl hessian_ga_impl(hessian_ga *ga);

#endif
