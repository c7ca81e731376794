/* What a rank does for the transfers that are under way (see forest.h), as far as it can be done
 * without waiting. */
#include "kernels/forest/forest_serve.h"
#include "kernels/forest/forest_call.h"
#include "kernels/forest/forest_exact.h"
#include "kernels/forest/forest_fetch.h"
#include "kernels/forest/forest_part.h"
#include "kernels/forest/forest_share.h"
#include "kernels/forest/forest_verify.h"
#include "osla_clock.h"

/* ---- reading ---- */

bool osli_forest_read_ring(osla_forest *f, uint64_t number, const forest_transfer *x,
                           forest_link *l, vertex_list to, osla_forest_combine combine,
                           forest_cursor *at)
{
  size_t element = osli_unit_element(x->type);
  int64_t parts = osli_ring_parts(&l->ring, l->edges, element, x->count);
  for (; at->part < parts; at->part++) {
    forest_head head;
    const unsigned char *slot = osli_ring_next(&l->ring, &head);
    if (!slot) return false;
    osli_forest_check_same(f, number, x, l->rank, head.number, head.what);
    ring_part part = osli_ring_part(&l->ring, l->edges, element, x->count, at->part);
    osli_vertices_combine(x->type, combine, part.numbers, osla_part_vertices(to, &part, element),
                          osla_part_packed(slot, &part, element), part.n);
    osli_ring_take(&l->ring);
    f->owes |= !osli_ring_credit(&l->ring);
  }
  return true;
}

/* `at`: the parts of its ring that were read. */
static bool read_link(osla_forest *f, uint64_t number, const forest_transfer *x, forest_link *l,
                      forest_cursor *at)
{
  const osla_forest_combine combine = x->gathered ? OSLA_REPLACE : x->combine;
  vertex_list to =
    x->gathered ? osli_forest_exact_place(f, x, l) : osla_link_mine(l, x->to, x->stride);
  vertex_list from = {NULL, 0, NULL, 0, NULL};
  if (l->self) {
    from = osla_link_theirs(l, x->from, x->stride);
  } else if (l->near && !osla_forest_packs(x, l, l->thin_theirs)) {
    const forest_call *call = osla_forest_call_of(l, number);
    if (!call) return false;
    osli_forest_check_same(f, number, x, l->rank, number, call->what);
    from = osla_forest_in_place(f, l, &call->values);
  }
  if (!from.base) return osli_forest_read_ring(f, number, x, l, to, combine, at);
  osli_vertices_combine(x->type, combine, x->count, to, from, l->edges);
  return true;
}

/* Now and then: a look at a neighbour's call takes its line, which it then waits for to begin. */
static bool looks_again(osla_forest *f)
{
  enum { IN_VAIN = 128 };
  return ++f->looks % IN_VAIN == 0;
}

/* The links behind the one whose turn it is, as they come. */
static void read_early(osla_forest *f, uint64_t number, const forest_transfer *x)
{
  const forest_links *in = osla_forest_in(f, x->kind);
  for (int i = x->reading.link + 1; i < in->n; i++) {
    forest_link *l = &in->of[i];
    forest_cursor at = {i, l->early == number ? l->early_part : 0};
    if (l->early == number && l->early_done) continue;
    l->early_done = read_link(f, number, x, l, &at);
    l->early = number;
    l->early_part = at.part;
  }
}

static bool read_next(osla_forest *f, uint64_t number, forest_transfer *x, forest_link *l)
{
  if (x->kind == FOREST_FETCH) return osli_forest_fetch_link(f, number, x, l);
  if (l->early == number && l->early_done) return true;
  if (l->early == number && x->reading.part < l->early_part) x->reading.part = l->early_part;
  return read_link(f, number, x, l, &x->reading);
}

static bool read_links(osla_forest *f, uint64_t number, forest_transfer *x)
{
  const forest_links *in = osla_forest_in(f, x->kind);
  if (x->shared) return true;
  if (x->kind == FOREST_FETCH && f->sent + 1 < number) return false;
  for (; x->reading.link < in->n; osla_next_link(&x->reading)) {
    if (read_next(f, number, x, &in->of[x->reading.link])) continue;
    if (x->any_order) read_early(f, number, x);
    if (looks_again(f)) {
      osli_forest_look_at_calls(f, number, osla_forest_in(f, x->kind));
      osli_forest_look_at_rings(f);
    }
    return false;
  }
  if (x->gathered) osli_forest_exact_end(f, x);
  return true;
}

/* ---- sending ---- */

