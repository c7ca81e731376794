/* Case setup of star forests: edges, checks, OSLA and the limit. See bench_setup.h. */
#include "bench/bench_setup.h"
#include "osla_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED_SETUP = 61 };

static double value_of(const setup_edges *e, osla_root root)
{
  return (double)root.rank * (double)e->n + (double)root.index;
}

/* Root of leaf i. If is_halo, it is one of the last roots of the previous rank, or of the first
 * roots of the next rank; otherwise it is a random root of any rank. */
static osla_root root_of(const setup_edges *e, bool is_halo, int64_t i)
{
  const int size = e->job->size, me = e->job->rank;
  const int64_t half = e->n / 2;
  if (!is_halo) {
    const uint64_t bits = osla_random_bits(SEED_SETUP, (uint64_t)me, (uint64_t)i);
    return (osla_root){(int32_t)(bits % (uint64_t)size),
                       (int64_t)(bits / (uint64_t)size % (uint64_t)e->n)};
  }
  if (i < half) return (osla_root){(me + size - 1) % size, e->n - half + i};
  return (osla_root){(me + 1) % size, i - half};
}

/* Creates the edges and the values. Collective. */
static osla_err edges_create(bench_job *job, bool is_halo, int64_t n, setup_edges *e)
{
  void *memory, *vertices;
  *e = (setup_edges){.job = job, .n = n};
  OSLA_CALL(bench_alloc(job, (uint64_t)n * sizeof *e->root, &memory));
  e->root = memory;
  for (int64_t i = 0; i < n; i++)
    e->root[i] = root_of(e, is_halo, i);
  OSLA_CALL(osla_vertices_create(job->transport, (size_t)n * sizeof *e->roots, &vertices));
  e->roots = vertices;
  OSLA_CALL(osla_vertices_create(job->transport, (size_t)n * sizeof *e->leaves, &vertices));
  e->leaves = vertices;
  for (int64_t i = 0; i < n; i++)
    e->roots[i] = value_of(e, (osla_root){job->rank, i});
  return OSLA_OK;
}

static void edges_free(setup_edges *e)
{
  void *roots = e->roots, *leaves = e->leaves;
  (void)osla_vertices_free(e->job->transport, &roots);
  (void)osla_vertices_free(e->job->transport, &leaves);
  free(e->root);
}

/* ---- implementations ---- */

static void clear_leaves(const setup_data *d)
{
  for (int64_t i = 0; i < d->edges->n; i++)
    d->edges->leaves[i] = -1;
}

static osla_err prepare_osla(void *data)
{
  setup_data *d = data;
  clear_leaves(d);
  return osla_forest_destroy(&d->forest);
}

static osla_err run_osla(void *data)
{
  setup_data *d = data;
  const setup_edges *e = d->edges;
  OSLA_CALL(osla_forest_create(e->job->transport, e->n, e->n, NULL, e->root, &d->forest));
  return osla_forest_bcast(d->forest, OSLA_ONE_DOUBLE, e->roots, e->leaves, OSLA_REPLACE);
}

static void teardown_osla(void *data)
{
  setup_data *d = data;
  (void)osla_forest_destroy(&d->forest);
}

static osla_err prepare_neighbor(void *data)
{
  setup_data *d = data;
  clear_leaves(d);
  setup_neighbors_free(d);
  return OSLA_OK;
}

static osla_err check(void *data, double *residual)
{
  const setup_data *d = data;
  const setup_edges *e = d->edges;
  int64_t wrong = 0;
  for (int64_t i = 0; i < e->n; i++)
    wrong += e->leaves[i] != value_of(e, e->root[i]);
  OSLA_CALL(osla_allreduce(e->job->transport, &wrong, 1, MPI_INT64_T, MPI_SUM));
  *residual = wrong ? INFINITY : 0;
  return OSLA_OK;
}

static osla_err setup_memcpy(void *data)
{
  setup_data *d = data;
  void *memory;
  OSLA_CALL(bench_alloc(d->edges->job, (uint64_t)d->edges->n * sizeof *d->copy, &memory));
  d->copy = memory;
  return OSLA_OK;
}

static osla_err run_memcpy(void *data)
{
  const setup_data *d = data;
  memcpy(d->copy, d->edges->root, (size_t)d->edges->n * sizeof *d->copy);
  __asm__ volatile("" ::: "memory"); /* Keeps the compiler from removing the copy. */
  return OSLA_OK;
}

static void teardown_memcpy(void *data)
{
  setup_data *d = data;
  free(d->copy);
}

/* ---- the case ---- */

static osla_err run_case(bench_job *job, const setup_edges *e, bool is_halo)
{
  setup_data data[] = {{.edges = e}, {.edges = e}, {.edges = e}};
  const bench_impl impls[] = {{.name = "osla",
                               .prepare = prepare_osla,
                               .run = run_osla,
                               .check = check,
                               .teardown = teardown_osla,
                               .data = &data[0]},
                              {.name = "neighbor",
                               .prepare = prepare_neighbor,
                               .run = setup_neighbors_create,
                               .check = check,
                               .teardown = setup_neighbors_free,
                               .data = &data[1]},
                              {.name = "memcpy",
                               .setup = setup_memcpy,
                               .run = run_memcpy,
                               .teardown = teardown_memcpy,
                               .data = &data[2]}};
  const bench_figure parameters[] = {{"halo", is_halo, false}};
  const bench_case c = {.kernel = "forest/setup",
                        .precision = "",
                        .n = e->n,
                        .variant = is_halo ? "halo" : "random",
                        .parameters = parameters,
                        .n_parameters = 1,
                        .impls = impls,
                        .n_impls = sizeof impls / sizeof *impls,
                        .work = (double)e->n * job->size,
                        .unit = BENCH_MELEMENTS,
                        .operations = 1};
  return bench_run_case(job, &c);
}

osla_err bench_setup_case(bench_job *job, int64_t n)
{
  const bool last = job->last_size;
  osla_err err = OSLA_OK;
  for (int is_halo = 0; is_halo < 2 && err == OSLA_OK; is_halo++) {
    setup_edges e;
    job->last_size = last && is_halo;
    err = edges_create(job, is_halo, n, &e);
    if (err == OSLA_OK) err = run_case(job, &e, is_halo);
    edges_free(&e);
  }
  job->last_size = last;
  return err;
}
