/* Sparse Cholesky factor of a square diagonal block of a matrix. It uses the library CHOLMOD
 * (Debian package libsuitesparse-dev), if configure found it. All functions are local. */
#ifndef CHOLMOD_BLOCK_H
#define CHOLMOD_BLOCK_H

#include "osla_error.h"
#include <stdint.h>

typedef struct cholmod_block cholmod_block;

/* Factors the symmetric n x n block that consists of the entries whose column is below n. Reads
 * only entries on and below the diagonal.
 *   first_row            [in] global number of the block's first row, for error messages
 *   first, column, value [in] the entries row by row; entries of equal row and column are added
 * Errors: ARG (the block is not positive definite; the text names its rows), MEM, UNSUPPORTED
 * (the build has no CHOLMOD). */
osla_err osli_cholmod_block_factor(int64_t n, int64_t first_row, const int64_t *first,
                                   const int32_t *column, const double *value, cholmod_block **out);

/* Computes z := B^-1 r, where B is the block and the vectors have n elements. Allocates no
 * memory. */
void osli_cholmod_block_solve(cholmod_block *block, const double *r, double *z);

/* Returns the bytes of the factor's values and indices, which a solve reads once forward and once
 * backward; 0 if block is NULL. */
double osli_cholmod_block_bytes(const cholmod_block *block);

/* Frees the factor, and sets *block to NULL. Accepts *block == NULL. */
void osli_cholmod_block_free(cholmod_block **block);

#endif
