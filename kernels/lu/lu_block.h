/* LU without pivoting of one block in local memory (internal). */
#ifndef OSLA_LU_BLOCK_H
#define OSLA_LU_BLOCK_H

#include "osla_error.h"
#include "osla_types.h"

/* Factors the n x n column-major block in place, recursively, so that nearly all work is in gemm
 * and trsm. *info: 0, or 1 + the index of the first pivot that is exactly zero; the factorisation
 * goes on with the infinities it causes. Local. */
osla_err osli_lu_block(osla_dtype dtype, int64_t n, void *a, int64_t lda, int64_t *info);

/* An element of a type. Local. */
osla_complex osli_lu_value(osla_dtype dtype, const void *at);

#endif
