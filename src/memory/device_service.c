/* Copies between host memory of this rank and device memory of ranks on other nodes.
 *
 * MPI is used on host memory only. Each rank therefore has a region in host memory with one slot
 * for every rank. A rank that reads or writes device memory of an owner on another node writes a
 * request into its slot at the owner, by one put with a word; a request to write carries the data.
 * A service thread of the owner polls the slots, copies between slot and device, and stores an
 * answer in the slot, which the requesting rank polls by gets. The service thread never calls MPI
 * and does not wait for queued work, so it also answers while the owner computes. The device memory
 * is complete without such a wait: a rank sends a request only after the owner has informed it, and
 * the owner has waited for its queued work before (osli_device_settle).
 *
 * Each rank has at most one request at each owner. Copies of more than data_bytes bytes need
 * several requests. */
#include "src/base/futex.h"
#include "src/memory/segment_state.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LINE = 64,             /* bytes of a cache line */
  HEAD = 4096,           /* bytes before the first slot, for the words of the transport's backend */
  LEAST_DATA = 16 << 10, /* least number of data bytes of a slot */
  MOST_DATA = 1 << 20,   /* largest number of data bytes of a slot */
  ALL_DATA = 64 << 20    /* data bytes of all slots of a rank, unless slots have LEAST_DATA bytes */
};
enum {
  NAP_MIN_US = 10,  /* shortest sleep of the service thread between two polls, in microseconds */
  NAP_MAX_US = 500, /* longest sleep of the service thread between two polls, in microseconds */
  CODES = 256       /* larger than every osla_err */
};

/* A slot. The requesting rank writes the member `asked` and, for each request, `address`, `bytes`,
 * `is_put` and the data to be written. The owner writes `answered`, `text` and the data that were
 * read. */
typedef struct service_slot {
  _Alignas(LINE) _Atomic uint64_t asked; /* number of requests so far */
  /* CODES * number of answered requests + osla_err of the latest answered request */
  _Alignas(LINE) _Atomic uint64_t answered;
  char text[256 - sizeof(uint64_t)]; /* text of the error if the latest request failed */
  _Alignas(LINE) uint64_t address;   /* device address in the owner's address space */
  uint64_t bytes, is_put;
  _Alignas(LINE) unsigned char data[];
} service_slot;

struct device_service {
  osla_transport *t;
  osla_region *region;
  size_t data_bytes, slot_bytes;
  pthread_mutex_t mutex; /* guards the members `asked` and `request` */
  uint64_t *asked;       /* [ranks] number of requests of this rank to each owner so far */
  service_slot *request; /* the next request of this rank, until a put copies it to the owner */
  pthread_t thread;
  bool has_thread;
  atomic_bool stops;
  device_queue *pinned_by; /* device that has pinned this rank's slots; NULL if none has */
};

/* Returns the offset in an owner's region of the slot of a requesting rank. */
static size_t slot_at(const device_service *s, int rank)
{
  return HEAD + (size_t)rank * s->slot_bytes;
}

static unsigned char *my_region(const device_service *s)
{
  return s->t->ops->peer_ptr(s->region, s->t->rank);
}

/* ---- the owner ---- */

static osla_err serve(service_slot *slot)
{
  void *memory = (void *)(uintptr_t)slot->address;
  device_queue *q = osli_device_find(memory);
  OSLA_CHECK(q, OSLA_ERR_ARG, "address %p is not on a device of this rank", memory);
  return q->ops->copy_now(q->state, slot->is_put ? slot->data : memory,
                          slot->is_put ? memory : slot->data, (size_t)slot->bytes);
}

static bool serve_rank(const device_service *s, int rank)
{
  service_slot *slot = (service_slot *)(void *)(my_region(s) + slot_at(s, rank));
  uint64_t asked = atomic_load_explicit(&slot->asked, memory_order_acquire);
  if (asked == atomic_load_explicit(&slot->answered, memory_order_relaxed) / CODES) return false;
  const osla_err err = serve(slot);
  if (err != OSLA_OK) (void)snprintf(slot->text, sizeof slot->text, "%s", osla_error_text());
  atomic_store_explicit(&slot->answered, CODES * asked + (uint64_t)err, memory_order_release);
  return true;
}

static void *service_main(void *arg)
{
  device_service *s = arg;
  for (int nap = NAP_MIN_US; !atomic_load(&s->stops);) {
    bool any = false;
    for (int rank = 0; rank < s->t->size; rank++)
      any = serve_rank(s, rank) || any;
    nap = any ? NAP_MIN_US : nap < NAP_MAX_US ? 2 * nap : nap;
    osli_nap(nap);
  }
  return NULL;
}

/* ---- the requesting rank ---- */

static osla_err read_slot(const device_service *s, int owner, size_t offset, void *dest,
                          size_t bytes)
{
  osla_handle handle = OSLA_HANDLE_DONE;
  OSLA_CALL(
    s->t->ops->get(s->region, owner, slot_at(s, s->t->rank) + offset, dest, bytes, &handle));
  return s->t->ops->wait(s->t, &handle);
}

typedef struct awaited_answer {
  const device_service *s;
  int owner;
  uint64_t answered;
  osla_err err;
} awaited_answer;

static bool has_answered(void *arg)
{
  awaited_answer *a = arg;
  a->err =
    read_slot(a->s, a->owner, offsetof(service_slot, answered), &a->answered, sizeof a->answered);
  return a->err != OSLA_OK || a->answered / CODES == a->s->asked[a->owner];
}

