/* Messages from other nodes, the owner's side: gets what waits in the origins' rings and adds it.
 *
 * An inbox serves one origin at a time, until all that it took is added. It gets as much as there
 * is and fits, up to half of its room, so that one half can be under way while the other is added.
 * All this runs in progress steps and never waits: neither for a transfer nor for a lock. Stripes
 * that somebody holds are tried again in the next step. A chain keeps its stripes, and its inbox,
 * from its first to its last message; the rest of a chain can always follow, because a ring keeps
 * its order and an inbox takes from it whatever it has added. So no circle of waiters can form.
 */
#include "hessian.h"
#include "hessian_message.h"
#include "osla_clock.h"
#include "osla_trace.h"

#include <stdlib.h>
#include <string.h>

/* Columns whose products are computed at a time, see GEMM_COLUMNS. */
enum { PRODUCT_COLUMNS = 128 };

osla_err osla_inboxes_create(osla_hessian *h)
{
  int ranks = osla_transport_size(h->v.t);
  h->intakes = calloc((size_t)ranks, sizeof *h->intakes);
  OSLA_CHECK(h->intakes, OSLA_ERR_MEM, "intakes from %d ranks", ranks);
  for (int i = 0; i < h->n_inboxes; i++) {
    inbox *in = &h->inboxes[i];
    in->origin = -1;
    in->transfer[0] = in->transfer[1] = OSLA_TRANSFER_NONE;
    in->buffer = malloc(h->inbox_bytes);
    in->lists = malloc(3 * h->message_most);
    in->values = malloc(h->message_most);
    OSLA_CHECK(in->buffer && in->lists && in->values, OSLA_ERR_MEM, "inbox of %zu bytes",
               h->inbox_bytes + 4 * h->message_most);
  }
  return OSLA_OK;
}

void osla_inboxes_free(osla_hessian *h)
{
  for (int i = 0; i < INBOXES; i++) {
    free(h->inboxes[i].buffer);
    free(h->inboxes[i].lists);
    free(h->inboxes[i].values);
  }
  free(h->intakes);
}

/* ---- adding ---- */

/* Products of the columns of G that came, some columns at a time. */
static osla_err add_products(osla_hessian *h, inbox *in, const message_view *m)
{
  update u = {.k = m->head.k, .row_panel = m->row_panel, .col_panel = m->col_panel};
  int64_t fit = (int64_t)(h->message_most / h->element) / (m->p.rows > 0 ? m->p.rows : 1);
  int64_t width = fit < PRODUCT_COLUMNS ? fit : PRODUCT_COLUMNS;
  for (int64_t c = 0; c < m->p.cols; c += width) {
    piece p = osla_piece_columns(&m->p, c, m->p.cols - c < width ? m->p.cols - c : width, 0);
    p.ld = p.rows;
    p.values = in->values;
    OSLA_CALL(osla_update_fill(h, NULL, &u, 0, c, &p, in->values));
    osla_piece_add(h, &p, h->v.local, h->v.lld);
  }
  return OSLA_OK;
}

/* Adds the message at the head. False: its stripes are held by somebody, nothing is changed. */
static osla_err add_message(osla_hessian *h, inbox *in, bool *added)
{
  osla_stripes *lock = osla_hessian_lock(h, osla_transport_rank(h->v.t));
  message_view m = osla_message_read(in->buffer + in->head, h->element, h->options.uplo, in->lists);
  *added = false;
  if (m.head.flags & MESSAGE_FIRST) {
    if (!osla_stripes_try_again(lock, m.head.stripes, &in->patience)) return OSLA_OK;
    in->stripes = m.head.stripes;
    in->in_chain = true;
  }
  if (m.head.k > 0)
    OSLA_CALL(add_products(h, in, &m));
  else
    osla_piece_add(h, &m.p, h->v.local, h->v.lld);
  if (m.head.flags & MESSAGE_LAST) {
    osla_stripes_release(h->v.t, lock, in->stripes);
    in->in_chain = false;
  }
  in->head += m.head.bytes;
  atomic_fetch_add(&h->intakes[in->origin].applied, m.head.bytes);
  *added = true;
  return OSLA_OK;
}

/* The message at the head is here as a whole, and if it begins a chain that can be, so is that. */
static bool is_whole(const osla_hessian *h, const inbox *in)
{
  size_t here = in->tail - in->head;
  if (here < sizeof(message_head)) return false;
  const message_head *head = (const message_head *)(const void *)(in->buffer + in->head);
  if (head->chain > 0 && head->chain <= h->inbox_bytes) return here >= head->chain;
  return here >= head->bytes;
}

/* Adds the messages that are here as a whole. */
static osla_err add_messages(osla_hessian *h, inbox *in)
{
  if (!is_whole(h, in)) return OSLA_OK;
  double start = osla_clock();
  bool added = true;
  while (added && is_whole(h, in))
    OSLA_CALL(add_message(h, in, &added));
  double seconds = osla_clock() - start;
  (void)pthread_mutex_lock(&h->mutex);
  h->stats.seconds_apply += seconds;
  (void)pthread_mutex_unlock(&h->mutex);
  return OSLA_OK;
}

/* ---- getting ---- */

static osla_err check_arrival(osla_hessian *h, inbox *in)
{
  if (in->arriving == 0) return OSLA_OK;
  for (int i = 0; i < 2; i++) {
    bool done;
    OSLA_CALL(osla_transfer_test(h->segment, &in->transfer[i], &done));
    if (!done) return OSLA_OK;
  }
  intake *from = &h->intakes[in->origin];
  from->taken += in->arriving;
  in->tail += in->arriving;
  in->arriving = 0;
  return OSLA_OK;
}

