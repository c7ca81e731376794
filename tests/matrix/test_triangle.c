/* Tests of triangular matrices: creation, memory, reading and writing of blocks, and the positions
 * of elements in local arrays. Every element identifies its position, so that a misplaced one is
 * detected. */
#include "osla_device.h"
#include "osla_index.h"
#include "src/matrix/stored.h"
#include "tests/matrix/triangle_help.h"
#include "tests/osla_test_help.h"

#include <complex.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Orders and block sizes: empty, one element, not divisible by blocks, blocks larger than the
 * matrix, blocks larger than the tiles in which mirrored elements are read. */
static const struct shape {
  int64_t n, nb;
} shapes[] = {{0, 3},   {1, 1},    {1, 64},   {37, 5},   {50, 7},  {64, 8},
              {33, 99}, {48, 48},  {101, 96}, {150, 70}, {29, 28}, {23, INT64_MAX},
              {200, 9}, {90, 100}, {61, 2},   {40, 13},  {17, 1},  {75, 24}};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

/* Writes this rank's stored elements on and below the diagonal by addresses; other stored elements
 * become -1. Returns the number of elements between the runs of columns that differ from the
 * description in stored.h. */
static int64_t write_stored(osla_matrix *a)
{
  const osla_layout l = osla_matrix_layout(a);
  const osla_grid *grid = osla_matrix_grid(a);
  const osla_dtype dtype = osla_matrix_dtype(a);
  const int rank = osla_test_rank();
  int64_t next = 0, wrong = 0;
  for (int64_t c = 0; c < osla_matrix_local_cols(a); c++) {
    const stored_columns s = osli_stored_columns(a, rank, c);
    const int64_t j = osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol);
    if (c < s.first || c >= s.first + s.count) wrong++;
    for (int64_t r = s.first_row; r < osla_matrix_local_rows(a); r++) {
      const int64_t i = osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow);
      if (i / l.nb < j / l.nb || stored_index(&s, r, c) != next++) wrong++;
      osla_test_store(dtype, osla_matrix_local(a), stored_index(&s, r, c),
                      i >= j ? osla_test_mirrored(dtype, i, j) : -1);
      if (osli_stored_at(osla_matrix_local(a), &s, r, c, osla_dtype_size(dtype)) !=
          (unsigned char *)osla_matrix_local(a) + (size_t)(next - 1) * osla_dtype_size(dtype))
        wrong++;
    }
  }
  return wrong;
}

/* Number of elements of a buffer for the block at (i, j) that are wrong, and of bytes between its
 * columns that differ from 0x5a. */
static int64_t differ_buffer(osla_dtype dtype, const unsigned char *buffer, int64_t i, int64_t j,
                             int64_t m, int64_t n, int64_t ld)
{
  const size_t e = osla_dtype_size(dtype);
  int64_t wrong = 0;
  for (int64_t c = 0; c < n; c++) {
    for (int64_t r = 0; r < m; r++)
      if (osla_test_load(dtype, buffer, r + c * ld) != osla_test_mirrored(dtype, i + r, j + c))
        wrong++;
    for (size_t b = (size_t)(m + c * ld) * e; b < (size_t)((c + 1) * ld) * e; b++)
      wrong += buffer[b] != 0x5a;
  }
  return wrong;
}

/* Reads ranges that the rank chooses by its own seed, the whole matrix among them. */
static void check_get(const osla_matrix *a, uint64_t seed)
{
  const int64_t n = osla_matrix_layout(a).n;
  const osla_dtype dtype = osla_matrix_dtype(a);
  for (int64_t k = 0; k < 12; k++) {
    const int64_t i = k ? osla_test_choose(seed, 4 * k, n + 1) : 0;
    const int64_t j = k ? osla_test_choose(seed, 4 * k + 1, n + 1) : 0;
    const int64_t rows = k % 3 ? osla_test_choose(seed, 4 * k + 2, n - i + 1) : n - i;
    const int64_t cols = k % 3 ? osla_test_choose(seed, 4 * k + 3, n - j + 1) : n - j;
    const int64_t ld = rows + 1 + k % 2;
    const size_t bytes = (size_t)(ld * cols) * osla_dtype_size(dtype);
    unsigned char *buffer = osla_test_allocate(bytes + 1, 1);
    memset(buffer, 0x5a, bytes);
    OSLA_ASSERT_OK(osla_matrix_get_block(a, i, j, rows, cols, buffer, ld));
    const int64_t wrong = differ_buffer(dtype, buffer, i, j, rows, cols, ld);
    OSLA_ASSERT_MSG(wrong == 0,
                    "%" PRId64 " of %" PRId64 " x %" PRId64 " at (%" PRId64 ", %" PRId64
                    "), n = %" PRId64 ", nb = %" PRId64,
                    wrong, rows, cols, i, j, n, osla_matrix_layout(a).nb);
    free(buffer);
  }
}

