/* Tests of matrix operations: fill, copy between grids and block sizes, mirror, transpose, add. */
#include "osla_index.h"
#include "osla_random.h"
#include "tests/osla_test_help.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- fill ---- */

enum { M = 43, N = 38, SEED = 12 };

/* The value that osla_matrix.h promises for element (i, j) after this fill; NaN if the header
 * promises only a property of the matrix. */
static double rule(osla_fill fill, int64_t i, int64_t j)
{
  double uniform = osla_random_uniform(SEED, (uint64_t)i, (uint64_t)j);
  switch (fill) {
    case OSLA_FILL_ZERO: return 0.0;
    case OSLA_FILL_IDENTITY: return i == j ? 1.0 : 0.0;
    case OSLA_FILL_UNIFORM: return uniform;
    case OSLA_FILL_DOMINANT: return uniform + (i == j ? M : 0);
    case OSLA_FILL_SPD: return (double)NAN;
    case OSLA_FILL_INTEGER: return (double)NAN;
  }
  return (double)NAN;
}

static void check_rule(osla_fill fill, osla_dtype dtype, const void *whole)
{
  bool single = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
  int wrong = 0;
  for (int64_t j = 0; j < N; j++)
    for (int64_t i = 0; i < M; i++) {
      double value = osla_test_real(dtype, whole, i + j * M), expected = rule(fill, i, j);
      if (single) expected = (double)(float)expected;
      if (fill == OSLA_FILL_INTEGER) {
        if (!(fabs(value) <= 8.0 && value == floor(value))) wrong++;
      } else if (fill == OSLA_FILL_SPD) {
        double mirrored = i < N && j < M ? osla_test_real(dtype, whole, j + i * M) : value;
        double above = i == j ? value - M : value;
        if (!(value == mirrored && fabs(above) <= 0.5 + 1e-6)) wrong++;
      } else if (!(value == expected)) {
        wrong++;
      }
    }
  OSLA_ASSERT_MSG(wrong == 0, "%d elements, fill %d, type %d", wrong, (int)fill, (int)dtype);
}

/* On the first grid, the filled elements are compared with the promised values. On all other grids
 * the matrix must have the same bytes. */
static void test_fill(void)
{
  osla_transport *t = osla_test_transport();
  static const int64_t blocks[][2] = {{4, 3},   {1, 1},  {7, 5},  {16, 16},
                                      {100, 2}, {5, 99}, {43, 38}};
  const size_t bytes = (size_t)M * N * 16;
  unsigned char *first = calloc(24, bytes), *whole = malloc(bytes);
  for (int which = 0; which < osla_test_n_grids(t); which++)
    for (int d = 0; d < 4; d++) {
      if (which > 0 && (which + d) % (osla_test_size() > FEW_RANKS ? 4 : 2) != 0) continue;
      osla_dtype dtype = (osla_dtype)d;
      osla_matrix *a = osla_test_make(t, which, dtype, M, N, blocks[which][0], blocks[which][1]);
      for (int f = OSLA_FILL_ZERO; f <= OSLA_FILL_INTEGER; f++) {
        OSLA_ASSERT_OK(osla_matrix_fill(a, (osla_fill)f, SEED));
        OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, M, N, whole, M));
        OSLA_ASSERT_OK(osla_barrier(t));
        size_t used = (size_t)M * N * osla_dtype_size(dtype);
        unsigned char *reference = first + (size_t)(6 * d + f) * bytes;
        if (which == 0) {
          check_rule((osla_fill)f, dtype, whole);
          memcpy(reference, whole, used);
        }
        OSLA_ASSERT_MSG(memcmp(reference, whole, used) == 0, "grid %d, type %d, fill %d", which, d,
                        f);
      }
      osla_test_destroy(a);
    }
  free(first);
  free(whole);
  osla_transport_destroy(&t);
}

static double count_and_tell(int64_t i, int64_t j, void *arg)
{
  ++*(int64_t *)arg;
  return (double)(1000 * i - j);
}

