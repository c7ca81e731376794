/* osla-bench gemv, symv: products of a matrix with a column. They read A once and compute little,
 * so the limit is the memory bandwidth: a copy that moves as many bytes, counted as in STREAM
 * (bytes read and written; McCalpin, IEEE TCCA Newsletter, 1995). */
#include "config.h"

#include "bench/bench_reference.h"
#include "osla_products.h"

#include <stdlib.h>
#include <string.h>

/* Matrices of one implementation. */
typedef struct vector_set {
  struct vector_data *product;
  osla_matrix *a, *x, *y;
  bool own;    /* true if create_set has created the matrices of this set */
  int64_t nb;  /* block size of the matrices of ScaLAPACK */
  int context; /* BLACS context */
} vector_set;

typedef struct vector_data {
  bench_job *job;
  bool symmetric;
  int64_t n;
  /* Vectors of the check, whole on every rank; one allocation, which starts at x. */
  osla_complex *x, *y, *expected;
  vector_set osla;
  vector_set scalapack[BENCH_MAX_REF_NB];
  reference_names names;
  unsigned char *room; /* destination of the copy */
  size_t bytes;        /* size in bytes of this rank's share of A */
} vector_data;

static osla_err create_set(vector_set *set, int64_t nb)
{
  const vector_data *d = set->product;
  const osla_dtype dtype = d->job->settings->dtype;
  osla_grid *grid = d->job->grid;
  set->own = true;
  OSLA_CALL(osla_matrix_create(grid, dtype, d->n, d->n, nb, nb, &set->a));
  OSLA_CALL(osla_matrix_fill(set->a, OSLA_FILL_UNIFORM, 1));
  OSLA_CALL(osla_matrix_create(grid, dtype, d->n, 1, nb, nb, &set->x));
  OSLA_CALL(osla_matrix_fill(set->x, OSLA_FILL_UNIFORM, 2));
  return osla_matrix_create(grid, dtype, d->n, 1, nb, nb, &set->y);
}

static void destroy_set(vector_set *set)
{
  if (!set->own) return;
  osla_matrix_destroy(&set->a);
  osla_matrix_destroy(&set->x);
  osla_matrix_destroy(&set->y);
  set->own = false;
}

/* whole := all elements of a distributed column, copied to every rank. */
static osla_err gather(osla_matrix *column, osla_complex *whole)
{
  const osla_complex one = 1;
  return bench_apply(BENCH_WHOLE, OSLA_NOTRANS, column, &one, whole);
}

static osla_err create(vector_data *d)
{
  const bench_settings *s = d->job->settings;
  d->osla = (vector_set){.product = d, .context = -1};
  OSLA_CALL(create_set(&d->osla, s->nb));
  void *vectors;
  OSLA_CALL(bench_alloc(d->job, (uint64_t)(3 * d->n) * sizeof(osla_complex), &vectors));
  d->x = vectors;
  d->y = d->x + d->n;
  d->expected = d->y + d->n;
  OSLA_CALL(gather(d->osla.x, d->x));
  return d->symmetric ? bench_apply_symmetric(OSLA_TRANS, d->osla.a, d->x, d->expected, d->y)
                      : bench_apply(BENCH_WHOLE, OSLA_NOTRANS, d->osla.a, d->x, d->expected);
}

static osla_err fill_nan(void *data)
{
  const vector_set *set = data;
  const size_t size = osla_dtype_size(osla_matrix_dtype(set->y));
  const int64_t rows = osla_matrix_local_rows(set->y);
  /* these bits are NaN in every element type */
  if (osla_matrix_local_cols(set->y) > 0 && rows > 0)
    memset(osla_matrix_local(set->y), 0xff, (size_t)rows * size);
  return OSLA_OK;
}

static osla_err check(void *data, double *residual)
{
  vector_set *set = data;
  vector_data *d = set->product;
  OSLA_CALL(gather(set->y, d->y));
  *residual = bench_residual(d->job->settings->dtype, d->y, d->expected, d->n, d->n);
  return OSLA_OK;
}

static osla_err run_osla(void *data)
{
  const vector_set *set = data;
  const osla_part a = osla_whole(set->a), x = osla_whole(set->x), y = osla_whole(set->y);
  return set->product->symmetric ? osla_symv(OSLA_LOWER, 1, a, x, 0, y)
                                 : osla_gemv(OSLA_NOTRANS, 1, a, x, 0, y);
}

/* --- copy --- */

static osla_err setup_copy(void *data)
{
  vector_data *d = ((vector_set *)data)->product;
  void *room;
  OSLA_CALL(bench_alloc(d->job, d->bytes + 1, &room));
  d->room = room;
  /* touches all pages, so that the first timed copy causes no page faults */
  memset(d->room, 1, d->bytes + 1);
  return OSLA_OK;
}

static osla_err prepare_copy(void *data)
{
  vector_data *d = ((vector_set *)data)->product;
  memset(d->room + d->bytes / 2, 2, d->bytes - d->bytes / 2);
  return OSLA_OK;
}

static osla_err run_copy(void *data)
{
  vector_data *d = ((vector_set *)data)->product;
  memcpy(d->room + d->bytes / 2, d->room, d->bytes / 2);
  __asm__ volatile("" ::: "memory");
  return osla_barrier(d->job->transport);
}

