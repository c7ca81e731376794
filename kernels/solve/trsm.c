/* Triangular solves: argument checks, sides, memory, and the choice of the algorithm.
 *
 * In solves from the left T is only read, so its blocks are fetched one-sided (trsm_operands.c).
 * Block rows of B, or sums for them, are sent with notifications (trsm_run.c). Memory per rank if B
 * or T cannot be read in place: two block columns of T and a few block rows of B. Messages per
 * step: a panel along the process column (NOTRANS), or a put_notify from each other rank (TRANS,
 * CONJTRANS). If T is on other nodes and there are few right-hand sides, T stays in place and X is
 * moved (trsm_stationary.c, trsm_stationary_trans.c).
 *
 * A solve from the right, X op(T) = B, is executed as op(T)^T X^T = B^T with a transposed copy of
 * B, because block rows of T are not contiguous for a get. */
#include "kernels/solve/trsm.h"
#include "kernels/common/local_view.h"
#include "kernels/solve/rhs.h"
#include "src/base/double_bits.h"
#include "src/device/device.h"
#include "src/matrix/memory_kind.h"

#include <complex.h>
#include <stdlib.h>

/* Allocates the buffers in which this rank's rows of two block columns of A are fetched. */
static osla_err make_columns(trsm *f)
{
  const local_view *a = &f->a;
  int64_t lld = 1, bytes;
  for (int pcol = 0; pcol < a->q && a->prow >= 0; pcol++) {
    if (osla_index_count(a->n, a->nb, pcol, a->q) == 0) break;
    /* no block column of a rank has a larger leading dimension than the first one */
    const int64_t theirs = osli_stored_columns(a->matrix, rank_at(a, a->prow, pcol), 0).ld;
    if (theirs > lld) lld = theirs;
  }
  if (__builtin_mul_overflow(lld, a->nb * (int64_t)a->element, &bytes)) bytes = INT64_MAX;
  for (int i = 0; i < 2; i++) {
    f->column[i] = osli_alloc_like(a->local, (size_t)bytes);
    if (!f->column[i])
      return osli_alloc_like_failed(a->local, (size_t)bytes, "block column of a solve");
  }
  return OSLA_OK;
}

static osla_err set_up(trsm *f)
{
  const local_view *a = &f->a, *b = &f->b;
  bool buffers_a;
  OSLA_CALL(osli_view_needs_buffers(a, &buffers_a));
  OSLA_CALL(osli_view_neighbours_readable(b, &f->readable));
  f->stationary = buffers_a && a->q > 1 && osli_trsm_is_stationary(a->n, b->n) &&
                  /* a stationary solve sums on the host, so it is not used if B lies on a device */
                  !osla_matrix_device(b->matrix);
  if (f->stationary) {
    OSLA_CALL(osli_trsm_stationary_open(f));
    return f->trans == OSLA_NOTRANS || f->reuses_shares ? OSLA_OK
                                                        : osli_trsm_stationary_open_trans(f);
  }
  f->widest = osla_index_count(b->n, b->nb, 0, b->q);
  OSLA_CALL(osla_agree(a->t, buffers_a ? make_columns(f) : OSLA_OK));
  return osli_trsm_moving_open(f);
}

static void begin(trsm *f, trsm_op op, const osla_matrix *a, osla_matrix *b)
{
  *f = (trsm){.a = view_of(without_const(a)),
              .b = view_of(b),
              .uplo = op.uplo,
              .trans = op.trans,
              .diag = op.diag};
  trim_blocks(&f->a);
  trim_blocks(&f->b);
  f->b.mb = f->a.nb; /* may change the block size only if one process row owns all rows of B */
  f->steps = (f->a.n + f->a.nb - 1) / f->a.nb;
  f->forward = (op.uplo == OSLA_LOWER) == (op.trans == OSLA_NOTRANS);
}

osla_err osli_trsm_open(trsm *f, trsm_op op, const osla_matrix *a, osla_matrix *b)
{
  begin(f, op, a, b);
  return set_up(f);
}

osla_err osli_trsm_open_two(trsm *first, trsm_op op, trsm *second, trsm_op next,
                            const osla_matrix *a, osla_matrix *b)
{
  begin(first, op, a, b);
  begin(second, next, a, b);
  first->keeps_shares = second->reuses_shares = true;
  OSLA_CALL(set_up(first));
  second->share = first->share;
  return set_up(second);
}