static void test_fill_with(void)
{
  osla_transport *t = osla_test_transport();
  osla_matrix *a = osla_test_make(t, 0, OSLA_DOUBLE, M, N, 4, 3);
  int64_t calls = 0;
  int wrong = 0;
  double whole[M * N];
  OSLA_ASSERT_OK(osla_matrix_fill_with(a, count_and_tell, &calls));
  CU_ASSERT(calls == osla_matrix_local_rows(a) * osla_matrix_local_cols(a));
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, M, N, whole, M));
  for (int k = 0; k < M * N; k++)
    if (whole[k] != 1000.0 * (k % M) - k / M) wrong++;
  CU_ASSERT(wrong == 0);
  OSLA_ASSERT_ERR(osla_matrix_fill(a, (osla_fill)77, 0), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("77");
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

/* ---- copy ---- */

/* Makes one matrix on each grid, each with its own block size, and copies between every ordered
 * pair of them. */
static void copy_all_pairs(osla_transport *t, osla_dtype dtype, int64_t m, int64_t n)
{
  static const int64_t blocks[][2] = {{4, 3}, {3, 8}, {1, 5}, {64, 64}, {16, 2}, {7, 7}, {2, 100}};
  osla_matrix *on[8];
  int n_grids = osla_test_n_grids(t);
  for (int k = 0; k < n_grids; k++)
    on[k] = osla_test_make(t, k, dtype, m, n, blocks[k][0], blocks[k][1]);
  for (int from = 0; from < n_grids; from++)
    for (int to = 0; to < n_grids; to++) {
      if (from == to) continue;
      OSLA_ASSERT_OK(osla_matrix_fill(on[to], OSLA_FILL_ZERO, 0));
      /* there is no barrier here, because the copy itself must wait until the source is written */
      osla_test_write_local(on[from]);
      OSLA_ASSERT_OK(osla_matrix_copy(on[from], on[to]));
      int64_t bad = osla_test_differ_local(on[to]) + osla_test_differ_local(on[from]);
      OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " elements, grid %d to grid %d", bad, from, to);
    }
  for (int k = 0; k < n_grids; k++)
    osla_test_destroy(on[k]);
}

static void test_copy(void)
{
  osla_transport *t = osla_test_transport();
  copy_all_pairs(t, OSLA_DOUBLE, 61, 150);
  copy_all_pairs(t, OSLA_COMPLEX_FLOAT, 90, 7);
  osla_transport_destroy(&t);
}

static void test_copy_empty(void)
{
  osla_transport *t = osla_test_transport();
  copy_all_pairs(t, OSLA_FLOAT, 1, 1);
  copy_all_pairs(t, OSLA_COMPLEX_DOUBLE, 0, 3);
  osla_transport_destroy(&t);
}

/* Tests copies whose source or destination is a matrix that wraps memory with longer columns. */
static void test_copy_wrapped(void)
{
  osla_transport *t = osla_test_transport();
  osla_matrix *own = osla_test_make(t, 0, OSLA_FLOAT, M, N, 5, 6), *wrapped = NULL;
  osla_grid *grid = osla_test_grid(t, osla_test_n_grids(t) - 1);
  int64_t rows = osla_index_count(M, 3, osla_grid_prow(grid), osla_grid_nprow(grid));
  int64_t lld = rows + 1 + osla_test_rank();
  float *memory = calloc((size_t)(lld * N) + 1, sizeof *memory);
  OSLA_ASSERT_OK(osla_matrix_wrap(grid, OSLA_FLOAT, M, N, 3, 4, memory + 1, lld, &wrapped));
  osla_test_write_local(own);
  OSLA_ASSERT_OK(osla_matrix_copy(own, wrapped));
  CU_ASSERT(osla_test_differ_local(wrapped) == 0);
  OSLA_ASSERT_OK(osla_matrix_fill(own, OSLA_FILL_ZERO, 0));
  OSLA_ASSERT_OK(osla_matrix_copy(wrapped, own));
  CU_ASSERT(osla_test_differ_local(own) == 0);
  osla_test_destroy(wrapped);
  free(memory);
  osla_test_destroy(own);
  osla_transport_destroy(&t);
}

