/* Segments, transfers and notifies.
 *
 * Layout of a rank's region:
 *   bell, word of the backend (64 bytes) | slot[origin][purpose] | padding to a page | data area
 *
 * The slots of one origin have cache lines of their own, so that origins do not disturb one
 * another; more than 8 purposes take several lines. The index of an origin comes from
 * osla_notifiers, or is its rank without them. The part before the data area has the same size on
 * all ranks, so the data area begins at the same offset everywhere. */
#include "osla_trace.h"
#include "src/base/writable.h"
#include "src/memory/segment_state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 64 };
_Static_assert(sizeof(osla_bell) <= OSLA_REGION_WORD, "a bell of its own");

static size_t origin_bytes(int n_purposes)
{
  return ((size_t)n_purposes * sizeof(uint64_t) + LINE - 1) / LINE * LINE;
}

/* Number of bytes before the data area of each rank's memory. */
static size_t head_bytes(int n_purposes, int n_origins)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (LINE + (size_t)n_origins * origin_bytes(n_purposes) + page - 1) / page * page;
}

void osla_segment_steers(osla_segment *s)
{
  if (s->t->ops->region_steers) s->t->ops->region_steers(s->region);
}

void osli_segment_messages(osla_segment *s, size_t offset)
{
  if (s->t->ops->region_messages) s->t->ops->region_messages(s->region, s->data + offset);
}

void osli_segment_store(osla_segment *s, size_t offset, const void *bytes, size_t count)
{
  if (s->t->ops->region_store)
    s->t->ops->region_store(s->region, s->data + offset, bytes, count);
  else
    memcpy((unsigned char *)osla_segment_local(s) + offset, bytes, count);
}

/* Rounds the size as backends do: to whole pages, and to at least one page. */
uint64_t osla_segment_footprint(uint64_t bytes, int n_purposes, int n_origins)
{
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  return (head_bytes(n_purposes, n_origins) + bytes + page) / page * page;
}

/* Offset in the region of the slot by which `origin` notifies `target`; 0 if `origin` has no slot
 * there. */
static size_t slot_offset(const osla_segment *s, int origin, int target, int purpose)
{
  const osla_notifiers *n = &s->notifiers;
  int index = n->index_of ? n->index_of(n->arg, origin, target) : origin;
  if (index < 0) return 0;
  return LINE + (size_t)index * s->origin_bytes + (size_t)purpose * sizeof(uint64_t);
}

osla_err osla_segment_create(osla_transport *t, size_t bytes, int n_purposes, osla_segment **out)
{
  osla_notifiers all = {.n_origins = t->size};
  return osla_segment_create_for(t, bytes, n_purposes, &all, out);
}

osla_err osla_segment_create_for(osla_transport *t, size_t bytes, int n_purposes,
                                 const osla_notifiers *notifiers, osla_segment **out)
{
  *out = NULL;
  osla_segment *s = calloc(1, sizeof *s);
  osla_err err = OSLA_OK;
  if (!s) err = osla_error_set(OSLA_ERR_MEM, "segment object");
  if (n_purposes < 0)
    err = osla_error_set(OSLA_ERR_ARG, "n_purposes = %d: must be 0 or more", n_purposes);
  if (notifiers->n_origins < 0)
    err = osla_error_set(OSLA_ERR_ARG, "n_origins = %d: must be 0 or more", notifiers->n_origins);
  const osla_argument same[] = {{"n_purposes", n_purposes}, {"n_origins", notifiers->n_origins}};
  err = osla_agree_same(t, err, "osla_segment_create", same, 2);
  if (err == OSLA_OK) {
    s->t = t;
    s->bytes = bytes;
    s->n_purposes = n_purposes;
    s->notifiers = *notifiers;
    s->origin_bytes = origin_bytes(n_purposes);
    s->data = head_bytes(n_purposes, notifiers->n_origins);
    err =
      t->ops->region_alloc(t, bytes < SIZE_MAX - s->data ? s->data + bytes : SIZE_MAX, &s->region);
  }
  if (err != OSLA_OK) {
    free(s);
    return err;
  }
  OSLA_MAKES("osla_segment_create", "osla_segment_destroy");
  osli_live_object_add(&s->alive);
  *out = s;
  return OSLA_OK;
}

/* The transport writes a test pattern into the memory, which would end the process by a signal if
 * the memory were read-only. */
