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
  {SPARSE_ARROW, SPARSE_RANDOM, 50, 50, 20000, true}, /* entries in row 0 of A B are far apart */
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

/* Gives all entries of the sparse matrix new values, which are random integers from -4 to 4, and
 * gives the model, from which the matrix was created, the same values. Keeps the positions of the
 * entries. */
static void change_values(sparse_model *m, osla_csr *matrix, int64_t seed)
{
  const int64_t low = osla_csr_row_start(matrix)[osla_test_rank()];
  int64_t *column = osla_test_allocate((size_t)m->n + 1, sizeof *column), n = 0;
  double *value = osla_test_allocate((size_t)osla_csr_entries(matrix) + 1, sizeof *value);
  for (int64_t e = 0; e < m->first[m->m]; e++)
    m->value[e] = (double)(osla_test_choose((uint64_t)seed, e, 9) - 4);
  dense d = dense_of(m);
  for (int64_t i = 0; i < osla_csr_rows(matrix); i++) {
    const int64_t in_row = osla_csr_row(matrix, i, column, NULL);
    for (int64_t e = 0; e < in_row; e++)
      value[n++] = d.at[(low + i) * m->n + column[e]];
  }
  OSLA_ASSERT_OK(osla_csr_set_values(matrix, value));
  expect("new values", matrix, &d);
  free(column);
  free(value);
  free(d.at);
}

/* Compares the sparse matrix c with P^T A P, computed with dense matrices. */
static void expect_galerkin(const char *what, const osla_csr *c, const sparse_model *ma,
                            const sparse_model *mp)
{
  dense da = dense_of(ma), dp = dense_of(mp), dap = dense_multiply(&da, &dp);
  dense dpt = dense_transpose(&dp), dc = dense_multiply(&dpt, &dap);
  expect(what, c, &dc);
  free(da.at);
  free(dp.at);
  free(dap.at);
  free(dpt.at);
  free(dc.at);
}

static void expect_product(const char *what, const osla_csr *c, const sparse_model *ma,
                           const sparse_model *mb)
{
  dense da = dense_of(ma), db = dense_of(mb), dc = dense_multiply(&da, &db);
  expect(what, c, &dc);
  free(da.at);
  free(db.at);
  free(dc.at);
}

/* Computes the values of a product again by osla_csr_multiply_numeric, first after the values of
 * both factors have changed, then after those of B alone. */
static void test_multiply_numeric(void)
{
  osla_transport *t = osla_test_transport();
  for (int i = 0; i < CASES; i++) {
    sparse_model ma = sparse_model_make(cases[i].a, cases[i].m, cases[i].k, cases[i].even);
    sparse_model mb = sparse_model_make(cases[i].b, ma.n, cases[i].n, cases[i].even);
    memcpy(mb.row_start, ma.column_start, (size_t)(osla_test_size() + 1) * sizeof *mb.row_start);
    osla_csr *a = sparse_model_matrix(t, &ma), *b = sparse_model_matrix(t, &mb), *c;
    if (OSLA_ASSERT_OK(osla_csr_multiply(a, b, &c))) {
      change_values(&ma, a, 11);
      change_values(&mb, b, 12);
      OSLA_ASSERT_OK(osla_csr_multiply_numeric(a, b, c));
      expect_product("product of new values", c, &ma, &mb);
      change_values(&mb, b, 13);
      OSLA_ASSERT_OK(osla_csr_multiply_numeric(a, b, c));
      expect_product("product of newer values", c, &ma, &mb);
    }
    OSLA_ASSERT_OK(osla_csr_destroy(&a));
    OSLA_ASSERT_OK(osla_csr_destroy(&c));
    OSLA_ASSERT_OK(osla_csr_destroy(&b));
    sparse_model_free(&ma);
    sparse_model_free(&mb);
  }
  osla_transport_destroy(&t);
}

static const struct {
  sparse_kind a, p;
  int64_t m, n;
  bool even;
} coarse_cases[] = {
  {SPARSE_GRID, SPARSE_RANDOM, 100, 30, true},   {SPARSE_GRID, SPARSE_RANDOM, 64, 90, false},
  {SPARSE_ARROW, SPARSE_ARROW, 41, 41, true},    {SPARSE_RANDOM, SPARSE_RANDOM, 50, 13, false},
  {SPARSE_DIAGONAL, SPARSE_RANDOM, 30, 2, true}, {SPARSE_GRID, SPARSE_EMPTY, 25, 10, true},
  {SPARSE_EMPTY, SPARSE_RANDOM, 12, 12, false},
};
enum { COARSE_CASES = sizeof coarse_cases / sizeof *coarse_cases };