static bool send_link(uint64_t number, const forest_transfer *x, forest_link *l, forest_cursor *at)
{
  size_t element = osli_unit_element(x->type);
  int64_t parts = osli_ring_parts(&l->ring, l->edges, element, x->count);
  vertex_list from = osla_link_mine(l, x->from, x->stride);
  for (; at->part < parts; at->part++) {
    unsigned char *slot = osli_ring_slot(&l->ring);
    if (!slot) return false;
    ring_part part = osli_ring_part(&l->ring, l->edges, element, x->count, at->part);
    osli_vertices_combine(x->type, OSLA_REPLACE, part.numbers,
                          osla_part_packed(slot, &part, element),
                          osla_part_vertices(from, &part, element), part.n);
    osli_ring_send(&l->ring, osla_head_of(number, x), (size_t)(part.n * part.numbers) * element);
  }
  return true;
}

static bool send_links(osla_forest *f, uint64_t number, forest_transfer *x)
{
  const forest_links *out = osla_forest_out(f, x->kind);
  if (x->shared) return true;
  for (; x->sending.link < out->n; osla_next_link(&x->sending)) {
    forest_link *l = &out->of[x->sending.link];
    const bool packs = osla_forest_packs(x, l, l->thin_mine);
    if (l->self || (l->near && x->in_place && !packs)) continue;
    if (!send_link(number, x, l, &x->sending)) return false;
  }
  return true;
}

/* What a fetch sends back goes through the rings of broadcasts: none of those before it may send
 * later, and none after it earlier (read_links, and here). */
static bool may_send(osla_forest *f, uint64_t number)
{
  if (osla_forest_transfer(f, number)->kind != FOREST_BCAST) return true;
  for (uint64_t before = f->read + 1; before < number; before++) {
    const forest_transfer *x = osla_forest_transfer(f, before);
    if (x->kind == FOREST_FETCH && x->reading.link < f->to_leaves.n) return false;
  }
  return true;
}

/* ---- all of it ---- */

static void wake_neighbours(osla_forest *f, const forest_links *links)
{
  for (int i = 0; i < links->n; i++)
    if (links->of[i].near && !links->of[i].self) osla_pool_wake(f->pool, links->of[i].rank);
}

static void tell_owed(osla_forest *f)
{
  bool owes = false;
  if (!f->owes) return;
  for (int i = 0; i < f->to_roots.n; i++)
    if (!f->to_roots.of[i].self) owes |= !osli_ring_credit(&f->to_roots.of[i].ring);
  for (int i = 0; i < f->to_leaves.n; i++)
    if (!f->to_leaves.of[i].self) owes |= !osli_ring_credit(&f->to_leaves.of[i].ring);
  f->owes = owes;
}

static void send_all(osla_forest *f)
{
  while (f->sent < f->begun && may_send(f, f->sent + 1) &&
         send_links(f, f->sent + 1, osla_forest_transfer(f, f->sent + 1)))
    f->sent++;
}

void osli_forest_serve(osla_forest *f)
{
  if (f->sent < f->begun) send_all(f);
  while (f->read < f->begun) {
    forest_transfer *x = osla_forest_transfer(f, f->read + 1);
    bool read = read_links(f, f->read + 1, x),
         answered = x->kind != FOREST_FETCH || osli_forest_read_answers(f, f->read + 1, x);
    if (!read || !answered) break;
    f->read++;
    if (x->reading.link == 0 && !x->shared) continue; /* from nobody */
    osla_own_soon(&f->control->of[(f->read + 1) % CALLS]);
    osla_clock_settle();
    atomic_store_explicit(&f->control->read, f->read, memory_order_release);
    wake_neighbours(f, osla_forest_in(f, x->kind));
  }
  if (f->sent < f->begun) send_all(f); /* what waited for answers */
  tell_owed(f);
}

static void watch_links(const forest_links *links, bool watched)
{
  for (int i = 0; i < links->n; i++)
    if (!links->of[i].near) osli_ring_watch(&links->of[i].ring, watched);
}

void osli_forest_watch(osla_forest *f, bool watched)
{
  if (f->n_far == 0) return;
  watch_links(&f->to_roots, watched);
  watch_links(&f->to_leaves, watched);
}

void osli_forest_activate(osla_forest *f)
{
  if (f->is_active) return;
  osli_forest_watch(f, true);
  f->is_active = true;
  f->next_active = f->pool->active;
  f->pool->active = f;
}

