/* Keeps the list of open devices and their memory, and submits work to the backends of the
 * devices. */
#include "src/device/device.h"
#include "src/device/device_ranges.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

atomic_int osli_devices_open;
int osli_device_faults;
bool osli_device_panels_on_host;

/* `list_lock` guards the list of devices. Threads that wait for work of devices hold it for
 * reading, so several threads can wait at the same time. A thread that holds the lock may run work
 * of the fake device, and this work locks the table of device memory. So neither functions of the
 * table nor work may lock `list_lock`. */
static pthread_rwlock_t list_lock = PTHREAD_RWLOCK_INITIALIZER;
/* `error_mutex` guards kept_error and kept_text. */
static pthread_mutex_t error_mutex = PTHREAD_MUTEX_INITIALIZER;
static device_queue *queues;
static uint64_t n_opened; /* number of devices that were opened so far */
/* error that the next osli_device_settle returns, or OK */
static osla_err kept_error;
static char kept_text[512];
static _Thread_local device_lane current_lane; /* lane to which this thread submits work */

device_queue *osli_device_find(const void *address)
{
  device_range r;
  return osli_range_find(address, &r) ? r.queue : NULL;
}

/* Waits for all work that a lane has so far. If work of the device has failed, the device may never
 * store the number of its latest signal. The host then stores this number, so that no other rank
 * waits forever. */
static osla_err wait_lane(const device_queue *q, device_lane lane)
{
  const osla_err err = q->ops->wait(q->state, q->ops->mark(q->state, lane));
  _Atomic uint64_t *word = err == OSLA_OK ? NULL : atomic_load(&q->word);
  if (word) atomic_store_explicit(word, atomic_load(&q->value), memory_order_release);
  return err;
}

/* Waits for all work that the lanes number `first` and above of a device have so far. */
static osla_err wait_lanes(const device_queue *q, device_lane first)
{
  osla_err err = OSLA_OK;
  for (device_lane lane = first; lane < LANES; lane++) {
    osla_err one = wait_lane(q, lane);
    if (err == OSLA_OK) err = one;
  }
  return err;
}

/* ---- open devices and their memory ---- */

osla_err osli_device_queue_open(const device_ops *ops, int ordinal, void *stream,
                                device_queue **out)
{
  device_queue *q = calloc(1, sizeof *q);
  OSLA_CHECK(q, OSLA_ERR_MEM, "state of a device");
  q->ops = ops;
  q->ordinal = ordinal;
  osla_err err = ops->open(ordinal, stream, &q->state);
  if (err != OSLA_OK) {
    free(q);
    return err;
  }
  (void)pthread_rwlock_wrlock(&list_lock);
  q->id = ++n_opened;
  q->next = queues;
  queues = q;
  (void)pthread_rwlock_unlock(&list_lock);
  atomic_fetch_add(&osli_devices_open, 1);
  *out = q;
  return OSLA_OK;
}

/* Removes a piece of device memory from the table, and frees or unmaps it. Memory that the program
 * has registered stays allocated. */
static void drop_range(const device_range *r)
{
  const device_queue *q = r->queue;
  const size_t bytes = (size_t)(r->to - r->from);
  (void)osli_range_remove(r);
  if (r->origin == ORIGIN_ALLOCATED) q->ops->release(q->state, (void *)r->from, bytes);
  if (r->origin == ORIGIN_IMPORTED) q->ops->drop(q->state, (void *)r->from, bytes);
}

void osli_device_queue_close(device_queue **queue)
{
  device_queue *q = queue ? *queue : NULL;
  if (!q) return;
  (void)wait_lanes(q, LANE_MAIN);
  for (device_range left; osli_range_any(q, &left);)
    drop_range(&left);
  (void)pthread_rwlock_wrlock(&list_lock);
  device_queue **at = &queues;
  while (*at != q)
    at = &(*at)->next;
  *at = q->next;
  (void)pthread_mutex_lock(&error_mutex);
  if (!queues) kept_error = OSLA_OK;
  (void)pthread_mutex_unlock(&error_mutex);
  (void)pthread_rwlock_unlock(&list_lock);
  atomic_fetch_sub(&osli_devices_open, 1);
  q->ops->close(q->state);
  free(q);
  *queue = NULL;
}

