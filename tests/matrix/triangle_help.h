/* Helpers of the tests of triangular matrices: matrix elements that identify their position. */
#ifndef TRIANGLE_TEST_HELP_H
#define TRIANGLE_TEST_HELP_H

#include "osla_part.h"

/* Returns element (i, j) of a test matrix, for i, j < 256. Its real part, x = 256 max(i, j) +
 * min(i, j) + 1, identifies the position. For complex types the imaginary part is x above the
 * diagonal and -x elsewhere. */
osla_complex osla_test_mirrored(osla_dtype dtype, int64_t i, int64_t j);

/* Sets this rank's elements of a full or triangular matrix to osla_test_mirrored: those on and
 * below the diagonal, and, if `upper` is true, also the stored elements above the diagonal. All
 * other stored elements become -2. */
void osla_test_write_mirrored(osla_matrix *a, bool upper);

/* Reads the whole matrix, and returns the number of elements that differ from the expected ones.
 * Element (i, j) of `part`, which may be empty, must be osla_test_mirrored(si + i, sj + j). All
 * other elements (i, j) of the matrix must be osla_test_mirrored(i, j). Above the diagonal, a
 * triangular matrix must have the conjugates of the elements below it. */
int64_t osla_test_differ_mirrored(const osla_matrix *a, const osla_part *part, int64_t si,
                                  int64_t sj);

#endif
