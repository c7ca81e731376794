/* Allocates and frees the memory that other ranks reach.
 *
 * On a node the ranks map one another's memory (shared_memory.h). If that is impossible,
 * MPI_Win_allocate_shared on the node's communicator allocates it; a window of MPI_Win_allocate
 * refuses MPI_Win_shared_query, and a window of MPI_Win_allocate_shared serves one node only. With
 * several nodes MPI_Win_create exposes the same memory to all ranks, with one passive epoch
 * (lock_all) for the lifetime of the window.
 *
 * With MPICH before 4.0.3 a put to a window whose base is not aligned to 16 bytes lands up to 12
 * bytes early. Allocated memory is aligned to pages; attach_mpi.c handles the caller's memory. */
#include "src/transport/mpi/region_mpi.h"
#include "src/transport/mpi/eager_mpi.h"
#include "src/transport/mpi/shared_memory.h"
#include "src/transport/time_limit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- regions that are cached for reuse ---- */

/* Freed regions are cached, because factorisations and solves make a few small ones in each call. A
 * new region takes eight collective calls on a node, and a window across nodes, whose creation
 * spins; a cached one takes one call and a barrier. The cache holds the latest 16 regions, with at
 * most 128 MiB and at most 1/32 of a rank's share of the host's memory, on the rank with the
 * largest part. */
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

/* Finds a cached region with at least `bytes` bytes on each rank, zeroes these bytes, and removes
 * it from the cache. *out = NULL if there is none.
 *   largest [out] largest `bytes` of all ranks
 * Collective. Errors: MPI. */
static osla_err reuse_cached(osla_transport *t, size_t bytes, size_t *largest, osla_region **out)
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
    /* all ranks must have zeroed the cached region before any rank writes to it */
    OSLA_CALL(osla_barrier(t));
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

/* Adds a region that is no longer used to the cache. Returns false if it is too large. Collective;
 * a barrier if it returns true and the job has several nodes. */
static bool add_to_cache(osla_region *region)
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
  /* The barrier keeps this rank in progress while other nodes need it. On one node none is needed,
   * because other ranks may use their mappings until a collective call reuses the region. */
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

/* ---- new regions ---- */

static unsigned char *next_page(unsigned char *at, size_t page)
{
  return at + (page - (uintptr_t)at % page) % page;
}

/* Allocates the node's memory by MPI. Each rank asks for one page more and begins at its first page
 * boundary, because Open MPI 4.1.4 does not align the parts. */
static osla_err allocate_shared_by_mpi(osla_region *region, size_t bytes)
{
  osla_transport *t = region->t;
  MPI_Info info;
  void *base = NULL;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  OSLA_CALL(osli_window_info(t, &info));
  OSLA_MPI(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
  int code = MPI_Win_allocate_shared((MPI_Aint)(bytes + page), 1, info, t->node_comm, &base,
                                     &region->shared_win);
  (void)MPI_Info_free(&info);
  if (code != MPI_SUCCESS) return osla_error_set_mpi(code, "MPI_Win_allocate_shared");
  osli_window_opened(t->rank == 0);
  OSLA_MPI(MPI_Win_set_errhandler(region->shared_win, MPI_ERRORS_RETURN));
  OSLA_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, region->shared_win));

  for (int near = 0; near < t->node_size; near++) {
    MPI_Aint size;
    int unit;
    void *at;
    OSLA_MPI(MPI_Win_shared_query(region->shared_win, near, &size, &unit, &at));
    OSLA_CHECK(at, OSLA_ERR_UNSUPPORTED, "MPI_Win_allocate_shared returned no shared memory");
    region->peer[near] = next_page(at, page);
  }
  /* the first access to a page also places it near the owner of the memory */
  memset(osla_region_mine(region), 0, bytes);
  return OSLA_OK;
}

/* Allocates memory for the only rank of a node. It avoids MPI windows, because Open MPI's shared
 * windows need two ranks. */
static osla_err allocate_private(osla_region *region, size_t bytes)
{
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  OSLA_CHECK(at != MAP_FAILED, OSLA_ERR_MEM, "mapping %zu bytes: %s", bytes, strerror(errno));
  region->peer[0] = at;
  region->mapped[0] = bytes;
  memset(at, 0, bytes); /* this first access needs all pages, so a lack of memory shows here */
  return OSLA_OK;
}

static osla_err allocate_by_mpi(osla_region *region, size_t bytes)
{
  return region->t->node_size > 1 ? allocate_shared_by_mpi(region, bytes)
                                  : allocate_private(region, bytes);
}

static osla_err allocate_memory_of_node(osla_region *region, size_t bytes)
{
  osla_transport *t = region->t;
  osla_err err = t->memory_by_mpi ? osla_agree(t, allocate_by_mpi(region, bytes))
                                  : osli_shared_memory_map(t, bytes, region->peer, region->mapped);
  if (err != OSLA_OK || t->n_nodes == 1) return err;
  return osla_agree(t, osli_mpi_open_window(region, osla_region_mine(region), bytes));
}

/* Checks that the memory fits; frees the cached regions if it does not. */
static osla_err check_memory(osla_transport *t, size_t bytes)
{
  osla_err err = osla_memory_check(t, bytes);
  if (err == OSLA_ERR_MEM && osli_region_cache_clear(t)) err = osla_memory_check(t, bytes);
  return err;
}

osla_err osli_region_make(osla_transport *t, size_t bytes, osla_region_allocate *allocate_memory,
                          osla_region **out)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE), largest;
  size_t most = SIZE_MAX - 2 * page; /* limits the size so that adding a page to it cannot wrap */
  /* a multiple of the page size, at least one page */
  size_t rounded = ((bytes < most ? bytes : most) + page) / page * page;
  osla_region *region = NULL;
  OSLA_CALL(reuse_cached(t, rounded, &largest, out));
  if (*out) return OSLA_OK;
  osla_err err = osla_agree(t, osli_mpi_region_new(t, rounded, &region));
  if (err != OSLA_OK) {
    /* a local call, because some ranks may have no region object */
    osli_mpi_region_discard(&region);
    return err;
  }
  region->largest = largest;
  err = check_memory(t, rounded);
  if (err == OSLA_OK) err = allocate_memory(region, rounded);
  /* freeing the cached regions also frees mappings of this process, and parts of the symmetric heap
   * of OpenSHMEM, so the second attempt may succeed */
  if (err == OSLA_ERR_MEM && !t->memory_by_mpi && osli_region_cache_clear(t))
    err = allocate_memory(region, rounded);
  /* The agreement is a barrier: memory is zeroed and ids are known before any rank writes. */
  if (err == OSLA_OK) err = osla_agree(t, osli_eager_add_region(region));
  if (err != OSLA_OK) osli_mpi_region_release(&region);
  *out = region;
  return err;
}

osla_err osli_mpi_region_alloc(osla_transport *t, size_t bytes, osla_region **out)
{
  return osli_region_make(t, bytes, allocate_memory_of_node, out);
}

void osli_mpi_region_free(osla_region **handle)
{
  if (!*handle) return;
  osli_mpi_posts_finish(*handle, -1);
  osli_eager_wait_all((*handle)->t);
  if (!add_to_cache(*handle)) osli_mpi_region_release(handle);
  *handle = NULL;
}
