/* Reference implementation `ga` of the assembly: the accumulator of ga_adapt, which calls
 * NGA_Scatter_acc on an array in GA's regular distribution. */
#include "config.h"

#include "bench/bench_hessian.h"

#ifdef HAVE_GA

#include <ga.h>
#include <macdecls.h>

static osla_err setup(void *data)
{
  hessian_data *d = data;
  bench_job *job = d->job;
  const osla_dtype dtype = job->settings->dtype;
  int64_t dims[2] = {d->n, d->n};
  const uint64_t share = (uint64_t)(d->n * d->n) / (uint64_t)job->size + (uint64_t)d->n;
  OSLA_CALL(hessian_products_create(d, false)); /* memory for the products that --work adds */
  OSLA_CALL(bench_memory_check(job, share * osla_dtype_size(dtype) + reference_ga_bytes(job)));
  OSLA_CALL(reference_ga_start(job));
  d->ga_array = NGA_Create64(dtype == OSLA_FLOAT ? C_FLOAT : C_DBL, 2, dims, "osla-bench", NULL);
  OSLA_CHECK(d->ga_array, OSLA_ERR_MEM, "an array of Global Arrays");
  return osla_ga_hessian_create(d->ga_array, job->settings->uplo, &d->ga);
}

static void teardown(void *data)
{
  hessian_data *d = data;
  osla_ga_hessian_destroy(&d->ga);
  if (d->ga_array) GA_Destroy(d->ga_array);
  d->ga_array = 0;
  hessian_products_free(d);
}

static osla_err prepare(void *data)
{
  GA_Zero(((hessian_data *)data)->ga_array);
  GA_Sync();
  return OSLA_OK;
}

static osla_err update(hessian_data *d, int64_t k, int thread)
{
  const updates *u = &d->updates;
  const int64_t *ix = updates_indices(u, k);
  const void *values = updates_values(u, k);
  osla_err err;
  (void)thread;
/* Global Arrays allows only one thread at a time to make calls */
#pragma omp critical(bench_hessian_ga)
  err = u->rows > 0
          ? osla_ga_hessian_update(d->ga, u->count, ix, u->rows, values, u->rows)
          : osla_ga_hessian_update_block(d->ga, u->count, ix, u->count, ix, values, u->count);
  return err;
}

static osla_err run(void *data)
{
  hessian_data *d = data;
  osla_err err = hessian_each(d, update);
  /* An error ends the job, because the other ranks would wait in the commit for ever. */
  if (err != OSLA_OK) osla_transport_abort(d->job->transport, err);
  return osla_ga_hessian_commit(d->ga);
}

/* Returns element (i, j), where i >= j. GA's indices are in the order (column, row), because GA's
 * memory is column-major. */
static double read_element(const hessian_data *d, int64_t i, int64_t j)
{
  const bool lower = d->job->settings->uplo == OSLA_LOWER;
  int64_t at[2] = {lower ? j : i, lower ? i : j}, ld[1] = {1};
  double element = 0; /* room for one element, a float or a double */
  NGA_Get64(d->ga_array, at, at, &element, ld);
  return bench_element(d->updates.dtype, &element, 0);
}

static osla_err check(void *data, double *residual)
{
  hessian_data *d = data;
  const updates *u = &d->updates;
  for (int k = 0; k < UPDATES_SAMPLES && d->job->rank == 0; k++)
    d->values[k] = read_element(d, u->sample[k].i, u->sample[k].j);
  *residual = updates_residual(u, d->values, 0);
  return osla_bcast(d->job->transport, residual, 1, MPI_DOUBLE, 0);
}

const bench_impl hessian_ga = {.name = "ga",
                               .setup = setup,
                               .prepare = prepare,
                               .run = run,
                               .check = check,
                               .teardown = teardown,
                               .nb = BENCH_NO_NB};

#else

/* never runs: --ref refuses "ga" in builds without Global Arrays */
const bench_impl hessian_ga = {.name = "ga"};

#endif
