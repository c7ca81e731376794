/* Checks of transfers: arguments, overlapping arrays, transfers that differ between ranks, and
 * values that are overwritten while other ranks of the node may read them. */
#include "kernels/forest/forest_serve.h"
#include "src/base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- arguments ---- */

/* Checks that this rank can access the vertices 0 .. n - 1 of the array at `values`, which may lie
 * on a device: its memory must be known, contain all vertices, and be on a device with kernels.
 * Returns OK for host memory. */
static osla_err check_device(const forest_transfer *x, const void *values, int64_t n,
                             const char *what)
{
  const bool is_served = x->type != OSLA_UNIT_LONG_DOUBLE;
  const int64_t bytes = (int64_t)osli_unit_element(x->type) * x->count;
  device_queue *q;
  OSLA_CALL(osli_device_locate(
    values, n > 0 && is_served ? (size_t)((n - 1) * x->stride + bytes) : 0, what, &q));
  if (!q) return OSLA_OK;
  OSLA_CHECK(is_served, OSLA_ERR_UNSUPPORTED,
             "%s: devices have no long double: use double, or host memory", what);
  return osli_device_check_kernels(q, what);
}

/* Checks the address, the alignment and the memory of an array with the vertices 0 .. n - 1. */
static osla_err check_values(const forest_transfer *x, const void *values, int64_t edges, int64_t n,
                             const char *what)
{
  size_t align = osli_unit_facts[x->type].alignment;
  OSLA_CHECK(values || edges == 0, OSLA_ERR_ARG,
             "%s: the array is NULL, but has vertices with edges", what);
  OSLA_CHECK((((uintptr_t)values | (uintptr_t)x->stride) & (align - 1)) == 0, OSLA_ERR_ARG,
             "%s: %s must lie at multiples of %zu bytes", what, osli_unit_name(x->type), align);
  return check_device(x, values, n, what);
}

static osla_err check_arrays(const osla_forest *f, const forest_transfer *x)
{
  bool of_roots = x->kind == FOREST_BCAST;
  OSLA_CALL(
    check_values(x, of_roots ? x->from : x->to, f->high_root + 1, f->high_root + 1, "roots"));
  OSLA_CALL(check_values(x, of_roots ? x->to : x->from, f->n_edges, f->leaf_space, "leaves"));
  return x->kind == FOREST_FETCH
           ? check_values(x, x->before, f->n_edges, f->leaf_space, "values before")
           : OSLA_OK;
}

static osla_err check_fetch(const forest_transfer *x)
{
  const bool is_wide = osli_unit_element(x->type) >= sizeof(int32_t);
  const bool is_allowed =
    x->combine != OSLA_SUM_EXACT &&
    (x->combine != OSLA_SUM_ARRIVAL || (osli_unit_is_integer(x->type) && is_wide));
  OSLA_CHECK(is_allowed, OSLA_ERR_ARG, "a fetch of %s has no %s", osli_unit_name(x->type),
             osli_forest_combine_name(x->combine));
  return OSLA_OK;
}

/* ---- overlapping arrays ---- */

/* Memory range of the vertices `low` to `high` of an array. */
typedef struct extent {
  uintptr_t base;
  int64_t low, high;
} extent;

static bool ranges_overlap(const forest_transfer *x, const extent *a, const extent *b)
{
  if (a->high < a->low || b->high < b->low) return false;
  int64_t bytes = (int64_t)osli_unit_element(x->type) * x->count, stride = x->stride;
  uintptr_t a_low = a->base + (uintptr_t)(a->low * stride);
  uintptr_t a_end = a->base + (uintptr_t)(a->high * stride + bytes);
  uintptr_t b_low = b->base + (uintptr_t)(b->low * stride);
  uintptr_t b_end = b->base + (uintptr_t)(b->high * stride + bytes);
  return a_low < b_end && b_low < a_end;
}

static void set_bit(unsigned char *bits, int64_t i)
{
  bits[i / 8] |= (unsigned char)(1 << (i % 8));
}
static bool has_bit(const unsigned char *bits, int64_t i)
{
  return bits[i / 8] >> (i % 8) & 1;
}

/* Looks for an index i such that leaf i and root i + shift lie at the same address, and both have
 * edges. *out is i, or -1 if no such index exists. */
static osla_err find_shared_vertex(const osla_forest *f, int64_t shift, int64_t *out)
{
  int64_t low = f->low_root, n = f->high_root - low + 1;
  unsigned char *joined = calloc((size_t)n / 8 + 1, 1); /* set of roots with edges, one bit each */
  OSLA_CHECK(joined, OSLA_ERR_MEM, "%" PRId64 " bits to see whether roots and leaves overlap", n);
  for (int l = 0; l < f->to_leaves.n; l++) {
    const forest_link *link = &f->to_leaves.of[l];
    for (int64_t i = 0; i < link->edges; i++)
      set_bit(joined, osli_link_vertex(link, i) - low);
  }
  *out = -1;
  for (int l = 0; l < f->to_roots.n && *out < 0; l++) {
    const forest_link *link = &f->to_roots.of[l];
    for (int64_t i = 0; i < link->edges && *out < 0; i++) {
      int64_t leaf = osli_link_vertex(link, i), root = leaf + shift - low;
      if (root >= 0 && root < n && has_bit(joined, root)) *out = leaf;
    }
  }
  free(joined);
  return OSLA_OK;
}

