/* Helpers of the tests of solves: matrices of all types whose solves are exact, right-hand sides in
 * several distributions, and interchanges of rows of dense matrices. */
#ifndef SOLVE_REFERENCE_H
#define SOLVE_REFERENCE_H

#include "tests/kernels/kernel_stress.h"
#include "tests/osla_test_help.h"

static inline int parts_of(osla_dtype dtype)
{
  return dtype == OSLA_COMPLEX_FLOAT || dtype == OSLA_COMPLEX_DOUBLE ? 2 : 1;
}

/* A matrix of whole numbers from -reach to reach, in the real and the imaginary part. */
dense exact_numbers(int64_t m, int64_t n, int parts, int reach, uint64_t seed);

/* A triangle with whole numbers from -1 to 1, and zeros outside the triangle. The diagonal has ones
 * (OSLA_UNIT), or +-1, +-2 and for complex matrices also +-i, +-2i (OSLA_NONUNIT), so that solves
 * with it are exact. */
dense exact_triangle(int64_t n, int parts, osla_uplo uplo, osla_diag diag, uint64_t seed);

/* A copy of a triangular matrix with NaN in all elements that a solve must not read. */
dense triangle_stored(const dense *used, osla_uplo uplo, osla_diag diag);

dense dense_copy(const dense *d);
dense dense_op(osla_trans trans, const dense *d);
dense dense_times(const dense *a, const dense *b); /* product A B of real or complex matrices */
void dense_scale(osla_complex alpha, dense *d);

/* Fills a distributed matrix of any type with a dense matrix of equal size, which has one number
 * per element for a real type, and two for a complex type. Collective. */
void matrix_set(const dense *d, osla_matrix *a);

/* Interchanges row i with row pivots[i] for i = 0 .. m - 1, or in reverse order if `backward`. */
void dense_swap_rows(dense *d, const int64_t *pivots, bool backward);
/* Random pivots like those of a factorisation: i <= pivots[i] < n. The caller frees the array. */
int64_t *exact_pivots(int64_t n, uint64_t seed);
/* This rank's pivots as osla_getrf would return them in ipiv. The caller frees the array. */
int64_t *local_pivots(const osla_matrix *a, const int64_t *pivots);

/* Distributions of the right-hand sides of a solve, relative to the distribution of its matrix. */
typedef enum rhs_distribution {
  FITTING,
  SAME_POSITIONS,
  OTHER_BLOCKS,
  OTHER_GRID,
  RHS_DISTRIBUTIONS
} rhs_distribution;

/* An m x n matrix of right-hand sides in the given distribution, for a solve with a matrix on grid
 * number g in blocks of nb. Collective. */
kernel_matrix rhs_make(const grid_set *set, int g, osla_dtype dtype, int64_t m, int64_t n,
                       int64_t nb, int64_t width, rhs_distribution place, bool wrapped);

/* True if a test runs this pair of a grid and a variant: all pairs with one or two ranks, one pair
 * in twelve with more ranks, because a solve also creates segments. */
bool solve_turn(int grid, int variant);

/* Description of the matrices A and B of a solve, which the next call overwrites. */
const char *solve_label(const kernel_matrix *a, const kernel_matrix *b);

#endif
