/* Creation of a star forest as an MPI program would write it. Two all-to-all calls say which ranks
 * have leaves of this rank's roots: the first one sends counts, the second one sends the indices of
 * the roots. Then a distributed graph communicator is created and used for the first neighbourhood
 * collective. See bench_setup.h. */
#include "bench/bench_setup.h"

#include <stdlib.h>

struct setup_neighbors {
  MPI_Comm comm;
  /* start of one allocation, which holds the arrays from `wanted` to `to_at` */
  int *memory;
  int *wanted,      /* [size] number of values that this rank wants from each rank */
    *asked;         /* [size] number of values that each rank asks of this rank */
  int *wanted_at,   /* [size + 1] position of each rank's first value among all wanted values */
    *asked_at;      /* [size + 1] position of each rank's first value among all asked values */
  int *leaf,        /* [n] this rank's leaves, sorted by the ranks of their roots */
    *index;         /* [n] index of the root of each leaf in `leaf` */
  int *from,        /* [size] ranks with wanted > 0 */
    *to;            /* [size] ranks with asked > 0 */
  int *n_from,      /* [size] number of values from each rank in `from` */
    *n_to;          /* [size] number of values for each rank in `to` */
  int *from_at,     /* [size] position of the first value from each rank in `from` */
    *to_at;         /* [size] position of the first value for each rank in `to` */
  int *asked_index; /* this rank's roots that other ranks ask for, sorted by these ranks */
  double *out, *in;
};

static int prefix_sum(int size, const int *count, int *at)
{
  at[0] = 0;
  for (int p = 0; p < size; p++)
    at[p + 1] = at[p] + count[p];
  return at[size];
}

static osla_err allocate(const setup_edges *e, struct setup_neighbors *h)
{
  const size_t size = (size_t)e->job->size, n = (size_t)e->n;
  h->comm = MPI_COMM_NULL;
  h->memory = calloc(10 * size + 2 + 2 * n, sizeof *h->memory);
  OSLA_CHECK(h->memory, OSLA_ERR_MEM, "lists of %zu edges", n);
  int **const parts[] = {&h->wanted, &h->asked, &h->from,    &h->to,
                         &h->n_from, &h->n_to,  &h->from_at, &h->to_at};
  int *at = h->memory;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++, at += size)
    *parts[i] = at;
  h->wanted_at = at;
  h->asked_at = at + size + 1;
  h->leaf = h->asked_at + size + 1;
  h->index = h->leaf + n;
  return OSLA_OK;
}

/* Sorts this rank's leaves by the ranks of their roots. */
static void sort_edges(const setup_edges *e, struct setup_neighbors *h)
{
  for (int64_t i = 0; i < e->n; i++)
    h->wanted[e->root[i].rank]++;
  (void)prefix_sum(e->job->size, h->wanted, h->wanted_at);
  for (int64_t i = 0; i < e->n; i++) {
    const int k = h->wanted_at[e->root[i].rank]++;
    h->leaf[k] = (int)i;
    h->index[k] = (int)e->root[i].index;
  }
  (void)prefix_sum(e->job->size, h->wanted, h->wanted_at);
}

static osla_err exchange_counts(const setup_edges *e, struct setup_neighbors *h)
{
  OSLA_MPI(MPI_Alltoall(h->wanted, 1, MPI_INT, h->asked, 1, MPI_INT, MPI_COMM_WORLD));
  const size_t all = (size_t)prefix_sum(e->job->size, h->asked, h->asked_at);
  h->asked_index = malloc((all + 1) * sizeof *h->asked_index);
  h->out = malloc((all + 1) * sizeof *h->out);
  h->in = malloc((size_t)(e->n + 1) * sizeof *h->in);
  const bool have = h->asked_index && h->out && h->in;
  OSLA_CALL(osla_agree(e->job->transport,
                       have ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "lists of %zu values", all)));
  OSLA_MPI(MPI_Alltoallv(h->index, h->wanted, h->wanted_at, MPI_INT, h->asked_index, h->asked,
                         h->asked_at, MPI_INT, MPI_COMM_WORLD));
  return OSLA_OK;
}

static int list_ranks(int size, const int *count, const int *at, int *rank, int *n, int *first)
{
  int k = 0;
  for (int p = 0; p < size; p++) {
    if (count[p] == 0) continue;
    rank[k] = p;
    n[k] = count[p];
    first[k++] = at[p];
  }
  return k;
}

static osla_err communicator_create(const setup_edges *e, struct setup_neighbors *h)
{
  const int size = e->job->size;
  const int n_from = list_ranks(size, h->wanted, h->wanted_at, h->from, h->n_from, h->from_at);
  const int n_to = list_ranks(size, h->asked, h->asked_at, h->to, h->n_to, h->to_at);
  /* Open MPI defines MPI_UNWEIGHTED as the address 2, and gcc 12 mistakes this address for an
   * array without elements. */
  const int *volatile unweighted = MPI_UNWEIGHTED;
  OSLA_MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n_from, h->from, unweighted, n_to, h->to,
                                          unweighted, MPI_INFO_NULL, 0, &h->comm));
  return OSLA_OK;
}

static osla_err transfer_values(const setup_edges *e, struct setup_neighbors *h)
{
  const int n_out = h->asked_at[e->job->size];
  for (int k = 0; k < n_out; k++)
    h->out[k] = e->roots[h->asked_index[k]];
  OSLA_MPI(MPI_Neighbor_alltoallv(h->out, h->n_to, h->to_at, MPI_DOUBLE, h->in, h->n_from,
                                  h->from_at, MPI_DOUBLE, h->comm));
  for (int64_t k = 0; k < e->n; k++)
    e->leaves[h->leaf[k]] = h->in[k];
  return OSLA_OK;
}

osla_err setup_neighbors_create(void *data)
{
  setup_data *d = data;
  const setup_edges *e = d->edges;
  struct setup_neighbors *h = d->own = calloc(1, sizeof *h);
  osla_err err = h ? allocate(e, h) : osla_error_set(OSLA_ERR_MEM, "lists of edges");
  OSLA_CALL(osla_agree(e->job->transport, err));
  sort_edges(e, h);
  OSLA_CALL(exchange_counts(e, h));
  OSLA_CALL(communicator_create(e, h));
  return transfer_values(e, h);
}

void setup_neighbors_free(void *data)
{
  setup_data *d = data;
  struct setup_neighbors *h = d->own;
  if (!h) return;
  if (h->memory && h->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&h->comm);
  free(h->memory);
  free(h->asked_index);
  free(h->out);
  free(h->in);
  free(h);
  d->own = NULL;
}
