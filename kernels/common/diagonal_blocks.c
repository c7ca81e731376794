/* Factorisation of diagonal blocks by LAPACK: Cholesky, or LU with partial pivoting. Memory per
 * row: 8 bytes times the block size, and 8 bytes more for LU. No communication. */
#include "kernels/common/diagonal_blocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "osla_blas.h"

osla_err osli_diagonal_blocks_create(const char *what, int64_t n, int64_t block, bool lu,
                                     diagonal_blocks *out)
{
  const int64_t most = n > 0 ? n : 1;
  *out = (diagonal_blocks){.n = n, .block = block < most ? block : most};
  OSLA_CHECK((uint64_t)out->block <= SIZE_MAX / sizeof(double) / ((uint64_t)n + 1), OSLA_ERR_MEM,
             "%s: blocks of %" PRId64 " rows", what, block);
  out->element = calloc((size_t)n * (size_t)out->block + 1, sizeof *out->element);
  if (lu) out->pivots = calloc((size_t)n + 1, sizeof *out->pivots);
  OSLA_CHECK(out->element && (out->pivots || !lu), OSLA_ERR_MEM,
             "%s: blocks of %" PRId64 " rows of %" PRId64, what, out->block, n);
  return OSLA_OK;
}

void osli_diagonal_blocks_free(diagonal_blocks *b)
{
  free(b->element);
  free(b->pivots);
  *b = (diagonal_blocks){0};
}

static osla_err check_finite(const char *what, int64_t row, int64_t n, const double *block)
{
  for (int64_t j = 0; j < n; j++) {
    double largest;
    OSLA_CALL(osla_blas_max(OSLA_DOUBLE, n, block + j * n, &largest));
    OSLA_CHECK(isfinite(largest), OSLA_ERR_ARG,
               "%s: the block of rows %" PRId64 " to %" PRId64 " is not finite", what, row,
               row + n - 1);
  }
  return OSLA_OK;
}

osla_err osli_diagonal_blocks_factor(const char *what, int64_t first_row, diagonal_blocks *b)
{
  for (int64_t from = 0; from < b->n; from += b->block) {
    const int64_t n = diagonal_block_size(b, from), row = first_row + from;
    double *block = diagonal_block_at(b, from);
    int64_t info;
    OSLA_CALL(check_finite(what, row, n, block));
    OSLA_CALL(b->pivots ? osla_lapack_getrf(OSLA_DOUBLE, n, n, block, n, b->pivots + from, &info)
                        : osla_lapack_potrf(OSLA_DOUBLE, OSLA_LOWER, n, block, n, &info));
    OSLA_CHECK(info == 0, OSLA_ERR_ARG,
               "%s: the block of rows %" PRId64 " to %" PRId64 " is %s %" PRId64 ")", what, row,
               row + n - 1, b->pivots ? "singular (pivot" : "not positive definite (leading minor",
               info);
  }
  return OSLA_OK;
}

static osla_err solve(osla_uplo uplo, osla_trans trans, osla_diag diag, int64_t n,
                      const double *block, double *z)
{
  return osla_blas_trsm(OSLA_DOUBLE, OSLA_LEFT, uplo, trans, diag, n, 1, block, n, z, n);
}

osla_err osli_diagonal_blocks_solve(const diagonal_blocks *b, const double *r, double *z)
{
  if (b->n > 0) memcpy(z, r, (size_t)b->n * sizeof *z);
  for (int64_t from = 0; from < b->n; from += b->block) {
    const int64_t n = diagonal_block_size(b, from);
    const double *block = diagonal_block_at(b, from);
    if (b->pivots) {
      const int64_t *pivots = b->pivots + from;
      OSLA_CALL(osla_lapack_laswp(OSLA_DOUBLE, 1, z + from, n, n, pivots, false));
      OSLA_CALL(solve(OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, n, block, z + from));
      OSLA_CALL(solve(OSLA_UPPER, OSLA_NOTRANS, OSLA_NONUNIT, n, block, z + from));
    } else {
      OSLA_CALL(solve(OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, n, block, z + from));
      OSLA_CALL(solve(OSLA_LOWER, OSLA_TRANS, OSLA_NONUNIT, n, block, z + from));
    }
  }
  return OSLA_OK;
}

/* y := |L| |U| x for one block. |L| is applied from the last row upwards, because each row needs
 * the rows above it unchanged. */
static void magnitude(const double *block, int64_t n, bool is_cholesky, const double *x, double *y)
{
  for (int64_t i = 0; i < n; i++) { /* y := |U| x */
    y[i] = 0.0;
    for (int64_t j = i; j < n; j++)
      y[i] += fabs(is_cholesky ? block[j + i * n] : block[i + j * n]) * x[j];
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    y[i] *= is_cholesky ? fabs(block[i + i * n]) : 1.0;
    for (int64_t j = 0; j < i; j++)
      y[i] += fabs(block[i + j * n]) * y[j];
  }
}

void osli_diagonal_blocks_magnitude(const diagonal_blocks *b, const double *x, double *y)
{
  for (int64_t from = 0; from < b->n; from += b->block)
    magnitude(diagonal_block_at(b, from), diagonal_block_size(b, from), !b->pivots, x + from,
              y + from);
}
