/* RACY on a node: one message in the memory of the receiver. Its 8-byte elements are written and
 * read one by one as relaxed atomics, so each element comes from some send, and no rank waits. The
 * stamp is written after the elements and read before them, so no element is older than the stamp.
 */
#include "src/memory/channel.h"

#include <stdlib.h>

typedef struct words {
  _Atomic uint64_t sends, stamp;
  _Atomic uint32_t closed;
} words;

typedef struct state {
  words *inbox_words, *peer_words;
  _Atomic uint64_t *inbox_elements, *peer_elements;
  uint64_t *send_buffer,
    *recv_buffer;      /* the message being written, and a copy of the received message */
  uint64_t n_received; /* the sender's count of sends at the latest receive */
} state;

static size_t inbox_bytes(int in_flight, size_t bytes)
{
  (void)in_flight;
  return CHANNEL_LINE + channel_round(bytes, CHANNEL_LINE);
}

static osla_err start(channel *c)
{
  OSLA_CALL(channel_state_allocate(c, sizeof(state)));
  state *s = c->state;
  *s = (state){.inbox_words = (words *)(void *)c->inbox_memory,
               .peer_words = (words *)(void *)c->peer_inbox_memory,
               .inbox_elements = (_Atomic uint64_t *)(void *)(c->inbox_memory + CHANNEL_LINE),
               .peer_elements = (_Atomic uint64_t *)(void *)(c->peer_inbox_memory + CHANNEL_LINE)};
  s->send_buffer = calloc(1, (size_t)c->end.send_bytes + 1);
  s->recv_buffer = calloc(1, (size_t)c->end.recv_bytes + 1);
  OSLA_CHECK(s->send_buffer && s->recv_buffer, OSLA_ERR_MEM, "channel to rank %d: %lld bytes",
             c->end.peer, (long long)(c->end.send_bytes + c->end.recv_bytes));
  return OSLA_OK;
}

static void stop(channel *c)
{
  state *s = c->state;
  if (!s) return;
  free(s->send_buffer);
  free(s->recv_buffer);
}

static void *buffer(channel *c)
{
  const state *s = c->state;
  return s->send_buffer;
}

static osla_err send(channel *c, uint64_t stamp)
{
  const state *s = c->state;
  const int64_t n = c->end.send_bytes / (int64_t)sizeof(uint64_t);
  for (int64_t i = 0; i < n; i++)
    atomic_store_explicit(&s->peer_elements[i], s->send_buffer[i], memory_order_relaxed);
  atomic_store_explicit(&s->peer_words->stamp, stamp, memory_order_release);
  atomic_fetch_add_explicit(&s->peer_words->sends, 1, memory_order_release);
  osla_segment_wake(c->segment, c->end.peer);
  return OSLA_OK;
}

static bool can_recv(channel *c)
{
  const state *s = c->state;
  return atomic_load_explicit(&s->inbox_words->sends, memory_order_relaxed) != s->n_received;
}

static osla_err recv(channel *c, const void **message, uint64_t *stamp)
{
  state *s = c->state;
  const int64_t n = c->end.recv_bytes / (int64_t)sizeof(uint64_t);
  s->n_received = atomic_load_explicit(&s->inbox_words->sends, memory_order_acquire);
  if (s->n_received == 0) return OSLA_OK;
  const uint64_t message_stamp = atomic_load_explicit(&s->inbox_words->stamp, memory_order_acquire);
  for (int64_t i = 0; i < n; i++)
    s->recv_buffer[i] = atomic_load_explicit(&s->inbox_elements[i], memory_order_relaxed);
  *message = s->recv_buffer;
  if (stamp) *stamp = message_stamp;
  return OSLA_OK;
}

const channel_ops osli_channel_racy = {.inbox_bytes = inbox_bytes,
                                       .start = start,
                                       .stop = stop,
                                       .buffer = buffer,
                                       .send = send,
                                       .can_recv = can_recv,
                                       .recv = recv,
                                       .closed_at = offsetof(words, closed)};
