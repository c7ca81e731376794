/* One link of a transfer: announces the transfer to the ranks of the node; reads, sends or fetches
 * the link's values as far as possible without waiting. */
#include "kernels/forest/forest_serve.h"
#include "osla_clock.h"
#include "src/blas/move.h"

static const vertex_list no_vertices = {NULL, 0, NULL, 0, NULL, NULL};

/* ---- announcements of transfers ---- */

/* Location, in the pool, of the vertices `low` to `high` of an array of this rank. */
static value_location locate(const osla_forest *f, const forest_transfer *x,
                             const unsigned char *base, int64_t low, int64_t high)
{
  const value_location nowhere = {-1, 0, 0};
  if (high < low) return nowhere;
  size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  int array = osli_pool_find_array(f->pool, base + low * x->stride,
                                   (size_t)((high - low) * x->stride) + bytes);
  if (array < 0) return nowhere;
  return (value_location){array, base - f->pool->array[array].base, x->stride};
}

static bool is_awaited(osla_forest *f, const forest_transfer *x)
{
  const forest_links *out = osli_forest_send_links(f, x->kind);
  for (int i = 0; i < out->n; i++)
    if (osli_forest_is_read_in_place(x, &out->of[i])) return true;
  return false;
}

static bool has_large_link(const forest_links *links, const forest_transfer *x)
{
  for (int i = 0; i < links->n; i++)
    if (osli_forest_is_read_in_place(x, &links->of[i]) && osli_forest_is_large(x, &links->of[i]))
      return true;
  return false;
}

void osli_forest_locate_values(osla_forest *f, forest_transfer *x)
{
  const int64_t last_leaf = f->leaf_space - 1;
  x->at = (transfer_locations){{-1, 0, 0}, {-1, 0, 0}};
  x->is_awaited = is_awaited(f, x);
  x->target = x->at.values;
  x->helps = false;
  if (x->two_level) return;
  x->at.values = x->kind == FOREST_BCAST ? locate(f, x, x->from, f->low_root, f->high_root)
                                         : locate(f, x, x->from, f->low_leaf, last_leaf);
  if (x->kind == FOREST_FETCH) {
    x->at.before = locate(f, x, x->before, f->low_leaf, last_leaf);
    return;
  }
  x->helps = x->at.values.array >= 0 && has_large_link(osli_forest_send_links(f, x->kind), x);
  if (!x->gathered && has_large_link(osli_forest_read_links(f, x->kind), x))
    x->target = x->kind == FOREST_BCAST ? locate(f, x, x->to, f->low_leaf, last_leaf)
                                        : locate(f, x, x->to, f->low_root, f->high_root);
}

void osli_forest_wait_for_devices(device_settle_reason reason)
{
  const device_lane lane = osli_device_lane(LANE_MAIN);
  osli_device_settle_kept(reason);
  (void)osli_device_lane(lane);
}

/* On each device that holds values of a transfer, queues a signal after the work that computes
 * the values. Devices of other ranks can wait for such a signal. If a device has no signals, the
 * host waits for the work instead. */
static void signal_values(const osla_forest *f, const forest_transfer *x)
{
  osla_device *on[2];
  bool must_wait = false;
  for (int i = osli_forest_devices(f, &x->at, on) - 1; i >= 0; i--) {
    must_wait |= !osli_device_has_signals(on[i]);
    if (osli_device_has_signals(on[i])) osli_device_signal_ranks(on[i]);
  }
  if (must_wait) osli_forest_wait_for_devices(SETTLE_ANNOUNCE);
}

