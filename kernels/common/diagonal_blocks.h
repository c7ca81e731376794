/* Dense square blocks on the diagonal of a local matrix: factorisation in place and solves, used by
 * block-Jacobi and by splittings (internal). All functions are local. */
#ifndef OSLA_DIAGONAL_BLOCKS_H
#define OSLA_DIAGONAL_BLOCKS_H

#include "osla_error.h"

#include <stdbool.h>
#include <stdint.h>

/* Diagonal blocks of a matrix of n rows; the last block may be smaller. Copied by value; all zero
 * means that there are no blocks. */
typedef struct diagonal_blocks {
  int64_t n, block;
  /* [n * block] the blocks, one after another, each stored by columns; after the factorisation
   * their triangular factors */
  double *element;
  /* [n] interchanges of rows within each block, for LU; NULL for Cholesky, which uses the lower
   * triangles */
  int64_t *pivots;
} diagonal_blocks;

/* Allocates blocks of `block` >= 1 rows, filled with zero. `what` is the beginning of error
 * messages. Errors: MEM. */
osla_err osli_diagonal_blocks_create(const char *what, int64_t n, int64_t block, bool lu,
                                     diagonal_blocks *out);
void osli_diagonal_blocks_free(diagonal_blocks *b);

/* Returns the number of rows of the block that begins at row `from`. */
static inline int64_t diagonal_block_size(const diagonal_blocks *b, int64_t from)
{
  return b->n - from < b->block ? b->n - from : b->block;
}

/* Returns the address of the block that begins at row `from`. */
static inline double *diagonal_block_at(const diagonal_blocks *b, int64_t from)
{
  return b->element + from * b->block;
}

/* Factors all blocks. Errors: ARG (a block is singular, not finite, or, for Cholesky, not positive
 * definite; the message names its rows, counted from first_row), RANGE, MEM. */
osla_err osli_diagonal_blocks_factor(const char *what, int64_t first_row, diagonal_blocks *b);

/* z := B^-1 r, vectors of n elements. Cannot fail after a successful factorisation. */
osla_err osli_diagonal_blocks_solve(const diagonal_blocks *b, const double *r, double *z);

/* y := |L| |U| x with the computed factors (U = L^T for Cholesky), vectors of n elements. With LU,
 * y is in the row order after the interchanges. Used for bounds on rounding errors. */
void osli_diagonal_blocks_magnitude(const diagonal_blocks *b, const double *x, double *y);

#endif
