/* Geometry of a step, and completion of earlier messages. All other files of the LU factorisation
 * use these functions. */
#include "kernels/lu/lu_state.h"

lu_step osli_lu_step_make(const lu *f, int64_t k)
{
  const local_view *v = &f->v;
  lu_step s = {.k = k, .start = k * v->nb, .prow = (int)(k % v->p), .pcol = (int)(k % v->q)};
  s.size = f->order - s.start < v->nb ? f->order - s.start : v->nb;
  s.mine = v->pcol == s.pcol;
  s.row = rows_below(v, s.start);
  s.row_after = rows_below(v, s.start + s.size);
  s.col = cols_below(v, s.start);
  s.col_after = cols_below(v, s.start + s.size);
  return s;
}

osla_err osli_lu_finish_posts(lu *f, osla_posted *posts, uint64_t exchange)
{
  osla_posted *set = posts + (exchange % 2) * (uint64_t)f->v.p;
  for (int prow = 0; prow < f->v.p; prow++)
    OSLA_CALL(osla_posted_wait(f->store, &set[prow]));
  return OSLA_OK;
}
