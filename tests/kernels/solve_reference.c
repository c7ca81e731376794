#include "tests/kernels/solve_reference.h"

#include "osla_index.h"
#include "osla_random.h"
#include "src/matrix/stored.h"
#include "tests/complex_help.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static osla_complex get(const dense *d, int64_t i, int64_t j)
{
  const double *at = dense_at(d, i, j);
  return CMPLX(at[0], d->parts == 2 ? at[1] : 0.0);
}

static void set(const dense *d, int64_t i, int64_t j, osla_complex value)
{
  double *at = dense_at(d, i, j);
  at[0] = creal(value);
  if (d->parts == 2) at[1] = cimag(value);
}

dense exact_numbers(int64_t m, int64_t n, int parts, int reach, uint64_t seed)
{
  dense d = dense_make(m, n, parts);
  uint64_t span = 2 * (uint64_t)reach + 1;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m * parts; i++)
      d.at[i + j * m * parts] =
        (double)(osla_random_bits(seed, (uint64_t)i, (uint64_t)j) % span) - reach;
  return d;
}

dense exact_triangle(int64_t n, int parts, osla_uplo uplo, osla_diag diag, uint64_t seed)
{
  static const osla_complex units[] = {1, -1, CMPLX(0, 1), CMPLX(0, -1)};
  dense d = exact_numbers(n, n, parts, 1, seed);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      uint64_t bits = osla_random_bits(seed, (uint64_t)i, UINT64_MAX);
      osla_complex value = units[bits % (parts == 2 ? 4 : 2)] * (bits & 16 ? 2 : 1);
      if (i == j)
        set(&d, i, j, diag == OSLA_UNIT ? 1 : value);
      else if ((i > j) != (uplo == OSLA_LOWER))
        set(&d, i, j, 0);
    }
  return d;
}

dense triangle_stored(const dense *used, osla_uplo uplo, osla_diag diag)
{
  dense d = dense_copy(used);
  for (int64_t j = 0; j < d.n; j++)
    for (int64_t i = 0; i < d.m; i++)
      if (i == j ? diag == OSLA_UNIT : (i > j) != (uplo == OSLA_LOWER))
        set(&d, i, j, CMPLX((double)NAN, (double)NAN));
  return d;
}

dense dense_copy(const dense *d)
{
  dense copy = dense_make(d->m, d->n, d->parts);
  memcpy(copy.at, d->at, (size_t)(d->m * d->n * d->parts) * sizeof *d->at);
  return copy;
}

dense dense_op(osla_trans trans, const dense *d)
{
  if (trans == OSLA_NOTRANS) return dense_copy(d);
  dense t = dense_make(d->n, d->m, d->parts);
  for (int64_t j = 0; j < d->n; j++)
    for (int64_t i = 0; i < d->m; i++) {
      osla_complex value = get(d, i, j);
      set(&t, j, i, trans == OSLA_CONJTRANS ? conj(value) : value);
    }
  return t;
}

dense dense_times(const dense *a, const dense *b)
{
  dense c = dense_make(a->m, b->n, a->parts);
  dense_multiply(1.0, a, b, &c, 0, 1);
  return c;
}

void dense_scale(osla_complex alpha, dense *d)
{
  for (int64_t j = 0; j < d->n; j++)
    for (int64_t i = 0; i < d->m; i++)
      set(d, i, j, alpha * get(d, i, j));
}

void matrix_set(const dense *d, osla_matrix *a)
{
  osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  for (int64_t c = 0; c < osla_matrix_local_cols(a); c++) {
    const stored_columns s = osli_stored_columns(a, osla_test_rank(), c);
    int64_t j = osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol);
    for (int64_t r = s.first_row; r < osla_matrix_local_rows(a); r++)
      osla_test_store(osla_matrix_dtype(a), osla_matrix_local(a), stored_index(&s, r, c),
                      get(d, osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow), j));
  }
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(grid)));
}

void dense_swap_rows(dense *d, const int64_t *pivots, bool backward)
{
  for (int64_t k = 0; k < d->m; k++) {
    int64_t i = backward ? d->m - 1 - k : k;
    for (int64_t j = 0; j < d->n; j++) {
      osla_complex value = get(d, i, j);
      set(d, i, j, get(d, pivots[i], j));
      set(d, pivots[i], j, value);
    }
  }
}

int64_t *exact_pivots(int64_t n, uint64_t seed)
{
  int64_t *pivots = osla_test_allocate(1, (size_t)n * sizeof *pivots);
  for (int64_t i = 0; i < n; i++)
    pivots[i] = i + osla_test_choose(seed, i, n - i);
  return pivots;
}

int64_t *local_pivots(const osla_matrix *a, const int64_t *pivots)
{
  osla_layout l = osla_matrix_layout(a);
  int64_t rows = osla_matrix_local_rows(a);
  int64_t *local = osla_test_allocate(1, (size_t)rows * sizeof *local);
  for (int64_t r = 0; r < rows; r++)
    local[r] = 1 + pivots[osla_index_global(r, l.mb, osla_grid_prow(osla_matrix_grid(a)), l.nprow)];
  return local;
}

kernel_matrix rhs_make(const grid_set *g, int which, osla_dtype dtype, int64_t m, int64_t n,
                       int64_t nb, int64_t width, rhs_distribution place, bool wrapped)
{
  osla_grid *grid = place == SAME_POSITIONS ? g->again[which]
                    : place == OTHER_GRID   ? g->at[(which + 1) % g->n]
                                            : g->at[which];
  int64_t rows = place == OTHER_BLOCKS ? nb % 5 + 2 : nb;
  return kernel_make(grid, dtype, m, n, rows, width, wrapped);
}

bool solve_turn(int grid, int variant)
{
  return osla_test_size() <= 2 || (5 * grid + variant) % 12 == 0;
}

const char *solve_label(const kernel_matrix *a, const kernel_matrix *b)
{
  static char text[300];
  char first[128];
  (void)snprintf(first, sizeof first, "%s", kernel_label(a->a, a->memory != NULL));
  (void)snprintf(text, sizeof text, "%s; B: %s", first, kernel_label(b->a, b->memory != NULL));
  return text;
}
