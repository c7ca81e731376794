/* Tests of sparse matrices and their products, compared with plain loops over the whole matrix. */
#include "tests/kernels/sparse_model.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t sizes[][2] = {{0, 0}, {1, 1}, {7, 3}, {3, 40}, {100, 100}, {331, 257}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Copies this rank's part of a whole vector into new memory, from osla_vertices_create if `shared`,
 * otherwise from malloc. */
static double *part_of(osla_transport *t, const double *whole, const int64_t *start, bool shared)
{
  const int64_t low = start[osla_test_rank()], n = start[osla_test_rank() + 1] - low;
  void *memory = NULL;
  if (shared)
    OSLA_ASSERT_OK(osla_vertices_create(t, (size_t)n * sizeof *whole, &memory));
  else
    memory = osla_test_allocate((size_t)n + 1, sizeof *whole);
  memcpy(memory, whole + low, (size_t)n * sizeof *whole);
  return memory;
}

static void drop(osla_transport *t, double *part, bool shared)
{
  void *memory = part;
  if (shared)
    OSLA_ASSERT_OK(osla_vertices_free(t, &memory));
  else
    free(part);
}

/* Checks that `part` equals this rank's part of a whole vector. */
static void check_part(const char *what, const double *part, const double *whole,
                       const int64_t *start)
{
  const int64_t low = start[osla_test_rank()], n = start[osla_test_rank() + 1] - low;
  int64_t bad = 0;
  for (int64_t i = 0; i < n; i++)
    bad += !(part[i] == whole[low + i]);
  OSLA_ASSERT_MSG(bad == 0, "%s: %d values of %d differ", what, (int)bad, (int)n);
}

static void check_products(osla_transport *t, const sparse_model *m, osla_csr *a, bool shared)
{
  static const double betas[] = {0.0, 1.0, -2.0};
  for (int b = 0; b < 3; b++)
    for (int op = 0; op < 2; op++) {
      const bool transposed = op == 1;
      const int64_t *in = transposed ? m->row_start : m->column_start;
      const int64_t *out = transposed ? m->column_start : m->row_start;
      const osla_trans trans = transposed ? OSLA_TRANS : OSLA_NOTRANS;
      double *x = sparse_model_vector(in[osla_test_size()], 5);
      double *y = sparse_model_vector(out[osla_test_size()], 6);
      double *my_x = part_of(t, x, in, shared), *my_y = part_of(t, y, out, shared);
      for (int64_t i = 0; betas[b] == 0.0 && i < osla_csr_rows(a) && !transposed; i++)
        my_y[i] = NAN; /* with beta = 0, y must not be read */
      OSLA_ASSERT_OK(osla_spmv(trans, a, my_x, betas[b], my_y));
      sparse_model_multiply(m, trans, x, betas[b], y);
      check_part(transposed ? "transposed product" : "product", my_y, y, out);
      drop(t, my_x, shared);
      drop(t, my_y, shared);
      free(x);
      free(y);
    }
}

static void test_products(void)
{
  osla_transport *t = osla_test_transport();
  for (int kind = 0; kind < SPARSE_KINDS; kind++)
    for (int s = 0; s < SIZES; s++) {
      sparse_model m = sparse_model_make((sparse_kind)kind, sizes[s][0], sizes[s][1], s % 2 == 0);
      osla_csr *a = sparse_model_matrix(t, &m);
      check_products(t, &m, a, s % 2 == 1);
      OSLA_ASSERT_OK(osla_csr_destroy(&a));
      CU_ASSERT(!a);
      sparse_model_free(&m);
    }
  osla_transport_destroy(&t);
}

/* Multiplies column j of an arrow-shaped matrix by 2^(-1000 + 20 j), which is from 1e-301 to 1e294.
 */
