/* Matrices for dropin_lapack with known factors and solutions, whose numbers are so small that
 * every order of computation gives the same bits. */
#ifndef DROPIN_LAPACK_H
#define DROPIN_LAPACK_H

#include "tests/adaptors/dropin_program.h"

#include <complex.h>

/* A dense matrix, column-major, the same on all processes. */
typedef struct dense {
  int m, n;
  double _Complex *at;
} dense;

/* Creates P A = L U whose pivots need no rounding: each pivot is at least twice as large as all
 * other elements of its column. zero: index of a pivot that is 0, or -1. */
dense dense_make_lu(int m, int n, int is_complex, int zero);

/* Creates A = L L^H with integers in L. bad: index, from 0, of a leading minor that is negative,
 * or -1. */
dense dense_make_cholesky(int n, int is_complex, int bad);

/* Creates a matrix of n x nrhs integers. */
dense dense_make_whole(int n, int nrhs, int is_complex);

/* Computes op(A) X. */
dense dense_product(char trans, const dense *a, const dense *x);
void dense_free(dense *d);

#endif
