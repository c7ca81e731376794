/* What the tests of the LU factorisation share: matrices whose pivots and factors are known to the
 * last bit, LAPACK's own answer, one run with all that it leaves, and verdicts on it.
 */
#ifndef LU_REFERENCE_H
#define LU_REFERENCE_H

#include "osla_lu.h"
#include "tests/kernels/kernel_stress.h"

/* A matrix with P A = L U, made backwards: in each step some row is the pivot, those before it are
 * smaller by a factor of 2 or more, those behind it are so or tie with it. L holds 0, units and
 * half units; U whole numbers, powers of two on the diagonal: all intermediates are exact. */
typedef struct lu_known {
  dense a, lu;     /* m x n; lu: L without its diagonal, and U */
  int64_t *pivots; /* [min(m, n)] from 0 */
} lu_known;

/*   parts  1 real, 2 complex
 *   zero   step whose pivot is 0 (column `zero` depends on those before it), or -1
 *   moves  false: the pivots are on the diagonal */
lu_known lu_known_make(int64_t m, int64_t n, int parts, uint64_t seed, int64_t zero, bool moves);
void lu_known_free(lu_known *k);

/* Fills an m x n matrix of a type's numbers: what f gives is narrowed to the type. */
typedef osla_complex lu_element(int64_t i, int64_t j, uint64_t seed);
dense lu_make(int64_t m, int64_t n, osla_dtype dtype, lu_element *f, uint64_t seed);
lu_element lu_uniform; /* both parts in [-1/2, 1/2) */

/* LAPACK's factors of the same matrix on this rank alone. */
typedef struct lu_lapack {
  int64_t info, *pivots; /* from 0 */
  bool clear;            /* no other row came within rounding of a pivot */
} lu_lapack;
lu_lapack lu_lapack_make(const dense *a, osla_dtype dtype);
void lu_lapack_free(lu_lapack *l);

/* One factorisation. */
typedef struct lu_run {
  osla_matrix *a;
  osla_dtype dtype;
  osla_pivoting pivoting;
  dense before, after;
  int64_t order, *pivots; /* of all rows, on all ranks, from 0 */
  osla_lu_result result;
  char label[224];
} lu_run;

/* Fills a with `content`, factors it and gathers what is left. Asserts that the result is the same
 * on all ranks; and of ipiv: the same on all process columns, i < ipiv <= m, nothing else written.
 * Collective. */
lu_run lu_run_make(kernel_matrix *a, const dense *content, osla_pivoting pivoting, int look_ahead,
                   const char *name);
void lu_run_free(lu_run *r);

/* As kernel_turn; on several nodes with 3 or 4 ranks one in three of those, with more one variant
 * in twenty for each grid. */
bool lu_turn(osla_transport *t, int grid, int variant);

/* The sort of run by a number; look-ahead -1, 1, 2 or 0 (which is 1). */
int lu_look_ahead(int which);
int64_t lu_order(int64_t m, int64_t n);
double lu_largest(const dense *d, bool upper); /* |a_ij|; upper: of those with i <= j */

/* Two matrices, double and float, with these factors in turn, without a pause, under delays; then
 * both are looked at. Collective. */
void lu_back_to_back(const lu_known *known, osla_pivoting pivoting);

/* ---- verdicts ---- */

/* Higham, "Accuracy and Stability of Numerical Algorithms", theorem 9.3, holds for any pivots and
 * any growth, element by element:
 *   |P A - L U| <= (k + 4) eps c |L| |U|,   k = min(m, n), c = 1 or (complex) 3
 * with eps = 2 unit round-offs: one for the factors, one for our own residual; + 4: reciprocals. */
bool lu_expect_backward(const lu_run *r);
/* |P A - L U|_max < 16 max(m, n) eps |A|_max: stable pivoting on matrices of modest growth. */
bool lu_expect_small(const lu_run *r);
/* Partial pivoting: |l_ij| <= 1; complex: sqrt(2), since pivots go by |re| + |im|. */
bool lu_expect_bounded(const lu_run *r);
bool lu_expect_pivots(const lu_run *r, const int64_t *pivots, const char *whose);
/* Growth is what the factors say; 0 with partial pivoting; and trusted follows from it. */
bool lu_expect_growth(const lu_run *r);

#endif
