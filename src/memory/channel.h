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
  /* Number of bytes of an inbox for messages of `bytes` bytes; a multiple of the cache line. */
  size_t (*inbox_bytes)(int in_flight, size_t bytes);
  osla_err (*start)(channel *c);
  /* frees `state`, even if start failed or was not called; NULL if the implementation has nothing
   * to free */
  void (*stop)(channel *c);
  void *(*buffer)(channel *c);
  bool (*can_send)(channel *c); /* NULL if a message can always be sent */
  osla_err (*send)(channel *c, uint64_t stamp);
  bool (*can_recv)(channel *c);
  /* On a channel of kind EVERY, recv may be called only when a message has arrived. */
  osla_err (*recv)(channel *c, const void **message, uint64_t *stamp);
  /* Offset in the inbox of the 32-bit word that the peer sets when it closes, after its last
   * message. Not used by an implementation that has a function `closed`. */
  size_t closed_at;
  bool (*closed)(channel *c);
  /* The functions progress and delivered are NULL if nothing remains to be done after a send. */
  osla_err (*progress)(channel *c);
  /* True if all messages of this rank have arrived, or if the peer is destroying its end of the
   * channel. */
  bool (*delivered)(channel *c);
} channel_ops;

extern const channel_ops osli_channel_newest, osli_channel_racy, osli_channel_ring,
  osli_channel_posted;

struct channel {
  const channel_ops *ops;
  osla_segment *segment;
  /* mutex of the set of channels, because progress in another thread may post waiting messages */
  pthread_mutex_t *mutex;
  osla_channel_end end;
  int number,                  /* index of this end in this rank's set of channels */
    peer_number;               /* index of the other end in the peer's set of channels */
  bool is_closed;              /* true once this rank destroys its end and sends no more messages */
  size_t inbox,                /* offset in bytes of this rank's inbox in this rank's data area */
    peer_inbox;                /* offset in bytes of the peer's inbox in the peer's data area */
  unsigned char *inbox_memory, /* address of this rank's inbox */
    *peer_inbox_memory; /* address of the peer's inbox; NULL if this rank cannot map the inbox */
  void *state;          /* state of the implementation, freed by stop */
};

/* Allocates the zeroed state of a channel. Errors: MEM. */
static inline osla_err channel_state_allocate(channel *c, size_t bytes)
{
  c->state = calloc(1, bytes);
  OSLA_CHECK(c->state, OSLA_ERR_MEM, "channel object");
  return OSLA_OK;
}

static inline size_t channel_round(size_t bytes, size_t to)
{
  return (bytes + to - 1) / to * to;
}

#endif
