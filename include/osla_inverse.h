/* Inverses of factored matrices, in place (layer 3).
 *
 * Sources: Bientinesi, Gunter, van de Geijn, "Families of algorithms related to the inversion of a
 * symmetric positive definite matrix" (ACM TOMS 35, 2008); Quintana, Quintana, Sun, van de Geijn,
 * "A note on parallel matrix inversion" (SIAM J. Sci. Comput. 22, 2001); with the notify-driven
 * panels of Krishnan, Lewis, Vishnu, section III.B.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_INVERSE_H
#define OSLA_INVERSE_H

#include "osla_api.h"
#include "osla_chol.h"
#include "osla_lu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Triangle `uplo` of A := triangle `uplo` of (L L^H)^-1 (LOWER) or of (U^H U)^-1 (UPPER), computed
 * from the factor that osla_potrf left in this triangle. The other triangle is neither read nor
 * written. Collective.
 *   a       [in,out] n x n, any type, mb = nb, any grid; with LOWER also a triangular matrix
 *                    (osla_matrix_create_triangle)
 *   options [in]     as osla_potrf; NULL = defaults; the same on all ranks
 *   info    [out]    0, or i > 0: element i of the factor's diagonal, counted from 1, is the first
 *                    that is exactly zero (as LAPACK's xPOTRI); then A is unchanged. The same on
 *                    all ranks
 * To fill the other triangle of a full matrix, call osla_matrix_mirror afterwards. The call uses
 * all changes of A that any rank has made before; on return all ranks have finished. A may have
 * been made by osla_matrix_wrap_own.
 * Memory: 4 sets of panels of a block row and a block column, and a copy of a block row.
 * Errors, on all ranks together: ARG (not square, mb != nb, uplo, options, UPPER with a triangular
 * matrix), MEM and RANGE (as osla_getrf; A is unchanged), MPI. */
OSLA_API osla_err osla_potri(osla_uplo uplo, osla_matrix *a, const osla_chol_options *options,
                             int64_t *info);

/* Bytes that osla_potri needs on a rank beside the matrix (LOWER, default options). Local, pure. */
OSLA_API uint64_t osla_potri_memory(const osla_shape *shape);

/* A := A^-1 from the factors and interchanges that osla_getrf left. Collective.
 *   a       [in,out] n x n, any type, mb = nb, any grid
 *   ipiv    [in]     as osla_getrf fills it; NULL on all ranks: no interchanges. Ranks without rows
 *                    of A may always pass NULL
 *   options [in]     look_ahead and forward as osla_getrf, pivoting is not read; NULL = defaults;
 *                    the same on all ranks
 *   info    [out]    0, or i > 0: U(i,i), counted from 1, is the first that is exactly zero (as
 *                    LAPACK's xGETRI); then A is unchanged. The same on all ranks
 * The call uses all changes of A that any rank has made before; on return all ranks have finished.
 * A may have been made by osla_matrix_wrap_own.
 * Memory: 4 sets of panels of a block row and a block column, and a block; 2 n indices; buffers of
 * a few MiB, or of one row, for the interchanges of columns.
 * Errors, on all ranks together: ARG (not square, mb != nb, options, a pivot outside 1 to n, or
 * only some ranks pass NULL), MEM and RANGE (as osla_getrf; A is unchanged), MPI. */
OSLA_API osla_err osla_getri(osla_matrix *a, const int64_t *ipiv, const osla_lu_options *options,
                             int64_t *info);

/* Bytes that osla_getri needs on a rank beside the matrix and ipiv (default options). Local,
 * pure. */
OSLA_API uint64_t osla_getri_memory(const osla_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
