/* Tests of sparse matrices, vectors and graphs that are read from valid and invalid text files. */
#include "osla_sparse_file.h"
#include "tests/file_help.h"
#include "tests/kernels/sparse_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *file; /* path of the file under test, in the scratch directory */

static void write_file(const char *text)
{
  scratch_create();
  file = scratch_path("sparse");
  scratch_write(file, text, strlen(text));
}

/* Checks by products with unit vectors that the sparse matrix equals an m x n dense one, which is
 * stored by rows. Destroys the sparse matrix. */
static void check_dense(osla_csr **a, int64_t m, int64_t n, const double *dense)
{
  const int me = osla_test_rank(), size = osla_test_size();
  CU_ASSERT(*a && osla_csr_row_start(*a)[size] == m && osla_csr_column_start(*a)[size] == n);
  if (!*a) return;
  const int64_t rows = osla_csr_rows(*a), columns = osla_csr_columns(*a);
  double *x = osla_test_allocate((size_t)columns + 1, sizeof *x);
  double *y = osla_test_allocate((size_t)rows + 1, sizeof *y);
  for (int64_t j = 0; j < n; j++) {
    const int64_t mine = j - osla_csr_column_start(*a)[me];
    for (int64_t c = 0; c < columns; c++)
      x[c] = c == mine;
    OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, *a, x, 0.0, y));
    for (int64_t i = 0; i < rows; i++) {
      const double expected = dense[(osla_csr_row_start(*a)[me] + i) * n + j];
      OSLA_ASSERT_MSG(y[i] == expected, "element %d, %d is %g, not %g",
                      (int)(osla_csr_row_start(*a)[me] + i), (int)j, y[i], expected);
    }
  }
  free(x);
  free(y);
  OSLA_ASSERT_OK(osla_csr_destroy(a));
}

static void test_matrices(void)
{
  static const struct {
    const char *text;
    int64_t m, n;
    double dense[9];
  } files[] = {
    {"%%MatrixMarket matrix coordinate real general\n% a comment\n\n3 3 4\n1 1 1.5\n3 2 -2e1\n"
     "2 3 4\n3 1 0.25\n",
     3,
     3,
     {1.5, 0, 0, 0, 0, 4, 0.25, -20, 0}},
    {"%%matrixmarket MATRIX Coordinate Integer GENERAL\r\n2 3 3\r\n 2  1\t7 \r\n1 3 -1\r\n2 1 1",
     2,
     3,
     {0, 0, -1, 8, 0, 0}}, /* one entry is repeated, and the last line has no newline */
    {"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n3 1\n3 2\n",
     3,
     3,
     {1, 0, 1, 0, 0, 1, 1, 1, 0}},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 5\n%\n3 2 6\n\n",
     3,
     3,
     {0, -5, 0, 5, 0, -6, 0, 6, 0}},
    {"%%MatrixMarket matrix coordinate real general\n2 2 0\n", 2, 2, {0}},
    {"%%MatrixMarket matrix coordinate real general\n0 0 0\n", 0, 0, {0}}};
  osla_transport *t = osla_test_transport();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    osla_csr *a;
    write_file(files[i].text);
    OSLA_ASSERT_OK(osla_csr_read_matrix_market(t, file, NULL, NULL, &a));
    check_dense(&a, files[i].m, files[i].n, files[i].dense);
    scratch_remove(1);
  }
  osla_transport_destroy(&t);
}