/* Copies at most s->data_bytes bytes by one request: from `host` to device memory of the owner if
 * is_put is true, and otherwise from device memory of the owner to `host`. The caller holds the
 * mutex. */
static osla_err copy_piece(device_service *s, int owner, uint64_t address, void *host, size_t bytes,
                           bool is_put)
{
  enum { REQUEST = offsetof(service_slot, address), DATA = offsetof(service_slot, data) };
  service_slot *r = s->request;
  const size_t slot = slot_at(s, s->t->rank), sent = DATA - REQUEST + (is_put ? bytes : 0);
  awaited_answer a = {.s = s, .owner = owner};
  r->address = address;
  r->bytes = bytes;
  r->is_put = is_put;
  if (is_put) memcpy(r->data, host, bytes);
  OSLA_CALL(s->t->ops->put_notify(s->region, owner, slot + REQUEST, &r->address, sent,
                                  slot + offsetof(service_slot, asked), ++s->asked[owner], 0));
  osli_wait_until(s->t, has_answered, &a, NULL);
  OSLA_CALL(a.err);
  if (a.answered % CODES != OSLA_OK) {
    OSLA_CALL(read_slot(s, owner, offsetof(service_slot, text), r->text, sizeof r->text));
    r->text[sizeof r->text - 1] = '\0';
    return osla_error_set((osla_err)(a.answered % CODES),
                          "copy of %zu bytes %s the device of rank %d, which is on another node: "
                          "%s",
                          bytes, is_put ? "to" : "from", owner, r->text);
  }
  return is_put ? OSLA_OK : read_slot(s, owner, DATA, host, bytes);
}

osla_err osli_device_service_copy(device_service *s, int owner, const void *address, void *host,
                                  size_t bytes, bool is_put)
{
  osla_err err = OSLA_OK;
  (void)pthread_mutex_lock(&s->mutex);
  osli_hooks_paused = true; /* A progress hook that runs during the wait could send panels by this
                               function, and would wait for the mutex forever. */
  for (size_t done = 0, piece; done < bytes && err == OSLA_OK; done += piece) {
    piece = bytes - done < s->data_bytes ? bytes - done : s->data_bytes;
    err = copy_piece(s, owner, (uint64_t)(uintptr_t)address + done, (unsigned char *)host + done,
                     piece, is_put);
  }
  osli_hooks_paused = false;
  (void)pthread_mutex_unlock(&s->mutex);
  return err;
}

/* ---- set-up ---- */

/* Ends the service thread and frees the service. osla_transport_destroy calls this function.
 * Collective. */
static void destroy_service(void *object)
{
  device_service *s = object;
  atomic_store(&s->stops, true);
  if (s->has_thread) (void)pthread_join(s->thread, NULL);
  if (s->region) s->t->ops->region_free(&s->region);
  (void)pthread_mutex_destroy(&s->mutex);
  free(s->asked);
  free(s->request);
  free(s);
}

static osla_err start(device_service *s)
{
  s->asked = calloc((size_t)s->t->size, sizeof *s->asked);
  s->request = aligned_alloc(LINE, s->slot_bytes);
  OSLA_CHECK(s->asked && s->request, OSLA_ERR_MEM, "requests for devices of other nodes");
  OSLA_CHECK(pthread_create(&s->thread, NULL, service_main, s) == 0, OSLA_ERR_MEM,
             "cannot start the thread that serves requests of other nodes for device memory");
  s->has_thread = true;
  return OSLA_OK;
}

osla_err osli_device_service_open(osla_transport *t, device_service **out)
{
  static const char key; /* &key identifies the service among the transport's objects */
  *out = osli_transport_object_find(t, &key);
  if (*out) return OSLA_OK;
  osla_err err;
  void *memory;
  OSLA_CALL(osli_agree_calloc(t, sizeof(device_service), "service of devices", &memory));
  device_service *s = memory;
  s->t = t;
  s->data_bytes = (size_t)ALL_DATA / (size_t)t->size / LINE * LINE;
  if (s->data_bytes > MOST_DATA) s->data_bytes = MOST_DATA;
  if (s->data_bytes < LEAST_DATA) s->data_bytes = LEAST_DATA;
  s->slot_bytes = sizeof(service_slot) + s->data_bytes;
  (void)pthread_mutex_init(&s->mutex, NULL);
  OSLA_TRY(t->ops->region_alloc(t, slot_at(s, t->size), &s->region));
  OSLA_TRY(osla_agree(t, start(s)));
  OSLA_TRY(osla_agree(t, osli_transport_object_add(t, &key, s, destroy_service)));
  *out = s;
  return OSLA_OK;
cleanup:
  osli_transport_object_remove(t, &key);
  destroy_service(s);
  return err;
}

/* Ignores an error of `pin`, because copies also work with unpinned memory, but more slowly. */
void osli_device_service_pin(device_service *s, device_queue *q)
{
  if (!s->pinned_by && q->ops->pin &&
      q->ops->pin(q->state, my_region(s), slot_at(s, s->t->size)) == OSLA_OK)
    s->pinned_by = q;
}

void osli_device_service_unpin(device_service *s, device_queue *q)
{
  if (s->pinned_by != q) return;
  q->ops->unpin(q->state, my_region(s));
  s->pinned_by = NULL;
}
