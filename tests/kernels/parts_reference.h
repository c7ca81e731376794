/* Helpers of the tests of parts: positions of parts, and checks of what a call may change. */
#ifndef PARTS_REFERENCE_H
#define PARTS_REFERENCE_H

#include "osla_part.h"
#include "tests/kernels/kernel_reference.h"

typedef struct part_position {
  int64_t i, j, m, n;
} part_position;

/* size and block size of the matrices with the parts */
enum { PARTS_M = 23, PARTS_N = 26, PARTS_NB = 4 };

/* Position number `which` of a part in a PARTS_M x PARTS_N matrix: at block corners and elsewhere,
 * up to the end and not, with one element, in one block, empty, and the whole matrix. square: m =
 * n. False past the end. */
bool parts_position(int which, bool square, part_position *p);

osla_part parts_at(osla_matrix *a, part_position p);

/* A matrix owned by the library on this grid, filled from a seed. Collective. */
osla_matrix *parts_make(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                        int64_t nb, osla_fill fill, uint64_t seed);

/* parts_dense: the elements of a part. parts_alone: a matrix of its own with these elements, in the
 * same blocks. Made without the calls on parts. Collective. */
dense parts_dense(const dense *whole, part_position p);
osla_matrix *parts_alone(const osla_matrix *a, part_position p);

/* Elements of a part that a call may write. */
typedef enum parts_written { PARTS_ALL, PARTS_LOWER, PARTS_UPPER } parts_written;

/* Asserts that the written elements of the part of `a` are within tol of `alone`, and that all
 * other elements are those of `before`, bit for bit. Collective. */
void parts_expect(const osla_matrix *a, const dense *before, part_position p, parts_written written,
                  const osla_matrix *alone, double tol, const char *what);

#endif
