/* Edges and expected values of star forests. All are functions of a seed, a rank and an index, so
 * that every rank computes the edges and values of other ranks without messages. See
 * bench_forest.h. */
#include "bench/bench_forest.h"
#include "osla_random.h"

#include <stdlib.h>
#include <string.h>

enum { SEED_EDGE = 31, SEED_ROOT = 32, SEED_LEAF = 33 };

static int64_t roots_of(const forest_graph *g, int rank)
{
  return g->which == FOREST_PINGPONG && rank != 0 ? 0 : g->n;
}

static int64_t edges_of(const forest_graph *g, int rank)
{
  return g->which == FOREST_PINGPONG && rank != g->leaf_rank ? 0 : g->n;
}

/* Root of leaf i of a rank. */
static int64_t root_of(const forest_graph *g, int rank, int64_t i)
{
  if (g->which == FOREST_PINGPONG) return i;
  if (g->which == FOREST_HALO) {
    const int64_t half = g->n / 2, size = g->job->size;
    const int64_t before = (rank + size - 1) % size, after = (rank + 1) % size;
    return i < half ? before * g->n + g->n - half + i : after * g->n + i - half;
  }
  uint64_t bits = osla_random_bits(SEED_EDGE, (uint64_t)rank, (uint64_t)i);
  return (int64_t)(bits % ((uint64_t)g->n * (uint64_t)g->job->size));
}

static int64_t value_of_root(int64_t root)
{
  return (int64_t)(osla_random_bits(SEED_ROOT, (uint64_t)root, 0) >> 40);
}

static int64_t value_of_leaf(int rank, int64_t i)
{
  return (int64_t)(osla_random_bits(SEED_LEAF, (uint64_t)rank, (uint64_t)i) >> 48);
}

static forest_value value(const forest_graph *g, int64_t integer)
{
  forest_value v;
  if (g->which == FOREST_FETCH)
    v.count = integer;
  else
    v.number = (double)integer;
  return v;
}

/* --- lists --- */

osla_err forest_list_create(bench_job *job, const int *count, forest_list *l)
{
  int64_t all = 0;
  int n = 0, size = job->size;
  void *memory;
  for (int rank = 0; rank < size; rank++)
    if (rank != job->rank) all += count[rank];
  OSLA_CALL(bench_alloc(job, (uint64_t)(all + 3 * size + 1) * sizeof(int), &memory));
  l->peer = memory;
  l->count = l->peer + size;
  l->start = l->count + size;
  l->index = l->start + size + 1;
  for (int rank = 0; rank < size; rank++) {
    if (rank == job->rank || count[rank] == 0) continue;
    l->peer[n] = rank;
    l->count[n] = count[rank];
    l->start[n + 1] = l->start[n] + l->count[n];
    n++;
  }
  l->n_peers = n;
  return OSLA_OK;
}

/* Sorts this rank's leaves by the rank of their roots. `place` is scratch memory: [size] zeros,
 * which are overwritten. */
static osla_err list_leaves(forest_graph *g, int *place)
{
  int me = g->job->rank;
  void *memory;
  for (int64_t i = 0; i < g->n_edges; i++)
    place[g->root[i] / g->n]++;
  g->n_own = place[me];
  OSLA_CALL(forest_list_create(g->job, place, &g->leaves));
  OSLA_CALL(bench_alloc(g->job, 2 * (uint64_t)g->n_own * sizeof *g->own_leaf, &memory));
  g->own_leaf = memory;
  g->own_root = g->own_leaf + g->n_own;
  place[me] = 0;
  for (int p = 0; p < g->leaves.n_peers; p++)
    place[g->leaves.peer[p]] = g->leaves.start[p];
  for (int64_t i = 0; i < g->n_edges; i++) {
    int64_t rank = g->root[i] / g->n;
    int k = place[rank]++;
    if (rank != me) {
      g->leaves.index[k] = (int)i;
    } else {
      g->own_leaf[k] = (int)i;
      g->own_root[k] = (int)(g->root[i] % g->n);
    }
  }
  return OSLA_OK;
}

/* Sorts this rank's roots by the rank of their leaves. `count` is scratch memory: [size] zeros,
 * which are overwritten. */
