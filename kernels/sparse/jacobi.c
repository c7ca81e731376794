/* Jacobi and block-Jacobi preconditioners: they multiply by the inverse of the diagonal, or solve
 * with diagonal blocks that are factored once (Saad 2003, sections 10.2 and 12.2). Applying them
 * needs no communication. */
#include "kernels/common/diagonal_blocks.h"
#include "kernels/sparse/csr.h"
#include "kernels/sparse/krylov.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct osla_jacobi {
  own_preconditioner own; /* must be the first member, because krylov.h casts pointers */
  double *inverse;        /* [n] inverse of the diagonal; NULL: diagonal blocks are used */
  diagonal_blocks blocks; /* factored diagonal blocks */
};

static osla_err invert_diagonal(const osla_csr *a, int64_t first_row, double shift, osla_jacobi *j)
{
  j->inverse = calloc((size_t)j->own.rows + 1, sizeof *j->inverse);
  OSLA_CHECK(j->inverse, OSLA_ERR_MEM, "Jacobi: no memory for %" PRId64 " diagonal elements",
             j->own.rows);
  OSLA_CALL(osla_csr_diagonal(a, j->inverse));
  for (int64_t i = 0; i < j->own.rows; i++) {
    j->inverse[i] += shift;
    OSLA_CHECK(j->inverse[i] > 0.0, OSLA_ERR_ARG,
               "Jacobi: diagonal element %g of row %" PRId64 " is not positive", j->inverse[i],
               first_row + i);
    OSLA_CHECK(isfinite(1.0 / j->inverse[i]), OSLA_ERR_ARG,
               "Jacobi: diagonal element %g of row %" PRId64 " is too small: its inverse "
               "overflows; multiply the system by a power of two",
               j->inverse[i], first_row + i);
    j->inverse[i] = 1.0 / j->inverse[i];
  }
  return OSLA_OK;
}

/* Copies the lower triangle of the diagonal block that has the rows from .. from + n - 1. */
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

static osla_err factor_blocks(const osla_csr *a, int64_t first_row, int64_t block, double shift,
                              osla_jacobi *j)
{
  diagonal_blocks *b = &j->blocks;
  OSLA_CALL(osli_diagonal_blocks_create("block-Jacobi", j->own.rows, block, false, b));
  for (int64_t from = 0; from < b->n; from += b->block)
    copy_block(a, from, diagonal_block_size(b, from), shift, diagonal_block_at(b, from));
  return osli_diagonal_blocks_factor("block-Jacobi", first_row, b);
}

static osla_err apply(void *arg, const double *r, double *z)
{
  const osla_jacobi *j = arg;
  if (!j->inverse) return osli_diagonal_blocks_solve(&j->blocks, r, z);
  for (int64_t i = 0; i < j->own.rows; i++)
    z[i] = j->inverse[i] * r[i];
  return OSLA_OK;
}

static osla_err make(const osla_csr *a, int64_t block, double shift, osla_jacobi *j)
{
  const int rank = osla_transport_rank(a->t);
  const int64_t first_row = a->row_start[rank];
  OSLA_CHECK(a->rows == a->columns && first_row == a->column_start[rank], OSLA_ERR_ARG,
             "Jacobi: rows and columns are distributed in different blocks");
  OSLA_CHECK(block >= 1, OSLA_ERR_ARG, "Jacobi: block = %" PRId64 " is less than 1", block);
  j->own = (own_preconditioner){a->rows, apply};
  return block == 1 ? invert_diagonal(a, first_row, shift, j)
                    : factor_blocks(a, first_row, block, shift, j);
}

osla_err osla_jacobi_create(osla_csr *a, int64_t block, double shift, osla_jacobi **out)
{
  *out = NULL;
  osla_jacobi *j = calloc(1, sizeof *j);
  osla_err err =
    j ? make(a, block, shift, j) : osla_error_set(OSLA_ERR_MEM, "no memory for Jacobi object");
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
  free((*jacobi)->inverse);
  osli_diagonal_blocks_free(&(*jacobi)->blocks);
  free(*jacobi);
  *jacobi = NULL;
}

osla_preconditioner osla_jacobi_use(const osla_jacobi *jacobi)
{
  return (osla_preconditioner){.apply = osli_krylov_precondition, .arg = (void *)(uintptr_t)jacobi};
}
