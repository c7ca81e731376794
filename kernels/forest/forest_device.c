/* Vertices in device memory: copies of index lists for the device, loops over vertices that the
 * device runs, and transfers of vertices between devices and host memory.
 *
 * All work is queued in LANE_MAIN, so the device executes it in the order of the calls. */
#include "kernels/forest/forest_units.h"
#include "src/blas/move.h"
#include "src/device/device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)VERTEX_INT64_AT == (int)OSLA_UNIT_INT64_AT &&
                 (int)VERTEX_LONG_DOUBLE == (int)OSLA_UNIT_LONG_DOUBLE &&
                 (int)VERTEX_UINT64 == (int)OSLA_UNIT_UINT64,
               "types of a device have the values of osla_unit_type");
_Static_assert((int)VERTEX_MAXLOC == (int)OSLA_MAXLOC && (int)VERTEX_MAX == (int)OSLA_MAX &&
                 (int)VERTEX_BITS_XOR == (int)OSLA_BITS_XOR,
               "combinations of a device have the values of osla_forest_combine");

/* ---- indices on a device ---- */

/* Indices of vertices in the form that the kernels of a device read: a block or a list. */
struct device_indices {
  uint64_t device; /* id of the device that reads the indices */
  /* block that the indices form, without a list in `memory`; n[0] = 0: the indices are a list */
  vertex_block block;
  /* list of n indices in device memory, or NULL. If `repeats` is true, the arrays `earlier` and
   * `later` of vertices_loop follow, with n elements each. */
  uint32_t *memory;
  bool repeats; /* true if an index occurs twice in the list */
};

/* Returns true if no index of a block occurs twice because each step leads past the end of all
 * shorter steps. False does not mean that an index occurs twice. */
static bool is_distinct(const vertex_block *b)
{
  int64_t past = 0;
  for (int d = 0; d < 3; d++) {
    if (b->n[d] > 1 && b->step[d] <= past) return false;
    past += (b->n[d] - 1) * b->step[d];
  }
  return true;
}

/* Sets earlier[i] to the position of the nearest index before list[i] that is equal to list[i], and
 * later[i] to the position of the nearest equal index after list[i]; UINT32_MAX means that there is
 * none. *repeats becomes false if no index occurs twice. */
static osla_err find_repeats(const uint32_t *list, int64_t n, uint32_t *earlier, uint32_t *later,
                             bool *repeats)
{
  uint32_t high = 0;
  *repeats = false;
  for (int64_t i = 0; i < n; i++)
    high = list[i] > high ? list[i] : high;
  /* last[x]: position of the latest index x so far */
  uint32_t *last = malloc(((size_t)high + 1) * sizeof *last);
  OSLA_CHECK(last, OSLA_ERR_MEM, "positions of %u vertices", high);
  memset(last, 0xff, ((size_t)high + 1) * sizeof *last);
  for (int64_t i = 0; i < n; i++) {
    const uint32_t before = last[list[i]];
    earlier[i] = before;
    later[i] = UINT32_MAX;
    if (before != UINT32_MAX) later[before] = (uint32_t)i;
    *repeats |= before != UINT32_MAX;
    last[list[i]] = (uint32_t)i;
  }
  free(last);
  return OSLA_OK;
}

/* Copies an index list to the device. If an index occurs twice, the positions of equal indices are
 * copied, too. */
static osla_err copy_indices(device_queue *q, const vertex_index *index, struct device_indices *d)
{
  const size_t n = (size_t)index->n;
  uint32_t *list = malloc(3 * n * sizeof *list);
  OSLA_CHECK(list, OSLA_ERR_MEM, "%zu indices for a device", 3 * n);
  for (size_t i = 0; i < n; i++)
    list[i] = (uint32_t)osli_vertex_index(index, (int64_t)i);
  osla_err err = find_repeats(list, index->n, list + n, list + 2 * n, &d->repeats);
  const size_t bytes = (d->repeats ? 3 : 1) * n * sizeof *list;
  void *memory = NULL;
  if (err == OSLA_OK) err = osli_device_alloc(q, bytes, false, &memory);
  d->memory = memory;
  if (err == OSLA_OK) osli_device_copy_bytes(bytes, list, memory);
  free(list);
  return err;
}

