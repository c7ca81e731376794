/* Sends puts with notify as messages, and waits for their confirmation; eager_mpi.h has the
 * contract.
 *
 * Small data travel in the message of their word. Larger data are a second message, after one that
 * announces it. The target receives it at its final address, and holds back its word, and later
 * words of its origin, until the data have arrived.
 *
 * Receives from any rank are posted in advance and processed in the order of posting, so the
 * messages of one rank are processed in the order of sending (MPI-3.1, section 3.5). A rank has
 * RECEIVE_SLOTS receives and SEND_SLOTS send buffers for any number of ranks.
 *
 * Each message confirms how many messages its sender has applied from its receiver. If no message
 * returns, a rank requests an answer. Confirmations serve three purposes:
 * - Flow control: at most MAX_UNCONFIRMED messages to a rank are unconfirmed, so messages to a
 *   computing rank do not fill its MPI's memory.
 * - RMA on bytes with unconfirmed messages waits, because it may overtake the messages.
 * - A region is freed or reused only after all messages are confirmed.
 * Answers have separate buffers and are not confirmed. They are so short that their send completes
 * without the receiver, so waiting for such a buffer cannot deadlock. */
#include "src/transport/mpi/eager_mpi.h"
#include "src/transport/mpi/eager_state.h"
#include "src/transport/request_pool.h"

#include <string.h>

/* Is a send buffer free, and are few enough messages to that rank unconfirmed? */
static bool has_send_room(osla_transport *t, const eager_peer *p)
{
  osla_eager *e = t->eager;
  return p->sent - p->confirmed < MAX_UNCONFIRMED &&
         osli_eager_request_is_free(t, &e->sends[e->next]);
}

/* Sends the next buffer, which holds `bytes` bytes of data after the head. */
static osla_err send_slot(osla_transport *t, int rank, eager_header head, size_t bytes)
{
  osla_eager *e = t->eager;
  eager_peer *p = &e->peers[rank];
  unsigned char *buffer = e->to_send + (size_t)e->next * e->stride;
  MPI_Request *request = &e->sends[e->next];
  if (++p->sent - p->confirmed >= CONFIRM_AFTER && p->sent - p->asked >= CONFIRM_AFTER)
    head.flags |= REQUESTS_ANSWER;
  if (head.flags & REQUESTS_ANSWER) p->asked = p->sent;
  head.applied = p->applied;
  memcpy(buffer, &head, sizeof head);
  e->next = (e->next + 1) % SEND_SLOTS;
  /* a rank that sees the word also sees this rank's earlier stores */
  atomic_thread_fence(memory_order_seq_cst);
  OSLA_MPI(
    MPI_Isend(buffer, (int)(sizeof head + bytes), MPI_BYTE, rank, EAGER_TAG, t->comm, request));
  return OSLA_OK;
}

static void record_unconfirmed(eager_peer *p, int region, const osla_eager_put *put)
{
  size_t end = put->offset + put->bytes;
  if (put->bytes == 0) return;
  if (p->from == p->to) {
    p->region = region;
    p->from = put->offset;
    p->to = end;
    return;
  }
  if (p->region != region) p->region = SEVERAL_REGIONS;
  if (put->offset < p->from) p->from = put->offset;
  if (end > p->to) p->to = end;
}

osla_err osli_eager_send(osla_region *region, int rank, const osla_eager_put *put, bool *sent,
                         MPI_Request *data)
{
  osla_transport *t = region->t;
  osla_eager *e = t->eager;
  eager_peer *p = &e->peers[rank];
  bool alone = put->bytes > e->most;
  *data = MPI_REQUEST_NULL;
  *sent = has_send_room(t, p);
  if (!*sent) return OSLA_OK;
  record_unconfirmed(p, region->number, put);
  if (put->bytes > 0 && !alone)
    memcpy(e->to_send + (size_t)e->next * e->stride + sizeof(eager_header), put->source,
           put->bytes);
  OSLA_CALL(send_slot(t, rank,
                      (eager_header){.region = (uint32_t)region->number,
                                     .flags = alone ? HAS_WORD | DATA_FOLLOWS : HAS_WORD,
                                     .bytes = (uint32_t)put->bytes,
                                     .offset = put->offset,
                                     .word_offset = put->word_offset,
                                     .word = put->word},
                      alone ? 0 : put->bytes));
  region->last[rank] = (eager_last){p->sent, true};
  if (alone)
    OSLA_MPI(MPI_Isend(put->source, (int)put->bytes, MPI_BYTE, rank, DATA_TAG, t->comm, data));
  return OSLA_OK;
}

osla_err osli_eager_fetch(osla_region *region, int rank, size_t offset, void *dest, size_t bytes,
                          bool *sent, MPI_Request *data)
{
  osla_transport *t = region->t;
  eager_peer *p = &t->eager->peers[rank];
  *data = MPI_REQUEST_NULL;
  *sent = has_send_room(t, p);
  if (!*sent) return OSLA_OK;
  OSLA_MPI(MPI_Irecv(dest, (int)bytes, MPI_BYTE, rank, FETCH_TAG, t->comm, data));
  return send_slot(t, rank,
                   (eager_header){.region = (uint32_t)region->number,
                                  .flags = REQUESTS_DATA,
                                  .bytes = (uint32_t)bytes,
                                  .offset = offset},
                   0);
}

