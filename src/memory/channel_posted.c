/* Channels between nodes, for all kinds.
 *
 * With R = in_flight, message s (from 1) goes to slot (s - 1) mod (R + 1) of the receiver's inbox;
 * then the word n_arrived there becomes s. The receiver reads one message, number n_received, and
 * acknowledges it to the sender; earlier messages may be overwritten. So at most R messages are
 * under way while one is being read. A message without room waits in the sender's memory; a newer
 * message of LATEST or RACY replaces it.
 *
 * If a direction has a message line (segment.h), the receiver has started receives for all
 * messages that may come, and a message moves from the sender's memory into the slot; completed
 * receives count in n_arrived. Otherwise a message is a put with a word.
 *
 * Between hosts a word takes about as long as a small message. Therefore an acknowledgement travels
 * in the head of the next message to that peer. It is sent as a word
 * - after each R / 2 messages by a rank that sends no messages,
 * - if this rank's message has no room,
 * - in a wait of any kind, when R messages have arrived, because the peer may be waiting for room.
 */
#include "src/memory/channel.h"
#include "src/memory/segment.h"

#include <stdlib.h>

typedef struct words {
  _Atomic uint64_t n_arrived;    /* number of messages that have arrived from the peer */
  _Atomic uint64_t acknowledged; /* number of the message of this rank that the peer is reading */
  /* number of the peer's last message plus 1; 0 while the peer's end is open */
  _Atomic uint64_t closed;
  _Atomic uint64_t gone; /* not 0 if the peer destroys the channel and receives no more messages */
} words;

/* A word in the peer's inbox of which only the newest value matters. */
typedef struct channel_word {
  uint64_t wanted, posted;
  size_t at; /* offset of the word in the peer's inbox */
  osla_posted last;
} channel_word;

typedef struct state {
  words *inbox_words;
  size_t inbox_stride, peer_stride;
  uint64_t n_sent, n_received;
  uint64_t n_sent_at_recv; /* value of n_sent at the latest receive */
  unsigned char
    *staging; /* R + 2 slots for messages that are under way, wait for room, or are being written */
  /* [R + 2] post of the message in each slot; if a message line is used, only the data for the
   * trace */
  osla_posted *posted;
  osla_line *recv_line,          /* message line from the peer, or NULL if there is none */
    *send_line;                  /* message line to the peer, or NULL if there is none */
  uint64_t n_receives_started;   /* number of messages with a started receive */
  _Atomic uint64_t n_sends_done; /* number of sent messages whose staging slot may be reused */
  int *under_way;  /* [R + 2] cyclic list of the slots whose messages are under way, oldest first */
  int *free_slots; /* [R + 2] stack of free slots */
  int n_slots, first, n_under_way, n_free;
  int waiting_slot, /* slot of the message that waits for room, or -1 */
    write_slot;     /* slot of the message that is being written, or -1 */
  channel_word acknowledged, closed, gone;
} state;

/* The head of a message, at the beginning of its slot. */
typedef struct head {
  uint64_t stamp;
  /* number of the latest message that the sender of this head has received from its receiver */
  uint64_t acknowledged;
} head;

enum { HEAD = sizeof(head) };

static size_t slot_stride(size_t bytes)
{
  return channel_round(HEAD + bytes, CHANNEL_LINE);
}

static size_t inbox_bytes(int in_flight, size_t bytes)
{
  return CHANNEL_LINE + ((size_t)in_flight + 1) * slot_stride(bytes);
}

/* Offset in the inbox of message number `which` (> 0), in the ring of R + 1 slots. */
static size_t slot_offset(const channel *c, uint64_t which, size_t stride)
{
  return CHANNEL_LINE + (size_t)((which - 1) % ((uint64_t)c->end.in_flight + 1)) * stride;
}

static osla_err open_lines(channel *c)
{
  state *s = c->state;
  const osla_line_end in = {.peer = c->end.peer,
                            .number = c->number,
                            .receives = true,
                            .most = c->end.in_flight,
                            .bytes = HEAD + (size_t)c->end.recv_bytes,
                            .done = &s->inbox_words->n_arrived},
                      out = {.peer = c->end.peer,
                             .number = c->peer_number,
                             .most = c->end.in_flight,
                             .bytes = HEAD + (size_t)c->end.send_bytes,
                             .done = &s->n_sends_done};
  OSLA_CALL(osli_segment_line_open(c->segment, &in, &s->recv_line));
  return osli_segment_line_open(c->segment, &out, &s->send_line);
}

