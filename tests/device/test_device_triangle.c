/* Tests of copies between triangular matrices, which lie in host memory, and full matrices on a
 * device, and of reads of triangular matrices into device memory. */
#include "osla_part.h"
#include "src/device/device.h"
#include "tests/device/device_help.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Asserts that two matrices of order n have equal elements. */
static void expect_equal(const osla_matrix *a, const osla_matrix *b, int64_t n)
{
  const size_t bytes = (size_t)(n * n) * osla_dtype_size(osla_matrix_dtype(a));
  unsigned char *x = osla_test_allocate(bytes, 1), *y = osla_test_allocate(bytes, 1);
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, n, n, x, n));
  OSLA_ASSERT_OK(osla_matrix_get_block(b, 0, 0, n, n, y, n));
  OSLA_ASSERT_MSG(memcmp(x, y, bytes) == 0, "n = %" PRId64, n);
  free(x);
  free(y);
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(osla_matrix_grid(a))));
}

/* Copies a triangular matrix to the device and back, and checks that it is unchanged. Copies parts
 * between triangular matrices and a full matrix on the device, and checks that the results equal
 * those with a full matrix in host memory. */
static void check_copies(device_bench *b, osla_grid *grid, int which)
{
  enum { ORDER = 90 };
  const osla_dtype dtype = all_types[which % 4];
  osla_matrix *a = NULL, *back = NULL, *host = NULL, *device = NULL;
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, dtype, ORDER, 7, &a));
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, dtype, ORDER, 20, &back));
  OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, ORDER, ORDER, 12, 9, &host));
  OSLA_ASSERT_OK(osla_matrix_create_on(b->device, grid, dtype, ORDER, ORDER, 12, 9, &device));
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_UNIFORM, 5));
  OSLA_ASSERT_OK(osla_matrix_copy(a, device));
  OSLA_ASSERT_OK(osla_matrix_copy(a, host));
  expect_equal(device, host, ORDER);
  OSLA_ASSERT_OK(osla_matrix_copy(device, back));
  expect_equal(back, a, ORDER);
  const osla_part rows = osla_part_at(a, 13, 20, 40, 51);
  OSLA_ASSERT_OK(osla_matrix_copy_part(rows, osla_part_at(device, 1, 2, 40, 51)));
  OSLA_ASSERT_OK(osla_matrix_copy_part(rows, osla_part_at(host, 1, 2, 40, 51)));
  expect_equal(device, host, ORDER);
  OSLA_ASSERT_OK(
    osla_matrix_copy_part(osla_part_at(device, 0, 0, 31, 45), osla_part_at(a, 55, 3, 31, 45)));
  OSLA_ASSERT_OK(
    osla_matrix_copy_part(osla_part_at(host, 0, 0, 31, 45), osla_part_at(back, 55, 3, 31, 45)));
  expect_equal(back, a, ORDER);
  osla_matrix_destroy(&a);
  osla_matrix_destroy(&back);
  osla_matrix_destroy(&host);
  osla_matrix_destroy(&device);
}

static void test_copies(void)
{
  on_all_grids(check_copies);
}

/* Reads blocks of a triangular matrix into registered device memory and into host memory, and
 * checks that both results are equal. The blocks are the whole matrix, and blocks above, across and
 * below the diagonal. */
static void check_blocks(device_bench *b, osla_grid *grid, int which)
{
  enum { ORDER = 90 };
  static const int64_t ranges[][4] = {
    {0, 0, 90, 90}, {3, 40, 20, 50}, {13, 5, 60, 71}, {50, 1, 40, 49}, {9, 10, 1, 1}};
  const osla_dtype dtype = all_types[which % 4];
  const size_t e = osla_dtype_size(dtype), bytes = (size_t)(ORDER + 1) * ORDER * e;
  osla_matrix *a = NULL;
  OSLA_ASSERT_OK(osla_matrix_create_triangle(grid, dtype, ORDER, which % 2 ? 70 : 7, &a));
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_UNIFORM, 5));
  unsigned char *x = osla_test_allocate(bytes, 1), *y = osla_test_allocate(bytes, 1);
  void *memory = program_memory_allocate(b->device, bytes);
  OSLA_ASSERT_OK(osla_device_register(b->device, memory, bytes));
  for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
    const int64_t *r = ranges[k];
    memset(x, 0x5a, bytes);
    osli_device_copy_bytes(bytes, x, memory);
    OSLA_ASSERT_OK(osla_matrix_get_block(a, r[0], r[1], r[2], r[3], x, ORDER + 1));
    OSLA_ASSERT_OK(osla_matrix_get_block(a, r[0], r[1], r[2], r[3], memory, ORDER + 1));
    osli_device_copy_bytes(bytes, memory, y);
    OSLA_ASSERT_MSG(memcmp(x, y, bytes) == 0, "range %zu, grid %d", k, which);
  }
  OSLA_ASSERT_OK(osla_device_unregister(b->device, memory, bytes));
  program_memory_free(b->device, memory, bytes);
  free(x);
  free(y);
  OSLA_ASSERT_OK(osla_barrier(b->t));
  osla_matrix_destroy(&a);
}

static void test_blocks(void)
{
  on_all_grids(check_blocks);
}

static const osla_test_case cases[] = {
  {"copies", test_copies}, {"blocks", test_blocks}, {NULL, NULL}};
OSLA_TEST_SUITE(test_device_triangle, cases);
