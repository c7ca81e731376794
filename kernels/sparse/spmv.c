/* Products of a sparse matrix with a vector.
 *
 * y := A x: a broadcast of x to the ghosts begins; the diagonal block is multiplied while the
 * values are in flight; then the rows with ghosts are multiplied. y := A^T x: contributions to
 * other ranks' columns are summed in the ghosts, and reduced to the owners in the order of ranks
 * (Zhang et al. 2022, section 4.1). Each rank of another node that has ghosts of this rank's
 * columns gets one message; ranks of the same node read x directly. */
#include "kernels/sparse/csr.h"
#include "kernels/sparse/spmv_rows.h"
#include "src/blas/work.h"

#include <string.h>

/* Charges the bytes of a product with the own columns: the entries, 12 bytes each, `first` and x
 * are read, and y is written. */
void osli_spmv_charge_own(int64_t rows, int64_t entries)
{
  work_charge_memory(12.0 * (double)entries + 32.0 * (double)rows);
}

/* Charges the bytes of a product with the ghost columns: the entries, 12 bytes each, a ghost for
 * each entry, `first` and the row numbers are read, and y is changed. */
void osli_spmv_charge_other(int64_t rows, int64_t entries)
{
  work_charge_memory(20.0 * (double)entries + 28.0 * (double)rows);
}

static void gather_ghosts(const osla_csr *a, double *restrict y)
{
  const csr_part *p = &a->other;
  add_rows(p->n, a->other_row, p->first, p->column, p->value, a->ghost, y);
  osli_spmv_charge_other(p->n, p->first[p->n]);
}

static osla_err multiply(osla_csr *a, const double *x, double beta, double *y)
{
  osla_forest_run run;
  OSLA_CALL(osla_forest_bcast_begin(a->forest, OSLA_ONE_DOUBLE, x, a->ghost, OSLA_REPLACE, &run));
  gather_rows(a->own.n, a->own.first, a->own.column, a->own.value, x, beta, y);
  osli_spmv_charge_own(a->own.n, a->own.first[a->own.n]);
  OSLA_CALL(osla_forest_end_read(&run));
  gather_ghosts(a, y);
  /* this call usually does not wait, because the other ranks have read x meanwhile */
  return osla_forest_writable(a->forest);
}

/* Computes y := y + A^T x for the rows of a part. row[i] is the index in x of row i; if `row` is
 * NULL, row i has index i. */
static void scatter_rows(const csr_part *a, const int32_t *row, const double *restrict x,
                         double *restrict y)
{
  for (int64_t i = 0; i < a->n; i++) {
    const double factor = x[row ? row[i] : i];
    for (int64_t e = a->first[i]; e < a->first[i + 1]; e++)
      y[a->column[e]] += a->value[e] * factor;
  }
}

static osla_err multiply_transposed(osla_csr *a, const double *x, double beta, double *y)
{
  for (int64_t j = 0; beta != 1.0 && j < a->columns; j++)
    y[j] = beta == 0.0 ? 0.0 : beta * y[j];
  memset(a->ghost, 0, (size_t)a->n_ghosts * sizeof *a->ghost);
  scatter_rows(&a->other, a->other_row, x, a->ghost);
  scatter_rows(&a->own, NULL, x, y);
  return osla_forest_reduce(a->forest, OSLA_ONE_DOUBLE, a->ghost, y, OSLA_SUM);
}

/* Checks that the matrix, x and y lie in host memory or all on one device. A vector without
 * elements on this rank may lie anywhere. */
static osla_err check_memory(osla_trans op, const osla_csr *a, const double *x, const double *y)
{
  const bool plain = op == OSLA_NOTRANS;
  const device_queue *q = osli_csr_queue(a);
  OSLA_CALL(
    osli_csr_check_vector(x, plain ? a->columns : a->rows, "osla_spmv: x", q, "the matrix"));
  OSLA_CALL(
    osli_csr_check_vector(y, plain ? a->rows : a->columns, "osla_spmv: y", q, "the matrix"));
  return q && !plain ? osli_device_refuse("osla_spmv with a transposed matrix") : OSLA_OK;
}

osla_err osli_spmv_queue(osla_trans op, osla_csr *a, const double *x, double beta, double *y)
{
  if (osli_device_any()) OSLA_CALL(check_memory(op, a, x, y));
  if (a->device) return osli_csr_multiply_on_device(a, x, beta, y);
  return op == OSLA_NOTRANS ? multiply(a, x, beta, y) : multiply_transposed(a, x, beta, y);
}

osla_err osla_spmv(osla_trans op, osla_csr *a, const double *x, double beta, double *y)
{
  OSLA_CALL(osli_spmv_queue(op, a, x, beta, y));
  return a->device ? osli_device_settle(SETTLE_COLLECTIVE) : OSLA_OK;
}
