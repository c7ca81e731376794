/* Products of sparse matrices on one rank: the reference implementation "loop" of the cases spmm
 * and ptap (bench_spmm.c). It is Gustavson's algorithm in its plain form: a symbolic phase lists
 * the columns of each row by means of an array of marks, and a numeric phase adds products to an
 * array of sums. The columns of a result are not sorted. All calls are local. */
#ifndef OSLA_BENCH_SPMM_LOOP_H
#define OSLA_BENCH_SPMM_LOOP_H

#include "osla_error.h"

#include <stdbool.h>
#include <stdint.h>

/* A sparse matrix in compressed rows. Row i has the entries first[i] to first[i + 1] - 1. */
typedef struct spmm_rows {
  int64_t rows, columns;
  int64_t *first;  /* [rows + 1] */
  int32_t *column; /* [first[rows]] column of each entry, from 0 */
  double *value;
} spmm_rows;

/* Creates a matrix without entries, with memory for `entries` entries. Errors: MEM. */
osla_err spmm_rows_create(int64_t rows, int64_t columns, int64_t entries, spmm_rows *out);
void spmm_rows_free(spmm_rows *rows);

/* Sets y to A x, or to A^T x if `transposed` is true. */
void spmm_rows_apply(const spmm_rows *a, bool transposed, const double *x, double *y);

typedef struct spmm_loop spmm_loop;

/* Computes the pattern and the values of A P, or of P^T A P if `ptap` is true. A and P are borrowed
 * until spmm_loop_free. Errors: MEM. */
osla_err spmm_loop_initial(const spmm_rows *a, const spmm_rows *p, bool ptap, spmm_loop **out);

/* Computes the values of the product again from the current values of A and P. The patterns of A
 * and P must not have changed. */
void spmm_loop_numeric(spmm_loop *loop);

const spmm_rows *spmm_loop_result(const spmm_loop *loop);

/* Frees a product and sets *loop to NULL. *loop may be NULL. */
void spmm_loop_free(spmm_loop **loop);

#endif
