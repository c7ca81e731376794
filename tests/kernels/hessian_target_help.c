#include "tests/kernels/hessian_target_help.h"

#include "osla_index.h"
#include "src/matrix/stored.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Number of rows by which a caller's local array is longer than needed; these rows must not
 * change. */
enum { EXTRA = 3, UNUSED = 77 };

static osla_layout layout_of(osla_grid *grid, int64_t n, int64_t nb)
{
  return (osla_layout){n, n, nb, nb, osla_grid_nprow(grid), osla_grid_npcol(grid)};
}

target target_make(osla_grid *grid, made_by kind, osla_dtype dtype, int64_t n, int64_t nb)
{
  target a = {.kind = kind};
  const osla_layout l = layout_of(grid, n, nb);
  const int64_t lld = osla_index_count(n, nb, osla_grid_prow(grid), l.nprow) + EXTRA;
  const int64_t cols = osla_index_count(n, nb, osla_grid_pcol(grid), l.npcol);
  const size_t bytes = (size_t)(lld * cols + 1) * sizeof(double);
  switch (kind) {
    case CREATE: OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, n, n, nb, nb, &a.matrix)); break;
    case TRIANGLE:
      OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, dtype, n, nb, &a.matrix));
      break;
    case CREATE_IN:
      OSLA_ASSERT_OK(osla_segment_create(osla_grid_transport(grid), bytes, 0, &a.segment));
      OSLA_ASSERT_OK(osla_matrix_create_in(a.segment, grid, dtype, n, n, nb, nb, &a.matrix));
      break;
    default:
      a.memory = osla_test_allocate(bytes, 1);
      for (int64_t at = 0; at < lld * cols; at++)
        osla_test_store(dtype, a.memory, at, UNUSED);
      if (kind == WRAP)
        OSLA_ASSERT_OK(osla_matrix_wrap(grid, dtype, n, n, nb, nb, a.memory, lld, &a.matrix));
      else
        OSLA_ASSERT_OK(osla_matrix_wrap_own(grid, dtype, n, n, nb, nb, a.memory, lld, &a.matrix));
  }
  return a;
}

void target_free(target *a)
{
  osla_matrix_destroy(&a->matrix);
  osla_segment_destroy(&a->segment);
  free(a->memory);
}

/* First value of element (i, j). */
static double first_value(int64_t i, int64_t j)
{
  return (double)((3 * i + 5 * j) % 11 - 4);
}

static bool is_stored(osla_uplo uplo, int64_t i, int64_t j)
{
  return uplo == OSLA_GENERAL || (uplo == OSLA_LOWER ? i >= j : i <= j);
}

/* Type of a function that visits an element of this rank's local array: its index in the array, and
 * its row and column in the matrix. */
typedef void visit_element(const target *a, int64_t at, int64_t i, int64_t j, void *arg);

/* Calls visit for all elements that this rank stores. */
static void for_each_element(const target *a, visit_element *visit, void *arg)
{
  const osla_layout l = osla_matrix_layout(a->matrix);
  osla_grid *grid = osla_matrix_grid(a->matrix);
  for (int64_t c = 0; c < osla_matrix_local_cols(a->matrix); c++) {
    const int64_t j = osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol);
    const stored_columns s = osli_stored_columns(a->matrix, osla_test_rank(), c);
    for (int64_t r = s.first_row; r < osla_matrix_local_rows(a->matrix); r++)
      visit(a, stored_index(&s, r, c), osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow), j,
            arg);
  }
}

static void store_first(const target *a, int64_t at, int64_t i, int64_t j, void *arg)
{
  (void)arg;
  osla_test_store(osla_matrix_dtype(a->matrix), osla_matrix_local(a->matrix), at,
                  first_value(i, j));
}

void target_fill(const target *a, serial_sum *sum, bool clear, double initial)
{
  for_each_element(a, store_first, NULL);
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(osla_matrix_grid(a->matrix))));
  sum_clear(sum);
  for (int64_t j = 0; j < sum->n; j++)
    for (int64_t i = 0; i < sum->n; i++)
      sum->h[i + j * sum->n] = clear && is_stored(sum->uplo, i, j) ? initial : first_value(i, j);
}

typedef struct comparison {
  const serial_sum *sum;
  int64_t differ; /* number of elements that differ from the sum */
} comparison;

static void compare_element(const target *a, int64_t at, int64_t i, int64_t j, void *arg)
{
  comparison *c = arg;
  if (a->kind == TRIANGLE && i < j) return; /* stored in diagonal blocks, without a meaning */
  const double seen =
    osla_test_real(osla_matrix_dtype(a->matrix), osla_matrix_local(a->matrix), at);
  c->differ += seen != c->sum->h[i + j * c->sum->n];
}

/* Returns how many elements of this rank differ from the sum, or lie between the columns of the
 * caller's memory and have changed. */
static int64_t count_differences(const target *a, const serial_sum *sum)
{
  comparison c = {.sum = sum};
  for_each_element(a, compare_element, &c);
  const int64_t rows = osla_matrix_local_rows(a->matrix);
  const int64_t lld = osla_matrix_lld(a->matrix, osla_test_rank());
  for (int64_t at = 0; a->memory && at < lld * osla_matrix_local_cols(a->matrix); at++)
    if (at % lld >= rows)
      c.differ += osla_test_real(osla_matrix_dtype(a->matrix), a->memory, at) != UNUSED;
  return c.differ;
}

void target_assert(const target *a, const serial_sum *sum, osla_hessian *h, const char *when)
{
  osla_matrix *matrix = NULL;
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  OSLA_ASSERT_OK(osla_hessian_matrix(h, &matrix));
  CU_ASSERT(matrix == a->matrix);
  const int64_t differ = count_differences(a, sum);
  OSLA_ASSERT_MSG(differ == 0, "%s: kind %d, uplo %d: %" PRId64 " elements differ", when,
                  (int)a->kind, (int)sum->uplo, differ);
  CU_ASSERT(
    memcmp(osla_hessian_gradient(h), sum->gradient, (size_t)sum->n * sizeof *sum->gradient) == 0);
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(osla_matrix_grid(a->matrix))));
}
