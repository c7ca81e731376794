/* What the two directions of the triangular solve that moves X share (internal): trsm_fan.c sets up
 * and runs NOTRANS, trsm_fan_in.c runs the others.
 */
#ifndef OSLA_TRSM_FAN_H
#define OSLA_TRSM_FAN_H

#include "trsm.h"

/* A block row of B, all its columns. */
static inline size_t fan_piece_bytes(const trsm *f)
{
  return (size_t)(f->a.nb * f->b.n) * f->a.element;
}

static inline unsigned char *fan_share_at(const trsm *f, int64_t row, int64_t col)
{
  return f->share + (size_t)(row + col * f->a.rows) * f->a.element;
}

/* The dense block row of this step that is on its way to the owner of the diagonal block, or will
 * be. */
static inline unsigned char *fan_sum_at(const trsm *f, const trsm_step *s)
{
  return f->sums + (size_t)(s->s % osla_pieces_depth(f->pieces)) * fan_piece_bytes(f);
}

/* My columns of X(k), which lies at x, become B's. Local. */
void osla_trsm_fan_take(trsm *f, const trsm_step *s, const unsigned char *x, int64_t ldx);

/* What TRANS needs besides. Collective. Errors: MEM, MPI. */
osla_err osla_trsm_fan_in_passing(trsm *f);
osla_err osla_trsm_run_fan_in(trsm *f);

#endif
