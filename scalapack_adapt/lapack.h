/* What the drop-in's LAPACK routines share: factorisations and solves (floor 4, internal).
 *
 * A routine is a file with its names; all are served by one function, as they differ only in
 * whether they factor, and whether they solve.
 */
#ifndef OSLA_ADAPT_LAPACK_H
#define OSLA_ADAPT_LAPACK_H

#include "scalapack_adapt/adapt.h"

/* The caller's arguments. What a routine has not is NULL: `uplo` marks Cholesky, `nrhs` right-hand
 * sides. Which of the routines it is stands in the call. */
typedef struct lapack_args {
  const char *uplo, *trans;
  const int *m, *n, *nrhs; /* m = NULL: a square matrix */
  void *a;
  const int *ia, *ja, *desca;
  int *ipiv; /* tied to the local rows of the array A, in row numbers of A from 1 */
  void *b;
  const int *ib, *jb, *descb;
  int *info;
} lapack_args;

/* Takes the call if it shall be: factors sub(A), or solves with its factors, or both. False: not
 * offloaded, nothing of the caller's is touched. Collective over the context; the same answer on
 * all processes. */
bool lapack_take(adapt_call *call, const lapack_args *x);

#endif
