/* What the tests of parts share: places of parts, and what a call may have changed. */
#ifndef PARTS_REFERENCE_H
#define PARTS_REFERENCE_H

#include "osla_part.h"
#include "tests/kernels/kernel_reference.h"

typedef struct place {
  int64_t i, j, m, n;
} place;

enum { PARTS_M = 23, PARTS_N = 26, PARTS_NB = 4 }; /* the matrices that have the parts */

/* The which-th place of a part in a PARTS_M x PARTS_N matrix: at block corners and not, to the end
 * and not, of one element, in one block, empty, all. square: m = n. False past the end. */
bool parts_place(int which, bool square, place *p);

osla_part parts_at(osla_matrix *a, place p);

/* A matrix of the library, filled from a seed, on this grid. Collective. */
osla_matrix *parts_make(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                        int64_t nb, osla_fill fill, uint64_t seed);

/* The elements of a place, and a matrix of its own that holds them, in the same blocks. Collective:
 * neither is made by the calls on parts. */
dense parts_dense(const dense *whole, place p);
osla_matrix *parts_alone(const osla_matrix *a, place p);

/* Which elements of a part a call may write. */
typedef enum parts_written { PARTS_ALL, PARTS_LOWER, PARTS_UPPER } parts_written;

/* Of `a`, those elements of the part are within tol of `alone`, and all others are those of
 * `before`, bit for bit. Collective. */
void parts_expect(const osla_matrix *a, const dense *before, place p, parts_written written,
                  const osla_matrix *alone, double tol, const char *what);

#endif
