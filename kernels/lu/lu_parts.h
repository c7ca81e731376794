/* The parts of the factorisation that lu.c and the panel call (internal). */
#ifndef OSLA_LU_PARTS_H
#define OSLA_LU_PARTS_H

#include "kernels/lu/lu_state.h"
#include "osla_error.h"
#include "osla_types.h"

/* ---- lu_update.c ---- */

/* Applies a step, whose panel I have, to my part of the block columns [from, to): rows are
 * exchanged, U(k, these columns) is solved for, A(i,j) -= L(i,k) U(k,j). To be called in the order
 * of osli_pipeline_run. Together with the process column. */
osla_err osli_lu_update(lu *f, const lu_step *s, const lu_panel *panel, int64_t from, int64_t to);

/* ---- lu_left.c ---- */

/* Applies the later steps' interchanges to the columns left of them, which hold L. Collective. */
osla_err osli_lu_permute_left(lu *f);

/* ---- lu_block.c ---- */

/* Factors the n x n column-major block in place, recursively, so that nearly all work is in gemm
 * and trsm. *info: 0, or 1 + the index of the first pivot that is exactly zero; the factorisation
 * goes on with the infinities it causes. Local. */
osla_err osli_lu_block(osla_dtype dtype, int64_t n, void *a, int64_t lda, int64_t *info);

/* An element of a type. Local. */
osla_complex osli_lu_value(osla_dtype dtype, const void *at);

#endif
