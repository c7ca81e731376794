/* Receives messages from other nodes: any rank of the owners' node fetches them from the origins'
 * rings and adds them to H. An origin is a rank that sends messages.
 *
 * An inbox serves one origin at a time, until it has added everything that it fetched; then it
 * releases the origin, so that other origins are served. Meanwhile no other rank of the node serves
 * that origin. A fetch takes at most half of the buffer, so that one half can be in flight while
 * the other half is added. Everything runs in progress steps, which wait neither for a transfer nor
 * for a lock. If stripes are locked, the inbox tries again in the next step, and reserves them
 * after a while (osla_stripes.h), so that updates by the node's own ranks cannot block a ring. A
 * chain of messages keeps its stripes and its inbox from its first to its last message. The rest of
 * a chain can always be fetched, because a ring keeps the order of its messages, and the inbox
 * removes the messages that it has added. So no cycle of waiting ranks can form.
 *
 * A step without work reads only the top words of two gates: this rank's own gate, and the gate of
 * one other rank of the node, in turn. */
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_boxes.h"
#include "kernels/hessian/hessian_device.h"
#include "kernels/hessian/hessian_message.h"
#include "kernels/hessian/hessian_node.h"
#include "kernels/hessian/hessian_update.h"
#include "osla_clock.h"
#include "osla_trace.h"

#include <stdlib.h>
#include <string.h>

/* number of columns of a piece whose products are computed together */
enum { PRODUCT_COLUMNS = 128 };

/* An inbox: buffer and state for the messages of one origin at a time. Used by the progress hook
 * only. */
typedef struct inbox {
  /* gate at which the origin has announced its messages; NULL: the inbox is free */
  const arrivals *gate;
  int leaf, origin, gate_rank;
  intake *from;
  unsigned char *buffer; /* [inbox_bytes] messages in the order of the origin's ring */
  /* offset in `buffer` of the first byte that was fetched and not yet processed */
  size_t head;
  size_t tail;     /* offset in `buffer` after the last byte that was fetched */
  size_t arriving; /* bytes in flight, which will be stored after `tail` */
  osla_transfer transfer[2];
  osla_posted credit;
  int64_t *lists; /* index lists of the message that is being added */
  /* products of the received columns of G, in the kind of memory in which H lies */
  unsigned char *values;
  /* copy of the received values, or of the received columns of G, in device memory; NULL if H lies
   * in host memory */
  unsigned char *on_device;
  uint64_t stripes; /* mask of the stripes that are locked for a chain */
  bool in_chain;
  /* state of the attempts to lock the stripes of the message at the head */
  osla_stripes_patience patience;
} inbox;

typedef struct inbox_table {
  arrivals *gates; /* [ranks of this node] this rank's view of each rank's gate */
  /* [ranks of this node][words - leaves] memory for the member `seen` of each gate */
  uint64_t *seen;
  /* index, among the ranks of this node, of the rank whose gate is polled next in addition to this
   * rank's own */
  int next;
  inbox of[]; /* [n_inboxes] inboxes, each of which serves one origin at a time */
} inbox_table;

static osla_err allocate(const osla_hessian *h, inbox *in)
{
  const wire *w = h->wire;
  size_t values = 0, on_device = 0;
  in->transfer[0] = in->transfer[1] = OSLA_TRANSFER_NONE;
  in->buffer = malloc(w->inbox_bytes);
  in->lists = malloc(3 * w->message_most);
  OSLA_CHECK(in->buffer && in->lists, OSLA_ERR_MEM, "no memory for an inbox of %zu bytes",
             w->inbox_bytes + 4 * w->message_most);
  if (h->device) OSLA_CALL(osli_reserve_like(h, &in->on_device, &on_device, w->message_most));
  return osli_reserve_like(h, &in->values, &values, w->message_most);
}

osla_err osli_inboxes_create(osla_hessian *h)
{
  wire *w = h->wire;
  int members = wire_members(w, w->node);
  inbox_table *t = w->inboxes = calloc(1, sizeof *t + (size_t)w->n_inboxes * sizeof t->of[0]);
  OSLA_CHECK(t, OSLA_ERR_MEM, "no memory for %d inboxes", w->n_inboxes);
  /* number of words on the levels above the leaves */
  const size_t words = (size_t)(w->shape.words - w->shape.leaves);
  t->gates = malloc((size_t)members * sizeof *t->gates);
  t->seen = calloc((size_t)members * words + 1, sizeof *t->seen);
  OSLA_CHECK(t->gates && t->seen, OSLA_ERR_MEM, "no memory for gates of %d ranks", members);
  for (int i = 0; i < members; i++) {
    unsigned char *peer = osla_segment_peer(h->segment, w->member[w->node_start[w->node] + i]);
    t->gates[i] =
      osli_arrivals_at(&w->shape, peer + w->arrivals_start, t->seen + (size_t)i * words);
  }
  for (int i = 0; i < w->n_inboxes; i++)
    OSLA_CALL(allocate(h, &t->of[i]));
  return OSLA_OK;
}

