/* Decides whether puts with notify travel as messages, sends them, and waits for their
 * confirmation.
 *
 * Small data travel in one message together with the word of the notify. Larger data are a second
 * message, after one that announces it. The target receives it at its final address, and stores the
 * word of these data, and later words of the same origin, only after the data have arrived.
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
#include "src/transport/probe.h"
#include "src/transport/request_pool.h"

#include <stdlib.h>
#include <string.h>

bool osli_eager_is_used(const osla_region *region)
{
  return region->number >= 0;
}

size_t osli_eager_max_bytes(const osla_region *region)
{
  return region->t->eager->most;
}

bool osli_eager_request_is_free(osla_transport *t, MPI_Request *request)
{
  int done = 1;
  if (*request == MPI_REQUEST_NULL) return true;
  int code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS)
    osla_transport_abort(t, osla_error_set_mpi(code, "MPI_Test of a message"));
  if (done) osli_pool_count_finished(t->pool);
  return done;
}

osla_err osli_eager_post_receive(const osla_transport *t, osla_eager *e, int place)
{
  OSLA_MPI(MPI_Irecv(e->received + (size_t)place * e->stride, (int)e->stride, MPI_BYTE,
                     MPI_ANY_SOURCE, EAGER_TAG, t->comm, &e->receives[place]));
  return OSLA_OK;
}

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
  /* a rank that sees the word of the notify must also see the stores that this rank made before */
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

/* ---- confirmations of messages ---- */

/* Asks `rank` to send an answer when it has applied all messages sent so far. Does nothing if an
 * answer is already requested or no buffer is free. */
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

/* ---- start and end of puts as messages, and the ids of regions ---- */

static void free_buffers(osla_eager *e)
{
  if (!e) return;
  free(e->peers);
  free(e->regions);
  free(e->received);
  free(e->to_send);
  osli_mpi_lines_free(e);
  free(e);
}

static osla_err allocate_buffers(const osla_transport *t, osla_eager **out)
{
  enum { ALIGN = 64 };
  osla_eager *e = calloc(1, sizeof *e);
  *out = e;
  OSLA_CHECK(e, OSLA_ERR_MEM, "state of messages");
  osli_mpi_lines_init(t, e);
  e->most = (size_t)t->settings.small_bytes;
  e->stride = (sizeof(eager_header) + e->most + ALIGN - 1) / ALIGN * ALIGN;
  e->peers = calloc((size_t)t->size, sizeof *e->peers);
  e->received = malloc(RECEIVE_SLOTS * e->stride);
  e->to_send = malloc(SEND_SLOTS * e->stride);
  for (int i = 0; i < ALL_REQUESTS; i++)
    e->requests[i] = MPI_REQUEST_NULL;
  OSLA_CHECK(e->peers && e->received && e->to_send, OSLA_ERR_MEM, "buffers for %d messages",
             RECEIVE_SLOTS + SEND_SLOTS);
  return OSLA_OK;
}

static osla_err start_messages(osla_transport *t)
{
  osla_eager *e;
  osla_err err = osla_agree(t, allocate_buffers(t, &e));
  if (err != OSLA_OK) {
    free_buffers(e);
    return err;
  }
  (void)pthread_mutex_lock(&t->mutex);
  for (int i = 0; i < RECEIVE_SLOTS && err == OSLA_OK; i++)
    err = osli_eager_post_receive(t, e, i);
  t->eager = e; /* from here on, progress steps receive messages */
  (void)pthread_mutex_unlock(&t->mutex);
  return osla_agree(t, err);
}

static osla_err decide_use(osla_region *region)
{
  osla_transport *t = region->t;
  bool wanted = t->settings.messages == OSLA_MESSAGES_ON;
  if (t->settings.messages == OSLA_MESSAGES_AUTO) OSLA_CALL(osli_probe_get_waits(region, &wanted));
  if (wanted) OSLA_CALL(start_messages(t));
  t->eager_decided = true;
  return OSLA_OK;
}

/* Assigns the first free id. Ids are equal on all ranks, because all ranks create and free regions
 * in one order. */
static osla_err assign_number(osla_region *region)
{
  osla_eager *e = region->t->eager;
  int number = 0;
  region->last = calloc((size_t)region->t->size, sizeof *region->last);
  OSLA_CHECK(region->last, OSLA_ERR_MEM, "messages to %d ranks", region->t->size);
  while (number < e->n_regions && e->regions[number])
    number++;
  if (number == e->n_regions) {
    int more = 2 * number + 4;
    osla_region **regions = realloc(e->regions, (size_t)more * sizeof(osla_region *));
    OSLA_CHECK(regions, OSLA_ERR_MEM, "list of %d regions", more);
    for (int i = number; i < more; i++)
      regions[i] = NULL;
    e->regions = regions;
    e->n_regions = more;
  }
  e->regions[number] = region;
  region->number = number;
  return OSLA_OK;
}

osla_err osli_eager_add_region(osla_region *region)
{
  osla_transport *t = region->t;
  if (!t->ops->puts_as_messages || t->n_nodes == 1) return OSLA_OK;
  if (!t->eager_decided) OSLA_CALL(decide_use(region));
  if (!t->eager) return OSLA_OK;
  (void)pthread_mutex_lock(&t->mutex);
  osla_err err = assign_number(region);
  (void)pthread_mutex_unlock(&t->mutex);
  return err;
}

void osli_eager_remove_region(osla_region *region)
{
  if (region->number >= 0) region->t->eager->regions[region->number] = NULL;
  region->number = -1;
}

/* Cancels the receives and frees all state. All messages were applied before the last region was
 * freed. */
void osli_eager_stop(osla_transport *t)
{
  osla_eager *e = t->eager;
  if (!e) return;
  for (int i = 0; i < RECEIVE_SLOTS; i++)
    if (e->receives[i] != MPI_REQUEST_NULL) (void)MPI_Cancel(&e->receives[i]);
  for (int i = 0; i < ALL_REQUESTS; i++)
    (void)MPI_Wait(&e->requests[i], MPI_STATUS_IGNORE);
  free_buffers(e);
  t->eager = NULL;
}
