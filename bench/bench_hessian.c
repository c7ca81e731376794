/* The assembly of a symmetric matrix from indexed updates: ours, and two that hold the whole
 * triangle on every rank, packed by columns: without communication (the limit), and summed by
 * MPI_Allreduce.
 */
#include "config.h"

#include "osla_blas.h"
#include "osla_hessian.h"
#include "reference.h"
#include "updates.h"

#include <stdlib.h>
#include <string.h>

typedef struct hessian_data {
  bench_job *job;
  int64_t n;
  updates updates;
  osla_hessian *hessian;
  void *own; /* packed triangles, one for each thread */
  reference_accumulate accumulate;
  void *workspace; /* G^T G, one for each thread */
  double values[UPDATES_SAMPLES];
} hessian_data;

/* Calls work(d, k, thread) for each update of this rank, shared out between its threads; one error
 * is kept, and its text goes to the calling thread. */
static osla_err each_update(hessian_data *d,
                            osla_err (*work)(hessian_data *d, int64_t k, int thread))
{
  osla_err result = OSLA_OK;
  char text[512] = "";
  int threads = d->job->settings->threads;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int64_t slot = 0; slot < threads; slot++) {
    for (int64_t k = slot; k < d->updates.per_rank; k += threads) {
      osla_err err = work(d, k, (int)slot);
      if (err == OSLA_OK) continue;
#pragma omp critical(bench_hessian_error)
      if (result == OSLA_OK) {
        result = err;
        (void)snprintf(text, sizeof text, "%s", osla_error_text());
      }
      break;
    }
  }
  return result == OSLA_OK ? OSLA_OK : osla_error_set(result, "%s", text);
}

/* --- osla --- */

static osla_err setup_osla(void *data)
{
  hessian_data *d = data;
  osla_hessian_options options = osla_hessian_defaults();
  options.dtype = d->job->settings->dtype;
  options.nb = d->job->settings->nb;
  return osla_hessian_create(d->job->grid, d->n, &options, &d->hessian);
}

static osla_err prepare_osla(void *data)
{
  return osla_hessian_reset(((hessian_data *)data)->hessian);
}

static osla_err update_osla(hessian_data *d, int64_t k, int thread)
{
  const updates *u = &d->updates;
  const int64_t *ix = updates_indices(u, k);
  (void)thread;
  if (u->rows > 0)
    return osla_hessian_update(d->hessian, u->count, ix, u->rows, updates_values(u, k), u->rows);
  return osla_hessian_update_block(d->hessian, u->count, ix, u->count, ix, updates_values(u, k),
                                   u->count);
}

static osla_err run_osla(void *data)
{
  hessian_data *d = data;
  osla_err err = each_update(d, update_osla);
  if (err != OSLA_OK) osla_transport_abort(d->job->transport, err); /* the others are in commit */
  return osla_hessian_commit(d->hessian);
}

/* Rank 0 reads the samples, one by one. */
static osla_err read_samples(hessian_data *d, osla_matrix *h)
{
  const updates *u = &d->updates;
  for (int k = 0; k < UPDATES_SAMPLES; k++) {
    double element = 0; /* room for either type */
    OSLA_CALL(osla_matrix_get_block(h, u->sample[k].i, u->sample[k].j, 1, 1, &element, 1));
    d->values[k] = bench_element(u->dtype, &element, 0);
  }
  return OSLA_OK;
}

static osla_err check_osla(void *data, double *residual)
{
  hessian_data *d = data;
  osla_matrix *h;
  osla_err err = OSLA_OK;
  OSLA_CALL(osla_hessian_matrix(d->hessian, &h));
  if (d->job->rank == 0) err = read_samples(d, h);
  OSLA_CALL(osla_agree(d->job->transport, err));
  *residual = updates_residual(&d->updates, d->values);
  return osla_bcast(d->job->transport, residual, 1, MPI_DOUBLE, 0);
}

static void teardown_osla(void *data)
{
  osla_hessian_destroy(&((hessian_data *)data)->hessian);
}

/* --- what the references share --- */

static osla_err setup_workspace(hessian_data *d)
{
  if (d->workspace) return OSLA_OK;
  uint64_t block = (uint64_t)(d->updates.count * d->updates.count);
  uint64_t each = osla_dtype_size(d->updates.dtype) * (uint64_t)d->job->settings->threads;
  return bench_alloc(d->job, d->updates.rows > 0 ? block * each : 0, &d->workspace);
}

static void teardown_workspace(hessian_data *d)
{
  free(d->workspace);
  d->workspace = NULL;
}