typedef struct pending_send {
  osla_region *region;
  int rank;
  const osla_eager_put *put;
  osla_err err;
} pending_send;

static bool try_to_send(void *arg)
{
  pending_send *s = arg;
  MPI_Request none;
  bool sent;
  (void)pthread_mutex_lock(&s->region->t->mutex);
  s->err = osli_eager_send(s->region, s->rank, s->put, &sent, &none);
  (void)pthread_mutex_unlock(&s->region->t->mutex);
  return sent || s->err != OSLA_OK;
}

osla_err osli_eager_send_wait(osla_region *region, int rank, const osla_eager_put *put)
{
  pending_send s = {region, rank, put, OSLA_OK};
  osli_wait_until(region->t, try_to_send, &s, NULL);
  return s.err;
}

/* ---- confirmations ---- */

/* Requests an answer from `rank` after it has applied all messages sent so far, unless one is
 * already requested or no buffer is free. */
static void request_answer(osla_transport *t, int rank)
{
  osla_eager *e = t->eager;
  eager_peer *p = &e->peers[rank];
  if (p->asked == p->sent || !osli_eager_request_is_free(t, &e->sends[e->next])) return;
  osla_err err = send_slot(t, rank, (eager_header){.flags = REQUESTS_ANSWER}, 0);
  if (err != OSLA_OK) osla_transport_abort(t, err);
}

bool osli_eager_bytes_confirmed(osla_region *region, int rank, size_t offset, size_t bytes)
{
  osla_transport *t = region->t;
  if (!osli_eager_is_used(region)) return true;
  const eager_peer *p = &t->eager->peers[rank];
  bool concerns = p->region == SEVERAL_REGIONS || p->region == region->number;
  if (p->to == p->from || !concerns || offset >= p->to || p->from >= offset + bytes) return true;
  request_answer(t, rank);
  return false;
}

typedef struct byte_range {
  osla_region *region;
  int rank;
  size_t offset, bytes;
} byte_range;

static bool bytes_are_confirmed(void *arg)
{
  const byte_range *p = arg;
  (void)pthread_mutex_lock(&p->region->t->mutex);
  bool settled = osli_eager_bytes_confirmed(p->region, p->rank, p->offset, p->bytes);
  (void)pthread_mutex_unlock(&p->region->t->mutex);
  return settled;
}

void osli_eager_wait_bytes(osla_region *region, int rank, size_t offset, size_t bytes)
{
  byte_range p = {region, rank, offset, bytes};
  if (osli_eager_is_used(region)) osli_wait_until(region->t, bytes_are_confirmed, &p, NULL);
}

typedef struct confirmation {
  osla_transport *t;
  int rank;
  uint32_t sent;
} confirmation;

static bool is_confirmed(void *arg)
{
  const confirmation *g = arg;
  const eager_peer *p = &g->t->eager->peers[g->rank];
  (void)pthread_mutex_lock(&g->t->mutex);
  bool reached = (int32_t)(p->confirmed - g->sent) >= 0 || !eager_is_unconfirmed(p);
  if (!reached) request_answer(g->t, g->rank);
  (void)pthread_mutex_unlock(&g->t->mutex);
  return reached;
}

void osli_eager_wait_rank(osla_region *region, int rank)
{
  osla_transport *t = region->t;
  if (!osli_eager_is_used(region)) return;
  eager_last *last = &region->last[rank];
  (void)pthread_mutex_lock(&t->mutex);
  confirmation g = {t, rank, last->sent};
  bool waits = last->waits;
  (void)pthread_mutex_unlock(&t->mutex);
  if (!waits) return;
  osli_wait_until(t, is_confirmed, &g, NULL);
  (void)pthread_mutex_lock(&t->mutex);
  if (last->sent == g.sent) last->waits = false;
  (void)pthread_mutex_unlock(&t->mutex);
}

void osli_eager_wait_all(osla_transport *t)
{
  if (!t->eager) return;
  const eager_peer *peers = t->eager->peers;
  (void)pthread_mutex_lock(&t->mutex);
  for (int rank = 0; rank < t->size; rank++)
    if (eager_is_unconfirmed(&peers[rank])) request_answer(t, rank);
  (void)pthread_mutex_unlock(&t->mutex);
  for (int rank = 0; rank < t->size; rank++) {
    (void)pthread_mutex_lock(&t->mutex);
    confirmation g = {t, rank, peers[rank].sent};
    bool waits = eager_is_unconfirmed(&peers[rank]);
    (void)pthread_mutex_unlock(&t->mutex);
    if (waits) osli_wait_until(t, is_confirmed, &g, NULL);
  }
}
