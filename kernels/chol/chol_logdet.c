/* Logarithm of the determinant of a matrix, from the diagonal of its Cholesky factor.
 *
 * Each rank adds up the logarithms of the diagonal blocks that it owns. An all-reduce distributes
 * the sums of all blocks, to each of which only one rank contributes a number that is not zero, so
 * the result does not depend on the order of additions. Every rank then adds up the sums of all
 * blocks in the order of the blocks. Memory per rank: one number for each block, and the diagonal
 * of a block. */
#include "kernels/chol/chol_shape.h"
#include "osla_chol.h"
#include "src/blas/move.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Real part of element i of an array. */
static double real_at(osla_dtype dtype, const void *array, int64_t i)
{
  switch (dtype) {
    case OSLA_FLOAT: return (double)((const float *)array)[i];
    case OSLA_DOUBLE: return ((const double *)array)[i];
    case OSLA_COMPLEX_FLOAT: return (double)((const float *)array)[2 * i];
    default: return ((const double *)array)[2 * i];
  }
}

/* Computes the sum of the logarithms of the diagonal of block k, which this rank owns.
 *   diagonal [out] room for the diagonal in host memory */
static osla_err add_block(const chol *f, int64_t k, void *diagonal, double *sum)
{
  const chol_step s = chol_step_make(f, k);
  const operand block = element(f, s.row_on, s.col_on);
  /* The elements of a diagonal are a row of an array whose leading dimension is larger by one. */
  osli_move_columns(f->v.element, 1, s.size, block.at, block.ld + 1, diagonal, 1);
  OSLA_CALL(osli_device_settle(SETTLE_COPY));
  for (int64_t i = 0; i < s.size && !osli_work_modelled; i++) {
    const double x = real_at(f->v.dtype, diagonal, i);
    OSLA_CHECK(x > 0, OSLA_ERR_ARG,
               "osla_chol_logdet: diagonal element %" PRId64 " (from 0) of the factor is %g, not "
               "positive: pass the factor of an osla_potrf with info = 0",
               s.start + i, x);
    *sum += log(x);
  }
  return OSLA_OK;
}

static osla_err add_mine(const chol *f, void *diagonal, double *sums)
{
  OSLA_CHECK(diagonal && sums, OSLA_ERR_MEM, "osla_chol_logdet: sums of %" PRId64 " blocks",
             f->steps);
  for (int64_t k = 0; k < f->steps; k++)
    if (f->prow == k % f->n_prows && f->pcol == k % f->n_pcols)
      OSLA_CALL(add_block(f, k, diagonal, &sums[k]));
  return OSLA_OK;
}

osla_err osla_chol_logdet(osla_uplo uplo, const osla_matrix *factor, double *value)
{
  osla_matrix *a = without_const(factor);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(factor));
  chol f;
  osla_err err = osli_chol_init(&f, "Cholesky", a, uplo, NULL);
  /* This call is also a barrier: after it the factor is complete on all ranks. */
  OSLA_CALL(osli_chol_agree(a, err, "osla_chol_logdet", uplo, NULL));
  double *sums = calloc((size_t)f.steps + 1, sizeof *sums), sum = 0;
  void *diagonal = malloc((size_t)f.v.nb * f.v.element);
  OSLA_TRY(osla_agree(t, add_mine(&f, diagonal, sums)));
  OSLA_TRY(osla_allreduce(t, sums, f.steps, MPI_DOUBLE, MPI_SUM));
  for (int64_t k = 0; k < f.steps; k++)
    sum += sums[k];
  *value = 2 * sum;
cleanup:
  free(diagonal);
  free(sums);
  return err;
}
