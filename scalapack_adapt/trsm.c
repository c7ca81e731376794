/* p?trsm: sub(B) := alpha op(T)^-1 sub(B) or alpha sub(B) op(T)^-1, T a triangle of sub(A).
 *
 * The triangle and B are copied to where all ranks reach them, and B back; where each solves for
 * its own part alone, B is not. Where they do not begin with a block they are solved with as parts
 * of larger ones: [I 0; 0 T] and [0; B].
 */
#include "adapt.h"

#include "osla_solve.h"

#include <math.h>

typedef struct trsm_args {
  osla_dtype dtype;
  const char *side, *uplo, *trans, *diag;
  const int *m, *n;
  const void *alpha, *a;
  void *b;
  const int *ia, *ja, *desca, *ib, *jb, *descb;
} trsm_args;

typedef void trsm_routine(const char *side, const char *uplo, const char *trans, const char *diag,
                          const int *m, const int *n, const void *alpha, const void *a,
                          const int *ia, const int *ja, const int *desca, void *b, const int *ib,
                          const int *jb, const int *descb);
/* The real one, as Fortran calls it: with the lengths of the letters. */
typedef void trsm_real(const char *side, const char *uplo, const char *trans, const char *diag,
                       const int *m, const int *n, const void *alpha, const void *a, const int *ia,
                       const int *ja, const int *desca, void *b, const int *ib, const int *jb,
                       const int *descb, size_t, size_t, size_t, size_t);

/* Can one solve with the larger ones serve? */
static bool fits(osla_side side, const adapt_sub *a, const adapt_sub *b)
{
  return a->mb == a->nb && a->row == a->col && (side == OSLA_LEFT ? b->row : b->col) == a->row;
}

/* Does each rank solve for its own part of B alone, and begins B with a block? (From the right the
 * kernel solves for the transpose.) */
static bool is_own(osla_side side, const adapt_sub *a, const adapt_sub *b)
{
  return side == OSLA_LEFT && osla_grid_nprow(b->grid) == 1 && a->pcol == b->pcol && b->row == 0 &&
         b->col == 0;
}

/* On one process column the real routine works as one process would, with few messages. Measured
 * with 2 x 1 processes on 2 cores: of the time there, order 600 takes 1.1 to 1.9, 1000 up to 1.35,
 * 1600 1.1, 2000 0.9 to 0.95. From the right, with 1 x 2, order 384 takes 1 to 1.15, 700 0.8. */
static bool is_worth_it(const adapt_call *call, osla_side side, const adapt_sub *b, double flops)
{
  bool one_column = osla_grid_npcol(b->grid) == 1 && !call->alone;
  double least = one_column ? 8e9 : side == OSLA_RIGHT && !call->alone ? 2.5e8 : 0;
  return flops >= least || adapt_call_asked(call);
}

static bool take(adapt_call *call, const trsm_args *x)
{
  enum { A, B };
  osla_side side;
  osla_uplo uplo;
  osla_trans trans;
  osla_diag diag;
  adapt_staged a = {0}, b = {0};
  osla_err err;
  if (call->reason != ADAPT_TAKEN) return false;
  if (!adapt_side_of(x->side, &side) || !adapt_uplo_of(x->uplo, &uplo) ||
      !adapt_trans_of(x->trans, &trans) || !adapt_diag_of(x->diag, &diag))
    return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  if (adapt_factor(x->dtype, x->alpha) == 0) return adapt_call_refuse(call, ADAPT_FAST);
  int64_t m = *x->m, n = *x->n, order = side == OSLA_LEFT ? m : n;
  adapt_sub subs[] = {adapt_sub_at(x->a, x->ia, x->ja, x->desca, order, order),
                      adapt_sub_at(x->b, x->ib, x->jb, x->descb, m, n)};
  double flops = adapt_work((double)m * (double)n * (double)order, m, n, order);
  /* Order 96 takes 0.4 of the time with 2 processes in a row. */
  double least = adapt_least_flops(call, side == OSLA_LEFT ? 8e5 : HUGE_VAL, true, subs, B);
  if (!adapt_call_open(call, flops, least, 2, subs)) return false;
  if (!fits(side, &subs[A], &subs[B])) return adapt_call_refuse(call, ADAPT_LAYOUT);
  if (!is_worth_it(call, side, &subs[B], flops)) return adapt_call_refuse(call, ADAPT_FAST);

  OSLA_TRY(adapt_stage(call, &subs[A], uplo == OSLA_LOWER ? ADAPT_LOWER : ADAPT_UPPER,
                       ADAPT_IDENTITY, &a));
  if (is_own(side, &subs[A], &subs[B]))
    OSLA_TRY(adapt_wrap(call, &subs[B], &b.matrix));
  else
    OSLA_TRY(adapt_stage(call, &subs[B], ADAPT_WHOLE, ADAPT_ZEROS, &b));
  err = osla_trsm(side, uplo, trans, diag, adapt_factor(x->dtype, x->alpha), a.matrix, b.matrix);
  if (b.buffer ? err == OSLA_OK : adapt_call_completed(call, err))
    adapt_unstage(call, &b, ADAPT_WHOLE);
cleanup:
  adapt_stage_free(call, &b);
  adapt_stage_free(call, &a);
  return adapt_call_succeeded(call, err);
}

static void trsm(const trsm_args *x)
{
  adapt_call call = adapt_call_begin(ADAPT_TRSM, x->dtype);
  if (!take(&call, x))
    ((trsm_real *)adapt_call_pass(&call))(x->side, x->uplo, x->trans, x->diag, x->m, x->n, x->alpha,
                                          x->a, x->ia, x->ja, x->desca, x->b, x->ib, x->jb,
                                          x->descb, 1, 1, 1, 1);
  adapt_call_end(&call);
}

/* --- the names --- */

trsm_routine pstrsm_, pdtrsm_, pctrsm_, pztrsm_;

void pstrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
             const int *n, const void *alpha, const void *a, const int *ia, const int *ja,
             const int *desca, void *b, const int *ib, const int *jb, const int *descb)
{
  trsm(&(trsm_args){OSLA_FLOAT, side, uplo, trans, diag, m, n, alpha, a, b, ia, ja, desca, ib, jb,
                    descb});
}

void pdtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
             const int *n, const void *alpha, const void *a, const int *ia, const int *ja,
             const int *desca, void *b, const int *ib, const int *jb, const int *descb)
{
  trsm(&(trsm_args){OSLA_DOUBLE, side, uplo, trans, diag, m, n, alpha, a, b, ia, ja, desca, ib, jb,
                    descb});
}

void pctrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
             const int *n, const void *alpha, const void *a, const int *ia, const int *ja,
             const int *desca, void *b, const int *ib, const int *jb, const int *descb)
{
  trsm(&(trsm_args){OSLA_COMPLEX_FLOAT, side, uplo, trans, diag, m, n, alpha, a, b, ia, ja, desca,
                    ib, jb, descb});
}

void pztrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
             const int *n, const void *alpha, const void *a, const int *ia, const int *ja,
             const int *desca, void *b, const int *ib, const int *jb, const int *descb)
{
  trsm(&(trsm_args){OSLA_COMPLEX_DOUBLE, side, uplo, trans, diag, m, n, alpha, a, b, ia, ja, desca,
                    ib, jb, descb});
}
