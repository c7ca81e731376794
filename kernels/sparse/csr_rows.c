/* Access to rows of a sparse matrix in the order of global columns, replacement of values, and
 * access to the diagonal. In this order, a row has first its entries in ghost columns before
 * this rank's columns, then its entries in this rank's columns, then its entries in other ghost
 * columns. */
#include "kernels/sparse/csr.h"

#include <inttypes.h>
#include <string.h>

/* Returns the index in a->other of the first row whose local index is at least `row`. */
static int64_t row_of_others(const osla_csr *a, int64_t row)
{
  int64_t low = 0, high = a->other.n;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (a->other_row[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int64_t osla_csr_row(const osla_csr *a, int64_t row, int64_t *column, double *value)
{
  const int64_t low = a->column_start[osla_transport_rank(a->t)];
  int64_t n = 0, e = a->own.first[row], at = row_of_others(a, row);
  const int64_t end = a->own.first[row + 1];
  int64_t g = a->other.first[at], g_end = a->other.first[at];
  if (at < a->other.n && a->other_row[at] == row) g_end = a->other.first[at + 1];
  for (; e < end || g < g_end; n++) {
    const int64_t mine = e < end ? low + a->own.column[e] : INT64_MAX;
    const int64_t theirs = g < g_end ? a->ghost_column[a->other.column[g]] : INT64_MAX;
    const bool own = mine < theirs;
    if (column) column[n] = own ? mine : theirs;
    if (value) value[n] = own ? a->own.value[e] : a->other.value[g];
    if (own)
      e++;
    else
      g++;
  }
  return n;
}

/* Sets the values of local row `row` from `value`, which has them in the order of global
 * columns. Returns the number of values. `other` is the index of the row in a->other, or -1 if
 * the row has no entries in ghost columns. */
static int64_t set_row(osla_csr *a, int64_t row, int64_t other, const double *value)
{
  const int64_t low = a->column_start[osla_transport_rank(a->t)];
  const int64_t own = a->own.first[row], n_own = a->own.first[row + 1] - own;
  int64_t n = 0, g = other < 0 ? 0 : a->other.first[other];
  const int64_t end = other < 0 ? 0 : a->other.first[other + 1];
  for (; g < end && a->ghost_column[a->other.column[g]] < low; g++)
    a->other.value[g] = value[n++];
  if (n_own > 0) memcpy(a->own.value + own, value + n, (size_t)n_own * sizeof *value);
  n += n_own;
  for (; g < end; g++)
    a->other.value[g] = value[n++];
  return n;
}

osla_err osla_csr_set_values(osla_csr *a, const double *value)
{
  OSLA_CHECK(!a->device, OSLA_ERR_ARG,
             "osla_csr_set_values: the matrix has a copy on a device, which would keep the old "
             "values: set them before osla_csr_to_device");
  OSLA_CHECK(value || osla_csr_entries(a) == 0, OSLA_ERR_ARG,
             "osla_csr_set_values: value is NULL, but this rank has %" PRId64 " entries",
             osla_csr_entries(a));
  if (osla_csr_entries(a) == 0) return OSLA_OK;
  for (int64_t i = 0, other = 0; i < a->rows; i++) {
    const bool has_other = other < a->other.n && a->other_row[other] == i;
    value += set_row(a, i, has_other ? other : -1, value);
    other += has_other;
  }
  return OSLA_OK;
}

osla_err osla_csr_diagonal(const osla_csr *a, double *d)
{
  const int rank = osla_transport_rank(a->t);
  OSLA_CHECK(a->rows == a->columns && a->row_start[rank] == a->column_start[rank], OSLA_ERR_ARG,
             "the diagonal needs equal blocks: rank %d has rows from %" PRId64
             " and columns from %" PRId64,
             rank, a->row_start[rank], a->column_start[rank]);
  for (int64_t i = 0; i < a->rows; i++) {
    d[i] = 0.0;
    for (int64_t e = a->own.first[i]; e < a->own.first[i + 1]; e++)
      if (a->own.column[e] == i) d[i] = a->own.value[e];
  }
  return OSLA_OK;
}
