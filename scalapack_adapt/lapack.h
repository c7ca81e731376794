/* The drop-in's LAPACK routines: factorisations and solves. One function serves all of them, since
 * they differ only in whether they factor and whether they solve (internal). */
#ifndef OSLA_ADAPT_LAPACK_H
#define OSLA_ADAPT_LAPACK_H

#include "scalapack_adapt/adapt.h"

/* The caller's arguments. Arguments that a routine does not have are NULL; `uplo` is set for
 * Cholesky, and `nrhs` if there are right-hand sides. adapt_call names the routine. */
typedef struct lapack_args {
  const char *uplo, *trans;
  const int *m, /* number of rows; NULL if the matrix is square */
    *n, *nrhs;
  void *a;
  const int *ia, *ja, *desca;
  int *ipiv; /* pivots of A's local rows, as row numbers in A from 1 */
  void *b;
  const int *ib, *jb, *descb;
  int *info;
} lapack_args;

/* Decides whether the call is offloaded, and if so factors sub(A), solves with the factors of
 * sub(A), or both. False if it is not offloaded; then the caller's data are unchanged. Collective
 * over the context; the same result on all processes. */
bool lapack_offload(adapt_call *call, const lapack_args *x);

#endif
