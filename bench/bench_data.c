/* Private memory, products with a vector, norms. See bench.h. */
#include "bench.h"
#include "osla_index.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

osla_err bench_alloc(bench_job *job, uint64_t bytes, void **out)
{
  uint64_t shared = 0, available = 0, need = bytes;
  osla_err err = OSLA_OK;
  uint64_t *share = calloc((size_t)job->size, sizeof *share);
  *out = NULL;
  if (!share) err = osla_error_set(OSLA_ERR_MEM, "table of %d ranks", job->size);
  OSLA_TRY(osla_agree(job->transport, err));
  share[job->rank] = bytes;
  OSLA_TRY(osla_allreduce(job->transport, share, job->size, MPI_UINT64_T, MPI_SUM));
  osla_memory_available(&shared, &available);
  for (int rank = 0; rank < job->size; rank++)
    if (rank != job->rank && osla_transport_same_node(job->transport, rank)) need += share[rank];
  if (need > available)
    err = osla_error_set(
      OSLA_ERR_MEM, "private memory: %" PRIu64 " bytes needed on a node, %" PRIu64 " available",
      need, available);
  OSLA_TRY(osla_agree(job->transport, err));
  *out = calloc(bytes ? (size_t)bytes : 1, 1);
  if (!*out) err = osla_error_set(OSLA_ERR_MEM, "%" PRIu64 " bytes cannot be allocated", bytes);
  OSLA_TRY(osla_agree(job->transport, err));
cleanup:
  if (err != OSLA_OK) {
    free(*out);
    *out = NULL;
  }
  free(share);
  return err;
}

double bench_eps(osla_dtype dtype)
{
  return dtype == OSLA_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;
}

void bench_apply_local(osla_dtype dtype, int64_t m, int64_t n, const void *a, int64_t ld,
                       const double *x, double *y)
{
  for (int64_t j = 0; j < n; j++) {
    if (dtype == OSLA_FLOAT) {
      const float *column = (const float *)a + j * ld;
      for (int64_t i = 0; i < m; i++)
        y[i] += (double)column[i] * x[j];
    } else {
      const double *column = (const double *)a + j * ld;
      for (int64_t i = 0; i < m; i++)
        y[i] += column[i] * x[j];
    }
  }
}

osla_err bench_apply(osla_matrix *a, const double *x, double *y)
{
  osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  osla_transport *t = osla_grid_transport(grid);
  int64_t rows = osla_matrix_local_rows(a), cols = osla_matrix_local_cols(a);
  int prow = osla_grid_prow(grid), pcol = osla_grid_pcol(grid);
  osla_err err = OSLA_OK;
  double *part = calloc((size_t)(rows + cols + 1), sizeof *part); /* my rows of y, columns of x */
  if (!part) err = osla_error_set(OSLA_ERR_MEM, "%" PRId64 " elements", rows + cols);
  OSLA_TRY(osla_agree(t, err));
  for (int64_t j = 0; j < cols; j++)
    part[rows + j] = x[osla_index_global(j, l.nb, pcol, l.npcol)];
  bench_apply_local(osla_matrix_dtype(a), rows, cols, osla_matrix_local(a),
                    osla_matrix_lld(a, osla_transport_rank(t)), part + rows, part);
  memset(y, 0, (size_t)l.m * sizeof *y);
  for (int64_t i = 0; i < rows; i++)
    y[osla_index_global(i, l.mb, prow, l.nprow)] = part[i];
  err = osla_allreduce(t, y, l.m, MPI_DOUBLE, MPI_SUM);
cleanup:
  free(part);
  return err;
}

double bench_max(const double *u, int64_t n)
{
  double largest = 0;
  for (int64_t i = 0; i < n; i++)
    if (!(fabs(u[i]) <= largest)) largest = fabs(u[i]);
  return largest;
}

double bench_max_difference(const double *u, const double *v, int64_t n)
{
  double largest = 0;
  for (int64_t i = 0; i < n; i++) {
    double d = fabs(u[i] - v[i]);
    if (isnan(d)) return d;
    if (d > largest) largest = d;
  }
  return largest;
}

osla_err bench_norm_inf_local(osla_dtype dtype, int64_t m, int64_t n, const void *a, int64_t ld,
                              double *norm)
{
  double *sum = calloc((size_t)m + 1, sizeof *sum);
  OSLA_CHECK(sum, OSLA_ERR_MEM, "%" PRId64 " row sums", m);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++)
      sum[i] += fabs(bench_element(dtype, a, i + j * ld));
  *norm = bench_max(sum, m);
  free(sum);
  return OSLA_OK;
}
