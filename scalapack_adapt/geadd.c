/* p?geadd: sub(C) := alpha op(sub(A)) + beta sub(C), where op is a transposition; s and d.
 *
 * A is copied to where all ranks reach it, its transpose made beside it, dealt like C, and added to
 * C where that is. Without a transposition the real routine only adds, or sends whole blocks.
 */
#include "adapt.h"

#include <complex.h>

typedef struct geadd_args {
  osla_dtype dtype;
  const char *trans;
  const int *m, *n;
  const void *alpha, *a, *beta;
  void *c;
  const int *ia, *ja, *desca, *ic, *jc, *descc;
} geadd_args;

typedef void geadd_routine(const char *trans, const int *m, const int *n, const void *alpha,
                           const void *a, const int *ia, const int *ja, const int *desca,
                           const void *beta, void *c, const int *ic, const int *jc,
                           const int *descc);

/* Elements from which on we gain. */
static const double least = 65536;

static bool take(adapt_call *call, const geadd_args *x)
{
  enum { A, C };
  osla_trans trans;
  adapt_staged a = {0}, turned = {0};
  osla_matrix *c = NULL;
  osla_err err;
  if (call->reason != ADAPT_TAKEN) return false;
  if (!adapt_trans_of(x->trans, &trans)) return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  if (trans == OSLA_NOTRANS) return adapt_call_refuse(call, ADAPT_FAST);
  int64_t m = *x->m, n = *x->n;
  adapt_sub subs[] = {adapt_sub_at(x->a, x->ia, x->ja, x->desca, n, m),
                      adapt_sub_at(x->c, x->ic, x->jc, x->descc, m, n)};
  if (!adapt_call_open(call, (double)m * (double)n, least, 2, subs)) return false;
  if (subs[A].row || subs[A].col || subs[C].row || subs[C].col)
    return adapt_call_refuse(call, ADAPT_LAYOUT);

  OSLA_TRY(adapt_stage(call, &subs[A], ADAPT_WHOLE, ADAPT_UNDEFINED, &a));
  OSLA_TRY(adapt_stage(call, &subs[C], ADAPT_NOTHING, ADAPT_UNDEFINED, &turned));
  OSLA_TRY(adapt_wrap(call, &subs[C], &c));
  OSLA_TRY(osla_matrix_transpose(trans, a.matrix, turned.matrix));
  err = osla_matrix_add(creal(adapt_factor(x->dtype, x->alpha)), turned.matrix,
                        creal(adapt_factor(x->dtype, x->beta)), c);
  (void)adapt_call_completed(call, err);
cleanup:
  osla_matrix_destroy(&c);
  adapt_stage_free(call, &turned);
  adapt_stage_free(call, &a);
  return adapt_call_succeeded(call, err);
}

static void geadd(const geadd_args *x)
{
  adapt_call call = adapt_call_begin(ADAPT_GEADD, x->dtype);
  if (!take(&call, x))
    ((geadd_routine *)adapt_call_pass(&call))(x->trans, x->m, x->n, x->alpha, x->a, x->ia, x->ja,
                                              x->desca, x->beta, x->c, x->ic, x->jc, x->descc);
  adapt_call_end(&call);
}

/* --- the names --- */

geadd_routine psgeadd_, pdgeadd_;

void psgeadd_(const char *trans, const int *m, const int *n, const void *alpha, const void *a,
              const int *ia, const int *ja, const int *desca, const void *beta, void *c,
              const int *ic, const int *jc, const int *descc)
{
  geadd(&(geadd_args){OSLA_FLOAT, trans, m, n, alpha, a, beta, c, ia, ja, desca, ic, jc, descc});
}

void pdgeadd_(const char *trans, const int *m, const int *n, const void *alpha, const void *a,
              const int *ia, const int *ja, const int *desca, const void *beta, void *c,
              const int *ic, const int *jc, const int *descc)
{
  geadd(&(geadd_args){OSLA_DOUBLE, trans, m, n, alpha, a, beta, c, ia, ja, desca, ic, jc, descc});
}

ADAPT_ALIASES(psgeadd_, psgeadd, PSGEADD);
ADAPT_ALIASES(pdgeadd_, pdgeadd, PDGEADD);
