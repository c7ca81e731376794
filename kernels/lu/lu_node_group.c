#include "kernels/lu/lu_node_group.h"

/* Groups are formed only if ranks do not share cores, or if the whole process column is readable.
 * Otherwise members would have to wait until their leader runs on the core that it shares, so every
 * rank receives messages from other nodes itself. */
void osli_lu_leaders_choose(lu *f)
{
  const local_view *v = &f->v;
  for (int prow = 0, last = -1; v->pcol >= 0 && prow < v->p; prow++) {
    int node = osla_transport_node_of(v->t, rank_at(v, prow, v->pcol));
    bool joins = node == last && (f->column_readable || f->has_own_cores);
    f->leaders[prow] = joins ? f->leaders[prow - 1] : prow;
    last = node;
  }
}

lu_range osli_lu_node_group(const lu *f, int leader)
{
  lu_range group = one_process_row(leader);
  while (group.end < f->v.p && f->leaders[group.end] == leader)
    group.end++;
  return group;
}

osla_err osli_lu_group_notify(lu *f, uint64_t word)
{
  const lu_range group = osli_lu_node_group(f, f->v.prow);
  /* the group is the whole process column: no other node sends data, so no member waits for the
   * leader */
  if (group.end - group.first == f->v.p) return OSLA_OK;
  for (int prow = group.first + 1; prow < group.end; prow++)
    OSLA_CALL(osla_notify(f->store, rank_at(&f->v, prow, f->v.pcol), LU_LEADER, word));
  return OSLA_OK;
}

bool osli_lu_is_notified(lu *f, int prow, int purpose, uint64_t word, bool wait)
{
  int origin = rank_at(&f->v, prow, f->v.pcol);
  if (prow == f->v.prow) return true;
  if (wait) osla_notify_wait(f->store, origin, purpose, word);
  return wait || osla_notify_read(f->store, origin, purpose) >= word;
}
