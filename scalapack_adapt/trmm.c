/* p?trmm: sub(B) := alpha op(T) sub(B) or alpha sub(B) op(T), T a triangle of sub(A).
 *
 * The triangle and B are copied to where all ranks reach them, and B back: the kernel may run out
 * of memory when it has begun, and then B must be what it was.
 */
#include "adapt.h"

#include "osla_products.h"

#include <math.h>

typedef struct trmm_args {
  osla_dtype dtype;
  const char *side, *uplo, *trans, *diag;
  const int *m, *n;
  const void *alpha, *a;
  const int *ia, *ja, *desca;
  void *b;
  const int *ib, *jb, *descb;
} trmm_args;

typedef void trmm_routine(const char *side, const char *uplo, const char *trans, const char *diag,
                          const int *m, const int *n, const void *alpha, const void *a,
                          const int *ia, const int *ja, const int *desca, void *b, const int *ib,
                          const int *jb, const int *descb);
/* The real one, as Fortran calls it: with the lengths of the letters. */
typedef void trmm_real(const char *side, const char *uplo, const char *trans, const char *diag,
                       const int *m, const int *n, const void *alpha, const void *a, const int *ia,
                       const int *ja, const int *desca, void *b, const int *ib, const int *jb,
                       const int *descb, size_t, size_t, size_t, size_t);

static bool take(adapt_call *call, const trmm_args *x)
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
  if (!adapt_call_open(call, flops, adapt_least_flops(call, HUGE_VAL, false, subs, B), 2, subs))
    return false;
  /* Measured with 2 processes, order 512 to 2048, blocks of 64: 0.55 to 1.1 times as fast. */
  if (!adapt_call_asked(call)) return adapt_call_refuse(call, ADAPT_FAST);

  OSLA_TRY(adapt_stage(call, &subs[A], uplo == OSLA_LOWER ? ADAPT_LOWER : ADAPT_UPPER,
                       ADAPT_UNDEFINED, &a));
  OSLA_TRY(adapt_stage(call, &subs[B], ADAPT_WHOLE, ADAPT_UNDEFINED, &b));
  err = osla_trmm(side, uplo, trans, diag, adapt_factor(x->dtype, x->alpha),
                  adapt_part(&subs[A], a.matrix), adapt_part(&subs[B], b.matrix), NULL);
  if (err == OSLA_OK) adapt_unstage(call, &b, ADAPT_WHOLE);
cleanup:
  adapt_stage_free(call, &b);
  adapt_stage_free(call, &a);
  return adapt_call_succeeded(call, err);
}

static void trmm(const trmm_args *x)
{
  adapt_call call = adapt_call_begin(ADAPT_TRMM, x->dtype);
  if (!take(&call, x))
    ((trmm_real *)adapt_call_pass(&call))(x->side, x->uplo, x->trans, x->diag, x->m, x->n, x->alpha,
                                          x->a, x->ia, x->ja, x->desca, x->b, x->ib, x->jb,
                                          x->descb, 1, 1, 1, 1);
  adapt_call_end(&call);
}

/* --- the names --- */

trmm_routine pstrmm_, pdtrmm_, pctrmm_, pztrmm_;

#define ROUTINE(name, dtype)                                                                       \
  void name(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, \
            const int *n, const void *alpha, const void *a, const int *ia, const int *ja,          \
            const int *desca, void *b, const int *ib, const int *jb, const int *descb)             \
  {                                                                                                \
    trmm(&(trmm_args){dtype, side, uplo, trans, diag, m, n, alpha, a, ia, ja, desca, b, ib, jb,    \
                      descb});                                                                     \
  }

ROUTINE(pstrmm_, OSLA_FLOAT)
ROUTINE(pdtrmm_, OSLA_DOUBLE)
ROUTINE(pctrmm_, OSLA_COMPLEX_FLOAT)
ROUTINE(pztrmm_, OSLA_COMPLEX_DOUBLE)
