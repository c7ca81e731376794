/* Reference implementations `ga-scatter`, `ga-patch` and `ga-vector` of the assembly, on an array
 * in the regular distribution of Global Arrays. hessian_ga_update.c has the three ways to add an
 * update. */
#include "config.h"

#include "bench/bench_hessian.h"

#ifdef HAVE_GA

#include "bench/hessian_ga.h"

#include <inttypes.h>
#include <macdecls.h>
#include <stdlib.h>

/* Shares the position and the start of each rank's part. An address is valid on the owner, which is
 * what ARMCI expects. */
static osla_err find_owners(hessian_ga *g)
{
  int64_t low[2], high[2], ld[1] = {0};
  ga_owner own = {0};
  NGA_Distribution64(g->array, GA_Nodeid(), low, high);
  if (high[0] >= low[0] && high[1] >= low[1]) {
    NGA_Access64(g->array, low, high, &own.memory, ld);
    NGA_Release64(g->array, low, high);
    own.column = low[0];
    own.columns = high[0] - low[0] + 1;
    own.row = low[1];
    own.rows = high[1] - low[1] + 1;
    own.ld = ld[0];
  }
  OSLA_MPI(MPI_Allgather(&own, sizeof own, MPI_BYTE, g->buffers->owners, sizeof own, MPI_BYTE,
                         MPI_COMM_WORLD));
  return OSLA_OK;
}

static void free_buffers(hessian_ga *g)
{
  hessian_ga_buffers *b = g->buffers;
  if (!b) return;
  free(b->pairs);
  free(b->values);
  free(b->source);
  free(b->length);
  free(b->owners);
  free(b->runs);
  free(b->lengths);
  free(b->vectors);
  free(b->diagonal);
  free(b);
  g->buffers = NULL;
}

static osla_err allocate_buffers(hessian_ga *g)
{
  const updates *u = &g->data->updates;
  const size_t size = osla_dtype_size(u->dtype), count = (size_t)u->count;
  hessian_ga_buffers *b = g->buffers = calloc(1, sizeof *g->buffers);
  OSLA_CHECK(b, OSLA_ERR_MEM, "buffers of Global Arrays");
  b->pairs = malloc(HESSIAN_GA_CALL * sizeof *b->pairs);
  b->values = malloc(HESSIAN_GA_CALL * size);
  b->source = malloc(4 * HESSIAN_GA_CALL * sizeof *b->source);
  b->length = malloc(HESSIAN_GA_CALL * sizeof *b->length);
  b->owners = calloc((size_t)g->data->job->size, sizeof *b->owners);
  b->runs = malloc(count * sizeof *b->runs);
  b->lengths = malloc((count + 1) * sizeof *b->lengths);
  b->vectors = malloc(count * sizeof *b->vectors);
  b->diagonal = g->way == HESSIAN_GA_PATCH ? malloc(count * count * size) : NULL;
  OSLA_CHECK(b->pairs && b->values && b->source && b->length && b->owners && b->runs &&
               b->lengths && b->vectors && (b->diagonal || g->way != HESSIAN_GA_PATCH),
             OSLA_ERR_MEM, "buffers of Global Arrays for %" PRId64 " indices", u->count);
  b->target = b->source + HESSIAN_GA_CALL;
  b->sorted_source = b->target + HESSIAN_GA_CALL;
  b->sorted_target = b->sorted_source + HESSIAN_GA_CALL;
  return OSLA_OK;
}

static osla_err setup(void *data)
{
  hessian_ga *g = data;
  hessian_data *d = g->data;
  bench_job *job = d->job;
  const osla_dtype dtype = job->settings->dtype;
  int64_t dims[2] = {d->n, d->n};
  const uint64_t share = (uint64_t)(d->n * d->n) / (uint64_t)job->size + (uint64_t)d->n;
  OSLA_CALL(hessian_products_create(d, g->way != HESSIAN_GA_SCATTER));
  OSLA_CALL(bench_memory_check(job, share * osla_dtype_size(dtype) + reference_ga_bytes(job)));
  OSLA_CALL(osla_agree(job->transport, allocate_buffers(g)));
  OSLA_CALL(reference_ga_start(job));
  g->array = NGA_Create64(dtype == OSLA_FLOAT ? C_FLOAT : C_DBL, 2, dims, "osla-bench", NULL);
  OSLA_CHECK(g->array, OSLA_ERR_MEM, "an array of Global Arrays");
  return find_owners(g);
}

