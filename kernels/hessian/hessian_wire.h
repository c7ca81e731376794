/* Layout of messages between nodes: sizes and offsets in each rank's segment (internal).
 *
 * A rank writes messages for a node, whichever of its ranks is the owner, into one ring of its own
 * memory, and announces them to one rank of that node, the gate. Any rank of that node fetches them
 * and adds them to the owner's memory under the owner's locks. Rings come from a pool. A node gets
 * a ring with the first message for it. If there are fewer rings than nodes, it keeps the ring
 * until everything is fetched and another node needs it.
 *
 * A rank's segment holds: its lock; a word that wakes it; for each rank one word in which that rank
 * reports how much its node has fetched; the gate's memory (hessian_arrivals.h); the rings. */
#ifndef OSLA_HESSIAN_WIRE_H
#define OSLA_HESSIAN_WIRE_H

#include "kernels/hessian/hessian_arrivals.h"
#include "osla_hessian.h"
#include "osla_segment.h"
#include "osla_stripes.h"

enum {
  RING_PARTS = 4
}; /* a message takes at most 1 / RING_PARTS of a ring; so much is fetched
    * between two reports */

/* Everything except the tables is equal on all ranks. */
typedef struct wire {
  size_t ring_bytes, inbox_bytes, message_most;
  int n_rings, n_inboxes;
  bool scarce; /* there are fewer rings than other nodes */
  size_t arrivals_start, rings_start, segment_bytes;
  arrival_shape shape;
  int remote; /* number of ranks outside the node with the fewest ranks */
  int ranks, n_nodes;
  int node, position;            /* this rank's node, and its index among the node's ranks */
  int *member, *node_start;      /* ranks in the order of nodes: [ranks], [n_nodes + 1] */
  struct outbox_table *outboxes; /* defined in hessian_outbox.c */
  struct inbox_table *inboxes;   /* defined in hessian_inbox.c */
} wire;

/* Creates h->wire with the tables of ranks and nodes. fan: see hessian_arrivals.h. Local. Errors:
 * MEM. */
osla_err osli_wire_create(osla_hessian *h, int fan);
void osli_wire_free(osla_hessian *h);

/* Computes sizes and offsets so that rings and inboxes take about `bytes` bytes, at least one of
 * each. */
void osli_wire_sizes(osla_hessian *h, size_t bytes);
size_t osli_wire_bytes(const osla_hessian *h); /* bytes of segment and tables */

/* wire_members: number of ranks of a node. wire_gate: the rank of a node that an origin notifies.
 * wire_leaf: the origin's leaf at that gate. */
static inline int wire_members(const wire *w, int node)
{
  return w->node_start[node + 1] - w->node_start[node];
}
static inline int wire_gate(const wire *w, int node, int origin)
{
  return w->member[w->node_start[node] + origin % wire_members(w, node)];
}
static inline int wire_leaf(const wire *w, int node, int origin)
{
  return origin / wire_members(w, node);
}

osla_stripes *osli_hessian_lock(const osla_hessian *h, int rank); /* NULL for a rank on another node
                                                                   */

/* Wakes a thread that waits on the segment of a rank of this node. Local. */
void osli_wire_wake(osla_hessian *h, int rank);

/* Offset in a rank's segment of the word in which member `position` of a node reports how many
 * bytes the node has fetched from that rank. Each member has its own word, because MPI keeps no
 * order between writers; the largest value counts. */
size_t osli_wire_fetched_offset(const wire *w, int node, int position);

#endif
