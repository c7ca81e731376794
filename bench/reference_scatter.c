/* The assembly by Global Arrays: NGA_Scatter_acc for each update, which finds the owner of each
 * element itself, into an array in GA's regular distribution. See reference.h. */
#include "config.h"

#include "reference.h"

#ifdef HAVE_GA

#include <ga.h>
#include <inttypes.h>
#include <macdecls.h>
#include <stdlib.h>

/* Elements of one call: ARMCI-MPI 0.3.1 keeps its lists of addresses on the stack, and dies of a
 * million elements. */
enum { CALL_ELEMENTS = 1 << 16 };

osla_err reference_scatter_create(bench_job *job, int64_t n, int64_t count, reference_scatter *out)
{
  osla_dtype dtype = job->settings->dtype;
  int64_t dims[2] = {n, n}, most = count * (count + 1) / 2;
  size_t size = osla_dtype_size(dtype), lists = (size_t)most * (2 * sizeof(int64_t) + size);
  uint64_t share = (uint64_t)(n * n) / (uint64_t)job->size + (uint64_t)n;
  *out = (reference_scatter){.job = job, .dtype = dtype};
  OSLA_CALL(bench_look_for(job, share * size + 2 * lists + reference_ga_bytes(job)));
  OSLA_CALL(reference_ga_start(job));
  out->place = malloc((size_t)most * 2 * sizeof *out->place);
  out->values = malloc((size_t)most * size);
  osla_err err = OSLA_OK;
  if (!out->place || !out->values)
    err = osla_error_set(OSLA_ERR_MEM, "an update of %" PRId64 " elements", most);
  OSLA_CALL(osla_agree(job->transport, err));
  out->array = NGA_Create64(dtype == OSLA_FLOAT ? C_FLOAT : C_DBL, 2, dims, "osla-bench", NULL);
  if (out->array == 0) err = osla_error_set(OSLA_ERR_MEM, "an array of Global Arrays");
  return osla_agree(job->transport, err);
}

void reference_scatter_free(reference_scatter *h)
{
  if (h->array) GA_Destroy(h->array);
  free(h->place);
  free(h->values);
  *h = (reference_scatter){0};
}

osla_err reference_scatter_clear(reference_scatter *h)
{
  GA_Zero(h->array);
  GA_Sync();
  return OSLA_OK;
}

/* In the order (column, row), as GA's memory lies. */
void reference_scatter_add(reference_scatter *h, int64_t count, const int64_t *ix,
                           const void *block)
{
  bool lower = h->job->settings->uplo == OSLA_LOWER;
  float one_float = 1;
  double one = 1;
  int64_t found = 0;
  for (int64_t b = 0; b < count; b++)
    for (int64_t a = lower ? b : 0; a < (lower ? count : b + 1); a++) {
      h->place[2 * found] = ix[b];
      h->place[2 * found + 1] = ix[a];
      if (h->dtype == OSLA_FLOAT)
        ((float *)h->values)[found] = ((const float *)block)[a + b * count];
      else
        ((double *)h->values)[found] = ((const double *)block)[a + b * count];
      found++;
    }
  for (int64_t at = 0; at < found; at += CALL_ELEMENTS) {
    int64_t some = found - at < CALL_ELEMENTS ? found - at : CALL_ELEMENTS;
    NGA_Scatter_acc_flat64(h->array, (char *)h->values + (size_t)at * osla_dtype_size(h->dtype),
                           h->place + 2 * at, some,
                           h->dtype == OSLA_FLOAT ? (void *)&one_float : (void *)&one);
  }
}

osla_err reference_scatter_commit(reference_scatter *h)
{
  (void)h;
  GA_Sync();
  return OSLA_OK;
}

double reference_scatter_read(reference_scatter *h, int64_t i, int64_t j)
{
  bool lower = h->job->settings->uplo == OSLA_LOWER;
  int64_t at[2] = {lower ? j : i, lower ? i : j}, ld[1] = {1};
  double element = 0; /* room for either type */
  NGA_Get64(h->array, at, at, &element, ld);
  return bench_element(h->dtype, &element, 0);
}

#else

/* --ref refuses ga in such a build: these are there for the linker. */
osla_err reference_scatter_create(bench_job *job, int64_t n, int64_t count, reference_scatter *out)
{
  (void)job, (void)n, (void)count, (void)out;
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

void reference_scatter_add(reference_scatter *h, int64_t count, const int64_t *ix,
                           const void *block)
{
  (void)h, (void)count, (void)ix, (void)block;
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
