/* p?syrk: one triangle of sub(C) := alpha op(sub(A)) op(sub(A))^T + beta sub(C); p?herk: the same
 * operation with op(sub(A))^H.
 *
 * A is copied to memory that all ranks can access; C is updated in place.
 */
#include "scalapack_adapt/adapt.h"

#include <complex.h>
#include <math.h>

typedef struct syrk_args {
  osla_dtype dtype;
  bool hermitian;
  const char *uplo, *trans;
  const int *n, *k;
  const void *alpha, *a, *beta;
  void *c;
  const int *ia, *ja, *desca, *ic, *jc, *descc;
} syrk_args;

#define SYRK_PARAMETERS                                                                            \
  const char *uplo, const char *trans, const int *n, const int *k, const void *alpha,              \
    const void *a, const int *ia, const int *ja, const int *desca, const void *beta, void *c,      \
    const int *ic, const int *jc, const int *descc

/* Type of the real routine. The last arguments, which Fortran adds, are the lengths of the
 * CHARACTER arguments. */
typedef void syrk_real(SYRK_PARAMETERS, size_t, size_t);

/* smallest k for which a product with a result of order 128 gains, on one process row */
enum { DEEP = 128 };

/* The factors alpha and beta of p?herk are real for all types. */
static osla_complex factor(const syrk_args *x, const void *at)
{
  if (!x->hermitian) return adapt_factor(x->dtype, at);
  return adapt_factor(x->dtype == OSLA_COMPLEX_FLOAT ? OSLA_FLOAT : OSLA_DOUBLE, at);
}

/* True for the letters of op that PBLAS accepts. N is accepted for all types. For complex types T
 * is accepted only in p?syrk, and C only in p?herk. */
static bool is_served(const syrk_args *x, osla_trans trans)
{
  const bool real = x->dtype == OSLA_FLOAT || x->dtype == OSLA_DOUBLE;
  return trans == OSLA_NOTRANS || real || trans == (x->hermitian ? OSLA_CONJTRANS : OSLA_TRANS);
}

enum { A, C };

/* Computes the update on call->device, or on the host if call->device is NULL. */
static osla_err update(adapt_call *call, const syrk_args *x, osla_uplo uplo, osla_trans trans,
                       const adapt_sub *subs)
{
  const osla_complex alpha = factor(x, x->alpha), beta = factor(x, x->beta);
  const adapt_shape shape = uplo == OSLA_LOWER ? ADAPT_LOWER : ADAPT_UPPER;
  adapt_staged a = {0}, c = {0};
  osla_err err;
  OSLA_TRY(adapt_stage_input(call, &subs[A], false, &a));
  OSLA_TRY(adapt_stage_result(call, &subs[C], shape, &c));
  const osla_part from = adapt_part(&subs[A], a.matrix), to = adapt_part(&subs[C], c.matrix);
  err = x->hermitian ? osla_herk(uplo, trans, creal(alpha), from, creal(beta), to, NULL)
                     : osla_syrk(uplo, trans, alpha, from, beta, to, NULL);
  if (call->device ? err == OSLA_OK : adapt_call_completed(call, err))
    adapt_unstage(call, &c, shape);
cleanup:
  adapt_stage_free(call, &c);
  adapt_stage_free(call, &a);
  return err;
}

static bool offload(adapt_call *call, const syrk_args *x)
{
  osla_uplo uplo;
  osla_trans trans;
  if (call->reason != ADAPT_OFFLOADED) return false;
  if (!adapt_uplo_of(x->uplo, &uplo) || !adapt_trans_of(x->trans, &trans))
    return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  if (!is_served(x, trans)) return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  if (factor(x, x->alpha) == 0) return adapt_call_refuse(call, ADAPT_FAST);
  int64_t n = *x->n, k = *x->k;
  adapt_sub subs[] = {adapt_sub_at(x->a, x->ia, x->ja, x->desca, trans ? k : n, trans ? n : k),
                      adapt_sub_at(x->c, x->ic, x->jc, x->descc, n, n)};
  double flops = adapt_work((double)n * (double)n * (double)k, n, n, k);
  double least = adapt_least_flops(call, k >= DEEP ? 2e6 : HUGE_VAL, true, subs, C);
  if (!adapt_call_open(call, flops, least, 2, subs)) return false;
  /* The number of copied elements includes C once: half of C is copied to the device and back. */
  adapt_device_choose(call, flops, adapt_elements(&subs[A]) + adapt_elements(&subs[C]),
                      ADAPT_ON_DEVICE, 2, subs);
  const bool measured = x->dtype == OSLA_FLOAT || x->dtype == OSLA_DOUBLE;
  if (!call->device && !measured && !adapt_call_asked(call))
    return adapt_call_refuse(call, ADAPT_FAST);

  osla_err err = update(call, x, uplo, trans, subs);
  if (adapt_device_lacks(call, err)) err = update(call, x, uplo, trans, subs);
  return adapt_call_succeeded(call, err);
}

static void syrk(const syrk_args *x)
{
  adapt_call call = adapt_call_begin(x->hermitian ? ADAPT_HERK : ADAPT_SYRK, x->dtype);
  if (!offload(&call, x))
    ((syrk_real *)adapt_call_pass(&call))(x->uplo, x->trans, x->n, x->k, x->alpha, x->a, x->ia,
                                          x->ja, x->desca, x->beta, x->c, x->ic, x->jc, x->descc, 1,
                                          1);
  adapt_call_end(&call);
}

#define SYRK_OR_PASS(dtype, ...) syrk(&(syrk_args){dtype, false, __VA_ARGS__})
#define HERK_OR_PASS(dtype, ...) syrk(&(syrk_args){dtype, true, __VA_ARGS__})

ADAPT_ENTRIES(syrk, SYRK_OR_PASS, (SYRK_PARAMETERS), uplo, trans, n, k, alpha, a, beta, c, ia, ja,
              desca, ic, jc, descc)
ADAPT_ENTRIES_COMPLEX(herk, HERK_OR_PASS, (SYRK_PARAMETERS), uplo, trans, n, k, alpha, a, beta, c,
                      ia, ja, desca, ic, jc, descc)
