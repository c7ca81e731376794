/* Assembly by Global Arrays: the accumulator of ga_adapt, which calls NGA_Scatter_acc on an array
 * in GA's regular distribution. See bench_reference.h. */
#include "config.h"

#include "bench/bench_reference.h"

#ifdef HAVE_GA

#include <ga.h>
#include <macdecls.h>

osla_err reference_scatter_create(bench_job *job, int64_t n, reference_scatter *out)
{
  osla_dtype dtype = job->settings->dtype;
  int64_t dims[2] = {n, n};
  uint64_t share = (uint64_t)(n * n) / (uint64_t)job->size + (uint64_t)n;
  *out = (reference_scatter){.job = job, .dtype = dtype};
  OSLA_CALL(bench_memory_check(job, share * osla_dtype_size(dtype) + reference_ga_bytes(job)));
  OSLA_CALL(reference_ga_start(job));
  out->array = NGA_Create64(dtype == OSLA_FLOAT ? C_FLOAT : C_DBL, 2, dims, "osla-bench", NULL);
  OSLA_CHECK(out->array, OSLA_ERR_MEM, "an array of Global Arrays");
  return osla_ga_hessian_create(out->array, job->settings->uplo, &out->hessian);
}

void reference_scatter_free(reference_scatter *h)
{
  osla_ga_hessian_destroy(&h->hessian);
  if (h->array) GA_Destroy(h->array);
  *h = (reference_scatter){0};
}

osla_err reference_scatter_clear(reference_scatter *h)
{
  GA_Zero(h->array);
  GA_Sync();
  return OSLA_OK;
}

osla_err reference_scatter_add(reference_scatter *h, int64_t count, const int64_t *ix, int64_t rows,
                               const void *values)
{
  if (rows > 0) return osla_ga_hessian_update(h->hessian, count, ix, rows, values, rows);
  return osla_ga_hessian_update_block(h->hessian, count, ix, count, ix, values, count);
}

osla_err reference_scatter_commit(reference_scatter *h)
{
  return osla_ga_hessian_commit(h->hessian);
}

/* Indices are in the order (column, row), as GA's memory is column-major. */
double reference_scatter_read(reference_scatter *h, int64_t i, int64_t j)
{
  bool lower = h->job->settings->uplo == OSLA_LOWER;
  int64_t at[2] = {lower ? j : i, lower ? i : j}, ld[1] = {1};
  double element = 0; /* large enough for a float or a double */
  NGA_Get64(h->array, at, at, &element, ld);
  return bench_element(h->dtype, &element, 0);
}

#else

/* In a build without Global Arrays, --ref refuses "ga": these functions are never called. */
osla_err reference_scatter_create(bench_job *job, int64_t n, reference_scatter *out)
{
  (void)job, (void)n, (void)out;
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "built without Global Arrays");
}

void reference_scatter_free(reference_scatter *h)
{
  (void)h;
}

osla_err reference_scatter_clear(reference_scatter *h)
{
  (void)h;
  return OSLA_ERR_UNSUPPORTED;
}

osla_err reference_scatter_add(reference_scatter *h, int64_t count, const int64_t *ix, int64_t rows,
                               const void *values)
{
  (void)h, (void)count, (void)ix, (void)rows, (void)values;
  return OSLA_ERR_UNSUPPORTED;
}

osla_err reference_scatter_commit(reference_scatter *h)
{
  (void)h;
  return OSLA_ERR_UNSUPPORTED;
}

double reference_scatter_read(reference_scatter *h, int64_t i, int64_t j)
{
  (void)h, (void)i, (void)j;
  return 0;
}

#endif
