/* Declarations that all sources of channels share (layer 1, internal). */
#ifndef OSLA_CHANNEL_PRIVATE_H
#define OSLA_CHANNEL_PRIVATE_H

#include "osla_channel.h"
#include "osla_segment.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { CHANNEL_LINE = 64 };

typedef struct channel channel;

/* Operations of one implementation of channels: newest (LATEST), racy (RACY) and ring (EVERY) on a
 * node; posted between nodes. */
typedef struct channel_ops {
  /* Bytes of the inbox for messages of `bytes` bytes; a multiple of the cache line. */
  size_t (*inbox_bytes)(int in_flight, size_t bytes);
  osla_err (*start)(channel *c);
  /* frees `state`, even if start failed or was not called; NULL if the implementation has nothing
   * to free */
  void (*stop)(channel *c);
  void *(*buffer)(channel *c);
  bool (*can_send)(channel *c); /* NULL if a message can always be sent */
  osla_err (*send)(channel *c, uint64_t stamp);
  bool (*can_recv)(channel *c);
  osla_err (*recv)(channel *c, const void **message, uint64_t *stamp);
  osla_err (*close)(channel *c); /* called after this rank has set is_closed */
  bool (*closed)(channel *c);
  /* The functions progress and delivered are NULL if nothing remains to be done after a send. */
  osla_err (*progress)(channel *c);
  /* True if all messages of this rank have arrived, or the peer destroys its end. */
  bool (*delivered)(channel *c);
} channel_ops;

extern const channel_ops osli_channel_newest, osli_channel_racy, osli_channel_ring,
  osli_channel_posted;

struct channel {
  const channel_ops *ops;
  osla_segment *segment;
  pthread_mutex_t *mutex; /* mutex of the set of channels, because progress in another thread may
                             post waiting messages */
  osla_channel_end end;
  int number,
    peer_number;  /* index of this end in this rank's set, and of the other end in the peer's set */
  bool is_closed; /* true once this rank has closed its end */
  size_t inbox, peer_inbox; /* offsets in the segment's data areas of this rank and of the peer */
  unsigned char *inbox_memory, *peer_inbox_memory; /* addresses of the inboxes; peer_inbox_memory is
                                                      NULL if it is not mapped here */
  void *state;                                     /* state of the implementation, freed by stop */
};

/* Allocates the zeroed state of a channel. Errors: MEM. */
static inline osla_err channel_state_allocate(channel *c, size_t bytes)
{
  c->state = calloc(1, bytes);
  OSLA_CHECK(c->state, OSLA_ERR_MEM, "channel object");
  return OSLA_OK;
}

/* Sets the peer's word `closed`, if the peer is on this node, and wakes the peer. */
static inline osla_err channel_close_on_node(const channel *c, _Atomic uint32_t *closed)
{
  atomic_store_explicit(closed, 1, memory_order_release);
  osla_segment_wake(c->segment, c->end.peer);
  return OSLA_OK;
}

/* Closes this rank's end: no message follows the last one that was sent. A second call does
 * nothing. Local. Errors: MPI. */
osla_err osli_channel_close(osla_channels *channels, int which);

/* Has the peer closed its end, and has this rank received the peer's last message? Local. */
bool osli_channel_closed(osla_channels *channels, int which);

static inline size_t channel_round(size_t bytes, size_t to)
{
  return (bytes + to - 1) / to * to;
}

#endif