static osla_err list_roots(forest_graph *g, int *count)
{
  int me = g->job->rank;
  int64_t k = 0;
  for (int rank = 0; rank < g->job->size; rank++)
    for (int64_t i = 0; i < edges_of(g, rank); i++)
      count[rank] += root_of(g, rank, i) / g->n == me;
  OSLA_CALL(forest_list_create(g->job, count, &g->roots));
  for (int p = 0; p < g->roots.n_peers; p++)
    for (int64_t i = 0; i < edges_of(g, g->roots.peer[p]); i++) {
      int64_t root = root_of(g, g->roots.peer[p], i);
      if (root / g->n == me) g->roots.index[k++] = (int)(root % g->n);
    }
  return OSLA_OK;
}

static osla_err totals_create(forest_graph *g)
{
  uint64_t size = (uint64_t)g->job->size, all = size * (uint64_t)g->n;
  void *memory;
  OSLA_CALL(bench_alloc(g->job, 2 * all * sizeof *g->total, &memory));
  g->total = memory;
  g->before = g->total + all;
  for (int rank = 0; rank < g->job->size; rank++)
    for (int64_t i = 0; i < g->n; i++)
      g->total[root_of(g, rank, i)] += value_of_leaf(rank, i);
  OSLA_CALL(bench_alloc(g->job, size * size * sizeof *g->arrival, &memory));
  g->arrival = memory;
  return OSLA_OK;
}

osla_err forest_graph_create(bench_job *job, forest_case which, int64_t n, int leaf_rank,
                             forest_graph *g)
{
  void *edges, *scratch = NULL;
  osla_err err;
  *g = (forest_graph){.job = job,
                      .which = which,
                      .n = n,
                      .leaf_rank = leaf_rank,
                      .contiguous = which == FOREST_PINGPONG};
  g->n_roots = roots_of(g, job->rank);
  g->n_edges = edges_of(g, job->rank);
  OSLA_TRY(bench_alloc(job, (uint64_t)g->n_edges * sizeof *g->root, &edges));
  g->root = edges;
  for (int64_t i = 0; i < g->n_edges; i++)
    g->root[i] = root_of(g, job->rank, i);
  OSLA_TRY(bench_alloc(job, 2 * (uint64_t)job->size * sizeof(int), &scratch));
  OSLA_TRY(list_leaves(g, scratch));
  OSLA_TRY(list_roots(g, (int *)scratch + job->size));
  if (which == FOREST_REDUCE || which == FOREST_FETCH) OSLA_TRY(totals_create(g));
cleanup:
  free(scratch);
  if (err != OSLA_OK) forest_graph_free(g);
  return err;
}

void forest_graph_free(forest_graph *g)
{
  free(g->root);
  free(g->leaves.peer);
  free(g->roots.peer);
  free(g->own_leaf);
  free(g->total);
  free(g->arrival);
  *g = (forest_graph){0};
}

/* --- values --- */

osla_err forest_values_create(forest_data *d)
{
  const forest_graph *g = d->graph;
  uint64_t line = 64 / sizeof(forest_value), n_edges = (uint64_t)g->n_edges;
  uint64_t roots = ((uint64_t)d->n_roots + line - 1) / line * line;
  uint64_t leaves = (n_edges + line - 1) / line * line;
  void *memory;
  OSLA_CALL(bench_alloc(g->job, (roots + leaves + n_edges) * sizeof(forest_value), &memory));
  d->roots = memory;
  d->leaves = d->roots + roots;
  d->before = d->leaves + leaves;
  return OSLA_OK;
}

void forest_values_free(forest_data *d)
{
  free(d->roots);
  d->roots = d->leaves = d->before = NULL;
}

void forest_values_set(forest_data *d)
{
  const forest_graph *g = d->graph;
  bool given = g->which == FOREST_REDUCE || g->which == FOREST_FETCH;
  for (int64_t i = 0; i < d->n_roots; i++)
    d->roots[i] = value(g, value_of_root(d->first_root + i));
  for (int64_t i = 0; i < g->n_edges; i++)
    d->leaves[i] = value(g, given ? value_of_leaf(g->job->rank, i) : 0);
  for (int64_t i = 0; i < g->n_edges && g->which == FOREST_FETCH; i++)
    d->before[i] = value(g, -1);
  forest_device_put(d, FOREST_ALL);
}

static bool same(const forest_graph *g, forest_value found, int64_t integer)
{
  forest_value due = value(g, integer);
  return memcmp(&found, &due, sizeof due) == 0;
}

/* Number of rounds of PINGPONG that have added 1 to the first leaf. */
static int64_t rounds_of(const forest_data *d)
{
  return d->graph->which == FOREST_PINGPONG && d->adds_one ? d->iterations : 0;
}