/* Starts the receives of all messages that the peer may send, before the peer is told that it may
 * send them. */
static osla_err start_receives(channel *c)
{
  state *s = c->state;
  while (s->recv_line && s->n_receives_started < s->n_received + (uint64_t)c->end.in_flight) {
    s->n_receives_started++;
    OSLA_CALL(osli_segment_line_start(c->segment, s->recv_line,
                                      c->inbox_memory +
                                        slot_offset(c, s->n_receives_started, s->inbox_stride),
                                      HEAD + (size_t)c->end.recv_bytes));
  }
  return OSLA_OK;
}

static osla_err start(channel *c)
{
  OSLA_CALL(channel_state_allocate(c, sizeof(state)));
  state *s = c->state;
  const size_t n = (size_t)c->end.in_flight + 2;
  *s = (state){.inbox_words = (words *)(void *)c->inbox_memory,
               .inbox_stride = slot_stride((size_t)c->end.recv_bytes),
               .peer_stride = slot_stride((size_t)c->end.send_bytes),
               .n_slots = (int)n,
               .waiting_slot = -1,
               .write_slot = -1,
               .acknowledged = {.at = offsetof(words, acknowledged)},
               .closed = {.at = offsetof(words, closed)},
               .gone = {.at = offsetof(words, gone)}};
  s->staging = aligned_alloc(CHANNEL_LINE, n * s->peer_stride);
  s->posted = calloc(n, sizeof *s->posted);
  s->under_way = calloc(n, sizeof *s->under_way);
  s->free_slots = calloc(n, sizeof *s->free_slots);
  OSLA_CHECK(s->staging && s->posted && s->under_way && s->free_slots, OSLA_ERR_MEM,
             "channel to rank %d: %zu messages of %zu bytes", c->end.peer, n, s->peer_stride);
  for (int i = 0; i < s->n_slots; i++)
    s->free_slots[s->n_free++] = i;
  OSLA_CALL(open_lines(c));
  return start_receives(c);
}

static void stop(channel *c)
{
  state *s = c->state;
  if (!s) return;
  osli_segment_line_close(c->segment, &s->recv_line);
  osli_segment_line_close(c->segment, &s->send_line);
  free(s->staging);
  free(s->posted);
  free(s->under_way);
  free(s->free_slots);
}

/* ---- messages that are under way to the peer ---- */

static unsigned char *staging_slot(const state *s, int slot)
{
  return s->staging + (size_t)slot * s->peer_stride;
}

/* Has the oldest message that is under way been transferred, so that its staging slot may be
 * reused? */
static osla_err oldest_has_left(channel *c, bool *left)
{
  state *s = c->state;
  osla_posted *oldest = &s->posted[s->under_way[s->first]];
  if (!s->send_line) return osla_posted_test(c->segment, oldest, left);
  *left = atomic_load_explicit(&s->n_sends_done, memory_order_acquire) >
          s->n_sent - (uint64_t)s->n_under_way;
  if (*left) osli_segment_line_left(c->segment, oldest);
  return OSLA_OK;
}

static osla_err reclaim_slots(channel *c)
{
  state *s = c->state;
  while (s->n_under_way > 0) {
    bool left;
    OSLA_CALL(oldest_has_left(c, &left));
    if (!left) break;
    s->free_slots[s->n_free++] = s->under_way[s->first];
    s->first = (s->first + 1) % s->n_slots;
    s->n_under_way--;
  }
  return OSLA_OK;
}

static uint64_t n_arrived(const state *s)
{
  return atomic_load_explicit(&s->inbox_words->n_arrived, memory_order_acquire);
}

static const head *message_here(const channel *c, uint64_t which)
{
  const state *s = c->state;
  return (const head *)(const void *)(c->inbox_memory + slot_offset(c, which, s->inbox_stride));
}

/* Number of this rank's messages that the peer has acknowledged. The caller holds the mutex, so the
 * latest message of the peer is not overwritten. */
