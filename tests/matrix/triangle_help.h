/* Helpers of the tests of triangular matrices: elements of a Hermitian matrix that identify their
 * position. */
#ifndef TRIANGLE_TEST_HELP_H
#define TRIANGLE_TEST_HELP_H

#include "osla_part.h"

/* Element (i, j) of the Hermitian matrix whose lower triangle has the elements of
 * osla_test_write_block, for i, j < 256. */
osla_complex osla_test_mirrored(osla_dtype dtype, int64_t i, int64_t j);

/* Writes this rank's elements of a matrix in either layout: those on and below the diagonal, and
 * with `upper` also those above the diagonal. All other stored elements become -2. */
void osla_test_write_mirrored(osla_matrix *a, bool upper);

/* Reads the whole matrix, and returns how many elements differ from osla_test_mirrored. Element
 * (i, j) of `part` must be element (si + i, sj + j) of osla_test_mirrored; if the matrix is
 * triangular, only elements of the part on and below the diagonal. The part may be empty. */
int64_t osla_test_differ_mirrored(const osla_matrix *a, const osla_part *part, int64_t si,
                                  int64_t sj);

#endif
