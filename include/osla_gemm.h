/* Distributed multiplication: SRUMMA on block-cyclic data (layer 3).
 *
 * C := alpha op(A) op(B) + beta C, where op(X) is X, X^T or X^H. The owner of a piece of C computes
 * it. It reads operands of its node neighbours in place, and gets the other operands by contiguous
 * nonblocking transfers while it computes.
 *
 * Source: Krishnan and Nieplocha, "SRUMMA: a matrix multiplication algorithm suitable for clusters
 * and scalable shared memory systems" (IPDPS 2004), extended to block-cyclic data as in Krishnan,
 * Lewis, Vishnu, "Scaling Linear Algebra Kernels using Remote Memory Access", section III.A. Beyond
 * these papers, operands that several ranks of a node need are transferred to the node only once.
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

/* Options of a product; all zero means the defaults. Results depend on them by rounding only. */
typedef struct osla_gemm_options {
  /* largest number of columns of k that are copied together; 0: the library chooses */
  int64_t panel;
  /* largest number of bytes of buffers on a rank; 0: the library chooses, see osla_gemm. Panels
   * become narrower to fit, but never narrower than one column */
  uint64_t memory;
  /* number of layers of osla_gemm: the indices k are divided among them. 0 and 1: no layers. Other
   * values are for products of few rows and columns on each of many ranks, see osla_gemm */
  int64_t layers;
  uint64_t reserved[8]; /* 0: osla_types.h */
} osla_gemm_options;

/* C := alpha op(A) op(B) + beta C. Collective.
 *   transa, transb [in] op of A and of B
 *   alpha, beta    [in] factors; beta = 0 does not read C. For real types only the real parts count
 *   a, b    [in]     op(A) m x k, op(B) k x n; parts of matrices of any type, the same for all
 *   c       [in,out] m x n; must not share an element with a or b
 *   options [in]     NULL = defaults
 * All arguments must be the same on all ranks. Of the options, only `memory` and `layers` must be.
 * The matrices may have different block sizes and process grids (over ranks of one transport). An
 * operand needs no copy on the node, and is fastest, if its rows or columns that correspond to
 * those of C are distributed like C's, beginning at the same position in a block.
 * The call uses all changes of A, B and C that any rank has made before. On return C is complete on
 * all ranks, and no rank reads A or B any more.
 * Memory beside the operands: two loads of an operand on other nodes, and a panel of an operand
 * that is distributed differently. (A load is a panel of k, or a whole local block if k runs along
 * the rows of the stored matrix.) By default this is at most 2.5 local blocks of the operands, or 1
 * MiB. With groups of r x s ranks (layers): 2.5 times r local blocks of A and s of B. If C leaves
 * ranks idle (k >= 8192 and C of at most 8 MiB), each rank also has a private copy of C. With c
 * layers (the 2.5D algorithm of Solomonik and Demmel, Euro-Par 2011, in which A and B are read
 * where they are) groups of c ranks divide k. Each rank computes the elements of C of its group for
 * its share of k, and sends partial sums to their owners, which add them in a fixed order. The
 * results have the same bits in every run with the same options, the same grids and blocks, the
 * same ranks on each node, and a BLAS whose results are reproducible. The number c must be a
 * product of a divisor of the number of process rows of C and a divisor of its number of process
 * columns. Memory: 2 (c - 1) local parts of C more. A rank receives k / c elements of A and B for
 * each row and column of its group, and c - 1 local parts of C. If k runs along the rows of a stored
 * operand that c layers divide, and c does not divide the number of process rows of that operand, a
 * rank may receive up to 4 times the elements of that operand, because a get of a part of the rows
 * also transfers the elements between these parts. kernels/gemm/README.md and doc/large_machines.md
 * say for which products layers need fewer elements.
 * A and B may be parts of triangular matrices that lie below the diagonal; the call works on
 * copies of such parts. Errors, on all ranks together: ARG (sizes, types, a part outside its
 * matrix, C overlaps an operand, layers that do not divide the process grid of C), MEM (also if
 * `memory` does not exceed the bytes of the partial sums of the layers), RANGE (a size exceeds the
 * integers of the BLAS), UNSUPPORTED (the BLAS has 64-bit integers; A or B is a part of a
 * triangular matrix that does not lie below the diagonal; C of osla_gemm lies in a triangular
 * matrix; layers with C in device memory), MPI, which ends the job if ranks of the node wait for
 * transfers of the failing rank. After RANGE and UNSUPPORTED C is unchanged. */