/* Bytes from a vertex of `a` to the next vertex of `b`, in 0 .. stride - 1. */
static int64_t phase_of(const forest_transfer *x, const extent *a, const extent *b)
{
  int64_t phase = (int64_t)(b->base - a->base) % x->stride;
  return phase < 0 ? phase + x->stride : phase;
}

/* True if the two arrays lie in different memory, or in different members of the same
 * structures. */
static bool are_apart(const forest_transfer *x, const extent *a, const extent *b)
{
  if (!ranges_overlap(x, a, b)) return true;
  int64_t bytes = (int64_t)osli_unit_element(x->type) * x->count, phase = phase_of(x, a, b);
  return phase >= bytes && x->stride - phase >= bytes;
}

/* Checks that no vertex is both a root and a leaf. Roots and leaves may lie in one array, as the
 * own points and the ghosts of a mesh do. If the check succeeds, the distance between the two
 * arrays is cached. */
static osla_err check_roots_apart(osla_forest *f, const forest_transfer *x, const extent *roots,
                                  const extent *leaves, const char *what)
{
  if (are_apart(x, roots, leaves)) return OSLA_OK;
  OSLA_CHECK(phase_of(x, roots, leaves) == 0, OSLA_ERR_ARG, "roots and %s overlap", what);
  int64_t shift = (int64_t)(leaves->base - roots->base) / x->stride, shared = -1;
  if (f->has_apart_shift && f->apart_shift == shift) return OSLA_OK;
  OSLA_CALL(find_shared_vertex(f, shift, &shared));
  OSLA_CHECK(shared < 0, OSLA_ERR_ARG,
             "roots and %s overlap: leaf %" PRId64 " lies where root %" PRId64 " does", what,
             shared, shared + shift);
  f->has_apart_shift = true;
  f->apart_shift = shift;
  return OSLA_OK;
}

static osla_err check_apart(osla_forest *f, const forest_transfer *x)
{
  bool of_roots = x->kind == FOREST_BCAST;
  extent roots = {(uintptr_t)(of_roots ? x->from : x->to), f->low_root, f->high_root};
  extent leaves = {(uintptr_t)(of_roots ? x->to : x->from), f->low_leaf, f->leaf_space - 1};
  OSLA_CALL(check_roots_apart(f, x, &roots, &leaves, "leaves"));
  if (x->kind != FOREST_FETCH) return OSLA_OK;
  extent before = {(uintptr_t)x->before, f->low_leaf, f->leaf_space - 1};
  OSLA_CHECK(are_apart(x, &leaves, &before), OSLA_ERR_ARG, "leaves and values before overlap");
  return check_roots_apart(f, x, &roots, &before, "values before");
}

osla_err osli_forest_check_arguments(osla_forest *f, const forest_transfer *x)
{
  OSLA_CALL(check_arrays(f, x));
  OSLA_CHECK(!x->function || !osli_on_device(x->from, x->to, NULL), OSLA_ERR_UNSUPPORTED,
             "a reduction by a function needs values in host memory, but %s lie on a device",
             osli_device_of(x->from) ? "leaves" : "roots");
  OSLA_CALL(check_apart(f, x));
  return x->kind == FOREST_FETCH ? check_fetch(x) : OSLA_OK;
}

/* ---- transfers that differ between ranks ---- */

static void describe_signature(char *text, size_t size, uint64_t number, uint64_t signature)
{
  static const char *const kinds[] = {"broadcast", "reduction", "fetch"};
  const int count = (int)(signature >> 32);
  (void)snprintf(text, size, "transfer %" PRIu64 " is a %s, %s, of %d %s", number,
                 kinds[signature & 255],
                 osli_forest_combine_name(osli_forest_requested_combine(signature)), count,
                 osli_unit_name((osla_unit_type)(signature >> 16 & 255)));
}

void osli_forest_check_signature(const osla_forest *f, uint64_t number, const forest_transfer *x,
                                 int rank, uint64_t their_number, uint64_t their_signature)
{
  if ((uint32_t)number == (uint32_t)their_number && x->signature == their_signature) return;
  char mine[120], theirs[120];
  describe_signature(mine, sizeof mine, number, x->signature);
  describe_signature(theirs, sizeof theirs, their_number, their_signature);
  osla_transport_abort(f->t, osla_error_set(OSLA_ERR_STATE,
                                            "ranks begin different transfers of a forest: on rank "
                                            "%d %s, on rank %d %s",
                                            osla_transport_rank(f->t), mine, rank, theirs));
}

