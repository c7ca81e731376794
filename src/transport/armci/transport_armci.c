/* The ARMCI backend of the transport table; osla_armci.h describes its differences.
 *
 * Access to this rank's own memory, attached memory, transports on a part of MPI_COMM_WORLD,
 * progress and posts use the MPI backend. Addresses of other ranks are valid only there; they are
 * never dereferenced here, although they may equal local addresses.
 *
 * Properties of ARMCI-MPI 0.3.1:
 *   - Sizes are int: transfers are split into pieces of at most 1 GiB, of which all but the last
 *     are blocking.
 *   - The flag of ARMCI_Put_flag has 32 bits: a put with notify is put, fence, and put of the
 *     64-bit word.
 *   - ARMCI_Malloc aligns to 16 bytes, and ends the job without memory: one page more is allocated,
 *     after a check of the available memory. */
#include "osla_armci.h"
#include "osla_backend.h"
#include "src/transport/armci/armci_start.h"
#include "src/transport/mpi/region_mpi.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PIECE = 1 << 30 };
enum {
  FIRST_TRANSFER = 1 << 24
}; /* first handle of a transfer of ARMCI; handles of the MPI backend are smaller */

/* Memory of a region that ARMCI has allocated; osla_region.own points to it. */
typedef struct armci_memory {
  void *base;              /* this rank's result of ARMCI_Malloc */
  unsigned char *remote[]; /* [size] address of the region's first byte, valid at each rank only */
} armci_memory;

static armci_ranks *ranks_of(const osla_region *region)
{
  return region->t->backend;
}

static bool uses_mpi(const osla_region *region, int rank)
{
  return !region->own || osla_region_peer(region, rank);
}

static unsigned char *remote_address(const osla_region *region, int rank, size_t offset)
{
  const armci_memory *memory = region->own;
  return memory->remote[rank] + offset;
}

/* --- regions in memory of ARMCI --- */

static void free_memory(osla_region *region)
{
  armci_memory *memory = region->own;
  osli_armci_enter(region->t);
  if (memory->base) (void)ARMCI_Free(memory->base);
  osli_armci_leave(region->t);
  free(memory);
  region->own = NULL;
}

static osla_err malloc_collective(osla_region *region, size_t bytes)
{
  osla_transport *t = region->t;
  const armci_ranks *ranks = t->backend;
  armci_memory *memory = region->own;
  void **bases = calloc((size_t)t->size, sizeof *bases);
  OSLA_CALL(osla_agree(t, bases ? OSLA_OK
                                : osla_error_set(OSLA_ERR_MEM, "table of %d addresses", t->size)));
  osli_armci_enter(t);
  int code = ARMCI_Malloc(bases, (armci_size_t)bytes);
  osli_armci_leave(t);
  memory->base = bases[ranks->id[t->rank]];
  free(bases);
  return osla_agree(t, code == 0 && memory->base
                         ? OSLA_OK
                         : osla_error_set(OSLA_ERR_MEM, "ARMCI_Malloc of %zu bytes", bytes));
}

static osla_err allocate_memory(osla_region *region, size_t bytes)
{
  osla_transport *t = region->t;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  armci_memory *memory = calloc(1, sizeof *memory + (size_t)t->size * sizeof *memory->remote);
  region->own = memory;
  region->free_own = free_memory;
  OSLA_CALL(osla_agree(
    t, memory ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "ARMCI memory of %d ranks", t->size)));
  OSLA_CALL(malloc_collective(region, bytes + page));
  unsigned char *first = memory->base;
  first += (page - (uintptr_t)first % page) % page;
  memset(first, 0, bytes);
  region->peer[t->node_rank] = first;
  return osli_armci_services->allgather(t, &first, memory->remote, sizeof first);
}

/* Allocates a region. On a part of MPI_COMM_WORLD its memory comes from MPI: while an allocation of
 * an ARMCI group exists, a fence to a rank outside the group ends the job (assertion in gmr_flush
 * of ARMCI-MPI 0.3.1). */