static uint64_t acknowledged_by_peer(const channel *c)
{
  const state *s = c->state;
  const uint64_t word = atomic_load_explicit(&s->inbox_words->acknowledged, memory_order_acquire);
  const uint64_t newest = n_arrived(s);
  const uint64_t in_head = newest > 0 ? message_here(c, newest)->acknowledged : 0;
  return in_head > word ? in_head : word;
}

static bool has_room(const channel *c)
{
  const state *s = c->state;
  return s->n_sent - acknowledged_by_peer(c) < (uint64_t)c->end.in_flight &&
         s->n_under_way < c->end.in_flight;
}

static osla_err post(channel *c, int slot)
{
  state *s = c->state;
  const size_t bytes = HEAD + (size_t)c->end.send_bytes;
  head *h = (head *)(void *)staging_slot(s, slot);
  h->acknowledged = s->acknowledged.wanted = s->acknowledged.posted = s->n_received;
  s->under_way[(s->first + s->n_under_way++) % s->n_slots] = slot;
  s->n_sent++;
  if (s->send_line)
    return osli_segment_line_send(c->segment, s->send_line, h, bytes, &s->posted[slot]);
  return osla_put_word_post(
    c->segment, c->end.peer, c->peer_inbox + slot_offset(c, s->n_sent, s->peer_stride), h, bytes,
    c->peer_inbox + offsetof(words, n_arrived), s->n_sent, &s->posted[slot]);
}

static bool peer_is_gone(const state *s)
{
  return atomic_load_explicit(&s->inbox_words->gone, memory_order_acquire);
}

/* Posts the word's value `wanted` to the peer, unless an earlier post of the word is still under
 * way. */
static osla_err send_word(channel *c, channel_word *word)
{
  if (word->wanted == word->posted) return OSLA_OK;
  bool done;
  OSLA_CALL(osla_posted_test(c->segment, &word->last, &done));
  if (!done) return OSLA_OK;
  word->posted = word->wanted;
  return osla_word_post(c->segment, c->end.peer, c->peer_inbox + word->at, word->wanted,
                        &word->last);
}

/* Advances the channel: reclaims slots, starts receives, and posts the waiting message and words.
 * The caller holds the mutex. */
static osla_err step(channel *c)
{
  state *s = c->state;
  OSLA_CALL(reclaim_slots(c));
  OSLA_CALL(start_receives(c));
  if (s->waiting_slot >= 0 && has_room(c)) {
    const int slot = s->waiting_slot;
    s->waiting_slot = -1;
    OSLA_CALL(post(c, slot));
  }
  /* drops the waiting message, so that `closed` can be sent */
  if (s->waiting_slot >= 0 && peer_is_gone(s)) {
    s->free_slots[s->n_free++] = s->waiting_slot;
    s->waiting_slot = -1;
  }
  if (s->waiting_slot >= 0) s->acknowledged.wanted = s->n_received;
  if (c->is_closed && s->waiting_slot < 0) s->closed.wanted = s->n_sent + 1;
  OSLA_CALL(send_word(c, &s->closed));
  return send_word(c, &s->acknowledged);
}

/* ---- operations of the table channel_ops ---- */

static osla_err progress(channel *c)
{
  state *s = c->state;
  (void)pthread_mutex_lock(c->mutex);
  if (n_arrived(s) - s->acknowledged.posted >= (uint64_t)c->end.in_flight)
    s->acknowledged.wanted = s->n_received;
  const osla_err err = step(c);
  (void)pthread_mutex_unlock(c->mutex);
  return err;
}

static bool can_send(channel *c)
{
  const state *s = c->state;
  (void)pthread_mutex_lock(c->mutex);
  const bool failed = step(c) != OSLA_OK; /* the next call of `send` reports the error */
  const bool can = failed || c->end.kind != OSLA_CHANNEL_EVERY || peer_is_gone(s) ||
                   (s->waiting_slot < 0 && has_room(c));
  (void)pthread_mutex_unlock(c->mutex);
  return can;
}

static bool can_send_now(void *arg)
{
  return can_send(arg);
}

