/* Private state of sparse matrices (osla_sparse.h is public). */
#ifndef CSR_H
#define CSR_H

#include "osla_sparse.h"
#include "osla_sparse_device.h"
#include "src/device/device.h"

/* Compressed rows: row i has the entries first[i] .. first[i + 1] - 1, in ascending order of their
 * columns. */
typedef struct csr_part {
  int64_t n; /* number of rows */
  int64_t *first;
  int32_t *column;
  double *value;
} csr_part;

typedef struct csr_device csr_device;

struct osla_csr {
  osla_transport *t;
  csr_device *device; /* copy of this rank's rows on a device; NULL: there is none */
  /* [size + 1] row_start: index of the first row of each rank; column_start: index of the first
   * column of each rank */
  int64_t *row_start, *column_start;
  int64_t rows, columns; /* numbers of rows and of columns on this rank */
  csr_part own; /* diagonal block: entries in this rank's columns, which are numbered from 0 */
  /* entries in ghost columns, with the number of the ghost as column; only rows that have such
   * entries */
  csr_part other;
  int32_t *other_row; /* [other.n] local index of each row in `other`, ascending */
  int64_t n_ghosts;
  int64_t *ghost_column; /* [n_ghosts] global column of each ghost, ascending */
  osla_forest *forest;   /* star forest: leaf j is ghost j, roots are this rank's columns */
  double *ghost;         /* [n_ghosts] values of the ghosts; ranks of the node can read them */
};

/* ---- csr_device.c ---- */

/* The device with the copy of a matrix; NULL: there is none. Local. */
device_queue *osli_csr_queue(const osla_csr *matrix);

/* Queues y := A x + beta y with the copy of the matrix on its device, where x and y lie. Collective
 * like osla_spmv. Errors of queued work are reported by the next osli_device_settle. */
osla_err osli_csr_multiply_on_device(osla_csr *matrix, const double *x, double beta, double *y);

/* Frees the copy on the device. osli_csr_device_free_shared is collective and comes first. Errors:
 * as osla_vertices_free. */
osla_err osli_csr_device_free_shared(osla_csr *matrix);
void osli_csr_device_free(osla_csr *matrix);

/* ---- spmv.c ---- */

/* As osla_spmv, but a product on a device may be queued when the call returns. */
osla_err osli_spmv_queue(osla_trans op, osla_csr *matrix, const double *x, double beta, double *y);

/* ---- fetched_rows.c ---- */

/* Compressed rows in the form that osla_csr_create takes; the columns of a row ascend. */
typedef struct fetched_rows {
  int64_t n, *first, *column;
  double *value;
} fetched_rows;

/* Fetches n rows, given by their global indices in any order, from their owners. Collective.
 * Errors, on all ranks together: ARG (an index is negative, or not less than the number of rows of
 * the matrix), MEM, MPI, and the errors of osla_forest_create_global. */
osla_err osli_fetch_rows(osla_csr *matrix, int64_t n, const int64_t *row, fetched_rows *out);
void osli_fetched_rows_free(fetched_rows *rows);

#endif