static osla_err make_indices(device_queue *q, const vertex_index *index, struct device_indices *d)
{
  *d = (struct device_indices){.device = q->id};
  OSLA_CHECK(index->n < UINT32_MAX, OSLA_ERR_RANGE, "2^32 edges of one rank on a device");
  const bool is_block = index->block || osli_block_find(index->list, index->n, &d->block);
  if (index->block) d->block = *index->block;
  if (is_block && is_distinct(&d->block)) return OSLA_OK;
  d->block.n[0] = 0;
  return copy_indices(q, index, d);
}

void osli_index_forget(vertex_index *index)
{
  struct device_indices *d = index->on_device;
  if (!d) return;
  const device_queue *q = osli_device_of(d->memory);
  if (q && q->id == d->device) osli_device_free(d->memory);
  free(d);
  index->on_device = NULL;
}

/* Sets *out to the copy of the indices on a device. The first call makes the copy. */
static osla_err find_indices(device_queue *q, const vertex_index *index,
                             const struct device_indices **out)
{
  /* the indices themselves do not change, only the cached copy on the device */
  vertex_index *cache = (vertex_index *)(uintptr_t)index;
  if (!index->on_device || index->on_device->device != q->id) {
    osli_index_forget(cache);
    struct device_indices *d = malloc(sizeof *d);
    OSLA_CHECK(d, OSLA_ERR_MEM, "indices for a device");
    osla_err err = make_indices(q, index, d);
    if (err != OSLA_OK) {
      free(d);
      return err;
    }
    cache->on_device = d;
  }
  *out = index->on_device;
  return OSLA_OK;
}

/* ---- loops over vertices that a device runs ---- */

/* The work that a loop does for each vertex. */
typedef struct vertex_loop {
  osla_unit_type type;
  osla_forest_combine combine;
  int64_t count; /* number of numbers in a vertex */
  int64_t bytes; /* number of bytes of a vertex */
} vertex_loop;

static bool is_indexed(const vertex_list *v)
{
  return v->at || v->block;
}

/* Describes a list of vertices for the device. *indices becomes the list's indices on the device,
 * or NULL if the vertices have consecutive indices. *start becomes the position of the list's first
 * vertex in *indices. */
static osla_err describe_side(device_queue *q, const vertex_list *v, vertex_side *side,
                              const struct device_indices **indices, int64_t *start)
{
  *side = (vertex_side){.stride = v->stride, .first = v->first};
  *indices = NULL;
  *start = 0;
  if (!is_indexed(v)) return OSLA_OK;
  OSLA_CALL(find_indices(q, v->index, indices));
  *start = v->at ? v->at - v->index->list : v->first;
  const vertex_block *b = &(*indices)->block;
  side->first = *start;
  if ((*indices)->memory) {
    side->at = (*indices)->memory + *start;
    return OSLA_OK;
  }
  side->origin = b->first;
  memcpy(side->n, b->n, sizeof side->n);
  memcpy(side->step, b->step, sizeof side->step);
  return OSLA_OK;
}

/* Changes a loop that only replaces values such that it copies words of up to 8 bytes instead of
 * smaller numbers. */
static void widen(vertices_loop *l, const void *a, const void *b, const void *c, int64_t bytes)
{
  static const vertex_type words[] = {VERTEX_UINT64, VERTEX_UINT32, VERTEX_UINT16, VERTEX_UINT8};
  const uintptr_t all = (uintptr_t)a | (uintptr_t)b | (uintptr_t)c | (uintptr_t)bytes |
                        (uintptr_t)l->to.stride | (uintptr_t)l->from.stride |
                        (uintptr_t)l->before.stride;
  int which = 0;
  int64_t word = 8;
  for (; all % (uintptr_t)word != 0; which++)
    word /= 2;
  l->type = words[which];
  l->count = bytes / word;
}