static void test_column_norms(void)
{
  osla_transport *t = osla_test_transport();
  sparse_model m = sparse_model_make(SPARSE_ARROW, 99, 99, false);
  for (int64_t e = 0; e < m.first[m.m]; e++)
    m.value[e] = ldexp(m.value[e], -1000 + 20 * (int)m.column[e]);
  osla_csr *a = sparse_model_matrix(t, &m);
  double *d = osla_test_allocate((size_t)osla_csr_columns(a) + 1, sizeof *d);
  OSLA_ASSERT_OK(osla_csr_column_norms(a, d));
  for (int64_t j = 0; j < osla_csr_columns(a); j++) {
    const int64_t column = m.column_start[osla_test_rank()] + j;
    const double expected = sqrt(column == 0 ? 396.0 * 396.0 + 98.0 : 17.0);
    OSLA_ASSERT_CLOSE(ldexp(d[j], 1000 - 20 * (int)column), expected, 1e-12 * expected);
  }
  free(d);
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  sparse_model_free(&m);
  osla_transport_destroy(&t);
}

static void test_queries(void)
{
  osla_transport *t = osla_test_transport();
  sparse_model m = sparse_model_make(SPARSE_ARROW, 50, 50, false);
  osla_csr *a = sparse_model_matrix(t, &m);
  const int me = osla_test_rank();
  const int64_t rows = m.row_start[me + 1] - m.row_start[me];
  int64_t total = osla_csr_entries(a), ghosts = me == 0 ? m.n - rows : rows > 0;
  double *d = osla_test_allocate((size_t)rows + 1, sizeof *d);
  CU_ASSERT(osla_csr_transport(a) == t);
  CU_ASSERT(osla_csr_rows(a) == rows && osla_csr_columns(a) == rows);
  OSLA_ASSERT_MSG(osla_csr_ghosts(a) == ghosts, "%" PRId64 " ghosts", osla_csr_ghosts(a));
  CU_ASSERT(memcmp(osla_csr_row_start(a), m.row_start,
                   ((size_t)osla_test_size() + 1) * sizeof *m.row_start) == 0);
  CU_ASSERT(osla_csr_column_start(a)[osla_test_size()] == m.n);
  OSLA_ASSERT_OK(osla_allreduce(t, &total, 1, MPI_INT64_T, MPI_SUM));
  CU_ASSERT(total == m.first[m.m]);
  OSLA_ASSERT_OK(osla_csr_diagonal(a, d));
  for (int64_t i = 0; i < rows; i++)
    CU_ASSERT(d[i] == (m.row_start[me] + i == 0 ? 200.0 : 4.0));
  OSLA_ASSERT_OK(osla_csr_column_squares(a, d));
  for (int64_t i = 0; i < rows; i++)
    CU_ASSERT(d[i] == (m.row_start[me] + i == 0 ? 200.0 * 200.0 + 49.0 : 17.0));
  OSLA_ASSERT_OK(osla_csr_column_norms(a, d));
  for (int64_t i = 0; i < rows; i++)
    CU_ASSERT(d[i] == sqrt(m.row_start[me] + i == 0 ? 200.0 * 200.0 + 49.0 : 17.0));
  free(d);
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  sparse_model_free(&m);
  osla_transport_destroy(&t);
}

static void test_even_blocks(void)
{
  for (int ranks = 1; ranks < 7; ranks++)
    for (int64_t n = 0; n < 20; n++) {
      int64_t start[8];
      osla_even_blocks(n, ranks, start);
      CU_ASSERT(start[0] == 0 && start[ranks] == n);
      for (int p = 0; p < ranks; p++)
        CU_ASSERT(start[p + 1] - start[p] == n / ranks + (p < n % ranks));
    }
}

