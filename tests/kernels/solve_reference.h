/* What the tests of solves share: exact matrices of all types, right-hand sides in all places,
 * interchanges on dense matrices. */
#ifndef SOLVE_REFERENCE_H
#define SOLVE_REFERENCE_H

#include "tests/kernels/kernel_stress.h"
#include "tests/osla_test_help.h"

static inline int parts_of(osla_dtype dtype)
{
  return dtype == OSLA_COMPLEX_FLOAT || dtype == OSLA_COMPLEX_DOUBLE ? 2 : 1;
}

/* Whole numbers from -reach to reach, both parts. */
dense exact_numbers(int64_t m, int64_t n, int parts, int reach, uint64_t seed);

/* A triangle with whole numbers from -1 to 1, and on its diagonal ones (UNIT), or +-1, +-2 and with
 * two parts also +-i, +-2i (NONUNIT): solves with it are exact. Zero elsewhere. */
dense exact_triangle(int64_t n, int parts, osla_uplo uplo, osla_diag diag, uint64_t seed);

/* NaN where no solve may read that triangle. */
dense triangle_stored(const dense *used, osla_uplo uplo, osla_diag diag);

dense dense_copy(const dense *d);
dense dense_op(osla_trans trans, const dense *d);
dense dense_times(const dense *a, const dense *b); /* all parts */
void dense_scale(osla_complex alpha, dense *d);

/* Fills a matrix of any type with a dense one of its size and parts. Collective. */
void matrix_set(const dense *d, osla_matrix *a);

/* Exchanges row i with row pivots[i], i = 0 .. m - 1 or backward. */
void dense_swap_rows(dense *d, const int64_t *pivots, bool backward);
/* Pivots as a factorisation makes them: i <= pivots[i] < n. The caller frees them. */
int64_t *exact_pivots(int64_t n, uint64_t seed);
/* My part of the pivots, as osla_getrf leaves it. The caller frees it. */
int64_t *local_pivots(const osla_matrix *a, const int64_t *pivots);

/* Places of right-hand sides for a matrix on `grid`, in blocks of nb. */
typedef enum rhs_place { FITTING, SAME_PLACES, OTHER_BLOCKS, OTHER_GRID, RHS_PLACES } rhs_place;

/* An m x n matrix in that place, for a solve with a matrix on grid g in blocks of nb. Collective.
 */
kernel_matrix rhs_make(const grid_set *set, int g, osla_dtype dtype, int64_t m, int64_t n,
                       int64_t nb, int64_t width, rhs_place place, bool wrapped);

/* As kernel_turn, but one pair in twelve with more than two ranks: a solve makes segments, too. */
bool solve_turn(int grid, int variant);

/* "A; B: b": overwritten by the next call. */
const char *solve_label(const kernel_matrix *a, const kernel_matrix *b);

#endif