static osla_err armci_region_alloc(osla_transport *t, size_t bytes, osla_region **out)
{
  const armci_ranks *ranks = t->backend;
  if (!ranks->whole_world) return osli_armci_services->built_in->region_alloc(t, bytes, out);
  return osli_armci_services->built_in->region_make(t, bytes, allocate_memory, out);
}

/* Completes this rank's earlier puts to `rank`. The caller holds the lock. */
static void fence_puts(osla_region *region, int rank)
{
  if (region->unflushed[rank]) ARMCI_Fence(ranks_of(region)->id[rank]);
  region->unflushed[rank] = false;
}

/* Frees a region after its puts are complete, because the region may be cached and reused. */
static void armci_region_free(osla_region **handle)
{
  osla_region *region = *handle;
  if (!region) return;
  osli_armci_enter(region->t);
  for (int rank = 0; rank < region->t->size; rank++)
    if (!uses_mpi(region, rank)) fence_puts(region, rank);
  osli_armci_leave(region->t);
  osli_armci_services->built_in->region_free(handle);
}

/* --- gets and puts by ARMCI --- */

typedef struct transfer {
  bool is_put;
  int id; /* ARMCI's process id of the other rank */
  /* first byte of the data in the other rank's memory, as an address of that rank */
  unsigned char *remote;
  unsigned char *local;
} transfer;

/* Starts the transfer of a piece if handle is not NULL. Otherwise completes the transfer: the data
 * of a get have arrived, and the source of a put may be reused. The caller holds the lock. */
static int start_piece(const transfer *x, int bytes, armci_hdl_t *handle)
{
  if (x->is_put)
    return handle ? ARMCI_NbPut(x->local, x->remote, bytes, x->id, handle)
                  : ARMCI_Put(x->local, x->remote, bytes, x->id);
  return handle ? ARMCI_NbGet(x->remote, x->local, bytes, x->id, handle)
                : ARMCI_Get(x->remote, x->local, bytes, x->id);
}

static int start_pieces(transfer x, size_t bytes, armci_hdl_t *handle)
{
  int code = 0;
  for (; bytes > MAX_PIECE && code == 0; bytes -= MAX_PIECE) {
    code = start_piece(&x, MAX_PIECE, NULL);
    x.local += MAX_PIECE;
    x.remote += MAX_PIECE;
  }
  if (code == 0 && bytes > 0) code = start_piece(&x, (int)bytes, handle);
  return code;
}

static osla_err armci_error(int code, bool is_put)
{
  if (code == 0) return OSLA_OK;
  return osla_error_set(OSLA_ERR_MPI, "%s: code %d", is_put ? "ARMCI_Put" : "ARMCI_Get", code);
}

static int find_free_slot(const armci_ranks *ranks)
{
  int i = 0;
  while (i < OSLA_ARMCI_TRANSFERS && ranks->in_use[i])
    i++;
  return i;
}

/* Starts a transfer, or makes a blocking transfer if all handles are in use. */
static osla_err start_transfer(osla_region *region, bool is_put, int rank, size_t offset,
                               void *local, size_t bytes, osla_handle *handle)
{
  armci_ranks *ranks = ranks_of(region);
  transfer x = {is_put, ranks->id[rank], remote_address(region, rank, offset), local};
  *handle = OSLA_HANDLE_DONE;
  if (bytes == 0) return OSLA_OK;
  osli_armci_enter(region->t);
  int slot = find_free_slot(ranks);
  armci_hdl_t *under_way = slot < OSLA_ARMCI_TRANSFERS ? &ranks->transfer[slot] : NULL;
  if (under_way) ARMCI_INIT_HANDLE(under_way);
  int code = start_pieces(x, bytes, under_way);
  if (under_way && code == 0) {
    ranks->in_use[slot] = true;
    handle->first = FIRST_TRANSFER + slot;
  }
  if (is_put) region->unflushed[rank] = true;
  osli_armci_leave(region->t);
  return armci_error(code, is_put);
}

