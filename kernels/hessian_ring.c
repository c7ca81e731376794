/* Pieces for owners on other nodes: a bounded ring in the owner's segment for each such origin.
 *
 * A slot holds one message: counts, the row list, the column list, the range of rows of each
 * column, and the values of the triangle alone, packed by columns. So the wire carries one element
 * for each element added, and lists of O(n). The origin puts the message and notifies the number of
 * messages so far; the owner adds it in a progress step and returns the number it has added as a
 * credit. A ring that is full makes the origin wait; while it waits it serves its own rings.
 */
#include "hessian.h"
#include "osla_trace.h"

#include <string.h>

typedef struct header {
  int64_t rows, cols;
} header;

/* Layout of a rank's segment: its lock, then the rings of the ranks on other nodes, by rank. */
static size_t rings_start(void)
{
  return 2 * sizeof(osla_stripes);
}

static bool same_node(const osla_hessian *h, int a, int b)
{
  return osla_transport_node_of(h->v.t, a) == osla_transport_node_of(h->v.t, b);
}

/* Which ring at `target` is mine: the number of ranks before `origin` that are not on its node. */
static size_t ring_offset(const osla_hessian *h, int target, int origin)
{
  size_t before = 0;
  for (int rank = 0; rank < origin; rank++)
    if (!same_node(h, rank, target)) before++;
  return rings_start() + before * RING_SLOTS * h->slot_bytes;
}

size_t osla_ring_segment_bytes(const osla_hessian *h)
{
  size_t remote = (size_t)(osla_transport_size(h->v.t) - osla_transport_node_size(h->v.t));
  return rings_start() + remote * RING_SLOTS * h->slot_bytes;
}

osla_stripes *osla_hessian_lock(const osla_hessian *h, int rank)
{
  return osla_segment_peer(h->segment, rank);
}

size_t osla_ring_message_bytes(const osla_hessian *h, int64_t rows, int64_t cols, int64_t values)
{
  return sizeof(header) + (size_t)(rows + 3 * cols) * sizeof(int64_t) + (size_t)values * h->element;
}

static unsigned char *append(unsigned char *at, const void *source, size_t bytes)
{
  memcpy(at, source, bytes);
  return at + bytes;
}

static osla_err pack_message(osla_hessian *h, workspace *w, const piece *p, size_t *bytes)
{
  *bytes = osla_ring_message_bytes(h, p->rows, p->cols, osla_piece_elements(p));
  OSLA_CALL(osla_reserve(&w->message, &w->message_bytes, *bytes));
  double since = osla_trace_now(h->v.t);
  header head = {p->rows, p->cols};
  unsigned char *at = append(w->message, &head, sizeof head);
  at = append(at, p->row, (size_t)p->rows * sizeof *p->row);
  at = append(at, p->col, (size_t)p->cols * sizeof *p->col);
  at = append(at, p->begin, (size_t)p->cols * sizeof *p->begin);
  at = append(at, p->end, (size_t)p->cols * sizeof *p->end);
  for (int64_t c = 0; c < p->cols; c++)
    at = append(at, p->values + (size_t)(p->begin[c] + c * p->ld) * h->element,
                (size_t)(p->end[c] - p->begin[c]) * h->element);
  osla_trace_add(h->v.t, OSLA_TRACE_PACK, since, (double)*bytes);
  return OSLA_OK;
}

osla_err osla_ring_send(osla_hessian *h, workspace *w, int target, const piece *p)
{
  size_t bytes;
  OSLA_CALL(pack_message(h, w, p, &bytes));
  (void)pthread_mutex_lock(&h->send_mutex[target]);
  uint64_t number = h->sent[target];
  if (number >= RING_SLOTS)
    osla_notify_wait(h->segment, target, NOTIFY_CREDIT, number + 1 - RING_SLOTS);
  size_t slot = ring_offset(h, target, osla_transport_rank(h->v.t)) +
                (size_t)(number % RING_SLOTS) * h->slot_bytes;
  osla_err err =
    osla_put_notify(h->segment, target, slot, w->message, bytes, NOTIFY_DATA, number + 1);
  if (err == OSLA_OK) h->sent[target]++;
  (void)pthread_mutex_unlock(&h->send_mutex[target]);
  w->stats.bytes_sent += (int64_t)bytes;
  return err;
}

static piece unpack_message(const unsigned char *slot)
{
  const header *head = (const header *)(const void *)slot;
  const int64_t *lists = (const int64_t *)(const void *)(slot + sizeof *head);
  piece p = {.rows = head->rows, .cols = head->cols};
  p.row = lists;
  p.col = p.row + p.rows;
  p.begin = p.col + p.cols;
  p.end = p.begin + p.cols;
  p.values = (const unsigned char *)(p.end + p.cols);
  return p;
}

/* Adds all that one origin has sent. */
static osla_err drain_ring(osla_hessian *h, int origin)
{
  int me = osla_transport_rank(h->v.t);
  uint64_t done = atomic_load(&h->applied[origin]);
  uint64_t sent = osla_notify_read(h->segment, origin, NOTIFY_DATA);
  if (done == sent) return OSLA_OK;
  unsigned char *ring =
    (unsigned char *)osla_segment_local(h->segment) + ring_offset(h, me, origin);
  osla_stripes *lock = osla_hessian_lock(h, me);
  for (; done < sent; done++) {
    piece p = unpack_message(ring + (size_t)(done % RING_SLOTS) * h->slot_bytes);
    uint64_t stripes = osla_piece_stripes(h, &p);
    osla_stripes_take(h->v.t, lock, stripes);
    osla_piece_add(h, &p, h->v.local, h->v.lld);
    osla_stripes_release(lock, stripes);
  }
  atomic_store(&h->applied[origin], done);
  /* A notify waits until the origin makes progress: not for each piece. The origin then believes at
   * most CREDIT_EVERY - 1 slots taken that are free, fewer than there are, so it never waits for
   * good. */
  if (done - h->credited[origin] < CREDIT_EVERY) return OSLA_OK;
  h->credited[origin] = done;
  return osla_notify(h->segment, origin, NOTIFY_CREDIT, done);
}

void osla_ring_drain(void *hessian)
{
  osla_hessian *h = hessian;
  for (int origin = 0; origin < osla_transport_size(h->v.t); origin++) {
    if (osla_transport_same_node(h->v.t, origin)) continue;
    osla_err err = drain_ring(h, origin);
    if (err != OSLA_OK) osla_transport_abort(h->v.t, err); /* the origin waits for its credit */
  }
}
