#include "kernels/forest/forest_pool.h"
#include "kernels/forest/forest_serve.h"
#include "src/transport/alive.h"
#include "src/transport/kept.h"
#include "src/transport/settings.h"

#include <inttypes.h>
#include <stdlib.h>

enum { POOL_BYTES = 1 << 20 };

static const char key;

static void serve_hook(void *arg)
{
  osli_forests_serve(arg);
}

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

/* Collective: the transport ends. */
static void destroy(void *object)
{
  forest_pool *pool = object;
  osla_progress_remove(pool->t, serve_hook, pool);
  for (int i = 0; i < pool->n_arrays; i++)
    if (osla_pool_array(pool, i)->is_mine) osla_segment_destroy(&osla_pool_array(pool, i)->segment);
  for (int i = 0; i < POOL_BLOCKS; i++)
    free(pool->array[i]);
  while (pool->segments) {
    pool_segment *s = pool->segments;
    pool->segments = s->next;
    free_segment(s);
  }
  free(pool->scratch);
  free(pool);
}

/* Collective. Another segment, of at least so many bytes here. */
static osla_err add_segment(forest_pool *pool, size_t bytes)
{
  OSLA_MAKES(NULL, NULL); /* the transport keeps it */
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

osla_err osli_forest_pool(osla_transport *t, forest_pool **out)
{
  *out = osli_transport_kept(t, &key);
  if (*out) return OSLA_OK;
  forest_pool *pool = calloc(1, sizeof *pool);
  osla_err err = osla_agree(t, pool ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "memory for forests"));
  if (err != OSLA_OK) {
    free(pool);
    return err;
  }
  pool->t = t;
  pool->verifies = osli_transport_verifies(t);
  pool->last = &pool->segments;
  pool->array_changes = 1;
  atomic_flag_clear(&pool->busy);
  err = osla_agree(t, osla_progress_add(t, serve_hook, pool));
  if (err == OSLA_OK) err = add_segment(pool, 0);
  if (err == OSLA_OK) err = osla_agree(t, osli_transport_keep(t, &key, pool, destroy));
  if (err == OSLA_OK) {
    *out = pool;
    return OSLA_OK;
  }
  osli_transport_let_go(t, &key);
  destroy(pool);
  return err;
}

/* ---- pieces ---- */

static bool take_from(pool_segment *s, size_t bytes, size_t *offset)
{
  for (pool_hole **at = &s->holes; *at; at = &(*at)->next) {
    pool_hole *hole = *at;
    if (hole->bytes < bytes) continue;
    *offset = hole->offset;
    hole->offset += bytes;
    hole->bytes -= bytes;
    if (hole->bytes == 0) {
      *at = hole->next;
      free(hole);
    }
    return true;
  }
  return false;
}

static bool has_room(const pool_segment *s, size_t bytes)
{
  for (const pool_hole *hole = s->holes; hole; hole = hole->next)
    if (hole->bytes >= bytes) return true;
  return false;
}

/* All ranks take and give together. */
static int take_number(pool_segment *s)
{
  for (int i = 0; i < POOL_NUMBERS; i++)
    if (!s->numbered[i]) {
      s->numbered[i] = true;
      return i;
    }
  return -1;
}

/* The first segment with room on all ranks. */
osla_err osli_pool_take(forest_pool *pool, size_t bytes, pool_piece *out)
{
  bytes = (bytes + LINE - 1) / LINE * LINE;
  for (pool_segment *s = pool->segments;; s = s->next) {
    if (!s) {
      pool_segment **added = pool->last;
      OSLA_CALL(add_segment(pool, bytes));
      s = *added;
    }
    int64_t lacks = !has_room(s, bytes);
    OSLA_CALL(osla_allreduce(pool->t, &lacks, 1, MPI_INT64_T, MPI_MAX));
    if (lacks) continue;
    *out = (pool_piece){.segment = s->segment, .bytes = bytes, .number = take_number(s)};
    (void)take_from(s, bytes, &out->offset);
    s->pieces++;
    out->memory = (unsigned char *)osla_segment_local(s->segment) + out->offset;
    return OSLA_OK;
  }
}

void *osli_pool_scratch(forest_pool *pool, size_t bytes)
{
  if (bytes <= pool->scratch_bytes) return pool->scratch;
  free(pool->scratch);
  pool->scratch = malloc(bytes);
  pool->scratch_bytes = pool->scratch ? bytes : 0;
  return pool->scratch;
}

void osli_pool_scratch_done(forest_pool *pool)
{
  enum { KEPT = 4 << 20 };
  if (pool->scratch_bytes <= KEPT) return;
  free(pool->scratch);
  pool->scratch = NULL;
  pool->scratch_bytes = 0;
}

/* Neighbouring holes become one. Without memory for a hole it is lost until its segment goes. */
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

/* A segment without pieces goes, but for the first; on all ranks at the same time. */
void osli_pool_give(forest_pool *pool, pool_piece *piece)
{
  pool_segment **at = &pool->segments;
  while (*at && (*at)->segment != piece->segment)
    at = &(*at)->next;
  pool_segment *s = *at;
  if (!s || piece->bytes == 0) return;
  add_hole(s, piece);
  if (piece->number >= 0) s->numbered[piece->number] = false;
  *piece = (pool_piece){0};
  if (--s->pieces > 0 || s == pool->segments) return;
  *at = s->next;
  if (!*at) pool->last = at;
  free_segment(s);
}

