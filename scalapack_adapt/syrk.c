/* p?syrk: one triangle of sub(C) := alpha op(sub(A)) op(sub(A))^T + beta sub(C); s and d.
 *
 * A is copied to where all ranks reach it; C is worked on where it is.
 */
#include "adapt.h"

#include <complex.h>
#include <math.h>

typedef struct syrk_args {
  osla_dtype dtype;
  const char *uplo, *trans;
  const int *n, *k;
  const void *alpha, *a, *beta;
  void *c;
  const int *ia, *ja, *desca, *ic, *jc, *descc;
} syrk_args;

typedef void syrk_routine(const char *uplo, const char *trans, const int *n, const int *k,
                          const void *alpha, const void *a, const int *ia, const int *ja,
                          const int *desca, const void *beta, void *c, const int *ic, const int *jc,
                          const int *descc);
/* The real one, as Fortran calls it: with the lengths of the letters. */
typedef void syrk_real(const char *uplo, const char *trans, const int *n, const int *k,
                       const void *alpha, const void *a, const int *ia, const int *ja,
                       const int *desca, const void *beta, void *c, const int *ic, const int *jc,
                       const int *descc, size_t, size_t);

/* From which k on order 128 gains (2 processes in a row: 1.1 to 1.4 times as fast; one above the
 * other 0.6 to 1). */
enum { DEEP = 128 };

static bool take(adapt_call *call, const syrk_args *x)
{
  enum { A, C };
  osla_uplo uplo;
  osla_trans trans;
  adapt_staged a = {0};
  osla_matrix *c = NULL;
  osla_err err;
  if (call->reason != ADAPT_TAKEN) return false;
  if (!adapt_uplo_of(x->uplo, &uplo) || !adapt_trans_of(x->trans, &trans))
    return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  if (adapt_factor(x->dtype, x->alpha) == 0) return adapt_call_refuse(call, ADAPT_FAST);
  int64_t n = *x->n, k = *x->k;
  adapt_sub subs[] = {adapt_sub_at(x->a, x->ia, x->ja, x->desca, trans ? k : n, trans ? n : k),
                      adapt_sub_at(x->c, x->ic, x->jc, x->descc, n, n)};
  double flops = adapt_work((double)n * (double)n * (double)k, n, n, k);
  double least = adapt_least_flops(call, k >= DEEP ? 2e6 : HUGE_VAL, true, subs, C);
  if (!adapt_call_open(call, flops, least, 2, subs)) return false;

  OSLA_TRY(adapt_stage_input(call, &subs[A], false, &a));
  OSLA_TRY(adapt_wrap(call, &subs[C], &c));
  err =
    osla_syrk(uplo, trans, creal(adapt_factor(x->dtype, x->alpha)), adapt_part(&subs[A], a.matrix),
              creal(adapt_factor(x->dtype, x->beta)), adapt_part(&subs[C], c), NULL);
  (void)adapt_call_completed(call, err);
cleanup:
  osla_matrix_destroy(&c);
  adapt_stage_free(call, &a);
  return adapt_call_succeeded(call, err);
}

static void syrk(const syrk_args *x)
{
  adapt_call call = adapt_call_begin(ADAPT_SYRK, x->dtype);
  if (!take(&call, x))
    ((syrk_real *)adapt_call_pass(&call))(x->uplo, x->trans, x->n, x->k, x->alpha, x->a, x->ia,
                                          x->ja, x->desca, x->beta, x->c, x->ic, x->jc, x->descc, 1,
                                          1);
  adapt_call_end(&call);
}

/* --- the names --- */

syrk_routine pssyrk_, pdsyrk_;

void pssyrk_(const char *uplo, const char *trans, const int *n, const int *k, const void *alpha,
             const void *a, const int *ia, const int *ja, const int *desca, const void *beta,
             void *c, const int *ic, const int *jc, const int *descc)
{
  syrk(
    &(syrk_args){OSLA_FLOAT, uplo, trans, n, k, alpha, a, beta, c, ia, ja, desca, ic, jc, descc});
}

void pdsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const void *alpha,
             const void *a, const int *ia, const int *ja, const int *desca, const void *beta,
             void *c, const int *ic, const int *jc, const int *descc)
{
  syrk(
    &(syrk_args){OSLA_DOUBLE, uplo, trans, n, k, alpha, a, beta, c, ia, ja, desca, ic, jc, descc});
}