OSLA_API osla_err osla_gemm(osla_trans transa, osla_trans transb, osla_complex alpha, osla_part a,
                            osla_part b, osla_complex beta, osla_part c,
                            const osla_gemm_options *options);

/* Triangle `uplo` of C := alpha A A^T + beta C (NOTRANS, A is n x k), or of C := alpha A^T A + beta
 * C (otherwise, A is k x n). The other triangle is neither read nor written. C is n x n, in any
 * blocks and on any grid; types s, d, c and z (the complex product is symmetric, not Hermitian).
 * With LOWER and a real type, C may be a triangular matrix, or a part of a triangular matrix that
 * begins and ends on the diagonal. A triangular C is computed in place: each rank computes the
 * elements of C that it owns, even if this leaves ranks idle. Errors: those of osla_gemm,
 * UNSUPPORTED if C is any other part of a triangular matrix or `layers` exceeds 1, and ARG if C is
 * triangular and uplo is UPPER or the type is complex. Otherwise as osla_gemm. */
OSLA_API osla_err osla_syrk(osla_uplo uplo, osla_trans trans, osla_complex alpha, osla_part a,
                            osla_complex beta, osla_part c, const osla_gemm_options *options);

/* Triangle `uplo` of the Hermitian product C := alpha A A^H + beta C, or C := alpha A^H A + beta C.
 * The imaginary parts of C's diagonal are ignored and become zero, as with xHERK of the BLAS. With
 * LOWER and any type, C may be a triangular matrix, or a part of a triangular matrix that begins
 * and ends on the diagonal. For real types the results are those of osla_syrk. Otherwise as
 * osla_syrk. */
OSLA_API osla_err osla_herk(osla_uplo uplo, osla_trans trans, double alpha, osla_part a,
                            double beta, osla_part c, const osla_gemm_options *options);

/* The work of this rank in osla_gemm with these arguments, if each rank gets all its operands
 * itself (`alone` of osla_gemm_ablation.h). In osla_gemm, another rank of the node may get some of
 * these operands. */
typedef struct osla_gemm_plan {
  int64_t tasks; /* number of local products */
  /* number of transfers that this rank starts between nodes: operands from other nodes, and partial
   * sums of C to other nodes (layers) */
  int64_t gets;
  uint64_t bytes_far; /* bytes of these transfers */
  /* bytes copied on this node: from neighbours and from this rank's own memory */
  uint64_t bytes_near;
  uint64_t bytes_place; /* bytes of node neighbours that are read in place */
  uint64_t buffers;     /* bytes of buffers on this rank */
  /* operations of local products; over all ranks 2 m n k for a real type, 8 m n k for a complex
   * one */
  double flops;
} osla_gemm_plan;

/* Fills *plan for this rank. Transfers and changes nothing. Local. Errors: ARG, MEM, UNSUPPORTED (a
 * matrix is triangular). */
OSLA_API osla_err osla_gemm_predict(osla_trans transa, osla_trans transb, osla_part a, osla_part b,
                                    osla_part c, const osla_gemm_options *options,
                                    osla_gemm_plan *plan);

/* Largest number of bytes that C := A B without layers needs on a rank beside the three matrices,
 * which all have this shape. Local, pure. */
OSLA_API uint64_t osla_gemm_memory(const osla_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
