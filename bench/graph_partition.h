/* A graph in as many parts as there are ranks, which few edges leave: METIS (floor 4).
 * Karypis, Kumar, "A Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs",
 * SIAM J. Sci. Comput. 20 (1998). */
#ifndef GRAPH_PARTITION_H
#define GRAPH_PARTITION_H

#include "osla_error.h"
#include <stdint.h>

/* A graph of n vertices by lists: the neighbours of vertex i are neighbour[first[i]] to
 * neighbour[first[i + 1] - 1]; each edge is in two of them, none leads back to its vertex. */
typedef struct graph_lists {
  int64_t n;
  int64_t *first;     /* [n + 1] */
  int64_t *neighbour; /* [first[n]] */
} graph_lists;

/* Lists of zeros. Local. Errors: MEM. */
osla_err graph_lists_create(int64_t n, int64_t neighbours, graph_lists *out);
void graph_lists_free(graph_lists *graph);

/* part[i] [n]: the part of vertex i, 0 <= part[i] < parts. Local. Errors: UNSUPPORTED (a build
 * without METIS), RANGE (more than METIS counts), MEM. */
osla_err graph_partition(const graph_lists *graph, int parts, int32_t *part);

#endif
