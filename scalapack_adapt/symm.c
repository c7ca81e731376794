/* p?symm, p?hemm: sub(C) := alpha A B + beta C or alpha B A + beta C, A a symmetric (Hermitian)
 * sub(A) of which one triangle is stored.
 *
 * The triangle of A, B and C are copied to where all ranks reach them, and C back: the kernel may
 * run out of memory when it has begun, and then C must be what it was.
 */
#include "scalapack_adapt/adapt.h"

#include "osla_products.h"

#include <math.h>

typedef struct symm_args {
  osla_dtype dtype;
  bool hermitian;
  const char *side, *uplo;
  const int *m, *n;
  const void *alpha, *a;
  const int *ia, *ja, *desca;
  const void *b;
  const int *ib, *jb, *descb;
  const void *beta;
  void *c;
  const int *ic, *jc, *descc;
} symm_args;

typedef void symm_routine(const char *side, const char *uplo, const int *m, const int *n,
                          const void *alpha, const void *a, const int *ia, const int *ja,
                          const int *desca, const void *b, const int *ib, const int *jb,
                          const int *descb, const void *beta, void *c, const int *ic, const int *jc,
                          const int *descc);
/* The real one, as Fortran calls it: with the lengths of the letters. */
typedef void symm_real(const char *side, const char *uplo, const int *m, const int *n,
                       const void *alpha, const void *a, const int *ia, const int *ja,
                       const int *desca, const void *b, const int *ib, const int *jb,
                       const int *descb, const void *beta, void *c, const int *ic, const int *jc,
                       const int *descc, size_t, size_t);

/* Measured with 2 processes, blocks of 64: order 512 to 2048 is 1.1 to 2.1 times as fast. */
static const double measured = 2.6e8;

static bool offload(adapt_call *call, const symm_args *x)
{
  enum { A, B, C };
  osla_side side;
  osla_uplo uplo;
  adapt_staged a = {0}, b = {0}, c = {0};
  osla_err err;
  if (call->reason != ADAPT_OFFLOADED) return false;
  if (!adapt_side_of(x->side, &side) || !adapt_uplo_of(x->uplo, &uplo))
    return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  const osla_complex alpha = adapt_factor(x->dtype, x->alpha);
  if (alpha == 0) return adapt_call_refuse(call, ADAPT_FAST);
  int64_t m = *x->m, n = *x->n, order = side == OSLA_LEFT ? m : n;
  adapt_sub subs[] = {adapt_sub_at(x->a, x->ia, x->ja, x->desca, order, order),
                      adapt_sub_at(x->b, x->ib, x->jb, x->descb, m, n),
                      adapt_sub_at(x->c, x->ic, x->jc, x->descc, m, n)};
  double flops = adapt_work(2.0 * (double)m * (double)n * (double)order, m, n, order);
  if (!adapt_call_open(call, flops, adapt_least_flops(call, HUGE_VAL, false, subs, C), 3, subs))
    return false;
  if (flops < measured && !adapt_call_asked(call)) return adapt_call_refuse(call, ADAPT_FAST);

  OSLA_TRY(adapt_stage(call, &subs[A], uplo == OSLA_LOWER ? ADAPT_LOWER : ADAPT_UPPER,
                       ADAPT_UNDEFINED, &a));
  OSLA_TRY(adapt_stage_input(call, &subs[B], false, &b));
  const osla_complex beta = adapt_factor(x->dtype, x->beta);
  OSLA_TRY(
    adapt_stage(call, &subs[C], beta == 0 ? ADAPT_NOTHING : ADAPT_WHOLE, ADAPT_UNDEFINED, &c));
  err = (x->hermitian ? osla_hemm : osla_symm)(side, uplo, alpha, adapt_part(&subs[A], a.matrix),
                                               adapt_part(&subs[B], b.matrix), beta,
                                               adapt_part(&subs[C], c.matrix), NULL);
  if (err == OSLA_OK) adapt_unstage(call, &c, ADAPT_WHOLE);
cleanup:
  adapt_stage_free(call, &c);
  adapt_stage_free(call, &b);
  adapt_stage_free(call, &a);
  return adapt_call_succeeded(call, err);
}

static void symm(const symm_args *x)
{
  adapt_call call = adapt_call_begin(x->hermitian ? ADAPT_HEMM : ADAPT_SYMM, x->dtype);
  if (!offload(&call, x))
    ((symm_real *)adapt_call_pass(&call))(x->side, x->uplo, x->m, x->n, x->alpha, x->a, x->ia,
                                          x->ja, x->desca, x->b, x->ib, x->jb, x->descb, x->beta,
                                          x->c, x->ic, x->jc, x->descc, 1, 1);
  adapt_call_end(&call);
}

/* --- the names --- */

symm_routine pssymm_, pdsymm_, pcsymm_, pzsymm_, pchemm_, pzhemm_;

#define ROUTINE(name, dtype, hermitian)                                                            \
  void name(const char *side, const char *uplo, const int *m, const int *n, const void *alpha,     \
            const void *a, const int *ia, const int *ja, const int *desca, const void *b,          \
            const int *ib, const int *jb, const int *descb, const void *beta, void *c,             \
            const int *ic, const int *jc, const int *descc)                                        \
  {                                                                                                \
    symm(&(symm_args){dtype, hermitian, side, uplo, m,     n,    alpha, a,  ia, ja,                \
                      desca, b,         ib,   jb,   descb, beta, c,     ic, jc, descc});           \
  }

ROUTINE(pssymm_, OSLA_FLOAT, false)
ROUTINE(pdsymm_, OSLA_DOUBLE, false)
ROUTINE(pcsymm_, OSLA_COMPLEX_FLOAT, false)
ROUTINE(pzsymm_, OSLA_COMPLEX_DOUBLE, false)
ROUTINE(pchemm_, OSLA_COMPLEX_FLOAT, true)
ROUTINE(pzhemm_, OSLA_COMPLEX_DOUBLE, true)
