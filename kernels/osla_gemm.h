/* Distributed matrix multiplication: SRUMMA on block-cyclic data (floor 3).
 *
 * Source: Krishnan and Nieplocha, "SRUMMA: a matrix multiplication algorithm suitable for clusters
 * and scalable shared memory systems" (IPDPS 2004), extended to block-cyclic data as in Krishnan,
 * Lewis, Vishnu, section III.A.
 */
#ifndef OSLA_GEMM_H
#define OSLA_GEMM_H

#include "osla_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_gemm_options {
  bool blocking; /* fetch an operand only when it is needed; default false: one task ahead */
  bool copy;     /* copy node neighbours' operands as if they were remote; default false: read in
                    place */
} osla_gemm_options;

/* C := alpha A B + beta C. Collective.
 *   a, b    [in]     m x k and k x n; any type, the same for all three
 *   c       [in,out] m x n; not a or b. beta = 0 does not read C
 *   options [in]     NULL = defaults; the same on all ranks
 * Operands whose grid or blocks do not fit C's (A in C's row blocks, B in C's column blocks, A's
 * column blocks as B's row blocks) are first copied to ones that do.
 * All ranks' earlier changes of A, B, C are used, and nobody reads A or B any more on return.
 * Memory above the operands: none on one node; else two panels of A and two local blocks of B.
 * Errors, on all ranks together: ARG (sizes, types, C is an operand), MEM, MPI. */
osla_err osla_gemm(double alpha, osla_matrix *a, osla_matrix *b, double beta, osla_matrix *c,
                   const osla_gemm_options *options);

#ifdef __cplusplus
}
#endif
#endif
