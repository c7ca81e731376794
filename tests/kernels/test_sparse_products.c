/* Tests of products, transposes and submatrices of sparse matrices, compared with plain loops over
 * whole matrices. */
#include "tests/kernels/sparse_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A whole matrix, stored as a dense one. */
typedef struct dense {
  int64_t m, n;
  double *at; /* elements, row by row */
} dense;

static dense dense_make(int64_t m, int64_t n)
{
  dense d = {m, n, osla_test_allocate((size_t)(m * n) + 1, sizeof(double))};
  memset(d.at, 0, (size_t)(m * n) * sizeof(double));
  return d;
}

static dense dense_of(const sparse_model *s)
{
  dense d = dense_make(s->m, s->n);
  for (int64_t i = 0; i < s->m; i++)
    for (int64_t e = s->first[i]; e < s->first[i + 1]; e++)
      d.at[i * s->n + s->column[e]] += s->value[e];
  return d;
}

static dense dense_multiply(const dense *a, const dense *b)
{
  dense c = dense_make(a->m, b->n);
  for (int64_t i = 0; i < a->m; i++)
    for (int64_t k = 0; k < a->n; k++)
      for (int64_t j = 0; a->at[i * a->n + k] != 0.0 && j < b->n; j++)
        c.at[i * b->n + j] += a->at[i * a->n + k] * b->at[k * b->n + j];
  return c;
}

static dense dense_transpose(const dense *a)
{
  dense t = dense_make(a->n, a->m);
  for (int64_t i = 0; i < a->m; i++)
    for (int64_t j = 0; j < a->n; j++)
      t.at[j * a->m + i] = a->at[i * a->n + j];
  return t;
}

/* Checks that `got` has this rank's rows of `whole`. */
static void expect(const char *what, const osla_csr *got, const dense *whole)
{
  const int64_t low = osla_csr_row_start(got)[osla_test_rank()];
  int64_t *column = osla_test_allocate((size_t)whole->n + 1, sizeof *column), bad = 0;
  double *value = osla_test_allocate((size_t)whole->n + 1, sizeof *value);
  double *row = osla_test_allocate((size_t)whole->n + 1, sizeof *row);
  CU_ASSERT(osla_csr_row_start(got)[osla_test_size()] == whole->m);
  CU_ASSERT(osla_csr_column_start(got)[osla_test_size()] == whole->n);
  for (int64_t i = 0; i < osla_csr_rows(got); i++) {
    const int64_t n = osla_csr_row(got, i, column, value);
    memset(row, 0, (size_t)whole->n * sizeof *row);
    for (int64_t e = 0; e < n; e++) {
      bad += e > 0 && column[e] <= column[e - 1];
      row[column[e]] = value[e];
    }
    bad += memcmp(row, whole->at + (low + i) * whole->n, (size_t)whole->n * sizeof *row) != 0;
  }
  OSLA_ASSERT_MSG(bad == 0, "%s: %" PRId64 " rows differ", what, bad);
  free(column);
  free(value);
  free(row);
}

static const struct {
  sparse_kind a, b;
  int64_t m, k, n;
  bool even;
} cases[] = {
  {SPARSE_RANDOM, SPARSE_RANDOM, 60, 45, 70, true},
  {SPARSE_RANDOM, SPARSE_RANDOM, 33, 80, 5, false},
  {SPARSE_GRID, SPARSE_RANDOM, 64, 64, 20, true},
  {SPARSE_ARROW, SPARSE_ARROW, 50, 50, 50, true},
  {SPARSE_DIAGONAL, SPARSE_GRID, 49, 49, 49, false},
  {SPARSE_EMPTY, SPARSE_RANDOM, 9, 12, 7, true},
  {SPARSE_RANDOM, SPARSE_EMPTY, 9, 12, 7, false},
  {SPARSE_RANDOM, SPARSE_RANDOM, 0, 3, 1, true},
};
enum { CASES = sizeof cases / sizeof *cases };

static void test_multiply(void)
{
  osla_transport *t = osla_test_transport();
  for (int i = 0; i < CASES; i++) {
    sparse_model ma = sparse_model_make(cases[i].a, cases[i].m, cases[i].k, cases[i].even);
    sparse_model mb = sparse_model_make(cases[i].b, ma.n, cases[i].n, cases[i].even);
    memcpy(mb.row_start, ma.column_start, (size_t)(osla_test_size() + 1) * sizeof *mb.row_start);
    osla_csr *a = sparse_model_matrix(t, &ma), *b = sparse_model_matrix(t, &mb), *c, *at;
    dense da = dense_of(&ma), db = dense_of(&mb), dc = dense_multiply(&da, &db);
    dense dt = dense_transpose(&da);
    if (OSLA_ASSERT_OK(osla_csr_multiply(a, b, &c))) expect("product", c, &dc);
    if (OSLA_ASSERT_OK(osla_csr_transpose(a, &at))) expect("transpose", at, &dt);
    OSLA_ASSERT_OK(osla_csr_destroy(&c));
    OSLA_ASSERT_OK(osla_csr_destroy(&at));
    OSLA_ASSERT_OK(osla_csr_destroy(&a));
    OSLA_ASSERT_OK(osla_csr_destroy(&b));
    free(da.at);
    free(db.at);
    free(dc.at);
    free(dt.at);
    sparse_model_free(&ma);
    sparse_model_free(&mb);
  }
  osla_transport_destroy(&t);
}