/* The ready block of update k, or G^T G in the thread's workspace. */
static osla_err make_block(hessian_data *d, int64_t k, int thread, const void **block)
{
  const updates *u = &d->updates;
  const void *g = *block = updates_values(u, k);
  if (u->rows == 0) return OSLA_OK;
  size_t each = (size_t)(u->count * u->count) * osla_dtype_size(u->dtype);
  void *product = (char *)d->workspace + (size_t)thread * each;
  *block = product;
  return osla_blas_gemm(u->dtype, OSLA_TRANS, OSLA_NOTRANS, u->count, u->count, u->rows, 1, g,
                        u->rows, g, u->rows, 0, product, u->count);
}

/* --- the whole triangle on every rank --- */

static int64_t packed_elements(const hessian_data *d)
{
  return d->n * (d->n + 1) / 2;
}

/* Where element (0, j) of the packed lower triangle would be: add i >= j. */
static int64_t packed_column(const hessian_data *d, int64_t j)
{
  return j * (2 * d->n - j - 1) / 2;
}

/* Both references use the same memory. */
static osla_err setup_own(void *data)
{
  hessian_data *d = data;
  if (d->own) return OSLA_OK;
  uint64_t each = osla_dtype_size(d->updates.dtype) * (uint64_t)d->job->settings->threads;
  OSLA_CALL(bench_alloc(d->job, (uint64_t)packed_elements(d) * each, &d->own));
  return setup_workspace(d);
}

static void teardown_own(void *data)
{
  hessian_data *d = data;
  free(d->own);
  d->own = NULL;
  teardown_workspace(d);
}

static osla_err prepare_own(void *data)
{
  hessian_data *d = data;
  size_t each = osla_dtype_size(d->updates.dtype) * (size_t)d->job->settings->threads;
  memset(d->own, 0, (size_t)packed_elements(d) * each);
  return OSLA_OK;
}

static void scatter_float(const hessian_data *d, const int64_t *ix, const float *block, float *own)
{
  int64_t count = d->updates.count;
  for (int64_t b = 0; b < count; b++) {
    float *column = own + packed_column(d, ix[b]);
    for (int64_t a = b; a < count; a++)
      column[ix[a]] += block[a + b * count];
  }
}

static void scatter_double(const hessian_data *d, const int64_t *ix, const double *block,
                           double *own)
{
  int64_t count = d->updates.count;
  for (int64_t b = 0; b < count; b++) {
    double *column = own + packed_column(d, ix[b]);
    for (int64_t a = b; a < count; a++)
      column[ix[a]] += block[a + b * count];
  }
}

static osla_err update_own(hessian_data *d, int64_t k, int thread)
{
  const updates *u = &d->updates;
  size_t size = osla_dtype_size(u->dtype);
  const void *block;
  OSLA_CALL(make_block(d, k, thread, &block));
  void *own = (char *)d->own + (size_t)thread * (size_t)packed_elements(d) * size;
  if (u->dtype == OSLA_FLOAT)
    scatter_float(d, updates_indices(u, k), block, own);
  else
    scatter_double(d, updates_indices(u, k), block, own);
  return OSLA_OK;
}

static osla_err run_blas(void *data)
{
  return each_update(data, update_own);
}

/* The threads' triangles are added up, then the ranks'. */
static osla_err run_allreduce(void *data)
{
  hessian_data *d = data;
  int64_t count = packed_elements(d);
  int threads = d->job->settings->threads;
  OSLA_CALL(each_update(d, update_own));
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < count; i++)
    for (int64_t other = 1; other < threads; other++) {
      if (d->updates.dtype == OSLA_FLOAT)
        ((float *)d->own)[i] += ((float *)d->own)[i + other * count];
      else
        ((double *)d->own)[i] += ((double *)d->own)[i + other * count];
    }
  return reference_allreduce(d->updates.dtype, d->own, count);
}

/* The samples in the triangles of `threads` threads of this rank. */
static void sample_own(hessian_data *d, int threads)
{
  const updates *u = &d->updates;
  for (int k = 0; k < UPDATES_SAMPLES; k++) {
    int64_t at = packed_column(d, u->sample[k].j) + u->sample[k].i;
    d->values[k] = 0;
    for (int64_t thread = 0; thread < threads; thread++)
      d->values[k] += bench_element(u->dtype, d->own, at + thread * packed_elements(d));
  }
}

static osla_err check_blas(void *data, double *residual)
{
  hessian_data *d = data;
  sample_own(d, d->job->settings->threads);
  OSLA_CALL(osla_allreduce(d->job->transport, d->values, UPDATES_SAMPLES, MPI_DOUBLE, MPI_SUM));
  *residual = updates_residual(&d->updates, d->values);
  return OSLA_OK;
}

static osla_err check_allreduce(void *data, double *residual)
{
  hessian_data *d = data;
  sample_own(d, 1);
  *residual = updates_residual(&d->updates, d->values);
  return osla_bcast(d->job->transport, residual, 1, MPI_DOUBLE, 0);
}