static osla_err armci_get(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                          osla_handle *handle)
{
  if (uses_mpi(region, rank))
    return osli_armci_services->built_in->get(region, rank, offset, dest, bytes, handle);
  return start_transfer(region, false, rank, offset, dest, bytes, handle);
}

static osla_err armci_put(osla_region *region, int rank, size_t offset, const void *source,
                          size_t bytes, osla_handle *handle)
{
  if (uses_mpi(region, rank))
    return osli_armci_services->built_in->put(region, rank, offset, source, bytes, handle);
  return start_transfer(region, true, rank, offset, (void *)(uintptr_t)source, bytes, handle);
}

static void release_slot(osla_transport *t, osla_handle *handle)
{
  armci_ranks *ranks = t->backend;
  ranks->in_use[handle->first - FIRST_TRANSFER] = false;
  *handle = OSLA_HANDLE_DONE;
}

static osla_err armci_wait(osla_transport *t, osla_handle *handle)
{
  armci_ranks *ranks = t->backend;
  if (handle->first < FIRST_TRANSFER) return osli_armci_services->built_in->wait(t, handle);
  osli_armci_enter(t);
  int code = ARMCI_Wait(&ranks->transfer[handle->first - FIRST_TRANSFER]);
  release_slot(t, handle);
  osli_armci_leave(t);
  return code == 0 ? OSLA_OK : osla_error_set(OSLA_ERR_MPI, "ARMCI_Wait: code %d", code);
}

/* ARMCI_Test returns 0 for a complete transfer. In ARMCI-MPI 0.3.1 it waits for the transfer. */
static osla_err armci_test(osla_transport *t, osla_handle *handle, bool *done)
{
  armci_ranks *ranks = t->backend;
  if (handle->first < FIRST_TRANSFER) return osli_armci_services->built_in->test(t, handle, done);
  osli_armci_enter(t);
  *done = ARMCI_Test(&ranks->transfer[handle->first - FIRST_TRANSFER]) == 0;
  if (*done) release_slot(t, handle);
  osli_armci_leave(t);
  return OSLA_OK;
}

/* --- order of puts, and puts with notify --- */

static osla_err armci_flush(osla_region *region, int rank)
{
  if (uses_mpi(region, rank)) return osli_armci_services->built_in->flush(region, rank);
  osli_armci_enter(region->t);
  fence_puts(region, rank);
  osli_armci_leave(region->t);
  return OSLA_OK;
}

/* When the call returns, the word may still be under way. A later put that must follow the word
 * waits for it by a fence.
 */
static osla_err armci_put_notify(osla_region *region, int rank, size_t offset, const void *source,
                                 size_t bytes, size_t word_offset, uint64_t word,
                                 size_t bell_offset)
{
  if (uses_mpi(region, rank))
    return osli_armci_services->built_in->put_notify(region, rank, offset, source, bytes,
                                                     word_offset, word, bell_offset);
  int id = ranks_of(region)->id[rank];
  transfer data = {true, id, remote_address(region, rank, offset), (void *)(uintptr_t)source};
  transfer flag = {true, id, remote_address(region, rank, word_offset), (unsigned char *)&word};
  /* a rank that sees the word of the notify must also see the stores that this rank made before */
  atomic_thread_fence(memory_order_seq_cst);
  osli_armci_enter(region->t);
  int code = start_pieces(data, bytes, NULL);
  if (bytes > 0) region->unflushed[rank] = true;
  fence_puts(region, rank);
  if (code == 0) code = start_piece(&flag, sizeof word, NULL);
  region->unflushed[rank] = true;
  osli_armci_leave(region->t);
  return armci_error(code, true);
}

