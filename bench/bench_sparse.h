/* Products with a sparse matrix and CG: the cases spmv and cg of star forests (floor 4).
 *
 *   bench_sparse.c      the cases, runs, checks; ours
 *   sparse_problem.c    the matrix, and its rows as a program without a library would keep them
 *   sparse_partition.c  the rows of a file, partitioned so that few neighbours are on other ranks
 *   sparse_exchange.c   how such a program brings the ghosts and adds up
 */
#ifndef OSLA_BENCH_SPARSE_H
#define OSLA_BENCH_SPARSE_H

#include "bench/bench_forest.h"
#include "osla_krylov.h"

/* Rows compressed; row: which ones these are, NULL: all. */
typedef struct sparse_rows {
  int64_t n;
  int32_t *row;
  int64_t *first;
  int32_t *column;
  double *value;
} sparse_rows;

typedef struct sparse_problem {
  bench_job *job;
  forest_case which;
  osla_csr *a;
  int64_t rows, all_rows, all_entries;
  sparse_rows own, other; /* columns of mine; ghosts */
  int64_t n_ghosts;
  int64_t *ghost;     /* [n_ghosts] their global columns, ascending */
  forest_list needed; /* ghosts, by the ranks that have them */
  forest_list asked;  /* of my rows, by the ranks that have them as ghosts */
} sparse_problem;

/* Numbers of all vertices by which each rank's are close together, and their blocks. The graph has
 * all its rows on rank 0. Collective. Errors, on all ranks together: UNSUPPORTED, MEM. */
osla_err sparse_partition(bench_job *job, const osla_csr *whole, int64_t *number, int64_t *start);

/* A matrix of about n rows, or of the file of --matrix. Collective. Errors, on all ranks together:
 * those of the readers, MEM. */
osla_err sparse_problem_create(bench_job *job, forest_case which, int64_t n, sparse_problem *p);
void sparse_problem_free(sparse_problem *p);

struct sparse_way;

/* One implementation with its vectors. */
typedef struct sparse_data {
  const sparse_problem *problem;
  const struct sparse_way *way; /* NULL: ours */
  double *x, *y;                /* [rows]; of CG the solution and the right-hand side */
  double *r, *p, *ap;           /* [rows] of CG */
  double *ghosts;               /* [n_ghosts] */
  int iterations;               /* of a run */
  double residual;              /* of CG, as its recurrence has it */
  void *own;
} sparse_data;

/* How the ghosts come, in two steps, and how sums are formed. All are collective. */
typedef struct sparse_way {
  osla_err (*create)(sparse_data *d);
  osla_err (*begin)(sparse_data *d, const double *x);
  osla_err (*end)(sparse_data *d); /* into d->ghosts */
  osla_err (*sum)(double *value);
  void (*destroy)(sparse_data *d);
} sparse_way;

extern const sparse_way sparse_mpi, sparse_neighbor, sparse_loop; /* loop: nothing comes */

/* The cases spmv and cg of the kernel `forest`. Collective. */
osla_err bench_sparse_case(bench_job *job, forest_case which, int64_t n);

#endif