static void *buffer(channel *c)
{
  state *s = c->state;
  if (s->write_slot >= 0) return staging_slot(s, s->write_slot) + HEAD;
  osla_segment_wait(c->segment, can_send_now, c);
  (void)pthread_mutex_lock(c->mutex);
  if (step(c) == OSLA_OK) s->write_slot = s->free_slots[--s->n_free];
  (void)pthread_mutex_unlock(c->mutex);
  return s->write_slot >= 0 ? staging_slot(s, s->write_slot) + HEAD : NULL;
}

static osla_err send(channel *c, uint64_t stamp)
{
  state *s = c->state;
  OSLA_CHECK(buffer(c), OSLA_ERR_MPI, "channel to rank %d", c->end.peer);
  ((head *)(void *)staging_slot(s, s->write_slot))->stamp = stamp;
  (void)pthread_mutex_lock(c->mutex);
  if (s->waiting_slot >= 0) /* a newer message of LATEST or RACY replaces the waiting one */
    s->free_slots[s->n_free++] = s->waiting_slot;
  s->waiting_slot = s->write_slot;
  s->write_slot = -1;
  const osla_err err = step(c);
  (void)pthread_mutex_unlock(c->mutex);
  return err;
}

static bool can_recv(channel *c)
{
  const state *s = c->state;
  return n_arrived(s) > s->n_received;
}

/* Has the peer closed the channel after sending `number` messages in total? */
static bool has_closed_after(const state *s, uint64_t number)
{
  return atomic_load_explicit(&s->inbox_words->closed, memory_order_acquire) == number + 1;
}

static bool closed(channel *c)
{
  const state *s = c->state;
  return has_closed_after(s, s->n_received);
}

/* Receives a message that has arrived. If this rank has sent a message since its last receive, it
 * will probably send another one, whose head acknowledges the receipt. Otherwise this call may
 * request that an acknowledgement is sent as a word. */
static void accept_next(const channel *c)
{
  state *s = c->state;
  const bool answers = s->n_sent > s->n_sent_at_recv;
  s->n_received = c->end.kind == OSLA_CHANNEL_EVERY ? s->n_received + 1 : n_arrived(s);
  s->n_sent_at_recv = s->n_sent;
  if (!answers && 2 * (s->n_received - s->acknowledged.posted) >= (uint64_t)c->end.in_flight)
    s->acknowledged.wanted = s->n_received;
}

static osla_err recv(channel *c, const void **message, uint64_t *stamp)
{
  state *s = c->state;
  (void)pthread_mutex_lock(c->mutex);
  if (can_recv(c)) accept_next(c);
  const osla_err err = step(c);
  (void)pthread_mutex_unlock(c->mutex);
  if (err != OSLA_OK || s->n_received == 0) return err;
  const head *at = message_here(c, s->n_received);
  *message = at + 1;
  if (stamp) *stamp = at->stamp;
  return OSLA_OK;
}

/* Sends the words gone, acknowledged and closed as far as possible. Sets *all to false if the
 * newest value of one of them has not arrived at the peer yet. */
static osla_err words_are_delivered(channel *c, bool *all)
{
  state *s = c->state;
  channel_word *const every[] = {&s->gone, &s->acknowledged, &s->closed};
  *all = true;
  OSLA_CALL(step(c));
  for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
    bool done;
    OSLA_CALL(send_word(c, every[i]));
    OSLA_CALL(osla_posted_test(c->segment, &every[i]->last, &done));
    *all = *all && done && every[i]->wanted == every[i]->posted;
  }
  return OSLA_OK;
}

static bool delivered(channel *c)
{
  state *s = c->state;
  bool all;
  (void)pthread_mutex_lock(c->mutex);
  s->gone.wanted = 1;
  const bool failed = words_are_delivered(c, &all) != OSLA_OK;
  const bool sent = s->n_under_way == 0 && s->waiting_slot < 0;
  /* a peer's message that is still under way needs the receive of its message line */
  const bool received = !s->recv_line || has_closed_after(s, n_arrived(s));
  (void)pthread_mutex_unlock(c->mutex);
  return failed || (all && sent && received);
}

const channel_ops osli_channel_posted = {.inbox_bytes = inbox_bytes,
                                         .start = start,
                                         .stop = stop,
                                         .buffer = buffer,
                                         .can_send = can_send,
                                         .send = send,
                                         .can_recv = can_recv,
                                         .recv = recv,
                                         .closed = closed,
                                         .progress = progress,
                                         .delivered = delivered};