osla_err osli_trsm_run(trsm *f)
{
  osla_err err = OSLA_OK;
  /* wait until A and B are complete on all ranks */
  OSLA_CALL(osli_matrix_barrier(f->b.matrix));
  if (f->stationary && f->a.rows > 0)
    err = f->trans == OSLA_NOTRANS ? osli_trsm_stationary_run_notrans(f)
                                   : osli_trsm_stationary_run_trans(f);
  else if (!f->stationary && f->b.rows > 0 && f->b.cols > 0)
    err = f->trans == OSLA_NOTRANS ? osli_trsm_run_notrans(f) : osli_trsm_run_trans(f);
  /* An error ends the job, because other ranks wait for rows of this rank. */
  if (err != OSLA_OK) osla_transport_abort(f->a.t, err);
  /* wait until no rank reads rows of this rank any more */
  return osli_matrix_barrier(f->b.matrix);
}

void osli_trsm_close(trsm *f)
{
  osli_panels_destroy(&f->panels);
  osli_pieces_destroy(&f->pieces);
  osli_pieces_destroy(&f->columns_of_b);
  free(f->packed);
  osli_free_like(f->sums);
  if (!f->reuses_shares) free(f->share);
  free(f->deferred);
  osli_free_like(f->column[0]);
  osli_free_like(f->column[1]);
}

static osla_err check(osla_side side, osla_uplo uplo, osla_trans trans, osla_diag diag,
                      const osla_matrix *a, const osla_matrix *b)
{
  OSLA_CALL(osli_check_side("trsm", side));
  OSLA_CALL(osli_check_trans("trsm", trans));
  OSLA_CALL(osli_check_diag("trsm", diag));
  OSLA_CALL(osli_check_uplo("trsm", uplo, a));
  return osli_rhs_check(side, a, b);
}

static osla_err agree(osla_side side, trsm_op op, osla_complex alpha, const osla_matrix *a,
                      const osla_matrix *b, osla_err local)
{
  const osla_argument same[] = {{"side", (int)side},
                                {"uplo", (int)op.uplo},
                                {"trans", (int)op.trans},
                                {"diag", (int)op.diag},
                                OSLA_FACTOR_ARGUMENTS("alpha", alpha),
                                {"order of A", osla_matrix_layout(a).n},
                                {"rows of B", osla_matrix_layout(b).m},
                                {"columns of B", osla_matrix_layout(b).n}};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(b)), local, "osla_trsm", same,
                         (int)(sizeof same / sizeof *same));
}

osla_err osla_trsm(osla_side side, osla_uplo uplo, osla_trans trans, osla_diag diag,
                   osla_complex alpha, const osla_matrix *a, osla_matrix *b)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(b));
  osla_dtype dtype = osla_matrix_dtype(b);
  if (dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE) alpha = creal(alpha);
  OSLA_CALL(
    agree(side, (trsm_op){uplo, trans, diag}, alpha, a, b, check(side, uplo, trans, diag, a, b)));
  osla_trans turn = OSLA_NOTRANS, op = trans;
  osla_rhs r;
  trsm f;
  osla_err err;
  if (alpha == 0) return osla_agree(t, osla_matrix_scale(alpha, b));
  if (side == OSLA_RIGHT) { /* X T^H = B is solved as T X^H = B^H */
    turn = trans == OSLA_CONJTRANS ? OSLA_CONJTRANS : OSLA_TRANS;
    op = trans == OSLA_NOTRANS ? OSLA_TRANS : OSLA_NOTRANS;
    if (trans == OSLA_CONJTRANS) alpha = conj(alpha);
  }
  OSLA_CALL(osli_rhs_open(&r, a, b, turn));
  OSLA_TRY(osli_trsm_open(&f, (trsm_op){uplo, op, diag}, a, r.b));
  if (alpha != 1) OSLA_TRY(osla_agree(t, osla_matrix_scale(alpha, r.b)));
  err = osli_trsm_run(&f);
cleanup:
  osli_trsm_close(&f);
  return osli_rhs_close(&r, err);
}
