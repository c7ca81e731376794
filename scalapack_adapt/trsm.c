/* p?trsm: sub(B) := alpha op(T)^-1 sub(B) or alpha sub(B) op(T)^-1, T a triangle of sub(A).
 *
 * The triangle and B are copied to where all ranks reach them, and B back; where each solves for
 * its own part alone, B is not. Where they do not begin with a block they are solved with as parts
 * of larger ones: [I 0; 0 T] and [0; B].
 */
#include "osla_solve.h"
#include "scalapack_adapt/triangle.h"

#include <math.h>

/* Can one solve with the larger ones serve? */
static bool fits(osla_side side, const adapt_sub *a, const adapt_sub *b)
{
  return a->mb == a->nb && a->row == a->col && (side == OSLA_LEFT ? b->row : b->col) == a->row;
}

/* Does each rank solve for its own part of B alone, and begins B with a block? (From the right the
 * kernel solves for the transpose.) */
static bool is_own(osla_side side, const adapt_sub *a, const adapt_sub *b)
{
  return side == OSLA_LEFT && osla_grid_nprow(b->grid) == 1 && a->pcol == b->pcol && b->row == 0 &&
         b->col == 0;
}

/* On one process column the real routine works as one process would, with few messages. Measured
 * with 2 x 1 processes on 2 cores: of the time there, order 600 takes 1.1 to 1.9, 1000 up to 1.35,
 * 1600 1.1, 2000 0.9 to 0.95. From the right, with 1 x 2, order 384 takes 1 to 1.15, 700 0.8. */
static bool is_worth_it(const adapt_call *call, osla_side side, const adapt_sub *b, double flops)
{
  bool one_column = osla_grid_npcol(b->grid) == 1 && !call->alone;
  double least = one_column ? 8e9 : side == OSLA_RIGHT && !call->alone ? 2.5e8 : 0;
  return flops >= least || adapt_call_asked(call);
}

static bool offload(adapt_call *call, triangle *t)
{
  adapt_sub *a_sub = &t->subs[TRIANGLE_A], *b_sub = &t->subs[TRIANGLE_B];
  adapt_staged a = {0}, b = {0};
  osla_err err;
  /* Order 96 takes 0.4 of the time with 2 processes in a row. */
  double small = t->side == OSLA_LEFT ? 8e5 : HUGE_VAL;
  double least = adapt_least_flops(call, small, true, t->subs, TRIANGLE_B);
  if (!adapt_call_open(call, t->flops, least, 2, t->subs)) return false;
  if (!fits(t->side, a_sub, b_sub)) return adapt_call_refuse(call, ADAPT_LAYOUT);
  if (!is_worth_it(call, t->side, b_sub, t->flops)) return adapt_call_refuse(call, ADAPT_FAST);

  OSLA_TRY(adapt_triangle_stage(call, t, ADAPT_IDENTITY, &a));
  if (is_own(t->side, a_sub, b_sub))
    OSLA_TRY(adapt_wrap(call, b_sub, &b.matrix));
  else
    OSLA_TRY(adapt_stage(call, b_sub, ADAPT_WHOLE, ADAPT_ZEROS, &b));
  err = osla_trsm(t->side, t->uplo, t->trans, t->diag, t->alpha, a.matrix, b.matrix);
  if (b.buffer ? err == OSLA_OK : adapt_call_completed(call, err))
    adapt_unstage(call, &b, ADAPT_WHOLE);
cleanup:
  adapt_stage_free(call, &b);
  adapt_stage_free(call, &a);
  return adapt_call_succeeded(call, err);
}

TRIANGLE_ROUTINE(pstrsm_, OSLA_FLOAT, ADAPT_TRSM, offload)
TRIANGLE_ROUTINE(pdtrsm_, OSLA_DOUBLE, ADAPT_TRSM, offload)
TRIANGLE_ROUTINE(pctrsm_, OSLA_COMPLEX_FLOAT, ADAPT_TRSM, offload)
TRIANGLE_ROUTINE(pztrsm_, OSLA_COMPLEX_DOUBLE, ADAPT_TRSM, offload)
