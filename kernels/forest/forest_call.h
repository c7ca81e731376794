/* What neighbours say of their transfers (private to forests). */
#ifndef FOREST_CALL_H
#define FOREST_CALL_H

#include "kernels/forest/forest.h"

/* Where its values lie, and who waits to hear it. By who is in the pool. */
call_places osli_forest_look_up(osla_forest *f, forest_transfer *x);

/* Neighbours that read from me, or add, look for it there, also where it only says that a ring
 * brings it. By who is in the pool. */
void osli_forest_call(osla_forest *f, uint64_t number, const forest_transfer *x,
                      const call_places *at);
void osli_forest_wake_readers(osla_forest *f, const forest_transfer *x);

/* What a neighbour says of this transfer; NULL: it has not begun it. */
static inline const forest_call *osla_forest_call_of(const forest_link *l, uint64_t number)
{
  const forest_call *call = &l->control->of[number % CALLS].call;
  return atomic_load_explicit(&call->number, memory_order_acquire) == number ? call : NULL;
}

/* A neighbour's values in place; base NULL: they are in no array. */
static inline vertex_list osla_forest_in_place(const osla_forest *f, const forest_link *l,
                                               const call_values *values)
{
  if (values->array < 0) return (vertex_list){NULL, 0, NULL, 0, NULL};
  unsigned char *base =
    osla_segment_peer(osla_pool_array(f->pool, values->array)->segment, l->rank);
  return osla_link_theirs(l, base + values->offset, values->stride);
}

#endif
