/* Sums of squares and norms of the columns of a sparse matrix. Each rank adds up the contributions
 * of its rows; one reduction then adds up the contributions of all ranks at the owners of the
 * columns.
 *
 * Columns whose squares leave the range of double are added up again, with entries multiplied by a
 * power of two (compare krylov_range.c). */
#include "kernels/sparse/csr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHIFT = 600 };
static const double LEAST_NORM = 0x1p-450, LARGEST_NORM = 0x1p500;

static void add_squares(const csr_part *a, double factor, double *restrict d)
{
  for (int64_t e = a->first[0]; e < a->first[a->n]; e++) {
    const double value = factor * a->value[e];
    d[a->column[e]] += value * value;
  }
}

/* d[j] becomes the sum of the squares of factor * a_ij over the entries a_ij of column j. */
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

/* Returns whether some nonzero entry is so small that its square may have underflowed. */
static int has_small_entries(const csr_part *a)
{
  for (int64_t e = a->first[0]; e < a->first[a->n]; e++)
    if (a->value[e] != 0.0 && fabs(a->value[e]) < LEAST_NORM) return 1;
  return 0;
}

/* Computes those norms again whose squares may be inaccurate, because they are outside the middle
 * of the range of double. */
static osla_err correct_norms(osla_csr *a, double *again, double *d)
{
  enum { SMALL_ENTRIES, SMALL, LARGE, N_FOUND };
  int found[N_FOUND] = {has_small_entries(&a->own) || has_small_entries(&a->other)};
  for (int64_t j = 0; j < a->columns; j++) {
    found[SMALL] |= d[j] < LEAST_NORM;
    found[LARGE] |= !(d[j] <= LARGEST_NORM);
  }
  OSLA_CALL(osla_allreduce(a->t, found, N_FOUND, MPI_INT, MPI_MAX));
  const bool is_needed[2] = {found[SMALL_ENTRIES] && found[SMALL], found[LARGE]};
  for (int large = 0; large < 2; large++) {
    const int shift = large ? -SHIFT : SHIFT;
    if (!is_needed[large]) continue;
    OSLA_CALL(sum_squares(a, ldexp(1.0, shift), again));
    for (int64_t j = 0; j < a->columns; j++)
      if (large ? !(d[j] <= LARGEST_NORM) : d[j] < LEAST_NORM) d[j] = ldexp(sqrt(again[j]), -shift);
  }
  return OSLA_OK;
}

osla_err osla_csr_column_norms(osla_csr *a, double *d)
{
  double *again = calloc((size_t)a->columns + 1, sizeof *again);
  osla_err err = again ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for norms of columns");
  err = osla_agree(a->t, err);
  if (err == OSLA_OK) err = sum_squares(a, 1.0, d);
  for (int64_t j = 0; err == OSLA_OK && j < a->columns; j++)
    d[j] = sqrt(d[j]);
  if (err == OSLA_OK) err = correct_norms(a, again, d);
  free(again);
  return err;
}