/* --- plain MPI_Accumulate --- */

static osla_err setup_accumulate(void *data)
{
  hessian_data *d = data;
  OSLA_CALL(reference_accumulate_create(d->job, d->n, &d->accumulate));
  return setup_workspace(d);
}

static void teardown_accumulate(void *data)
{
  hessian_data *d = data;
  reference_accumulate_free(&d->accumulate);
  teardown_workspace(d);
}

static osla_err prepare_accumulate(void *data)
{
  reference_accumulate_clear(&((hessian_data *)data)->accumulate);
  return OSLA_OK;
}

static osla_err update_accumulate(hessian_data *d, int64_t k, int thread)
{
  const void *block;
  OSLA_CALL(make_block(d, k, thread, &block));
  return reference_accumulate_add(&d->accumulate, d->updates.count, updates_indices(&d->updates, k),
                                  block);
}

static osla_err run_accumulate(void *data)
{
  hessian_data *d = data;
  osla_err err = each_update(d, update_accumulate);
  if (err != OSLA_OK) osla_transport_abort(d->job->transport, err); /* the others are in commit */
  return reference_accumulate_commit(&d->accumulate);
}

static osla_err check_accumulate(void *data, double *residual)
{
  hessian_data *d = data;
  const updates *u = &d->updates;
  for (int k = 0; k < UPDATES_SAMPLES; k++)
    d->values[k] = reference_accumulate_read(&d->accumulate, u->sample[k].i, u->sample[k].j);
  OSLA_CALL(osla_allreduce(d->job->transport, d->values, UPDATES_SAMPLES, MPI_DOUBLE, MPI_SUM));
  *residual = updates_residual(u, d->values);
  return OSLA_OK;
}

/* --- the kernel --- */

static const bench_impl impls[] = {
  {.name = "osla",
   .setup = setup_osla,
   .prepare = prepare_osla,
   .run = run_osla,
   .check = check_osla,
   .teardown = teardown_osla},
  {.name = "blas",
   .setup = setup_own,
   .prepare = prepare_own,
   .run = run_blas,
   .check = check_blas,
   .teardown = teardown_own},
  {.name = "allreduce",
   .setup = setup_own,
   .prepare = prepare_own,
   .run = run_allreduce,
   .check = check_allreduce,
   .teardown = teardown_own},
  {.name = "mpi-accumulate",
   .setup = setup_accumulate,
   .prepare = prepare_accumulate,
   .run = run_accumulate,
   .check = check_accumulate,
   .teardown = teardown_accumulate},
};

static osla_err run(bench_job *job, int64_t n)
{
  const bench_settings *s = job->settings;
  hessian_data *d = calloc(1, sizeof *d);
  osla_err err = d ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%zu bytes", sizeof *d);
  err = osla_agree(job->transport, err);
  if (err == OSLA_OK) {
    d->job = job;
    d->n = n;
    err = updates_create(job, n, &d->updates);
  }
  if (err == OSLA_OK) {
    double elements = (double)s->count * (double)(s->count + 1) / 2;
    bench_case c = {.kernel = "hessian",
                    .n = n,
                    .nb = s->nb,
                    .impls = impls,
                    .precision = s->dtype == OSLA_FLOAT ? "s" : "d",
                    .n_impls = sizeof impls / sizeof *impls,
                    .data = d,
                    .operations = 1,
                    .unit = BENCH_MELEMENTS,
                    .work = elements * (double)s->updates * (double)job->size};
    err = bench_run_case(job, &c);
  }
  if (d) updates_free(&d->updates);
  free(d);
  return err;
}

const bench_kernel bench_hessian = {
  .name = "hessian",
  .summary = "symmetric matrix of order N from indexed updates, H[ix,ix] += G^T G",
  .about =
    "\nTimes U updates of each rank and the commit, in million elements of the lower triangle per\n"
    "second, all ranks together, beside:\n"
    "  blas       the limit: each rank (thread) adds its updates to a triangle of its own, one "
    "gemm\n"
    "             for each G^T G; the triangles are never summed\n"
    "  allreduce  the same, and MPI_Allreduce of the whole triangle\n"
    "  mpi-accumulate  MPI_Accumulate with indexed datatypes on a block-cyclic window; only when\n"
    "             named: several MPI libraries lose updates in it or crash\n"
    "Residual: |h - serial sum| / (eps (terms + K) sum of magnitudes), 256 elements.\n",
  .references = "blas,allreduce,mpi-accumulate",
  .default_references = "blas,allreduce",
  .after =
    "Example: mpiexec -n 2 osla-bench hessian --n 8192 --size 400 --precision s --updates 200\n",
  .run = run,
  .sizes = {4096},
  .updates = true,
};
