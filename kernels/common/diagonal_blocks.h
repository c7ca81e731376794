/* Dense square blocks on a diagonal, factored in place and solved with (internal): what
 * block-Jacobi and splittings stand on. Local. */
#ifndef OSLA_DIAGONAL_BLOCKS_H
#define OSLA_DIAGONAL_BLOCKS_H

#include "osla_error.h"

#include <stdbool.h>
#include <stdint.h>

/* Of n rows, block by block; the last one may be smaller. A value; zero: there are none. */
typedef struct diagonal_blocks {
  int64_t n, block;
  double *element; /* [n * block] each block by columns; factored: its triangles */
  int64_t *pivots; /* [n] LU: in each block; NULL: Cholesky, of the lower triangles */
} diagonal_blocks;

/* Zero blocks of `block` >= 1 rows. `what` begins the texts of errors. Errors: MEM. */
osla_err osli_diagonal_blocks_create(const char *what, int64_t n, int64_t block, bool lu,
                                     diagonal_blocks *out);
void osli_diagonal_blocks_free(diagonal_blocks *b);

/* The block that begins at row `from`: its rows, and its elements. */
static inline int64_t diagonal_block_size(const diagonal_blocks *b, int64_t from)
{
  return b->n - from < b->block ? b->n - from : b->block;
}

static inline double *diagonal_block_at(const diagonal_blocks *b, int64_t from)
{
  return b->element + from * b->block;
}

/* Factors all blocks. Errors: ARG (a block that is singular, or for Cholesky not positive definite,
 * or not finite: its rows are named, first_row + the local ones), RANGE, MEM. */
osla_err osli_diagonal_blocks_factor(const char *what, int64_t first_row, diagonal_blocks *b);

/* z := B^-1 r, [n]. Cannot fail where factoring did not. */
osla_err osli_diagonal_blocks_solve(const diagonal_blocks *b, const double *r, double *z);

/* y := |L| |U| x of the computed factors (Cholesky: U = L^T), [n]; LU: its rows in the order after
 * their interchanges. For bounds of rounding. */
void osli_diagonal_blocks_magnitude(const diagonal_blocks *b, const double *x, double *y);

#endif
