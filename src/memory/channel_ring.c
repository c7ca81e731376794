/* EVERY on a node: a ring of slots in the memory of the receiver (ring.h). The sender writes the
 * next slot, and the receiver reads it there, without copies. A receiver that destroys the channel
 * sets `gone`; later messages go to slots that are not read. */
#include "src/memory/channel.h"
#include "src/memory/ring.h"

typedef struct state {
  ring *inbox,   /* ring of the messages to this rank */
    *peer_inbox; /* ring of the messages to the peer */
  size_t inbox_stride, peer_stride;
  uint64_t n_sent,        /* number of messages that this rank has sent to the peer */
    n_received;           /* number of messages that this rank has received from the peer */
  int write_slot,         /* index of the slot of the next message to the peer */
    read_slot;            /* index of the slot of the next message from the peer */
  bool is_gone_announced; /* true once this rank has set `gone` in its inbox */
} state;

static size_t slot_stride(size_t bytes)
{
  return channel_round(sizeof(ring_slot) + bytes, CHANNEL_LINE);
}

static size_t inbox_bytes(int in_flight, size_t bytes)
{
  return sizeof(ring) + ((size_t)in_flight + 1) * slot_stride(bytes);
}

static osla_err start(channel *c)
{
  OSLA_CALL(channel_state_allocate(c, sizeof(state)));
  *(state *)c->state = (state){.inbox = (ring *)(void *)c->inbox_memory,
                               .peer_inbox = (ring *)(void *)c->peer_inbox_memory,
                               .inbox_stride = slot_stride((size_t)c->end.recv_bytes),
                               .peer_stride = slot_stride((size_t)c->end.send_bytes)};
  return OSLA_OK;
}

static ring_slot *slot(ring *inbox, int place, size_t stride)
{
  return (ring_slot *)(void *)((unsigned char *)(inbox + 1) + (size_t)place * stride);
}

static bool can_send(channel *c)
{
  const state *s = c->state;
  return ring_has_room(s->peer_inbox, s->n_sent, c->end.in_flight) ||
         atomic_load_explicit(&s->peer_inbox->gone, memory_order_acquire);
}

static bool can_send_now(void *arg)
{
  return can_send(arg);
}

static ring_slot *slot_to_write(channel *c)
{
  const state *s = c->state;
  osla_segment_wait(c->segment, can_send_now, c);
  return slot(s->peer_inbox, s->write_slot, s->peer_stride);
}

static void *buffer(channel *c)
{
  return slot_to_write(c) + 1;
}

static osla_err send(channel *c, uint64_t stamp)
{
  state *s = c->state;
  ring_slot *to = slot_to_write(c);
  to->stamp = stamp;
  ring_publish(to, ++s->n_sent);
  s->write_slot = ring_next(s->write_slot, c->end.in_flight);
  osla_segment_wake(c->segment, c->end.peer);
  return OSLA_OK;
}

static bool can_recv(channel *c)
{
  const state *s = c->state;
  return ring_holds(slot(s->inbox, s->read_slot, s->inbox_stride), s->n_received + 1);
}

static osla_err recv(channel *c, const void **message, uint64_t *stamp)
{
  state *s = c->state;
  const ring_slot *from = slot(s->inbox, s->read_slot, s->inbox_stride);
  ring_acknowledge(s->inbox, ++s->n_received);
  s->read_slot = ring_next(s->read_slot, c->end.in_flight);
  osla_segment_wake(c->segment, c->end.peer); /* the peer may be waiting for room */
  *message = from + 1;
  if (stamp) *stamp = from->stamp;
  return OSLA_OK;
}

/* The function `delivered`. It returns true at once, because a message is in the receiver's memory
 * when its send returns. The first call sets `gone` and wakes the peer, which may be waiting for
 * room. */
static bool delivered(channel *c)
{
  state *s = c->state;
  if (s->is_gone_announced) return true;
  s->is_gone_announced = true;
  atomic_store_explicit(&s->inbox->gone, 1, memory_order_release);
  osla_segment_wake(c->segment, c->end.peer);
  return true;
}

const channel_ops osli_channel_ring = {.inbox_bytes = inbox_bytes,
                                       .start = start,
                                       .buffer = buffer,
                                       .can_send = can_send,
                                       .send = send,
                                       .can_recv = can_recv,
                                       .recv = recv,
                                       .closed_at = offsetof(ring, closed),
                                       .delivered = delivered};
