/* Access to single elements in the memory of this rank. */
#include "tools/common/local_elements.h"

#include "src/matrix/stored.h"

#include <math.h>

static int this_rank(const osla_matrix *a)
{
  return osla_transport_rank(osla_grid_transport(osla_matrix_grid(a)));
}

int64_t local_element_index(const osla_matrix *a, int64_t i, int64_t j)
{
  const osla_layout l = osla_matrix_layout(a);
  const osla_grid *grid = osla_matrix_grid(a);
  if (osla_index_owner(i, l.mb, l.nprow) != osla_grid_prow(grid) ||
      osla_index_owner(j, l.nb, l.npcol) != osla_grid_pcol(grid))
    return -1;
  const int64_t row = osla_index_local(i, l.mb, l.nprow), col = osla_index_local(j, l.nb, l.npcol);
  const stored_columns s = osli_stored_columns(a, this_rank(a), col);
  return row >= s.first_row ? stored_index(&s, row, col) : -1;
}

int64_t local_column_index(const osla_matrix *a, int64_t j)
{
  const osla_layout l = osla_matrix_layout(a);
  const int64_t col = osla_index_local(j, l.nb, l.npcol);
  const stored_columns s = osli_stored_columns(a, this_rank(a), col);
  return stored_index(&s, 0, col);
}

double local_element_get(const osla_matrix *a, int64_t index)
{
  const void *local = osla_matrix_local(a);
  return osla_matrix_dtype(a) == OSLA_FLOAT ? (double)((const float *)local)[index]
                                            : ((const double *)local)[index];
}

void local_element_set(const osla_matrix *a, int64_t index, double value)
{
  void *local = osla_matrix_local(a);
  if (osla_matrix_dtype(a) == OSLA_FLOAT)
    ((float *)local)[index] = (float)value;
  else
    ((double *)local)[index] = value;
}

/* Searches local rows [from, to) of local column `col`, which is in the run s. Returns the first
 * row whose element is infinite or NaN, or `to` if all elements are finite. */
static int64_t find_in_column(const osla_matrix *a, const stored_columns *s, int64_t col,
                              int64_t from, int64_t to)
{
  const int64_t start = stored_index(s, 0, col);
  int64_t row = from;
  if (osla_matrix_dtype(a) == OSLA_FLOAT) {
    const float *local = osla_matrix_local(a);
    while (row < to && isfinite(local[start + row]))
      row++;
  } else {
    const double *local = osla_matrix_local(a);
    while (row < to && isfinite(local[start + row]))
      row++;
  }
  return row;
}

int64_t local_elements_find_infinite(const osla_matrix *a, osla_uplo uplo)
{
  const osla_layout l = osla_matrix_layout(a);
  const int prow = osla_grid_prow(osla_matrix_grid(a)), pcol = osla_grid_pcol(osla_matrix_grid(a));
  const int64_t rows = osla_matrix_local_rows(a), cols = osla_matrix_local_cols(a);
  stored_columns s = {0};
  for (int64_t c = 0; c < cols; c++) {
    const int64_t j = osla_index_global(c, l.nb, pcol, l.npcol);
    const int64_t from = uplo == OSLA_LOWER ? osla_index_count(j, l.mb, prow, l.nprow) : 0;
    const int64_t to = uplo == OSLA_LOWER ? rows : osla_index_count(j + 1, l.mb, prow, l.nprow);
    if (c == s.first + s.count) s = osli_stored_columns(a, this_rank(a), c);
    const int64_t row = find_in_column(a, &s, c, from, to);
    if (row < to) return osla_index_global(row, l.mb, prow, l.nprow) + j * l.n;
  }
  return l.n * l.n;
}
