/* Helpers of the tests of LU: matrices whose pivots and factors are known to the last bit, LAPACK's
 * result, a run with all its results, and checks of the results. */
#ifndef LU_REFERENCE_H
#define LU_REFERENCE_H

#include "osla_lu.h"
#include "tests/kernels/kernel_stress.h"

/* A matrix with P A = L U, constructed backwards. In each step one row is the pivot row. Candidates
 * in earlier rows are smaller by a factor of at least 2; those in later rows are as well, or are
 * equal to the pivot. L contains 0, units and half units; U whole numbers with powers of two on the
 * diagonal. So all intermediate results are exact. */
typedef struct lu_known {
  dense a, lu;     /* m x n; lu contains L without its diagonal, and U */
  int64_t *pivots; /* [min(m, n)] row indices from 0 */
} lu_known;

/* parts  1 real, 2 complex
 *   zero   step whose pivot is 0 (column `zero` depends on those before it), or -1
 *   moves  false: the pivots are on the diagonal */
lu_known lu_known_make(int64_t m, int64_t n, int parts, uint64_t seed, int64_t zero, bool moves);
void lu_known_free(lu_known *k);

/* Fills an m x n matrix with the values of f, rounded to the type. */
typedef osla_complex lu_element(int64_t i, int64_t j, uint64_t seed);
dense lu_make(int64_t m, int64_t n, osla_dtype dtype, lu_element *f, uint64_t seed);
lu_element lu_uniform; /* real and imaginary part in [-1/2, 1/2) */

/* LAPACK's factors of the same matrix, computed on each rank alone. */
typedef struct lu_lapack {
  int64_t info, *pivots; /* pivots: row indices from 0 */
  bool clear;            /* true if no other candidate was within rounding errors of a pivot */
} lu_lapack;
lu_lapack lu_lapack_make(const dense *a, osla_dtype dtype);
void lu_lapack_free(lu_lapack *l);

/* One factorisation and its results. */
typedef struct lu_run {
  osla_matrix *a;
  osla_dtype dtype;
  osla_pivoting pivoting;
  dense before, after;
  int64_t order, *pivots; /* pivots of all rows, on all ranks, from 0 */
  osla_lu_result result;
  char label[224];
} lu_run;

/* Fills a with `content`, factors it and gathers the results. Asserts that the result is the same
 * on all ranks, that ipiv is the same on all process columns, that i < ipiv <= m, and that nothing
 * else was written. Collective. */
lu_run lu_run_make(kernel_matrix *a, const dense *content, osla_pivoting pivoting, int look_ahead,
                   const char *name);
void lu_run_free(lu_run *r);

/* Like kernel_turn, but on several nodes only one in three of these pairs with 3 or 4 ranks, and
 * one variant in twenty for each grid with more ranks. */
bool lu_turn(osla_transport *t, int grid, int variant);

/* A look-ahead option chosen by a number: -1, 1, 2, or 0 (which means 1). */
int lu_look_ahead(int which);
int64_t lu_order(int64_t m, int64_t n);
/* largest |a_ij|; upper: only elements with i <= j */
double lu_largest(const dense *d, bool upper);

/* Factors a double and a float matrix with these factors in turn, without a pause and with delays,
 * then checks both. Collective. */
void lu_back_to_back(const lu_known *known, osla_pivoting pivoting);

/* ---- verdicts ---- */

/* Asserts theorem 9.3 of Higham, "Accuracy and Stability of Numerical Algorithms", which holds for
 * any pivots and any growth, element by element:
 *   |P A - L U| <= (k + 4) eps c |L| |U|,   k = min(m, n), c = 1 or (complex) 3
 * eps is twice the unit round-off, for the factors and for the residual computed here; the summand
 * 4 accounts for reciprocals. */
bool lu_expect_backward(const lu_run *r);
/* Asserts |P A - L U|_max < 16 max(m, n) eps |A|_max: stable pivoting on matrices of modest
 * growth. */
bool lu_expect_small(const lu_run *r);
/* Asserts |l_ij| <= 1 for partial pivoting; complex: sqrt(2), because pivots maximise |re| +
 * |im|. */
bool lu_expect_bounded(const lu_run *r);
bool lu_expect_pivots(const lu_run *r, const int64_t *pivots, const char *whose);
/* Asserts that growth is that of the factors, or 0 with partial pivoting, and that `trusted`
 * follows from it. */
bool lu_expect_growth(const lu_run *r);

#endif
