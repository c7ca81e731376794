/* p?geadd: sub(C) := alpha op(sub(A)) + beta sub(C), where op is a transposition; types s and d.
 *
 * A is copied to memory that all ranks can access, transposed into a matrix distributed like C, and
 * added to C in place. The transposition also covers those rows and columns of the first blocks
 * that precede sub(A). Calls without transposition are passed on, since the real routine only adds,
 * or sends whole blocks.
 */
#include "scalapack_adapt/adapt.h"

#include <complex.h>

typedef struct geadd_args {
  osla_dtype dtype;
  const char *trans;
  const int *m, *n;
  const void *alpha, *a, *beta;
  void *c;
  const int *ia, *ja, *desca, *ic, *jc, *descc;
} geadd_args;

#define GEADD_PARAMETERS                                                                           \
  const char *trans, const int *m, const int *n, const void *alpha, const void *a, const int *ia,  \
    const int *ja, const int *desca, const void *beta, void *c, const int *ic, const int *jc,      \
    const int *descc

/* Type of the real routine. The last arguments, which Fortran adds, are the lengths of the
 * CHARACTER arguments. */
typedef void geadd_real(GEADD_PARAMETERS, size_t);

/* smallest number of elements for which offloading gains */
static const double least = 65536;

/* y := alpha x + beta y for n elements; reads no y if beta = 0. */
static void add_double(int64_t n, double alpha, const double *x, double beta, double *y)
{
  for (int64_t i = 0; i < n; i++)
    y[i] = beta == 0 ? alpha * x[i] : alpha * x[i] + beta * y[i];
}

static void add_float(int64_t n, float alpha, const float *x, float beta, float *y)
{
  for (int64_t i = 0; i < n; i++)
    y[i] = beta == 0 ? alpha * x[i] : alpha * x[i] + beta * y[i];
}

/* sub(C) := alpha X + beta sub(C), where X is the transposed operand, which the matrix `turned`
 * holds. Local. */
static void add(const geadd_args *x, const adapt_sub *c, const osla_matrix *turned)
{
  adapt_rectangle r = adapt_rectangle_of(c, turned);
  double alpha = creal(adapt_factor(x->dtype, x->alpha));
  double beta = creal(adapt_factor(x->dtype, x->beta));
  for (int64_t col = r.col; col < r.cols && r.row < r.rows; col++) {
    int64_t from = r.row + col * r.lld, to = r.row + col * c->lld;
    if (x->dtype == OSLA_FLOAT)
      add_float(r.rows - r.row, (float)alpha, (float *)osla_matrix_local(turned) + from,
                (float)beta, (float *)(void *)c->local + to);
    else
      add_double(r.rows - r.row, alpha, (double *)osla_matrix_local(turned) + from, beta,
                 (double *)(void *)c->local + to);
  }
}

static bool offload(adapt_call *call, const geadd_args *x)
{
  enum { A, C };
  osla_trans trans;
  adapt_staged a = {0}, turned = {0};
  osla_err err;
  if (call->reason != ADAPT_OFFLOADED) return false;
  if (!adapt_trans_of(x->trans, &trans)) return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  if (trans == OSLA_NOTRANS) return adapt_call_refuse(call, ADAPT_FAST);
  if (adapt_factor(x->dtype, x->alpha) == 0) return adapt_call_refuse(call, ADAPT_FAST);
  int64_t m = *x->m, n = *x->n;
  adapt_sub subs[] = {adapt_sub_at(x->a, x->ia, x->ja, x->desca, n, m),
                      adapt_sub_at(x->c, x->ic, x->jc, x->descc, m, n)};
  if (!adapt_call_open(call, (double)m * (double)n, least, 2, subs)) return false;
  if (subs[A].row != subs[C].col || subs[A].col != subs[C].row)
    return adapt_call_refuse(call, ADAPT_LAYOUT);

  OSLA_TRY(adapt_stage(call, &subs[A], ADAPT_WHOLE, ADAPT_UNDEFINED, &a));
  OSLA_TRY(adapt_stage(call, &subs[C], ADAPT_NOTHING, ADAPT_UNDEFINED, &turned));
  OSLA_TRY(osla_matrix_transpose(trans, a.matrix, turned.matrix));
  add(x, &subs[C], turned.matrix);
cleanup:
  adapt_stage_free(call, &turned);
  adapt_stage_free(call, &a);
  return adapt_call_succeeded(call, err);
}

static void geadd(const geadd_args *x)
{
  adapt_call call = adapt_call_begin(ADAPT_GEADD, x->dtype);
  if (!offload(&call, x))
    ((geadd_real *)adapt_call_pass(&call))(x->trans, x->m, x->n, x->alpha, x->a, x->ia, x->ja,
                                           x->desca, x->beta, x->c, x->ic, x->jc, x->descc, 1);
  adapt_call_end(&call);
}

#define OFFLOAD_OR_PASS(dtype, ...) geadd(&(geadd_args){dtype, __VA_ARGS__})

ADAPT_ENTRIES_REAL(geadd, OFFLOAD_OR_PASS, (GEADD_PARAMETERS), trans, m, n, alpha, a, beta, c, ia,
                   ja, desca, ic, jc, descc)
