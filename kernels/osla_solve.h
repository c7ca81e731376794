/* Triangular solves with many right-hand sides, and solves with factors (floor 3).
 *
 * B is n x nrhs, distributed in the same block rows and on the same grid as A (mb of B = nb of A);
 * its block columns are free. All are collective; s and d; on return all ranks have finished.
 * Errors, on all ranks together: ARG (sizes, blocks, grids or types that do not fit), UNSUPPORTED
 * (complex), MEM, MPI.
 */
#ifndef OSLA_SOLVE_H
#define OSLA_SOLVE_H

#include "osla_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* B := op(T)^-1 B, T the triangle `uplo` of A. A is read only. */
osla_err osla_trsm_left(osla_uplo uplo, osla_trans trans, osla_diag diag, osla_matrix *a,
                        osla_matrix *b);

/* B := A^-1 B with the factor that osla_potrf left in triangle `uplo` of A. */
osla_err osla_potrs(osla_uplo uplo, osla_matrix *a, osla_matrix *b);

/* B := A^-1 B with the factors that osla_getrf_nopiv left in A. */
osla_err osla_getrs_nopiv(osla_matrix *a, osla_matrix *b);

/* Scaled residual of a solution, as HPL and LAPACK's testers define it:
 *   |B - A X|_inf / ((|A|_inf |X|_inf + |B|_inf) n eps),  eps of the matrices' precision.
 * A backward stable solve gives a value of order 1; NaN when there is a NaN. A is the full matrix
 * before its factorisation. Makes a copy of B. */
osla_err osla_residual(osla_matrix *a, osla_matrix *x, osla_matrix *b, double *value);

#ifdef __cplusplus
}
#endif
#endif