/* Queues a loop on the device on which all lists lie. `before` is NULL if the caller does not need
 * the old values. */
static osla_err queue_loop(device_queue *q, const vertex_loop *w, const vertex_list *to,
                           const vertex_list *from, const vertex_list *before, int64_t n)
{
  const struct device_indices *in_to, *other;
  int64_t start, other_start;
  vertices_loop l = {
    .type = (vertex_type)w->type, .combine = (vertex_combine)w->combine, .n = n, .count = w->count};
  if (w->combine == OSLA_REPLACE && !before && osli_is_packed(to, w->bytes) &&
      osli_is_packed(from, w->bytes)) {
    osli_device_copy_bytes((size_t)(n * w->bytes), osli_vertex(from, 0), osli_vertex(to, 0));
    return OSLA_OK;
  }
  OSLA_CALL(describe_side(q, from, &l.from, &other, &other_start));
  if (before) OSLA_CALL(describe_side(q, before, &l.before, &other, &other_start));
  OSLA_CALL(describe_side(q, to, &l.to, &in_to, &start));
  if (in_to && in_to->repeats) {
    l.start = start;
    l.earlier = in_to->memory + to->index->n;
    l.later = l.earlier + to->index->n;
  }
  void *old = before ? before->base : NULL;
  if (w->combine == OSLA_REPLACE) widen(&l, from->base, old, to->base, w->bytes);
  return osli_device_submit(&(device_work){
    .kind = DEVICE_VERTICES, .a = from->base, .b = old, .c = to->base, .vertices = &l});
}

/* ---- lists of which some lie on a device and some in host memory ---- */

/* Number of bytes of vertices that pass through scratch memory at a time. */
enum { CHUNK = 4 << 20 };
/* indices of a device's scratch memory, for vertices that leave the device and that reach it */
enum { PACK, UNPACK };

/* Host memory for packed vertices on their way to or from a device. `mutex` guards this memory, and
 * the scratch memory of all devices. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static device_scratch on_host[DEVICE_SCRATCHES];

/* Sets *out to n adjacent vertices in scratch memory of the device, or in host memory if q is
 * NULL. */
static osla_err packed_in(device_queue *q, int which, const vertex_loop *w, int64_t n,
                          vertex_list *out)
{
  const size_t bytes = (size_t)(n * w->bytes);
  void *memory = q ? osli_device_scratch(q, which, bytes) : on_host[which].memory;
  if (!q && on_host[which].bytes < bytes) {
    free(memory);
    memory = malloc(bytes);
    on_host[which].memory = memory;
    on_host[which].bytes = memory ? bytes : 0;
  }
  OSLA_CHECK(memory, OSLA_ERR_MEM, "%zu bytes for vertices that leave or reach a device", bytes);
  *out = (vertex_list){.base = memory, .stride = w->bytes};
  return OSLA_OK;
}

/* Replaces n vertices of the list `to` by the vertices of the list `from`. Each list may lie on any
 * device or in host memory. */
