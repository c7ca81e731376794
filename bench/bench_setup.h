/* Case setup of star forests: each rank has a list of edges, which gives the root of each edge. The
 * case measures the time until the leaves have the values of the roots for the first time.
 * bench_setup.c has the edges, the checks, the implementation by OSLA and the limit of local
 * memory; setup_neighbor.c has the reference implementation by MPI. */
#ifndef OSLA_BENCH_SETUP_H
#define OSLA_BENCH_SETUP_H

#include "bench/bench_forest.h"
#include "osla_forest.h"

typedef struct setup_edges {
  bench_job *job;
  int64_t n;       /* number of roots on each rank, and number of leaves on each rank */
  osla_root *root; /* [n] root that leaf i belongs to */
  double *roots, *leaves;
} setup_edges;

/* Forest, memory or communicators of one implementation. */
typedef struct setup_data {
  const setup_edges *edges;
  osla_forest *forest; /* forest of the implementation "osla" */
  osla_root *copy;     /* [n] destination of the copy in the implementation "memcpy" */
  /* state of the reference implementation "neighbor" (setup_neighbor.c) */
  struct setup_neighbors *own;
} setup_data;

/* Creates the communicator and transfers the first values to the leaves. Collective. Errors, on all
 * ranks together: MEM, MPI. `data` is a setup_data. */
osla_err setup_neighbors_create(void *data);
void setup_neighbors_free(void *data);

#endif
