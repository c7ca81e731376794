/* Functions of several small files of the LU factorisation, in one header (internal). */
#ifndef OSLA_LU_PARTS_H
#define OSLA_LU_PARTS_H

#include "kernels/lu/lu_state.h"
#include "osla_error.h"
#include "osla_types.h"

/* ---- lu_update.c ---- */

/* Applies step `s` to this rank's part of the block columns [from, to): interchanges rows, solves
 * for U(k, from .. to) and computes A(i,j) -= L(i,k) U(k,j). This rank must have received `panel`.
 * Must be called in the order of osli_pipeline_run, by all ranks of the process column. */
osla_err osli_lu_update(lu *f, const lu_step *s, const lu_panel *panel, int64_t from, int64_t to);

/* ---- lu_left.c ---- */

/* Applies the row interchanges of later steps to the columns of L that earlier steps have computed.
 * Collective. */
osla_err osli_lu_permute_left(lu *f);

/* ---- lu_block.c ---- */

/* Factors the n x n column-major block `a` in place without pivoting. The algorithm is recursive,
 * so nearly all work is in gemm and trsm. *info is 0, or 1 + the index of the first pivot that is
 * exactly zero; the factorisation continues and produces infinities. Local. */
osla_err osli_lu_block(osla_dtype dtype, int64_t n, void *a, int64_t lda, int64_t *info);

/* Returns the element of type `dtype` at the address `at`. Local. */
osla_complex osli_lu_value(osla_dtype dtype, const void *at);

#endif
