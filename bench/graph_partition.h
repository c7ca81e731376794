/* Partition of a graph by METIS into as many parts as there are ranks, with few edges between
 * parts. Karypis, Kumar, "A Fast and High Quality Multilevel Scheme for Partitioning Irregular
 * Graphs", SIAM J. Sci. Comput. 20 (1998). */
#ifndef GRAPH_PARTITION_H
#define GRAPH_PARTITION_H

#include "osla_error.h"
#include <stdint.h>

/* A graph of n vertices: the neighbours of vertex i are neighbour[first[i]] to neighbour[first[i +
 * 1] - 1]. Each edge is in the neighbour lists of its two vertices. No edge joins a vertex to
 * itself. */
typedef struct graph_lists {
  int64_t n;
  int64_t *first;     /* [n + 1] position in `neighbour` of each vertex's first neighbour */
  int64_t *neighbour; /* [first[n]] lists of neighbours of all vertices, one after the other */
} graph_lists;

/* Allocates lists that hold zeros. Local. Errors: MEM. */
osla_err graph_lists_create(int64_t n, int64_t neighbours, graph_lists *out);
void graph_lists_free(graph_lists *graph);

/* part[i] := part of vertex i, for i < n; 0 <= part[i] < parts. Local. Errors: UNSUPPORTED (a build
 * without METIS), RANGE (more than METIS's integers hold), MEM. */
osla_err graph_partition(const graph_lists *graph, int parts, int32_t *part);

#endif
