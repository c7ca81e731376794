/* Which origins of other nodes wait, without asking each of them (internal; no MPI).
 *
 * An origin notifies a node through one rank of it, the gate, in words of the gate's memory that
 * nothing else writes. Its leaf says how many bytes it has for the node. Above the leaves there is
 * a tree: a word for each `fan` words below it, up to a level that has no more than `fan`, the top.
 * An origin that has raised its leaf changes then, one after the other, the words above it, to
 * values that no word ever had. So the top says whether anything has come, and a change is followed
 * down to its leaf: for the gate both cost as much with ten thousand origins as with ten. With no
 * more than `fan` origins the leaves are the top.
 *
 * Any rank of the node may collect what came through a gate, and serve it. The queue of the origins
 * that wait is shared by these ranks, under a lock that is only tried.
 *
 * Order: MPI promises to the gate alone that a leaf is there before the words above it; another
 * rank of the node, which reads the gate's memory, may see the two the other way round (on ARM,
 * say) and find nothing below a change. So each rank keeps for itself which changes it has
 * followed, and the gate itself follows all of them: an origin that another rank missed is queued
 * by the gate.
 */
#ifndef OSLA_HESSIAN_ARRIVALS_H
#define OSLA_HESSIAN_ARRIVALS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARRIVAL_FAN = 32, ARRIVAL_LEVELS = 32, ARRIVAL_RING_BITS = 12 };

typedef struct arrival_shape {
  int leaves, fan, levels;       /* levels above the leaves */
  int count[ARRIVAL_LEVELS + 1]; /* words of each level, 0: the leaves */
  int start[ARRIVAL_LEVELS + 1]; /* of each level's among all words */
  int words;                     /* all */
} arrival_shape;

/* What a node has taken from an origin. Who serves it writes it, and hands it on under the lock. */
typedef struct intake {
  _Atomic uint64_t fetched; /* bytes that have come */
  uint64_t credited;        /* those that the origin knows of */
  _Atomic uint64_t applied; /* those whose messages have been added */
  _Atomic uint32_t state;   /* under the lock */
} intake;

/* A gate, as a rank of its node sees it. All but `seen` is in the gate's memory, zeroed at first.
 */
typedef struct arrivals {
  const arrival_shape *shape;
  struct arrival_queue *queue;
  _Atomic uint64_t *word; /* [words] by the origins */
  uint64_t *seen;  /* [words - leaves] of this rank: the changes of the tree that it has followed */
  intake *intakes; /* [leaves] */
  uint32_t *waiting; /* [leaves] a ring of those that nobody serves yet */
} arrivals;

/* fan >= 2. */
arrival_shape osli_arrivals_shape(int leaves, int fan);
size_t osli_arrivals_bytes(const arrival_shape *shape);

/* memory: of the gate, aligned to 64 bytes. seen: [words - leaves] of the calling rank, zeroed,
 * borrowed. */
arrivals osli_arrivals_at(const arrival_shape *shape, void *memory, uint64_t *seen);

/* Where in that memory an origin writes: level 0 its leaf, then 1, 2, ... levels. */
size_t osli_arrivals_offset(const arrival_shape *shape, int leaf, int level);

/* A leaf: bytes that wait, and in which of the origin's rings. Grows with the bytes. */
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

/* Any rank of the node, one of its threads at a time; none of them waits. */

/* Queues those that have come. */
void osli_arrivals_collect(const arrivals *gate);

/* The next one that waits is mine to serve; -1: none. */
int osli_arrivals_dequeue(const arrivals *gate);

/* Gives it back, to be queued again if more has come meanwhile. False: it is still mine. */
bool osli_arrivals_release(const arrivals *gate, int leaf);

#endif