void osli_inboxes_free(osla_hessian *h)
{
  inbox_table *t = h->wire ? h->wire->inboxes : NULL;
  if (!t) return;
  for (int i = 0; i < h->wire->n_inboxes; i++) {
    free(t->of[i].buffer);
    free(t->of[i].lists);
    osli_free_like(t->of[i].values);
    osli_device_free(t->of[i].on_device);
  }
  free(t->gates);
  free(t->seen);
  free(t);
}

size_t osli_inboxes_bytes(const wire *w)
{
  const size_t above = (size_t)(w->shape.words - w->shape.leaves);
  const size_t gate_bytes = sizeof(arrivals) + above * sizeof(uint64_t);
  return sizeof(inbox_table) + (size_t)wire_members(w, w->node) * gate_bytes +
         (size_t)w->n_inboxes * (sizeof(inbox) + w->inbox_bytes + 4 * w->message_most);
}

/* ---- adding messages ---- */

/* Adds the products of the received columns of G, a few columns at a time. */
static osla_err add_products(osla_hessian *h, inbox *in, const message_view *m, const near_part *a)
{
  update u = {.k = m->head.k, .row_panel = m->row_panel, .col_panel = m->col_panel};
  int64_t fit = (int64_t)(h->wire->message_most / h->element) / (m->p.rows > 0 ? m->p.rows : 1);
  int64_t width = fit < PRODUCT_COLUMNS ? fit : PRODUCT_COLUMNS;
  for (int64_t c = 0; c < m->p.cols; c += width) {
    piece p = osli_piece_columns(&m->p, c, m->p.cols - c < width ? m->p.cols - c : width, 0);
    p.ld = p.rows;
    p.values = in->values;
    OSLA_CALL(osli_update_fill(h, NULL, &u, 0, c, &p, in->values));
    OSLA_CALL(osli_piece_add(h, &p, &a->array));
  }
  return OSLA_OK;
}

/* Copies the values of a message, or its columns of G, to the device of H. */
static osla_err upload_message(const osla_hessian *h, const inbox *in, message_view *m)
{
  const size_t rows = (size_t)m->p.rows * m->head.k * h->element;
  if (m->head.k == 0) {
    const size_t bytes = (size_t)osli_piece_elements(&m->p) * h->element;
    OSLA_CALL(osli_queue_copy(bytes, m->p.values, in->on_device));
    m->p.values = in->on_device;
    return OSLA_OK;
  }
  OSLA_CALL(osli_queue_copy(rows + (size_t)m->p.cols * m->head.k * h->element, m->row_panel,
                            in->on_device));
  m->row_panel = in->on_device;
  m->col_panel = in->on_device + rows;
  return OSLA_OK;
}

static const message_head *head_of(const inbox *in)
{
  return (const message_head *)(const void *)(in->buffer + in->head);
}

/* Adds the message at the head of the buffer. If its stripes are locked, sets *added = false and
 * changes nothing. */
static osla_err add_message(osla_hessian *h, inbox *in, bool *added)
{
  const message_head *head = head_of(in);
  const near_part a = osli_near_part(h, (int)head->owner);
  *added = false;
  if (head->flags & MESSAGE_FIRST) { /* Acquire the lock before reading the lists, because this may
                                        be tried many times. */
    if (!osla_stripes_try_again(a.lock, head->stripes, &in->patience)) return OSLA_OK;
    in->stripes = head->stripes;
    in->in_chain = true;
  }
  message_view m = osli_message_read(in->buffer + in->head, h->element, h->options.uplo, in->lists);
  if (osli_is_on_device(h, a.array.at)) OSLA_CALL(upload_message(h, in, &m));
  if (m.head.k > 0)
    OSLA_CALL(add_products(h, in, &m, &a));
  else
    OSLA_CALL(osli_piece_add(h, &m.p, &a.array));
  if (m.head.flags & MESSAGE_LAST) {
    OSLA_CALL(osli_piece_unlock(h, a.lock, in->stripes));
    in->in_chain = false;
  }
  in->head += m.head.bytes;
  osla_clock_settle();
  atomic_fetch_add(&in->from->applied, m.head.bytes);
  *added = true;
  return OSLA_OK;
}

