/* Sparse Cholesky factor of a diagonal block of a matrix. CHOLMOD permutes the rows to reduce
 * fill. The first solve, right after the factorisation, allocates the work space, so later
 * solves during sweeps cannot fail. */
#include "config.h"

#include "kernels/iterate/cholmod_block.h"

#include <inttypes.h>
#include <stddef.h>

#ifndef HAVE_CHOLMOD

osla_err osli_cholmod_block_factor(int64_t n, int64_t first_row, const int64_t *first,
                                   const int32_t *column, const double *value, cholmod_block **out)
{
  (void)n, (void)first_row, (void)first, (void)column, (void)value;
  *out = NULL;
  return osla_error_set(OSLA_ERR_UNSUPPORTED,
                        "splitting: this build has no CHOLMOD: install the Debian package "
                        "libsuitesparse-dev and build again, or use OSLA_SPLITTING_CG");
}

void osli_cholmod_block_solve(cholmod_block *b, const double *r, double *z)
{
  (void)b, (void)r, (void)z;
}

double osli_cholmod_block_bytes(const cholmod_block *b)
{
  (void)b;
  return 0.0;
}

void osli_cholmod_block_free(cholmod_block **block)
{
  *block = NULL;
}

#else

#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

#include "src/blas/work.h"

struct cholmod_block {
  cholmod_common common;
  cholmod_factor *factor;
  cholmod_dense *right, *solution, *work[2];
  int64_t n;
};

/* Returns the lower triangle of the block as a matrix of CHOLMOD, or NULL if there is not enough
 * memory. */
static cholmod_sparse *make_matrix(int64_t n, const int64_t *first, const int32_t *column,
                                   const double *value, cholmod_common *common)
{
  const size_t rows = (size_t)n;
  cholmod_triplet *t =
    cholmod_l_allocate_triplet(rows, rows, (size_t)first[n], -1, CHOLMOD_REAL, common);
  if (!t) return NULL;
  SuiteSparse_long *row_of = t->i, *column_of = t->j;
  double *value_of = t->x;
  for (int64_t i = 0; i < n; i++)
    for (int64_t e = first[i]; e < first[i + 1]; e++)
      if (column[e] <= i) {
        row_of[t->nnz] = i;
        column_of[t->nnz] = column[e];
        value_of[t->nnz++] = value[e];
      }
  cholmod_sparse *a = cholmod_l_triplet_to_sparse(t, 0, common);
  cholmod_l_free_triplet(&t, common);
  return a;
}

static bool solve_block(cholmod_block *b)
{
  const bool solved = cholmod_l_solve2(CHOLMOD_A, b->factor, b->right, NULL, &b->solution, NULL,
                                       &b->work[0], &b->work[1], &b->common);
  return solved;
}

static osla_err factor_block(cholmod_block *b, int64_t first_row, const int64_t *first,
                             const int32_t *column, const double *value)
{
  cholmod_common *common = &b->common;
  cholmod_sparse *a = make_matrix(b->n, first, column, value, common);
  b->right = cholmod_l_zeros((size_t)b->n, 1, CHOLMOD_REAL, common);
  if (a) b->factor = cholmod_l_analyze(a, common);
  if (b->factor) (void)cholmod_l_factorize(a, b->factor, common);
  cholmod_l_free_sparse(&a, common);
  OSLA_CHECK(common->status != CHOLMOD_NOT_POSDEF, OSLA_ERR_ARG,
             "splitting: the block of rows %" PRId64 " to %" PRId64
             " is not positive definite (sparse Cholesky)",
             first_row, first_row + b->n - 1);
  OSLA_CHECK(b->factor && b->right && common->status >= CHOLMOD_OK && solve_block(b), OSLA_ERR_MEM,
             "no memory for the sparse Cholesky factor of %" PRId64 " rows (CHOLMOD status %d)",
             b->n, common->status);
  return OSLA_OK;
}

osla_err osli_cholmod_block_factor(int64_t n, int64_t first_row, const int64_t *first,
                                   const int32_t *column, const double *value, cholmod_block **out)
{
  *out = NULL;
  if (n == 0) return OSLA_OK; /* without a factor, CG is used, which ends at once */
  cholmod_block *b = calloc(1, sizeof *b);
  OSLA_CHECK(b, OSLA_ERR_MEM, "no memory for a sparse Cholesky factor");
  b->n = n;
  *out = b;
  (void)cholmod_l_start(&b->common);
  b->common.print = 0;
  /* requests L L^T, which fails if the block is not positive definite; L D L^T would not fail */
  b->common.final_ll = 1;
  return factor_block(b, first_row, first, column, value);
}

void osli_cholmod_block_solve(cholmod_block *b, const double *r, double *z)
{
  const size_t bytes = (size_t)b->n * sizeof *r;
  memcpy(b->right->x, r, bytes);
  (void)solve_block(b); /* cannot fail, because the work space exists */
  memcpy(z, b->solution->x, bytes);
  /* A solve reads the factor twice. Six passes over vectors: copy r, permute it, solve forward and
   * backward in place, permute back, copy to z. A copy takes 24 bytes for each element, a
   * permutation 8 more for its index, and a solve in place 16. */
  work_charge_memory(2.0 * osli_cholmod_block_bytes(b) + 144.0 * (double)b->n);
}

/* A supernodal factor has one index for each row of a supernode; another factor has one for each
 * entry. */
double osli_cholmod_block_bytes(const cholmod_block *b)
{
  if (!b) return 0.0;
  const cholmod_factor *f = b->factor;
  const double values = f->is_super ? (double)f->xsize : b->common.lnz;
  const double indices = f->is_super ? (double)f->ssize : b->common.lnz;
  return sizeof(double) * values + sizeof(SuiteSparse_long) * indices;
}

void osli_cholmod_block_free(cholmod_block **block)
{
  cholmod_block *b = *block;
  if (!b) return;
  (void)cholmod_l_free_factor(&b->factor, &b->common);
  (void)cholmod_l_free_dense(&b->right, &b->common);
  (void)cholmod_l_free_dense(&b->solution, &b->common);
  (void)cholmod_l_free_dense(&b->work[0], &b->common);
  (void)cholmod_l_free_dense(&b->work[1], &b->common);
  (void)cholmod_l_finish(&b->common);
  free(b);
  *block = NULL;
}

#endif
