/* Products with a matrix of which one triangle is stored, and with vectors (floor 3).
 *
 * The products with matrices stand on osla_gemm: the stored triangle is halved again and again;
 * each square outside the diagonal is used where it lies, once as it is and (symm, hemm) once
 * transposed, and only the squares along the diagonal are copied. Products with vectors read A
 * once, in place, on the rank that has it.
 *
 * In all calls: parts of matrices of one type (s d c z), in any blocks and on any grids of one
 * transport; the triangle that is not named is never read. Collective, with the same arguments on
 * all ranks; all ranks' earlier changes of the operands are used, and on return the result is
 * complete on all ranks. Real types take the real parts of factors. beta = 0 does not read what it
 * scales. Squares on the diagonal are multiplied whole, with zeros beside a triangle: an infinity
 * or NaN in B, or in x, may reach rows of the same square (order at most 1024) that it does not
 * reach by the definition. Errors, on all ranks together: ARG (sizes, types, a part outside its
 * matrix), MEM, MPI; after MEM or MPI the result is undefined.
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

/* C := alpha A B + beta C (LEFT) or alpha B A + beta C (RIGHT), A symmetric (A = A^T, also for
 * complex types); osla_hemm: Hermitian, whose diagonal counts as real.
 *   uplo    [in]     the stored triangle of A
 *   a       [in]     order m (LEFT) or n (RIGHT)
 *   b       [in]     m x n
 *   c       [in,out] m x n; must not share an element with a or b
 *   options [in]     of the products, NULL = defaults
 * Memory above theirs: about 512 rows of A's order (LEFT; a diagonal square), of all ranks. */
OSLA_API osla_err osla_symm(osla_side side, osla_uplo uplo, osla_complex alpha, osla_part a,
                            osla_part b, osla_complex beta, osla_part c,
                            const osla_gemm_options *options);
OSLA_API osla_err osla_hemm(osla_side side, osla_uplo uplo, osla_complex alpha, osla_part a,
                            osla_part b, osla_complex beta, osla_part c,
                            const osla_gemm_options *options);

/* B := alpha op(A) B (LEFT) or alpha B op(A) (RIGHT), A triangular, in place.
 *   uplo, trans, diag  [in]  of A; UNIT: its diagonal is not read and counts as 1
 *   a       [in]     order m (LEFT) or n (RIGHT); must not share an element with b
 *   b       [in,out] m x n
 * Memory above the products': a diagonal square, and as many rows (RIGHT: columns) of B. */
OSLA_API osla_err osla_trmm(osla_side side, osla_uplo uplo, osla_trans trans, osla_diag diag,
                            osla_complex alpha, osla_part a, osla_part b,
                            const osla_gemm_options *options);

/* y := alpha op(A) x + beta y.
 *   a  [in]      m x n
 *   x  [in]      a column, n x 1 (NOTRANS) or m x 1
 *   y  [in,out]  a column, m x 1 or n x 1; may be x, must not share an element with a
 * Memory: both columns whole on each rank; they are what is sent, the matrix is not. */
OSLA_API osla_err osla_gemv(osla_trans trans, osla_complex alpha, osla_part a, osla_part x,
                            osla_complex beta, osla_part y);

/* The same with a symmetric (osla_hemv: Hermitian) A of order n of which triangle `uplo` is
 * stored; each element of it is read once. */
OSLA_API osla_err osla_symv(osla_uplo uplo, osla_complex alpha, osla_part a, osla_part x,
                            osla_complex beta, osla_part y);
OSLA_API osla_err osla_hemv(osla_uplo uplo, osla_complex alpha, osla_part a, osla_part x,
                            osla_complex beta, osla_part y);

#ifdef __cplusplus
}
#endif
#endif
