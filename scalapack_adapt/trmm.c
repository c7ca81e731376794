/* p?trmm: sub(B) := alpha op(T) sub(B) or alpha sub(B) op(T), where T is a triangle of sub(A).
 *
 * The triangle and B are copied to memory that all ranks can access, and B is copied back. B is not
 * updated in place, because the kernel may run out of memory after it has begun, and the real
 * routine then needs the old B.
 */
#include "osla_products.h"
#include "scalapack_adapt/triangle.h"

#include <math.h>

static bool offload(adapt_call *call, triangle *t)
{
  adapt_sub *a_sub = &t->subs[TRIANGLE_A], *b_sub = &t->subs[TRIANGLE_B];
  adapt_staged a = {0}, b = {0};
  osla_err err;
  double least = adapt_least_flops(call, HUGE_VAL, false, t->subs, TRIANGLE_B);
  if (!adapt_call_open(call, t->flops, least, 2, t->subs)) return false;
  /* offloading does not reliably gain: with 2 processes the kernel is 0.55 to 1.1 times as fast */
  if (!adapt_call_asked(call)) return adapt_call_refuse(call, ADAPT_FAST);

  OSLA_TRY(adapt_triangle_stage(call, t, ADAPT_UNDEFINED, &a));
  OSLA_TRY(adapt_stage(call, b_sub, ADAPT_WHOLE, ADAPT_UNDEFINED, &b));
  err = osla_trmm(t->side, t->uplo, t->trans, t->diag, t->alpha, adapt_part(a_sub, a.matrix),
                  adapt_part(b_sub, b.matrix), NULL);
  if (err == OSLA_OK) adapt_unstage(call, &b, ADAPT_WHOLE);
cleanup:
  adapt_stage_free(call, &b);
  adapt_stage_free(call, &a);
  return adapt_call_succeeded(call, err);
}

TRIANGLE_ENTRIES(trmm, ADAPT_TRMM, offload)
