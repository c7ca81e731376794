#include "kernels/lu/lu_mates.h"

/* Where ranks share cores, a leader's word waits for its turn on a core: then all hear from other
 * nodes themselves. (Measured: two hosts of two ranks and one core each, 4 x 1: 13 % faster so.) */
void osli_lu_find_mates(lu *f)
{
  const local_view *v = &f->v;
  for (int prow = 0, last = -1; v->pcol >= 0 && prow < v->p; prow++) {
    int node = osla_transport_node_of(v->t, rank_at(v, prow, v->pcol));
    bool mate = node == last && (f->near || f->own_cores);
    f->leaders[prow] = mate ? f->leaders[prow - 1] : prow;
    last = node;
  }
}

lu_range osli_lu_mates(const lu *f, int leader)
{
  lu_range mates = only(leader);
  while (mates.end < f->v.p && f->leaders[mates.end] == leader)
    mates.end++;
  return mates;
}

osla_err osli_lu_tell_mates(lu *f, uint64_t word)
{
  const lu_range mates = osli_lu_mates(f, f->v.prow);
  if (mates.end - mates.first == f->v.p) return OSLA_OK; /* nobody else is there to wait for */
  for (int prow = mates.first + 1; prow < mates.end; prow++)
    OSLA_CALL(osla_notify(f->store, rank_at(&f->v, prow, f->v.pcol), LU_LEADER, word));
  return OSLA_OK;
}

bool osli_lu_has_come(lu *f, int prow, int purpose, uint64_t word, bool must)
{
  int origin = rank_at(&f->v, prow, f->v.pcol);
  if (prow == f->v.prow) return true;
  if (must) osla_notify_wait(f->store, origin, purpose, word);
  return must || osla_notify_read(f->store, origin, purpose) >= word;
}
