/* Transfers of a star forest by persistent sends and receives, as a program without a library would
 * write them: receives start first, values are packed by lists, edges on this rank are done
 * meanwhile, and each message is unpacked when it arrives. Contiguous values are sent and received
 * in place. A fetch sends values up and results down. See bench_forest.h. */
#include "bench/bench_forest.h"

#include <stdlib.h>

enum { TAG_DOWN = 1, TAG_UP };

typedef struct forest_messages {
  MPI_Comm comm;
  /* Buffers for packed values, one allocation; without elements if the values are contiguous. */
  forest_value *root_buffer, *leaf_in, *leaf_out;
  /* Arrays with one request for each peer. "up" is from leaves to roots, "down" from roots to
   * leaves; "in" is received by this rank, "out" sent. All are one allocation, which starts at
   * up_in. */
  MPI_Request *up_in, *down_in, *up_out, *down_out;
  int n_requests; /* number of requests in the four arrays */
  /* MPI_STATUSES_IGNORE, read from memory, because gcc 12 mistakes MPICH's constant for an array
   * that is too short */
  MPI_Status *ignored;
} forest_messages;

static osla_err buffers_create(const forest_graph *g, forest_messages *m)
{
  const forest_list *roots = &g->roots, *leaves = &g->leaves;
  uint64_t n_roots = g->contiguous ? 0 : (uint64_t)roots->start[roots->n_peers];
  uint64_t n_leaves = g->contiguous ? 0 : (uint64_t)leaves->start[leaves->n_peers];
  uint64_t bytes = (n_roots + 2 * n_leaves) * sizeof(forest_value);
  void *buffers, *requests;
  OSLA_CALL(bench_alloc(g->job, bytes, &buffers));
  m->root_buffer = buffers;
  m->leaf_in = m->root_buffer + n_roots;
  m->leaf_out = m->leaf_in + n_leaves;
  OSLA_CALL(bench_alloc(g->job, 2 * (uint64_t)(roots->n_peers + leaves->n_peers) * sizeof *m->up_in,
                        &requests));
  m->up_in = requests;
  m->down_in = m->up_in + roots->n_peers;
  m->up_out = m->down_in + leaves->n_peers;
  m->down_out = m->up_out + leaves->n_peers;
  return OSLA_OK;
}

static osla_err requests_create(forest_data *d, forest_messages *m)
{
  const forest_graph *g = d->graph;
  MPI_Datatype type = g->which == FOREST_FETCH ? MPI_INT64_T : MPI_DOUBLE;
  forest_value *root_values = g->contiguous ? d->roots : m->root_buffer;
  forest_value *in = g->contiguous ? d->leaves : m->leaf_in;
  forest_value *out = g->contiguous ? d->leaves : m->leaf_out;
  for (int p = 0; p < g->roots.n_peers; p++) {
    forest_value *at = root_values + g->roots.start[p];
    int peer = g->roots.peer[p], count = g->roots.count[p];
    OSLA_MPI(MPI_Recv_init(at, count, type, peer, TAG_UP, m->comm, &m->up_in[p]));
    OSLA_MPI(MPI_Send_init(at, count, type, peer, TAG_DOWN, m->comm, &m->down_out[p]));
  }
  for (int p = 0; p < g->leaves.n_peers; p++) {
    int at = g->leaves.start[p], peer = g->leaves.peer[p], count = g->leaves.count[p];
    OSLA_MPI(MPI_Recv_init(in + at, count, type, peer, TAG_DOWN, m->comm, &m->down_in[p]));
    OSLA_MPI(MPI_Send_init(out + at, count, type, peer, TAG_UP, m->comm, &m->up_out[p]));
  }
  m->n_requests = 2 * (g->roots.n_peers + g->leaves.n_peers);
  return OSLA_OK;
}

static osla_err create(forest_data *d)
{
  OSLA_CALL(forest_values_create(d));
  OSLA_CALL(bench_alloc(d->graph->job, sizeof(forest_messages), &d->own));
  forest_messages *m = d->own;
  m->comm = MPI_COMM_NULL;
  m->ignored = MPI_STATUSES_IGNORE;
  OSLA_CALL(buffers_create(d->graph, m));
  OSLA_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &m->comm));
  return requests_create(d, m);
}