static osla_err check_attached(const osla_transport *t, const void *base, size_t bytes)
{
  OSLA_REFUSES_DEVICE("osla_segment_attach", base);
  OSLA_CHECK(!base || osli_is_writable(base, bytes), OSLA_ERR_ARG,
             "rank %d: the %zu bytes of memory to attach are not all mapped for writing", t->rank,
             bytes);
  return OSLA_OK;
}

osla_err osla_segment_attach(osla_transport *t, void *base, size_t bytes, osla_segment **out)
{
  *out = NULL;
  osla_segment *s = calloc(1, sizeof *s);
  osla_err err =
    s ? check_attached(t, base, bytes) : osla_error_set(OSLA_ERR_MEM, "segment object");
  err = osla_agree(t, err);
  if (err == OSLA_OK) err = t->ops->region_attach(t, base, bytes, &s->region);
  if (err != OSLA_OK) {
    free(s);
    return err;
  }
  s->t = t;
  s->bytes = bytes;
  OSLA_MAKES("osla_segment_attach", "osla_segment_destroy");
  osli_live_object_add(&s->alive);
  *out = s;
  return OSLA_OK;
}

void osla_segment_destroy(osla_segment **segment)
{
  osla_segment *s = segment ? *segment : NULL;
  if (!s) return;
  osli_live_object_remove(&s->alive);
  osli_segment_device_free(s);
  s->t->ops->region_free(&s->region);
  free(s);
  *segment = NULL;
}

void *osla_segment_local(const osla_segment *s)
{
  return osla_segment_peer(s, s->t->rank);
}
size_t osla_segment_bytes(const osla_segment *s)
{
  return s->bytes;
}
osla_transport *osla_segment_transport(const osla_segment *s)
{
  return s->t;
}

/* ---- gets and puts in a segment ---- */

/* Records the start of a transfer in the trace. A transfer that is complete on return was copied by
 * this rank's core. */
static void trace_started(osla_segment *s, osla_transfer *transfer, bool is_put, double since,
                          size_t bytes)
{
  bool complete = transfer->id < 0;
  transfer->is_put = is_put;
  transfer->since = complete ? -1.0 : since;
  transfer->bytes = bytes;
  if (bytes > 0)
    osla_trace_add(s->t, complete ? OSLA_TRACE_COPY : OSLA_TRACE_ISSUE, since, (double)bytes);
}

static void trace_completed(osla_segment *s, osla_transfer *transfer)
{
  osla_trace_add(s->t, transfer->is_put ? OSLA_TRACE_PUT : OSLA_TRACE_GET, transfer->since,
                 (double)transfer->bytes);
  transfer->since = -1.0;
}

typedef osla_err get_operation(osla_region *region, int rank, size_t offset, void *dest,
                               size_t bytes, osla_handle *handle);

static osla_err get_by(get_operation *operation, osla_segment *s, int rank, size_t offset,
                       void *dest, size_t bytes, osla_transfer *transfer)
{
  osla_handle handle = OSLA_HANDLE_DONE;
  double since = osla_trace_now(s->t);
  size_t left = bytes;
  osla_err err =
    osli_device_any() ? osli_segment_device_get(s, rank, offset, dest, &left) : OSLA_OK;
  if (err == OSLA_OK && left == bytes)
    err = operation(s->region, rank, s->data + offset, dest, bytes, &handle);
  transfer->id = handle.first;
  trace_started(s, transfer, false, since, bytes);
  return err;
}

osla_err osla_segment_get(osla_segment *s, int rank, size_t offset, void *dest, size_t bytes,
                          osla_transfer *transfer)
{
  return get_by(s->t->ops->get, s, rank, offset, dest, bytes, transfer);
}

osla_err osla_segment_fetch(osla_segment *s, int rank, size_t offset, void *dest, size_t bytes,
                            osla_transfer *transfer)
{
  get_operation *fetch = s->t->ops->fetch ? s->t->ops->fetch : s->t->ops->get;
  return get_by(fetch, s, rank, offset, dest, bytes, transfer);
}

/* Prepares a put. If a device is open, waits for queued work on devices. If the source or the
 * destination lies on a device, also does the whole put and sets *left, the number of bytes that
 * the caller still has to put, to 0. */
static osla_err settle_put(osla_segment *s, int rank, size_t offset, const void *source,
                           size_t *left)
{
  return osli_device_any() ? osli_segment_device_put(s, rank, offset, source, left) : OSLA_OK;
}

