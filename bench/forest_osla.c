/* Transfers of a star forest: OSLA, and the limits memcpy and loop. See bench_forest.h. */
#include "bench/bench_forest.h"
#include "osla_forest.h"

#include <stdlib.h>
#include <string.h>

/* --- osla --- */

static osla_err vertices_create(forest_data *d, int64_t n, forest_value **out)
{
  void *memory = NULL;
  osla_err err = osla_vertices_create(d->graph->job->transport, (size_t)n * sizeof **out, &memory);
  *out = memory;
  return err;
}

static void vertices_free(forest_data *d, forest_value **vertices)
{
  void *memory = *vertices;
  (void)osla_vertices_free(d->graph->job->transport, &memory);
  *vertices = NULL;
}

static osla_err values_create(forest_data *d)
{
  if (d->graph->job->settings->plain) return forest_values_create(d);
  OSLA_CALL(vertices_create(d, d->n_roots, &d->roots));
  OSLA_CALL(vertices_create(d, d->graph->n_edges, &d->leaves));
  return vertices_create(d, d->graph->n_edges, &d->before);
}

/* The arrays that transfers use: those on the device, if the values are there. */
static forest_value *roots_of(const forest_data *d)
{
  return d->roots_on ? d->roots_on : d->roots;
}

static forest_value *leaves_of(const forest_data *d)
{
  return d->leaves_on ? d->leaves_on : d->leaves;
}

static osla_err create_osla(forest_data *d)
{
  const forest_graph *g = d->graph;
  osla_forest *forest = NULL;
  void *memory;
  OSLA_CALL(values_create(d));
  OSLA_CALL(forest_device_create(d));
  OSLA_CALL(bench_alloc(g->job, (uint64_t)g->n_edges * sizeof(osla_root), &memory));
  osla_root *root = memory;
  for (int64_t i = 0; i < g->n_edges; i++)
    root[i] = (osla_root){(int32_t)(g->root[i] / g->n), g->root[i] % g->n};
  osla_err err = osla_forest_create(g->job->transport, g->n_roots, g->n_edges, NULL, root, &forest);
  d->own = forest;
  free(root);
  for (int rank = 0; rank < g->job->size; rank++)
    d->arrival[rank] = rank;
  return err;
}

static void destroy_osla(forest_data *d)
{
  osla_forest *forest = d->own;
  (void)osla_forest_destroy(&forest);
  d->own = NULL;
  forest_device_free(d);
  if (d->graph->job->settings->plain) {
    forest_values_free(d);
    return;
  }
  vertices_free(d, &d->roots);
  vertices_free(d, &d->leaves);
  vertices_free(d, &d->before);
}

static osla_err bcast_osla(forest_data *d)
{
  osla_forest_run run;
  OSLA_CALL(osla_forest_bcast_begin(d->own, OSLA_ONE_DOUBLE, roots_of(d), leaves_of(d),
                                    OSLA_REPLACE, &run));
  return osla_forest_end(&run);
}

static osla_err reduce_osla(forest_data *d)
{
  osla_forest_run run;
  const bench_settings *s = d->graph->job->settings;
  const osla_forest_combine combine = d->graph->which == FOREST_PINGPONG ? OSLA_REPLACE
                                      : s->exact                         ? OSLA_SUM_EXACT
                                      : s->arrival                       ? OSLA_SUM_ARRIVAL
                                                                         : OSLA_SUM;
  OSLA_CALL(
    osla_forest_reduce_begin(d->own, OSLA_ONE_DOUBLE, leaves_of(d), roots_of(d), combine, &run));
  return osla_forest_end(&run);
}

static osla_err fetch_osla(forest_data *d)
{
  osla_forest_run run;
  forest_value *before = d->before_on ? d->before_on : d->before;
  OSLA_CALL(osla_forest_fetch_begin(d->own, OSLA_ONE_INT64, roots_of(d), leaves_of(d), before,
                                    d->in_no_order ? OSLA_SUM_ARRIVAL : OSLA_SUM, &run));
  return osla_forest_end(&run);
}

const forest_method forest_osla = {.create = create_osla,
                                   .bcast = bcast_osla,
                                   .reduce = reduce_osla,
                                   .fetch = fetch_osla,
                                   .destroy = destroy_osla};

/* --- memcpy: rank 0 has the roots and the leaves --- */

static void copy(forest_value *to, const forest_value *from, int64_t n)
{
  memcpy(to, from, (size_t)n * sizeof *to);
  __asm__ volatile("" ::: "memory"); /* Keeps the compiler from merging the copies. */
}

static osla_err bcast_memcpy(forest_data *d)
{
  copy(d->leaves, d->roots, d->graph->n_edges);
  return OSLA_OK;
}

static osla_err reduce_memcpy(forest_data *d)
{
  copy(d->roots, d->leaves, d->graph->n_edges);
  return OSLA_OK;
}

const forest_method forest_memcpy = {.create = forest_values_create,
                                     .bcast = bcast_memcpy,
                                     .reduce = reduce_memcpy,
                                     .destroy = forest_values_free};

/* --- loop: an array of this rank holds the roots of all ranks --- */

static osla_err create_loop(forest_data *d)
{
  const forest_graph *g = d->graph;
  d->first_root = 0;
  d->n_roots = g->n * g->job->size;
  OSLA_CALL(forest_values_create(d));
  OSLA_CALL(bench_alloc(g->job, (uint64_t)g->n_edges * sizeof(int), &d->own));
  int *index = d->own;
  for (int64_t i = 0; i < g->n_edges; i++)
    index[i] = (int)g->root[i];
  return OSLA_OK;
}

static void destroy_loop(forest_data *d)
{
  forest_values_free(d);
  free(d->own);
  d->own = NULL;
}

static osla_err bcast_loop(forest_data *d)
{
  const int *index = d->own;
  const forest_value *restrict roots = d->roots;
  forest_value *restrict leaves = d->leaves;
  int64_t n = d->graph->n_edges;
  for (int64_t i = 0; i < n; i++)
    leaves[i] = roots[index[i]];
  __asm__ volatile("" ::: "memory"); /* Keeps the compiler from merging the repetitions. */
  return OSLA_OK;
}

const forest_method forest_loop = {
  .create = create_loop, .bcast = bcast_loop, .destroy = destroy_loop};
