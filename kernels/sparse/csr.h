/* Private state of sparse matrices (osla_sparse.h is public). */
#ifndef CSR_H
#define CSR_H

#include "osla_sparse.h"

/* Compressed rows: entries of row i are first[i] .. first[i + 1] - 1, in ascending columns. */
typedef struct csr_part {
  int64_t n; /* number of rows */
  int64_t *first;
  int32_t *column;
  double *value;
} csr_part;

struct osla_csr {
  osla_transport *t;
  int64_t *row_start, *column_start; /* [size + 1] first row and column of each rank */
  int64_t rows, columns;             /* number on this rank */
  csr_part own;                      /* diagonal block: entries in this rank's columns, numbered
                                      * from 0 */
  csr_part other;                    /* entries in ghost columns, numbered as ghosts; only rows that
                                      * have some */
  int32_t *other_row;                /* [other.n] local row of each row of `other`, ascending */
  int64_t n_ghosts;
  int64_t *ghost_column; /* [n_ghosts] global columns, ascending */
  osla_forest *forest;   /* leaf j is ghost j; roots are this rank's columns */
  double *ghost;         /* [n_ghosts] ghost values, readable by ranks of the node */
};

/* Comparison for qsort and bsearch: int64_t, ascending. */
int osli_csr_by_column(const void *left, const void *right);

/* Sorts columns in ascending order, removes duplicates and returns the number left. */
int64_t osli_csr_sort_columns(int64_t *column, int64_t n);

#endif
