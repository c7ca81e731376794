/* What the tests of sparse matrices share: matrices that every rank computes whole from a seed,
 * with small integers as values (sums are exact in any order), and products by a plain loop. */
#ifndef SPARSE_MODEL_H
#define SPARSE_MODEL_H

#include "osla_sparse.h"
#include "tests/osla_test_help.h"

typedef enum sparse_kind {
  SPARSE_RANDOM,   /* entries anywhere, in no order, some twice; some rows are empty */
  SPARSE_GRID,     /* a square grid's five points: symmetric, positive definite */
  SPARSE_DIAGONAL, /* no ghosts */
  SPARSE_ARROW,    /* first row, first column and diagonal */
  SPARSE_EMPTY,    /* no entries */
  SPARSE_KINDS
} sparse_kind;

typedef struct sparse_model {
  int64_t m, n;
  int64_t *row_start, *column_start; /* [ranks + 1]: uneven, some ranks have none */
  int64_t *first, *column;           /* all rows */
  double *value;
} sparse_model;

/* m x n; the square kinds take m for both, GRID the next square number. `even`: blocks of
 * osla_even_blocks. */
sparse_model sparse_model_make(sparse_kind kind, int64_t m, int64_t n, bool even);
void sparse_model_free(sparse_model *model);

/* The library's matrix of this rank's rows. Collective; ends all ranks on failure. */
osla_csr *sparse_model_matrix(osla_transport *t, const sparse_model *model);

/* y := op(A) x + beta y of the whole matrix and whole vectors. */
void sparse_model_multiply(const sparse_model *model, osla_trans op, const double *x, double beta,
                           double *y);

/* A whole vector of small integers. The caller frees it. */
double *sparse_model_vector(int64_t n, uint64_t seed);

#endif