static void test_copy_errors(void)
{
  osla_transport *t = osla_test_transport(), *other = osla_test_transport();
  osla_matrix *a = osla_test_make(t, 0, OSLA_DOUBLE, 6, 7, 2, 2);
  osla_matrix *b = osla_test_make(t, 0, OSLA_DOUBLE, 6, 8, 2, 2);
  osla_matrix *c = osla_test_make(t, 0, OSLA_FLOAT, 6, 7, 2, 2);
  osla_matrix *d = osla_test_make(other, 0, OSLA_DOUBLE, 6, 7, 2, 2);
  OSLA_ASSERT_ERR(osla_matrix_copy(a, b), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("source is 6 x 7, destination 6 x 8");
  OSLA_ASSERT_ERR(osla_matrix_copy(a, c), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("'d', destination 's'");
  OSLA_ASSERT_ERR(osla_matrix_copy(a, d), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("different transports");
  OSLA_ASSERT_ERR(osla_matrix_copy(a, a), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("one matrix");
  OSLA_ASSERT_ERR(osla_matrix_mirror(a, OSLA_LOWER), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("6 x 7");
  osla_test_destroy(a);
  osla_test_destroy(b);
  osla_test_destroy(c);
  osla_test_destroy(d);
  a = osla_test_make(t, 0, OSLA_DOUBLE, 6, 6, 2, 3);
  OSLA_ASSERT_ERR(osla_matrix_mirror(a, OSLA_UPPER), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("blocks of 2 x 3");
  osla_test_destroy(a);
  osla_transport_destroy(&other);
  osla_transport_destroy(&t);
}

/* ---- mirror ---- */

/* Asserts that after a mirror the element (i, j) outside the triangle `from` equals element (j, i)
 * inside it. */
static void check_mirror(osla_matrix *a, osla_uplo from)
{
  int64_t n = osla_matrix_layout(a).n, wrong = 0;
  osla_dtype dtype = osla_matrix_dtype(a);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  void *whole = malloc((size_t)(n * n) * 16 + 1);
  osla_test_write_local(a);
  OSLA_ASSERT_OK(osla_matrix_mirror(a, from));
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, n, n, whole, n > 0 ? n : 1));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      bool keep = from == OSLA_LOWER ? i >= j : i <= j;
      int64_t row = keep ? i : j, col = keep ? j : i;
      wrong += osla_test_differ_block(
        dtype, (unsigned char *)whole + (size_t)(i + j * n) * osla_dtype_size(dtype), row, col, 1,
        1, 1);
    }
  OSLA_ASSERT_MSG(wrong == 0, "%" PRId64 " of %" PRId64 " x %" PRId64, wrong, n, n);
  free(whole);
  OSLA_ASSERT_OK(osla_barrier(t));
}

static void test_mirror(void)
{
  osla_transport *t = osla_test_transport();
  static const int64_t sizes[][2] = {{41, 4}, {64, 16}, {0, 3},  {1, 1}, {30, INT64_C(1) << 40},
                                     {37, 1}, {50, 7},  {20, 11}};
  for (int which = 0; which < osla_test_n_grids(t); which++)
    for (int k = 0; k < (osla_test_size() > FEW_RANKS ? 1 : 2); k++) {
      const int64_t *s = sizes[(which + 4 * k) % 8];
      osla_matrix *a =
        osla_test_make(t, which, (osla_dtype)((which + k) % 4), s[0], s[0], s[1], s[1]);
      check_mirror(a, OSLA_LOWER);
      check_mirror(a, OSLA_UPPER);
      osla_test_destroy(a);
    }
  osla_transport_destroy(&t);
}

/* ---- transpose, add ---- */

/* Counts the elements (i, j) of a transpose that are not `factor` times element (j, i) of the
 * source. */
static int64_t count_wrong(const osla_matrix *dest, double imaginary, double factor)
{
  osla_layout l = osla_matrix_layout(dest);
  osla_grid *grid = osla_matrix_grid(dest);
  int64_t wrong = 0, lld = osla_matrix_lld(dest, osla_test_rank());
  for (int64_t c = 0; c < osla_matrix_local_cols(dest); c++)
    for (int64_t r = 0; r < osla_matrix_local_rows(dest); r++) {
      int64_t i = osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow);
      int64_t j = osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol);
      double value = factor * (double)(256 * j + i + 1);
      osla_complex got =
        osla_test_load(osla_matrix_dtype(dest), osla_matrix_local(dest), r + c * lld);
      wrong += creal(got) != value || cimag(got) != imaginary * value;
    }
  return wrong;
}

static double not_a_number(int64_t i, int64_t j, void *arg)
{
  (void)i, (void)j, (void)arg;
  return (double)NAN;
}

static void test_transpose(void)
{
  osla_transport *t = osla_test_transport();
  static const osla_dtype wide[] = {OSLA_DOUBLE, OSLA_COMPLEX_DOUBLE};
  static const osla_dtype narrow[] = {OSLA_FLOAT, OSLA_COMPLEX_FLOAT};
  for (int which = 0; which < osla_test_n_grids(t); which++) {
    if (osla_test_size() > FEW_RANKS && which % 3 != 1) continue;
    int k = which % 2;
    osla_trans trans = which / 2 % 2 ? OSLA_TRANS : OSLA_CONJTRANS;
    double imaginary = k == 0 ? 0.0 : trans == OSLA_TRANS ? -1.0 : 1.0;
    osla_matrix *a = osla_test_make(t, which, wide[k], 200, 143, 3, 150);
    osla_matrix *b =
      osla_test_make(t, (which + 1) % osla_test_n_grids(t), wide[k], 143, 200, 50, 7);
    osla_matrix *c = NULL, *d = NULL;
    OSLA_ASSERT_OK(osla_matrix_create(osla_matrix_grid(b), narrow[k], 143, 200, 50, 7, &c));
    OSLA_ASSERT_OK(osla_matrix_create(osla_matrix_grid(b), wide[k], 143, 200, 49, 7, &d));
    osla_test_write_local(a);
    OSLA_ASSERT_OK(osla_matrix_transpose(trans, a, b));
    CU_ASSERT(count_wrong(b, imaginary, 1.0) == 0);
    OSLA_ASSERT_OK(osla_matrix_add(0.5, b, 0.0, c));
    CU_ASSERT(count_wrong(c, imaginary, 0.5) == 0);
    OSLA_ASSERT_OK(osla_matrix_add(3.0, c, -0.5, b));
    CU_ASSERT(count_wrong(b, imaginary, 1.0) == 0);
    OSLA_ASSERT_OK(osla_matrix_scale(-4.0, c));
    CU_ASSERT(count_wrong(c, imaginary, -2.0) == 0);
    OSLA_ASSERT_OK(osla_matrix_fill_with(c, not_a_number, NULL));
    /* with alpha = 0, the source must not be read */
    OSLA_ASSERT_OK(osla_matrix_add(0.0, c, 1.0, b));
    CU_ASSERT(count_wrong(b, imaginary, 1.0) == 0);
    OSLA_ASSERT_OK(osla_matrix_scale(0.0, c));
    CU_ASSERT(count_wrong(c, imaginary, 0.0) == 0);
    OSLA_ASSERT_ERR(osla_matrix_transpose(trans, a, a), OSLA_ERR_ARG);
    OSLA_ASSERT_ERR(osla_matrix_transpose(OSLA_NOTRANS, a, b), OSLA_ERR_ARG);
    OSLA_ASSERT_ERR(osla_matrix_transpose(trans, a, c), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("type");
    OSLA_ASSERT_ERR(osla_matrix_add(1.0, b, 0.0, d), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("in 50 x 7, destination 143 x 200 in 49 x 7");
    OSLA_ASSERT_SAME_TEXT();
    osla_matrix_destroy(&c), osla_matrix_destroy(&d);
    osla_test_destroy(a), osla_test_destroy(b);
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"fill", test_fill},
  {"fill_with", test_fill_with},
  {"transpose", test_transpose},
  {"copy", test_copy},
  {"copy_empty", test_copy_empty},
  {"copy_wrapped", test_copy_wrapped},
  {"copy_errors", test_copy_errors},
  {"mirror", test_mirror},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_matrix_ops, cases);
