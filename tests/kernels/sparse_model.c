/* Sparse matrices for tests, which every rank computes as a whole from a seed. */
#include "tests/kernels/sparse_model.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_IN_ROW = 9 };

static int64_t rows_before(int64_t n, int rank, int size, bool even)
{
  if (even || size == 1) return n / size * rank + (rank < n % size ? rank : n % size);
  /* first row of each rank: rank 0 has twice the usual number of rows, and rank 1 has none */
  return rank == 0                  ? 0
         : rank <= 2 && rank < size ? 2 * n / (size + 1)
         : rank == size             ? n
                                    : n * rank / size;
}

static int64_t *blocks(int64_t n, bool even)
{
  const int size = osla_test_size();
  int64_t *start = osla_test_allocate((size_t)size + 1, sizeof *start);
  for (int p = 0; p <= size; p++) {
    start[p] = rows_before(n, p, size, even);
    if (p > 0 && start[p] < start[p - 1]) start[p] = start[p - 1];
  }
  return start;
}

static void put(sparse_model *a, int64_t *at, int64_t column, double value)
{
  a->column[*at] = column;
  a->value[(*at)++] = value;
}

static void random_row(sparse_model *a, int64_t i, int64_t *at)
{
  const int64_t count = i % 7 == 3 ? 0 : osla_test_choose(1, i, MOST_IN_ROW);
  for (int64_t e = 0; e < count && a->n > 0; e++)
    put(a, at, osla_test_choose(2, i * MOST_IN_ROW + e, a->n),
        (double)(osla_test_choose(3, i * MOST_IN_ROW + e, 9) - 4));
}

static void grid_row(sparse_model *a, int64_t i, int64_t side, int64_t *at)
{
  const int64_t x = i % side, y = i / side;
  if (x + 1 < side) put(a, at, i + 1, -1.0);
  if (x > 0) put(a, at, i - 1, -1.0);
  if (y + 1 < side) put(a, at, i + side, -1.0);
  put(a, at, i, 5.0);
  if (y > 0) put(a, at, i - side, -1.0);
}

static void arrow_row(sparse_model *a, int64_t i, int64_t *at)
{
  for (int64_t j = 0; i == 0 && j < a->n; j++)
    put(a, at, j, j == 0 ? (double)(4 * a->n) : 1.0);
  if (i == 0) return;
  put(a, at, i, 4.0);
  put(a, at, 0, 1.0);
}

sparse_model sparse_model_make(sparse_kind kind, int64_t m, int64_t n, bool even)
{
  int64_t side = 0, at = 0;
  while (side * side < m)
    side++;
  if (kind == SPARSE_GRID) m = side * side;
  if (kind != SPARSE_RANDOM && kind != SPARSE_EMPTY) n = m;
  sparse_model a = {.m = m, .n = n};
  a.row_start = blocks(m, even);
  a.column_start = m == n ? blocks(n, even) : blocks(n, true);
  a.first = osla_test_allocate((size_t)m + 1, sizeof *a.first);
  const size_t most = (size_t)(m * MOST_IN_ROW + n + 1);
  a.column = osla_test_allocate(most, sizeof *a.column);
  a.value = osla_test_allocate(most, sizeof *a.value);
  for (int64_t i = 0; i < m; i++) {
    switch (kind) {
      case SPARSE_RANDOM: random_row(&a, i, &at); break;
      case SPARSE_GRID: grid_row(&a, i, side, &at); break;
      case SPARSE_DIAGONAL: put(&a, &at, i, (double)(1 + i % 5)); break;
      case SPARSE_ARROW: arrow_row(&a, i, &at); break;
      default: break;
    }
    a.first[i + 1] = at;
  }
  return a;
}

void sparse_model_free(sparse_model *a)
{
  free(a->row_start);
  free(a->column_start);
  free(a->first);
  free(a->column);
  free(a->value);
}

osla_csr *sparse_model_matrix(osla_transport *t, const sparse_model *a)
{
  const int64_t low = a->row_start[osla_test_rank()], high = a->row_start[osla_test_rank() + 1];
  int64_t *first = osla_test_allocate((size_t)(high - low) + 1, sizeof *first);
  for (int64_t i = low; i <= high; i++)
    first[i - low] = a->first[i] - a->first[low];
  osla_csr *matrix;
  osla_err err = osla_csr_create(t, a->row_start, a->column_start, first, a->column + a->first[low],
                                 a->value + a->first[low], &matrix);
  if (err != OSLA_OK) osla_transport_abort(t, err);
  free(first);
  return matrix;
}

void sparse_model_multiply(const sparse_model *a, osla_trans op, const double *x, double beta,
                           double *y)
{
  const int64_t n = op == OSLA_NOTRANS ? a->m : a->n;
  for (int64_t i = 0; i < n; i++)
    y[i] = beta == 0.0 ? 0.0 : beta * y[i];
  for (int64_t i = 0; i < a->m; i++)
    for (int64_t e = a->first[i]; e < a->first[i + 1]; e++) {
      const int64_t j = a->column[e];
      if (op == OSLA_NOTRANS)
        y[i] += a->value[e] * x[j];
      else
        y[j] += a->value[e] * x[i];
    }
}

double *sparse_model_vector(int64_t n, uint64_t seed)
{
  double *x = osla_test_allocate((size_t)n + 1, sizeof *x);
  for (int64_t i = 0; i < n; i++)
    x[i] = (double)(osla_test_choose(seed, i, 21) - 10);
  return x;
}
