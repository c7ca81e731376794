/* Sparse matrices for tests, and their products by a plain loop. Every rank computes the whole
 * matrix from a seed, with small integers as values, so that sums are exact in any order. */
#ifndef SPARSE_MODEL_H
#define SPARSE_MODEL_H

#include "osla_sparse.h"
#include "tests/osla_test_help.h"

typedef enum sparse_kind {
  SPARSE_RANDOM,   /* entries anywhere in any order, some repeated; some rows are empty */
  SPARSE_GRID,     /* five-point stencil on a square grid: symmetric positive definite */
  SPARSE_DIAGONAL, /* diagonal matrix, so that no rank needs ghosts */
  SPARSE_ARROW,    /* entries only in the first row, the first column and the diagonal */
  SPARSE_EMPTY,    /* no entries at all */
  SPARSE_KINDS
} sparse_kind;

typedef struct sparse_model {
  int64_t m, n;
  /* [ranks + 1] uneven blocks of rows and of columns; some ranks have no rows or columns */
  int64_t *row_start, *column_start;
  int64_t *first, *column; /* the whole matrix in compressed rows */
  double *value;
} sparse_model;

/* Makes a sparse matrix, m x n for SPARSE_RANDOM and SPARSE_EMPTY; the other kinds are square with
 * order m, which SPARSE_GRID raises to a square number. If `even` is true, rows are distributed by
 * osla_even_blocks. */
sparse_model sparse_model_make(sparse_kind kind, int64_t m, int64_t n, bool even);
void sparse_model_free(sparse_model *model);

/* Creates the library's sparse matrix; each rank passes its own rows. Collective; ends all ranks on
 * failure. */
osla_csr *sparse_model_matrix(osla_transport *t, const sparse_model *model);

/* Computes y := op(A) x + beta y serially, with the whole matrix and whole vectors. */
void sparse_model_multiply(const sparse_model *model, osla_trans op, const double *x, double beta,
                           double *y);

/* Returns a whole vector of small integers; the caller frees it. */
double *sparse_model_vector(int64_t n, uint64_t seed);

#endif