static void test_galerkin(void)
{
  osla_transport *t = osla_test_transport();
  sparse_model ma = sparse_model_make(SPARSE_GRID, 100, 100, true);
  sparse_model mp = sparse_model_make(SPARSE_RANDOM, 100, 30, true);
  osla_csr *a = sparse_model_matrix(t, &ma), *p = sparse_model_matrix(t, &mp), *c;
  dense da = dense_of(&ma), dp = dense_of(&mp), dap = dense_multiply(&da, &dp);
  dense dpt = dense_transpose(&dp), dc = dense_multiply(&dpt, &dap);
  if (OSLA_ASSERT_OK(osla_csr_galerkin(a, p, &c))) expect("P^T A P", c, &dc);
  OSLA_ASSERT_OK(osla_csr_destroy(&c));
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  OSLA_ASSERT_OK(osla_csr_destroy(&p));
  free(da.at);
  free(dp.at);
  free(dap.at);
  free(dpt.at);
  free(dc.at);
  sparse_model_free(&ma);
  sparse_model_free(&mp);
  osla_transport_destroy(&t);
}

/* A submatrix whose rows are the rows (7 k) mod m, and whose columns are the columns (11 k) mod n,
 * of a sparse matrix; rank p chooses those with k mod size = p. Rows may be repeated. */
static void test_submatrix(void)
{
  enum { M = 40, N = 53, ROWS = 50, COLUMNS = 31 };
  osla_transport *t = osla_test_transport();
  const int me = osla_test_rank(), size = osla_test_size();
  sparse_model m = sparse_model_make(SPARSE_RANDOM, M, N, false);
  osla_csr *a = sparse_model_matrix(t, &m), *s;
  dense whole = dense_of(&m), part = dense_make(ROWS, COLUMNS);
  int64_t row[ROWS], column[COLUMNS], n_rows = 0, n_columns = 0, i = 0, j = 0;
  int64_t all_rows[ROWS], all_columns[COLUMNS];
  for (int p = 0; p < size; p++) { /* numbers in the submatrix: first those that rank 0 chose, then
                                      those of rank 1, and so on */
    for (int k = p; k < ROWS; k += size) {
      all_rows[i++] = 7 * k % M;
      if (p == me) row[n_rows++] = 7 * k % M;
    }
    for (int k = p; k < COLUMNS; k += size) {
      all_columns[j++] = 11 * k % N;
      if (p == me) column[n_columns++] = 11 * k % N;
    }
  }
  for (i = 0; i < ROWS; i++)
    for (j = 0; j < COLUMNS; j++)
      part.at[i * COLUMNS + j] = whole.at[all_rows[i] * N + all_columns[j]];
  if (OSLA_ASSERT_OK(osla_csr_submatrix(a, n_rows, row, n_columns, column, &s)))
    expect("submatrix", s, &part);
  OSLA_ASSERT_OK(osla_csr_destroy(&s));
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  free(whole.at);
  free(part.at);
  sparse_model_free(&m);
  osla_transport_destroy(&t);
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  sparse_model ma = sparse_model_make(SPARSE_RANDOM, 20, 30, true);
  sparse_model mb = sparse_model_make(SPARSE_RANDOM, 20, 30, true);
  osla_csr *a = sparse_model_matrix(t, &ma), *b = sparse_model_matrix(t, &mb), *c;
  const int64_t twice[] = {4, 4}, none[] = {30}, fine[] = {0};
  OSLA_ASSERT_ERR(osla_csr_multiply(a, b, &c), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("product: A has 30 columns, B has 20 rows");
  CU_ASSERT(!c);
  OSLA_ASSERT_ERR(osla_csr_submatrix(a, 1, none, 0, fine, &c), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("no root 30 among 20");
  const bool last = osla_test_rank() == osla_test_size() - 1;
  OSLA_ASSERT_ERR(osla_csr_submatrix(a, 1, fine, last ? 2 : 0, twice, &c), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("column 4 is chosen 2 times");
  OSLA_ASSERT_ERR(osla_csr_submatrix(a, last ? -2 : 0, fine, 0, fine, &c), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("-2 rows or columns, less than 0");
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  OSLA_ASSERT_OK(osla_csr_destroy(&b));
  sparse_model_free(&ma);
  sparse_model_free(&mb);
  osla_transport_destroy(&t);
}

static const osla_test_case tests[] = {{"multiply", test_multiply},
                                       {"galerkin", test_galerkin},
                                       {"submatrix", test_submatrix},
                                       {"errors", test_errors},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_sparse_products, tests);
