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

/* Data with which the values of a product of sparse matrices can be computed again (product.h). */
typedef struct csr_plan csr_plan;

/* Destroys a plan. Accepts NULL. Collective. Errors, on all ranks together: STATE (a transfer of
 * any forest of the transport is in flight; the plan remains valid). */
typedef osla_err csr_plan_destroy(osla_transport *transport, csr_plan **plan);

/* Identity of the pattern of a matrix. A plan recognises the factors of a product by the
 * addresses of their patterns. The plan shares the ownership of these patterns, so that no new
 * matrix can get the address of a destroyed factor's pattern. */
typedef struct csr_pattern {
  int users; /* number of owners: the matrix, and plans of products of the matrix */
} csr_pattern;

struct osla_csr {
  osla_transport *t;
  csr_device *device;    /* copy of this rank's rows on a device; NULL if there is no copy */
  int64_t *row_start;    /* [size + 1] index of the first row of each rank */
  int64_t *column_start; /* [size + 1] index of the first column of each rank */
  int64_t rows;          /* number of rows on this rank */
  int64_t columns;       /* number of columns on this rank */
  csr_part own; /* diagonal block: entries in this rank's columns, which are numbered from 0 */
  /* entries in ghost columns, with the number of the ghost as column; only rows that have such
   * entries */
  csr_part other;
  int32_t *other_row; /* [other.n] local index of each row in `other`, ascending */
  int64_t n_ghosts;
  int64_t *ghost_column; /* [n_ghosts] global column of each ghost, ascending */
  osla_forest *forest;   /* star forest: leaf j is ghost j, roots are this rank's columns */
  double *ghost;         /* [n_ghosts] values of the ghosts; ranks of the node can read them */
  csr_pattern *pattern;
  csr_plan *plan;                 /* NULL if the matrix is not a product */
  csr_plan_destroy *plan_destroy; /* function that destroys `plan` */
};

/* ---- csr.c ---- */

/* Creates a matrix from its two parts (see struct osla_csr: `own` and `other`) and the global
 * columns of its ghosts in ascending order. The call takes over the lists to which the parts,
 * other_row and ghost_column point: they then belong to the matrix, or are freed after an error.
 * Collective. Errors, on all ranks together: MEM, MPI, and the errors of
 * osla_forest_create_global. */
osla_err osli_csr_from_parts(osla_transport *transport, const int64_t *row_start,
                             const int64_t *column_start, const csr_part *own,
                             const csr_part *other, int32_t *other_row, int64_t n_ghosts,
                             int64_t *ghost_column, osla_csr **out);

/* Frees the lists to which the members of a part point. Local. */
void osli_csr_part_free(csr_part *part);

/* Ends one ownership of a pattern; the last owner frees it. Accepts NULL. Local. */
void osli_csr_pattern_release(csr_pattern *pattern);

/* ---- csr_device.c ---- */

/* Returns the device that has a copy of the matrix, or NULL if there is no copy. Local. */
device_queue *osli_csr_queue(const osla_csr *matrix);

/* Checks that this rank can access the n numbers of a vector, and that they lie on a device, or in
 * host memory if `queue` is NULL. A vector of 0 numbers may lie anywhere. Error texts call the
 * vector `what`, and say that `other` lies on the device. Local. Errors: ARG. */
osla_err osli_csr_check_vector(const double *vector, int64_t n, const char *what,
                               const device_queue *queue, const char *other);

/* Queues y := A x + beta y on the device of the matrix, where x and y lie. Collective like
 * osla_spmv. The next osli_device_settle reports errors of the queued work. */
osla_err osli_csr_multiply_on_device(osla_csr *matrix, const double *x, double beta, double *y);

/* Frees the copy of the matrix on the device. Local. */
void osli_csr_device_free(osla_csr *matrix);

/* ---- spmv.c ---- */

/* Checks the arguments of osla_spmv and computes what osla_spmv computes, but a product on a device
 * may still be queued when the call returns. */
osla_err osli_spmv_queue(osla_trans op, osla_csr *matrix, const double *x, double beta, double *y);

/* Charge the simulated time of gather_rows and of add_rows (spmv_rows.h) for this number of rows
 * and entries. Local. */
void osli_spmv_charge_own(int64_t rows, int64_t entries);
void osli_spmv_charge_other(int64_t rows, int64_t entries);

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
