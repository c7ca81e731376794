/* Memory for batches of updates, and the layout of a batch in it. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "tools/assemble/updates_batch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

osla_err updates_memory_map(updates_memory *m, int64_t room)
{
  updates_memory_free(m);
  void *start = mmap(NULL, (size_t)room, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
  OSLA_CHECK(start != MAP_FAILED, OSLA_ERR_MEM, "no memory for %" PRId64 " bytes of updates: %s",
             room, strerror(errno));
  m->start = start;
  m->room = room;
  return OSLA_OK;
}

/* Allocates the pages at once; if memory were missing later, an access would be a bus error. */
static osla_err grow_shared(updates_memory *m, int64_t bytes)
{
  updates_memory_free(m);
  int reason = posix_fallocate(m->fd, 0, bytes);
  OSLA_CHECK(reason == 0, OSLA_ERR_MEM, "no memory for %" PRId64 " bytes of updates: %s%s", bytes,
             strerror(reason), reason == EFBIG ? " (the limit of ulimit -f)" : "");
  return updates_memory_map(m, bytes);
}

osla_err updates_memory_grow(updates_memory *m, int64_t bytes)
{
  if (m->room >= bytes) return OSLA_OK;
  if (m->shared) return grow_shared(m, bytes);
  updates_memory_free(m);
  m->start = malloc((size_t)bytes);
  OSLA_CHECK(m->start, OSLA_ERR_MEM, "no memory for %" PRId64 " bytes of updates", bytes);
  m->room = bytes;
  return OSLA_OK;
}

void updates_memory_free(updates_memory *m)
{
  if (!m->shared)
    free(m->start);
  else if (m->start)
    (void)munmap(m->start, (size_t)m->room);
  m->start = NULL;
  m->room = 0;
}

enum { WORD = 8 }; /* bytes of a word; all arrays begin at a word */
/* upper limit of the number of data in a panel of a valid file (updates_sizes.c) */
#define ROWS_MOST (INT64_C(1) << 56)

static int64_t data_of(const updates_layout *l)
{
  return l->w || l->r ? l->count * l->k : 0;
}

int64_t updates_layout_bytes(const updates_layout *l)
{
  const int64_t words = l->count + 1 + (l->g ? 2 : 1) * l->indices + (l->w + l->r) * data_of(l);
  return WORD * words + (l->values * (int64_t)l->element + WORD - 1) / WORD * WORD;
}

/* Returns *next and advances *next by `words`; returns NULL if the array does not exist. */
static void *assign_array(int64_t **next, bool there, int64_t words)
{
  int64_t *array = *next;
  if (!there) return NULL;
  *next += words;
  return array;
}

void updates_layout_assign(const updates_layout *l, updates_batch *b)
{
  int64_t *next = b->memory.start;
  b->count = l->count;
  b->k = l->k;
  b->offset = assign_array(&next, true, l->count + 1);
  b->ix = assign_array(&next, true, l->indices);
  b->g = assign_array(&next, l->g, l->indices);
  b->w = assign_array(&next, l->w, data_of(l));
  b->r = assign_array(&next, l->r, data_of(l));
  b->values = next;
}

bool updates_layout_fits(const updates_layout *l, int64_t most, size_t element, int64_t room)
{
  int64_t data = 0;
  if (l->w > 1 || l->r > 1 || l->g > 1) return false;
  if (l->count < 1 || l->count > most || l->element != element) return false;
  if (l->k < 0 || l->k > ROWS_MOST || l->indices < 0 || l->values < 0) return false;
  if ((l->w || l->r) && __builtin_mul_overflow(l->count, l->k, &data)) return false;
  /* each size is compared with `words` alone, because the sum of the sizes could overflow */
  const int64_t words = room / WORD;
  return room <= INT64_MAX / 8 && l->count < words && l->indices <= words && data <= words &&
         l->values <= room / (int64_t)element && updates_layout_bytes(l) <= room;
}

bool updates_layout_agrees(const updates_layout *l, const int64_t *offset)
{
  int64_t values = 0;
  for (int64_t u = 0; u < l->count; u++) {
    int64_t n, own;
    if (offset[u] < 0 || offset[u + 1] < offset[u]) return false;
    n = offset[u + 1] - offset[u];
    if (__builtin_mul_overflow(n, l->k > 0 ? l->k : n, &own)) return false;
    if (__builtin_add_overflow(values, own, &values)) return false;
  }
  return offset[l->count] - offset[0] == l->indices && values == l->values;
}
