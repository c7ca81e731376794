/* What the two directions of the triangular solve that moves X share (internal): trsm_stationary.c
 * sets up and runs NOTRANS, trsm_stationary_trans.c runs the others; trsm_deferred.c.
 */
#ifndef OSLA_TRSM_STATIONARY_H
#define OSLA_TRSM_STATIONARY_H

#include "kernels/solve/trsm.h"

/* A block row of B, all its columns. */
static inline size_t block_row_bytes(const trsm *f)
{
  return (size_t)(f->a.nb * f->b.n) * f->a.element;
}

static inline unsigned char *share_at(const trsm *f, int64_t row, int64_t col)
{
  return f->share + (size_t)(row + col * f->share_ld) * f->a.element;
}

/* The dense block row of this step that is on its way to the owner of the diagonal block, or will
 * be. */
static inline unsigned char *sum_at(const trsm *f, const trsm_step *s)
{
  return f->sums + (size_t)(s->s % osli_pieces_depth(f->pieces)) * block_row_bytes(f);
}

/* Products with one column of T are cut into so many rows, between which messages pass: some 8
 * million operations, or 1 MiB of T. Pure. */
int64_t osli_trsm_tile_rows(const trsm *f, int64_t size);

/* My columns of X(k), which lies at x, become B's. Local. */
void osli_trsm_store_columns(trsm *f, const trsm_step *s, const unsigned char *x, int64_t ldx);

/* What TRANS needs besides. Collective. Errors: MEM, MPI. */
osla_err osli_trsm_stationary_open_trans(trsm *f);
osla_err osli_trsm_stationary_run_trans(trsm *f);

/* ---- trsm_deferred.c: NOTRANS ---- */

/* Their memory. Local. Errors: MEM. Pure. */
osla_err osli_trsm_deferred_create(trsm *f);
uint64_t osli_trsm_deferred_memory(const osla_shape *shape, size_t piece);

/* share(first .. last) -= T(first .. last, k) X(k) is to be done, the rows that are needed first
 * before others; x is [size, all columns of B], and is copied unless it lies in my share. Local. */
osla_err osli_trsm_deferred_add(trsm *f, const trsm_step *s, const void *x);

/* Does all of it for the block row of this step, which is mine. Local. */
osla_err osli_trsm_deferred_finish_rows(trsm *f, const trsm_step *s);

/* Does some of it, then a progress step. *any: there was some left. Local. */
osla_err osli_trsm_deferred_advance(trsm *f, bool *any);

#endif