/* ---- arrays ---- */

int osli_pool_find(const forest_pool *pool, const void *from, size_t bytes)
{
  uintptr_t at = (uintptr_t)from;
  for (int i = 0; i < pool->n_arrays; i++) {
    const pool_array *array = osla_pool_array(pool, i);
    uintptr_t base = (uintptr_t)array->base;
    if (base && at >= base && at + bytes <= base + array->bytes) return i;
  }
  return -1;
}

static osla_err find_place(forest_pool *pool, int *place)
{
  int i = 0;
  while (i < pool->n_arrays && osla_pool_array(pool, i)->segment)
    i++;
  OSLA_CHECK(i < POOL_BLOCKS * POOL_ARRAYS, OSLA_ERR_RANGE, "more than %d arrays of vertices",
             POOL_BLOCKS * POOL_ARRAYS);
  pool_array **block = &pool->array[i / POOL_ARRAYS];
  if (!*block) *block = calloc(POOL_ARRAYS, sizeof **block);
  OSLA_CHECK(*block, OSLA_ERR_MEM, "a list of arrays of vertices");
  *place = i;
  return OSLA_OK;
}

/* Collective. The same place on all ranks, since all add and remove in the same order. */
static osla_err add_array(forest_pool *pool, osla_segment *segment, bool is_mine)
{
  int place = 0;
  OSLA_CALL(osla_agree(pool->t, find_place(pool, &place)));
  *osla_pool_array(pool, place) =
    (pool_array){segment, is_mine, osla_segment_local(segment), osla_segment_bytes(segment)};
  if (place == pool->n_arrays) pool->n_arrays++;
  pool->array_changes++;
  return OSLA_OK;
}

/* Collective, since somebody may still read there. */
static osla_err check_idle(forest_pool *pool)
{
  return osla_agree(
    pool->t, pool->under_way == 0
               ? OSLA_OK
               : osla_error_set(OSLA_ERR_STATE, "vertices go while a transfer is under way"));
}

osla_err osla_vertices_create(osla_transport *t, size_t bytes, void **out)
{
  OSLA_MAKES("osla_vertices_create", "osla_vertices_free");
  forest_pool *pool;
  osla_segment *segment;
  *out = NULL;
  OSLA_CALL(osli_forest_pool(t, &pool));
  OSLA_CALL(osla_segment_create(t, bytes, 0, &segment));
  osla_err err = add_array(pool, segment, true);
  if (err == OSLA_OK)
    *out = osla_segment_local(segment);
  else
    osla_segment_destroy(&segment);
  return err;
}

static bool is_vertices(const pool_array *array, const void *vertices)
{
  return array->is_mine && array->base == vertices;
}

osla_err osla_vertices_free(osla_transport *t, void **vertices)
{
  forest_pool *pool;
  int64_t place = 0, least;
  if (!vertices || !*vertices) return OSLA_OK;
  OSLA_CALL(osli_forest_pool(t, &pool));
  while (place < pool->n_arrays && !is_vertices(osla_pool_array(pool, place), *vertices))
    place++;
  least = place;
  OSLA_CALL(osla_allreduce(t, &least, 1, MPI_INT64_T, MPI_MIN));
  bool known = place == least && place < pool->n_arrays;
  OSLA_CALL(osla_agree(t, known ? OSLA_OK
                                : osla_error_set(OSLA_ERR_ARG, "vertices: not from "
                                                               "osla_vertices_create, or others "
                                                               "than on other ranks")));
  OSLA_CALL(check_idle(pool));
  osla_segment_destroy(&osla_pool_array(pool, place)->segment);
  *osla_pool_array(pool, place) = (pool_array){0};
  pool->array_changes++;
  pool->arrays_gone++;
  *vertices = NULL;
  return OSLA_OK;
}

/* Attached memory is its owner's alone. */
static osla_err check_reach(const osla_transport *t, const osla_segment *segment)
{
  for (int rank = 0; rank < osla_transport_size(t); rank++)
    OSLA_CHECK(!osla_transport_same_node(t, rank) || osla_segment_peer(segment, rank), OSLA_ERR_ARG,
               "vertices: a segment that neighbours cannot read");
  return OSLA_OK;
}

osla_err osla_vertices_in(osla_segment *segment)
{
  forest_pool *pool;
  OSLA_CHECK(segment, OSLA_ERR_ARG, "vertices: no segment");
  OSLA_CALL(osli_forest_pool(osla_segment_transport(segment), &pool));
  OSLA_CALL(osla_agree(pool->t, check_reach(pool->t, segment)));
  return add_array(pool, segment, false);
}

osla_err osla_vertices_out(osla_segment *segment)
{
  forest_pool *pool;
  OSLA_CHECK(segment, OSLA_ERR_ARG, "vertices: no segment");
  OSLA_CALL(osli_forest_pool(osla_segment_transport(segment), &pool));
  OSLA_CALL(check_idle(pool));
  for (int i = 0; i < pool->n_arrays; i++) {
    pool_array *array = osla_pool_array(pool, i);
    if (array->segment == segment && !array->is_mine) *array = (pool_array){0};
  }
  pool->array_changes++;
  pool->arrays_gone++;
  return OSLA_OK;
}
