/* What a rank says of its transfers to neighbours. */
#include "kernels/forest/forest_call.h"
#include "osla_clock.h"

static const call_values nowhere = {-1, 0, 0};

/* What neighbours need to find my vertices `low` to `high` of an array of mine. */
static call_values values_at(const osla_forest *f, const forest_transfer *x,
                             const unsigned char *base, int64_t low, int64_t high)
{
  if (high < low) return nowhere;
  size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  int array =
    osli_pool_find(f->pool, base + low * x->stride, (size_t)((high - low) * x->stride) + bytes);
  if (array < 0) return nowhere;
  return (call_values){array, base - osla_pool_array(f->pool, array)->base, x->stride};
}

/* Does a neighbour read values in place, and wait for the call? */
static bool is_awaited(osla_forest *f, const forest_transfer *x)
{
  const forest_links *out = osla_forest_out(f, x->kind);
  for (int i = 0; i < out->n; i++)
    if (osla_forest_lends(x, &out->of[i])) return true;
  return false;
}

call_places osli_forest_look_up(osla_forest *f, forest_transfer *x)
{
  const int64_t last_leaf = f->leaf_space - 1;
  call_places at = {nowhere, nowhere};
  x->awaited = is_awaited(f, x);
  if (x->shared) return at;
  at.values = x->kind == FOREST_BCAST ? values_at(f, x, x->from, f->low_root, f->high_root)
                                      : values_at(f, x, x->from, f->low_leaf, last_leaf);
  if (x->kind == FOREST_FETCH) at.before = values_at(f, x, x->before, f->low_leaf, last_leaf);
  x->in_place = at.values.array >= 0;
  x->before_in_place = at.before.array >= 0;
  return at;
}

void osli_forest_call(osla_forest *f, uint64_t number, const forest_transfer *x,
                      const call_places *at)
{
  forest_call *mine = &f->control->of[number % CALLS].call;
  atomic_store_explicit(&mine->number, 0, memory_order_relaxed); /* a late look is in vain */
  atomic_thread_fence(memory_order_release);
  mine->values = at->values;
  mine->before = at->before;
  mine->what = x->what;
  osla_clock_settle();
  atomic_store_explicit(&mine->number, number, memory_order_release);
}

void osli_forest_wake_readers(osla_forest *f, const forest_transfer *x)
{
  const forest_links *out = osla_forest_out(f, x->kind);
  for (int i = 0; i < out->n; i++)
    if (osla_forest_lends(x, &out->of[i])) osla_pool_wake(f->pool, out->of[i].rank);
}
