#include "src/transport/mpi/region_mpi.h"
#include "src/transport/time_limit.h"

#include <string.h>

enum { MAX_REGIONS = 16, SPARE_BYTES = 1 << 20, SPARE_FACTOR = 4 };
enum { MAX_BYTES = 128 << 20, MEMORY_FRACTION = 32 };

static size_t max_bytes(const osla_transport *t)
{
  uint64_t part = t->memory_share / MEMORY_FRACTION;
  return part < MAX_BYTES ? (size_t)part : MAX_BYTES;
}

/* Counts the cached regions and their bytes. The list has the same order on all ranks, the latest
 * first. */
static int count_cached(const osla_transport *t, size_t *bytes)
{
  int count = 0;
  *bytes = 0;
  for (const osla_region *r = t->cached_regions; r; r = r->next) {
    *bytes += r->largest;
    count++;
  }
  return count;
}

osla_err osli_region_cache_reuse(osla_transport *t, size_t bytes, size_t *largest,
                                 osla_region **out)
{
  int64_t fits[MAX_REGIONS + 1] = {bytes < INT64_MAX ? -(int64_t)bytes : -INT64_MAX};
  int count = 1;
  *out = NULL;
  for (const osla_region *r = t->cached_regions; r; r = r->next)
    fits[count++] = r->bytes >= bytes;
  OSLA_CALL(osla_allreduce(t, fits, count, MPI_INT64_T, MPI_MIN));
  *largest = (size_t)-fits[0];

  count = 1;
  for (osla_region **at = &t->cached_regions; *at; at = &(*at)->next) {
    osla_region *r = *at;
    if (!fits[count++] || r->largest / SPARE_FACTOR > *largest + SPARE_BYTES) continue;
    *at = r->next;
    memset(osla_region_mine(r), 0, bytes);
    OSLA_CALL(osla_barrier(t)); /* all ranks have zeroed it before any rank writes */
    *out = r;
    return OSLA_OK;
  }
  return OSLA_OK;
}

static void release_oldest(osla_transport *t)
{
  osla_region **at = &t->cached_regions;
  while ((*at)->next)
    at = &(*at)->next;
  osli_mpi_region_release(at);
}

bool osli_region_cache_add(osla_region *region)
{
  osla_transport *t = region->t;
  size_t bytes, most = max_bytes(t);
  int count = count_cached(t, &bytes);
  if (region->attached || region->largest > most - bytes) return false;
  if (count == MAX_REGIONS) release_oldest(t);
  if (region->win != MPI_WIN_NULL) {
    (void)pthread_mutex_lock(&t->mutex);
    osli_time_limit_blocked(&t->locked, "MPI_Win_flush_all");
    (void)MPI_Win_flush_all(region->win);
    osli_time_limit_blocked(&t->locked, NULL);
    memset(region->unflushed, 0, (size_t)t->size * sizeof *region->unflushed);
    (void)pthread_mutex_unlock(&t->mutex);
  }
  /* With several nodes, other ranks may still need this rank's progress. On one node nothing waits:
   * other ranks may use their mappings until a collective call reuses the region. */
  if (t->n_nodes > 1 && osla_barrier(t) != OSLA_OK) return false;
  region->next = t->cached_regions;
  t->cached_regions = region;
  return true;
}

bool osli_region_cache_clear(osla_transport *t)
{
  osla_region *region = t->cached_regions;
  bool any = region != NULL;
  t->cached_regions = NULL;
  while (region) {
    osla_region *next = region->next;
    osli_mpi_region_release(&region);
    region = next;
  }
  return any;
}
