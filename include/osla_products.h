/* Products with a matrix of which one triangle is stored, and products with vectors (layer 3).
 *
 * Products with matrices consist of calls of osla_gemm. The stored triangle is halved recursively.
 * Each rectangle outside the diagonal is used in place, once as it is and (symm, hemm) once
 * transposed. Only squares along the diagonal are copied. From a triangular matrix, the rows below
 * each square are copied, too, about 512 columns at a time. Products with vectors read A once, in
 * place, on the rank that owns it.
 *
 * For all calls: operands are parts of matrices of one type (s, d, c, z), in any blocks and on any
 * grids of one transport. The triangle that is not stored is never read. Calls are collective, with
 * the same arguments on all ranks. A call uses all changes of the operands that any rank has made
 * before; on return the result is complete on all ranks. For real types only the real parts of
 * factors count. beta = 0 does not read the matrix that it scales. Squares on the diagonal are
 * multiplied as full squares with zeros outside the triangle, so an infinity or NaN in B or x may
 * reach rows of the same square (of order 1024 at most) that it would not reach by the definition.
 * Errors, on all ranks together: ARG (sizes, types, a part outside its matrix, layers as in
 * osla_gemm), MEM, MPI; after MEM or MPI the result is undefined. With layers, `memory` must exceed
 * the bytes of partial sums of the whole result; otherwise MEM, and the result is unchanged.
 *
 * Source: the definitions of the BLAS (Dongarra, Du Croz, Hammarling, Duff, ACM TOMS 16, 1990);
 * recursion on the triangle as in Elmroth, Gustavson, Jonsson, Kagstrom, SIAM Review 46 (2004).
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_PRODUCTS_H
#define OSLA_PRODUCTS_H

#include "osla_api.h"
#include "osla_gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* C := alpha A B + beta C (LEFT) or alpha B A + beta C (RIGHT). In osla_symm A is symmetric (A =
 * A^T, also for complex types), in osla_hemm Hermitian; the imaginary parts of its diagonal are
 * ignored.
 *   uplo    [in]     the stored triangle of A
 *   a       [in]     order m (LEFT) or n (RIGHT); with LOWER also a part of a triangular matrix
 *                    (osla_matrix_create_triangle) that begins on the diagonal
 *   b       [in]     m x n
 *   c       [in,out] m x n; must not share an element with a or b
 *   options [in]     options of the calls of osla_gemm, NULL = defaults
 * Memory beside that of osla_gemm: a diagonal square of order about 512, distributed over all
 * ranks; with a triangular matrix also a copy of about 512 of its columns. Errors as stated at the
 * head of this file, and UNSUPPORTED if A is a part of a triangular matrix that does not begin on
 * the diagonal. */
OSLA_API osla_err osla_symm(osla_side side, osla_uplo uplo, osla_complex alpha, osla_part a,
                            osla_part b, osla_complex beta, osla_part c,
                            const osla_gemm_options *options);
OSLA_API osla_err osla_hemm(osla_side side, osla_uplo uplo, osla_complex alpha, osla_part a,
                            osla_part b, osla_complex beta, osla_part c,
                            const osla_gemm_options *options);

/* B := alpha op(A) B (LEFT) or alpha B op(A) (RIGHT) for a triangular A, in place.
 *   uplo, trans, diag  [in]  as in xTRMM of the BLAS; UNIT: A's diagonal is not read and counts as
 *                            1
 *   a       [in]     order m (LEFT) or n (RIGHT); must not share an element with b
 *   b       [in,out] m x n
 *   options [in]     options of the calls of osla_gemm, NULL = defaults
 * Memory beside that of osla_gemm: a diagonal square, and as many rows (RIGHT: columns) of B. */
OSLA_API osla_err osla_trmm(osla_side side, osla_uplo uplo, osla_trans trans, osla_diag diag,
                            osla_complex alpha, osla_part a, osla_part b,
                            const osla_gemm_options *options);

/* y := alpha op(A) x + beta y.
 *   a  [in]      m x n; may be a part of a triangular matrix that lies below the diagonal
 *   x  [in]      a column, n x 1 (NOTRANS) or m x 1
 *   y  [in,out]  a column, m x 1 or n x 1; may be x, must not share an element with a
 * Memory: both columns as a whole on each rank. The columns are sent, the matrix is not. */
OSLA_API osla_err osla_gemv(osla_trans trans, osla_complex alpha, osla_part a, osla_part x,
                            osla_complex beta, osla_part y);

/* y := alpha A x + beta y for a symmetric (osla_hemv: Hermitian) A of order n of which triangle
 * `uplo` is stored. Each stored element is read once. With LOWER, A may be a part of a triangular
 * matrix that begins on the diagonal. Otherwise as osla_gemv. */
OSLA_API osla_err osla_symv(osla_uplo uplo, osla_complex alpha, osla_part a, osla_part x,
                            osla_complex beta, osla_part y);
OSLA_API osla_err osla_hemv(osla_uplo uplo, osla_complex alpha, osla_part a, osla_part x,
                            osla_complex beta, osla_part y);

#ifdef __cplusplus
}
#endif
#endif
