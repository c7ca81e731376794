/* A matrix by rows: what its calls share. Not for programs (osla_sparse.h is). */
#ifndef CSR_H
#define CSR_H

#include "osla_sparse.h"

/* Rows compressed: the entries of row i are first[i] .. first[i + 1] - 1, their columns ascend. */
typedef struct csr_part {
  int64_t n; /* rows */
  int64_t *first;
  int32_t *column;
  double *value;
} csr_part;

struct osla_csr {
  osla_transport *t;
  int64_t *row_start, *column_start; /* [size + 1] */
  int64_t rows, columns;             /* mine */
  csr_part own;                      /* the diagonal part: columns from 0 */
  csr_part other;                    /* the rows that have ghosts, columns are theirs */
  int32_t *other_row;                /* [other.n] which rows these are, ascending */
  int64_t n_ghosts;
  int64_t *ghost_column; /* [n_ghosts] global, ascending */
  osla_forest *forest;   /* leaf j is ghost j; the roots are my columns */
  double *ghost;         /* [n_ghosts], read in place by neighbours */
};

/* Of qsort and bsearch: int64_t, ascending. */
int osli_csr_by_column(const void *left, const void *right);

/* Ascending, each once; returns how many are left. */
int64_t osli_csr_sort_columns(int64_t *column, int64_t n);

#endif
