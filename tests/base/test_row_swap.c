/* Interchanges of rows, bitwise against single swaps of elements: with one BLAS thread OSLA's loop
 * makes them, with two threads LAPACK does. */
#include "osla_blas.h"
#include "osla_random.h"
#include "tests/osla_test_help.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void swap_bytes(unsigned char *x, unsigned char *y, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    unsigned char other = x[i];
    x[i] = y[i];
    y[i] = other;
  }
}

/* Interchanges the rows of m x n elements by osla_lapack_laswp and by single swaps, and compares
 * all bytes, with those of the gap between the columns. */
static void check_swaps(osla_dtype dtype, int64_t m, int64_t n, int64_t count, bool backward)
{
  const int64_t ld = m + 3;
  const size_t element = osla_dtype_size(dtype), bytes = (size_t)(ld * n) * element;
  unsigned char *a = malloc(bytes + 1), *expected = malloc(bytes + 1);
  int64_t *pivots = malloc((size_t)count * sizeof *pivots + 1);
  for (size_t i = 0; i < bytes; i++)
    a[i] = expected[i] = (unsigned char)osla_random_bits(1, i, 0);
  for (int64_t i = 0; i < count; i++)
    pivots[i] = i + (int64_t)(osla_random_bits(2, (uint64_t)i, 0) % (uint64_t)(m - i));
  for (int64_t k = 0; k < count; k++) {
    int64_t i = backward ? count - 1 - k : k;
    for (int64_t c = 0; c < n; c++)
      swap_bytes(expected + (size_t)(c * ld + i) * element,
                 expected + (size_t)(c * ld + pivots[i]) * element, element);
  }
  OSLA_ASSERT_OK(osla_lapack_laswp(dtype, n, a, ld, count, pivots, backward));
  OSLA_ASSERT_MSG(memcmp(a, expected, bytes) == 0, "type %d, %lld x %lld, %lld swaps, backward %d",
                  (int)dtype, (long long)m, (long long)n, (long long)count, (int)backward);
  free(a);
  free(expected);
  free(pivots);
}

/* 600 swaps are more than one call of LAPACK makes. */
static void check_sizes(void)
{
  for (int d = 0; d < 4; d++)
    for (int backward = 0; backward < 2; backward++) {
      osla_dtype dtype = (osla_dtype)d;
      check_swaps(dtype, 1, 1, 1, backward);
      check_swaps(dtype, 5, 0, 3, backward);
      check_swaps(dtype, 5, 4, 0, backward);
      check_swaps(dtype, 9, 1, 9, backward);
      check_swaps(dtype, 64, 2, 17, backward);
      check_swaps(dtype, 100, 3, 40, backward);
      check_swaps(dtype, 700, 11, 600, backward);
    }
}

static void test_threads(void)
{
  int threads = osla_blas_threads();
  osla_blas_set_threads(1);
  check_sizes();
  osla_blas_set_threads(2);
  check_sizes();
  osla_blas_set_threads(threads);
}

static const osla_test_case cases[] = {
  {"threads", test_threads},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_row_swap, cases);
