/* Functions that the stationary triangular solves share (internal). trsm_stationary.c runs NOTRANS,
 * trsm_stationary_trans.c runs TRANS and CONJTRANS, trsm_deferred.c computes deferred products. */
#ifndef OSLA_TRSM_STATIONARY_H
#define OSLA_TRSM_STATIONARY_H

#include "kernels/solve/trsm.h"

/* Bytes of a block row with all columns of B. */
static inline size_t block_row_bytes(const trsm *f)
{
  return (size_t)(f->a.nb * f->b.n) * f->a.element;
}

static inline unsigned char *share_at(const trsm *f, int64_t row, int64_t col)
{
  return f->share + (size_t)(row + col * f->share_ld) * f->a.element;
}

/* Send buffer for this step's block row on its way to the owner of the diagonal block. */
static inline unsigned char *sum_at(const trsm *f, const trsm_step *s)
{
  return f->sums + (size_t)(s->s % osli_pieces_depth(f->pieces)) * block_row_bytes(f);
}

/* Number of rows in which products with one block column of T are cut, so that messages are served
 * in between: about 8 million operations, or 1 MiB of T. Pure. */
int64_t osli_trsm_tile_rows(const trsm *f, int64_t size);

/* Stores this rank's columns of X(k), which is at address x, in B. Local. */
void osli_trsm_store_columns(trsm *f, const trsm_step *s, const unsigned char *x, int64_t ldx);

/* Allocates the further memory of TRANS and CONJTRANS (collective; errors: MEM, MPI), and runs all
 * steps (local). */
osla_err osli_trsm_stationary_open_trans(trsm *f);
osla_err osli_trsm_stationary_run_trans(trsm *f);

/* ---- trsm_deferred.c: NOTRANS ---- */

/* Memory of the deferred products: allocation (local; errors: MEM), and bytes (pure). */
osla_err osli_trsm_deferred_create(trsm *f);
uint64_t osli_trsm_deferred_memory(const osla_shape *shape, size_t piece);

/* Defers share(first .. last) -= T(first .. last, k) X(k). x is [size, all columns of B]; it is
 * copied unless it is in this rank's share. Local. */
osla_err osli_trsm_deferred_add(trsm *f, const trsm_step *s, const void *x);

/* Completes all deferred products for the block row of this step, which this rank owns. Local. */
osla_err osli_trsm_deferred_finish_rows(trsm *f, const trsm_step *s);

/* Computes one piece of the deferred product that is needed next, then makes a progress step. *any:
 * whether a product was left. Local. */
osla_err osli_trsm_deferred_advance(trsm *f, bool *any);

#endif