/* osla_csr_row returns the rows that were given, with sorted entries and repeated entries added. */
static void test_rows(void)
{
  osla_transport *t = osla_test_transport();
  sparse_model m = sparse_model_make(SPARSE_RANDOM, 120, 90, false);
  osla_csr *a = sparse_model_matrix(t, &m);
  int64_t bad = 0, column[120], low = m.row_start[osla_test_rank()];
  double value[120];
  for (int64_t i = 0; i < osla_csr_rows(a); i++) {
    const int64_t n = osla_csr_row(a, i, column, value);
    double sum[90] = {0.0}, due[90] = {0.0};
    for (int64_t e = 0; e < n; e++) {
      bad += column[e] < 0 || column[e] >= 90 || (e > 0 && column[e] <= column[e - 1]);
      sum[column[e]] = value[e];
    }
    for (int64_t e = m.first[low + i]; e < m.first[low + i + 1]; e++)
      due[m.column[e]] += m.value[e];
    bad += memcmp(sum, due, sizeof sum) != 0;
    bad += osla_csr_row(a, i, NULL, NULL) != n;
  }
  OSLA_ASSERT_MSG(bad == 0, "%d rows are wrong", (int)bad);
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  sparse_model_free(&m);
  osla_transport_destroy(&t);
}

/* Renumbers the rows and columns of A in reverse order, which moves them to other ranks. A x then
 * has equal values at other positions. */