static osla_err move_vertices(const vertex_loop *w, const vertex_list *to, const vertex_list *from,
                              int64_t n)
{
  const vertex_loop move = {w->type, OSLA_REPLACE, w->count, w->bytes};
  device_queue *q = osli_device_of(to->base), *source = osli_device_of(from->base);
  vertex_list at = *from, packed;
  if (q == source && q) return queue_loop(q, &move, to, from, NULL, n);
  if (source && !osli_is_packed(&at, w->bytes)) {
    OSLA_CALL(packed_in(source, PACK, w, n, &packed));
    OSLA_CALL(queue_loop(source, &move, &packed, &at, NULL, n));
    at = packed;
  }
  if (source ? q || !osli_is_packed(to, w->bytes) : q && !osli_is_packed(&at, w->bytes)) {
    OSLA_CALL(packed_in(NULL, 0, w, n, &packed));
    if (source)
      osli_device_copy_bytes((size_t)(n * w->bytes), osli_vertex(&at, 0), packed.base);
    else
      osli_vertices_combine_on_host(w->type, OSLA_REPLACE, w->count, &packed, &at, NULL, n);
    at = packed;
    source = NULL;
  }
  if (!q && !source) {
    osli_vertices_combine_on_host(w->type, OSLA_REPLACE, w->count, to, &at, NULL, n);
    return OSLA_OK;
  }
  packed = *to;
  if (q && !osli_is_packed(to, w->bytes)) OSLA_CALL(packed_in(q, UNPACK, w, n, &packed));
  osli_device_copy_bytes((size_t)(n * w->bytes), osli_vertex(&at, 0), osli_vertex(&packed, 0));
  return packed.base == to->base ? OSLA_OK : queue_loop(q, &move, to, &packed, NULL, n);
}

/* Combines vertices of `from` into vertices of `to`, where not all lists lie in the same memory.
 * The combination runs where `to` lies. */
static osla_err combine_across(const vertex_loop *w, const vertex_list *to, const vertex_list *from,
                               const vertex_list *before, int64_t n)
{
  device_queue *q = osli_device_of(to->base);
  vertex_list values = *from, old = before ? *before : *to;
  const bool moves_old = before && osli_device_of(before->base) != q;
  if (w->combine == OSLA_REPLACE && !before) return move_vertices(w, to, from, n);
  if (osli_device_of(from->base) != q) {
    OSLA_CALL(packed_in(q, q ? UNPACK : 0, w, n, &values));
    OSLA_CALL(move_vertices(w, &values, from, n));
  }
  if (moves_old) OSLA_CALL(packed_in(q, q ? PACK : 1, w, n, &old));
  if (q)
    OSLA_CALL(queue_loop(q, w, to, &values, before ? &old : NULL, n));
  else
    osli_vertices_combine_on_host(w->type, w->combine, w->count, to, &values, before ? &old : NULL,
                                  n);
  return moves_old ? move_vertices(w, before, &old, n) : OSLA_OK;
}

static osla_err combine_in_chunks(const vertex_loop *w, const vertex_list *to,
                                  const vertex_list *from, const vertex_list *before, int64_t n)
{
  const int64_t most = w->bytes < CHUNK ? CHUNK / w->bytes : 1;
  osla_err err = OSLA_OK;
  (void)pthread_mutex_lock(&mutex);
  for (int64_t i = 0; err == OSLA_OK && i < n; i += most) {
    const vertex_list to_i = osli_vertices_from(*to, i), from_i = osli_vertices_from(*from, i);
    const vertex_list before_i = osli_vertices_from(before ? *before : *to, i);
    err = combine_across(w, &to_i, &from_i, before ? &before_i : NULL, n - i < most ? n - i : most);
  }
  (void)pthread_mutex_unlock(&mutex);
  return err;
}

void osli_vertices_combine_on_devices(osla_unit_type type, osla_forest_combine combine,
                                      int64_t count, const vertex_list *to, const vertex_list *from,
                                      const vertex_list *before, int64_t n)
{
  const vertex_loop w = {type, combine, count, (int64_t)osli_unit_element(type) * count};
  if (n == 0) return;
  const device_lane lane = osli_device_lane(LANE_MAIN);
  device_queue *q = osli_device_of(to->base);
  const bool one =
    q && osli_device_of(from->base) == q && (!before || osli_device_of(before->base) == q);
  osli_device_keep_error(one ? queue_loop(q, &w, to, from, before, n)
                             : combine_in_chunks(&w, to, from, before, n));
  (void)osli_device_lane(lane);
}
