#include "tests/matrix/triangle_help.h"

#include "osla_index.h"
#include "src/matrix/stored.h"
#include "tests/osla_test_help.h"

#include <complex.h>
#include <stdlib.h>

osla_complex osla_test_mirrored(osla_dtype dtype, int64_t i, int64_t j)
{
  const bool real = dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE;
  const double x = (double)(256 * (i > j ? i : j) + (i > j ? j : i) + 1);
  return CMPLX(x, real ? 0.0 : i < j ? x : -x);
}

void osla_test_write_mirrored(osla_matrix *a, bool upper)
{
  const osla_layout l = osla_matrix_layout(a);
  const osla_grid *grid = osla_matrix_grid(a);
  const osla_dtype dtype = osla_matrix_dtype(a);
  for (int64_t c = 0; c < osla_matrix_local_cols(a); c++) {
    const stored_columns s = osli_stored_columns(a, osla_test_rank(), c);
    const int64_t j = osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol);
    for (int64_t r = s.first_row; r < osla_matrix_local_rows(a); r++) {
      const int64_t i = osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow);
      osla_test_store(dtype, osla_matrix_local(a), stored_index(&s, r, c),
                      i >= j || upper ? osla_test_mirrored(dtype, i, j) : -2);
    }
  }
}

/* Returns the element that osla_test_differ_mirrored expects at (i, j) of the matrix. */
static osla_complex expected(const osla_matrix *a, const osla_part *part, int64_t si, int64_t sj,
                             int64_t i, int64_t j)
{
  const osla_dtype dtype = osla_matrix_dtype(a);
  if (osla_matrix_is_triangle(a) && i < j) return conj(expected(a, part, si, sj, j, i));
  const bool inside =
    i >= part->i && i < part->i + part->m && j >= part->j && j < part->j + part->n;
  return inside ? osla_test_mirrored(dtype, i - part->i + si, j - part->j + sj)
                : osla_test_mirrored(dtype, i, j);
}

int64_t osla_test_differ_mirrored(const osla_matrix *a, const osla_part *part, int64_t si,
                                  int64_t sj)
{
  const int64_t n = osla_matrix_layout(a).n;
  const osla_dtype dtype = osla_matrix_dtype(a);
  void *whole = osla_test_allocate((size_t)(n * n) + 1, osla_dtype_size(dtype));
  int64_t wrong = 0;
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, n, n, whole, n > 0 ? n : 1));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++)
      wrong += osla_test_load(dtype, whole, i + j * n) != expected(a, part, si, sj, i, j);
  free(whole);
  return wrong;
}
