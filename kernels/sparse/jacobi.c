/* Jacobi and block-Jacobi: the inverse of blocks on the diagonal, factored once. Saad (2003),
 * section 10.2 and 12.2. No communication when it is applied. */
#include "csr.h"
#include "osla_krylov.h"

#include <inttypes.h>
#include <stdlib.h>

#include "osla_blas.h"

struct osla_jacobi {
  int64_t n, block;
  double *factor; /* [n * block] lower triangles by columns, block by block; block = 1: inverses */
};

static int64_t size_of(const osla_jacobi *j, int64_t from)
{
  return j->n - from < j->block ? j->n - from : j->block;
}

static osla_err invert_diagonal(const osla_csr *a, int64_t first_row, double shift, osla_jacobi *j)
{
  OSLA_CALL(osla_csr_diagonal(a, j->factor));
  for (int64_t i = 0; i < j->n; i++) {
    j->factor[i] += shift;
    OSLA_CHECK(j->factor[i] > 0.0, OSLA_ERR_ARG,
               "Jacobi: element %g of row %" PRId64 " on the diagonal is not positive",
               j->factor[i], first_row + i);
    j->factor[i] = 1.0 / j->factor[i];
  }
  return OSLA_OK;
}

/* The block of rows from .. from + n - 1, its lower triangle. */
static void copy_block(const osla_csr *a, int64_t from, int64_t n, double shift, double *to)
{
  for (int64_t i = 0; i < n; i++) {
    for (int64_t e = a->own.first[from + i]; e < a->own.first[from + i + 1]; e++) {
      const int64_t column = a->own.column[e] - from;
      if (column >= 0 && column <= i) to[i + column * n] = a->own.value[e];
    }
    to[i + i * n] += shift;
  }
}

static osla_err factor_blocks(const osla_csr *a, int64_t first_row, double shift, osla_jacobi *j)
{
  for (int64_t from = 0; from < j->n; from += j->block) {
    const int64_t n = size_of(j, from);
    double *block = j->factor + from * j->block;
    int64_t info;
    copy_block(a, from, n, shift, block);
    OSLA_CALL(osla_lapack_potrf(OSLA_DOUBLE, OSLA_LOWER, n, block, n, &info));
    OSLA_CHECK(info == 0, OSLA_ERR_ARG,
               "block-Jacobi: the block of rows %" PRId64 " to %" PRId64
               " is not positive definite (leading minor %" PRId64 ")",
               first_row + from, first_row + from + n - 1, info);
  }
  return OSLA_OK;
}

static osla_err make(const osla_csr *a, int64_t block, double shift, osla_jacobi *j)
{
  const int rank = osla_transport_rank(a->t);
  const int64_t first_row = a->row_start[rank];
  OSLA_CHECK(a->rows == a->columns && first_row == a->column_start[rank], OSLA_ERR_ARG,
             "Jacobi: rows and columns are dealt in different blocks");
  OSLA_CHECK(block >= 1, OSLA_ERR_ARG, "Jacobi: blocks of %" PRId64 " rows", block);
  j->n = a->rows;
  j->block = block < j->n || j->n == 0 ? block : j->n;
  OSLA_CHECK((uint64_t)j->block <= SIZE_MAX / sizeof(double) / ((uint64_t)j->n + 1), OSLA_ERR_MEM,
             "Jacobi: blocks of %" PRId64 " rows", block);
  j->factor = calloc((size_t)j->n * (size_t)j->block + 1, sizeof *j->factor);
  OSLA_CHECK(j->factor, OSLA_ERR_MEM, "Jacobi: blocks of %" PRId64 " rows of %" PRId64, j->block,
             j->n);
  return j->block == 1 ? invert_diagonal(a, first_row, shift, j)
                       : factor_blocks(a, first_row, shift, j);
}

osla_err osla_jacobi_create(osla_csr *a, int64_t block, double shift, osla_jacobi **out)
{
  *out = NULL;
  osla_jacobi *j = calloc(1, sizeof *j);
  osla_err err = j ? make(a, block, shift, j) : osla_error_set(OSLA_ERR_MEM, "Jacobi object");
  err = osla_agree(a->t, err);
  if (err == OSLA_OK)
    *out = j;
  else
    osla_jacobi_destroy(&j);
  return err;
}

void osla_jacobi_destroy(osla_jacobi **jacobi)
{
  if (!*jacobi) return;
  free((*jacobi)->factor);
  free(*jacobi);
  *jacobi = NULL;
}

static osla_err apply(void *arg, const double *r, double *z)
{
  const osla_jacobi *j = arg;
  if (j->block == 1) {
    for (int64_t i = 0; i < j->n; i++)
      z[i] = j->factor[i] * r[i];
    return OSLA_OK;
  }
  for (int64_t i = 0; i < j->n; i++)
    z[i] = r[i];
  for (int64_t from = 0; from < j->n; from += j->block) {
    const int64_t n = size_of(j, from);
    const double *block = j->factor + from * j->block;
    OSLA_CALL(osla_blas_trsm(OSLA_DOUBLE, OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, n, 1,
                             block, n, z + from, n));
    OSLA_CALL(osla_blas_trsm(OSLA_DOUBLE, OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, OSLA_NONUNIT, n, 1,
                             block, n, z + from, n));
  }
  return OSLA_OK;
}

osla_preconditioner osla_jacobi_use(const osla_jacobi *jacobi)
{
  return (osla_preconditioner){.apply = apply, .arg = (void *)(uintptr_t)jacobi};
}