void osli_forest_deactivate(osla_forest *f)
{
  osla_pool_enter(f->pool);
  osla_forest **at = &f->pool->active;
  while (*at && *at != f)
    at = &(*at)->next_active;
  if (*at) *at = f->next_active;
  f->is_active = false;
  osla_pool_leave(f->pool);
}

/* Was anything read or sent to its end? */
static bool serve_all(forest_pool *pool)
{
  bool any = false;
  osla_forest **at = &pool->active;
  while (*at) {
    osla_forest *f = *at;
    uint64_t before = f->read + f->sent;
    osli_forest_serve(f);
    any |= f->read + f->sent != before;
    f->is_active = f->read < f->begun || f->sent < f->begun || f->owes;
    if (f->is_active) {
      at = &f->next_active;
    } else {
      *at = f->next_active;
      osli_forest_watch(f, false);
    }
  }
  return any;
}

/* Another thread of this rank may sleep until what was served here is over. */
void osli_forests_serve(forest_pool *pool)
{
  if (!osla_pool_try(pool)) return;
  bool any = serve_all(pool);
  any |= osli_forest_shares_advance(pool);
  osla_pool_leave(pool);
  if (any) osla_pool_wake(pool, osla_transport_rank(pool->t));
}

/* A look at its word takes the line that it writes. */
static bool has_read(forest_link *l, uint64_t number)
{
  if (atomic_load_explicit(&l->seen, memory_order_acquire) >= number) return true;
  const uint64_t read = atomic_load_explicit(&l->control->read, memory_order_acquire);
  atomic_store_explicit(&l->seen, read, memory_order_release);
  return read >= number;
}

bool osli_forest_lent_is_back(osla_forest *f, uint64_t number)
{
  const forest_transfer *x = osla_forest_transfer(f, number);
  const forest_links *out = osla_forest_out(f, x->kind);
  for (int i = 0; i < out->n; i++) {
    forest_link *l = &out->of[i];
    if (osla_forest_lends(x, l) && !has_read(l, number)) return false;
  }
  return true;
}

bool osli_forest_readers_done(osla_forest *f, uint64_t number)
{
  const forest_transfer *x = osla_forest_transfer(f, number);
  const forest_links *out = osla_forest_out(f, x->kind);
  for (int i = 0; i < out->n; i++) {
    forest_link *l = &out->of[i];
    if (l->self || !l->near) continue;
    if (!has_read(l, number)) return false;
  }
  return true;
}

/* A rank that waits in a call of another library makes no progress here. */
static bool are_posted(const forest_links *out)
{
  bool all = true;
  for (int i = 0; i < out->n; i++)
    if (!out->of[i].near) all &= osli_ring_is_posted(&out->of[i].ring);
  return all;
}

static bool is_posted(osla_forest *f, const forest_transfer *x)
{
  if (!are_posted(osla_forest_out(f, x->kind))) return false;
  return x->kind != FOREST_FETCH || are_posted(&f->to_leaves);
}

static bool is_over(osla_forest *f, uint64_t number, const forest_transfer *x, bool with_readers)
{
  if (f->read < number || f->sent < number) return false;
  if (x->shared) return osli_forest_share_is_over(f, x, with_readers);
  if (f->n_far > 0 && !is_posted(f, x)) return false;
  if (!x->awaited) return true;
  bool lent = (x->in_place && with_readers) || x->before_in_place; /* who reads writes there */
  return !lent || osli_forest_lent_is_back(f, number);
}

bool osli_forest_is_over(osla_forest *f, uint64_t number, bool with_readers)
{
  const forest_transfer *x = osla_forest_transfer(f, number);
  if (is_over(f, number, x, with_readers)) return true;
  if (looks_again(f)) {
    osli_forest_look_at_calls(f, number, osla_forest_in(f, x->kind));
    osli_forest_look_at_calls(f, number, osla_forest_out(f, x->kind));
    osli_forest_look_at_rings(f);
  }
  return false;
}

void osli_forest_set_ended(osla_forest *f, uint64_t number)
{
  forest_transfer *x = osla_forest_transfer(f, number);
  if (x->shared) osli_forest_share_end(f, x);
  x->ended = true;
  f->pool->under_way--;
}

bool osli_forest_finish(osla_forest *f, uint64_t number, bool with_readers)
{
  osla_pool_enter(f->pool);
  (void)serve_all(f->pool);
  if (f->pool->sharing) (void)osli_forest_shares_advance(f->pool);
  bool over = osli_forest_is_over(f, number, with_readers);
  if (over) osli_forest_set_ended(f, number);
  osla_pool_leave(f->pool);
  return over;
}
