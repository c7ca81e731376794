/* Sums of squares and norms of the columns of a sparse matrix. Each rank adds up what its rows
 * contribute, and one reduction brings the sums to the owners of the columns.
 *
 * Norms: as in krylov_range.c, columns whose squares leave the range of double are added up once
 * more, with entries that are multiplied by a power of two. */
#include "csr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHIFT = 600 };

static void add_squares(const csr_part *a, double factor, double *restrict d)
{
  for (int64_t e = a->first[0]; e < a->first[a->n]; e++) {
    const double value = factor * a->value[e];
    d[a->column[e]] += value * value;
  }
}

/* d[j] := the sum of the squares of `factor` times the entries of column j. */
static osla_err sum_squares(osla_csr *a, double factor, double *d)
{
  memset(d, 0, (size_t)a->columns * sizeof *d);
  memset(a->ghost, 0, (size_t)a->n_ghosts * sizeof *a->ghost);
  add_squares(&a->other, factor, a->ghost);
  add_squares(&a->own, factor, d);
  return osla_forest_reduce(a->forest, OSLA_ONE_DOUBLE, a->ghost, d, OSLA_SUM);
}

osla_err osla_csr_column_squares(osla_csr *a, double *d)
{
  return sum_squares(a, 1.0, d);
}

/* Replaces the norms that came from sums outside [2^-900, 2^1000]. */
static osla_err correct_norms(osla_csr *a, double *again, double *d)
{
  const double limit_small = 0x1p-450, limit_large = 0x1p500;
  int outside[2] = {0}; /* small, large */
  for (int64_t j = 0; j < a->columns; j++) {
    outside[0] |= d[j] < limit_small;
    outside[1] |= !(d[j] <= limit_large);
  }
  OSLA_CALL(osla_allreduce(a->t, outside, 2, MPI_INT, MPI_MAX));
  for (int large = 0; large < 2; large++) {
    const int shift = large ? -SHIFT : SHIFT;
    if (!outside[large]) continue;
    OSLA_CALL(sum_squares(a, ldexp(1.0, shift), again));
    for (int64_t j = 0; j < a->columns; j++)
      if (large ? !(d[j] <= limit_large) : d[j] < limit_small) d[j] = ldexp(sqrt(again[j]), -shift);
  }
  return OSLA_OK;
}

osla_err osla_csr_column_norms(osla_csr *a, double *d)
{
  double *again = calloc((size_t)a->columns + 1, sizeof *again);
  osla_err err = again ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "norms of columns");
  err = osla_agree(a->t, err);
  if (err == OSLA_OK) err = sum_squares(a, 1.0, d);
  for (int64_t j = 0; err == OSLA_OK && j < a->columns; j++)
    d[j] = sqrt(d[j]);
  if (err == OSLA_OK) err = correct_norms(a, again, d);
  free(again);
  return err;
}
