#include "kernels/forest/forest_verify.h"
#include "kernels/forest/forest_call.h"
#include "kernels/forest/forest_serve.h"
#include "kernels/forest/forest_share.h"
#include "src/base/hash.h"

#include <inttypes.h>
#include <stdio.h>

static void describe(char *text, size_t size, uint64_t number, uint64_t what)
{
  static const char *const kinds[] = {"broadcast", "reduction", "fetch"};
  const int count = (int)(what >> 32);
  (void)snprintf(text, size, "transfer %" PRIu64 " is a %s, %s, of %d %s", number,
                 kinds[what & 255], osli_forest_combine_name(osla_forest_asked(what)), count,
                 osli_unit_name((osla_unit_type)(what >> 16 & 255)));
}

void osli_forest_check_same(const osla_forest *f, uint64_t number, const forest_transfer *x,
                            int rank, uint64_t their_number, uint64_t their_what)
{
  if ((uint32_t)number == (uint32_t)their_number && x->what == their_what) return;
  char mine[120], theirs[120];
  describe(mine, sizeof mine, number, x->what);
  describe(theirs, sizeof theirs, their_number, their_what);
  osla_transport_abort(f->t, osla_error_set(OSLA_ERR_STATE,
                                            "ranks begin different transfers of a forest: on rank "
                                            "%d %s, on rank %d %s",
                                            osla_transport_rank(f->t), mine, rank, theirs));
}

void osli_forest_look_at_calls(const osla_forest *f, uint64_t number, const forest_links *links)
{
  for (int i = 0; i < links->n; i++) {
    const forest_link *l = &links->of[i];
    const forest_call *call = l->near && !l->self ? osla_forest_call_of(l, number) : NULL;
    if (!call) continue;
    const uint64_t what = call->what;
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&call->number, memory_order_relaxed) == number) /* still */
      osli_forest_check_same(f, number, &f->transfer[number % CALLS], l->rank, number, what);
  }
}

/* The number whose low end is `low`, near that of the transfer that was read last. */
static int64_t whole_number(const osla_forest *f, uint32_t low)
{
  return (int64_t)f->read + (int32_t)(low - (uint32_t)f->read);
}

/* What lies next in a ring is of a transfer that is to be read from there, or of one that has not
 * begun here; if its transfer is known no more, the oldest that is known differs in its number. */
static void look_at_ring(const osla_forest *f, forest_link *l)
{
  forest_head head;
  if (l->self || !osli_ring_next(&l->ring, &head)) return;
  const int64_t number = whole_number(f, head.number), begun = (int64_t)f->begun,
                oldest = begun > CALLS ? begun + 1 - CALLS : 1;
  if (number > begun) return;
  const uint64_t known = (uint64_t)(number < oldest ? oldest : number);
  osli_forest_check_same(f, known, &f->transfer[known % CALLS], l->rank, head.number, head.what);
}

void osli_forest_look_at_rings(osla_forest *f)
{
  osli_forest_watch(f, true); /* until no more is under way here */
  for (int i = 0; i < f->to_roots.n; i++)
    look_at_ring(f, &f->to_roots.of[i]);
  for (int i = 0; i < f->to_leaves.n; i++)
    look_at_ring(f, &f->to_leaves.of[i]);
}

/* ---- values that are lent ---- */

/* The hash of what neighbours may read in place. */
static uint64_t sum_of_lent(osla_forest *f, const forest_transfer *x)
{
  const forest_links *out = osla_forest_out(f, x->kind);
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  uint64_t sum = OSLA_HASH_OF_NOTHING;
  for (int k = 0; k < out->n; k++) {
    const forest_link *l = &out->of[k];
    for (int64_t i = 0; osla_forest_lends(x, l) && i < l->edges; i++)
      sum = osla_hash(sum, x->from + x->stride * osla_link_vertex(l, i), bytes);
  }
  return sum;
}

void osli_forest_lend(osla_forest *f, uint64_t number)
{
  if (!f->pool->verifies) return;
  forest_transfer *x = osla_forest_transfer(f, number);
  if (x->shared) {
    osli_forest_lend(f->share->near, x->shared->near);
    return;
  }
  x->lent = x->in_place;
  if (!x->lent) return;
  x->lent_sum = sum_of_lent(f, x);
  x->lent_arrays = f->pool->arrays_gone;
}

/* Since an array has gone it may be this one: given up, or another one at its place. */
static bool is_as_lent(osla_forest *f, const forest_transfer *x)
{
  return x->lent_arrays != f->pool->arrays_gone || sum_of_lent(f, x) == x->lent_sum;
}

void osli_forest_check_lent(osla_forest *f)
{
  char text[120];
  if (!f->pool->verifies) return;
  if (f->share) osli_forest_check_lent(f->share->near);
  for (uint64_t number = f->begun > CALLS ? f->begun + 1 - CALLS : 1; number <= f->begun;
       number++) {
    const forest_transfer *x = osla_forest_transfer(f, number);
    if (!x->lent || is_as_lent(f, x)) continue;
    describe(text, sizeof text, number, x->what);
    osla_transport_abort(f->t,
                         osla_error_set(OSLA_ERR_STATE,
                                        "forest %d: rank %d has overwritten its %s between "
                                        "osla_forest_end_read and osla_forest_writable, where "
                                        "neighbours may still read them: %s",
                                        f->made, osla_transport_rank(f->t),
                                        x->kind == FOREST_BCAST ? "roots" : "leaves", text));
  }
}

void osli_forest_forget_lent(osla_forest *f)
{
  for (int i = 0; i < CALLS; i++)
    f->transfer[i].lent = false;
}
