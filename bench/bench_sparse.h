/* Cases spmv and cg of star forests: products with a sparse matrix, and CG (floor 4). README.md
 * lists the files. */
#ifndef OSLA_BENCH_SPARSE_H
#define OSLA_BENCH_SPARSE_H

#include "bench/bench_forest.h"
#include "osla_krylov.h"

/* Compressed rows. row: numbers of the stored rows; NULL: all rows. */
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
  sparse_rows own, other; /* entries in columns of this rank; entries in ghost columns */
  int64_t n_ghosts;
  int64_t *ghost;     /* [n_ghosts] global columns of the ghosts, ascending */
  forest_list needed; /* ghosts, by the ranks that own them */
  forest_list asked;  /* this rank's rows that are ghosts of other ranks, by those ranks */
} sparse_problem;

/* Computes new numbers of all vertices, such that each rank's are neighbours, and the first number
 * of each rank. All rows of the graph are on rank 0. Collective. Errors, on all ranks together:
 * UNSUPPORTED, MEM. */
osla_err sparse_partition(bench_job *job, const osla_csr *whole, int64_t *number, int64_t *start);

/* Creates a matrix of about n rows, or reads that of --matrix. Collective. Errors, on all ranks
 * together: those of the readers, MEM. */
osla_err sparse_problem_create(bench_job *job, forest_case which, int64_t n, sparse_problem *p);
void sparse_problem_free(sparse_problem *p);

struct sparse_method;

/* One implementation with its vectors. */
typedef struct sparse_data {
  const sparse_problem *problem;
  /* functions of a reference; NULL: OSLA's own product and CG */
  const struct sparse_method *method;
  double *x, *y;      /* [rows]; in CG the solution and the right-hand side */
  double *r, *p, *ap; /* [rows] vectors of CG */
  double *ghosts;     /* [n_ghosts] values of the ghosts */
  int iterations;     /* products or iterations of a run */
  double residual;    /* norm of CG's residual by its recurrence */
  void *own;
} sparse_data;

/* Functions of an implementation: an exchange of ghosts in two steps, and a sum over ranks. All are
 * collective. */
typedef struct sparse_method {
  osla_err (*create)(sparse_data *d);
  osla_err (*begin)(sparse_data *d, const double *x);
  osla_err (*end)(sparse_data *d); /* the ghosts are then in d->ghosts */
  osla_err (*sum)(double *value);
  void (*destroy)(sparse_data *d);
} sparse_method;

/* sparse_loop exchanges nothing */
extern const sparse_method sparse_mpi, sparse_neighbor, sparse_loop;

/* Runs a case, spmv or cg. Collective. */
osla_err bench_sparse_case(bench_job *job, forest_case which, int64_t n);

#endif
