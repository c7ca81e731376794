/* Cholesky factorisation (floor 3).
 *
 * Source: the notify-driven scheme of Krishnan, Lewis, Vishnu, section III.B, applied to a
 * symmetric matrix of which one triangle is stored.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_CHOL_H
#define OSLA_CHOL_H

#include "osla_api.h"
#include "osla_forward.h"
#include "osla_part.h"
#include "osla_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_chol_options {
  int look_ahead; /* panels that are factored before the rest of the trailing matrix is updated: 0
                     chosen (1), 1, 2; -1 none */
  osla_forward forward; /* how panels reach other nodes */
  uint64_t reserved[8]; /* 0: osla_types.h */
} osla_chol_options;

/* A := L L^H (LOWER) or U^H U (UPPER) in place; the other triangle is neither read nor written.
 * Collective.
 *   a       [in,out] n x n, any type, symmetric (Hermitian) positive definite, mb = nb, any
 *                    grid
 *   options [in]     NULL = defaults; the same on all ranks
 *   info    [out]    0, or the order of the first leading minor that is not positive definite (as
 *                    LAPACK's xPOTRF); then the triangle's content is of no use. A pivot that is
 *                    NaN is none that is positive: of a NaN in the triangle info is the row
 *                    (UPPER: column) at the latest. Same on all ranks
 * On return all ranks have finished. Errors, on all ranks together: ARG (not square, mb != nb,
 * look_ahead), MEM and RANGE (a rank's part is larger than the BLAS's int; A is as before), MPI. */
OSLA_API osla_err osla_potrf(osla_uplo uplo, osla_matrix *a, const osla_chol_options *options,
                             int64_t *info);

/* The same of a part: what is outside of it stays as it is; info counts in it. A part that begins
 * at block corners (i, j multiples of the block) is factored where it lies. So is one that begins
 * within a block row (column), if there is one process row (column), or if it ends in the same one.
 * Any other is worked on in a copy. Memory above the others: none, or the part once more, and 64 of
 * its columns. Errors as above, and ARG for a part outside its matrix. */
OSLA_API osla_err osla_potrf_part(osla_uplo uplo, osla_part a, const osla_chol_options *options,
                                  int64_t *info);

/* Bytes that it takes beside the matrix (LOWER, default options). Local, pure. */
OSLA_API uint64_t osla_chol_memory(const osla_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
