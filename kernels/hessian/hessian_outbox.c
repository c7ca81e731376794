/* Messages to owners on other nodes, the origin's side: a ring of bytes for each of them, in the
 * origin's own segment.
 *
 * The origin writes messages one behind the other and tells the owner, by one word, how many bytes
 * wait. The owner gets them when it comes to it (hessian_inbox.c) and tells, by another word, how
 * many it has taken. Neither word is waited for: one of each is under way at a time, and the next
 * tells of all that has come meanwhile. So small updates join into few transfers by themselves, no
 * rank waits for another's progress before its ring is full, and then it serves its own inboxes.
 */
#include "hessian.h"
#include "hessian_message.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
  ALIGN = 64,
  RING_MIN = 64 * 1024,
  RING_PARTS = 4, /* a message takes at most this part of a ring, and a credit comes as often */
  MESSAGE_MOST = 4 << 20
};

/* Layout of a rank's segment: its lock, then the rings for the ranks of other nodes, by rank. */
static size_t rings_start(void)
{
  return 2 * sizeof(osla_stripes);
}

size_t osla_wire_ring_offset(const osla_hessian *h, int holder, int reader)
{
  size_t before = 0;
  int node = osla_transport_node_of(h->v.t, holder);
  for (int rank = 0; rank < reader; rank++)
    if (osla_transport_node_of(h->v.t, rank) != node) before++;
  return rings_start() + before * h->ring_bytes;
}

static size_t remote_ranks(const osla_hessian *h)
{
  return (size_t)(osla_transport_size(h->v.t) - osla_transport_node_size(h->v.t));
}

size_t osla_wire_segment_bytes(const osla_hessian *h)
{
  return rings_start() + remote_ranks(h) * h->ring_bytes;
}

size_t osla_wire_table_bytes(const osla_hessian *h)
{
  return (size_t)osla_transport_size(h->v.t) * (sizeof(outbox) + sizeof(intake)) +
         (size_t)h->n_inboxes * (h->inbox_bytes + 4 * h->message_most);
}

osla_stripes *osla_hessian_lock(const osla_hessian *h, int rank)
{
  return osla_segment_peer(h->segment, rank);
}

static size_t part_of(size_t bytes, size_t parts)
{
  size_t part = bytes / parts;
  const size_t most = (size_t)1 << 30;
  if (part > most) part = most;
  return (part > RING_MIN ? part : RING_MIN) / ALIGN * ALIGN;
}

/* Half of the room is for the rings; of the rest an inbox takes 5 parts and what is unpacked from a
 * message 3, four times a message's size. */
void osla_wire_sizes(osla_hessian *h, int remote, size_t bytes)
{
  if (remote == 0) return;
  h->n_inboxes = remote < INBOXES ? remote : INBOXES;
  h->ring_bytes = part_of(bytes / 2, (size_t)remote);
  h->inbox_bytes = part_of(bytes / 16 * 5, (size_t)h->n_inboxes);
  size_t message = bytes / 64 * 3 / (size_t)h->n_inboxes, parts = RING_PARTS;
  if (message < RING_MIN / parts) message = RING_MIN / parts;
  if (message > h->ring_bytes / parts) message = h->ring_bytes / parts;
  if (message > MESSAGE_MOST) message = MESSAGE_MOST;
  h->message_most = message / ALIGN * ALIGN;
}

osla_err osla_outboxes_create(osla_hessian *h)
{
  int ranks = osla_transport_size(h->v.t), me = osla_transport_rank(h->v.t);
  h->outboxes = calloc((size_t)ranks, sizeof *h->outboxes);
  OSLA_CHECK(h->outboxes, OSLA_ERR_MEM, "outboxes for %d ranks", ranks);
  for (int rank = 0; rank < ranks; rank++) {
    outbox *o = &h->outboxes[rank];
    (void)pthread_mutex_init(&o->mutex, NULL);
    if (!osla_transport_same_node(h->v.t, rank))
      o->ring =
        (unsigned char *)osla_segment_local(h->segment) + osla_wire_ring_offset(h, me, rank);
  }
  return OSLA_OK;
}

void osla_outboxes_free(osla_hessian *h)
{
  for (int rank = 0; h->outboxes && rank < osla_transport_size(h->v.t); rank++)
    (void)pthread_mutex_destroy(&h->outboxes[rank].mutex);
  free(h->outboxes);
}