osla_err osla_segment_put(osla_segment *s, int rank, size_t offset, const void *source,
                          size_t bytes, osla_transfer *transfer)
{
  osla_handle handle = OSLA_HANDLE_DONE;
  double since = osla_trace_now(s->t);
  size_t left = bytes;
  osla_err err = settle_put(s, rank, offset, source, &left);
  if (err == OSLA_OK && left == bytes)
    err = s->t->ops->put(s->region, rank, s->data + offset, source, bytes, &handle);
  transfer->id = handle.first;
  trace_started(s, transfer, true, since, bytes);
  return err;
}

osla_err osla_transfer_wait(osla_segment *s, osla_transfer *transfer)
{
  osla_handle handle = {transfer->id};
  double since = handle.first >= 0 ? osla_trace_now(s->t) : -1.0;
  osla_err err = s->t->ops->wait(s->t, &handle);
  transfer->id = handle.first;
  osla_trace_add(s->t, OSLA_TRACE_WAIT, since, 0);
  trace_completed(s, transfer);
  return err;
}

osla_err osla_segment_read(osla_segment *s, int rank, size_t offset, void *dest, size_t bytes)
{
  osla_transfer transfer;
  OSLA_CALL(osla_segment_get(s, rank, offset, dest, bytes, &transfer));
  return osla_transfer_wait(s, &transfer);
}

osla_err osla_transfer_test(osla_segment *s, osla_transfer *transfer, bool *done)
{
  osla_handle handle = {transfer->id};
  osla_err err = s->t->ops->test(s->t, &handle, done);
  transfer->id = handle.first;
  if (*done) trace_completed(s, transfer);
  return err;
}

osla_err osla_segment_flush(osla_segment *s, int rank)
{
  double since = osla_trace_now(s->t);
  OSLA_CALL(osli_device_settle(SETTLE_NOTIFY));
  osla_err err = s->t->ops->flush(s->region, rank);
  osla_trace_add(s->t, OSLA_TRACE_FLUSH, since, 0);
  return err;
}

/* ---- notifies in a segment ---- */

/* Finds the notify slot of this rank in the memory of `rank`. */
static osla_err find_slot(const osla_segment *s, int rank, int purpose, size_t *offset)
{
  OSLA_CHECK(purpose >= 0 && purpose < s->n_purposes, OSLA_ERR_ARG,
             "purpose = %d, but the segment has %d purposes", purpose, s->n_purposes);
  *offset = slot_offset(s, s->t->rank, rank, purpose);
  OSLA_CHECK(*offset > 0, OSLA_ERR_ARG, "rank %d has no notify slot at rank %d in this segment",
             s->t->rank, rank);
  return OSLA_OK;
}

osla_err osla_put_notify(osla_segment *s, int rank, size_t offset, const void *source, size_t bytes,
                         int purpose, uint64_t value)
{
  size_t slot;
  OSLA_CALL(find_slot(s, rank, purpose, &slot));
  double since = osla_trace_now(s->t);
  size_t left = bytes;
  osla_err copied = settle_put(s, rank, offset, source, &left);
  if (copied != OSLA_OK) left = 0; /* the notify follows nevertheless: `rank` may wait for it */
  osla_err err =
    s->t->ops->put_notify(s->region, rank, s->data + offset, source, left, slot, value, 0);
  osla_trace_add(s->t, OSLA_TRACE_NOTIFY, since, (double)bytes);
  return copied != OSLA_OK ? copied : err;
}

osla_err osla_notify(osla_segment *s, int rank, int purpose, uint64_t value)
{
  return osla_put_notify(s, rank, 0, NULL, 0, purpose, value);
}

/* Posts data, and then a word at offset word_at in the region. The trace counts a post without data
 * as complete. */
static osla_err post(osla_segment *s, int rank, size_t offset, const void *source, size_t bytes,
                     size_t word_at, uint64_t value, osla_posted *posted)
{
  double since = osla_trace_now(s->t);
  size_t left = bytes;
  osla_err copied = settle_put(s, rank, offset, source, &left);
  if (copied != OSLA_OK) left = 0; /* the word follows nevertheless: `rank` may wait for it */
  *posted = (osla_posted){.since = since, .bytes = bytes};
  OSLA_CALL(s->t->ops->post(s->region, rank, s->data + offset, source, left, word_at, value, 0,
                            &posted->post));
  bool moves = posted->post && bytes > 0;
  if (!moves) posted->since = -1.0;
  osla_trace_add(s->t, moves ? OSLA_TRACE_ISSUE : OSLA_TRACE_NOTIFY, since, (double)bytes);
  return copied;
}

