/* Arguments of p?trmm and p?trsm, and the call of the real routine. */
#include "scalapack_adapt/triangle.h"

/* Type of the real routine. The last arguments, which Fortran adds, are the lengths of the
 * CHARACTER arguments. */
typedef void real_routine(TRIANGLE_PARAMETERS, size_t, size_t, size_t, size_t);

static bool read(adapt_call *call, const triangle_args *x, triangle *t)
{
  if (call->reason != ADAPT_OFFLOADED) return false;
  if (!adapt_side_of(x->side, &t->side) || !adapt_uplo_of(x->uplo, &t->uplo) ||
      !adapt_trans_of(x->trans, &t->trans) || !adapt_diag_of(x->diag, &t->diag))
    return adapt_call_refuse(call, ADAPT_ARGUMENTS);
  t->alpha = adapt_factor(x->dtype, x->alpha);
  if (t->alpha == 0) return adapt_call_refuse(call, ADAPT_FAST);
  int64_t m = *x->m, n = *x->n, order = t->side == OSLA_LEFT ? m : n;
  t->subs[TRIANGLE_A] = adapt_sub_at(x->a, x->ia, x->ja, x->desca, order, order);
  t->subs[TRIANGLE_B] = adapt_sub_at(x->b, x->ib, x->jb, x->descb, m, n);
  t->flops = adapt_work((double)m * (double)n * (double)order, m, n, order);
  return true;
}

void adapt_triangle(adapt_routine routine, const triangle_args *x,
                    bool (*offload)(adapt_call *call, triangle *t))
{
  adapt_call call = adapt_call_begin(routine, x->dtype);
  triangle t;
  if (!read(&call, x, &t) || !offload(&call, &t))
    ((real_routine *)adapt_call_pass(&call))(x->side, x->uplo, x->trans, x->diag, x->m, x->n,
                                             x->alpha, x->a, x->ia, x->ja, x->desca, x->b, x->ib,
                                             x->jb, x->descb, 1, 1, 1, 1);
  adapt_call_end(&call);
}

osla_err adapt_triangle_stage(adapt_call *call, const triangle *t, adapt_border border,
                              adapt_staged *out)
{
  return adapt_stage(call, &t->subs[TRIANGLE_A], t->uplo == OSLA_LOWER ? ADAPT_LOWER : ADAPT_UPPER,
                     border, out);
}
