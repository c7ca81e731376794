/* The assembly of a symmetric matrix: what its implementations share (floor 4). */
#ifndef OSLA_BENCH_HESSIAN_H
#define OSLA_BENCH_HESSIAN_H

#include "bench/bench_reference.h"
#include "bench/seeded_updates.h"
#include "osla_hessian.h"

/* Seconds of a run, all summed over threads and ranks and the runs that count. */
typedef enum hessian_phase {
  PHASE_WORK,     /* --work */
  PHASE_SPLIT,    /* of the indices by owner, columns of G in that order (the paper's binning) */
  PHASE_PRODUCT,  /* G^T G; of ready blocks, their parts by owner */
  PHASE_ADD,      /* on the node */
  PHASE_TRANSFER, /* to other nodes */
  PHASE_WAIT,     /* commit */
  HESSIAN_PHASES
} hessian_phase;

/* One of ours. */
typedef struct hessian_ours {
  struct hessian_data *data;
  bool node_sums, exact;
  osla_hessian *hessian;
  double unit;                  /* of fixed point, to which each contribution is rounded; or 0 */
  int runs;                     /* the first is the warm-up */
  double commit_seconds;        /* of this run, without sending */
  double phase[HESSIAN_PHASES]; /* on all ranks */
  double bytes_sent;            /* to other nodes, of a run */
  double elements_sent;         /* the same */
  double apply; /* seconds of adding what came from other nodes, inside the other phases */
} hessian_ours;

typedef struct hessian_data {
  bench_job *job;
  int64_t n;
  updates updates;
  char *products; /* for each thread: G^T G, or a strip of it */
  size_t products_each;
  hessian_ours plain, exact, node;
  hessian_ours *ours;  /* the one that runs */
  double work_seconds; /* of this rank's threads in this run; under the lock of `each` */
  char *own;           /* packed triangles, one for each thread */
  reference_accumulate accumulate;
  reference_scatter scatter;
  double values[UPDATES_SAMPLES];
} hessian_data;

/* Does update k of this rank on one of its threads. */
typedef osla_err hessian_work(hessian_data *d, int64_t k, int thread);

/* Calls work for each update of this rank, after the work that makes it (--work), shared out
 * between its threads. Local. */
osla_err hessian_each(hessian_data *d, hessian_work *work);

/* Some columns of an update's block, at least their part of the triangle. */
typedef struct hessian_strip {
  int64_t column, columns;
  const void *values; /* element (a, column + c) of the block at a + c * count */
} hessian_strip;

/* Calls consume for all strips of update k: those of G^T G, one product each, are in this thread's
 * memory; a ready block is one strip. consume may be NULL. Local. */
typedef void hessian_consume(hessian_data *d, int64_t k, int thread, const hessian_strip *strip);
osla_err hessian_strips(hessian_data *d, int64_t k, int thread, hessian_consume *consume);

/* The triangle of update k's block, count x count. Local. */
osla_err hessian_block(hessian_data *d, int64_t k, int thread, const void **block);

/* Memory for the products of all threads, strips or (whole) blocks. Setup and teardown. */
osla_err hessian_products_create(hessian_data *d, bool whole);
void hessian_products_free(hessian_data *d);

/* Rows [*begin, *end) of column b of a count x count block that are in the triangle. */
static inline void hessian_rows(osla_uplo uplo, int64_t count, int64_t b, int64_t *begin,
                                int64_t *end)
{
  *begin = uplo == OSLA_LOWER ? b : 0;
  *end = uplo == OSLA_LOWER ? count : b + 1;
}

/* Rows that a product of columns [column, column + columns) has to have. */
static inline void hessian_strip_rows(osla_uplo uplo, int64_t count, int64_t column,
                                      int64_t columns, int64_t *begin, int64_t *end)
{
  *begin = uplo == OSLA_LOWER ? column : 0;
  *end = uplo == OSLA_LOWER ? count : column + columns;
}

/* The implementations. */
bench_impl hessian_ours_impl(hessian_ours *ours);        /* hessian_osla.c; borrows ours. Local. */
extern const bench_impl hessian_produce;                 /* hessian_produce.c */
extern const bench_impl hessian_blas, hessian_allreduce; /* hessian_own.c */
extern const bench_impl hessian_mpi_accumulate, hessian_ga; /* hessian_remote.c */

#endif
