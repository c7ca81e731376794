/* Transfers of a star forest by MPI_Neighbor_alltoallv. Values are packed by lists, or sent in
 * place if they are contiguous; edges on this rank need no MPI. See bench_forest.h. */
#include "bench/bench_forest.h"

#include <stdlib.h>

typedef struct forest_neighborhood {
  MPI_Comm down, up; /* communicators of edges from roots to leaves, and from leaves to roots */
  MPI_Datatype type;
  /* buffers for packed values, in one allocation; they have size 0 if values are contiguous */
  forest_value *root_buffer, *leaf_buffer;
} forest_neighborhood;

static osla_err communicators_create(const forest_graph *g, forest_neighborhood *h)
{
  const forest_list *roots = &g->roots, *leaves = &g->leaves;
  /* Open MPI defines MPI_UNWEIGHTED as the address 2, and gcc 12 mistakes this address for an
   * array without elements. */
  const int *volatile unweighted = MPI_UNWEIGHTED;
  OSLA_MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, leaves->n_peers, leaves->peer, unweighted,
                                          roots->n_peers, roots->peer, unweighted, MPI_INFO_NULL, 0,
                                          &h->down));
  OSLA_MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, roots->n_peers, roots->peer, unweighted,
                                          leaves->n_peers, leaves->peer, unweighted, MPI_INFO_NULL,
                                          0, &h->up));
  return OSLA_OK;
}

static osla_err create(forest_data *d)
{
  const forest_graph *g = d->graph;
  uint64_t n_roots = g->contiguous ? 0 : (uint64_t)g->roots.start[g->roots.n_peers];
  uint64_t n_leaves = g->contiguous ? 0 : (uint64_t)g->leaves.start[g->leaves.n_peers];
  uint64_t bytes = (n_roots + n_leaves) * sizeof(forest_value);
  void *buffers;
  OSLA_CALL(forest_values_create(d));
  OSLA_CALL(bench_alloc(g->job, sizeof(forest_neighborhood), &d->own));
  forest_neighborhood *h = d->own;
  h->down = h->up = MPI_COMM_NULL;
  h->type = g->which == FOREST_FETCH ? MPI_INT64_T : MPI_DOUBLE;
  OSLA_CALL(bench_alloc(g->job, bytes, &buffers));
  h->root_buffer = buffers;
  h->leaf_buffer = h->root_buffer + n_roots;
  return communicators_create(g, h);
}

static void destroy(forest_data *d)
{
  forest_neighborhood *h = d->own;
  if (h) {
    if (h->down != MPI_COMM_NULL) (void)MPI_Comm_free(&h->down);
    if (h->up != MPI_COMM_NULL) (void)MPI_Comm_free(&h->up);
    free(h->root_buffer);
    free(h);
  }
  d->own = NULL;
  forest_values_free(d);
}

static osla_err exchange(const forest_neighborhood *h, MPI_Comm comm, const forest_list *from,
                         const forest_value *out, const forest_list *to, forest_value *in)
{
  OSLA_MPI(MPI_Neighbor_alltoallv(out, from->count, from->start, h->type, in, to->count, to->start,
                                  h->type, comm));
  return OSLA_OK;
}

static osla_err bcast(forest_data *d)
{
  const forest_graph *g = d->graph;
  const forest_list *roots = &g->roots, *leaves = &g->leaves;
  const forest_neighborhood *h = d->own;
  if (g->contiguous) return exchange(h, h->down, roots, d->roots, leaves, d->leaves);
  forest_pack(roots, 0, roots->start[roots->n_peers], d->roots, h->root_buffer);
  forest_own_bcast(d);
  OSLA_CALL(exchange(h, h->down, roots, h->root_buffer, leaves, h->leaf_buffer));
  forest_unpack(leaves, 0, leaves->start[leaves->n_peers], h->leaf_buffer, d->leaves);
  return OSLA_OK;
}

static osla_err reduce(forest_data *d)
{
  const forest_graph *g = d->graph;
  const forest_list *roots = &g->roots, *leaves = &g->leaves;
  const forest_neighborhood *h = d->own;
  if (g->contiguous) return exchange(h, h->up, leaves, d->leaves, roots, d->roots);
  forest_pack(leaves, 0, leaves->start[leaves->n_peers], d->leaves, h->leaf_buffer);
  forest_own_reduce(d);
  OSLA_CALL(exchange(h, h->up, leaves, h->leaf_buffer, roots, h->root_buffer));
  forest_add(roots, 0, roots->start[roots->n_peers], h->root_buffer, d->roots);
  return OSLA_OK;
}

static osla_err fetch(forest_data *d)
{
  const forest_graph *g = d->graph;
  const forest_list *roots = &g->roots, *leaves = &g->leaves;
  const forest_neighborhood *h = d->own;
  int arrival = 0;
  forest_pack(leaves, 0, leaves->start[leaves->n_peers], d->leaves, h->leaf_buffer);
  forest_own_fetch(d);
  d->arrival[g->job->rank] = arrival++;
  OSLA_CALL(exchange(h, h->up, leaves, h->leaf_buffer, roots, h->root_buffer));
  forest_fetch_add(roots, 0, roots->start[roots->n_peers], h->root_buffer, d->roots);
  for (int p = 0; p < roots->n_peers; p++)
    d->arrival[roots->peer[p]] = arrival++;
  OSLA_CALL(exchange(h, h->down, roots, h->root_buffer, leaves, h->leaf_buffer));
  forest_unpack(leaves, 0, leaves->start[leaves->n_peers], h->leaf_buffer, d->before);
  return OSLA_OK;
}

const forest_method forest_neighbor = {
  .create = create, .bcast = bcast, .reduce = reduce, .fetch = fetch, .destroy = destroy};
