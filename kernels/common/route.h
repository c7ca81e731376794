/* Route of a panel through a process row or column (internal, no MPI).
 *
 * The members of a process row or column (a line) have positions 0 .. length-1; several members may
 * be on one node. A root publishes a panel. On each other node the station is the first member
 * after the root in the cyclic order of positions. The station receives the node's only copy and
 * forwards it to other stations. On the root's node the root is the station. */
#ifndef OSLA_ROUTE_H
#define OSLA_ROUTE_H

#include "osla_forward.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct osla_line {
  int length; /* number of ranks in the process row or column */
  int me;     /* position of this rank in the process row or column */
  int nodes;  /* number of different nodes in the process row or column */
  int *node;  /* [length] node of each position, numbered from 0 within the process row or column */
  int *ranks; /* [length] for each position: its rank in the transport */
  int *near;  /* [length] next position on the same node, in cyclic order */
  /* [length] scratch: positions of the root and the stations of a route, in the order of the
   * route */
  int *stations;
  int *positions; /* [length] scratch: indices of the stations to which this rank forwards */
  bool *seen;     /* [length] scratch: whether a node has been seen already */
} osla_line;

/* Task of this rank in forwarding the panel of one root. All ranks are given as positions in the
 * process row or column. */
typedef struct osla_route {
  osla_forward forward; /* kind of route that was chosen */
  /* position whose copy of the panel this rank reads: the station of its node, or the root */
  int reads;
  /* position that writes the copy which this rank reads; on the root's own node, the root */
  int writer;
  /* number of stations (receiving ranks of other nodes) to which this rank forwards the panel */
  int count;
} osla_route;

/* Fills in an osla_line (a process row or column) for the given ranks. nodes[rank] is the node of a
 * rank. Returns false if there is no memory. osli_line_free must be called even then. Local. */
bool osli_line_make(osla_line *line, int length, int me, const int *ranks, const int *nodes);
void osli_line_free(osla_line *line);

/* Makes the route of one panel. The kind of route depends on the bytes of the panel, which must be
 * the same on all ranks of the process row or column. targets [out]: NULL, or the positions to
 * which this rank forwards the panel, at most one for each node. Calls for one osla_line must not
 * overlap, because they use its scratch arrays. Takes O(length) operations. */
osla_route osli_route_make(osla_line *line, osla_forward forward, int root, size_t bytes,
                           int *targets);

/* Distance from the root to `position`, in positions and in cyclic order. */
static inline int osla_line_distance(const osla_line *line, int root, int position)
{
  return (position - root + line->length) % line->length;
}

#endif
