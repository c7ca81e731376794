/* The OpenSHMEM backend of the transport table. osla_shmem.h describes how it differs from the MPI
 * backend.
 *
 * The MPI backend serves memory of ranks on this rank's node, attached memory, transports on a part
 * of MPI_COMM_WORLD, progress, and waits for notifications. A symmetric address is valid at each
 * rank: in calls of OpenSHMEM, the address of this rank's memory and a PE number name the memory of
 * that PE. */
#include "osla_backend.h"
#include "osla_shmem.h"
#include "src/transport/mpi/region_mpi.h"
#include "src/transport/shmem/shmem_start.h"

#include <inttypes.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  /* the handle of a get is FIRST_GET plus the number of calls of shmem_quiet before it, modulo
   * GETS; handles of the MPI backend are smaller */
  FIRST_GET = 1 << 24,
  GETS = 1 << 24
};

static shmem_ranks *ranks_of(const osla_region *region)
{
  return region->t->backend;
}

static int pe_of(const osla_region *region, int rank)
{
  return ranks_of(region)->pe[rank];
}

/* True if the MPI backend serves transfers to and from the rank's memory, because the memory is not
 * symmetric or the rank is on this node. */
static bool uses_mpi(const osla_region *region, int rank)
{
  return !region->own || osla_region_peer(region, rank);
}

static unsigned char *symmetric_address(const osla_region *region, size_t offset)
{
  return (unsigned char *)region->own + offset;
}

/* --- regions in symmetric memory --- */

/* Bytes of the symmetric heap that regions use in this process. Regions are made and freed by one
 * thread at a time. */
static size_t heap_in_use;

static void free_memory(osla_region *region)
{
  if (!osli_shmem_has_ended()) {
    /* in this barrier ranks sleep until all have arrived; in shmem_free they spin */
    (void)osla_barrier(region->t);
    osli_shmem_enter(region->t, "shmem_free");
    shmem_free(region->own);
    osli_shmem_leave(region->t);
  }
  heap_in_use -= region->largest;
  region->own = NULL;
}

static osla_err heap_error(size_t bytes)
{
  /* The suggested size is the next power of two above twice the sum, in MiB: the heap needs some
   * memory for itself, and Open MPI 4.1 does not join all free memory. */
  const size_t sum = heap_in_use + bytes;
  size_t needed = 1;
  while (needed <= sum >> 19)
    needed *= 2;
  const char *size = getenv("SHMEM_SYMMETRIC_SIZE");
  return osla_error_set(
    OSLA_ERR_MEM,
    "the symmetric heap of OpenSHMEM has no room for %zu bytes on each rank, beside %zu bytes "
    "of other segments: set SHMEM_SYMMETRIC_SIZE=%zuM, or more, on all ranks (now: %s)",
    bytes, heap_in_use, needed, size ? size : "not set");
}

/* Sets the addresses at which the memory of the ranks of this node is mapped. */
static osla_err find_neighbours(osla_region *region)
{
  const osla_transport *t = region->t;
  for (int rank = 0; rank < t->size; rank++) {
    const int near = osla_transport_node_rank_of(t, rank);
    if (near < 0) continue;
    region->peer[near] =
      rank == t->rank ? region->own : shmem_ptr(region->own, pe_of(region, rank));
    OSLA_CHECK(region->peer[near], OSLA_ERR_UNSUPPORTED,
               "shmem_ptr gives no address of the memory of rank %d, which is on the node of rank "
               "%d: set OSLA_FAKE_NODES=all, which makes every rank a node of its own",
               rank, t->rank);
  }
  return OSLA_OK;
}

static osla_err allocate_memory(osla_region *region, size_t bytes)
{
  osla_transport *t = region->t;
  /* in this barrier ranks sleep until all have arrived; in shmem_align they spin */
  OSLA_CALL(osla_barrier(t));
  osli_shmem_enter(t, "shmem_align");
  region->own = shmem_align((size_t)sysconf(_SC_PAGESIZE), region->largest);
  osla_err err = region->own ? find_neighbours(region) : heap_error(region->largest);
  osli_shmem_leave(t);
  if (region->own) {
    region->free_own = free_memory;
    heap_in_use += region->largest;
    memset(region->own, 0, bytes);
  }
  return osla_agree(t, err);
}

