/* The way of a panel through a process row or column (internal, no MPI).
 *
 * The members of a line have positions 0 .. length-1; some lie on one node. A root publishes. On
 * each other node the first member behind the root, in the order of the ring of positions, is its
 * station: it gets the node's only copy, and passes it on to other stations. On the root's node the
 * root itself stands for the station.
 */
#ifndef OSLA_ROUTE_H
#define OSLA_ROUTE_H

#include "osla_forward.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct osla_line {
  int length, me; /* positions */
  int nodes;      /* how many different ones */
  int *node;      /* [length] of a position, numbered from 0 */
  int *ranks;     /* [length] of the transport */
  int *near;      /* [length] the next position on the same node; they make a circle */
  int *stations;  /* [length] work: the root and the stations of a route, in its order */
  int *positions; /* [length] work: of the targets among the stations */
  bool *seen;     /* [length] work, by node */
} osla_line;

/* What I have to do with one root's panel. Positions. */
typedef struct osla_route {
  osla_forward forward; /* which it came to be */
  int reads;            /* whose copy I read: my node's station, or the root */
  int writer;           /* who fills that copy; the root on its own node */
  int count;            /* stations that I pass it on to */
} osla_route;

/* nodes[rank] is the node of a rank. The line is freed by osli_line_free, also after a failure.
 * False: no memory. Local. */
bool osli_line_make(osla_line *line, int length, int me, const int *ranks, const int *nodes);
void osli_line_free(osla_line *line);

/* For the choice, the same for all of the line: bytes of the panel; cols, how many columns a rank
 * multiplies with it, 0 if that is not known. targets [out]: NULL, or the stations that I pass it
 * on to, at most one for each node. Uses the line's work arrays: one call at a time. O(length). */
osla_route osli_route_make(osla_line *line, osla_forward forward, int root, size_t bytes,
                           int64_t cols, int *targets);

/* How far behind the root a position lies, in the order of the ring. */
static inline int osla_line_distance(const osla_line *line, int root, int position)
{
  return (position - root + line->length) % line->length;
}

#endif
