/* Fetches rows of a sparse matrix from other ranks (private). */
#ifndef FETCHED_ROWS_H
#define FETCHED_ROWS_H

#include "kernels/sparse/csr.h"

/* Compressed rows in the form that osla_csr_create takes; the columns of a row ascend. */
typedef struct fetched_rows {
  int64_t n, *first, *column;
  double *value;
} fetched_rows;

/* Fetches n rows, given by their global indices in any order, from their owners. Collective.
 * Errors, on all ranks together: ARG (no row has this index), MEM, MPI; those of
 * osla_forest_create_global. */
osla_err osli_fetch_rows(osla_csr *matrix, int64_t n, const int64_t *row, fetched_rows *out);
void osli_fetched_rows_free(fetched_rows *rows);

#endif
