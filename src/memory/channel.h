/* What the files of channels share (floor 1, private). */
#ifndef OSLA_CHANNEL_PRIVATE_H
#define OSLA_CHANNEL_PRIVATE_H

#include "osla_channel.h"
#include "osla_segment.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { CHANNEL_LINE = 64 };

typedef struct channel channel;

/* On a node newest (LATEST), racy (RACY), ring (EVERY); between nodes posted. */
typedef struct channel_ops {
  /* Memory at who receives messages of so many bytes; a whole number of lines. */
  size_t (*inbox_bytes)(int in_flight, size_t bytes);
  osla_err (*start)(channel *c);
  void (*stop)(channel *c); /* frees; also where start failed or was not reached. NULL: nothing */
  void *(*buffer)(channel *c);
  bool (*can_send)(channel *c); /* NULL: always */
  osla_err (*send)(channel *c, uint64_t stamp);
  bool (*can_recv)(channel *c);
  osla_err (*recv)(channel *c, const void **message, uint64_t *stamp);
  osla_err (*close)(channel *c); /* is_closed is true */
  bool (*closed)(channel *c);
  /* NULL: there is never anything to do. */
  osla_err (*progress)(channel *c);
  bool (*delivered)(channel *c); /* nothing of mine is under way, or the peer is at its end */
} channel_ops;

extern const channel_ops osli_channel_newest, osli_channel_racy, osli_channel_ring,
  osli_channel_posted;

struct channel {
  const channel_ops *ops;
  osla_segment *segment;
  pthread_mutex_t *mutex; /* of the set: a progress step of another thread may post what waits */
  osla_channel_end end;
  int number, peer_number;     /* of this end and of the peer's, in their sets */
  bool is_closed;              /* by me */
  size_t inbox, peer_inbox;    /* offsets in the data areas of the segment */
  unsigned char *here, *there; /* the inboxes; there: NULL where it cannot be reached */
  void *state;                 /* of ops, freed by stop */
};

/* Allocates the zeroed state of a channel. Errors: MEM. */
static inline osla_err channel_state_allocate(channel *c, size_t bytes)
{
  c->state = calloc(1, bytes);
  OSLA_CHECK(c->state, OSLA_ERR_MEM, "channel object");
  return OSLA_OK;
}

/* Sets the word `closed` of a peer on this node, and wakes the peer. */
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
