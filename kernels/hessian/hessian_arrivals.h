/* Detects which origins on other nodes have messages waiting, at a cost that does not grow with the
 * number of origins (internal; no MPI).
 *
 * An origin is a rank that sends messages. It notifies a node through one rank of that node, the
 * gate, by writing words in the gate's memory. Each origin has a leaf word that holds the number of
 * bytes it has written for the node. Above the leaves there is a tree: one word for each `fan`
 * words of the level below, up to a level of at most `fan` words, the top. After raising its leaf
 * an origin writes the words above it, one after another, with values that never repeat. So a
 * change at the top shows that something has arrived, and following the changed words down leads to
 * the leaf. If there are at most `fan` origins, the level of the leaves is the top.
 *
 * Any rank of the node may look for changes at a gate, and serve the origins that have raised their
 * leaves. The ranks of the node share a queue of waiting origins. A rank that finds the lock of the
 * queue taken does not wait for it.
 *
 * Order: MPI guarantees only to the gate that a leaf is written before the words above it. Another
 * rank of the node that reads the gate's memory may see the writes in another order (for example on
 * ARM) and find no raised leaf below a change. So each rank records on its own which changes it has
 * followed, and the gate follows all of them: an origin that another rank missed is queued by the
 * gate. */
#ifndef OSLA_HESSIAN_ARRIVALS_H
#define OSLA_HESSIAN_ARRIVALS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARRIVAL_FAN = 32, ARRIVAL_LEVELS = 32, ARRIVAL_RING_BITS = 12 };

typedef struct arrival_shape {
  int leaves; /* number of leaves of the tree */
  int fan;    /* largest number of children of a word */
  int levels; /* number of levels of the tree above the leaves */
  /* number of words on each level of the tree; level 0 contains the leaves */
  int count[ARRIVAL_LEVELS + 1];
  int start[ARRIVAL_LEVELS + 1]; /* index of the first word of each level of the tree */
  int words;                     /* number of words on all levels of the tree */
} arrival_shape;

/* State of one origin at a gate. Only the rank that serves the origin writes it; the queue's lock
 * passes the state on to the rank that serves the origin next. */
typedef struct intake {
  _Atomic uint64_t fetched; /* bytes fetched from the origin's ring */
  uint64_t credited;        /* number of bytes that the origin has been allowed to overwrite */
  _Atomic uint64_t applied; /* bytes of messages that have been added to H */
  _Atomic uint32_t state;   /* IDLE, QUEUED or SERVED; protected by the lock of the queue */
} intake;

/* A gate as seen by one rank of its node. All members except `seen` point into the gate's memory,
 * which is zero at first. */
typedef struct arrivals {
  const arrival_shape *shape;
  struct arrival_queue *queue;
  /* [words] words of all levels of the tree, written by the origins (sending ranks) */
  _Atomic uint64_t *word;
  /* [words - leaves] value of each word above the leaves when this rank last followed it down */
  uint64_t *seen;
  intake *intakes; /* [leaves] state of each origin (sending rank) */
  /* [leaves] ring buffer of the origins (sending ranks) that are queued and not yet served */
  uint32_t *waiting;
} arrivals;

/* Computes the levels of the tree of words; fan >= 2. */
arrival_shape osli_arrivals_shape(int leaves, int fan);
size_t osli_arrivals_bytes(const arrival_shape *shape);

/* Makes this rank's view of a gate. `memory` is the gate's memory, aligned to 64 bytes and zeroed.
 * `seen` is zeroed memory of this rank for words - leaves numbers; the view keeps the pointer. */
arrivals osli_arrivals_at(const arrival_shape *shape, void *memory, uint64_t *seen);

/* Offset in bytes, in the gate's memory, of the word that an origin writes on a level. Level 0 is
 * the level of leaves. */
size_t osli_arrivals_offset(const arrival_shape *shape, int leaf, int level);

/* Value of a leaf word: the number of bytes that the origin has written so far, and the number of
 * its ring that holds them. The value grows with the bytes. */
static inline uint64_t arrival_word(uint64_t bytes, int ring)
{
  return bytes << ARRIVAL_RING_BITS | (uint64_t)ring;
}
static inline uint64_t arrival_bytes(uint64_t word)
{
  return word >> ARRIVAL_RING_BITS;
}
static inline int arrival_ring(uint64_t word)
{
  return (int)(word & ((1 << ARRIVAL_RING_BITS) - 1));
}

/* Any rank of the node may call the functions below, with one thread at a time. They never wait. */

/* Queues the origins that have new messages. */
void osli_arrivals_collect(const arrivals *gate);

/* Removes an origin from the queue; the caller then serves it. Returns the origin's leaf, or -1 if
 * no origin waits or the lock is in use. */
int osli_arrivals_dequeue(const arrivals *gate);

/* Ends the service for an origin, and queues the origin again if more has arrived. Returns false if
 * the lock is in use; then the caller still serves the origin. */
bool osli_arrivals_release(const arrivals *gate, int leaf);

#endif
