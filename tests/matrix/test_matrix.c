/* Tests of distributed matrices: creation, wrapping, reading and writing of blocks, errors. Every
 * element identifies its position, so that a misplaced one is detected. */
#include "osla_device.h"
#include "osla_index.h"
#include "tests/osla_test_help.h"
#include "tests/osla_test_watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Shapes of matrices: empty, with one element, thin, not divisible by blocks, with blocks larger
 * than the matrix. */
typedef struct shape {
  int64_t m, n, mb, nb;
} shape;

static const shape shapes[] = {
  {0, 0, 4, 4},     {0, 5, 2, 3},     {5, 0, 2, 3},      {1, 1, 1, 1},    {1, 1, 64, 64},
  {37, 53, 5, 7},   {53, 37, 16, 16}, {64, 64, 8, 8},    {1, 90, 3, 4},   {90, 2, 4, 1},
  {40, 41, 1, 1},   {30, 31, 99, 4},  {31, 30, 4, 1000}, {100, 9, 33, 2}, {60, 60, 100, 100},
  {17, 19, 18, 18}, {80, 33, 6, 500}, {33, 80, 11, 3},   {24, 24, 12, 6}, {50, 50, 49, 51},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static void check_queries(const osla_matrix *a, osla_grid *grid, const shape *s, osla_dtype dtype)
{
  osla_layout l = osla_matrix_layout(a);
  CU_ASSERT(l.m == s->m && l.n == s->n && l.mb == s->mb && l.nb == s->nb);
  CU_ASSERT(l.nprow == osla_grid_nprow(grid) && l.npcol == osla_grid_npcol(grid));
  CU_ASSERT(osla_matrix_grid(a) == grid && osla_matrix_dtype(a) == dtype);
  int64_t elements = osla_matrix_local_rows(a) * osla_matrix_local_cols(a), total = elements;
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CU_ASSERT(total == s->m * s->n);
  CU_ASSERT(osla_matrix_bytes(&l, dtype) >= (uint64_t)elements * osla_dtype_size(dtype));
  for (int prow = 0; prow < l.nprow; prow++)
    for (int pcol = 0; pcol < l.npcol; pcol++) {
      int64_t rows = osla_index_count(l.m, l.mb, prow, l.nprow);
      int64_t lld = osla_matrix_lld(a, osla_grid_rank_at(grid, prow, pcol));
      CU_ASSERT(lld >= 1 && lld >= rows);
    }
}

/* Each rank reads ranges that it chooses by its own seed; half of them extend to the matrix's
 * edge. */
static void check_get_block(const osla_matrix *a, uint64_t seed)
{
  osla_layout l = osla_matrix_layout(a);
  osla_dtype dtype = osla_matrix_dtype(a);
  size_t e = osla_dtype_size(dtype);
  for (int64_t k = 0; k < 8; k++) {
    int64_t i = osla_test_choose(seed, 10 * k, l.m + 1),
            j = osla_test_choose(seed, 10 * k + 1, l.n + 1);
    int64_t m = k % 2 ? l.m - i : osla_test_choose(seed, 10 * k + 2, l.m - i + 1);
    int64_t n = k % 4 ? osla_test_choose(seed, 10 * k + 3, l.n - j + 1) : l.n - j;
    if (k == 0) i = j = 0, m = l.m, n = l.n;
    int64_t ld = m + 1 + k % 3, rest = 0;
    unsigned char *buffer = malloc((size_t)(ld * n) * e + 1);
    memset(buffer, 0x5a, (size_t)(ld * n) * e);
    OSLA_ASSERT_OK(osla_matrix_get_block(a, i, j, m, n, buffer, ld));
    int64_t bad = osla_test_differ_block(dtype, buffer, i, j, m, n, ld);
    OSLA_ASSERT_MSG(bad == 0,
                    "%" PRId64 " of %" PRId64 " x %" PRId64 " at (%" PRId64 ", %" PRId64 ")", bad,
                    m, n, i, j);
    /* the bytes between the columns of the buffer must be unchanged */
    for (int64_t c = 0; c < n; c++)
      for (size_t b = (size_t)(m + c * ld) * e; b < (size_t)((c + 1) * ld) * e; b++)
        rest += buffer[b] != 0x5a;
    CU_ASSERT(rest == 0);
    free(buffer);
  }
}

/* The matrix is cut at random rows and columns into 9 ranges, and the ranks write these ranges in
 * turn. */
static void check_put_block(osla_matrix *a, uint64_t seed)
{
  osla_layout l = osla_matrix_layout(a);
  osla_dtype dtype = osla_matrix_dtype(a);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  int64_t row[4] = {0, osla_test_choose(seed, 1, l.m + 1), 0, l.m};
  int64_t col[4] = {0, osla_test_choose(seed, 2, l.n + 1), 0, l.n};
  row[2] = row[1] + osla_test_choose(seed, 3, l.m - row[1] + 1);
  col[2] = col[1] + osla_test_choose(seed, 4, l.n - col[1] + 1);
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_ZERO, 0));
  osla_test_watch_start();
  for (int k = 0; k < 9; k++) {
    if ((k + (int)seed) % osla_transport_size(t) != osla_transport_rank(t)) continue;
    int64_t i = row[k / 3], m = row[k / 3 + 1] - i, j = col[k % 3], n = col[k % 3 + 1] - j;
    int64_t ld = m + 2;
    void *buffer = calloc((size_t)(ld * n) + 1, osla_dtype_size(dtype));
    osla_test_write_block(dtype, buffer, i, j, m, n, ld);
    OSLA_ASSERT_OK(osla_matrix_put_block(a, i, j, m, n, buffer, ld));
    free(buffer);
  }
  CU_ASSERT(osla_test_watch_read().unflushed == 0);
  OSLA_ASSERT_OK(osla_barrier(t));
  int64_t bad = osla_test_differ_local(a);
  OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " local elements", bad);
  OSLA_ASSERT_OK(osla_barrier(t));
}