osla_err osla_outbox_tell(osla_hessian *h, int target)
{
  outbox *o = &h->outboxes[target];
  uint64_t ready = atomic_load_explicit(&o->ready, memory_order_acquire);
  if (ready == o->told) return OSLA_OK;
  bool done;
  OSLA_CALL(osla_posted_test(h->segment, &o->notice, &done));
  if (!done) return OSLA_OK;
  o->told = ready;
  return osla_put_notify_post(h->segment, target, 0, NULL, 0, NOTIFY_READY, ready, &o->notice);
}

/* ---- what fits ---- */

int64_t osla_outbox_columns(const osla_hessian *h, const piece *p, int64_t c)
{
  size_t room = h->message_most - sizeof(message_head) - 2 * MESSAGE_PAD;
  size_t index = sizeof(int64_t), column = index + sizeof(uint32_t);
  size_t bytes = (size_t)p->rows * index;
  int64_t next = c;
  while (next < p->cols) {
    bytes += column + (size_t)(p->end[next] - p->begin[next]) * h->element;
    if (bytes > room) break;
    next++;
  }
  return next - c;
}

int64_t osla_outbox_rows(const osla_hessian *h)
{
  return (int64_t)(h->message_most / 2 / (h->element + sizeof(int64_t)));
}

/* ---- writing ---- */

typedef struct writer {
  osla_hessian *h;
  int target;
  outbox *o;
  uint64_t until; /* bytes written after what comes next */
} writer;

static bool has_room(void *arg)
{
  const writer *w = arg;
  return w->until - osla_notify_read(w->h->segment, w->target, NOTIFY_TAKEN) <= w->h->ring_bytes;
}

static void publish(outbox *o)
{
  atomic_store_explicit(&o->ready, o->written, memory_order_release);
}

static void wait_for_room(writer *w, size_t bytes)
{
  w->until = w->o->written + bytes;
  if (has_room(w)) return;
  publish(w->o);
  osla_segment_wait(w->h->segment, has_room, w);
}

/* A chain that fits half of the ring becomes ready as a whole, and says how long it is: its owner
 * need not hold locks while it waits for the rest. */
void osla_outbox_begin(osla_hessian *h, int target, size_t bytes)
{
  writer w = {.h = h, .target = target, .o = &h->outboxes[target]};
  (void)pthread_mutex_lock(&w.o->mutex);
  wait_for_room(&w, bytes < h->ring_bytes / 2 ? bytes : h->ring_bytes / 2);
  w.o->chain = w.o->written;
}

void osla_outbox_end(osla_hessian *h, int target)
{
  outbox *o = &h->outboxes[target];
  uint32_t bytes = (uint32_t)(o->written - o->chain);
  size_t at = (size_t)(o->chain % h->ring_bytes) + offsetof(message_head, chain);
  /* Heads lie at multiples of 8 bytes: the field is in one piece. */
  if (bytes > 0 && atomic_load(&o->ready) == o->chain &&
      h->options.isolation == OSLA_ISOLATE_UPDATE)
    memcpy(o->ring + at % h->ring_bytes, &bytes, sizeof bytes);
  publish(o);
  (void)pthread_mutex_unlock(&o->mutex);
}

static void write_to_ring(void *arg, const void *bytes, size_t count)
{
  writer *w = arg;
  size_t size = w->h->ring_bytes, at = (size_t)(w->o->written % size);
  size_t first = count < size - at ? count : size - at;
  memcpy(w->o->ring + at, bytes, first);
  memcpy(w->o->ring, (const unsigned char *)bytes + first, count - first);
  w->o->written += count;
}

size_t osla_outbox_put(osla_hessian *h, int target, const piece *p, uint64_t stripes,
                       uint32_t flags, const update *u, int64_t r0, int64_t c0)
{
  static const piece nothing;
  writer w = {.h = h, .target = target, .o = &h->outboxes[target]};
  size_t column = u ? (size_t)u->k * h->element : 0;
  if (!p) p = &nothing;
  wait_for_room(&w, osla_message_size(p, u ? u->k : 0, h->element));
  if (u)
    return osla_message_put_g(p, stripes, flags, u->k, u->row_panel + (size_t)r0 * column,
                              u->col_panel + (size_t)c0 * column, h->element, h->options.uplo,
                              write_to_ring, &w);
  return osla_message_put(p, stripes, flags, h->element, h->options.uplo, write_to_ring, &w);
}
