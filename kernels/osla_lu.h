/* LU factorisation without pivoting (floor 3).
 *
 * For matrices that need no pivoting: diagonally dominant, or symmetric positive definite. Pivoted
 * variants are not here yet.
 * Source: Krishnan, Lewis, Vishnu, "Scaling Linear Algebra Kernels using Remote Memory Access",
 * section III.B.
 */
#ifndef OSLA_LU_H
#define OSLA_LU_H

#include "osla_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_lu_options {
  int look_ahead; /* 1: the next panel is factored before the rest of the trailing matrix is
                     updated; 0: after it. Default 1 */
} osla_lu_options;

typedef struct osla_lu_result {
  int64_t info;  /* 0, or 1 + the index of the first pivot that is exactly zero (LAPACK's INFO) */
  double growth; /* max |u_ij| / max |a_ij|. Far above 1 (say 1e6), or NaN: do not trust L and U */
} osla_lu_result;

/* A := L U in place; L has a unit diagonal that is not stored. Collective.
 *   a       [in,out] n x n, s or d, mb = nb, any grid
 *   options [in]     NULL = defaults
 *   result  [out]    the same on all ranks
 * On return all ranks have finished. Errors, on all ranks together: ARG (not square, mb != nb),
 * UNSUPPORTED (complex), MEM, MPI. */
osla_err osla_getrf_nopiv(osla_matrix *a, const osla_lu_options *options, osla_lu_result *result);

#ifdef __cplusplus
}
#endif
#endif
