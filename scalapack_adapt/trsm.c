/* p?trsm: sub(B) := alpha op(T)^-1 sub(B) or alpha sub(B) op(T)^-1, where T is a triangle of
 * sub(A).
 *
 * The triangle and B are copied to memory that all ranks can access, and B is copied back; B is not
 * copied if each rank solves only for its own part. If T and B do not begin with a block, the
 * larger system with [I 0; 0 T] and [0; B] is solved, which begins with a block.
 */
#include "osla_solve.h"
#include "scalapack_adapt/triangle.h"

#include <math.h>

/* True if a solve with the larger system, whose matrix is [I 0; 0 T], gives the result in one
 * call. */
static bool fits(osla_side side, const adapt_sub *a, const adapt_sub *b)
{
  return a->mb == a->nb && a->row == a->col && (side == OSLA_LEFT ? b->row : b->col) == a->row;
}

/* True if each rank solves only for its own part of B, and B begins with a block. With T on the
 * right side this is false, since the kernel then solves for the transpose. */
static bool is_own(osla_side side, const adapt_sub *a, const adapt_sub *b)
{
  return side == OSLA_LEFT && osla_grid_nprow(b->grid) == 1 && a->pcol == b->pcol && b->row == 0 &&
         b->col == 0;
}

/* True if offloading the call is known to gain. On one process column the real routine works like
 * a single process, with few messages, and is faster up to about order 1600. */
static bool is_worth_it(const adapt_call *call, osla_side side, const adapt_sub *b, double flops)
{
  bool one_column = osla_grid_npcol(b->grid) == 1 && !call->alone;
  double least = one_column ? 8e9 : side == OSLA_RIGHT && !call->alone ? 2.5e8 : 0;
  return flops >= least || adapt_call_asked(call);
}

/* Solves on call->device, or on the host if call->device is NULL. */
static osla_err solve(adapt_call *call, const triangle *t)
{
  const adapt_sub *a_sub = &t->subs[TRIANGLE_A], *b_sub = &t->subs[TRIANGLE_B];
  adapt_staged a = {0}, b = {0};
  osla_err err;
  OSLA_TRY(adapt_triangle_stage(call, t, ADAPT_IDENTITY, &a));
  if (is_own(t->side, a_sub, b_sub))
    OSLA_TRY(adapt_stage_result(call, b_sub, ADAPT_WHOLE, &b));
  else
    OSLA_TRY(adapt_stage(call, b_sub, ADAPT_WHOLE, ADAPT_ZEROS, &b));
  err = osla_trsm(t->side, t->uplo, t->trans, t->diag, t->alpha, a.matrix, b.matrix);
  if (b.buffer || b.host ? err == OSLA_OK : adapt_call_completed(call, err))
    adapt_unstage(call, &b, ADAPT_WHOLE);
cleanup:
  adapt_stage_free(call, &b);
  adapt_stage_free(call, &a);
  return err;
}

static bool offload(adapt_call *call, triangle *t)
{
  const adapt_sub *a_sub = &t->subs[TRIANGLE_A], *b_sub = &t->subs[TRIANGLE_B];
  /* smallest number of operations for which offloading gains on one process row (order 96) */
  double small = t->side == OSLA_LEFT ? 8e5 : HUGE_VAL;
  double least = adapt_least_flops(call, small, true, t->subs, TRIANGLE_B);
  if (!adapt_call_open(call, t->flops, least, 2, t->subs)) return false;
  /* With several processes a device has no ADAPT_IDENTITY, so T must begin with row 0 of a
   * block. */
  const bool served = call->alone || (fits(t->side, a_sub, b_sub) && a_sub->row == 0);
  const adapt_place place = served ? ADAPT_ON_DEVICE : ADAPT_HOST_LAYOUT;
  adapt_device_choose(call, t->flops, adapt_elements(a_sub) / 2 + 2 * adapt_elements(b_sub), place,
                      2, t->subs);
  if (!fits(t->side, a_sub, b_sub)) return adapt_call_refuse(call, ADAPT_LAYOUT);
  if (!call->device && !is_worth_it(call, t->side, b_sub, t->flops))
    return adapt_call_refuse(call, ADAPT_FAST);
  osla_err err = solve(call, t);
  if (adapt_device_lacks(call, err)) err = solve(call, t);
  return adapt_call_succeeded(call, err);
}

TRIANGLE_ENTRIES(trsm, ADAPT_TRSM, offload)