static void check_blocks(osla_matrix *a, int round)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  osla_test_write_local(a);
  OSLA_ASSERT_OK(osla_barrier(t));
  check_get_block(a, (uint64_t)(100 * round + osla_transport_rank(t)));
  OSLA_ASSERT_OK(osla_barrier(t));
  check_put_block(a, (uint64_t)round);
}

/* Runs combinations of shapes, grids and types; each shape begins with another grid. With many
 * ranks only every second shape is used, because creating a window takes 0.1 s or more if ranks
 * outnumber cores. */
typedef void on_matrix(osla_grid *grid, const shape *s, osla_dtype dtype, int round);

static void for_all(on_matrix *run, int first)
{
  osla_transport *t = osla_test_transport();
  int n_grids = osla_test_n_grids(t), step = osla_test_size() > 4 ? 2 * n_grids : n_grids;
  for (int which = 0; which < n_grids; which++) {
    osla_grid *grid = osla_test_grid(t, which);
    for (int k = (which + first) % n_grids; k < N_SHAPES; k += step)
      run(grid, &shapes[k], (osla_dtype)((k / n_grids + which) % 4), k);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* If the distance of columns in memory would be a multiple of 2 KiB, it is increased by one cache
 * line. Every rank knows the leading dimension of all ranks. */
static void test_columns_apart(void)
{
  static const struct {
    osla_dtype dtype;
    int64_t rows, lld;
  } list[] = {{OSLA_DOUBLE, 512, 520},  {OSLA_DOUBLE, 511, 511},        {OSLA_DOUBLE, 256, 256},
              {OSLA_DOUBLE, 768, 776},  {OSLA_DOUBLE, 640, 640},        {OSLA_FLOAT, 1024, 1040},
              {OSLA_FLOAT, 1280, 1280}, {OSLA_COMPLEX_DOUBLE, 256, 260}};
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_grid(t, 0);
  int64_t p = osla_grid_nprow(grid);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    osla_matrix *a;
    int64_t rows = list[i].rows, m = rows * p;
    if (!OSLA_ASSERT_OK(osla_matrix_create(grid, list[i].dtype, m, 5, rows, 2, &a))) break;
    for (int rank = 0; rank < (int)p * osla_grid_npcol(grid); rank++)
      CU_ASSERT(osla_matrix_lld(a, rank) == list[i].lld);
    osla_layout l = osla_matrix_layout(a);
    uint64_t column = (uint64_t)list[i].lld * osla_dtype_size(list[i].dtype);
    uint64_t cols = (uint64_t)osla_index_count(5, 2, 0, osla_grid_npcol(grid));
    CU_ASSERT(osla_matrix_bytes(&l, list[i].dtype) == column * cols);
    osla_matrix_destroy(&a);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void created(osla_grid *grid, const shape *s, osla_dtype dtype, int round)
{
  osla_matrix *a = NULL;
  osla_transport *t = osla_grid_transport(grid);
  int rank = osla_transport_rank(t);
  if (!OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, s->m, s->n, s->mb, s->nb, &a))) return;
  check_queries(a, grid, s, dtype);
  int64_t rows = osla_matrix_local_rows(a), nonzero = 0;
  CU_ASSERT(osla_matrix_lld(a, rank) == (rows > 1 ? rows : 1));
  for (int64_t k = 0; k < rows * osla_matrix_local_cols(a); k++)
    nonzero += osla_test_real(dtype, osla_matrix_local(a), k) != 0.0;
  CU_ASSERT(nonzero == 0);
  for (int peer = 0; peer < osla_transport_size(t); peer++)
    CU_ASSERT((osla_matrix_peer(a, peer) != NULL) == osla_transport_same_node(t, peer));
  CU_ASSERT(osla_matrix_peer(a, rank) == osla_matrix_local(a));
  CU_ASSERT(osla_segment_local(osla_matrix_segment(a)) == osla_matrix_local(a));
  check_blocks(a, round);
  osla_matrix_destroy(&a);
  CU_ASSERT_PTR_NULL(a);
}

static void test_create(void)
{
  for_all(created, 0);
  osla_matrix *none = NULL;
  osla_matrix_destroy(&none);
  osla_matrix_destroy(NULL);
}

/* Wraps memory in which columns are longer than needed, by another amount on each rank, and which
 * is aligned only to an element. The padding must be unchanged. */
static void wrapped(osla_grid *grid, const shape *s, osla_dtype dtype, int round)
{
  osla_transport *t = osla_grid_transport(grid);
  int rank = osla_transport_rank(t);
  size_t e = osla_dtype_size(dtype);
  int64_t rows = osla_index_count(s->m, s->mb, osla_grid_prow(grid), osla_grid_nprow(grid));
  int64_t cols = osla_index_count(s->n, s->nb, osla_grid_pcol(grid), osla_grid_npcol(grid));
  int64_t lld = rows + (round + rank) % 4, touched = 0;
  if (lld < 1) lld = 1;
  size_t count = (size_t)(lld * cols) * e;
  unsigned char *memory = malloc(count + 2 * e);
  memset(memory, 0x77, count + 2 * e);
  unsigned char *local = memory + e;
  osla_matrix *a = NULL;
  if (OSLA_ASSERT_OK(osla_matrix_wrap(grid, dtype, s->m, s->n, s->mb, s->nb,
                                      rows * cols > 0 ? local : NULL, lld, &a))) {
    check_queries(a, grid, s, dtype);
    CU_ASSERT(osla_matrix_lld(a, rank) == lld);
    for (int peer = 0; peer < osla_transport_size(t); peer++)
      CU_ASSERT(peer == rank || osla_matrix_peer(a, peer) == NULL);
    check_blocks(a, round);
    osla_matrix_destroy(&a);
  }
  for (size_t b = 0; b < count + 2 * e; b++) {
    int64_t at = b < e ? -1 : (int64_t)((b - e) / e);
    if ((at < 0 || at >= lld * cols || at % lld >= rows) && memory[b] != 0x77) touched++;
  }
  OSLA_ASSERT_MSG(touched == 0, "%" PRId64 " bytes beside the elements", touched);
  free(memory);
}

static void test_wrap(void)
{
  for_all(wrapped, 1);
}

/* ---- errors of matrix calls ---- */

static void expect_create(osla_grid *grid, shape s, osla_err code, const char *text)
{
  osla_matrix *a = (osla_matrix *)grid;
  OSLA_ASSERT_ERR(osla_matrix_create(grid, OSLA_DOUBLE, s.m, s.n, s.mb, s.nb, &a), code);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT_PTR_NULL(a);
}

static void test_create_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_grid(t, 0);
  expect_create(grid, (shape){-1, 5, 2, 2}, OSLA_ERR_ARG, "matrix of -1 x 5");
  expect_create(grid, (shape){5, -7, 2, 2}, OSLA_ERR_ARG, "matrix of 5 x -7");
  expect_create(grid, (shape){5, 5, 0, 2}, OSLA_ERR_ARG, "block of 0 x 2");
  expect_create(grid, (shape){5, 5, 2, -3}, OSLA_ERR_ARG, "block of 2 x -3");
  expect_create(grid, (shape){10000000, 10000000, 64, 64}, OSLA_ERR_MEM, "bytes are needed");
  int64_t huge = INT64_C(1) << 40; /* the number of bytes does not fit 64 bits */
  expect_create(grid, (shape){huge, huge, 64, 64}, OSLA_ERR_MEM, "bytes are needed");
  expect_create(grid, (shape){INT64_MAX, INT64_MAX, 1, 1}, OSLA_ERR_MEM, "bytes are needed");
  osla_layout layout = {huge, huge, 64, 64, 1, 1};
  CU_ASSERT(osla_matrix_bytes(&layout, OSLA_DOUBLE) == UINT64_MAX);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* The last rank passes a size or block size that differs from that of the other ranks. */
static void test_differing(void)
{
  static const shape here = {10, 8, 3, 2};
  static const shape others[] = {{11, 8, 3, 2}, {10, 9, 3, 2}, {10, 8, 4, 2}, {10, 8, 3, 5}};
  static const char *const texts[] = {
    "m is 10 on rank 0, but 11 on rank ", "n is 8 on rank 0, but 9 on rank ",
    "mb is 3 on rank 0, but 4 on rank ", "nb is 2 on rank 0, but 5 on rank "};
  osla_transport *t = osla_test_transport();
  int size = osla_test_size();
  bool last = osla_test_rank() == size - 1;
  osla_grid *grid = osla_test_grid(t, 0);
  osla_matrix *a = NULL;
  double local[100];
  for (int i = 0; i < 4 && size > 1; i++)
    expect_create(grid, last ? others[i] : here, OSLA_ERR_ARG, texts[i]);
  if (size > 1) {
    OSLA_ASSERT_ERR(osla_matrix_create(grid, last ? OSLA_FLOAT : OSLA_DOUBLE, 5, 5, 2, 2, &a),
                    OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("dtype is ");
    OSLA_ASSERT_ERR(osla_matrix_wrap(grid, OSLA_DOUBLE, 10, 10, last ? 3 : 2, 2, local, 10, &a),
                    OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_matrix_wrap: mb is 2 on rank 0, but 3 on rank ");
    OSLA_ASSERT_SAME_TEXT();
  }
  CU_ASSERT_PTR_NULL(a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_wrap_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = NULL;
  osla_matrix *a = (osla_matrix *)t;
  double local[100] = {0};
  bool last = osla_test_rank() == osla_test_size() - 1;
  int64_t n = 5 * osla_test_size(); /* each rank owns 5 rows */
  OSLA_ASSERT_OK(osla_grid_create(t, osla_test_size(), 1, &grid));
  OSLA_ASSERT_ERR(osla_matrix_wrap(grid, OSLA_DOUBLE, n, 4, 5, 4, local, last ? 4 : 5, &a),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("lld = 4 is below the 5 local rows");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT_PTR_NULL(a);
  OSLA_ASSERT_ERR(osla_matrix_wrap(grid, OSLA_DOUBLE, n, 4, 5, 4, last ? NULL : local, 5, &a),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("local array is NULL, but 5 x 4 elements");
  OSLA_ASSERT_SAME_TEXT();
  /* in 64 bits, the number of local elements (2^32)^2 overflows to 0 */
  const int64_t far = INT64_C(1) << 32;
  OSLA_ASSERT_ERR(
    osla_matrix_wrap(grid, OSLA_DOUBLE, far * osla_test_size(), far, far, far, NULL, far, &a),
    OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("local array is NULL, but 4294967296 x 4294967296 elements");
  OSLA_ASSERT_ERR(osla_matrix_wrap(grid, OSLA_DOUBLE, n, -4, 5, 4, local, 5, &a), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("-4");
  OSLA_ASSERT_ERR(osla_matrix_wrap(grid, OSLA_DOUBLE, 0, 4, 5, 4, NULL, 0, &a), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("lld = 0");
  CU_ASSERT_PTR_NULL(a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void expect_block(osla_matrix *a, int64_t i, int64_t j, int64_t m, int64_t n, void *buffer,
                         int64_t ld, const char *text)
{
  OSLA_ASSERT_ERR(osla_matrix_get_block(a, i, j, m, n, buffer, ld), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_ERR(osla_matrix_put_block(a, i, j, m, n, buffer, ld), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT(text);
}

static void test_block_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = osla_test_grid(t, 0);
  osla_matrix *a = NULL;
  double buffer[400] = {0}, norm = -1.0;
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, 20, 10, 3, 3, &a));
  expect_block(a, 15, 0, 6, 1, buffer, 20, "6 x 1 at (15, 0) is not inside the 20 x 10");
  expect_block(a, 0, 10, 1, 1, buffer, 20, "1 x 1 at (0, 10)");
  expect_block(a, -1, 0, 1, 1, buffer, 20, "(-1, 0)");
  expect_block(a, 0, -2, 1, 1, buffer, 20, "(0, -2)");
  expect_block(a, 0, 0, -1, 1, buffer, 20, "block of -1 x 1");
  expect_block(a, 0, 0, 1, -5, buffer, 20, "block of 1 x -5");
  expect_block(a, INT64_MAX, 0, 2, 1, buffer, 20, "9223372036854775807");
  expect_block(a, 0, 0, 1, INT64_MAX, buffer, 20, "9223372036854775807");
  expect_block(a, 0, 0, 6, 2, buffer, 5, "ld = 5 is below m = 6");
  expect_block(a, 0, 0, 6, 2, NULL, 6, "buffer is NULL");
  /* empty ranges are valid, also at the end of the matrix */
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 20, 10, 0, 0, NULL, 1));
  OSLA_ASSERT_OK(osla_matrix_put_block(a, 0, 0, 20, 0, NULL, 20));
  OSLA_ASSERT_OK(osla_matrix_norm(a, OSLA_NORM_MAX, &norm));
  CU_ASSERT(norm == 0.0); /* the refused calls have written nothing */
  osla_matrix_destroy(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* A fake device opens, except on simulated machines. */
static void test_device(void)
{
  osla_transport *t = osla_test_transport();
  osla_device *device = NULL;
  const osla_device_options options = {.kind = "fake"};
  if (osla_simulated_machine()) {
    OSLA_ASSERT_ERR(osla_device_open(t, &options, &device), OSLA_ERR_UNSUPPORTED);
    OSLA_ASSERT_TEXT("devices need a real machine");
    CU_ASSERT(device == NULL);
  } else {
    OSLA_ASSERT_OK(osla_device_open(t, &options, &device));
  }
  osla_device_close(&device);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"create", test_create},
  {"columns_apart", test_columns_apart},
  {"wrap", test_wrap},
  {"create_errors", test_create_errors},
  {"differing", test_differing},
  {"wrap_errors", test_wrap_errors},
  {"block_errors", test_block_errors},
  {"device", test_device},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_matrix, cases);