/* Checks the leaves after bcast. In PINGPONG, rank leaf_rank adds 1 to the first leaf in each round
 * in which adds_one is true. */
static bool leaves_are_roots(const forest_data *d)
{
  const forest_graph *g = d->graph;
  bool right = true;
  for (int64_t i = 0; i < g->n_edges; i++)
    right &= same(g, d->leaves[i], value_of_root(g->root[i]) + (i == 0 ? rounds_of(d) : 0));
  return right;
}

static bool roots_are_sums(const forest_data *d)
{
  const forest_graph *g = d->graph;
  bool right = true;
  for (int64_t i = 0; i < d->n_roots; i++) {
    int64_t root = d->first_root + i;
    int64_t sum = g->total ? d->iterations * g->total[root] : i == 0 ? rounds_of(d) : 0;
    right &= same(g, d->roots[i], value_of_root(root) + sum);
  }
  return right;
}

/* Gathers the arrival orders of all ranks: arrival[owner][rank] of the graph. Collective. */
static osla_err gather_arrivals(const forest_data *d)
{
  const forest_graph *g = d->graph;
  size_t size = (size_t)g->job->size, row = (size_t)g->job->rank * size;
  memset(g->arrival, 0, size * size * sizeof *g->arrival);
  memcpy(g->arrival + row, d->arrival, size * sizeof *g->arrival);
  return osla_allreduce(g->job->transport, g->arrival, (int64_t)(size * size), MPI_INT, MPI_SUM);
}

/* Checks the results of fetch when the order is known: a result is the root's value before the last
 * transfer, plus the leaves of ranks that came earlier, plus earlier leaves of this rank. */
static bool befores_are_partial_sums(const forest_data *d)
{
  const forest_graph *g = d->graph;
  int me = g->job->rank, size = g->job->size;
  bool right = true;
  memset(g->before, 0, (size_t)size * (size_t)g->n * sizeof *g->before);
  for (int rank = 0; rank < size; rank++)
    for (int64_t i = 0; rank != me && i < g->n; i++) {
      int64_t root = root_of(g, rank, i);
      const int *arrival = g->arrival + root / g->n * size;
      if (arrival[rank] < arrival[me]) g->before[root] += value_of_leaf(rank, i);
    }
  for (int64_t i = 0; i < g->n_edges; i++) {
    int64_t root = g->root[i];
    right &= same(g, d->before[i],
                  value_of_root(root) + (d->iterations - 1) * g->total[root] + g->before[root]);
    g->before[root] += value_of_leaf(me, i);
  }
  return right;
}

/* Checks the results of fetch when the order is unknown: a result is at least the root's value
 * before the last transfer, and at most this value plus all other leaves. */
static bool befores_are_possible(const forest_data *d)
{
  const forest_graph *g = d->graph;
  bool right = true;
  for (int64_t i = 0; i < g->n_edges; i++) {
    const int64_t root = g->root[i], all = g->total[root];
    const int64_t least = value_of_root(root) + (d->iterations - 1) * all;
    right &= d->before[i].count >= least &&
             d->before[i].count <= least + all - value_of_leaf(g->job->rank, i);
  }
  return right;
}

/* Sets the roots to 0, then reduces the leaves to the roots. */
static osla_err reduce_to_roots(forest_data *d)
{
  for (int64_t i = 0; i < d->n_roots; i++)
    d->roots[i] = value(d->graph, 0);
  forest_device_put(d, FOREST_ROOTS);
  return d->method->reduce(d);
}

osla_err forest_values_check(forest_data *d, bool *right)
{
  const forest_graph *g = d->graph;
  int wrong;
  *right = true;
  if (g->which == FOREST_PINGPONG) OSLA_CALL(reduce_to_roots(d));
  forest_device_get(d, FOREST_ALL);
  if (g->which == FOREST_FETCH) OSLA_CALL(gather_arrivals(d));
  const bool gather = g->which == FOREST_GATHER || g->which == FOREST_HALO;
  if (g->which == FOREST_PINGPONG || gather) *right = leaves_are_roots(d);
  if (!gather) *right = roots_are_sums(d) && *right;
  if (g->which == FOREST_FETCH && d->in_no_order)
    *right = befores_are_possible(d) && *right;
  else if (g->which == FOREST_FETCH)
    *right = befores_are_partial_sums(d) && *right;
  wrong = !*right;
  OSLA_CALL(osla_allreduce(g->job->transport, &wrong, 1, MPI_INT, MPI_MAX));
  *right = !wrong;
  return OSLA_OK;
}