static void test_renumber(void)
{
  osla_transport *t = osla_test_transport();
  sparse_model m = sparse_model_make(SPARSE_RANDOM, 210, 210, false);
  osla_csr *a = sparse_model_matrix(t, &m), *b = NULL;
  const int me = osla_test_rank(), size = osla_test_size();
  const int64_t low = m.row_start[me], rows = osla_csr_rows(a), n = m.m;
  int64_t *start = osla_test_allocate((size_t)size + 1, sizeof *start), bad = 0;
  int64_t *number = osla_test_allocate((size_t)rows + 1, sizeof *number);
  double *x = sparse_model_vector(n, 3), *y = sparse_model_vector(n, 3);
  osla_even_blocks(n, size, start);
  for (int64_t i = 0; i < rows; i++)
    number[i] = n - 1 - (low + i);
  OSLA_ASSERT_OK(osla_csr_renumber(a, number, start, &b));
  sparse_model_multiply(&m, OSLA_NOTRANS, x, 0.0, y);
  const int64_t mine = osla_csr_rows(b);
  double *bx = osla_test_allocate((size_t)mine + 1, sizeof *bx);
  double *by = osla_test_allocate((size_t)mine + 1, sizeof *by);
  for (int64_t i = 0; i < mine; i++)
    bx[i] = x[n - 1 - (start[me] + i)];
  OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, b, bx, 0.0, by));
  for (int64_t i = 0; i < mine; i++)
    bad += !(by[i] == y[n - 1 - (start[me] + i)]);
  OSLA_ASSERT_MSG(bad == 0, "%d values of %d differ", (int)bad, (int)mine);
  OSLA_ASSERT_OK(osla_csr_destroy(&b));
  if (rows > 0 && me == 0) number[0] = number[rows - 1];
  OSLA_ASSERT_ERR(osla_csr_renumber(a, number, start, &b), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("is given to");
  if (me == 0) number[0] = n;
  OSLA_ASSERT_ERR(osla_csr_renumber(a, number, start, &b), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("no root 210 among 210");
  free(start);
  free(number);
  free(x);
  free(y);
  free(bx);
  free(by);
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  sparse_model_free(&m);
  osla_transport_destroy(&t);
}

/* Products with rounding errors have the same bits in every run. */
static void test_same_bits(void)
{
  osla_transport *t = osla_test_transport();
  sparse_model m = sparse_model_make(SPARSE_RANDOM, 400, 400, false);
  for (int64_t e = 0; e < m.first[m.m]; e++)
    m.value[e] = 1.0 / (double)(3 + e % 11);
  osla_csr *a = sparse_model_matrix(t, &m);
  const int64_t n = osla_csr_rows(a);
  double *x = osla_test_allocate((size_t)n + 1, sizeof *x), *first = NULL;
  for (int64_t i = 0; i < n; i++)
    x[i] = sin((double)(m.row_start[osla_test_rank()] + i));
  for (int run = 0; run < 20; run++) {
    double *y = osla_test_allocate((size_t)n + 1, sizeof *y);
    OSLA_ASSERT_OK(osla_spmv(OSLA_TRANS, a, x, 0.0, y));
    if (first) CU_ASSERT(memcmp(first, y, (size_t)n * sizeof *y) == 0);
    free(first);
    first = y;
  }
  free(first);
  free(x);
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  sparse_model_free(&m);
  osla_transport_destroy(&t);
}

/* Wrong input gives the same error on all ranks, and its text contains the wrong value. */
static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size(), last = size - 1;
  const bool spoil = osla_test_rank() == last;
  int64_t *start = osla_test_allocate((size_t)size + 1, sizeof *start);
  const int64_t first[] = {0, 1, 2};
  const double value[] = {1.0, 2.0};
  int64_t column[] = {0, 1};
  osla_csr *a;
  osla_even_blocks(2 * size, size, start);
  if (spoil) column[1] = 2 * size;
  OSLA_ASSERT_ERR(osla_csr_create(t, start, start, first, column, value, &a), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("column ");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(!a);
  if (spoil) column[1] = -1;
  OSLA_ASSERT_ERR(osla_csr_create(t, start, start, first, column, value, &a), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("column -1 is outside 0 to");
  column[1] = 1;
  /* the list of columns ends long before this entry */
  const int64_t falls[] = {0, INT64_C(1) << 40, 2};
  OSLA_ASSERT_ERR(osla_csr_create(t, start, start, spoil ? falls : first, column, value, &a),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("first[2] = 2 is less than first[1] = 1099511627776");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_csr_create(t, start, start, first, column, spoil ? NULL : value, &a),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("value is NULL, but there are 2 entries");
  OSLA_ASSERT_ERR(osla_csr_create(t, start, start, first, spoil ? NULL : column, value, &a),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("column or value is NULL, but there are 2 entries");
  OSLA_ASSERT_OK(osla_csr_destroy(NULL));
  /* on the last rank the distribution of columns differs */
  int64_t *others = osla_test_allocate((size_t)size + 1, sizeof *others);
  memcpy(others, start, ((size_t)size + 1) * sizeof *others);
  if (spoil && last > 0) others[1]--;
  if (last > 0) {
    OSLA_ASSERT_ERR(osla_csr_create(t, start, others, first, column, value, &a), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("column_start, its hash is ");
    OSLA_ASSERT_SAME_TEXT();
  }
  free(others);
  start[0] = 1;
  OSLA_ASSERT_ERR(osla_csr_create(t, start, start, first, column, value, &a), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("row_start[0] = 1");
  free(start);
  osla_transport_destroy(&t);
}

/* While a transfer of another forest is under way, the matrix cannot be destroyed, but can be used.
 */
static void test_destroy_under_way(void)
{
  osla_transport *t = osla_test_transport();
  sparse_model m = sparse_model_make(SPARSE_ARROW, 50, 50, false);
  osla_csr *a = sparse_model_matrix(t, &m);
  osla_forest *forest;
  osla_forest_run run;
  double root = 1.0, *leaves = osla_test_allocate((size_t)osla_test_size(), sizeof *leaves);
  OSLA_ASSERT_OK(osla_forest_allgather(t, 1, &forest));
  OSLA_ASSERT_OK(
    osla_forest_bcast_begin(forest, OSLA_ONE_DOUBLE, &root, leaves, OSLA_REPLACE, &run));
  OSLA_ASSERT_ERR(osla_csr_destroy(&a), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("a transfer is under way");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(a != NULL);
  OSLA_ASSERT_OK(osla_forest_end(&run));
  if (a) check_products(t, &m, a, false);
  OSLA_ASSERT_OK(osla_csr_destroy(&a));
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  free(leaves);
  sparse_model_free(&m);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"even blocks", test_even_blocks},
                                       {"products", test_products},
                                       {"queries", test_queries},
                                       {"norms of columns", test_column_norms},
                                       {"renumber", test_renumber},
                                       {"rows", test_rows},
                                       {"same bits", test_same_bits},
                                       {"errors", test_errors},
                                       {"destroy under way", test_destroy_under_way},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_sparse, cases);
