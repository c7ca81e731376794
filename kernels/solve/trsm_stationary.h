/* Functions that the files of the stationary triangular solve share (internal). trsm_stationary.c
 * runs NOTRANS, trsm_stationary_trans.c runs TRANS and CONJTRANS, trsm_deferred.c computes deferred
 * products. */
#ifndef OSLA_TRSM_STATIONARY_H
#define OSLA_TRSM_STATIONARY_H

#include "kernels/solve/trsm.h"

/* Bytes of a block row that has all columns of B. */
static inline size_t block_row_bytes(const trsm *f)
{
  return (size_t)(f->a.nb * f->b.n) * f->a.element;
}

static inline unsigned char *share_at(const trsm *f, int64_t row, int64_t col)
{
  return f->share + (size_t)(row + col * f->share_ld) * f->a.element;
}

/* Send buffer in which this step's block row is sent to the owner of the diagonal block. */
static inline unsigned char *sum_at(const trsm *f, const trsm_step *s)
{
  return f->sums + (size_t)(s->s % osli_pieces_depth(f->pieces)) * block_row_bytes(f);
}

/* Number of rows of the pieces into which a product with a block column of T is cut, so that
 * messages are served between pieces. A piece takes about 8 million operations, or 1 MiB of T.
 * Pure. */
int64_t osli_trsm_tile_rows(const trsm *f, int64_t size);

/* Copies this rank's columns of X(k) to B. x: address of X(k). Local. */
void osli_trsm_store_columns(trsm *f, const trsm_step *s, const unsigned char *x, int64_t ldx);

/* _open_trans allocates the memory that TRANS and CONJTRANS need in addition (collective; errors:
 * MEM, MPI). _run_trans runs all steps (local). */
osla_err osli_trsm_stationary_open_trans(trsm *f);
osla_err osli_trsm_stationary_run_trans(trsm *f);

/* ---- trsm_deferred.c: NOTRANS ---- */

/* _create allocates the memory of the deferred products (local; errors: MEM). _memory: bytes of
 * this memory (pure). */
osla_err osli_trsm_deferred_create(trsm *f);
uint64_t osli_trsm_deferred_memory(const osla_shape *shape, size_t piece);

/* Defers the product share(first .. last) -= T(first .. last, k) X(k). x: [size, all columns of B]
 * the block X(k), which is copied unless it is in this rank's share. Local. */
osla_err osli_trsm_deferred_add(trsm *f, const trsm_step *s, const void *x);

/* Completes all deferred products for the block row of this step. This rank must own the block row.
 * Local. */
osla_err osli_trsm_deferred_finish_rows(trsm *f, const trsm_step *s);

/* Computes a piece of the deferred product that is needed next, then makes a progress step. *any:
 * true if a deferred product was left. Local. */
osla_err osli_trsm_deferred_advance(trsm *f, bool *any);

#endif
