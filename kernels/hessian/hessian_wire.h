/* The way of messages between nodes: sizes, and where things lie in each rank's segment (internal).
 *
 * A rank writes what it has for a node, for all ranks of it, into one ring of its own memory, and
 * says so to one rank of that node, the gate. Any rank of that node gets it and adds it to its
 * owner's memory, under the owner's locks. Rings come from a pool: a node has one from the first
 * message on; where there are fewer rings than nodes, until all that is in it has been taken and
 * another node needs it.
 *
 * A rank's segment: its lock; a word that wakes it; for each rank a word by which it reports what
 * its node has taken; what comes through this gate (hessian_arrivals.h); the rings.
 */
#ifndef OSLA_HESSIAN_WIRE_H
#define OSLA_HESSIAN_WIRE_H

#include "kernels/hessian/hessian_arrivals.h"
#include "osla_hessian.h"
#include "osla_segment.h"
#include "osla_stripes.h"

enum { RING_PARTS = 4 }; /* a message takes at most this part of a ring; a credit comes as often */

/* All but the tables is the same on all ranks. */
typedef struct wire {
  size_t ring_bytes, inbox_bytes, message_most;
  int n_rings, n_inboxes;
  bool scarce; /* fewer rings than nodes */
  size_t arrivals_start, rings_start, segment_bytes;
  arrival_shape shape;
  int remote; /* ranks of other nodes, seen from the smallest one */
  int ranks, n_nodes;
  int node, position;            /* my node, and my position among its members */
  int *member, *node_start;      /* ranks by node: [ranks], [n_nodes + 1] */
  struct outbox_table *outboxes; /* hessian_outbox.c */
  struct inbox_table *inboxes;   /* hessian_inbox.c */
} wire;

/* h->wire, with who is where. fan: of hessian_arrivals.h. Local. Errors: MEM. */
osla_err osli_wire_create(osla_hessian *h, int fan);
void osli_wire_free(osla_hessian *h);

/* Sizes and offsets: rings and inboxes within `bytes`, if these are enough for one of each. */
void osli_wire_sizes(osla_hessian *h, size_t bytes);
size_t osli_wire_bytes(const osla_hessian *h); /* of segment and tables */

/* The rank of a node that hears of me, or of another origin; and where this origin stands there. */
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

osla_stripes *osli_hessian_lock(const osla_hessian *h, int rank); /* NULL off the node */

/* Wakes who waits in a rank of my node. Local. */
void osli_wire_wake(osla_hessian *h, int rank);

/* Where in a rank's segment the position-th rank of a node reports what that node has taken from
 * that rank. Each has a word of its own, since MPI keeps no order between two; the largest holds.
 */
size_t osli_wire_fetched_offset(const wire *w, int node, int position);

#endif
