/* References of the assembly that add to remote memory: plain MPI and Global Arrays. */
#include "bench/bench_hessian.h"

/* --- plain MPI_Accumulate --- */

static osla_err setup_accumulate(void *data)
{
  hessian_data *d = data;
  OSLA_CALL(reference_accumulate_create(d->job, d->n, &d->accumulate));
  return hessian_products_create(d, true);
}

static void teardown_accumulate(void *data)
{
  hessian_data *d = data;
  reference_accumulate_free(&d->accumulate);
  hessian_products_free(d);
}

static osla_err prepare_accumulate(void *data)
{
  reference_accumulate_clear(&((hessian_data *)data)->accumulate);
  return OSLA_OK;
}

static osla_err update_accumulate(hessian_data *d, int64_t k, int thread)
{
  const void *block;
  OSLA_CALL(hessian_block(d, k, thread, &block));
  return reference_accumulate_add(&d->accumulate, d->updates.count, updates_indices(&d->updates, k),
                                  block);
}

static osla_err run_accumulate(void *data)
{
  hessian_data *d = data;
  osla_err err = hessian_each(d, update_accumulate);
  /* ends the job, as the other ranks wait in the commit */
  if (err != OSLA_OK) osla_transport_abort(d->job->transport, err);
  return reference_accumulate_commit(&d->accumulate);
}

static osla_err check_accumulate(void *data, double *residual)
{
  hessian_data *d = data;
  const updates *u = &d->updates;
  bool lower = d->job->settings->uplo == OSLA_LOWER;
  for (int k = 0; k < UPDATES_SAMPLES; k++) {
    int64_t i = u->sample[k].i, j = u->sample[k].j;
    d->values[k] = reference_accumulate_read(&d->accumulate, lower ? i : j, lower ? j : i);
  }
  OSLA_CALL(osla_allreduce(d->job->transport, d->values, UPDATES_SAMPLES, MPI_DOUBLE, MPI_SUM));
  *residual = updates_residual(u, d->values, 0);
  return OSLA_OK;
}

const bench_impl hessian_mpi_accumulate = {.name = "mpi-accumulate",
                                           .setup = setup_accumulate,
                                           .prepare = prepare_accumulate,
                                           .run = run_accumulate,
                                           .check = check_accumulate,
                                           .teardown = teardown_accumulate};

/* --- NGA_Scatter_acc --- */

static osla_err setup_ga(void *data)
{
  hessian_data *d = data;
  OSLA_CALL(hessian_products_create(d, false)); /* memory for the products of --work */
  return reference_scatter_create(d->job, d->n, &d->scatter);
}

static void teardown_ga(void *data)
{
  hessian_data *d = data;
  reference_scatter_free(&d->scatter);
  hessian_products_free(d);
}

static osla_err prepare_ga(void *data)
{
  return reference_scatter_clear(&((hessian_data *)data)->scatter);
}

static osla_err update_ga(hessian_data *d, int64_t k, int thread)
{
  const updates *u = &d->updates;
  osla_err err;
  (void)thread;
#pragma omp critical(bench_hessian_ga) /* Global Arrays allows one thread at a time */
  err = reference_scatter_add(&d->scatter, u->count, updates_indices(u, k), u->rows,
                              updates_values(u, k));
  return err;
}

static osla_err run_ga(void *data)
{
  hessian_data *d = data;
  osla_err err = hessian_each(d, update_ga);
  /* ends the job, as the other ranks wait in the commit */
  if (err != OSLA_OK) osla_transport_abort(d->job->transport, err);
  return reference_scatter_commit(&d->scatter);
}

static osla_err check_ga(void *data, double *residual)
{
  hessian_data *d = data;
  const updates *u = &d->updates;
  for (int k = 0; k < UPDATES_SAMPLES && d->job->rank == 0; k++)
    d->values[k] = reference_scatter_read(&d->scatter, u->sample[k].i, u->sample[k].j);
  *residual = updates_residual(u, d->values, 0);
  return osla_bcast(d->job->transport, residual, 1, MPI_DOUBLE, 0);
}

const bench_impl hessian_ga = {.name = "ga",
                               .setup = setup_ga,
                               .prepare = prepare_ga,
                               .run = run_ga,
                               .check = check_ga,
                               .teardown = teardown_ga,
                               .nb = BENCH_NO_NB};