/* Enters a piece of device memory in the table. If there is no memory for the table, frees or
 * unmaps the piece and sets *memory = NULL. */
static osla_err enter_range(device_queue *q, void **memory, size_t bytes, bool imported)
{
  uintptr_t from = (uintptr_t)*memory;
  osla_err err = osli_range_add(
    (device_range){from, from + bytes, q, imported ? ORIGIN_IMPORTED : ORIGIN_ALLOCATED});
  if (err == OSLA_OK) return err;
  (imported ? q->ops->drop : q->ops->release)(q->state, *memory, bytes);
  *memory = NULL;
  return err;
}

osla_err osli_device_alloc(device_queue *q, size_t bytes, bool zeroed, void **out)
{
  *out = NULL;
  uint64_t available = q->ops->available(q->state);
  OSLA_CHECK(bytes <= available, OSLA_ERR_MEM,
             "%zu bytes of device memory are needed, and the device has %" PRIu64 " available",
             bytes, available);
  OSLA_CALL(q->ops->alloc(q->state, bytes, zeroed, out));
  return enter_range(q, out, bytes, false);
}

osla_err osli_device_import(device_queue *q, const device_handle *handle, size_t bytes, void **out)
{
  *out = NULL;
  OSLA_CALL(q->ops->import(q->state, handle, bytes, out));
  return enter_range(q, out, bytes, true);
}

void osli_device_free(void *memory)
{
  device_range r;
  if (!memory || !osli_range_find(memory, &r)) return;
  osli_device_keep_error(wait_lanes(r.queue, LANE_MAIN));
  drop_range(&r);
}

/* Checks that a byte of the memory that osla_device_register gets lies on the device, and belongs
 * neither to another rank nor to another osla_device. Errors: ARG. */
static osla_err check_registered(const device_queue *q, const unsigned char *byte)
{
  device_range r;
  const bool is_known = osli_range_find(byte, &r) && (uintptr_t)byte < r.to;
  OSLA_CHECK(!is_known || r.origin != ORIGIN_IMPORTED, OSLA_ERR_ARG,
             "osla_device_register: address %p lies in device memory of another rank: pass memory "
             "of this rank",
             (const void *)byte);
  const int ordinal = q->ops->ordinal_of(q->state, byte);
  OSLA_CHECK(ordinal >= 0, OSLA_ERR_ARG,
             "osla_device_register: address %p lies in no memory of this device: pass memory that "
             "was allocated on device %d",
             (const void *)byte, q->ordinal);
  OSLA_CHECK(ordinal == q->ordinal, OSLA_ERR_ARG,
             "osla_device_register: address %p lies on device %d, and this osla_device is device "
             "%d: register the memory with an osla_device of device %d",
             (const void *)byte, ordinal, q->ordinal, ordinal);
  OSLA_CHECK(!is_known || r.queue == q, OSLA_ERR_ARG,
             "osla_device_register: address %p belongs to another osla_device: %s",
             (const void *)byte,
             r.origin == ORIGIN_REGISTERED ? "unregister it there first"
                                           : "pass memory that the program has allocated");
  return OSLA_OK;
}

osla_err osli_device_register(device_queue *q, const void *memory, size_t bytes)
{
  const unsigned char *first = memory;
  const uintptr_t from = (uintptr_t)memory;
  OSLA_CHECK(memory, OSLA_ERR_ARG, "osla_device_register: the address of the memory is NULL");
  OSLA_CHECK(bytes > 0, OSLA_ERR_ARG, "osla_device_register: the memory has 0 bytes");
  OSLA_CALL(check_registered(q, first));
  OSLA_CALL(check_registered(q, first + bytes - 1));
  return osli_range_add((device_range){from, from + bytes, q, ORIGIN_REGISTERED});
}

osla_err osli_device_unregister(device_queue *q, const void *memory, size_t bytes)
{
  const uintptr_t from = (uintptr_t)memory;
  osli_device_keep_error(wait_lanes(q, LANE_MAIN));
  OSLA_CHECK(osli_range_remove(&(device_range){from, from + bytes, q, ORIGIN_REGISTERED}),
             OSLA_ERR_ARG,
             "osla_device_unregister: %zu bytes at %p are not registered: pass the address and the "
             "bytes of osla_device_register",
             bytes, memory);
  return OSLA_OK;
}

