/* LATEST on a node: three slots in the memory of the receiver (newest.h). The writer fills its slot
 * and the reader reads its own, without copies. A short message, its stamp and the exchanged word
 * share one cache line, so a message moves one line between cores. */
#include "src/memory/channel.h"
#include "src/memory/newest.h"

typedef struct state {
  newest *inbox, /* slots of the messages to this rank */
    *peer_inbox; /* slots of the messages to the peer */
  size_t inbox_stride, peer_stride;
  uint32_t read_slot, /* index of the slot of `inbox` that this rank reads */
    write_slot;       /* index of the slot of `peer_inbox` that this rank writes */
  bool has_received;
} state;

/* A slot holds the stamp and the message. The first slot begins such that messages are aligned to
 * 16 bytes, and long messages to cache lines. */
enum { STAMP = sizeof(uint64_t) };
_Static_assert(sizeof(newest) == STAMP, "a short first message is aligned, too");

static size_t slot_stride(size_t bytes)
{
  const size_t slot = channel_round(STAMP + bytes, 16);
  return STAMP + NEWEST_SLOTS * slot <= CHANNEL_LINE ? slot : channel_round(slot, CHANNEL_LINE);
}

static size_t first_slot(size_t stride)
{
  return stride < CHANNEL_LINE ? sizeof(newest) : CHANNEL_LINE - STAMP;
}

static size_t inbox_bytes(int in_flight, size_t bytes)
{
  (void)in_flight;
  const size_t stride = slot_stride(bytes);
  return channel_round(first_slot(stride) + NEWEST_SLOTS * stride, CHANNEL_LINE);
}

static osla_err start(channel *c)
{
  OSLA_CALL(channel_state_allocate(c, sizeof(state)));
  *(state *)c->state = (state){.inbox = (newest *)(void *)c->inbox_memory,
                               .peer_inbox = (newest *)(void *)c->peer_inbox_memory,
                               .inbox_stride = slot_stride((size_t)c->end.recv_bytes),
                               .peer_stride = slot_stride((size_t)c->end.send_bytes),
                               .read_slot = NEWEST_READER_FIRST,
                               .write_slot = NEWEST_WRITER_FIRST};
  return OSLA_OK;
}

static unsigned char *slot(newest *inbox, uint32_t which, size_t stride)
{
  return (unsigned char *)inbox + first_slot(stride) + which * stride;
}

static void *buffer(channel *c)
{
  const state *s = c->state;
  return slot(s->peer_inbox, s->write_slot, s->peer_stride) + STAMP;
}

static osla_err send(channel *c, uint64_t stamp)
{
  state *s = c->state;
  *(uint64_t *)(void *)slot(s->peer_inbox, s->write_slot, s->peer_stride) = stamp;
  s->write_slot = newest_publish(s->peer_inbox, s->write_slot);
  osla_segment_wake(c->segment, c->end.peer);
  return OSLA_OK;
}

static bool can_recv(channel *c)
{
  const state *s = c->state;
  return newest_is_fresh(s->inbox);
}

static osla_err recv(channel *c, const void **message, uint64_t *stamp)
{
  state *s = c->state;
  if (newest_is_fresh(s->inbox)) {
    s->read_slot = newest_acquire(s->inbox, s->read_slot);
    s->has_received = true;
  }
  if (!s->has_received) return OSLA_OK;
  const unsigned char *at = slot(s->inbox, s->read_slot, s->inbox_stride);
  *message = at + STAMP;
  if (stamp) *stamp = *(const uint64_t *)(const void *)at;
  return OSLA_OK;
}

const channel_ops osli_channel_newest = {.inbox_bytes = inbox_bytes,
                                         .start = start,
                                         .buffer = buffer,
                                         .send = send,
                                         .can_recv = can_recv,
                                         .recv = recv,
                                         .closed_at = offsetof(newest, closed)};
