/* The MPI-3 backend of the transport table.
 *
 * On the node every operation is a load or store and is complete on return. Between nodes it uses
 * contiguous MPI_Rget and MPI_Rput (with a noncontiguous datatype MPI_Rget of MPICH 4.0.2 completes
 * without data), in pieces of at most 1 GiB (MPI_Put_c crashes above 2 GiB), of which at most 128
 * are outstanding (some MPIs abort at 255). The words of fetch_add are changed either by C11
 * atomics (one node) or by MPI (several nodes), because MPI's atomics are not atomic with respect
 * to C11's. */
#include "osla_clock.h"
#include "src/transport/mpi/eager_mpi.h"
#include "src/transport/mpi/region_mpi.h"
#include "src/transport/mpi/shared_memory.h"
#include "src/transport/request_pool.h"
#include "src/transport/time_limit.h"

#include <string.h>

enum { MAX_CHUNK = 1 << 30 };

static void *mpi_peer_ptr(const osla_region *region, int rank)
{
  return osla_region_peer(region, rank);
}

/* Locks the mutex if the pool has room for another request; returns whether it did. */
static bool lock_with_room(void *arg)
{
  osla_transport *t = arg;
  (void)pthread_mutex_lock(&t->mutex);
  if (!osli_pool_is_full(t->pool)) return true;
  (void)pthread_mutex_unlock(&t->mutex);
  return false;
}

typedef enum transfer_kind { GET, PUT } transfer_kind;

static osla_err start_chunk(osla_region *region, transfer_kind way, int rank, size_t offset,
                            void *local, size_t bytes, int32_t *first)
{
  osla_transport *t = region->t;
  MPI_Aint disp = osla_region_disp(region, rank, offset);
  MPI_Request request;
  osli_wait_until(t, lock_with_room, t, NULL);
  int code = way == GET ? MPI_Rget(local, (int)bytes, MPI_BYTE, rank, disp, (int)bytes, MPI_BYTE,
                                   region->win, &request)
                        : MPI_Rput(local, (int)bytes, MPI_BYTE, rank, disp, (int)bytes, MPI_BYTE,
                                   region->win, &request);
  bool is_pooled = code == MPI_SUCCESS && osli_pool_add(t->pool, request, first);
  if (way == PUT) region->unflushed[rank] = true;
  (void)pthread_mutex_unlock(&t->mutex);
  if (code != MPI_SUCCESS) return osla_error_set_mpi(code, way == GET ? "MPI_Rget" : "MPI_Rput");
  if (!is_pooled) return osla_error_set(OSLA_ERR_MEM, "request pool");
  return OSLA_OK;
}

static osla_err start_transfer(osla_region *region, transfer_kind way, int rank, size_t offset,
                               void *local, size_t bytes, osla_handle *handle)
{
  *handle = OSLA_HANDLE_DONE;
  unsigned char *p = local;
  osli_eager_wait_bytes(region, rank, offset, bytes);
  while (bytes > 0) {
    size_t chunk = bytes < MAX_CHUNK ? bytes : MAX_CHUNK;
    OSLA_CALL(start_chunk(region, way, rank, offset, p, chunk, &handle->first));
    offset += chunk;
    p += chunk;
    bytes -= chunk;
  }
  return OSLA_OK;
}

static osla_err mpi_get(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                        osla_handle *handle)
{
  const unsigned char *peer = osla_region_peer(region, rank);
  if (!peer) return start_transfer(region, GET, rank, offset, dest, bytes, handle);
  *handle = OSLA_HANDLE_DONE;
  if (bytes > 0) memcpy(dest, peer + offset, bytes);
  return OSLA_OK;
}

/* Gets data by a message if they are large enough and there is room for a message; otherwise gets
 * them by RMA. */
static osla_err mpi_fetch(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                          osla_handle *handle)
{
  osla_transport *t = region->t;
  MPI_Request request = MPI_REQUEST_NULL;
  bool sent = false, is_pooled = true;
  bool served = !osla_region_peer(region, rank) && osli_eager_is_used(region);
  if (!served || bytes <= osli_eager_max_bytes(region) || bytes > MAX_CHUNK)
    return mpi_get(region, rank, offset, dest, bytes, handle);
  *handle = OSLA_HANDLE_DONE;
  (void)pthread_mutex_lock(&t->mutex);
  osla_err err = OSLA_OK;
  if (!osli_pool_is_full(t->pool))
    err = osli_eager_fetch(region, rank, offset, dest, bytes, &sent, &request);
  if (sent && err == OSLA_OK) is_pooled = osli_pool_add(t->pool, request, &handle->first);
  (void)pthread_mutex_unlock(&t->mutex);
  if (!is_pooled) return osla_error_set(OSLA_ERR_MEM, "request pool");
  return sent || err != OSLA_OK ? err : mpi_get(region, rank, offset, dest, bytes, handle);
}