/* Tests whether the message at the head of the buffer has arrived completely. If the message begins
 * a chain that fits into the buffer, the whole chain must have arrived. */
static bool is_whole(const osla_hessian *h, const inbox *in)
{
  size_t here = in->tail - in->head;
  if (here < sizeof(message_head)) return false;
  const message_head *head = head_of(in);
  if (head->chain > 0 && head->chain <= h->wire->inbox_bytes) return here >= head->chain;
  return here >= head->bytes;
}

/* Adds all messages in the buffer that have arrived completely. A rank that factors a panel on a
 * device adds them in the main lane, too, because messages before them may be queued there. */
static osla_err add_messages(osla_hessian *h, inbox *in)
{
  if (!is_whole(h, in)) return OSLA_OK;
  const device_lane lane = osli_device_lane(LANE_MAIN);
  double start = osla_clock();
  bool added = true, any = false;
  osla_err err = OSLA_OK;
  while (err == OSLA_OK && added && is_whole(h, in)) {
    err = add_message(h, in, &added);
    any |= added;
  }
  (void)osli_device_lane(lane);
  if (err != OSLA_OK || !any) return err;
  double seconds = osla_clock() - start;
  (void)pthread_mutex_lock(&h->mutex);
  h->stats.seconds_apply += seconds;
  (void)pthread_mutex_unlock(&h->mutex);
  if (in->gate_rank != osla_transport_rank(h->v.t)) osli_wire_wake(h, in->gate_rank);
  return OSLA_OK;
}

/* ---- fetching messages ---- */

static osla_err complete_fetch(osla_hessian *h, inbox *in)
{
  if (in->arriving == 0) return OSLA_OK;
  for (int i = 0; i < 2; i++) {
    bool done;
    OSLA_CALL(osla_transfer_test(h->segment, &in->transfer[i], &done));
    if (!done) return OSLA_OK;
  }
  atomic_fetch_add_explicit(&in->from->fetched, in->arriving, memory_order_relaxed);
  in->tail += in->arriving;
  in->arriving = 0;
  return OSLA_OK;
}

static uint64_t fetched(const inbox *in)
{
  return atomic_load_explicit(&in->from->fetched, memory_order_relaxed);
}

/* Returns the latest leaf word that the origin has written. */
static uint64_t announced(const inbox *in)
{
  return atomic_load_explicit(&in->gate->word[in->leaf], memory_order_acquire);
}

/* Reports to the origin how many bytes of its ring it may overwrite. Each report costs the origin a
 * progress step, so a report is sent only when another quarter of the ring (1 / RING_PARTS) is
 * free. Such reports are frequent enough that the origin never waits forever. If rings are scarce,
 * a report is also sent when the ring is empty. *done: no report is pending. */
static osla_err post_credit(osla_hessian *h, inbox *in, bool *done)
{
  const wire *w = h->wire;
  uint64_t count = fetched(in), more = count - in->from->credited;
  bool empty = w->scarce && count == arrival_bytes(announced(in));
  *done = more < w->ring_bytes / RING_PARTS && (more == 0 || !empty);
  if (*done) return OSLA_OK;
  OSLA_CALL(osla_posted_test(h->segment, &in->credit, done));
  if (!*done) return OSLA_OK;
  in->from->credited = count;
  return osla_word_post(h->segment, in->origin, osli_wire_fetched_offset(w, w->node, w->position),
                        count, &in->credit);
}

/* Starts to fetch the bytes that wait in the origin's ring. If they wrap around the end of the
 * ring, two transfers are started. */
