/* p?symm, p?hemm: sub(C) := alpha A B + beta C or alpha B A + beta C, where A is a symmetric
 * (Hermitian) sub(A) of which one triangle is stored.
 *
 * The triangle of A, the matrix B and the matrix C are copied to memory that all ranks can access,
 * and C is copied back. The caller's C is not updated in place, because the kernel may run out of
 * memory after it has begun, and the real routine then needs the old C.
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

#define SYMM_PARAMETERS                                                                            \
  const char *side, const char *uplo, const int *m, const int *n, const void *alpha,               \
    const void *a, const int *ia, const int *ja, const int *desca, const void *b, const int *ib,   \
    const int *jb, const int *descb, const void *beta, void *c, const int *ic, const int *jc,      \
    const int *descc

/* Type of the real routine. The last arguments, which Fortran adds, are the lengths of the
 * CHARACTER arguments. */
typedef void symm_real(SYMM_PARAMETERS, size_t, size_t);

/* smallest number of operations for which offloading gains (order 512 with 2 processes) */
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

#define SYMM_OR_PASS(dtype, ...) symm(&(symm_args){dtype, false, __VA_ARGS__})
#define HEMM_OR_PASS(dtype, ...) symm(&(symm_args){dtype, true, __VA_ARGS__})

ADAPT_ENTRIES(symm, SYMM_OR_PASS, (SYMM_PARAMETERS), side, uplo, m, n, alpha, a, ia, ja, desca, b,
              ib, jb, descb, beta, c, ic, jc, descc)
ADAPT_ENTRIES_COMPLEX(hemm, HEMM_OR_PASS, (SYMM_PARAMETERS), side, uplo, m, n, alpha, a, ia, ja,
                      desca, b, ib, jb, descb, beta, c, ic, jc, descc)
