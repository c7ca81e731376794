/* Distributed multiplication: SRUMMA on block-cyclic data (floor 3).
 *
 * C := alpha op(A) op(B) + beta C, op(X) = X, X^T or X^H. The owner of a piece of C computes it: it
 * reads the operands of its node neighbours in place and gets the others by contiguous nonblocking
 * transfers while it computes.
 *
 * Source: Krishnan and Nieplocha, "SRUMMA: a matrix multiplication algorithm suitable for clusters
 * and scalable shared memory systems" (IPDPS 2004), extended to block-cyclic data as in Krishnan,
 * Lewis, Vishnu, "Scaling Linear Algebra Kernels using Remote Memory Access", section III.A. Beyond
 * them, ranks of a node get once what several of them need.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_GEMM_H
#define OSLA_GEMM_H

#include "osla_api.h"
#include "osla_part.h"
#include "osla_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the run may do; all zero is the default. Results do not depend on it but for rounding. */
typedef struct osla_gemm_options {
  int64_t panel;        /* widest panel of k that is copied together; 0: chosen */
  uint64_t memory;      /* most bytes of buffers on a rank; 0: chosen, see osla_gemm. Panels become
                           narrower to fit; a panel is never below one column */
  uint64_t reserved[9]; /* 0: osla_types.h */
} osla_gemm_options;

/* C := alpha op(A) op(B) + beta C. Collective.
 *   transa, transb [in] what op is for A and B
 *   alpha, beta    [in] factors; beta = 0 does not read C. Real types take the real parts
 *   a, b    [in]     op(A) m x k, op(B) k x n; parts of matrices of any type, the same for all
 *   c       [in,out] m x n; must not share an element with a or b
 *   options [in]     NULL = defaults
 * All arguments are the same on all ranks; of the options only `memory` has to be. The matrices may
 * differ in block sizes and in process grids (over ranks of one transport). Fastest, without a copy
 * on the node, is an operand whose rows or columns that belong to C's are distributed like C's,
 * from the same phase of a block.
 * All ranks' earlier changes of A, B, C are used; on return C is complete on all ranks, and nobody
 * reads A or B any more.
 * Memory above the operands: two loads of an operand on other nodes (a load is a panel of k, or a
 * whole local block where k runs along the rows of the stored matrix), and a panel of one that is
 * distributed otherwise; by default at most 2.5 local blocks of the operands (or 1 MiB). A C that
 * leaves ranks idle (k >= 8192 and at most 8 MiB) is summed from private copies of it.
 * Errors, on all ranks together: ARG (sizes, types, a part outside its matrix, C overlaps an
 * operand), MEM, RANGE and UNSUPPORTED (BLAS's int; C is as before), MPI, which ends the job where
 * neighbours wait for what this rank got. */
OSLA_API osla_err osla_gemm(osla_trans transa, osla_trans transb, osla_complex alpha, osla_part a,
                            osla_part b, osla_complex beta, osla_part c,
                            const osla_gemm_options *options);

/* Triangle `uplo` of C := alpha A A^T + beta C (NOTRANS, A is n x k) or alpha A^T A + beta C (else,
 * A is k x n); the other triangle is neither read nor written. C is n x n, in any blocks and any
 * grid; s d c z (the complex product is symmetric, not Hermitian). Otherwise as osla_gemm. */
OSLA_API osla_err osla_syrk(osla_uplo uplo, osla_trans trans, osla_complex alpha, osla_part a,
                            osla_complex beta, osla_part c, const osla_gemm_options *options);

/* The Hermitian one: triangle `uplo` of C := alpha A A^H + beta C, or alpha A^H A + beta C. What
 * the imaginary parts of C's diagonal were does not matter; they become zero, as BLAS's xHERK
 * leaves them. For real types the same as osla_syrk. */
OSLA_API osla_err osla_herk(osla_uplo uplo, osla_trans trans, double alpha, osla_part a,
                            double beta, osla_part c, const osla_gemm_options *options);

/* What a rank would do in osla_gemm with the same arguments if each rank got all its operands
 * itself
 * (`alone` of osla_gemm_ablation.h); another rank of the node may get a part of them. */
typedef struct osla_gemm_plan {
  int64_t tasks;        /* local products */
  int64_t gets;         /* transfers from other nodes */
  uint64_t bytes_far;   /* got from other nodes */
  uint64_t bytes_near;  /* copied on this node: neighbours' and own */
  uint64_t bytes_place; /* of node neighbours, read in place */
  uint64_t buffers;     /* bytes of buffers */
  double flops;         /* of local products; 2 m n k for a real type, 8 m n k for a complex one */
} osla_gemm_plan;

/* Fills *plan for this rank; moves and changes nothing. Local. Errors: ARG, MEM. */
OSLA_API osla_err osla_gemm_predict(osla_trans transa, osla_trans transb, osla_part a, osla_part b,
                                    osla_part c, const osla_gemm_options *options,
                                    osla_gemm_plan *plan);

/* Bytes that C := A B takes beside the three, all of that shape, at most. Local, pure. */
OSLA_API uint64_t osla_gemm_memory(const osla_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
