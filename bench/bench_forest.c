/* osla-bench forest: transfers of star forests. Cases, runs and checks. See bench_forest.h.
 *
 * A transfer may take less than a microsecond, so a run makes as many transfers as take 20 ms. The
 * number is chosen for each implementation before the warm-up. There is no barrier between the
 * transfers.
 *
 * With --device the transfers of roots and leaves on the device, of roots in host memory and leaves
 * on the device, and of both in host memory are measured in turn. */
#include "bench/bench_forest.h"
#include "bench/bench_sparse.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_IMPLS = 5, N_PARAMETERS = 4 };

/* Writes each value to itself, so that other cores lose their copies of the cache lines. */
static void rewrite(forest_value *values, int64_t n)
{
  volatile forest_value *v = values;
  for (int64_t i = 0; i < n; i++)
    v[i].count = v[i].count;
}

/* Adds 1 to the first leaf. A leaf on a device passes through host memory. */
static void add_one(forest_data *d)
{
  if (d->graph->n_edges == 0) return;
  if (d->leaves_on) forest_device_get(d, FOREST_LEAVES);
  d->leaves[0].number += 1;
  if (d->leaves_on) forest_device_put(d, FOREST_LEAVES);
}

static osla_err transfer(forest_data *d)
{
  const forest_graph *g = d->graph;
  bool again = g->job->settings->rewrite;
  switch (g->which) {
    case FOREST_PINGPONG:
      if (again) rewrite(d->roots, d->n_roots);
      OSLA_CALL(d->method->bcast(d));
      if (again) rewrite(d->leaves, g->n_edges);
      if (d->adds_one) add_one(d);
      return d->method->reduce(d);
    case FOREST_GATHER:
    case FOREST_HALO:
      if (again) rewrite(d->roots, g->n);
      return d->method->bcast(d);
    case FOREST_REDUCE:
      if (again) rewrite(d->leaves, g->n);
      return d->method->reduce(d);
    default:
      if (again) rewrite(d->leaves, g->n);
      return d->method->fetch(d);
  }
}

static osla_err run_transfers(void *data)
{
  forest_data *d = data;
  osla_err err = OSLA_OK;
  for (int i = 0; i < d->iterations && err == OSLA_OK; i++)
    err = transfer(d);
  if (err == OSLA_OK) err = forest_device_complete();
  /* An error ends the job, because the other ranks would wait for ever. */
  if (err != OSLA_OK) osla_transport_abort(d->graph->job->transport, err);
  return OSLA_OK;
}

static osla_err prepare(void *data)
{
  forest_values_set(data);
  return OSLA_OK;
}

static osla_err check(void *data, double *residual)
{
  forest_data *d = data;
  bool right;
  OSLA_CALL(forest_values_check(d, &right));
  *residual = right && !d->failed ? 0 : INFINITY;
  return OSLA_OK;
}

/* Makes three transfers and compares the values with those that a host computes. In PINGPONG each
 * round adds 1 to the first leaf. Without a device the timed rounds add 1, too. With a device they
 * do not, because an addition on the device would be timed with the messages. */
static osla_err verify(forest_data *d)
{
  bool right;
  d->adds_one = true;
  d->iterations = 3;
  forest_values_set(d);
  OSLA_CALL(run_transfers(d));
  OSLA_CALL(forest_values_check(d, &right));
  d->failed = !right;
  d->adds_one = d->graph->job->device == NULL;
  return OSLA_OK;
}

static osla_err setup(void *data)
{
  forest_data *d = data;
  bench_job *job = d->graph->job;
  void *arrival;
  OSLA_CALL(bench_alloc(job, (uint64_t)job->size * sizeof *d->arrival, &arrival));
  d->arrival = arrival;
  OSLA_CALL(d->method->create(d));
  OSLA_CALL(verify(d));
  forest_values_set(d);
  return bench_choose_iterations(job->transport, run_transfers, d, &d->iterations);
}

static void teardown(void *data)
{
  forest_data *d = data;
  d->method->destroy(d);
  free(d->arrival);
}

/* Number of operations in a run. In PINGPONG half of a round trip is one operation. */
static int operations(const void *data)
{
  const forest_data *d = data;
  return d->graph->which == FOREST_PINGPONG ? 2 * d->iterations : d->iterations;
}