/* Allocates a region. On a part of MPI_COMM_WORLD its memory comes from MPI, because all PEs must
 * take part in an allocation of symmetric memory. */
static osla_err alloc_region(osla_transport *t, size_t bytes, osla_region **out)
{
  const shmem_ranks *ranks = t->backend;
  if (!ranks->whole_world) return osli_shmem_services->built_in->region_alloc(t, bytes, out);
  return osli_shmem_services->built_in->region_make(t, bytes, allocate_memory, out);
}

/* Completes all transfers of this rank. The caller holds the lock. */
static void complete_all(osla_region *region)
{
  shmem_quiet();
  ranks_of(region)->quiets++;
  memset(region->unflushed, 0, (size_t)region->t->size * sizeof *region->unflushed);
}

/* Frees a region after its puts are complete, because the region may be cached and reused. */
static void free_region(osla_region **handle)
{
  osla_region *region = *handle;
  if (region && region->own && !osli_shmem_has_ended()) {
    osli_shmem_enter(region->t, "shmem_quiet");
    complete_all(region);
    osli_shmem_leave(region->t);
  }
  osli_shmem_services->built_in->region_free(handle);
}

/* --- gets and puts by OpenSHMEM --- */

static osla_err backend_get(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                            osla_handle *handle)
{
  if (uses_mpi(region, rank))
    return osli_shmem_services->built_in->get(region, rank, offset, dest, bytes, handle);
  *handle = OSLA_HANDLE_DONE;
  if (bytes == 0) return OSLA_OK;
  osli_shmem_enter(region->t, "shmem_getmem_nbi");
  shmem_getmem_nbi(dest, symmetric_address(region, offset), bytes, pe_of(region, rank));
  handle->first = FIRST_GET + (int32_t)(ranks_of(region)->quiets % GETS);
  osli_shmem_leave(region->t);
  return OSLA_OK;
}

/* Starts a put; its source may be reused on return. */
static osla_err backend_put(osla_region *region, int rank, size_t offset, const void *source,
                            size_t bytes, osla_handle *handle)
{
  if (uses_mpi(region, rank))
    return osli_shmem_services->built_in->put(region, rank, offset, source, bytes, handle);
  *handle = OSLA_HANDLE_DONE;
  if (bytes == 0) return OSLA_OK;
  osli_shmem_enter(region->t, "shmem_putmem");
  shmem_putmem(symmetric_address(region, offset), source, bytes, pe_of(region, rank));
  region->unflushed[rank] = true;
  osli_shmem_leave(region->t);
  return OSLA_OK;
}

/* Completes a get, unless a call of shmem_quiet after its start has completed it. */
static osla_err backend_wait(osla_transport *t, osla_handle *handle)
{
  shmem_ranks *ranks = t->backend;
  if (handle->first < FIRST_GET) return osli_shmem_services->built_in->wait(t, handle);
  osli_shmem_enter(t, "shmem_quiet");
  if (handle->first - FIRST_GET == (int32_t)(ranks->quiets % GETS)) {
    shmem_quiet();
    ranks->quiets++;
  }
  osli_shmem_leave(t);
  *handle = OSLA_HANDLE_DONE;
  return OSLA_OK;
}

/* Waits for a get, because OpenSHMEM cannot test it. */
static osla_err backend_test(osla_transport *t, osla_handle *handle, bool *done)
{
  if (handle->first < FIRST_GET) return osli_shmem_services->built_in->test(t, handle, done);
  *done = true;
  return backend_wait(t, handle);
}

/* --- order of puts, and puts with notify --- */

static osla_err backend_flush(osla_region *region, int rank)
{
  if (uses_mpi(region, rank)) return osli_shmem_services->built_in->flush(region, rank);
  osli_shmem_enter(region->t, "shmem_quiet");
  if (region->unflushed[rank]) complete_all(region);
  osli_shmem_leave(region->t);
  return OSLA_OK;
}