/* The origin learns what it may overwrite. Each word costs a step of its progress: so not for every
 * message, but often enough that it never waits for good, see RING_PARTS. */
static osla_err give_credit(osla_hessian *h, int origin)
{
  intake *from = &h->intakes[origin];
  bool done;
  if (from->taken - from->credited < h->ring_bytes / 4) return OSLA_OK;
  OSLA_CALL(osla_posted_test(h->segment, &from->credit, &done));
  if (!done) return OSLA_OK;
  from->credited = from->taken;
  return osla_put_notify_post(h->segment, origin, 0, NULL, 0, NOTIFY_TAKEN, from->taken,
                              &from->credit);
}

/* Starts to get what waits at the origin; a ring's end makes it two transfers. */
static osla_err get_more(osla_hessian *h, inbox *in)
{
  intake *from = &h->intakes[in->origin];
  uint64_t waiting = osla_notify_read(h->segment, in->origin, NOTIFY_READY) - from->taken;
  if (in->arriving > 0 || waiting == 0) return OSLA_OK;
  if (in->head == in->tail) in->head = in->tail = 0;
  if (in->head > 0 && !is_whole(h, in) && h->inbox_bytes - in->tail < waiting) {
    memmove(in->buffer, in->buffer + in->head,
            in->tail - in->head); /* a part of a message or chain */
    in->tail -= in->head;
    in->head = 0;
  }
  size_t room = h->inbox_bytes - in->tail, count = (size_t)waiting;
  if (count > room) count = room;
  if (count > h->inbox_bytes / 2) count = h->inbox_bytes / 2;
  if (count == 0) return OSLA_OK;
  size_t ring = osla_wire_ring_offset(h, in->origin, osla_transport_rank(h->v.t));
  size_t at = (size_t)(from->taken % h->ring_bytes);
  size_t first = count < h->ring_bytes - at ? count : h->ring_bytes - at;
  in->arriving = count;
  OSLA_CALL(osla_segment_get(h->segment, in->origin, ring + at, in->buffer + in->tail, first,
                             &in->transfer[0]));
  OSLA_CALL(osla_segment_get(h->segment, in->origin, ring, in->buffer + in->tail + first,
                             count - first, &in->transfer[1]));
  (void)pthread_mutex_lock(&h->mutex);
  h->stats.transfers++;
  h->stats.bytes_received += (int64_t)count;
  (void)pthread_mutex_unlock(&h->mutex);
  return OSLA_OK;
}

static osla_err serve_inbox(osla_hessian *h, inbox *in)
{
  OSLA_CALL(check_arrival(h, in));
  OSLA_CALL(get_more(h, in)); /* flies while the rest is added */
  OSLA_CALL(add_messages(h, in));
  OSLA_CALL(get_more(h, in)); /* now there may be room */
  if (in->arriving > 0 || in->tail > in->head || in->in_chain) return OSLA_OK;
  h->intakes[in->origin].assigned = false; /* others' turn */
  in->origin = -1;
  return OSLA_OK;
}

/* The next origin that waits without an inbox; -1: none. */
static int waiting_origin(osla_hessian *h)
{
  int ranks = osla_transport_size(h->v.t);
  for (int i = 0; i < ranks; i++) {
    int origin = (h->next_origin + i) % ranks;
    const intake *from = &h->intakes[origin];
    if (!h->outboxes[origin].ring || from->assigned) continue;
    if (osla_notify_read(h->segment, origin, NOTIFY_READY) == from->taken) continue;
    h->next_origin = (origin + 1) % ranks;
    return origin;
  }
  return -1;
}

static osla_err step(osla_hessian *h)
{
  for (int rank = 0; rank < osla_transport_size(h->v.t); rank++)
    if (h->outboxes[rank].ring) OSLA_CALL(osla_outbox_tell(h, rank));
  for (int i = 0; i < h->n_inboxes; i++) {
    inbox *in = &h->inboxes[i];
    if (in->origin < 0) {
      in->origin = waiting_origin(h);
      if (in->origin < 0) continue;
      h->intakes[in->origin].assigned = true;
    }
    OSLA_CALL(serve_inbox(h, in));
  }
  for (int rank = 0; rank < osla_transport_size(h->v.t); rank++)
    if (h->outboxes[rank].ring) OSLA_CALL(give_credit(h, rank));
  return OSLA_OK;
}

void osla_wire_step(void *hessian)
{
  osla_hessian *h = hessian;
  osla_err err = step(h);
  if (err != OSLA_OK) osla_transport_abort(h->v.t, err); /* the origins would wait for ever */
}

void osla_wire_stop(osla_hessian *h)
{
  osla_err err = OSLA_OK;
  for (int i = 0; i < h->n_inboxes; i++)
    for (int part = 0; part < 2 && err == OSLA_OK; part++)
      err = osla_transfer_wait(h->segment, &h->inboxes[i].transfer[part]);
  for (int rank = 0; rank < osla_transport_size(h->v.t); rank++) {
    if (err == OSLA_OK) err = osla_posted_wait(h->segment, &h->outboxes[rank].notice);
    if (err == OSLA_OK) err = osla_posted_wait(h->segment, &h->intakes[rank].credit);
  }
  if (err != OSLA_OK) osla_transport_abort(h->v.t, err);
}
