#include "src/blas/row_swap.h"
#include "src/blas/move.h"

/* Number of columns by which the elements of pivot rows are prefetched. Each element lies in a
 * cache line of its own, and a column is too short for the processor to hide their latency. */
enum { AHEAD = 2 };

static inline void swap_by_column(size_t element, int64_t n, unsigned char *a, size_t column_bytes,
                                  int64_t first, int64_t last, const int64_t *pivots, bool backward)
{
  for (int64_t c = 0; c < n; c++) {
    unsigned char *column = a + (size_t)c * column_bytes;
    const unsigned char *ahead = a + (size_t)(c + AHEAD < n ? c + AHEAD : n - 1) * column_bytes;
    for (int64_t k = 0; k < last - first; k++) {
      const int64_t i = backward ? last - 1 - k : first + k;
      const size_t pivot = (size_t)pivots[i] * element;
      unsigned char upper[16], lower[16];
      __builtin_prefetch(ahead + pivot, 1);
      copy_element(element, upper, column + (size_t)i * element);
      copy_element(element, lower, column + pivot);
      copy_element(element, column + (size_t)i * element, lower);
      copy_element(element, column + pivot, upper);
    }
  }
}

/* The calls pass the element size as a constant, so that the compiler makes each copy one load and
 * one store. */
void osli_swap_rows(size_t element, int64_t n, void *a, int64_t lda, int64_t first, int64_t last,
                    const int64_t *pivots, bool backward)
{
  const size_t column_bytes = (size_t)lda * element;
  if (element == 8)
    swap_by_column(8, n, a, column_bytes, first, last, pivots, backward);
  else if (element == 4)
    swap_by_column(4, n, a, column_bytes, first, last, pivots, backward);
  else
    swap_by_column(16, n, a, column_bytes, first, last, pivots, backward);
}