static void destroy(forest_data *d)
{
  forest_messages *m = d->own;
  for (int i = 0; m && i < m->n_requests; i++)
    (void)MPI_Request_free(&m->up_in[i]);
  if (m) {
    if (m->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&m->comm);
    free(m->root_buffer);
    free(m->up_in);
    free(m);
  }
  d->own = NULL;
  forest_values_free(d);
}

static osla_err bcast(forest_data *d)
{
  const forest_list *roots = &d->graph->roots, *leaves = &d->graph->leaves;
  forest_messages *m = d->own;
  bool packed = !d->graph->contiguous;
  OSLA_MPI(MPI_Startall(leaves->n_peers, m->down_in));
  for (int p = 0; p < roots->n_peers; p++) {
    if (packed) forest_pack(roots, roots->start[p], roots->start[p + 1], d->roots, m->root_buffer);
    OSLA_MPI(MPI_Start(&m->down_out[p]));
  }
  forest_own_bcast(d);
  for (int i = 0, p; i < leaves->n_peers; i++) {
    OSLA_MPI(MPI_Waitany(leaves->n_peers, m->down_in, &p, MPI_STATUS_IGNORE));
    if (packed)
      forest_unpack(leaves, leaves->start[p], leaves->start[p + 1], m->leaf_in, d->leaves);
  }
  OSLA_MPI(MPI_Waitall(roots->n_peers, m->down_out, m->ignored));
  return OSLA_OK;
}

static osla_err reduce(forest_data *d)
{
  const forest_list *roots = &d->graph->roots, *leaves = &d->graph->leaves;
  forest_messages *m = d->own;
  bool packed = !d->graph->contiguous;
  OSLA_MPI(MPI_Startall(roots->n_peers, m->up_in));
  for (int p = 0; p < leaves->n_peers; p++) {
    if (packed) forest_pack(leaves, leaves->start[p], leaves->start[p + 1], d->leaves, m->leaf_out);
    OSLA_MPI(MPI_Start(&m->up_out[p]));
  }
  forest_own_reduce(d);
  for (int i = 0, p; i < roots->n_peers; i++) {
    OSLA_MPI(MPI_Waitany(roots->n_peers, m->up_in, &p, MPI_STATUS_IGNORE));
    if (packed) forest_add(roots, roots->start[p], roots->start[p + 1], m->root_buffer, d->roots);
  }
  OSLA_MPI(MPI_Waitall(leaves->n_peers, m->up_out, m->ignored));
  return OSLA_OK;
}

static osla_err fetch(forest_data *d)
{
  const forest_list *roots = &d->graph->roots, *leaves = &d->graph->leaves;
  forest_messages *m = d->own;
  int n_in = roots->n_peers + leaves->n_peers, arrival = 0;
  OSLA_MPI(MPI_Startall(n_in, m->up_in));
  for (int p = 0; p < leaves->n_peers; p++) {
    forest_pack(leaves, leaves->start[p], leaves->start[p + 1], d->leaves, m->leaf_out);
    OSLA_MPI(MPI_Start(&m->up_out[p]));
  }
  forest_own_fetch(d);
  d->arrival[d->graph->job->rank] = arrival++;
  for (int i = 0, p; i < n_in; i++) {
    OSLA_MPI(MPI_Waitany(n_in, m->up_in, &p, MPI_STATUS_IGNORE));
    if (p < roots->n_peers) {
      forest_fetch_add(roots, roots->start[p], roots->start[p + 1], m->root_buffer, d->roots);
      OSLA_MPI(MPI_Start(&m->down_out[p]));
      d->arrival[roots->peer[p]] = arrival++;
    } else {
      p -= roots->n_peers;
      forest_unpack(leaves, leaves->start[p], leaves->start[p + 1], m->leaf_in, d->before);
    }
  }
  OSLA_MPI(MPI_Waitall(n_in, m->up_out, m->ignored));
  return OSLA_OK;
}

const forest_method forest_mpi = {
  .create = create, .bcast = bcast, .reduce = reduce, .fetch = fetch, .destroy = destroy};
