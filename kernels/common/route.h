/* Route of a panel through a process row or column (internal, no MPI).
 *
 * The members of a line have positions 0 .. length-1; several may be on one node. A root publishes
 * a panel. On each other node the station is the first member after the root in the cyclic order of
 * positions. The station receives the node's only copy and forwards it to other stations. On the
 * root's node the root is the station. */
#ifndef OSLA_ROUTE_H
#define OSLA_ROUTE_H

#include "osla_forward.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct osla_line {
  int length, me; /* number of members; this rank's position */
  int nodes;      /* number of different nodes */
  int *node;      /* [length] node of a position, numbered from 0 within the line */
  int *ranks;     /* [length] transport rank of a position */
  int *near;      /* [length] next position on the same node, cyclic */
  int *stations;  /* [length] scratch: the root and the stations of a route, in route order */
  int *positions; /* [length] scratch: positions of the targets among the stations */
  bool *seen;     /* [length] scratch: whether a node has been seen */
} osla_line;

/* This rank's role for the panel of one root. All ranks are given as positions. */
typedef struct osla_route {
  osla_forward forward; /* the chosen kind of route */
  int reads;            /* position whose copy this rank reads: its node's station, or the root */
  int writer;           /* position that writes this copy; the root on its own node */
  int count;            /* number of stations to which this rank forwards the panel */
} osla_route;

/* Makes the line of the given ranks. nodes[rank] is the node of a rank. osli_line_free must be
 * called, also after a failure. Returns false if there is no memory. Local. */
bool osli_line_make(osla_line *line, int length, int me, const int *ranks, const int *nodes);
void osli_line_free(osla_line *line);

/* Makes the route of one panel. The bytes of the panel decide the choice, so they must be the same
 * on all ranks of the line. targets [out]: NULL, or the positions to which this rank forwards the
 * panel, at most one for each node. Uses the line's scratch arrays, so calls must not overlap.
 * Takes O(length) operations. */
osla_route osli_route_make(osla_line *line, osla_forward forward, int root, size_t bytes,
                           int *targets);

/* Number of positions from the root to `position` in cyclic order. */
static inline int osla_line_distance(const osla_line *line, int root, int position)
{
  return (position - root + line->length) % line->length;
}

#endif