static void test_graphs(void)
{
  static const char *const files[] = {
    "% a path of three, and one alone\n4 2\n2\n1 3\n2\n\n",
    "4 2 0\n2 \n% between\n1 3\n2\n\n\n\n",
    "4 2 1\n2 5\n1 5 3 7\n2 7\n\n",
    "4 2 10\n9 2\n9 1 3\n9 2\n9",
    "4 2 111 2\n1 8 9 2 5\n1 8 9 1 5 3 7\n1 8 9 2 7\n1 8 9\n",
  };
  osla_transport *t = osla_test_transport();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    const bool weighted = strchr("24", '0' + (int)i) != NULL;
    const double a = weighted ? 5 : 1, b = weighted ? 7 : 1;
    const double dense[16] = {0, a, 0, 0, a, 0, b, 0, 0, b, 0, 0, 0, 0, 0, 0};
    osla_csr *matrix;
    write_file(files[i]);
    OSLA_ASSERT_OK(osla_csr_read_metis(t, file, NULL, &matrix));
    check_dense(&matrix, 4, 4, dense);
    scratch_remove(1);
  }
  osla_transport_destroy(&t);
}

/* A matrix that is written to a file and read back is unchanged, for any distribution. */
static void test_round(void)
{
  osla_transport *t = osla_test_transport();
  for (int even = 0; even < 2; even++) {
    sparse_model m = sparse_model_make(SPARSE_RANDOM, 150, 150, even == 1);
    const size_t room = 64 + 40 * (size_t)m.first[m.m];
    char *text = osla_test_allocate(room, 1);
    int at =
      snprintf(text, room, "%%%%MatrixMarket matrix coordinate real general\n150 150 %" PRId64 "\n",
               m.first[m.m]);
    for (int64_t i = 0; i < m.m; i++)
      for (int64_t e = m.first[i]; e < m.first[i + 1]; e++)
        at += snprintf(text + at, room - (size_t)at, "%" PRId64 " %" PRId64 " %g\n", i + 1,
                       m.column[e] + 1, m.value[e]);
    osla_csr *a;
    double *x = sparse_model_vector(m.n, 4), *y = sparse_model_vector(m.m, 4);
    write_file(text);
    OSLA_ASSERT_OK(osla_csr_read_matrix_market(t, file, m.row_start, m.column_start, &a));
    double *part = osla_test_allocate((size_t)osla_csr_rows(a) + 1, sizeof *part);
    OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, a, x + m.column_start[osla_test_rank()], 0.0, part));
    sparse_model_multiply(&m, OSLA_NOTRANS, x, 0.0, y);
    for (int64_t i = 0; i < osla_csr_rows(a); i++)
      CU_ASSERT(part[i] == y[m.row_start[osla_test_rank()] + i]);
    free(part);
    free(x);
    free(y);
    free(text);
    OSLA_ASSERT_OK(osla_csr_destroy(&a));
    scratch_remove(1);
    sparse_model_free(&m);
  }
  osla_transport_destroy(&t);
}