static bench_impl implementation(const char *name, forest_graph *g, const forest_method *method,
                                 forest_data *d)
{
  *d = (forest_data){.graph = g,
                     .method = method,
                     .first_root = g->job->rank * g->n,
                     .n_roots = g->n_roots,
                     .in_no_order = method == &forest_osla && g->job->settings->arrival,
                     .iterations = 1};
  return (bench_impl){.name = name,
                      .setup = setup,
                      .prepare = prepare,
                      .run = run_transfers,
                      .check = check,
                      .teardown = teardown,
                      .operations = operations,
                      .data = d};
}

/* As `implementation`, with values on the device. */
static bench_impl on_device(const char *name, forest_graph *g, const forest_method *method,
                            bool roots, bool leaves, forest_data *d)
{
  bench_impl impl = implementation(name, g, method, d);
  impl.is_osla = method == &forest_osla;
  d->roots_on_device = roots;
  d->leaves_on_device = leaves;
  return impl;
}

/* Lists the implementations of a case, and returns their number. `alone` has the edges of the limit
 * that copies values; NULL: the case has no such limit. */
static int list_impls(forest_graph *g, forest_graph *alone, bench_impl *impls, forest_data *data)
{
  int k = 3;
  if (g->job->device) {
    impls[0] = on_device("osla", g, &forest_osla, true, true, &data[0]);
    impls[1] = on_device("host-device", g, &forest_osla, false, true, &data[1]);
    impls[2] = on_device("host-host", g, &forest_osla, false, false, &data[2]);
    impls[k++] = on_device("mpi", g, &forest_staged, true, true, &data[3]);
    if (alone) impls[k++] = on_device("copy", alone, &forest_copy, true, true, &data[4]);
    return k;
  }
  impls[0] = implementation("osla", g, &forest_osla, &data[0]);
  impls[1] = implementation("mpi", g, &forest_mpi, &data[1]);
  impls[2] = implementation("neighbor", g, &forest_neighbor, &data[2]);
  if (g->which == FOREST_PINGPONG)
    impls[k++] = implementation("memcpy", alone, &forest_memcpy, &data[3]);
  if (g->which == FOREST_GATHER) impls[k++] = implementation("loop", g, &forest_loop, &data[3]);
  return k;
}

/* Creates the edges of a case, and in *alone the edges of the limit that copies values: leaf i
 * belongs to root i of the same rank. */
static osla_err make_graphs(bench_job *job, forest_case which, int64_t n, forest_graph *g,
                            forest_graph *alone)
{
  OSLA_CALL(forest_graph_create(job, which, n, 1, g));
  if (which != FOREST_PINGPONG && which != FOREST_GATHER) return OSLA_OK;
  OSLA_CALL(forest_graph_create(job, which, n, 0, alone));
  for (int64_t i = 0; i < alone->n_edges; i++)
    alone->root[i] = job->rank * n + i;
  return OSLA_OK;
}

/* Bytes that one operation moves over all ranks: one message in PINGPONG, and the values of all
 * edges in other cases. A fetch counts twice, since it moves values up and results down. */
static double bytes_of(const bench_job *job, forest_case which, int64_t n)
{
  double edges = (double)n * (double)sizeof(forest_value) * job->size;
  return which == FOREST_PINGPONG ? (double)n : which == FOREST_FETCH ? 2 * edges : edges;
}

static osla_err run_case(bench_job *job, forest_case which, int64_t n)
{
  static const char *const names[] = {"forest/pingpong", "forest/gather", "forest/reduce",
                                      "forest/fetch", "forest/halo"};
  static const char *const variants[2][2] = {{NULL, "rewrite"}, {"plain", "plain rewrite"}};
  const bench_settings *s = job->settings;
  const bool reduces = which == FOREST_REDUCE, sums = reduces || which == FOREST_FETCH;
  const bench_figure parameters[N_PARAMETERS] = {{"plain", s->plain, false},
                                                 {"rewrite", s->rewrite, false},
                                                 {"arrival", s->arrival && sums, false},
                                                 {"exact", s->exact && reduces, false}};
  int64_t units = which == FOREST_PINGPONG ? n / (int64_t)sizeof(forest_value) : n;
  bench_impl impls[MOST_IMPLS];
  forest_data data[MOST_IMPLS];
  forest_graph graph = {0}, alone = {0};
  osla_err err = make_graphs(job, which, units, &graph, &alone);
  if (err == OSLA_OK) {
    const bench_case c = {.kernel = names[which],
                          .precision = which == FOREST_FETCH ? "" : "d",
                          .n = n,
                          .variant = variants[s->plain][s->rewrite],
                          .parameters = parameters,
                          .n_parameters = N_PARAMETERS,
                          .impls = impls,
                          .n_impls = list_impls(&graph, alone.job ? &alone : NULL, impls, data),
                          .work = bytes_of(job, which, n),
                          .unit = BENCH_GBYTES};
    err = bench_run_case(job, &c);
  }
  forest_graph_free(&graph);
  forest_graph_free(&alone);
  return err;
}