static void test_galerkin(void)
{
  osla_transport *t = osla_test_transport();
  for (int i = 0; i < COARSE_CASES; i++) {
    const bool even = coarse_cases[i].even;
    const int64_t m = coarse_cases[i].m;
    sparse_model ma = sparse_model_make(coarse_cases[i].a, m, m, even);
    sparse_model mp = sparse_model_make(coarse_cases[i].p, ma.m, coarse_cases[i].n, even);
    osla_csr *a = sparse_model_matrix(t, &ma), *p = sparse_model_matrix(t, &mp), *c;
    if (OSLA_ASSERT_OK(osla_csr_galerkin(a, p, &c))) {
      expect_galerkin("P^T A P", c, &ma, &mp);
      change_values(&ma, a, 14);
      OSLA_ASSERT_OK(osla_csr_galerkin_numeric(a, p, c));
      expect_galerkin("P^T A P of a new A", c, &ma, &mp);
      change_values(&mp, p, 15);
      OSLA_ASSERT_OK(osla_csr_galerkin_numeric(a, p, c));
      expect_galerkin("P^T A P of a new P", c, &ma, &mp);
    }
    OSLA_ASSERT_OK(osla_csr_destroy(&c));
    OSLA_ASSERT_OK(osla_csr_destroy(&a));
    OSLA_ASSERT_OK(osla_csr_destroy(&p));
    sparse_model_free(&ma);
    sparse_model_free(&mp);
  }
  osla_transport_destroy(&t);
}

/* Computes P^T A P on two levels: the product of the first level is the matrix A of the second.
 * Computes the values of both products again after those of the first A have changed. */
static void test_two_levels(void)
{
  osla_transport *t = osla_test_transport();
  sparse_model ma = sparse_model_make(SPARSE_GRID, 100, 100, true);
  sparse_model m1 = sparse_model_make(SPARSE_RANDOM, 100, 40, true);
  sparse_model m2 = sparse_model_make(SPARSE_RANDOM, 40, 7, true);
  osla_csr *a = sparse_model_matrix(t, &ma), *p1 = sparse_model_matrix(t, &m1), *c1;
  osla_csr *p2 = sparse_model_matrix(t, &m2), *c2;
  OSLA_ASSERT_OK(osla_csr_galerkin(a, p1, &c1));
  OSLA_ASSERT_OK(osla_csr_galerkin(c1, p2, &c2));
  change_values(&ma, a, 16);
  OSLA_ASSERT_OK(osla_csr_galerkin_numeric(a, p1, c1));
  OSLA_ASSERT_OK(osla_csr_galerkin_numeric(c1, p2, c2));
  dense da = dense_of(&ma), d1 = dense_of(&m1), d2 = dense_of(&m2);
  dense p = dense_multiply(&d1, &d2), pt = dense_transpose(&p), ap = dense_multiply(&da, &p);
  dense expected = dense_multiply(&pt, &ap);
  expect("P^T A P of two levels", c2, &expected);
  free(da.at);
  free(d1.at);
  free(d2.at);
  free(p.at);
  free(pt.at);
  free(ap.at);
  free(expected.at);
  OSLA_ASSERT_OK(osla_csr_destroy(&c2));
  OSLA_ASSERT_OK(osla_csr_destroy(&c1));
  OSLA_ASSERT_OK(osla_csr_destroy(&p2));
  OSLA_ASSERT_OK(osla_csr_destroy(&p1));
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  sparse_model_free(&ma);
  sparse_model_free(&m1);
  sparse_model_free(&m2);
  osla_transport_destroy(&t);
}

/* Computes a product A B in which all sums of row 0 cancel to 0: row 0 keeps its entries, with
 * value 0. */
static void test_cancellation(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size();
  const bool has_rows = osla_test_rank() == size - 1; /* the last rank has all rows of A and B */
  int64_t *start = osla_test_allocate((size_t)size + 1, sizeof *start);
  start[size] = 2;
  const int64_t first[] = {0, has_rows ? 2 : 0, has_rows ? 4 : 0}, column[] = {0, 1, 0, 1};
  const double signs[] = {1.0, -1.0, 1.0, 1.0}, ones[] = {3.0, 5.0, 3.0, 5.0};
  osla_csr *a, *b, *c;
  OSLA_ASSERT_OK(osla_csr_create(t, start, start, first, column, signs, &a));
  OSLA_ASSERT_OK(osla_csr_create(t, start, start, first, column, ones, &b));
  OSLA_ASSERT_OK(osla_csr_multiply(a, b, &c));
  CU_ASSERT(osla_csr_entries(c) == (has_rows ? 4 : 0));
  if (has_rows) {
    int64_t columns[2];
    double values[2];
    CU_ASSERT(osla_csr_row(c, 0, columns, values) == 2);
    CU_ASSERT(columns[0] == 0 && columns[1] == 1 && values[0] == 0.0 && values[1] == 0.0);
    CU_ASSERT(osla_csr_row(c, 1, columns, values) == 2);
    CU_ASSERT(values[0] == 6.0 && values[1] == 10.0);
  }
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  OSLA_ASSERT_OK(osla_csr_destroy(&b));
  OSLA_ASSERT_OK(osla_csr_destroy(&c));
  free(start);
  osla_transport_destroy(&t);
}

