#include "kernels/forest/forest_pool.h"
#include "osla_device.h"
#include "src/transport/live_objects.h"
#include "src/transport/transport_ops.h"

#include <inttypes.h>
#include <stdlib.h>

enum { POOL_BYTES = 1 << 20 };

/* The address of this variable is the key of the pool among the transport's objects. */
static const char key;

static void free_segment(pool_segment *s)
{
  osla_segment_destroy(&s->segment);
  while (s->holes) {
    pool_hole *hole = s->holes;
    s->holes = hole->next;
    free(hole);
  }
  free(s);
}

/* Frees the pool; called by osla_transport_destroy. Collective. */
static void destroy_pool(void *object)
{
  forest_pool *pool = object;
  if (pool->progress) osla_progress_remove(pool->t, pool->progress, pool);
  for (int i = 0; i < pool->n_arrays; i++)
    osla_segment_destroy(&pool->array[i].segment);
  while (pool->segments) {
    pool_segment *s = pool->segments;
    pool->segments = s->next;
    free_segment(s);
  }
  free(pool);
}

/* Adds a segment to the pool, with at least `bytes` on this rank. Collective. */
static osla_err add_segment(forest_pool *pool, size_t bytes)
{
  OSLA_MAKES(NULL, NULL); /* destroying the transport also destroys the segment */
  pool_segment *s = calloc(1, sizeof *s);
  pool_hole *hole = calloc(1, sizeof *hole);
  osla_err err = s && hole ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "memory for forests");
  err = osla_agree(pool->t, err);
  size_t size = bytes > POOL_BYTES ? bytes : POOL_BYTES;
  if (err == OSLA_OK) err = osla_segment_create(pool->t, size, 0, &s->segment);
  if (err != OSLA_OK) {
    free(s);
    free(hole);
    return err;
  }
  osla_segment_steers(s->segment);
  *hole = (pool_hole){NULL, 0, size};
  s->holes = hole;
  *pool->last = s;
  pool->last = &s->next;
  return OSLA_OK;
}

osla_err osli_forest_pool(osla_transport *t, osla_err local, forest_pool **out)
{
  *out = osli_transport_object_find(t, &key);
  if (*out) return OSLA_OK;
  void *memory;
  OSLA_CALL(osla_agree(t, local));
  OSLA_CALL(osli_agree_calloc(t, sizeof(forest_pool), "memory for forests", &memory));
  forest_pool *pool = memory;
  pool->t = t;
  pool->verifies = t->settings.verify;
  pool->last = &pool->segments;
  pool->array_changes = 1;
  atomic_flag_clear(&pool->is_locked);
  osla_err err = add_segment(pool, 0);
  if (err == OSLA_OK) err = osla_agree(t, osli_transport_object_add(t, &key, pool, destroy_pool));
  if (err == OSLA_OK) {
    *out = pool;
    return OSLA_OK;
  }
  osli_transport_object_remove(t, &key);
  destroy_pool(pool);
  return err;
}

osla_err osli_pool_set_progress(forest_pool *pool, void (*progress)(void *pool),
                                bool (*advance_pending)(forest_pool *pool))
{
  if (pool->progress) return OSLA_OK;
  OSLA_CALL(osla_agree(pool->t, osla_progress_add(pool->t, progress, pool)));
  pool->progress = progress;
  pool->advance_pending = advance_pending;
  return OSLA_OK;
}

/* ---- pieces of the pool ---- */

/* Returns the link to the first free range (hole) that is large enough, or a link that holds NULL
 * if there is no such range. */
static pool_hole **find_hole(pool_segment *s, size_t bytes)
{
  pool_hole **at = &s->holes;
  while (*at && (*at)->bytes < bytes)
    at = &(*at)->next;
  return at;
}

static size_t allocate_from(pool_hole **at, size_t bytes)
{
  pool_hole *hole = *at;
  const size_t offset = hole->offset;
  hole->offset += bytes;
  hole->bytes -= bytes;
  if (hole->bytes == 0) {
    *at = hole->next;
    free(hole);
  }
  return offset;
}

/* Returns an unused number for a piece. The number is the same on all ranks, because all ranks
 * allocate and release pieces in the same order. */
static int allocate_number(pool_segment *s)
{
  for (int i = 0; i < POOL_PIECE_NUMBERS; i++)
    if (!s->number_in_use[i]) {
      s->number_in_use[i] = true;
      return i;
    }
  return -1;
}

/* Allocates in the first segment that has a large enough free range on every rank. */
osla_err osli_pool_allocate(forest_pool *pool, osla_err local, size_t bytes, pool_piece *out)
{
  bytes = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  for (pool_segment *s = pool->segments;; s = s->next) {
    if (!s) {
      pool_segment **added = pool->last;
      OSLA_CALL(add_segment(pool, bytes));
      s = *added;
    }
    int64_t fits = *find_hole(s, bytes) != NULL;
    OSLA_CALL(osli_agree_least(pool->t, local, &fits, 1));
    if (!fits) continue;
    *out = (pool_piece){.segment = s->segment, .bytes = bytes, .number = allocate_number(s)};
    out->offset = allocate_from(find_hole(s, bytes), bytes);
    s->n_pieces++;
    out->memory = (unsigned char *)osla_segment_local(s->segment) + out->offset;
    return OSLA_OK;
  }
}

/* Adds the range of a piece to the list of free ranges, and joins adjacent ranges. If there is no
 * memory for a new list entry, the range stays unused until its segment is freed. */
