/* Helpers of the tests of parts of matrices: positions of parts, and checks of what a call may
 * change. */
#ifndef PARTS_REFERENCE_H
#define PARTS_REFERENCE_H

#include "osla_part.h"
#include "tests/kernels/kernel_reference.h"

typedef struct part_position {
  int64_t i, j, m, n;
} part_position;

/* sizes and block size of the matrices that contain the parts */
enum { PARTS_M = 23, PARTS_N = 26, PARTS_NB = 4 };

/* Position number `which` of a part in a PARTS_M x PARTS_N matrix. Parts begin at block corners or
 * elsewhere, end at the matrix's edge or before it, have one element, lie in one block, are empty,
 * or are the whole matrix. If `square` is true, only parts with m = n are chosen. Returns false if
 * there are fewer positions. */
bool parts_position(int which, bool square, part_position *p);

osla_part parts_at(osla_matrix *a, part_position p);

/* A matrix whose memory the library owns, on this grid, filled from a seed. Collective. */
osla_matrix *parts_make(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                        int64_t nb, osla_fill fill, uint64_t seed);

/* parts_dense returns the elements of a part. parts_alone makes a matrix that consists of these
 * elements only, in the same blocks. Neither uses OSLA's calls on parts. parts_alone is collective.
 */
dense parts_dense(const dense *whole, part_position p);
osla_matrix *parts_alone(const osla_matrix *a, part_position p);

/* The elements of a part that a call may write: all, or one triangle. */
typedef enum parts_written { PARTS_ALL, PARTS_LOWER, PARTS_UPPER } parts_written;

/* Asserts that the elements of the part of `a` that the call may write are within tol of `alone`,
 * and that all other elements of `a` equal those of `before` bit by bit. Collective. */
void parts_expect(const osla_matrix *a, const dense *before, part_position p, parts_written written,
                  const osla_matrix *alone, double tol, const char *what);

#endif