/* Returns whether this process has opened device number `ordinal` of a backend. The caller holds
 * `list_lock`. */
static bool is_open(const device_ops *ops, int ordinal)
{
  for (const device_queue *q = queues; q; q = q->next)
    if (q->ops == ops && q->ordinal == ordinal) return true;
  return false;
}

/* Checks that an address that is not in the table lies in host memory. Memory of a device that the
 * program has not registered, and memory of a device that is not open, must not be accessed by the
 * host. Errors: ARG. */
static osla_err check_host(const void *address, const char *what)
{
  const device_queue *q;
  int ordinal = -1; /* number of the device in whose memory the address lies, or -1 */
  int open = -1;    /* number of an open device, for the message */
  bool can_register = false;
  (void)pthread_rwlock_rdlock(&list_lock);
  for (q = queues; q && ordinal < 0; q = q->next) {
    ordinal = q->ops->ordinal_of(q->state, address);
    open = q->ordinal;
    can_register = is_open(q->ops, ordinal);
  }
  (void)pthread_rwlock_unlock(&list_lock);
  OSLA_CHECK(ordinal < 0 || can_register, OSLA_ERR_ARG,
             "%s: address %p lies on device %d, and this rank has opened device %d: pass memory of "
             "device %d, or host memory",
             what, address, ordinal, open, open);
  OSLA_CHECK(ordinal < 0, OSLA_ERR_ARG,
             "%s: address %p lies on device %d, in memory that OSLA has not allocated: call "
             "osla_device_register first",
             what, address, ordinal);
  return OSLA_OK;
}

osla_err osli_device_locate_any(const void *address, size_t bytes, const char *what,
                                device_queue **out)
{
  device_range r;
  const uintptr_t from = (uintptr_t)address;
  *out = NULL;
  if (!address) return OSLA_OK;
  if (!osli_range_find(address, &r)) return check_host(address, what);
  OSLA_CHECK(r.origin != ORIGIN_IMPORTED, OSLA_ERR_ARG,
             "%s: the array lies in device memory of another rank: pass memory of this rank", what);
  OSLA_CHECK(bytes <= r.to - from, OSLA_ERR_ARG,
             "%s: the array needs %zu bytes, and only %zu bytes of device memory are known there: "
             "register the whole array (osla_device_register), or pass a larger piece",
             what, bytes, (size_t)(r.to - from));
  *out = r.queue;
  return OSLA_OK;
}

/* ---- work ---- */

static osla_err check_operand(const device_queue *q, const void *address)
{
  OSLA_CHECK(!address || (q && osli_device_find(address) == q), OSLA_ERR_ARG,
             "operands of one product or copy lie in host memory and on a device, or on two "
             "devices: put all into the memory of one device");
  return OSLA_OK;
}

device_lane osli_device_lane(device_lane lane)
{
  device_lane before = current_lane;
  current_lane = lane;
  return before;
}

osla_err osli_device_after(const device_queue *q, device_lane lane)
{
  if (osli_device_faults & DEVICE_FAULT_AFTER) return OSLA_OK;
  const device_lane other = lane == LANE_MAIN ? LANE_PANEL : LANE_MAIN;
  return q->ops->after(q->state, lane, q->ops->mark(q->state, other));
}

osla_err osli_device_submit(const device_work *work)
{
  device_work w = *work;
  device_queue *q = osli_device_find(w.c);
  w.lane = current_lane;
  if (w.kind == DEVICE_COPY) {
    device_queue *source = osli_device_find(w.a);
    bool crosses = !q || !source;
    if (!crosses) OSLA_CALL(check_operand(q, w.a));
    if (!q) q = source;
    OSLA_CALL(q->ops->submit(q->state, &w));
    return crosses ? wait_lane(q, w.lane) : OSLA_OK;
  }
  OSLA_CALL(check_operand(q, w.c));
  OSLA_CALL(check_operand(q, w.a));
  OSLA_CALL(check_operand(q, w.b));
  return q->ops->submit(q->state, &w);
}