/* When this function returns, the word may still be under way. The next put with notify to the rank
 * calls shmem_fence, because `unflushed` is true, so that words arrive in order. */
static osla_err backend_put_notify(osla_region *region, int rank, size_t offset, const void *source,
                                   size_t bytes, size_t word_offset, uint64_t word,
                                   size_t bell_offset)
{
  if (uses_mpi(region, rank))
    return osli_shmem_services->built_in->put_notify(region, rank, offset, source, bytes,
                                                     word_offset, word, bell_offset);
  /* a rank that sees the word of the notify must also see the stores that this rank made before */
  atomic_thread_fence(memory_order_seq_cst);
  const int pe = pe_of(region, rank);
  osli_shmem_enter(region->t, "shmem_putmem");
  if (bytes > 0) shmem_putmem(symmetric_address(region, offset), source, bytes, pe);
  if (bytes > 0 || region->unflushed[rank]) shmem_fence();
  shmem_uint64_p((uint64_t *)symmetric_address(region, word_offset), word, pe);
  region->unflushed[rank] = true;
  osli_shmem_leave(region->t);
  return OSLA_OK;
}

/* Makes the put with notify before it returns, because OpenSHMEM cannot test whether a put has
 * arrived. The caller may then reuse the source, so no post remains: *out is NULL. */
static osla_err backend_post(osla_region *region, int rank, size_t offset, const void *source,
                             size_t bytes, size_t word_offset, uint64_t word, size_t bell_offset,
                             osla_post **out)
{
  if (out) *out = NULL;
  return backend_put_notify(region, rank, offset, source, bytes, word_offset, word, bell_offset);
}

/* --- fetch-and-add --- */

/* If the job has several nodes, all additions use OpenSHMEM, even those to a rank of this node:
 * an atomic operation of OpenSHMEM and one of C11 are not atomic with respect to each other. */
static osla_err backend_fetch_add(osla_region *region, int rank, size_t offset, int64_t add,
                                  int64_t *old)
{
  if (!region->own || region->t->n_nodes == 1)
    return osli_shmem_services->built_in->fetch_add(region, rank, offset, add, old);
  osli_shmem_enter(region->t, "shmem_long_atomic_fetch_add");
  *old = shmem_long_atomic_fetch_add((long *)symmetric_address(region, offset), add,
                                     pe_of(region, rank));
  osli_shmem_leave(region->t);
  return OSLA_OK;
}

/* --- the table of operations --- */

static osla_transport_ops shmem_ops;

/* Fills the table. Waits for notifications, collectives, messages and attached memory use the
 * operations of the built-in backend. Members without a function (fetch, and those of lines) remain
 * NULL, because OpenSHMEM has no such operations. */
static void make_ops(const osla_transport_ops *built_in)
{
  shmem_ops = (osla_transport_ops){
    .name = "shmem",
    .start = osli_shmem_start,
    .finish = osli_shmem_finish,
    .wait_until = built_in->wait_until,
    .ring = built_in->ring,
    .collective = built_in->collective,
    .message = built_in->message,
    .exchange = built_in->exchange,
    .region_alloc = alloc_region,
    .region_attach = built_in->region_attach,
    .region_free = free_region,
    .peer_ptr = built_in->peer_ptr,
    .get = backend_get,
    .put = backend_put,
    .test = backend_test,
    .wait = backend_wait,
    .flush = backend_flush,
    .put_notify = backend_put_notify,
    .post = backend_post,
    .post_wait = built_in->post_wait,
    .post_test = built_in->post_test,
    .fetch_add = backend_fetch_add,
    .progress = built_in->progress,
  };
}

osla_err osla_shmem_offer(void)
{
  osli_shmem_services = osla_backend_offer(NULL);
  if (!shmem_ops.name) make_ops(osli_shmem_services->built_in);
  OSLA_CHECK(osla_backend_offer(&shmem_ops), OSLA_ERR_RANGE,
             "transport 'shmem': this program has four other transports already");
  return OSLA_OK;
}