static osla_err mpi_put(osla_region *region, int rank, size_t offset, const void *source,
                        size_t bytes, osla_handle *handle)
{
  unsigned char *peer = osla_region_peer(region, rank);
  if (!peer)
    return start_transfer(region, PUT, rank, offset, (void *)(uintptr_t)source, bytes, handle);
  *handle = OSLA_HANDLE_DONE;
  if (bytes > 0) memcpy(peer + offset, source, bytes);
  return OSLA_OK;
}

static osla_err mpi_test(osla_transport *t, osla_handle *handle, bool *done)
{
  int code = MPI_SUCCESS;
  *done = handle->first < 0;
  if (*done) return OSLA_OK;
  (void)pthread_mutex_lock(&t->mutex);
  *done = osli_pool_test(t->pool, &handle->first, &code);
  (void)pthread_mutex_unlock(&t->mutex);
  return code == MPI_SUCCESS ? OSLA_OK : osla_error_set_mpi(code, "MPI_Test of a get or put");
}

typedef struct pending {
  osla_transport *t;
  osla_handle *handle;
  osla_err err;
} pending;

static bool transfer_done(void *arg)
{
  pending *p = arg;
  bool done = false;
  p->err = mpi_test(p->t, p->handle, &done);
  return done || p->err != OSLA_OK;
}

static osla_err mpi_wait(osla_transport *t, osla_handle *handle)
{
  pending p = {t, handle, OSLA_OK};
  if (handle->first >= 0) osli_wait_until(t, transfer_done, &p, NULL);
  return p.err;
}

/* Starts an accumulate on a word: *old is the earlier value, and the word becomes (word op *add).
 */
static osla_err start_accumulate(osla_region *region, int rank, size_t offset, MPI_Op op,
                                 const int64_t *add, int64_t *old, osla_handle *handle)
{
  osla_transport *t = region->t;
  MPI_Aint disp = osla_region_disp(region, rank, offset);
  MPI_Request request;
  *handle = OSLA_HANDLE_DONE;
  osli_wait_until(t, lock_with_room, t, NULL);
  int code = MPI_Rget_accumulate(add, 1, MPI_INT64_T, old, 1, MPI_INT64_T, rank, disp, 1,
                                 MPI_INT64_T, op, region->win, &request);
  bool is_pooled = code == MPI_SUCCESS && osli_pool_add(t->pool, request, &handle->first);
  (void)pthread_mutex_unlock(&t->mutex);
  if (code != MPI_SUCCESS) return osla_error_set_mpi(code, "MPI_Rget_accumulate");
  return is_pooled ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "request pool");
}

static osla_err mpi_fetch_add(osla_region *region, int rank, size_t offset, int64_t add,
                              int64_t *old)
{
  if (region->win == MPI_WIN_NULL) {
    *old = atomic_fetch_add((_Atomic int64_t *)(osla_region_peer(region, rank) + offset), add);
    return OSLA_OK;
  }
  osla_handle handle;
  OSLA_CALL(start_accumulate(region, rank, offset, MPI_SUM, &add, old, &handle));
  return mpi_wait(region->t, &handle);
}

/* Waits until the target serves RMA, if cores are oversubscribed. A flush would spin and keep a
 * core from the target; the wait for a fetch without effect sleeps. MPI does not order the fetch
 * after the puts, so a flush must follow; it is short, because the target is active then. Attached
 * regions may be too small for the fetch. */
static osla_err wait_until_served(osla_region *region, int rank)
{
  int64_t none = 0, old;
  osla_handle handle;
  if (!region->t->oversubscribed || region->attached) return OSLA_OK;
  OSLA_CALL(start_accumulate(region, rank, OSLA_REGION_WORD, MPI_NO_OP, &none, &old, &handle));
  return mpi_wait(region->t, &handle);
}

static bool is_flushed(osla_region *region, int rank)
{
  (void)pthread_mutex_lock(&region->t->mutex);
  bool flushed = !region->unflushed[rank];
  (void)pthread_mutex_unlock(&region->t->mutex);
  return flushed;
}