static osla_err check_copy(void *data, double *residual)
{
  vector_data *d = ((vector_set *)data)->product;
  double wrong = d->bytes > 1 && memcmp(d->room, d->room + d->bytes / 2, d->bytes / 2) != 0;
  OSLA_CALL(osla_allreduce(d->job->transport, &wrong, 1, MPI_DOUBLE, MPI_MAX));
  *residual = wrong > 0 ? BENCH_RESIDUAL_LIMIT : 0;
  return OSLA_OK;
}

static void teardown_copy(void *data)
{
  vector_data *d = ((vector_set *)data)->product;
  free(d->room);
  d->room = NULL;
}

/* --- scalapack --- */

static osla_err setup_scalapack(void *data)
{
  vector_set *set = data;
  OSLA_CALL(create_set(set, set->nb));
  return reference_scalapack_open(set->product->job->grid, &set->context);
}

static void teardown_scalapack(void *data)
{
  vector_set *set = data;
  reference_scalapack_close(&set->context);
  destroy_set(set);
}

static osla_err run_scalapack(void *data)
{
  const vector_set *set = data;
  return set->product->symmetric ? reference_scalapack_symv(set->context, set->a, set->x, set->y)
                                 : reference_scalapack_gemv(set->context, set->a, set->x, set->y);
}

static void add_scalapack(vector_data *d, bench_impl *impls, int *n)
{
  const bench_settings *s = d->job->settings;
  const bench_impl impl = {.setup = setup_scalapack,
                           .prepare = fill_nan,
                           .run = run_scalapack,
                           .check = check,
                           .teardown = teardown_scalapack};
  for (int i = 0; i < BENCH_MAX_REF_NB; i++) {
    d->scalapack[i] = d->osla;
    d->scalapack[i].own = false;
    d->scalapack[i].nb = i < s->n_ref_nb ? s->ref_nb[i] : 0;
  }
  reference_scalapack_impls(s, d->n, &impl, d->scalapack, sizeof *d->scalapack, &d->names, impls,
                            n);
}

/* --- the kernels --- */

static osla_err measure(vector_data *d)
{
  const bench_settings *s = d->job->settings;
  const double n = (double)d->n, size = (double)osla_dtype_size(s->dtype);
  const double elements = d->symmetric ? n * (n + 1) / 2 : n * n;
  const char precision[2] = {osla_dtype_letter(s->dtype), '\0'};
  bench_impl impls[BENCH_MAX_IMPLS] = {
    {.name = "osla", .prepare = fill_nan, .run = run_osla, .check = check, .data = &d->osla},
    {.name = "copy",
     .setup = setup_copy,
     .prepare = prepare_copy,
     .run = run_copy,
     .check = check_copy,
     .teardown = teardown_copy,
     .data = &d->osla}};
  int count = 2;
  d->bytes = (size_t)(elements * size / d->job->size);
  add_scalapack(d, impls, &count);
  bench_case c = {.kernel = d->symmetric ? "symv" : "gemv",
                  .precision = precision,
                  .n = d->n,
                  .nb = s->nb,
                  .impls = impls,
                  .n_impls = count,
                  .work = elements * size,
                  .unit = BENCH_GBYTES,
                  .operations = 1};
  return bench_run_case(d->job, &c);
}

static osla_err run(bench_job *job, int64_t n, bool symmetric)
{
  vector_data d = {.job = job, .symmetric = symmetric, .n = n};
  osla_err err = create(&d);
  if (err == OSLA_OK) err = measure(&d);
  destroy_set(&d.osla);
  free(d.x);
  return err;
}

static osla_err run_gemv(bench_job *job, int64_t n)
{
  return run(job, n, false);
}

static osla_err run_symv(bench_job *job, int64_t n)
{
  return run(job, n, true);
}

const bench_kernel bench_gemv = {
  .name = "gemv",
  .summary = "y := A x",
  .about =
    "\nTimes y := A x, A N x N, in GB/s of A's bytes, beside:\n"
    "  copy       the limit: a copy in private memory on each rank that moves as many bytes, read\n"
    "             and written\n"
    "  scalapack  pdgemv and the like on the same process grid\n"
    "Residual: |y - A x| / (eps sqrt(N) |A x|), max norms.\n",
  .references = "copy" REFERENCE_SCALAPACK,
  .precisions = "sdcz",
  .other_nb = true,
  .after = "Example: mpiexec -n 2 osla-bench gemv --n 4096\n",
  .run = run_gemv,
  .sizes = {4096},
};

const bench_kernel bench_symv = {
  .name = "symv",
  .summary = "y := A x, A symmetric by its lower triangle",
  .about = "\nTimes y := A x, A N x N, symmetric by its lower triangle, in GB/s of the triangle's "
           "bytes, beside:\n"
           "  copy       the limit, as of gemv\n"
           "  scalapack  pdsymv and the like on the same process grid\n"
           "Residual: as of gemv.\n",
  .references = "copy" REFERENCE_SCALAPACK,
  .other_nb = true,
  .after = "Example: mpiexec -n 2 osla-bench symv --n 4096\n",
  .run = run_symv,
  .sizes = {4096},
};