/* Writes the matrix by 9 ranges that meet at random rows and columns. The ranks write these ranges
 * in turn. Elements of the buffers above the diagonal are -2, and must not reach the matrix. */
static void check_put(osla_matrix *a, uint64_t seed)
{
  const int64_t n = osla_matrix_layout(a).n;
  const osla_dtype dtype = osla_matrix_dtype(a);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  int64_t cut[2][4] = {{0, 0, 0, n}, {0, 0, 0, n}};
  for (int axis = 0; axis < 2; axis++) {
    cut[axis][1] = osla_test_choose(seed, axis, n + 1);
    cut[axis][2] = cut[axis][1] + osla_test_choose(seed, 2 + axis, n - cut[axis][1] + 1);
  }
  for (int k = 0; k < 9; k++) {
    if (k % osla_transport_size(t) != osla_transport_rank(t)) continue;
    const int64_t i = cut[0][k / 3], rows = cut[0][k / 3 + 1] - i;
    const int64_t j = cut[1][k % 3], cols = cut[1][k % 3 + 1] - j, ld = rows + 2;
    void *buffer = osla_test_allocate((size_t)(ld * cols) + 1, osla_dtype_size(dtype));
    for (int64_t c = 0; c < cols; c++)
      for (int64_t r = 0; r < rows; r++)
        osla_test_store(dtype, buffer, r + c * ld,
                        i + r >= j + c ? osla_test_mirrored(dtype, i + r, j + c) : -2);
    OSLA_ASSERT_OK(osla_matrix_put_block(a, i, j, rows, cols, buffer, ld));
    free(buffer);
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  check_get(a, seed + 1);
}

static void check_queries(const osla_matrix *a, osla_grid *grid, const struct shape *s)
{
  const osla_layout l = osla_matrix_layout(a);
  CU_ASSERT(osla_matrix_is_triangle(a) && osla_matrix_grid(a) == grid);
  CU_ASSERT(l.m == s->n && l.n == s->n && l.mb == s->nb && l.nb == s->nb);
  CU_ASSERT(osla_matrix_device(a) == NULL);
  int64_t bytes = (int64_t)osla_segment_bytes(osla_matrix_segment(a)), sum = 0;
  for (int rank = 0; rank < osla_test_size(); rank++)
    CU_ASSERT(osla_matrix_lld(a, rank) == 0);
  MPI_Allreduce(&bytes, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  const int64_t nb = s->nb < s->n ? s->nb : s->n, whole = nb ? s->n / nb : 0,
                rest = s->n - whole * nb;
  const int64_t elements = whole * (whole + 1) / 2 * nb * nb + rest * (whole * nb + rest);
  CU_ASSERT(sum == elements * (int64_t)osla_dtype_size(osla_matrix_dtype(a)));
}

static void check_shape(osla_grid *grid, const struct shape *s, osla_dtype dtype, int round)
{
  osla_transport *t = osla_grid_transport(grid);
  osla_matrix *a;
  osla_complex first = 1;
  if (!OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, dtype, s->n, s->nb, &a))) return;
  check_queries(a, grid, s);
  if (s->n > 0) OSLA_ASSERT_OK(osla_matrix_get_block(a, s->n - 1, 0, 1, 1, &first, 1));
  if (s->n > 0) CU_ASSERT(osla_test_load(dtype, &first, 0) == 0);
  OSLA_ASSERT_OK(osla_barrier(t));
  CU_ASSERT(write_stored(a) == 0);
  OSLA_ASSERT_OK(osla_barrier(t));
  check_get(a, (uint64_t)(100 * round + osla_transport_rank(t)));
  OSLA_ASSERT_OK(osla_barrier(t));
  if (osla_matrix_local(a))
    memset(osla_matrix_local(a), 0x77, osla_segment_bytes(osla_matrix_segment(a)));
  OSLA_ASSERT_OK(osla_barrier(t));
  check_put(a, (uint64_t)round);
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_matrix_destroy(&a);
  CU_ASSERT(a == NULL);
}

