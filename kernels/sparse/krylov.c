/* Functions that the Krylov solvers share. */
#include "kernels/sparse/krylov.h"
#include "kernels/sparse/csr.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "osla_clock.h"
#include "src/base/double_bits.h"
#include "src/base/reserved.h"

enum { MOST_SUMS = 3, CHECK_EVERY = 16 };

/* Replaces zeros in the options by default values. */
static osla_krylov_options resolve(const osla_krylov_options *options)
{
  osla_krylov_options o = options ? *options : (osla_krylov_options){0};
  if (o.tolerance == 0.0) o.tolerance = 1e-8;
  if (o.check_every == 0) o.check_every = CHECK_EVERY;
  o.iterations = o.iterations == 0 ? 10000 : o.iterations == -1 ? 0 : o.iterations;
  return o;
}

static osla_err csr_multiply(void *arg, osla_trans op, const double *x, double beta, double *y)
{
  return osli_spmv_queue(op, arg, x, beta, y);
}

osla_operator osla_csr_operator(osla_csr *matrix)
{
  return (osla_operator){.transport = osla_csr_transport(matrix),
                         .rows = osla_csr_rows(matrix),
                         .columns = osla_csr_columns(matrix),
                         .multiply = csr_multiply,
                         .arg = matrix};
}

osla_csr *osli_krylov_csr(const osla_operator *a)
{
  return a->multiply == csr_multiply ? a->arg : NULL;
}

osla_err osli_krylov_device(const char *call, const osla_operator *a, const double *b,
                            const double *x, device_queue **out)
{
  const osla_csr *csr = osli_krylov_csr(a);
  *out = NULL;
  if (!osli_device_any()) return OSLA_OK;
  *out = csr ? osli_csr_queue(csr) : osli_device_find(b);
  char what[40];
  (void)snprintf(what, sizeof what, "%s: b", call);
  OSLA_CALL(osli_csr_check_vector(b, a->rows, what, *out, "the matrix"));
  (void)snprintf(what, sizeof what, "%s: x", call);
  return osli_csr_check_vector(x, a->columns, what, *out, csr ? "the matrix" : "b");
}

osla_err osli_krylov_precondition(void *self, const double *r, double *z)
{
  const own_preconditioner *own = self;
  return own->apply(self, r, z);
}

static osla_err check(const osla_operator *a, const osla_krylov_options *o, int64_t n_own,
                      double **own)
{
  OSLA_CALL(OSLA_RESERVED(osla_krylov_options, o));
  OSLA_CHECK(o->tolerance > 0.0 && isfinite(o->tolerance), OSLA_ERR_ARG,
             "tolerance %g is not a positive number", o->tolerance);
  OSLA_CHECK(o->iterations >= 0, OSLA_ERR_ARG, "iterations = %" PRId64 " is less than -1",
             o->iterations);
  OSLA_CHECK(o->check_every >= 1 && o->check_every <= INT32_MAX, OSLA_ERR_ARG,
             "check_every = %" PRId64 " is outside 0 to %d", o->check_every, INT32_MAX);
  OSLA_CHECK(a->rows >= 0 && a->columns >= 0, OSLA_ERR_ARG,
             "the operator has %" PRId64 " rows and %" PRId64 " columns, less than 0", a->rows,
             a->columns);
  *own = calloc((size_t)n_own + 1, sizeof **own);
  OSLA_CHECK(*own, OSLA_ERR_MEM, "no memory for vectors of %" PRId64 " numbers", n_own);
  return OSLA_OK;
}

osla_err osli_krylov_open(const char *call, const osla_operator *a,
                          const osla_krylov_options *options, int64_t n_own, int64_t n_shared,
                          osla_krylov_result *result, krylov *k)
{
  void *shared = NULL;
  *result = (osla_krylov_result){.end = OSLA_KRYLOV_ITERATIONS};
  *k = (krylov){.a = a, .options = resolve(options), .result = result, .start = osla_clock()};
  const osla_krylov_options *o = &k->options;
  const osla_argument same[] = {{"tolerance (bits)", double_bits(o->tolerance)},
                                {"iterations", o->iterations},
                                {"check_every", o->check_every}};
  /* this error is exchanged first, because its message names the wrong value */
  osla_err err = osla_agree(a->transport, check(a, o, n_own, &k->own));
  if (err == OSLA_OK) err = osla_agree_same(a->transport, OSLA_OK, call, same, 3);
  if (err == OSLA_OK) err = osla_sums_create(a->transport, MOST_SUMS, &k->sums);
  if (err == OSLA_OK)
    err = osla_vertices_create(a->transport, (size_t)n_shared * sizeof(double), &shared);
  k->shared = shared;
  return err == OSLA_OK ? OSLA_OK : osli_krylov_close(k, err);
}

osla_err osli_krylov_close(krylov *k, osla_err err)
{
  void *shared = k->shared;
  osla_err closed = osla_sums_destroy(&k->sums);
  if (closed == OSLA_OK && shared) closed = osla_vertices_free(k->a->transport, &shared);
  free(k->own);
  k->result->seconds = osla_clock() - k->start;
  *k = (krylov){0};
  return err == OSLA_OK ? closed : err;
}

osla_err osli_krylov_multiply(krylov *k, osla_trans op, const double *x, double beta, double *y)
{
  const double start = osla_clock();
  osla_err err = k->a->multiply(k->a->arg, op, x, beta, y);
  k->result->seconds_products += osla_clock() - start;
  return err;
}

osla_err osli_krylov_sum(krylov *k, int n, double *value)
{
  const double start = osla_clock();
  osla_err err = osla_sums_all(k->sums, n, value);
  k->result->seconds_sums += osla_clock() - start;
  return err;
}

bool osli_krylov_ended(krylov *k, int64_t iteration, double left)
{
  osla_krylov_result *r = k->result;
  r->iterations = iteration;
  r->left = left;
  if (k->options.each) k->options.each(k->options.arg, iteration, left);
  if (!isfinite(left))
    r->end = OSLA_KRYLOV_NOT_FINITE;
  else if (left <= k->options.tolerance)
    r->end = OSLA_KRYLOV_CONVERGED;
  else if (iteration < k->options.iterations)
    return false;
  return true;
}
