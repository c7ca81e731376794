/* Layout of messages between nodes: sizes and offsets in each rank's segment (internal).
 *
 * In the files of this folder a node is a set of ranks that can add to one another's parts of H:
 * usually the ranks of a node of the transport. If only their owners can access the parts (a matrix
 * of osla_matrix_wrap), every rank is a node of its own.
 *
 * A rank writes all messages for a node into one ring of its own memory, and announces them to one
 * rank of that node, the gate. Any rank of that node fetches the messages and adds them to the
 * owner's memory, under the owner's locks. Rings come from a pool. A node gets a ring with the
 * first message for it. If there are fewer rings than nodes, the node loses the ring when
 * everything in it is fetched and another node needs a ring.
 *
 * A rank's segment holds five things: the lock of the rank; a word that wakes the rank; one word
 * for each rank of the job, in which that rank reports how many bytes its node has fetched; the
 * memory of the gate (hessian_arrivals.h); and the rings. */
#ifndef OSLA_HESSIAN_WIRE_H
#define OSLA_HESSIAN_WIRE_H

#include "kernels/hessian/hessian_arrivals.h"
#include "osla_hessian.h"
#include "osla_segment.h"
#include "osla_stripes.h"

/* Number of parts of a ring: a message takes at most one part, and a report is sent for each part
 * that was fetched. */
enum { RING_PARTS = 4 };

/* Sizes, offsets and tables of transfers between nodes. All members except the tables are equal on
 * all ranks. */
typedef struct wire {
  size_t ring_bytes, inbox_bytes, message_most;
  int n_rings, n_inboxes;
  bool scarce; /* true if there are fewer rings than other nodes */
  size_t arrivals_start, rings_start, segment_bytes;
  arrival_shape shape;
  int remote; /* largest number of ranks that are on other nodes, for any rank */
  int ranks, n_nodes;
  int node;        /* index of this rank's node */
  int position;    /* index of this rank among the ranks of its node */
  bool separate;   /* true if every rank is a node of its own */
  int *member;     /* [ranks] all ranks, in the order of their nodes */
  int *node_start; /* [n_nodes + 1] index in `member` of the first rank of each node */
  int *node_of;    /* [ranks] index of each rank's node */
  struct outbox_table *outboxes; /* struct defined in hessian_outbox.c */
  struct inbox_table *inboxes;   /* struct defined in hessian_inbox.c */
} wire;

/* Creates h->wire with the tables of ranks and nodes. `separate`: every rank is a node of its own.
 * Local. Errors: MEM. */
osla_err osli_wire_create(osla_hessian *h, bool separate);
void osli_wire_free(osla_hessian *h);

/* Computes sizes and offsets such that rings and inboxes take about `bytes` bytes. There is at
 * least one ring and one inbox. */
void osli_wire_sizes(osla_hessian *h, size_t bytes);
size_t osli_wire_bytes(const osla_hessian *h); /* bytes of the segment and of the tables */

/* Returns the number of ranks of a node. */
static inline int wire_members(const wire *w, int node)
{
  return w->node_start[node + 1] - w->node_start[node];
}
/* Returns the rank of a node that an origin (sending rank) notifies. */
static inline int wire_gate(const wire *w, int node, int origin)
{
  return w->member[w->node_start[node] + origin % wire_members(w, node)];
}
/* Returns the leaf index of an origin at the gate that it notifies. */
static inline int wire_leaf(const wire *w, int node, int origin)
{
  return origin / wire_members(w, node);
}

/* NULL if `rank` is on another node */
osla_stripes *osli_hessian_lock(const osla_hessian *h, int rank);

/* Wakes a thread of a rank of this node that waits on the rank's segment. Local. */
void osli_wire_wake(osla_hessian *h, int rank);

/* Offset in a rank's segment of the word in which member `position` of a node reports how many
 * bytes the node has fetched from that rank. Each member has its own word, because MPI keeps no
 * order between writers; the largest value counts. */
size_t osli_wire_fetched_offset(const wire *w, int node, int position);

#endif
