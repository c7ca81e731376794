/* OSLA's accumulator as an implementation of the assembly, with the times of its phases. */
#include "bench/bench_hessian.h"
#include "osla_clock.h"
#include "osla_index.h"
#include "src/blas/work.h"

#include <math.h>
#include <stdlib.h>

/* Bound of the sums for the order-independent mode. Elements of G, and of given blocks, are at
 * most 1/2. */
static double bound_of(const hessian_data *d)
{
  const bench_settings *s = d->job->settings;
  double count = (double)(d->updates.per_rank * d->job->size);
  return count * (s->rows > 0 ? (double)s->rows / 4 : 0.5);
}

/* Makes a matrix in memory that no other rank can access, as that of ScaLAPACK or Global Arrays. */
static osla_err wrap_matrix(hessian_accumulator *a)
{
  const bench_job *job = a->data->job;
  const bench_settings *s = job->settings;
  const int64_t n = a->data->n, nb = s->nb;
  const int64_t rows =
    osla_index_count(n, nb, osla_grid_prow(job->grid), osla_grid_nprow(job->grid));
  const int64_t cols =
    osla_index_count(n, nb, osla_grid_pcol(job->grid), osla_grid_npcol(job->grid));
  const size_t bytes = (size_t)(rows * cols) * osla_dtype_size(s->dtype);
  OSLA_CALL(bench_memory_check(a->data->job, bytes));
  a->memory = malloc(bytes + 1);
  OSLA_CALL(osla_agree(job->transport,
                       a->memory ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%zu bytes", bytes)));
  return osla_matrix_wrap(job->grid, s->dtype, n, n, nb, nb, a->memory, rows > 0 ? rows : 1,
                          &a->matrix);
}

static osla_err setup(void *data)
{
  hessian_accumulator *accumulator = data;
  hessian_data *d = accumulator->data;
  const bench_settings *s = d->job->settings;
  osla_hessian_options options = {0};
  options.uplo = s->uplo;
  options.nb = s->nb;
  options.ring_bytes = (size_t)s->ring_bytes;
  options.node_sums = accumulator->node_sums;
  options.order_independent = accumulator->exact;
  options.triangle = accumulator->triangle;
  if (accumulator->exact) {
    options.single_updates = s->dtype == OSLA_FLOAT;
    options.bound = bound_of(d);
    accumulator->unit = ldexp(options.bound, -51);
  } else {
    options.single = s->dtype == OSLA_FLOAT;
  }
  OSLA_CALL(hessian_products_create(d, false)); /* memory for the products that --work adds */
  if (!accumulator->wrapped && !accumulator->on_ga)
    return osla_hessian_create(d->job->grid, d->n, &options, &accumulator->hessian);
  options.clear = true;
  if (accumulator->on_ga) return hessian_on_ga_create(accumulator, &options);
  OSLA_CALL(wrap_matrix(accumulator));
  return osla_hessian_create_on(accumulator->matrix, &options, &accumulator->hessian);
}

static osla_err prepare(void *data)
{
  hessian_accumulator *accumulator = data;
  accumulator->data->current = accumulator;
  return osla_hessian_reset(accumulator->hessian);
}

static osla_err update(hessian_data *d, int64_t k, int thread)
{
  const updates *u = &d->updates;
  const int64_t *ix = updates_indices(u, k);
  (void)thread;
  if (u->rows > 0)
    return osla_hessian_update(d->current->hessian, u->count, ix, u->rows, updates_values(u, k),
                               u->rows);
  return osla_hessian_update_block(d->current->hessian, u->count, ix, u->count, ix,
                                   updates_values(u, k), u->count);
}

static osla_err run(void *data)
{
  hessian_data *d = ((hessian_accumulator *)data)->data;
  osla_err err = hessian_each(d, update);
  /* An error ends the job, because the other ranks would wait in the commit for ever. */
  if (err != OSLA_OK) osla_transport_abort(d->job->transport, err);
  double start = osla_clock(), sent = osla_hessian_get_stats(d->current->hessian).seconds_send;
  OSLA_CALL(d->current->on_ga ? hessian_on_ga_commit(d->current)
                              : osla_hessian_commit(d->current->hessian));
  /* the commit sends sums of the node to other nodes; this time counts as transfer */
  sent = osla_hessian_get_stats(d->current->hessian).seconds_send - sent;
  d->current->commit_seconds = osla_clock() - start - sent;
  return OSLA_OK;
}

/* Number of warm-up runs; modelled work has none. */
static int warm_ups(void)
{
  return osli_work_modelled ? 0 : 1;
}

/* Adds the times of the latest run's phases to the sums; a warm-up is not counted. */
static osla_err count_phases(hessian_data *d)
{
  osla_hessian_stats stats = osla_hessian_get_stats(d->current->hessian);
  double sums[HESSIAN_PHASES + 3] = {[PHASE_WORK] = d->work_seconds,
                                     [PHASE_SPLIT] = stats.seconds_split,
                                     [PHASE_PRODUCT] = stats.seconds_product,
                                     [PHASE_ADD] = stats.seconds_add,
                                     [PHASE_TRANSFER] = stats.seconds_send,
                                     [PHASE_WAIT] =
                                       d->current->commit_seconds * d->job->settings->threads,
                                     [HESSIAN_PHASES] = (double)stats.bytes_sent,
                                     (double)stats.elements_sent,
                                     stats.seconds_apply};
  OSLA_CALL(osla_allreduce(d->job->transport, sums, HESSIAN_PHASES + 3, MPI_DOUBLE, MPI_SUM));
  d->current->bytes_sent = sums[HESSIAN_PHASES];
  d->current->elements_sent = sums[HESSIAN_PHASES + 1];
  bool counts = d->current->runs >= warm_ups();
  if (counts) d->current->apply += sums[HESSIAN_PHASES + 2];
  for (int i = 0; i < HESSIAN_PHASES && counts; i++)
    d->current->phase[i] += sums[i];
  d->current->runs++;
  return OSLA_OK;
}

/* Writes the seconds of each phase of a run, as the mean over threads and ranks. */
static int figures(const void *data, bench_figure *out)
{
  const hessian_accumulator *accumulator = data;
  const hessian_data *d = accumulator->data;
  static const char *const names[HESSIAN_PHASES] = {"work", "split",    "product",
                                                    "add",  "transfer", "wait"};
  double shares =
    (double)(accumulator->runs - warm_ups()) * d->job->size * d->job->settings->threads;
  for (int i = 0; i < HESSIAN_PHASES; i++)
    out[i] = (bench_figure){names[i], accumulator->phase[i] / shares, true};
  out[HESSIAN_PHASES] = (bench_figure){"bytes_sent", accumulator->bytes_sent, false};
  double each =
    accumulator->elements_sent > 0 ? accumulator->bytes_sent / accumulator->elements_sent : 0;
  out[HESSIAN_PHASES + 1] = (bench_figure){"bytes_per_element", each, false};
  out[HESSIAN_PHASES + 2] = (bench_figure){"seconds_apply", accumulator->apply / shares, false};
  return HESSIAN_PHASES + 3;
}

/* Reads the sampled elements one by one. Called only on rank 0. */
static osla_err read_samples(hessian_data *d, osla_matrix *h)
{
  const updates *u = &d->updates;
  bool lower = d->job->settings->uplo == OSLA_LOWER;
  for (int k = 0; k < UPDATES_SAMPLES; k++) {
    double element = 0; /* room for one element, a float or a double */
    int64_t i = u->sample[k].i, j = u->sample[k].j;
    OSLA_CALL(osla_matrix_get_block(h, lower ? i : j, lower ? j : i, 1, 1, &element, 1));
    d->values[k] = bench_element(osla_matrix_dtype(h), &element, 0);
  }
  return OSLA_OK;
}

static osla_err check(void *data, double *residual)
{
  hessian_data *d = ((hessian_accumulator *)data)->data;
  osla_matrix *h;
  osla_err err = OSLA_OK;
  OSLA_CALL(count_phases(d));
  if (osli_work_modelled) return OSLA_OK;
  OSLA_CALL(osla_hessian_matrix(d->current->hessian, &h));
  if (d->job->rank == 0) err = read_samples(d, h);
  OSLA_CALL(osla_agree(d->job->transport, err));
  *residual = updates_residual(&d->updates, d->values, d->current->unit);
  return osla_bcast(d->job->transport, residual, 1, MPI_DOUBLE, 0);
}

static void teardown(void *data)
{
  hessian_accumulator *accumulator = data;
  if (accumulator->on_ga) hessian_on_ga_destroy(accumulator);
  osla_hessian_destroy(&accumulator->hessian);
  osla_matrix_destroy(&accumulator->matrix);
  free(accumulator->memory);
  accumulator->memory = NULL;
  hessian_products_free(accumulator->data);
}

bench_impl hessian_accumulator_impl(hessian_accumulator *accumulator)
{
  return (bench_impl){.name = accumulator->name,
                      .ref = accumulator->ref,
                      .setup = setup,
                      .prepare = prepare,
                      .run = run,
                      .models = !accumulator->exact && !accumulator->node_sums &&
                                !accumulator->wrapped && !accumulator->on_ga,
                      .check = check,
                      .teardown = teardown,
                      .figures = figures,
                      .data = accumulator};
}