void osli_forest_announce(osla_forest *f, uint64_t number, const forest_transfer *x)
{
  if (x->is_awaited) signal_values(f, x);
  forest_announcement *a = &f->control->of[number % MOST_TRANSFERS].announcement;
  /* While the number in the record is 0, no other rank finds a transfer there. */
  atomic_store_explicit(&a->number, 0, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  a->at = x->at;
  a->signature = x->signature;
  osla_clock_settle();
  atomic_store_explicit(&a->number, number, memory_order_release);
}

void osli_forest_wake_readers(osla_forest *f, const forest_transfer *x)
{
  const forest_links *out = osli_forest_send_links(f, x->kind);
  for (int i = 0; i < out->n; i++)
    if (osli_forest_is_read_in_place(x, &out->of[i])) osli_pool_wake_rank(f->pool, out->of[i].rank);
}

/* ---- parts of rings ---- */

static forest_head head_of(uint64_t number, const forest_transfer *x)
{
  return (forest_head){.signature = x->signature, .number = (uint32_t)number};
}

/* Returns the vertices of a part in the caller's array. If the part holds only some numbers of each
 * vertex, the addresses are those of the first of these numbers. */
static vertex_list part_vertices(vertex_list v, const ring_part *part, size_t element)
{
  v = osli_vertices_from(v, part->first);
  v.base += (size_t)part->first_number * element;
  return v;
}

/* Returns the vertices of a part as they are stored in a slot of the ring. */
static vertex_list part_packed(const unsigned char *slot, const ring_part *part, size_t element)
{
  return (vertex_list){
    (unsigned char *)(uintptr_t)slot, part->numbers * (int64_t)element, NULL, 0, NULL, NULL};
}

static void consume(osla_forest *f, forest_link *l)
{
  osli_ring_consume(&l->ring);
  f->owes_credit |= !osli_ring_credit(&l->ring);
}

/* Combines the parts of a link that have arrived into `to`. Returns false if at least one part has
 * not arrived. */
static bool read_ring(osla_forest *f, uint64_t number, const forest_transfer *x, forest_link *l,
                      vertex_list to, osla_forest_combine combine, forest_cursor *at)
{
  size_t element = osli_unit_element(x->type);
  int64_t parts = osli_ring_parts(&l->ring, l->edges, element, x->count);
  for (; at->part < parts; at->part++) {
    forest_head head;
    const unsigned char *slot = osli_ring_next(&l->ring, &head);
    if (!slot) return false;
    osli_forest_check_signature(f, number, x, l->rank, head.number, head.signature);
    ring_part part = osli_ring_part(&l->ring, l->edges, element, x->count, at->part);
    osli_vertices_combine(x->type, combine, part.numbers, part_vertices(to, &part, element),
                          part_packed(slot, &part, element), part.n);
    consume(f, l);
  }
  return true;
}

/* ---- many values, copied by both ranks ---- */

/* A division of a link's values into chunks. */
typedef struct link_chunks {
  int64_t n;        /* number of chunks */
  int64_t vertices; /* number of vertices in each chunk but the last */
} link_chunks;

static link_chunks divide_link(const forest_transfer *x, const forest_link *l)
{
  enum { CHUNK = 32 << 10 };
  const int64_t bytes = (int64_t)osli_unit_element(x->type) * x->count;
  const int64_t least = l->edges / SHARED_COPY_CHUNKS + 1;
  const int64_t vertices = CHUNK / bytes > least ? CHUNK / bytes : least;
  return (link_chunks){(l->edges + vertices - 1) / vertices, vertices};
}

static void combine_chunk(const forest_transfer *x, const forest_link *l, const link_chunks *chunks,
                          int64_t chunk, vertex_list to, vertex_list from)
{
  const int64_t first = chunk * chunks->vertices, left = l->edges - first;
  osli_vertices_combine(x->type, x->combine, x->count, osli_vertices_from(to, first),
                        osli_vertices_from(from, first),
                        left < chunks->vertices ? left : chunks->vertices);
}

/* Returns true if this rank and the other rank of the link may combine values of the link at the
 * same time. They may do so for many values if no vertex of this rank occurs in two edges, the
 * other rank can access this rank's array, and no values lie on a device. */
static bool can_share(const forest_transfer *x, const forest_link *l, const void *from)
{
  return x->target.array >= 0 && !osli_on_device(x->to, from, NULL) && osli_forest_is_large(x, l) &&
         (x->kind == FOREST_BCAST || !(l->mine.list || l->mine.block));
}

/* Waits, for at most 50 us, until the owner has copied the chunks that it claimed. The limit is the
 * time that a few chunks take. Without this wait, a reader that computes after the begin of a
 * transfer would notice only in its next progress step that all chunks are copied, and the owner
 * would wait for that step. Returns true if all chunks are copied. */
static bool wait_for_owner(shared_copy *copy)
{
  static const double most = 50e-6;
  const double end = osla_clock() + most;
  bool complete;
  while (!(complete = shared_copy_is_complete(copy)) && osla_clock() < end) {
  }
  return complete;
}

/* Reads values in place while their owner helps. Returns false if the owner still copies a
 * chunk. */
static bool read_shared(osla_forest *f, uint64_t number, const forest_transfer *x, forest_link *l,
                        vertex_list to, vertex_list from, forest_cursor *at)
{
  const link_chunks chunks = divide_link(x, l);
  ring_words *words = l->ring.words;
  if (at->part == 0) {
    at->part = 1; /* the copy is open */
    words->target = x->target;
    shared_copy_open(&words->copy, (uint32_t)number);
    osli_pool_wake_rank(f->pool, l->rank);
  }
  for (int64_t i; (i = shared_copy_claim(&words->copy, (uint32_t)number, chunks.n, false)) >= 0;)
    combine_chunk(x, l, &chunks, i, to, from);
  return wait_for_owner(&words->copy);
}

void osli_forest_help_reader(osla_forest *f, uint64_t number, const forest_transfer *x,
                             forest_link *l)
{
  const link_chunks chunks = divide_link(x, l);
  ring_words *words = l->ring.near_words;
  bool any = false;
  for (int64_t i; (i = shared_copy_claim(&words->copy, (uint32_t)number, chunks.n, true)) >= 0;) {
    combine_chunk(x, l, &chunks, i, osli_forest_peer_values(f, l, &words->target),
                  osli_link_mine(l, x->from, x->stride));
    osla_clock_settle();
    shared_copy_push(&words->copy, (uint32_t)number, chunks.n, i);
    any = true;
  }
  if (any) osli_pool_wake_rank(f->pool, l->rank);
}

/* ---- values of other ranks on devices ---- */

/* Lets work that this rank queues later on devices wait until the values of the rank at the other
 * end of the link are complete. `at` holds the locations of these values, from that rank's
 * announcement. Does nothing if the values lie in host memory, or on devices without signals. */
static void await_owner(const osla_forest *f, const forest_link *l, const transfer_locations *at)
{
  osla_device *on[2];
  for (int i = osli_forest_devices(f, at, on) - 1; i >= 0; i--)
    osli_device_await_rank(on[i], l->rank);
}

/* Records that this rank has queued work that accesses vertices of another rank on a device, so
 * that this rank waits or signals before it publishes that it has read. */
static void note_device(osla_forest *f, osla_device *d)
{
  if (!osli_device_has_signals(d)) {
    f->owes_wait = true;
    return;
  }
  if (f->owes_signal && f->owes_signal != d) osli_device_signal_ranks(f->owes_signal);
  f->owes_signal = d;
}

/* Calls note_device for each device through which this rank has accessed another rank's vertices.
 * `at` holds their locations. */
static void note_access(osla_forest *f, const transfer_locations *at)
{
  osla_device *on[2];
  for (int i = osli_forest_devices(f, at, on) - 1; i >= 0; i--)
    note_device(f, on[i]);
}

/* ---- broadcasts and reductions ---- */

bool osli_forest_read_link(osla_forest *f, uint64_t number, const forest_transfer *x,
                           forest_link *l, forest_cursor *at)
{
  const osla_forest_combine combine = x->gathered ? OSLA_REPLACE : x->combine;
  vertex_list to =
    x->gathered ? osli_forest_exact_buffer(x, l) : osli_link_mine(l, x->to, x->stride);
  const forest_announcement *a = NULL;
  vertex_list from = no_vertices;
  if (l->is_self) {
    from = osli_link_theirs(l, x->from, x->stride);
  } else if (l->is_near && !osli_forest_packs(x, l)) {
    a = osli_forest_announcement(l, number);
    if (!a) return false;
    osli_forest_check_signature(f, number, x, l->rank, number, a->signature);
    from = osli_forest_peer_values(f, l, &a->at.values);
  }
  if (!from.base) return read_ring(f, number, x, l, to, combine, at);
  if (!l->is_self && can_share(x, l, from.base)) return read_shared(f, number, x, l, to, from, at);
  if (a) await_owner(f, l, &a->at);
  osli_vertices_combine(x->type, combine, x->count, to, from, l->edges);
  if (a) note_access(f, &a->at);
  return true;
}

bool osli_forest_send_link(uint64_t number, const forest_transfer *x, forest_link *l,
                           forest_cursor *at)
{
  const bool packs = osli_forest_packs(x, l);
  if (l->is_self || (l->is_near && x->at.values.array >= 0 && !packs)) return true;
  size_t element = osli_unit_element(x->type);
  int64_t parts = osli_ring_parts(&l->ring, l->edges, element, x->count);
  vertex_list from = osli_link_mine(l, x->from, x->stride);
  for (; at->part < parts; at->part++) {
    unsigned char *slot = osli_ring_slot(&l->ring);
    if (!slot) return false;
    ring_part part = osli_ring_part(&l->ring, l->edges, element, x->count, at->part);
    osli_vertices_combine(x->type, OSLA_REPLACE, part.numbers, part_packed(slot, &part, element),
                          part_vertices(from, &part, element), part.n);
    osli_ring_send(&l->ring, head_of(number, x), (size_t)(part.n * part.numbers) * element);
  }
  return true;
}

/* ---- fetches ---- */

enum {
  STAGED_LEAST = 32, /* least number of vertices for which fetch_to_slot is used */
  STAGED_BYTES = 64, /* largest size of a vertex for which fetch_to_slot is used, in bytes */
  CHUNK = 4096       /* number of bytes that fetch_to_slot gathers at a time */
};

/* Gathers the old values of many small vertices in this core's cache, then copies them to the slot
 * of a rank on this node. Storing each value directly into the slot was 2.6 times slower with
 * distant cores, because stores to the slot and to the roots alternate (results/star-forests). */
static void fetch_to_slot(const forest_transfer *x, const ring_part *part, vertex_list to,
                          vertex_list from, unsigned char *slot, size_t element)
{
  _Alignas(CACHE_LINE) unsigned char chunk[CHUNK];
  const size_t bytes = (size_t)part->numbers * element;
  const int64_t most = (int64_t)(CHUNK / bytes);
  for (int64_t i = 0, n; i < part->n; i += n) {
    n = part->n - i < most ? part->n - i : most;
    osli_vertices_fetch(x->type, x->combine, part->numbers, osli_vertices_from(to, i),
                        osli_vertices_from(from, i), part_packed(chunk, part, element), n);
    osli_move_message(slot + (size_t)i * bytes, chunk, (size_t)n * bytes);
  }
}

/* Processes the parts of a fetch on one link. `from` and `before` are arrays of the leaf rank that
 * this rank accesses in place. If the base of an array is NULL, its values are sent through the
 * ring instead. */
static bool fetch_parts(osla_forest *f, uint64_t number, forest_transfer *x, forest_link *l,
                        vertex_list from, vertex_list before)
{
  size_t element = osli_unit_element(x->type);
  int64_t parts = osli_ring_parts(&l->ring, l->edges, element, x->count);
  vertex_list to = osli_link_mine(l, x->to, x->stride);
  for (forest_cursor *at = &x->reading; at->part < parts; at->part++) {
    forest_head head;
    const unsigned char *in = from.base ? NULL : osli_ring_next(&l->ring, &head);
    if (in) osli_forest_check_signature(f, number, x, l->rank, head.number, head.signature);
    unsigned char *out = before.base ? NULL : osli_ring_slot(&l->ring);
    if (!(from.base || in) || !(before.base || out)) return false;
    ring_part part = osli_ring_part(&l->ring, l->edges, element, x->count, at->part);
    const vertex_list roots = part_vertices(to, &part, element),
                      leaves =
                        in ? part_packed(in, &part, element) : part_vertices(from, &part, element);
    if (out && l->ring.near_slots && part.n >= STAGED_LEAST &&
        (size_t)part.numbers * element <= STAGED_BYTES)
      fetch_to_slot(x, &part, roots, leaves, out, element);
    else
      osli_vertices_fetch(
        x->type, x->combine, part.numbers, roots, leaves,
        out ? part_packed(out, &part, element) : part_vertices(before, &part, element), part.n);
    if (out)
      osli_ring_send(&l->ring, head_of(number, x), (size_t)(part.n * part.numbers) * element);
    if (in) consume(f, l);
  }
  return true;
}

bool osli_forest_fetch_link(osla_forest *f, uint64_t number, forest_transfer *x, forest_link *l)
{
  const forest_announcement *a = NULL;
  vertex_list from = no_vertices, before = no_vertices;
  if (l->is_self) {
    from = osli_link_theirs(l, x->from, x->stride);
    before = osli_link_theirs(l, x->before, x->stride);
  } else if (l->is_near) {
    a = osli_forest_announcement(l, number);
    if (!a) return false;
    osli_forest_check_signature(f, number, x, l->rank, number, a->signature);
    from = osli_forest_peer_values(f, l, &a->at.values);
    if (!osli_forest_packs_answers(x, l, &l->theirs))
      before = osli_forest_peer_values(f, l, &a->at.before);
    if (!x->link_is_ordered) await_owner(f, l, &a->at);
    x->link_is_ordered = true;
  }
  bool is_done = true;
  if (from.base && before.base)
    osli_vertices_fetch(x->type, x->combine, x->count, osli_link_mine(l, x->to, x->stride), from,
                        before, l->edges);
  else
    is_done = fetch_parts(f, number, x, l, from, before);
  if (a) note_access(f, &a->at);
  return is_done;
}

bool osli_forest_read_answers(osla_forest *f, uint64_t number, const forest_transfer *x,
                              forest_link *l, forest_cursor *at)
{
  const bool is_in_place =
    l->is_near && x->at.before.array >= 0 && !osli_forest_packs_answers(x, l, &l->mine);
  if (l->is_self || is_in_place) return true;
  vertex_list to = osli_link_mine(l, x->before, x->stride);
  return read_ring(f, number, x, l, to, OSLA_REPLACE, at);
}
