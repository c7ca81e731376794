/* Helpers of the tests of solves: exact matrices of all types, right-hand sides in different
 * distributions, interchanges of rows of dense matrices. */
#ifndef SOLVE_REFERENCE_H
#define SOLVE_REFERENCE_H

#include "tests/kernels/kernel_stress.h"
#include "tests/osla_test_help.h"

static inline int parts_of(osla_dtype dtype)
{
  return dtype == OSLA_COMPLEX_FLOAT || dtype == OSLA_COMPLEX_DOUBLE ? 2 : 1;
}

/* Whole numbers from -reach to reach, in both parts. */
dense exact_numbers(int64_t m, int64_t n, int parts, int reach, uint64_t seed);

/* A triangle with whole numbers from -1 to 1. Its diagonal has ones (UNIT), or +-1, +-2 and, with
 * two parts, also +-i, +-2i (NONUNIT), so that solves with it are exact. Other elements are
 * zero. */
dense exact_triangle(int64_t n, int parts, osla_uplo uplo, osla_diag diag, uint64_t seed);

/* The triangle with NaN in all elements that a solve must not read. */
dense triangle_stored(const dense *used, osla_uplo uplo, osla_diag diag);

dense dense_copy(const dense *d);
dense dense_op(osla_trans trans, const dense *d);
dense dense_times(const dense *a, const dense *b); /* for real and complex matrices */
void dense_scale(osla_complex alpha, dense *d);

/* Fills a matrix of any type with a dense one of its size and number of parts. Collective. */
void matrix_set(const dense *d, osla_matrix *a);

/* Interchanges row i with row pivots[i] for i = 0 .. m - 1, or in reverse order. */
void dense_swap_rows(dense *d, const int64_t *pivots, bool backward);
/* Pivots like those of a factorisation: i <= pivots[i] < n. The caller frees them. */
int64_t *exact_pivots(int64_t n, uint64_t seed);
/* This rank's part of the pivots, as osla_getrf leaves it. The caller frees it. */
int64_t *local_pivots(const osla_matrix *a, const int64_t *pivots);

/* Distributions of right-hand sides for a matrix on `grid`, in blocks of nb. */
typedef enum rhs_distribution {
  FITTING,
  SAME_POSITIONS,
  OTHER_BLOCKS,
  OTHER_GRID,
  RHS_DISTRIBUTIONS
} rhs_distribution;

/* An m x n matrix in this distribution, for a solve with a matrix on grid g in blocks of nb.
 * Collective. */
kernel_matrix rhs_make(const grid_set *set, int g, osla_dtype dtype, int64_t m, int64_t n,
                       int64_t nb, int64_t width, rhs_distribution place, bool wrapped);

/* Like kernel_turn, but one pair in twelve with more than two ranks, because a solve also creates
 * segments. */
bool solve_turn(int grid, int variant);

/* Description of both matrices, "A; B: b"; overwritten by the next call. */
const char *solve_label(const kernel_matrix *a, const kernel_matrix *b);

#endif