static osla_err flush_puts(osla_region *region, int rank)
{
  if (is_flushed(region, rank)) return OSLA_OK;
  OSLA_CALL(wait_until_served(region, rank));
  (void)pthread_mutex_lock(&region->t->mutex);
  osli_time_limit_blocked(&region->t->locked, "MPI_Win_flush");
  int code = MPI_Win_flush(rank, region->win);
  osli_time_limit_blocked(&region->t->locked, NULL);
  region->unflushed[rank] = false;
  (void)pthread_mutex_unlock(&region->t->mutex);
  return code == MPI_SUCCESS ? OSLA_OK : osla_error_set_mpi(code, "MPI_Win_flush");
}

static osla_err mpi_flush(osla_region *region, int rank)
{
  if (osla_region_peer(region, rank)) {
    atomic_thread_fence(memory_order_release);
    return OSLA_OK;
  }
  osli_mpi_posts_finish(region, rank);
  osli_eager_wait_rank(region, rank);
  return flush_puts(region, rank);
}

/* Writes a word, which has arrived on return. If cores are oversubscribed it uses a fetch that
 * replaces the word, because that wait sleeps and a flush spins. */
static osla_err put_word(osla_region *region, int rank, size_t offset, uint64_t word)
{
  osla_handle handle;
  if (region->t->oversubscribed) {
    int64_t new_word = (int64_t)word, old_word;
    OSLA_CALL(start_accumulate(region, rank, offset, MPI_REPLACE, &new_word, &old_word, &handle));
    return mpi_wait(region->t, &handle);
  }
  OSLA_CALL(mpi_put(region, rank, offset, &word, sizeof word, &handle));
  OSLA_CALL(mpi_wait(region->t, &handle));
  return flush_puts(region, rank);
}

static void store_and_ring(osla_transport *t, unsigned char *peer, size_t offset,
                           const void *source, size_t bytes, size_t word_offset, uint64_t word,
                           size_t bell_offset)
{
  if (bytes > 0) memcpy(peer + offset, source, bytes);
  atomic_store_explicit((_Atomic uint64_t *)(peer + word_offset), word, memory_order_release);
  osli_futex_bell_ring(t, (osla_bell *)(peer + bell_offset));
}

static osla_err put_and_flush(osla_region *region, int rank, size_t offset, const void *source,
                              size_t bytes)
{
  osla_handle handle;
  if (bytes > 0) {
    OSLA_CALL(mpi_put(region, rank, offset, source, bytes, &handle));
    OSLA_CALL(mpi_wait(region->t, &handle));
  }
  return flush_puts(region, rank);
}

static osla_err mpi_put_notify(osla_region *region, int rank, size_t offset, const void *source,
                               size_t bytes, size_t word_offset, uint64_t word, size_t bell_offset)
{
  unsigned char *peer = osla_region_peer(region, rank);
  if (peer) {
    store_and_ring(region->t, peer, offset, source, bytes, word_offset, word, bell_offset);
    return OSLA_OK;
  }
  if (osli_eager_is_used(region)) {
    osla_post *post;
    osla_err err = osli_mpi_post(region, rank, offset, source, bytes, word_offset, word, &post);
    if (err != OSLA_ERR_MEM) return err == OSLA_OK ? osli_mpi_post_wait(region->t, &post) : err;
  }
  /* Words must arrive in order, and MPI orders the word after earlier puts only by a flush in
   * between. */
  osli_mpi_posts_finish(region, rank);
  osli_eager_wait_rank(region, rank);
  OSLA_CALL(put_and_flush(region, rank, offset, source, bytes));
  return put_word(region, rank, word_offset, word);
}

static osla_err mpi_post(osla_region *region, int rank, size_t offset, const void *source,
                         size_t bytes, size_t word_offset, uint64_t word, size_t bell_offset,
                         osla_post **out)
{
  unsigned char *peer = osla_region_peer(region, rank);
  if (!peer) {
    osla_err err = osli_mpi_post(region, rank, offset, source, bytes, word_offset, word, out);
    if (err != OSLA_ERR_MEM) return err;
    return mpi_put_notify(region, rank, offset, source, bytes, word_offset, word, bell_offset);
  }
  store_and_ring(region->t, peer, offset, source, bytes, word_offset, word, bell_offset);
  if (out) *out = NULL;
  return OSLA_OK;
}

/* Did a progress turn take longer than a turn without work? The duration of the latter depends on
 * the MPI, the number of lines and the machine, so the shortest recent duration is used: this
 * number rises slowly until the next shorter turn. */
static bool turn_found_work(osla_transport *t, double took)
{
  const double longer = 1.5 * t->idle_turn_seconds, least = 2e-6;
  t->idle_turn_seconds = took < t->idle_turn_seconds ? took : 1.001 * t->idle_turn_seconds;
  return took > least && took > longer;
}