osla_err osla_put_notify_post(osla_segment *s, int rank, size_t offset, const void *source,
                              size_t bytes, int purpose, uint64_t value, osla_posted *posted)
{
  size_t slot;
  OSLA_CALL(find_slot(s, rank, purpose, &slot));
  return post(s, rank, offset, source, bytes, slot, value, posted);
}

osla_err osla_posted_wait(osla_segment *s, osla_posted *posted)
{
  if (!posted->post) return OSLA_OK;
  double since = osla_trace_now(s->t);
  osla_err err = s->t->ops->post_wait(s->t, &posted->post);
  osla_trace_add(s->t, OSLA_TRACE_WAIT, since, 0);
  osla_trace_add(s->t, OSLA_TRACE_PUT, posted->since, (double)posted->bytes);
  return err;
}

osla_err osla_posted_test(osla_segment *s, osla_posted *posted, bool *done)
{
  bool had = posted->post != NULL;
  osla_err err = s->t->ops->post_test(s->t, &posted->post, done);
  if (had && *done) osla_trace_add(s->t, OSLA_TRACE_PUT, posted->since, (double)posted->bytes);
  return err;
}

osla_err osla_word_post(osla_segment *s, int rank, size_t offset, uint64_t value,
                        osla_posted *posted)
{
  return osla_put_word_post(s, rank, 0, NULL, 0, offset, value, posted);
}

osla_err osla_put_word_post(osla_segment *s, int rank, size_t offset, const void *source,
                            size_t bytes, size_t word_offset, uint64_t value, osla_posted *posted)
{
  OSLA_CHECK(
    !s->device, OSLA_ERR_UNSUPPORTED,
    "osla_put_word_post: words cannot lie in a device segment; post them to a host segment");
  return post(s, rank, offset, source, bytes, s->data + word_offset, value, posted);
}

osla_err osla_notify_post(osla_segment *s, int rank, int purpose, uint64_t value)
{
  size_t slot;
  OSLA_CALL(find_slot(s, rank, purpose, &slot));
  double since = osla_trace_now(s->t);
  osli_device_settle_kept(SETTLE_NOTIFY);
  OSLA_CALL(s->t->ops->post(s->region, rank, s->data, NULL, 0, slot, value, 0, NULL));
  osla_trace_add(s->t, OSLA_TRACE_NOTIFY, since, 0);
  return OSLA_OK;
}

void osla_segment_wake(osla_segment *s, int rank)
{
  osli_device_settle_kept(SETTLE_NOTIFY);
  osli_segment_wake_at_once(s, rank);
}

void osli_segment_wake_at_once(const osla_segment *s, int rank)
{
  /* attached memory has no bell */
  void *bell = s->data > 0 ? s->t->ops->peer_ptr(s->region, rank) : NULL;
  if (bell) osli_bell_ring(s->t, bell);
}

static unsigned char *my_head(const osla_segment *s)
{
  return s->t->ops->peer_ptr(s->region, s->t->rank);
}

uint64_t osla_notify_read(const osla_segment *s, int origin, int purpose)
{
  size_t slot = slot_offset(s, origin, s->t->rank, purpose);
  if (slot == 0) return 0;
  return atomic_load_explicit((_Atomic uint64_t *)(my_head(s) + slot), memory_order_acquire);
}

typedef struct awaited {
  const osla_segment *segment;
  int origin, purpose;
  uint64_t value;
} awaited;

static bool slot_reached(void *arg)
{
  const awaited *a = arg;
  return osla_notify_read(a->segment, a->origin, a->purpose) >= a->value;
}

void osla_notify_wait(osla_segment *s, int origin, int purpose, uint64_t value)
{
  awaited a = {s, origin, purpose, value};
  if (slot_reached(&a)) return;
  atomic_store_explicit(&s->t->awaited_rank, origin, memory_order_relaxed);
  osla_segment_wait(s, slot_reached, &a);
  atomic_store_explicit(&s->t->awaited_rank, -1, memory_order_relaxed);
}

void osla_segment_wait(osla_segment *s, bool (*test)(void *arg), void *arg)
{
  double since = osla_trace_now(s->t);
  if (test(arg)) return;
  /* Attached memory has no bell, because its first bytes belong to the caller. */
  osli_wait_until(s->t, test, arg, s->data > 0 ? (osla_bell *)my_head(s) : NULL);
  osla_trace_add(s->t, OSLA_TRACE_NOTIFY_WAIT, since, 0);
}