static osla_err start_fetch(osla_hessian *h, inbox *in)
{
  const wire *w = h->wire;
  uint64_t word = announced(in), waiting = arrival_bytes(word) - fetched(in);
  if (in->arriving > 0 || waiting == 0) return OSLA_OK;
  if (in->head == in->tail) in->head = in->tail = 0;
  if (in->head > 0 && !is_whole(h, in) && h->wire->inbox_bytes - in->tail < waiting) {
    /* moves an incomplete message or chain to the start of the buffer */
    memmove(in->buffer, in->buffer + in->head, in->tail - in->head);
    in->tail -= in->head;
    in->head = 0;
  }
  size_t room = h->wire->inbox_bytes - in->tail, count = (size_t)waiting;
  if (count > room) count = room;
  if (count > h->wire->inbox_bytes / 2) count = h->wire->inbox_bytes / 2;
  if (count == 0) return OSLA_OK;
  size_t ring = w->rings_start + (size_t)arrival_ring(word) * w->ring_bytes;
  size_t at = (size_t)(fetched(in) % w->ring_bytes);
  size_t first = count < w->ring_bytes - at ? count : w->ring_bytes - at;
  in->arriving = count;
  OSLA_CALL(osla_segment_fetch(h->segment, in->origin, ring + at, in->buffer + in->tail, first,
                               &in->transfer[0]));
  OSLA_CALL(osla_segment_fetch(h->segment, in->origin, ring, in->buffer + in->tail + first,
                               count - first, &in->transfer[1]));
  (void)pthread_mutex_lock(&h->mutex);
  h->stats.transfers++;
  h->stats.bytes_received += (int64_t)count;
  (void)pthread_mutex_unlock(&h->mutex);
  return OSLA_OK;
}

static osla_err serve_inbox(osla_hessian *h, inbox *in)
{
  bool credited;
  OSLA_CALL(complete_fetch(h, in));
  /* the bytes that this call fetches are in flight while the next call adds messages */
  OSLA_CALL(start_fetch(h, in));
  OSLA_CALL(add_messages(h, in));
  /* fetches a second time, because adding messages may have freed part of the buffer */
  OSLA_CALL(start_fetch(h, in));
  OSLA_CALL(post_credit(h, in, &credited));
  if (in->arriving > 0 || in->tail > in->head || in->in_chain) return OSLA_OK;
  if (credited && osli_arrivals_release(in->gate, in->leaf)) in->gate = NULL;
  return OSLA_OK;
}

/* Assigns to the inbox the next origin (sending rank) that waits at the gate of rank `position` of
 * this node. Returns false if no origin waits. */
static bool dequeue_origin(osla_hessian *h, inbox *in, int position)
{
  const wire *w = h->wire;
  const arrivals *gate = &w->inboxes->gates[position];
  int leaf = osli_arrivals_dequeue(gate), members = wire_members(w, w->node);
  if (leaf < 0) return false;
  in->gate = gate;
  in->leaf = leaf;
  in->gate_rank = w->member[w->node_start[w->node] + position];
  in->origin = leaf * members + position;
  in->from = &gate->intakes[leaf];
  return true;
}

osla_err osli_inboxes_serve(osla_hessian *h)
{
  const wire *w = h->wire;
  inbox_table *t = w->inboxes;
  int members = wire_members(w, w->node), other = t->next;
  t->next = other + 1 < members ? other + 1 : 0;
  osli_arrivals_collect(&t->gates[w->position]);
  if (other != w->position) osli_arrivals_collect(&t->gates[other]);
  for (int i = 0; i < w->n_inboxes; i++) {
    inbox *in = &t->of[i];
    if (in->gate || dequeue_origin(h, in, w->position) || dequeue_origin(h, in, other))
      OSLA_CALL(serve_inbox(h, in));
  }
  return OSLA_OK;
}

osla_err osli_inboxes_stop(osla_hessian *h)
{
  for (int i = 0; i < h->wire->n_inboxes; i++) {
    inbox *in = &h->wire->inboxes->of[i];
    for (int part = 0; part < 2; part++)
      OSLA_CALL(osla_transfer_wait(h->segment, &in->transfer[part]));
    OSLA_CALL(osla_posted_wait(h->segment, &in->credit));
  }
  return OSLA_OK;
}

/* ---- waiting until everything is added ---- */

typedef struct awaited {
  osla_hessian *h;
  const uint64_t *expected;
  int leaf; /* all expected bytes of the leaves with a smaller index have been added */
} awaited;

/* Tests whether the ranks of this node have added all expected bytes. */
static bool all_applied(void *arg)
{
  awaited *a = arg;
  const wire *w = a->h->wire;
  const intake *from = w->inboxes->gates[w->position].intakes;
  int members = wire_members(w, w->node), ranks = osla_transport_size(a->h->v.t);
  for (; a->leaf * members + w->position < ranks; a->leaf++)
    if (atomic_load(&from[a->leaf].applied) < a->expected[a->leaf * members + w->position])
      return false;
  return true;
}

void osli_inboxes_wait_applied(osla_hessian *h, const uint64_t *expected)
{
  awaited a = {h, expected, 0};
  if (h->wire->n_nodes > 1) osla_segment_wait(h->segment, all_applied, &a);
}
