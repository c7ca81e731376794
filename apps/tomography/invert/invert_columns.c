/* The posterior by columns: column i of C = (H + P)^-1 is the solution c of (H + P) c = e_i. The
 * factor is not overwritten. Column i gives C_ii, and row i of P times the column gives (C P)_ii.
 * This method takes 2 n^3 operations, and the inverse in place (2/3) n^3, but this method works
 * with any factor. Memory: n doubles for each of the `width` columns that are solved at a time. The
 * ranks read the columns cyclically. */
#include "apps/tomography/invert/invert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the memory of a rank for `width` columns: the columns, their copy in the type of H, the
 * distributed right-hand sides and workspace of the solve, and one product with P. */
uint64_t invert_columns_bytes(const invert_job *job, int64_t width)
{
  const invert_options *o = job->options;
  const uint64_t n = (uint64_t)job->n, element = (uint64_t)osla_dtype_size(o->dtype);
  const int rows = osla_grid_nprow(job->grid), columns = osla_grid_npcol(job->grid);
  const int nodes = osla_transport_n_nodes(job->t), ranks = rows * columns;
  uint64_t bytes = n * (uint64_t)width * sizeof(double) + n * sizeof(double);
  osla_shape shape;
  if (o->dtype == OSLA_FLOAT) bytes += n * (uint64_t)width * element;
  if (osla_shape_make(ranks, (ranks + nodes - 1) / nodes, job->n, o->nb, o->dtype, &shape) ==
      OSLA_OK)
    bytes += osla_getrs_memory(&shape, width);
  const osla_layout share = {job->n, width, o->nb, o->nb, rows, columns};
  return bytes + osla_matrix_bytes(&share, o->dtype);
}

/* Sets variance[i] = C_ii and pulled[i] = (C P)_ii for the columns i that this rank reads, among
 * the `count` solved columns from `first` on. */
static void read_columns(const invert_job *job, int64_t first, int64_t count, const double *column,
                         double *product, double *variance, double *pulled)
{
  const int64_t ranks = osla_transport_size(job->t), rank = osla_transport_rank(job->t);
  for (int64_t k = 0; k < count; k++) {
    const int64_t i = first + k;
    const double *c = column + k * job->n;
    if (i % ranks != rank) continue;
    tomo_prior_multiply(&job->prior, job->mesh, job->options->n_radial, c, product);
    variance[i] = c[i];
    pulled[i] = product[i];
  }
}

static osla_err find_all(invert_job *job, double *column, double *product, double *variance,
                         double *pulled)
{
  const int64_t width = job->posterior.width;
  const bool show = invert_shows_progress(job);
  for (int64_t first = 0; first < job->n; first += width) {
    const int64_t count = job->n - first < width ? job->n - first : width;
    if (show)
      (void)fprintf(stderr, "\rinverse: column %" PRId64 " of %" PRId64 "\033[K", first, job->n);
    memset(column, 0, (size_t)(job->n * count) * sizeof *column);
    for (int64_t k = 0; k < count; k++)
      column[first + k + k * job->n] = 1.0;
    OSLA_CALL(invert_solve_columns(job, job->options->factor, count, column));
    read_columns(job, first, count, column, product, variance, pulled);
  }
  if (show) (void)fprintf(stderr, "\r\033[K");
  return OSLA_OK;
}

osla_err invert_add_columns(invert_job *job, double *variance, double *pulled)
{
  const size_t n = (size_t)job->n, width = (size_t)job->posterior.width;
  double *column = malloc(n * width * sizeof *column), *product = malloc(n * sizeof *product);
  osla_err err = OSLA_OK;
  if (!column || !product)
    err = osla_error_set(OSLA_ERR_MEM, "no memory for %zu columns of %zu unknowns", width, n);
  err = osla_agree(job->t, err);
  if (err == OSLA_OK) err = find_all(job, column, product, variance, pulled);
  free(column);
  free(product);
  return err;
}
