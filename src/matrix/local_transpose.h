/* Transpose and conjugate of a piece in this rank's memory (internal). */
#ifndef LOCAL_TRANSPOSE_H
#define LOCAL_TRANSPOSE_H

#include "osla_types.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A constant element size lets the compiler copy an element by one load and one store. The loops go
 * through 8 x 8 squares, so that all elements of a cache line are used while it is in the cache. */
static inline __attribute__((always_inline)) void transpose_elements(
  size_t element, int64_t m, int64_t n, const unsigned char *from, int64_t from_ld,
  unsigned char *to, int64_t to_ld)
{
  enum { SIDE = 8 };
  for (int64_t c0 = 0; c0 < n; c0 += SIDE)
    for (int64_t r0 = 0; r0 < m; r0 += SIDE)
      for (int64_t c = c0; c < n && c < c0 + SIDE; c++)
        for (int64_t r = r0; r < m && r < r0 + SIDE; r++)
          memcpy(to + (size_t)(r + c * to_ld) * element, from + (size_t)(c + r * from_ld) * element,
                 element);
}

/* Sets `to` (m x n) to the transpose of `from` (n x m), for elements of 4, 8 or 16 bytes. The
 * arrays must not overlap. */
static inline void local_transpose(size_t element, int64_t m, int64_t n, const unsigned char *from,
                                   int64_t from_ld, unsigned char *to, int64_t to_ld)
{
  if (element == 8)
    transpose_elements(8, m, n, from, from_ld, to, to_ld);
  else if (element == 4)
    transpose_elements(4, m, n, from, from_ld, to, to_ld);
  else
    transpose_elements(16, m, n, from, from_ld, to, to_ld);
}

/* Conjugates an m x n array in place; does nothing for real types. */
static inline void local_conjugate(osla_dtype dtype, int64_t m, int64_t n, unsigned char *a,
                                   int64_t ld)
{
  const size_t e = osla_dtype_size(dtype);
  for (int64_t c = 0; c < n; c++)
    for (int64_t r = 0; r < m; r++) {
      unsigned char *element = a + (size_t)(r + c * ld) * e;
      if (dtype == OSLA_COMPLEX_FLOAT) ((float *)element)[1] *= -1;
      if (dtype == OSLA_COMPLEX_DOUBLE) ((double *)element)[1] *= -1;
    }
}

#endif