osla_err osli_device_signal(device_queue *q, _Atomic uint64_t *word, uint64_t value)
{
  atomic_store(&q->value, value);
  atomic_store(&q->word, word);
  if (osli_device_faults & DEVICE_FAULT_SIGNAL) {
    atomic_store_explicit(word, value, memory_order_release);
    return OSLA_OK;
  }
  const device_work w = {.kind = DEVICE_SIGNAL, .word = word, .value = value, .lane = current_lane};
  return q->ops->submit(q->state, &w);
}

osla_err osli_device_await(const device_queue *q, _Atomic uint64_t *word, uint64_t value)
{
  if (osli_device_faults & DEVICE_FAULT_AWAIT) return OSLA_OK;
  const device_work w = {.kind = DEVICE_AWAIT, .word = word, .value = value, .lane = current_lane};
  return q->ops->submit(q->state, &w);
}

osla_err osli_device_finish(const device_queue *q)
{
  if (osli_device_faults & DEVICE_FAULT_FINISH) return OSLA_OK;
  return wait_lane(q, current_lane);
}

/* Returns and clears the error that osli_device_keep_error has stored; returns `err` if no error is
 * stored. */
static osla_err take_error(osla_err err)
{
  (void)pthread_mutex_lock(&error_mutex);
  if (kept_error != OSLA_OK) err = osla_error_set(kept_error, "%s", kept_text);
  kept_error = OSLA_OK;
  (void)pthread_mutex_unlock(&error_mutex);
  return err;
}

osla_err osli_device_wait(const device_queue *q)
{
  return take_error(wait_lanes(q, LANE_MAIN));
}

osla_err osli_device_add(osla_dtype dtype, int64_t m, int64_t n, osla_complex alpha, const void *a,
                         int64_t lda, osla_complex beta, void *c, int64_t ldc)
{
  if (m <= 0 || n <= 0) return OSLA_OK;
  return osli_device_submit(&(device_work){.kind = DEVICE_ADD,
                                           .dtype = dtype,
                                           .m = m,
                                           .n = n,
                                           .alpha = alpha,
                                           .a = a,
                                           .lda = lda,
                                           .beta = beta,
                                           .c = c,
                                           .ldc = ldc});
}

void osli_device_copy(size_t element, int64_t m, int64_t n, const void *from, int64_t from_ld,
                      void *to, int64_t to_ld)
{
  if (m <= 0 || n <= 0) return;
  if (osli_device_faults & DEVICE_FAULT_MEMCPY) {
    memcpy(to, from, (size_t)m * element);
    return;
  }
  device_work w = {.kind = DEVICE_COPY,
                   .element = element,
                   .m = m,
                   .n = n,
                   .a = from,
                   .c = to,
                   .lda = from_ld,
                   .ldc = to_ld};
  osli_device_keep_error(osli_device_submit(&w));
}

void osli_device_keep_error(osla_err err)
{
  if (err == OSLA_OK) return;
  (void)pthread_mutex_lock(&error_mutex);
  if (kept_error == OSLA_OK) {
    kept_error = err;
    (void)snprintf(kept_text, sizeof kept_text, "%s", osla_error_text());
  }
  (void)pthread_mutex_unlock(&error_mutex);
}

osla_err osli_device_settle_all(device_settle_reason reason)
{
  static const int fault_of[] = {[SETTLE_NOTIFY] = DEVICE_FAULT_NOTIFY,
                                 [SETTLE_COLLECTIVE] = DEVICE_FAULT_COLLECTIVE,
                                 [SETTLE_COPY] = DEVICE_FAULT_COPY,
                                 [SETTLE_ANNOUNCE] = DEVICE_FAULT_ANNOUNCE,
                                 [SETTLE_READ] = DEVICE_FAULT_READ};
  osla_err err = OSLA_OK;
  if (osli_device_faults & fault_of[reason]) return OSLA_OK;
  (void)pthread_rwlock_rdlock(&list_lock);
  for (device_queue *q = queues; q; q = q->next) {
    osla_err one = wait_lanes(q, current_lane);
    if (err == OSLA_OK) err = one;
  }
  (void)pthread_rwlock_unlock(&list_lock);
  return take_error(err);
}
