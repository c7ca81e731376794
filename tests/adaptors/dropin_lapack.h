/* Matrices for dropin_lapack whose factors and solutions are known, and small enough numbers that
 * every way of computing them gives the same bits. */
#ifndef DROPIN_LAPACK_H
#define DROPIN_LAPACK_H

#include "tests/adaptors/dropin_program.h"

#include <complex.h>

/* Column-major, the same on all processes. */
typedef struct dense {
  int m, n;
  double _Complex *at;
} dense;

/* P A = L U with pivots that need no rounding: each is larger than all others of its column by a
 * factor of 2 at least. zero: the index of a pivot that is 0, or -1. */
dense dense_make_lu(int m, int n, int is_complex, int zero);

/* A = L L^H, L of whole numbers. bad: the order, from 0, of a minor that is negative, or -1. */
dense dense_make_cholesky(int n, int is_complex, int bad);

/* n x nrhs whole numbers. */
dense dense_make_whole(int n, int nrhs, int is_complex);

/* op(A) X */
dense dense_product(char trans, const dense *a, const dense *x);
void dense_free(dense *d);

#endif
