/* Fetches: the owner of roots combines what leaves give with them, in order, and answers with the
 * values before. */
#include "kernels/forest/forest_fetch.h"
#include "kernels/forest/forest_call.h"
#include "kernels/forest/forest_part.h"
#include "kernels/forest/forest_serve.h"
#include "kernels/forest/forest_verify.h"
#include "src/blas/move.h"

/* Many small vertices: the same into a neighbour's slot by way of this core's cache. The slot lies
 * in the other one's; while each store there has those to the roots between itself and the next,
 * few lines are on their way at once, of a copy many (results/2026-11-25-star-forests-6). */
enum { STAGED_LEAST = 32, STAGED_BYTES = 64, CHUNK = 4096 };
static void fetch_to_slot(const forest_transfer *x, const ring_part *part, vertex_list to,
                          vertex_list from, unsigned char *slot, size_t element)
{
  _Alignas(64) unsigned char chunk[CHUNK];
  const size_t bytes = (size_t)part->numbers * element;
  const int64_t most = (int64_t)(CHUNK / bytes);
  for (int64_t i = 0, n; i < part->n; i += n) {
    n = part->n - i < most ? part->n - i : most;
    osli_vertices_fetch(x->type, x->combine, part->numbers, osla_vertices_from(to, i),
                        osla_vertices_from(from, i), osla_part_packed(chunk, part, element), n);
    osli_move_message(slot + (size_t)i * bytes, chunk, (size_t)n * bytes);
  }
}

/* The values come and the values before go back in the same parts, each in place or by the ring. */
static bool fetch_parts(osla_forest *f, uint64_t number, forest_transfer *x, forest_link *l,
                        vertex_list from, vertex_list before)
{
  size_t element = osli_unit_element(x->type);
  int64_t parts = osli_ring_parts(&l->ring, l->edges, element, x->count);
  vertex_list to = osla_link_mine(l, x->to, x->stride);
  for (forest_cursor *at = &x->reading; at->part < parts; at->part++) {
    forest_head head;
    const unsigned char *come = from.base ? NULL : osli_ring_next(&l->ring, &head);
    if (come) osli_forest_check_same(f, number, x, l->rank, head.number, head.what);
    unsigned char *go = before.base ? NULL : osli_ring_slot(&l->ring);
    if (!(from.base || come) || !(before.base || go)) return false;
    ring_part part = osli_ring_part(&l->ring, l->edges, element, x->count, at->part);
    const vertex_list roots = osla_part_vertices(to, &part, element),
                      leaves = come ? osla_part_packed(come, &part, element)
                                    : osla_part_vertices(from, &part, element);
    const bool staged = go && l->ring.near_slots && part.n >= STAGED_LEAST &&
                        (size_t)part.numbers * element <= STAGED_BYTES;
    if (staged)
      fetch_to_slot(x, &part, roots, leaves, go, element);
    else
      osli_vertices_fetch(x->type, x->combine, part.numbers, roots, leaves,
                          go ? osla_part_packed(go, &part, element)
                             : osla_part_vertices(before, &part, element),
                          part.n);
    if (go)
      osli_ring_send(&l->ring, osla_head_of(number, x), (size_t)(part.n * part.numbers) * element);
    if (!come) continue;
    osli_ring_take(&l->ring);
    f->owes |= !osli_ring_credit(&l->ring);
  }
  return true;
}

bool osli_forest_fetch_link(osla_forest *f, uint64_t number, forest_transfer *x, forest_link *l)
{
  vertex_list from = {NULL, 0, NULL, 0, NULL}, before = from;
  if (l->self) {
    from = osla_link_theirs(l, x->from, x->stride);
    before = osla_link_theirs(l, x->before, x->stride);
  } else if (l->near) {
    const forest_call *call = osla_forest_call_of(l, number);
    if (!call) return false;
    osli_forest_check_same(f, number, x, l->rank, number, call->what);
    from = osla_forest_in_place(f, l, &call->values);
    if (!osla_forest_packs_answers(x, l, l->theirs))
      before = osla_forest_in_place(f, l, &call->before);
  }
  if (!from.base || !before.base) return fetch_parts(f, number, x, l, from, before);
  osli_vertices_fetch(x->type, x->combine, x->count, osla_link_mine(l, x->to, x->stride), from,
                      before, l->edges);
  return true;
}

/* ---- answers ---- */

bool osli_forest_read_answers(osla_forest *f, uint64_t number, forest_transfer *x)
{
  for (; x->answers.link < f->to_roots.n; osla_next_link(&x->answers)) {
    forest_link *l = &f->to_roots.of[x->answers.link];
    const bool packs = osla_forest_packs_answers(x, l, l->mine);
    if (l->self || (l->near && x->before_in_place && !packs)) continue;
    vertex_list to = osla_link_mine(l, x->before, x->stride);
    if (!osli_forest_read_ring(f, number, x, l, to, OSLA_REPLACE, &x->answers)) return false;
  }
  return true;
}