static void test_blocks(void)
{
  osla_transport *t = osla_test_transport();
  const int n_grids = osla_test_n_grids(t);
  const int step = osla_test_size() >= FEW_RANKS ? 2 * n_grids : n_grids;
  for (int which = 0; which < n_grids; which++) {
    osla_grid *grid = osla_test_grid(t, which);
    for (int k = which; k < N_SHAPES; k += step)
      check_shape(grid, &shapes[k], (osla_dtype)((k / n_grids + which) % 4), k);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* A triangular matrix of order 4096, in blocks of the default size, must need at most 53 % of the
 * memory of a full matrix. */
static void test_memory(void)
{
  enum { ORDER = 4096 };
  osla_transport *t = osla_test_transport();
  osla_matrix *a = NULL;
  osla_grid *grid = osla_test_square_grid(t);
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, OSLA_DOUBLE, ORDER, OSLA_DEFAULT_BLOCK, &a));
  double bytes = (double)osla_segment_bytes(osla_matrix_segment(a));
  OSLA_ASSERT_OK(osla_allreduce(t, &bytes, 1, MPI_DOUBLE, MPI_SUM));
  OSLA_ASSERT_MSG(bytes <= 0.53 * 8 * ORDER * ORDER, "%g bytes", bytes);
  osla_matrix_destroy(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* The run of columns of a full matrix has all local columns, and its addresses are those of the
 * leading dimension. */
static void test_full(void)
{
  osla_transport *t = osla_test_transport();
  osla_matrix *a = osla_test_make(t, 0, OSLA_DOUBLE, 30, 41, 4, 3);
  CU_ASSERT(!osla_matrix_is_triangle(a));
  osla_grid *grid = osla_matrix_grid(a);
  for (int rank = 0; rank < osla_test_size(); rank++) {
    if (osla_grid_prow_of(grid, rank) < 0) continue;
    const int64_t cols =
      osla_index_count(41, 3, osla_grid_pcol_of(grid, rank), osla_matrix_layout(a).npcol);
    const stored_columns s = osli_stored_columns(a, rank, cols - 1);
    CU_ASSERT(s.first == 0 && s.count == cols && s.offset == 0 && s.first_row == 0);
    CU_ASSERT(s.ld == osla_matrix_lld(a, rank));
  }
  osla_test_destroy(a);
  osla_transport_destroy(&t);
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_square_grid(t);
  osla_matrix *a = NULL;
  double x = 0;
  OSLA_ASSERT_ERR(osla_matrix_create_triangle(grid, OSLA_DOUBLE, -1, 4, &a), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_matrix_create_triangle(grid, OSLA_DOUBLE, 9, 0, &a), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_matrix_create_triangle(grid, (osla_dtype)9, 9, 4, &a), OSLA_ERR_ARG);
  OSLA_ASSERT_SAME_TEXT();
  static const int64_t huge[] = {10000000, 3037000499, 3037000500, INT64_MAX};
  for (size_t k = 0; k < sizeof huge / sizeof huge[0]; k++) {
    OSLA_ASSERT_ERR(osla_matrix_create_triangle(grid, OSLA_COMPLEX_DOUBLE, huge[k], 96, &a),
                    OSLA_ERR_MEM);
    CU_ASSERT(a == NULL);
  }
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_matrix_create_triangle(grid, OSLA_DOUBLE, 9, 4 + osla_test_rank() % 2, &a),
                    OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_matrix_create_triangle");
    /* rank 0 makes a full matrix, and the other ranks a triangular one */
    OSLA_ASSERT_ERR(osla_test_rank() == 0
                      ? osla_matrix_create(grid, OSLA_DOUBLE, 9, 9, 4, 4, &a)
                      : osla_matrix_create_triangle(grid, OSLA_DOUBLE, 9, 4, &a),
                    OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("triangle is ");
  }
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, OSLA_DOUBLE, 9, 4, &a));
  OSLA_ASSERT_ERR(osla_matrix_get_block(a, 9, 0, 1, 1, &x, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_matrix_put_block(a, 0, 8, 1, 2, &x, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_OK(osla_barrier(t));
  osla_matrix_destroy(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"blocks", test_blocks},
                                       {"memory", test_memory},
                                       {"full", test_full},
                                       {"errors", test_errors},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_triangle, cases);