static void add_hole(pool_segment *s, const pool_piece *piece)
{
  pool_hole **at = &s->holes, *before = NULL;
  while (*at && (*at)->offset < piece->offset) {
    before = *at;
    at = &before->next;
  }
  pool_hole *next = *at;
  if (before && before->offset + before->bytes == piece->offset) {
    before->bytes += piece->bytes;
  } else {
    pool_hole *hole = malloc(sizeof *hole);
    if (!hole) return;
    *hole = (pool_hole){next, piece->offset, piece->bytes};
    *at = before = hole;
  }
  if (next && before->offset + before->bytes == next->offset) {
    before->bytes += next->bytes;
    before->next = next->next;
    free(next);
  }
}

/* Frees the piece, and destroys its segment if no piece is left there; all ranks do so together.
 * The first segment always stays. */
void osli_pool_release(forest_pool *pool, pool_piece *piece)
{
  pool_segment **at = &pool->segments;
  while (*at && (*at)->segment != piece->segment)
    at = &(*at)->next;
  pool_segment *s = *at;
  if (!s || piece->bytes == 0) return;
  add_hole(s, piece);
  if (piece->number >= 0) s->number_in_use[piece->number] = false;
  *piece = (pool_piece){0};
  if (--s->n_pieces > 0 || s == pool->segments) return;
  *at = s->next;
  if (!*at) pool->last = at;
  free_segment(s);
}

/* ---- arrays in the pool ---- */

int osli_pool_find_array(const forest_pool *pool, const void *from, size_t bytes)
{
  uintptr_t at = (uintptr_t)from;
  for (int i = 0; i < pool->n_arrays; i++) {
    const pool_array *array = &pool->array[i];
    uintptr_t base = (uintptr_t)array->base;
    if (base && at >= base && at + bytes <= base + array->bytes) return i;
  }
  return -1;
}

/* Sets *index to the index of a free entry of the table of arrays. */
static osla_err find_free_entry(forest_pool *pool, int *index)
{
  int i = 0;
  while (i < pool->n_arrays && pool->array[i].segment)
    i++;
  OSLA_CHECK(i < POOL_ARRAYS, OSLA_ERR_RANGE, "%d arrays of vertices are in use: free one first",
             POOL_ARRAYS);
  *index = i;
  return OSLA_OK;
}

/* Adds an array to the table of arrays. Its index is the same on all ranks, because all ranks add
 * and remove arrays in the same order. Collective. */
static osla_err add_array(forest_pool *pool, osla_segment *segment)
{
  int index = 0;
  OSLA_CALL(osla_agree(pool->t, find_free_entry(pool, &index)));
  pool->array[index] =
    (pool_array){segment, osla_segment_local(segment), osla_segment_bytes(segment)};
  if (index == pool->n_arrays) pool->n_arrays++;
  pool->array_changes++;
  return OSLA_OK;
}

/* Fails on all ranks if a rank has a transfer in progress, which may still read the array.
 * Collective. */
static osla_err check_idle(forest_pool *pool)
{
  return osla_agree(
    pool->t,
    pool->n_under_way == 0
      ? OSLA_OK
      : osla_error_set(OSLA_ERR_STATE,
                       "vertices are removed while a transfer is under way: end it first"));
}

/* Allocates an array for vertices in the memory of `device`, or in host memory if `device` is
 * NULL. */
static osla_err create_array(osla_transport *t, osla_device *device, size_t bytes, void **out)
{
  forest_pool *pool;
  osla_segment *segment;
  *out = NULL;
  OSLA_CALL(osli_forest_pool(t, OSLA_OK, &pool));
  OSLA_CALL(device ? osla_segment_create_on(device, bytes, 0, &segment)
                   : osla_segment_create(t, bytes, 0, &segment));
  osla_err err = add_array(pool, segment);
  if (err == OSLA_OK)
    *out = osla_segment_local(segment);
  else
    osla_segment_destroy(&segment);
  return err;
}

osla_err osla_vertices_create(osla_transport *t, size_t bytes, void **out)
{
  OSLA_MAKES("osla_vertices_create", "osla_vertices_free");
  return create_array(t, NULL, bytes, out);
}

osla_err osla_vertices_create_on(osla_device *device, size_t bytes, void **out)
{
  OSLA_MAKES("osla_vertices_create_on", "osla_vertices_free");
  return create_array(osli_device_transport(device), device, bytes, out);
}

osla_err osla_vertices_free(osla_transport *t, void **vertices)
{
  forest_pool *pool;
  int64_t index = 0, least;
  if (!vertices || !*vertices) return OSLA_OK;
  OSLA_CALL(osli_forest_pool(t, OSLA_OK, &pool));
  while (index < pool->n_arrays && pool->array[index].base != *vertices)
    index++;
  least = index;
  OSLA_CALL(osla_allreduce(t, &least, 1, MPI_INT64_T, MPI_MIN));
  bool known = index == least && index < pool->n_arrays;
  OSLA_CALL(osla_agree(t, known
                            ? OSLA_OK
                            : osla_error_set(OSLA_ERR_ARG, "osla_vertices_free: memory that is "
                                                           "not from osla_vertices_create, or "
                                                           "not the array of the other ranks")));
  OSLA_CALL(check_idle(pool));
  osla_segment_destroy(&pool->array[index].segment);
  pool->array[index] = (pool_array){0};
  pool->array_changes++;
  pool->arrays_removed++;
  *vertices = NULL;
  return OSLA_OK;
}