static void test_vectors(void)
{
  osla_transport *t = osla_test_transport();
  const int me = osla_test_rank(), size = osla_test_size();
  int64_t *start = osla_test_allocate((size_t)size + 1, sizeof *start);
  double part[8] = {0.0};
  osla_even_blocks(5, size, start);
  write_file("%%MatrixMarket matrix array real general\n% five\n5 1\n1\n2\n\n3\n4\n5");
  OSLA_ASSERT_OK(osla_vector_read_matrix_market(t, file, start, part));
  for (int64_t i = start[me]; i < start[me + 1]; i++)
    CU_ASSERT(part[i - start[me]] == (double)(i + 1));
  osla_even_blocks(6, size, start);
  OSLA_ASSERT_ERR(osla_vector_read_matrix_market(t, file, start, part), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("has 5 values, but the blocks end with 6");
  scratch_remove(1);
  osla_even_blocks(2, size, start);
  write_file("%%MatrixMarket matrix array integer general\n2 1\n-7\n4.5\n");
  OSLA_ASSERT_ERR(osla_vector_read_matrix_market(t, file, start, part), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT(":4: '4.5' is not an integer in range");
  scratch_remove(1);
  free(start);
  osla_transport_destroy(&t);
}

/* ---- invalid files ---- */

#define HEAD  "%%MatrixMarket matrix coordinate real general\n"
#define WHOLE "%%MatrixMarket matrix coordinate integer general\n"

static void test_bad_matrices(void)
{
  static const struct {
    const char *text, *error;
    osla_err code;
  } files[] = {
    {"", ": is empty", OSLA_ERR_IO},
    {"hello\n", ":1: does not begin with", OSLA_ERR_IO},
    {"%%MatrixMarket matrix coordinate real\n", ":1: does not begin with", OSLA_ERR_IO},
    {"%%MatrixMarket matrix tree real general\n", ":1: unknown format 'tree'", OSLA_ERR_IO},
    {"%%MatrixMarket matrix coordinate complex general\n", ":1: complex", OSLA_ERR_UNSUPPORTED},
    {"%%MatrixMarket matrix array real general\n1 1\n1\n", ":1: a dense matrix",
     OSLA_ERR_UNSUPPORTED},
    {HEAD, ": ends after line 1, before its sizes", OSLA_ERR_IO},
    {HEAD "% only\n3 x 1\n", ":3: 'x' is not an integer", OSLA_ERR_IO},
    {HEAD "3 3\n", ":2: ends before its last number", OSLA_ERR_IO},
    {HEAD "3 3 1 9\n", ":2: '9' after the sizes", OSLA_ERR_IO},
    {HEAD "3 -3 1\n", ":2: a size is negative", OSLA_ERR_IO},
    {HEAD "3 99999999999999999999 1\n", ":2: '99999999999999999999' is not an integer in range",
     OSLA_ERR_IO},
    {HEAD "4611686018427387904 3 1\n1 1 1\n", "2^31 or more", OSLA_ERR_RANGE},
    {HEAD "3 3 2\n1 1 1\n", ": 2 entries are announced, but the file has 1", OSLA_ERR_IO},
    {HEAD "3 3 1\n1 1 1\n2 2 1\n", ": 1 entries are announced, but the file has 2", OSLA_ERR_IO},
    {HEAD "3 3 2\n1 1 1\n0 2 1\n", ":4: row 0 is outside 1 to 3", OSLA_ERR_IO},
    {HEAD "3 3 2\n1 1 1\n% x\n2 4 1\n", ":5: column 4 is outside 1 to 3", OSLA_ERR_IO},
    {HEAD "3 3 2\n1 1 1\n2 2 nan\n", ":4: 'nan' is not a number", OSLA_ERR_IO},
    {HEAD "3 3 2\n1 1 1\n2 2 0x10\n", ":4: '0x10' is not a number", OSLA_ERR_IO},
    {HEAD "3 3 2\n1 1 1\n2 2 -0X1P3\n", ":4: '-0X1P3' is not a number", OSLA_ERR_IO},
    {HEAD "3 3 2\n1 1 1\n2 2 nan(0x1)\n", ":4: 'nan(0x1)' is not a number", OSLA_ERR_IO},
    {WHOLE "2 2 1\n1 1 4.5\n", ":3: '4.5' is not an integer in range", OSLA_ERR_IO},
    {WHOLE "2 2 1\n1 1 1e3\n", ":3: '1e3' is not an integer in range", OSLA_ERR_IO},
    {WHOLE "2 2 1\n1 1 0x1\n", ":3: '0x1' is not an integer in range", OSLA_ERR_IO},
    {WHOLE "2 2 1\n1 1 9223372036854775808\n", "'9223372036854775808' is not an integer in range",
     OSLA_ERR_IO},
    {HEAD "3 3 2\n1 1 1\n2 2 1 1\n", ":4: '1' after the entry", OSLA_ERR_IO},
    {HEAD "3 3 2\n1 1\n2 2 1\n", ":3: ends before its last number", OSLA_ERR_IO},
    {HEAD "3 3 2\n1 1 1\n2.5 2 1\n", ":4: '2.5' is not an integer", OSLA_ERR_IO},
    {"%%MatrixMarket matrix coordinate real symmetric\n3 2 1\n1 1 1\n",
     ":2: a symmetric matrix is not square: 3 x 2", OSLA_ERR_IO},
    {"%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 2 1\n",
     ":3: entry 1, 2 is not below the diagonal of a symmetric matrix", OSLA_ERR_IO},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 1\n",
     ":3: entry 2, 2 is not below the diagonal of a skew-symmetric matrix", OSLA_ERR_IO}};
  osla_transport *t = osla_test_transport();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    osla_csr *a;
    write_file(files[i].text);
    OSLA_ASSERT_ERR(osla_csr_read_matrix_market(t, file, NULL, NULL, &a), files[i].code);
    OSLA_ASSERT_TEXT(files[i].error);
    OSLA_ASSERT_TEXT(file);
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT(!a);
    scratch_remove(1);
  }
  osla_csr *a;
  OSLA_ASSERT_ERR(osla_csr_read_matrix_market(t, "/no/such/file", NULL, NULL, &a), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("/no/such/file: No such file or directory");
  scratch_create();
  file = scratch_path("pipe");
  scratch_pipe(file);
  OSLA_ASSERT_ERR(osla_csr_read_matrix_market(t, file, NULL, NULL, &a), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("pipe: is not a regular file");
  OSLA_ASSERT_SAME_TEXT();
  scratch_remove(1);
  osla_transport_destroy(&t);
}

static void test_bad_graphs(void)
{
  static const struct {
    const char *text, *error;
  } files[] = {
    {"", ": ends after line 0, before its sizes"},
    {"2\n", ":1: ends before its last number"},
    {"2 1 7\n2\n1\n", ":1: format 7 with 1 weights is not a METIS format"},
    {"2 1 10 -1\n2\n1\n", ":1: format 10 with -1 weights is not a METIS format"},
    {"2 1\n2\n", ": 2 vertices are announced, but the file has 1"},
    {"2 1\n2\n1\n1\n", ":4: '1' after the last of 2 vertices"},
    {"2 1\n2\n3\n", ":3: neighbour 3 is outside 1 to 2"},
    {"2 1\n2\n1x\n", ":3: '1x' is not an integer"},
    {"2 1 1\n2 1\n1\n", ":3: ends before its last number"},
    {"2 2\n2\n1\n", ": 2 edges are announced, so twice as many neighbours, but the file has 2"},
    {"-2 1\n2\n1\n", ":1: -2 vertices and 1 edges"},
    {"4 2\n2\n1 3\n4\n\n", ": vertex 2 lists the edge to vertex 3 (weight 1), and "
                           "vertex 3 does not list it"},
    {"4 2\n2\n1\n\n1 3\n", ": vertex 4 lists the edge to vertex 1 (weight 1), and "
                           "vertex 1 does not list it"},
    {"3 2\n2 2\n1 3\n\n", ": vertex 1 lists the edge to vertex 2 (weight 1), and "
                          "vertex 2 does not list it as often"},
    {"2 1 1\n2 5\n1 6\n", ": vertex 1 lists the edge to vertex 2 with weight 5, and "
                          "vertex 2 does not list it with that weight"},
    {"3 2 1\n3 4\n3 1\n1 4 2 2\n", ": vertex 2 lists the edge to vertex 3 with weight 1, "
                                   "and vertex 3 does not list it with that weight"}};
  osla_transport *t = osla_test_transport();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    osla_csr *a;
    write_file(files[i].text);
    OSLA_ASSERT_ERR(osla_csr_read_metis(t, file, NULL, &a), OSLA_ERR_IO);
    OSLA_ASSERT_TEXT(files[i].error);
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT(!a);
    scratch_remove(1);
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"matrices", test_matrices},
                                       {"as written", test_round},
                                       {"graphs", test_graphs},
                                       {"vectors", test_vectors},
                                       {"bad matrices", test_bad_matrices},
                                       {"bad graphs", test_bad_graphs},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_sparse_file, cases);