static void teardown(void *data)
{
  hessian_ga *g = data;
  if (g->array) GA_Destroy(g->array);
  g->array = 0;
  free_buffers(g);
  hessian_products_free(g->data);
}

static osla_err prepare(void *data)
{
  GA_Zero(((hessian_ga *)data)->array);
  GA_Sync();
  return OSLA_OK;
}

static osla_err update(hessian_data *d, int64_t k, int thread)
{
  static hessian_work *const ways[] = {[HESSIAN_GA_SCATTER] = hessian_ga_scatter,
                                       [HESSIAN_GA_PATCH] = hessian_ga_patch,
                                       [HESSIAN_GA_VECTOR] = hessian_ga_vector};
  osla_err err;
/* Global Arrays allows only one thread at a time to make calls */
#pragma omp critical(bench_hessian_ga)
  err = ways[d->current_ga->way](d, k, thread);
  return err;
}

static osla_err run(void *data)
{
  hessian_ga *g = data;
  g->data->current_ga = g;
  osla_err err = hessian_each(g->data, update);
  /* An error ends the job, because the other ranks would wait in the commit for ever. */
  if (err != OSLA_OK) osla_transport_abort(g->data->job->transport, err);
  GA_Sync();
  return OSLA_OK;
}

/* One update of each rank: the slowest way would need hours for all updates. */
static osla_err run_part(void *data)
{
  hessian_data *d = ((hessian_ga *)data)->data;
  int64_t all = d->counted;
  d->counted = 1;
  osla_err err = run(data);
  d->counted = all;
  return err;
}

/* Returns element (i, j), where i >= j. GA's indices are in the order (column, row), because GA's
 * memory is column-major. */
static double read_element(const hessian_ga *g, int64_t i, int64_t j)
{
  const bool lower = g->data->job->settings->uplo == OSLA_LOWER;
  int64_t at[2] = {lower ? j : i, lower ? i : j}, ld[1] = {1};
  double element = 0; /* room for one element, a float or a double */
  NGA_Get64(g->array, at, at, &element, ld);
  return bench_element(g->data->updates.dtype, &element, 0);
}

static osla_err check(void *data, double *residual)
{
  hessian_ga *g = data;
  hessian_data *d = g->data;
  const updates *u = &d->updates;
  for (int k = 0; k < UPDATES_SAMPLES && d->job->rank == 0; k++)
    d->values[k] = read_element(g, u->sample[k].i, u->sample[k].j);
  *residual = updates_residual(u, d->values, 0);
  return osla_bcast(d->job->transport, residual, 1, MPI_DOUBLE, 0);
}

bench_impl hessian_ga_impl(hessian_ga *ga)
{
  static const char *const names[] = {[HESSIAN_GA_SCATTER] = "ga-scatter",
                                      [HESSIAN_GA_PATCH] = "ga-patch",
                                      [HESSIAN_GA_VECTOR] = "ga-vector"};
  return (bench_impl){.name = names[ga->way],
                      .group = "ga",
                      .setup = setup,
                      .prepare = prepare,
                      .run = run,
                      .run_part = run_part,
                      .check = check,
                      .teardown = teardown,
                      .data = ga,
                      .nb = BENCH_NO_NB};
}

#else

/* never runs: --ref refuses "ga" in builds without Global Arrays */
bench_impl hessian_ga_impl(hessian_ga *ga)
{
  return (bench_impl){.name = "ga", .data = ga};
}

#endif
