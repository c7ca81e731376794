/* Helpers of the tests of LU: matrices whose pivots and factors are known to the last bit, LAPACK's
 * factors of the same matrix, a factorisation with all its results, and checks of the results. */
#ifndef LU_REFERENCE_H
#define LU_REFERENCE_H

#include "osla_lu.h"
#include "tests/kernels/kernel_stress.h"

/* A matrix A that is constructed from known factors, so that P A = L U with known P, L and U. In
 * each step the candidates in rows before the pivot's row are smaller than the pivot by a factor of
 * at least 2, and those in later rows are at most equal to it. L contains 0, units and half units,
 * and U whole numbers with powers of two on the diagonal, so all intermediate results are exact. */
typedef struct lu_known {
  dense a, lu;     /* m x n; `lu` contains U, and L without its unit diagonal */
  int64_t *pivots; /* [min(m, n)] row that each row was interchanged with, from 0 */
} lu_known;

/* Makes a known matrix. parts is 1 for real, 2 for complex elements. zero is the step whose pivot
 * is 0 (column `zero` then depends linearly on earlier columns), or -1. moves is false if all
 * pivots are on the diagonal, so that no rows are interchanged. */
lu_known lu_known_make(int64_t m, int64_t n, int parts, uint64_t seed, int64_t zero, bool moves);
void lu_known_free(lu_known *k);

/* Makes an m x n matrix with the values of the function f, rounded to the type. */
typedef osla_complex lu_element(int64_t i, int64_t j, uint64_t seed);
dense lu_make(int64_t m, int64_t n, osla_dtype dtype, lu_element *f, uint64_t seed);
lu_element lu_uniform; /* real and imaginary part in [-1/2, 1/2) */

/* LAPACK's factors of a matrix, computed on each rank alone. */
typedef struct lu_lapack {
  int64_t info;    /* LAPACK's info */
  int64_t *pivots; /* pivot row of each step, from 0 */
  bool clear; /* true if every pivot exceeds the other candidates by more than rounding errors */
} lu_lapack;
lu_lapack lu_lapack_make(const dense *a, osla_dtype dtype);
void lu_lapack_free(lu_lapack *l);

/* One factorisation by osla_getrf and its results. */
typedef struct lu_run {
  osla_matrix *a;
  osla_dtype dtype;
  osla_pivoting pivoting;
  dense before, after;
  int64_t order;   /* number of steps of the factorisation */
  int64_t *pivots; /* [order] pivot row of each step, from 0, equal on all ranks */
  osla_lu_result result;
  char label[224];
} lu_run;

/* Fills `a` with `content`, factors it and gathers the results. Asserts that the result struct is
 * the same on all ranks, that ipiv is the same on all process columns, that i < ipiv <= m, and that
 * nothing else was written. Collective. */
lu_run lu_run_make(kernel_matrix *a, const dense *content, osla_pivoting pivoting, int look_ahead,
                   const char *name);
void lu_run_free(lu_run *r);

/* True if a test runs this pair of a grid and a variant. On one node, or with one or two
 * ranks, kernel_turn decides. On several nodes, a test with 3 or 4 ranks runs one in three of the
 * pairs that kernel_turn selects, and a test with more ranks runs one variant in twenty for each
 * grid. */
bool lu_turn(osla_transport *t, int grid, int variant);

/* Chooses a value of the option look_ahead by a number: -1, 1, 2, or 0. The value 0 means the
 * default, which is 1. */
int lu_look_ahead(int which);
int64_t lu_order(int64_t m, int64_t n);
/* Largest |a_ij|. If `upper` is true, only elements with i <= j count. */
double lu_largest(const dense *d, bool upper);

/* Factors a double and a float matrix with the known factors directly one after the other, with
 * delays on each rank, and then checks both results. Collective. */
void lu_back_to_back(const lu_known *known, osla_pivoting pivoting);

/* ---- checks of results ---- */

/* Asserts theorem 9.3 of Higham, "Accuracy and Stability of Numerical Algorithms", element by
 * element: |P A - L U| <= (k + 4) eps c |L| |U|, with k = min(m, n), c = 1 for real and 3 for
 * complex matrices. The theorem holds for any pivots and any growth. eps is twice the unit
 * round-off, because factors and residual are both rounded; the summand 4 accounts for reciprocals.
 */
bool lu_expect_backward(const lu_run *r);
/* Asserts |P A - L U|_max < 16 max(m, n) eps |A|_max, which stable pivoting ensures for matrices of
 * modest growth. */
bool lu_expect_small(const lu_run *r);
/* Asserts |l_ij| <= 1 for partial pivoting of real matrices, and |l_ij| <= sqrt(2) for complex
 * matrices, because pivots are chosen by |re| + |im|. */
bool lu_expect_bounded(const lu_run *r);
bool lu_expect_pivots(const lu_run *r, const int64_t *pivots, const char *whose);
/* Asserts that the reported growth equals the growth computed from the factors, or 0 with partial
 * pivoting, and that `trusted` follows from the growth. */
bool lu_expect_growth(const lu_run *r);

#endif