void osli_forest_check_announcements(const osla_forest *f, uint64_t number,
                                     const forest_links *links)
{
  for (int i = 0; i < links->n; i++) {
    const forest_link *l = &links->of[i];
    const forest_announcement *a =
      l->is_near && !l->is_self ? osli_forest_announcement(l, number) : NULL;
    if (!a) continue;
    const uint64_t signature = a->signature;
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&a->number, memory_order_relaxed) ==
        number) /* true if the other rank has not reused the record since its number was read */
      osli_forest_check_signature(f, number, &f->transfer[number % MOST_TRANSFERS], l->rank, number,
                                  signature);
  }
}

/* Returns the 64-bit number of a transfer, given its low 32 bits: the possible number nearest to
 * the latest transfer read. */
static int64_t whole_number(const osla_forest *f, uint32_t low)
{
  return (int64_t)f->read + (int32_t)(low - (uint32_t)f->read);
}

/* Checks that the next part in a ring belongs to a transfer that reads from this ring, or that this
 * rank has not begun. If the record of the part's transfer has been reused, the part is compared
 * with the oldest record. The two numbers then differ, and the mismatch is reported. */
static void check_ring(const osla_forest *f, forest_link *l)
{
  forest_head head;
  if (l->is_self || !osli_ring_next(&l->ring, &head)) return;
  const int64_t number = whole_number(f, head.number), oldest = (int64_t)osli_forest_oldest(f);
  if (number > (int64_t)f->begun) return;
  const uint64_t record = (uint64_t)(number < oldest ? oldest : number);
  osli_forest_check_signature(f, record, &f->transfer[record % MOST_TRANSFERS], l->rank,
                              head.number, head.signature);
}

static void watch_links(const forest_links *links, bool is_watched)
{
  for (int i = 0; i < links->n; i++)
    if (!links->of[i].is_near) osli_ring_watch(&links->of[i].ring, is_watched);
}

void osli_forest_watch_lines(osla_forest *f, bool is_watched)
{
  if (f->n_far == 0) return;
  watch_links(&f->to_roots, is_watched);
  watch_links(&f->to_leaves, is_watched);
}

void osli_forest_check_rings(osla_forest *f)
{
  /* Parts from other nodes are received only while their message lines are polled. The polling ends
   * when no transfer is in progress. */
  osli_forest_watch_lines(f, true);
  for (int i = 0; i < f->to_roots.n; i++)
    check_ring(f, &f->to_roots.of[i]);
  for (int i = 0; i < f->to_leaves.n; i++)
    check_ring(f, &f->to_leaves.of[i]);
}

/* ---- values that neighbours may still read (OSLA_VERIFY) ---- */

/* Hash of the values that other ranks of the node may read in place. */
static uint64_t hash_exposed(osla_forest *f, const forest_transfer *x)
{
  const forest_links *out = osli_forest_send_links(f, x->kind);
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  uint64_t hash = HASH_OF_NO_BYTES;
  for (int k = 0; k < out->n; k++) {
    const forest_link *l = &out->of[k];
    for (int64_t i = 0; osli_forest_is_read_in_place(x, l) && i < l->edges; i++)
      hash = hash_extend(hash, x->from + x->stride * osli_link_vertex(l, i), bytes);
  }
  return hash;
}

void osli_forest_record_exposed(osla_forest *f, uint64_t number)
{
  if (!f->pool->verifies) return;
  forest_transfer *x = osli_forest_transfer(f, number);
  if (x->two_level) {
    osli_forest_record_exposed(f->two_level->near, x->two_level->near);
    return;
  }
  x->is_exposed = x->at.values.array >= 0 && !osli_device_of(x->from);
  if (!x->is_exposed) return;
  x->exposed_hash = hash_exposed(f, x);
  x->exposed_arrays = f->pool->arrays_removed;
}

/* True if the exposed values have not changed. True also if any array was removed since the hash
 * was computed, because the array of the values may no longer exist. */
static bool is_unchanged(osla_forest *f, const forest_transfer *x)
{
  return x->exposed_arrays != f->pool->arrays_removed || hash_exposed(f, x) == x->exposed_hash;
}

void osli_forest_check_exposed(osla_forest *f)
{
  char text[120];
  if (!f->pool->verifies) return;
  if (f->two_level) osli_forest_check_exposed(f->two_level->near);
  if (f->split) osli_forest_check_exposed(f->split);
  for (uint64_t number = osli_forest_oldest(f); number <= f->begun; number++) {
    const forest_transfer *x = osli_forest_transfer(f, number);
    if (!x->is_exposed || is_unchanged(f, x)) continue;
    describe_signature(text, sizeof text, number, x->signature);
    osla_transport_abort(f->t,
                         osla_error_set(OSLA_ERR_STATE,
                                        "forest %d: rank %d has overwritten its %s between "
                                        "osla_forest_end_read and osla_forest_writable, where "
                                        "neighbours may still read them: %s",
                                        f->creation_index, osla_transport_rank(f->t),
                                        x->kind == FOREST_BCAST ? "roots" : "leaves", text));
  }
}

void osli_forest_clear_exposed(osla_forest *f)
{
  for (int i = 0; i < MOST_TRANSFERS; i++)
    f->transfer[i].is_exposed = false;
}