/* Makes progress. MPI serves RMA of other ranks only inside MPI calls of the target. The cheapest
 * call that does so in every MPI is a test of a pending receive (Open MPI's MPI_Iprobe serves
 * windows only in each 100th call). A turn of MPICH 4.0.2 with UCX 1.13 moves about 128 KiB between
 * processes, and computing ranks make few progress steps, so turns are repeated until one finds no
 * work. */
static void mpi_progress(osla_transport *t)
{
  enum { MOST_TURNS = 32 };
  if (t->n_nodes == 1 && t->n_attached == 0) return;
  if (pthread_mutex_trylock(&t->mutex) != 0) return; /* another thread is inside MPI */
  const int enough = osli_mpi_lines_idle_turns(t);
  double now = osla_clock();
  bool found_work = false;
  for (int turn = 0, idle = 0; turn < MOST_TURNS && idle < enough; turn++) {
    int found = 0;
    const double before = now;
    /* tests the receives of messages; MPI makes progress in this test, as in a test of the pending
     * receive */
    if (t->eager)
      found = osli_eager_progress(t);
    else
      (void)MPI_Test(&t->pending, &found, MPI_STATUS_IGNORE);
    now = osla_clock();
    const bool works = turn_found_work(t, now - before);
    found_work = found_work || works;
    idle = found || works ? 0 : idle + 1;
  }
  atomic_store_explicit(&t->found_work, found_work, memory_order_relaxed);
  osli_mpi_posts_step(t);
  (void)pthread_mutex_unlock(&t->mutex);
}

/* Measures the initial duration of an idle turn: 0.8 us in MPICH 4.0.2, 2.8 us in Open MPI 4.1.4,
 * which polls sockets through the kernel. */
static osla_err measure_idle_turn(osla_transport *t)
{
  enum { TURNS = 20 };
  for (int i = 0, there = 0; i < TURNS; i++) {
    double before = osla_clock();
    OSLA_MPI(MPI_Test(&t->pending, &there, MPI_STATUS_IGNORE));
    double took = osla_clock() - before;
    if (i == 0 || took < t->idle_turn_seconds) t->idle_turn_seconds = took;
  }
  return OSLA_OK;
}

enum { PENDING_TAG = 1 }; /* osli_send uses tag 0 */

static osla_err start_pending(osla_transport *t)
{
  OSLA_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, t->rank, PENDING_TAG, t->comm, &t->pending));
  return measure_idle_turn(t);
}

osla_err osli_mpi_start(osla_transport *t)
{
  bool mapped = false;
  OSLA_CALL(osla_agree(t, start_pending(t)));
  OSLA_CALL(osli_shared_memory_probe(t, &mapped));
  t->memory_by_mpi = !mapped;
  return OSLA_OK;
}

void osli_mpi_finish(osla_transport *t)
{
  (void)osli_region_cache_clear(t);
  osli_eager_stop(t);
  if (t->pending == MPI_REQUEST_NULL) return;
  (void)MPI_Send(NULL, 0, MPI_BYTE, t->rank, PENDING_TAG, t->comm);
  (void)MPI_Wait(&t->pending, MPI_STATUS_IGNORE);
}

const osla_transport_ops *const osli_transport_built_in = &osli_transport_mpi;

const osla_transport_ops osli_transport_mpi = {
  .name = "mpi",
  .puts_as_messages = true,
  .start = osli_mpi_start,
  .finish = osli_mpi_finish,
  .wait_until = osli_wait_spin_then_sleep,
  .ring = osli_futex_bell_ring,
  .collective = osli_mpi_collective,
  .message = osli_mpi_message,
  .exchange = osli_mpi_exchange,
  .region_alloc = osli_mpi_region_alloc,
  .region_attach = osli_mpi_region_attach,
  .region_make = osli_region_make,
  .region_free = osli_mpi_region_free,
  .peer_ptr = mpi_peer_ptr,
  .get = mpi_get,
  .fetch = mpi_fetch,
  .put = mpi_put,
  .test = mpi_test,
  .wait = mpi_wait,
  .flush = mpi_flush,
  .put_notify = mpi_put_notify,
  .post = mpi_post,
  .post_wait = osli_mpi_post_wait,
  .post_test = osli_mpi_post_test,
  .line_open = osli_mpi_line_open,
  .line_start = osli_mpi_line_start,
  .line_watch = osli_mpi_line_watch,
  .line_close = osli_mpi_line_close,
  .fetch_add = mpi_fetch_add,
  .progress = mpi_progress,
};