/* Passes matrices that are not the factors of C to osla_csr_multiply_numeric and
 * osla_csr_galerkin_numeric. */
static void test_numeric_errors(void)
{
  osla_transport *t = osla_test_transport();
  sparse_model m = sparse_model_make(SPARSE_GRID, 25, 25, true);
  osla_csr *a = sparse_model_matrix(t, &m), *b = sparse_model_matrix(t, &m), *c, *again;
  OSLA_ASSERT_OK(osla_csr_multiply(a, a, &c));
  OSLA_ASSERT_ERR(osla_csr_multiply_numeric(a, b, c), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("osla_csr_multiply_numeric: osla_csr_multiply did not compute C from these two "
                   "matrices");
  OSLA_ASSERT_ERR(osla_csr_multiply_numeric(a, a, b), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_csr_galerkin_numeric(a, a, c), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("osla_csr_galerkin did not compute C from these two matrices");
  OSLA_ASSERT_OK(osla_csr_destroy(&a)); /* a later matrix may get the address of A */
  a = sparse_model_matrix(t, &m);
  OSLA_ASSERT_ERR(osla_csr_multiply_numeric(a, a, c), OSLA_ERR_ARG);
  OSLA_ASSERT_OK(osla_csr_galerkin(a, b, &again));
  OSLA_ASSERT_ERR(osla_csr_multiply_numeric(a, b, again), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_csr_set_values(a, NULL), osla_csr_entries(a) > 0 ? OSLA_ERR_ARG : OSLA_OK);
  OSLA_ASSERT_OK(osla_csr_destroy(&again));
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  OSLA_ASSERT_OK(osla_csr_destroy(&b));
  OSLA_ASSERT_OK(osla_csr_destroy(&c));
  sparse_model_free(&m);
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

/* Tests refused products: the columns of the left factor and the rows of the right one are equally
 * many, but are distributed differently; or A is not square in P^T A P. */
static void test_other_blocks(void)
{
  osla_transport *t = osla_test_transport();
  sparse_model m_even = sparse_model_make(SPARSE_RANDOM, 30, 30, true);
  sparse_model m_uneven = sparse_model_make(SPARSE_RANDOM, 30, 30, false);
  sparse_model m_flat = sparse_model_make(SPARSE_RANDOM, 20, 30, true);
  osla_csr *even = sparse_model_matrix(t, &m_even), *uneven = sparse_model_matrix(t, &m_uneven);
  osla_csr *flat = sparse_model_matrix(t, &m_flat), *c;
  OSLA_ASSERT_ERR(osla_csr_galerkin(flat, even, &c), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("osla_csr_galerkin: A has 20 rows, P has 30 rows");
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_csr_multiply(even, uneven, &c), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("rank 1 has columns of A from");
    OSLA_ASSERT_ERR(osla_csr_galerkin(uneven, even, &c), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_csr_galerkin: rank 1 has");
  }
  OSLA_ASSERT_OK(osla_csr_destroy(&even));
  OSLA_ASSERT_OK(osla_csr_destroy(&uneven));
  OSLA_ASSERT_OK(osla_csr_destroy(&flat));
  sparse_model_free(&m_even);
  sparse_model_free(&m_uneven);
  sparse_model_free(&m_flat);
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
  OSLA_ASSERT_TEXT("osla_csr_multiply: A has 30 columns, B has 20 rows");
  CU_ASSERT(!c);
  OSLA_ASSERT_ERR(osla_csr_galerkin(a, b, &c), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("osla_csr_galerkin: A has 30 columns, P has 20 rows");
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
                                       {"multiply_numeric", test_multiply_numeric},
                                       {"galerkin", test_galerkin},
                                       {"cancellation", test_cancellation},
                                       {"numeric_errors", test_numeric_errors},
                                       {"submatrix", test_submatrix},
                                       {"other_blocks", test_other_blocks},
                                       {"two_levels", test_two_levels},
                                       {"errors", test_errors},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_sparse_products, tests);
