/* Sparse matrices for tests: every rank computes the whole matrix from a seed, with small integers
 * as values (so sums are exact in any order), and products by a plain loop. */
#ifndef SPARSE_MODEL_H
#define SPARSE_MODEL_H

#include "osla_sparse.h"
#include "tests/osla_test_help.h"

typedef enum sparse_kind {
  SPARSE_RANDOM,   /* entries anywhere in any order, some repeated; some rows are empty */
  SPARSE_GRID,     /* five-point stencil on a square grid: symmetric positive definite */
  SPARSE_DIAGONAL, /* no ghosts */
  SPARSE_ARROW,    /* first row, first column and diagonal */
  SPARSE_EMPTY,    /* no entries */
  SPARSE_KINDS
} sparse_kind;

typedef struct sparse_model {
  int64_t m, n;
  int64_t *row_start, *column_start; /* [ranks + 1] uneven blocks; some ranks have none */
  int64_t *first, *column;           /* compressed rows of the whole matrix */
  double *value;
} sparse_model;

/* Makes an m x n matrix; square kinds use m for both, GRID the next square number. `even`: blocks
 * of osla_even_blocks. */
sparse_model sparse_model_make(sparse_kind kind, int64_t m, int64_t n, bool even);
void sparse_model_free(sparse_model *model);

/* Creates the library's matrix from this rank's rows. Collective; ends all ranks on failure. */
osla_csr *sparse_model_matrix(osla_transport *t, const sparse_model *model);

/* Computes y := op(A) x + beta y with the whole matrix and whole vectors. */
void sparse_model_multiply(const sparse_model *model, osla_trans op, const double *x, double beta,
                           double *y);

/* Returns a whole vector of small integers; the caller frees it. */
double *sparse_model_vector(int64_t n, uint64_t seed);

#endif
