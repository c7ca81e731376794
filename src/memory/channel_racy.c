/* RACY on a node: one message in the memory of who receives, whose 8-byte elements are written and
 * read one by one, relaxed: each is of some send, and nobody waits. The order of the two loops says
 * nothing about their elements; the stamp is written behind them and read before them, so that no
 * element is older than it. */
#include "src/memory/channel.h"

#include <stdlib.h>

typedef struct words {
  _Atomic uint64_t sends, stamp;
  _Atomic uint32_t closed;
} words;

typedef struct state {
  words *mine, *theirs;
  _Atomic uint64_t *my_elements, *their_elements;
  uint64_t *out, *in; /* what I write, and a copy of what I received */
  uint64_t received;  /* sends that I have seen */
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
  *s = (state){.mine = (words *)(void *)c->here,
               .theirs = (words *)(void *)c->there,
               .my_elements = (_Atomic uint64_t *)(void *)(c->here + CHANNEL_LINE),
               .their_elements = (_Atomic uint64_t *)(void *)(c->there + CHANNEL_LINE)};
  s->out = calloc(1, (size_t)c->end.send_bytes + 1);
  s->in = calloc(1, (size_t)c->end.recv_bytes + 1);
  OSLA_CHECK(s->out && s->in, OSLA_ERR_MEM, "channel to rank %d: %lld bytes", c->end.peer,
             (long long)(c->end.send_bytes + c->end.recv_bytes));
  return OSLA_OK;
}

static void stop(channel *c)
{
  state *s = c->state;
  if (!s) return;
  free(s->out);
  free(s->in);
}

static void *buffer(channel *c)
{
  const state *s = c->state;
  return s->out;
}

static osla_err send(channel *c, uint64_t stamp)
{
  const state *s = c->state;
  const int64_t n = c->end.send_bytes / (int64_t)sizeof(uint64_t);
  for (int64_t i = 0; i < n; i++)
    atomic_store_explicit(&s->their_elements[i], s->out[i], memory_order_relaxed);
  atomic_store_explicit(&s->theirs->stamp, stamp, memory_order_release);
  atomic_fetch_add_explicit(&s->theirs->sends, 1, memory_order_release);
  osla_segment_wake(c->segment, c->end.peer);
  return OSLA_OK;
}

static bool can_recv(channel *c)
{
  const state *s = c->state;
  return atomic_load_explicit(&s->mine->sends, memory_order_relaxed) != s->received;
}

static osla_err recv(channel *c, const void **message, uint64_t *stamp)
{
  state *s = c->state;
  const int64_t n = c->end.recv_bytes / (int64_t)sizeof(uint64_t);
  s->received = atomic_load_explicit(&s->mine->sends, memory_order_acquire);
  *message = s->received > 0 ? s->in : NULL;
  if (s->received == 0) return OSLA_OK;
  const uint64_t of = atomic_load_explicit(&s->mine->stamp, memory_order_acquire);
  for (int64_t i = 0; i < n; i++)
    s->in[i] = atomic_load_explicit(&s->my_elements[i], memory_order_relaxed);
  if (stamp) *stamp = of;
  return OSLA_OK;
}

static osla_err close_it(channel *c)
{
  const state *s = c->state;
  return channel_close_on_node(c, &s->theirs->closed);
}

static bool closed(channel *c)
{
  const state *s = c->state;
  return atomic_load_explicit(&s->mine->closed, memory_order_acquire) && !can_recv(c);
}

const channel_ops osli_channel_racy = {.inbox_bytes = inbox_bytes,
                                       .start = start,
                                       .stop = stop,
                                       .buffer = buffer,
                                       .send = send,
                                       .can_recv = can_recv,
                                       .recv = recv,
                                       .close = close_it,
                                       .closed = closed};
