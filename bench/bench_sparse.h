/* Cases spmv and cg of star forests: products with a sparse matrix, and CG. README.md lists the
 * files. */
#ifndef OSLA_BENCH_SPARSE_H
#define OSLA_BENCH_SPARSE_H

#include "bench/bench_forest.h"
#include "osla_krylov.h"

/* Compressed rows of a matrix. row: numbers of the stored rows; NULL if all rows are stored. */
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
  osla_csr *on_device; /* copy of the matrix `a` on the device; NULL without --device */
  int64_t rows, all_rows, all_entries;
  sparse_rows own, /* matrix entries in columns of this rank */
    other;         /* matrix entries in ghost columns */
  int64_t n_ghosts;
  int64_t *ghost;     /* [n_ghosts] global columns of the ghosts, ascending */
  forest_list needed; /* ghosts of this rank, sorted by the ranks that own them */
  forest_list asked;  /* this rank's rows that are ghosts on other ranks, sorted by these ranks */
} sparse_problem;

/* Renumbers the vertices of a graph such that the vertices of each rank are neighbours. number:
 * new number of each vertex. start: first number of each rank. All rows of the graph are on rank
 * 0. Collective. Errors, on all ranks together: UNSUPPORTED, MEM. */
osla_err sparse_partition(bench_job *job, const osla_csr *whole, int64_t *number, int64_t *start);

/* Creates a matrix of about n rows, or reads the matrix file of --matrix. Collective. Errors, on
 * all ranks together: MEM, and those of the readers of files. */
osla_err sparse_problem_create(bench_job *job, forest_case which, int64_t n, sparse_problem *p);
void sparse_problem_free(sparse_problem *p);

struct sparse_method;

/* State of one implementation of a case, with vectors. */
typedef struct sparse_data {
  const sparse_problem *problem;
  /* functions of a reference implementation; NULL for OSLA's own product and CG */
  const struct sparse_method *method;
  /* [rows] input and result of a product; in CG the solution and the right-hand side */
  double *x, *y;
  double *r, *p, *ap;  /* [rows] vectors of CG */
  double *ghosts;      /* [n_ghosts] values of the ghosts */
  bool is_on_device;   /* true if the matrix and the vectors of the runs lie on the device */
  double *x_on,        /* [rows] copy of x on the device; NULL if is_on_device is false */
    *y_on;             /* [rows] copy of y on the device; NULL if is_on_device is false */
  int64_t check_every; /* value of osla_krylov_options.check_every */
  int iterations;      /* number of products or iterations in a run */
  double residual;     /* norm of the residual according to CG's recurrence */
  void *own;
} sparse_data;

/* Functions of an implementation: an exchange of ghosts in two steps, and a sum over ranks. All are
 * collective. */
typedef struct sparse_method {
  osla_err (*create)(sparse_data *d);
  osla_err (*begin)(sparse_data *d, const double *x);
  osla_err (*end)(sparse_data *d); /* completes the exchange: d->ghosts holds the ghosts */
  osla_err (*sum)(double *value);
  void (*destroy)(sparse_data *d);
} sparse_method;

/* The implementation sparse_loop exchanges no ghosts. */
extern const sparse_method sparse_mpi, sparse_neighbor, sparse_loop;

/* Runs a case, spmv or cg. Collective. */
osla_err bench_sparse_case(bench_job *job, forest_case which, int64_t n);

#endif
