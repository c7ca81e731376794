/* The case setup of star forests: each rank has a list of edges, what their roots are; timed is all
 * that is done until the leaves have the roots' values for the first time (floor 4).
 *
 *   bench_setup.c      edges, checks; ours, and the limit of local memory
 *   setup_neighbor.c   as an MPI program would do it
 */
#ifndef OSLA_BENCH_SETUP_H
#define OSLA_BENCH_SETUP_H

#include "bench/bench_forest.h"
#include "osla_forest.h"

typedef struct setup_edges {
  bench_job *job;
  int64_t n;       /* roots of each rank, and leaves */
  osla_root *root; /* [n] of leaf i */
  double *roots, *leaves;
} setup_edges;

/* What one implementation makes of them. */
typedef struct setup_data {
  const setup_edges *edges;
  osla_forest *forest;         /* ours */
  osla_root *copy;             /* [n] of the limit */
  struct setup_neighbors *own; /* of setup_neighbor.c */
} setup_data;

/* Collective. _create: until the leaves have their values. Errors, on all ranks together: MEM, MPI.
 */
osla_err setup_neighbors_create(void *data);
void setup_neighbors_free(void *data);

#endif