static osla_err run(bench_job *job, int64_t n)
{
  static const int64_t bytes[] = {8, 64, 1024, 4096, 16384, 65536, 1048576, 4194304, 0};
  static const int64_t edges[] = {100000, 0}, rows[] = {6859, 110592, 0}, cells[] = {32768, 0};
  const int64_t given[] = {n, 0};
  unsigned cases = job->settings->cases;
  bool last = job->last_size;
  for (int which = 0; which < FOREST_CASES; which++) {
    const bool products = which == FOREST_SPMM || which == FOREST_PTAP;
    const bool sparse = products || which == FOREST_SPMV || which == FOREST_CG;
    const int64_t *sizes = which == FOREST_PINGPONG  ? bytes
                           : which == FOREST_MIGRATE ? cells
                           : sparse                  ? rows
                                                     : edges;
    /* a matrix file determines the size, so there is one run */
    const bool file = job->settings->matrix && sparse;
    if (n > 0 || file) sizes = given;
    for (int i = 0; (sizes[i] || (file && i == 0)) && cases >> which & 1; i++) {
      job->last_size = last && cases >> which == 1 && sizes[i + 1] == 0;
      OSLA_CALL(which == FOREST_MIGRATE ? bench_migrate_case(job, sizes[i])
                : which == FOREST_SETUP ? bench_setup_case(job, sizes[i])
                : products              ? bench_spmm_case(job, which == FOREST_PTAP, sizes[i])
                : sparse                ? bench_sparse_case(job, (forest_case)which, sizes[i])
                                        : run_case(job, (forest_case)which, sizes[i]));
    }
  }
  return OSLA_OK;
}

const bench_kernel bench_forest = {
  .name = "forest",
  .summary = "broadcast, reduction and fetch-and-add along the edges of a star forest",
  .about =
    "\nTimes transfers of a star forest, in GB/s of the values of all edges:\n"
    "  pingpong   N bytes from rank 0 to rank 1 and back; half a round trip\n"
    "  gather     every rank has N edges to random roots of all: leaves := roots\n"
    "  reduce     the same edges: roots += leaves\n"
    "  fetch      roots += leaves, int64, and each leaf gets the value before\n"
    "  halo       leaves := the last N/2 roots of the rank before, the first of the next\n"
    "  spmv, cg   A x, an iteration of CG; N rows (of a cube, see --reach), in GF/s\n"
    "  setup      the gather's edges, the halo's: from lists to the first values; million edges/s\n"
    "  migrate    a mesh of N cells (a cube) moves from one rank (seq), from blocks (chunks),\n"
    "             from anywhere (rand) into slabs, or to METIS's ranks (--partition)\n"
    "  spmm, ptap  A P, P^T A P of sparse matrices: initial, then values alone; in GF/s\n"
    "A run is as many as last 20 ms (cg: 200; migrate, spmm, ptap: 1), no barrier between. "
    "Beside:\n"
    "  mpi        persistent sends and receives, packed by hand; migrate: MPI_Alltoallv\n"
    "  neighbor   MPI_Neighbor_alltoallv, packed by hand; setup: with MPI_Alltoall(v) of counts\n"
    "             and roots, and MPI_Dist_graph_create_adjacent\n"
    "  memcpy     pingpong: a copy of N bytes within rank 0; setup: of the list\n"
    "  loop       gather: leaf[i] = root[index[i]] in memory of one's own;\n"
    "             spmv, cg, spmm, ptap: no communication\n"
    "With --device osla's roots and leaves, or matrices and vectors, lie on it. Beside it:\n"
    "  host-device  osla with roots in host memory and leaves on the device\n"
    "  host-host    osla with roots and leaves, or matrices and vectors, in host memory\n"
    "  mpi        values are copied to host memory, sent as above, and copied to the device\n"
    "  copy       pingpong, gather: a copy of the values within each rank's device\n"
    "  sync       cg: osla_cg that waits in each iteration\n"
    "Residual: 0, or inf when a bit is wrong. pingpong needs 2 ranks.\n",
  .references = "mpi,neighbor,memcpy,loop",
  .device_references = "copy,mpi,sync",
  .device_references_of_ranks = "copy,mpi,sync",
  .after = "Example: mpiexec -n 2 osla-bench forest --case gather,reduce --n 1000,100000\n",
  .run = run,
  .forest = true,
};