/* Posts are blocking, because ARMCI cannot test whether a put has arrived. */
static osla_err armci_post(osla_region *region, int rank, size_t offset, const void *source,
                           size_t bytes, size_t word_offset, uint64_t word, size_t bell_offset,
                           osla_post **out)
{
  if (out) *out = NULL;
  return armci_put_notify(region, rank, offset, source, bytes, word_offset, word, bell_offset);
}

/* --- fetch-and-add by ARMCI --- */

/* ARMCI_Rmw adds an int. A larger number is added by two swaps: the first one stores MARK, which
 * lies far below all values of the word, the second one stores the sum. An operation that fetches a
 * value near MARK is repeated; its change is overwritten by the second swap. */
#define MARK      (-((int64_t)3 << 61))
#define BELOW_ALL (-((int64_t)1 << 62))

static bool try_add_int(int64_t *word, int id, int add, int64_t *old)
{
  long was = 0;
  (void)ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &was, word, add, id);
  *old = was;
  return was > BELOW_ALL;
}

static bool try_add_large(int64_t *word, int id, int64_t add, int64_t *old)
{
  long swapped = MARK;
  (void)ARMCI_Rmw(ARMCI_SWAP_LONG, &swapped, word, 0, id);
  *old = swapped;
  if (swapped <= BELOW_ALL) return false;
  swapped += add;
  (void)ARMCI_Rmw(ARMCI_SWAP_LONG, &swapped, word, 0, id);
  return true;
}

typedef struct addition {
  osla_region *region;
  int rank;
  size_t offset;
  int64_t add, old;
} addition;

static bool try_add(void *arg)
{
  addition *a = arg;
  int id = ranks_of(a->region)->id[a->rank];
  int64_t *word = (int64_t *)remote_address(a->region, a->rank, a->offset);
  osli_armci_enter(a->region->t);
  bool added = a->add >= INT_MIN && a->add <= INT_MAX ? try_add_int(word, id, (int)a->add, &a->old)
                                                      : try_add_large(word, id, a->add, &a->old);
  osli_armci_leave(a->region->t);
  return added;
}

static osla_err armci_fetch_add(osla_region *region, int rank, size_t offset, int64_t add,
                                int64_t *old)
{
  if (!region->own) return osli_armci_services->built_in->fetch_add(region, rank, offset, add, old);
  addition a = {region, rank, offset, add, 0};
  osli_armci_services->wait_until(region->t, try_add, &a, NULL);
  *old = a.old;
  return OSLA_OK;
}

/* --- the table of operations --- */

static osla_transport_ops armci_ops;

/* Fills the table. Waits, collectives, messages and attached memory are operations of the built-in
 * backend. The members that are not set (fetch, lines) do not exist for ARMCI. */
static void make_ops(const osla_transport_ops *built_in)
{
  armci_ops = (osla_transport_ops){
    .name = "armci",
    .every_rank_a_node = true,
    .start = osli_armci_start,
    .finish = osli_armci_finish,
    .wait_until = built_in->wait_until,
    .ring = built_in->ring,
    .collective = built_in->collective,
    .message = built_in->message,
    .exchange = built_in->exchange,
    .region_alloc = armci_region_alloc,
    .region_attach = built_in->region_attach,
    .region_free = armci_region_free,
    .peer_ptr = built_in->peer_ptr,
    .get = armci_get,
    .put = armci_put,
    .test = armci_test,
    .wait = armci_wait,
    .flush = armci_flush,
    .put_notify = armci_put_notify,
    .post = armci_post,
    .post_wait = built_in->post_wait,
    .post_test = built_in->post_test,
    .fetch_add = armci_fetch_add,
    .progress = built_in->progress,
  };
}

osla_err osla_armci_offer(void)
{
  osli_armci_services = osla_backend_offer(NULL);
  if (!armci_ops.name) make_ops(osli_armci_services->built_in);
  OSLA_CHECK(osla_backend_offer(&armci_ops), OSLA_ERR_RANGE,
             "transport 'armci': this program has four other transports already");
  return OSLA_OK;
}
