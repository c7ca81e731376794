/* Distributed matrices: 2-D block-cyclic, in ScaLAPACK's local layout (layer 2).
 *
 * An m x n matrix consists of blocks of mb x nb, with block (0,0) on process (0,0) of the grid.
 * Each process holds its blocks as one column-major array of local_rows x local_cols elements with
 * leading dimension lld >= max(1, local_rows). If columns would otherwise be a multiple of 2 KiB
 * apart, lld is one cache line longer than local_rows. The memory can be passed unchanged, with
 * this lld, to ScaLAPACK, MPI-IO or HDF5, and every column panel is contiguous for RMA. Sizes and
 * indices count elements, from 0.
 *
 * Memory order: accesses to elements by load, store, get and put are ordered between ranks by
 * osla_barrier, by the collective calls below, or by a notify.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_MATRIX_H
#define OSLA_MATRIX_H

#include "osla_api.h"
#include "osla_grid.h"
#include "osla_segment.h"
#include "osla_types.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_matrix osla_matrix;

/* Block size of objects that are created without a block size (doc/grid_and_blocks.md). */
enum { OSLA_DEFAULT_BLOCK = 96 };

/* Shape and distribution of a matrix; passed by value. */
typedef struct osla_layout {
  int64_t m, n;   /* numbers of rows and columns */
  int64_t mb, nb; /* numbers of rows and columns of a block */
  int nprow, npcol;
} osla_layout;

/* Makes a zero matrix. Collective. The grid is borrowed and must outlive the matrix.
 * Errors, on all ranks together: ARG (negative size, block below 1, ranks that differ), MEM
 * (checked before allocation), MPI. */
OSLA_API osla_err osla_matrix_create(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n,
                                     int64_t mb, int64_t nb, osla_matrix **out);

/* Makes a triangular matrix of zeros: a symmetric matrix of order n, Hermitian for complex types,
 * of which only the lower triangle is stored, in little more than half of the memory. Collective.
 * The blocks are nb x nb, with the owners, local rows and local columns of a full matrix. The local
 * array holds the local block columns one after another. Of each block column, the local rows at
 * or below the diagonal block are stored column-major, and their number is the leading dimension.
 * Elements above the diagonal in the diagonal blocks are stored, but have no meaning. The matrix
 * always lies in host memory. The program must keep the diagonal of a complex matrix real: norms,
 * copies and osla_matrix_get_block use imaginary parts on the diagonal, products and factorisations
 * ignore them.
 *
 * Only calls whose comment names triangular matrices accept one. All other calls return
 * UNSUPPORTED, name osla_matrix_copy as the way to a full matrix, and change nothing.
 * The grid is borrowed and must outlive the matrix. Errors, on all ranks together: those of
 * osla_matrix_create. */
OSLA_API osla_err osla_matrix_create_triangle(osla_grid *grid, osla_dtype dtype, int64_t n,
                                              int64_t nb, osla_matrix **out);

/* Makes a matrix from memory that the caller owns, with the layout described above and a leading
 * dimension lld >= max(1, local_rows), which may differ between ranks. Collective. The memory must
 * outlive the matrix, be writable, and not be accessed during the call (osla_segment_attach). Node
 * neighbours access it by get and put, not by load. Errors: those of osla_matrix_create, and ARG
 * for a bad lld, for memory that is not writable, and for local == NULL if this rank owns elements.
 */
OSLA_API osla_err osla_matrix_wrap(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n,
                                   int64_t mb, int64_t nb, void *local, int64_t lld,
                                   osla_matrix **out);

/* Makes a matrix in the memory of a segment, from its first byte; the elements are the present
 * content of the memory. Useful for memory that is reused many times. Local; call it with equal
 * arguments on all ranks. The segment is borrowed and must outlive the matrix. Errors: ARG (a
 * negative size, a block below 1, a segment that is too small on this rank), MEM. */
OSLA_API osla_err osla_matrix_create_in(osla_segment *segment, osla_grid *grid, osla_dtype dtype,
                                        int64_t m, int64_t n, int64_t mb, int64_t nb,
                                        osla_matrix **out);

/* Wraps memory as osla_matrix_wrap does, but no other rank can access it: there is no window and no
 * segment. Local. On one rank the matrix serves all calls; on several ranks it may only be
 * - C of osla_gemm and osla_syrk; an operand of osla_matrix_add;
 * - an operand of osla_gemm of which each rank reads only its own part: A, if there is one process
 *   column and A's rows are distributed as C's; B, if there is one process row and B's columns are
 *   distributed as C's; both with NOTRANS. For other operands osla_gemm fails with ARG;
 * - the right-hand sides of solves from the left on one process row;
 * - factors on one process row (osla_potrf, osla_potri: on any grid), since panels are put to the
 *   ranks that need them.
 * Other kernels would access the parts of other ranks, and must not be used. */
OSLA_API osla_err osla_matrix_wrap_own(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n,
                                       int64_t mb, int64_t nb, void *local, int64_t lld,
                                       osla_matrix **out);

/* Destroys a matrix. Collective, except for matrices of osla_matrix_create_in and
 * osla_matrix_wrap_own. Accepts NULL, and sets the handle to NULL. */
OSLA_API void osla_matrix_destroy(osla_matrix **matrix);

/* Local queries of a matrix; they accept triangular matrices. */
OSLA_API osla_layout osla_matrix_layout(const osla_matrix *matrix);
/* true if osla_matrix_create_triangle made the matrix */
OSLA_API bool osla_matrix_is_triangle(const osla_matrix *matrix);
/* grid of the matrix; owned by its creator */
OSLA_API osla_grid *osla_matrix_grid(const osla_matrix *matrix);
OSLA_API osla_dtype osla_matrix_dtype(const osla_matrix *matrix);
OSLA_API osla_segment *osla_matrix_segment(
  const osla_matrix *matrix); /* segment that contains the elements, with element (0, 0) at offset
                               * 0; owned by the matrix, unless borrowed */
OSLA_API void *osla_matrix_local(const osla_matrix *matrix);
OSLA_API int64_t osla_matrix_local_rows(const osla_matrix *matrix);
OSLA_API int64_t osla_matrix_local_cols(const osla_matrix *matrix);
/* leading dimension of the local array of any rank; 0 for a triangular matrix, which has a leading
 * dimension for each block column */
OSLA_API int64_t osla_matrix_lld(const osla_matrix *matrix, int rank);
/* Local array of a rank, or NULL if this rank cannot access it by load and store. */
OSLA_API void *osla_matrix_peer(const osla_matrix *matrix, int rank);

/* Bytes of the largest local array that any rank has of a full matrix with this layout and type.
 * Local, allocates nothing. */
OSLA_API uint64_t osla_matrix_bytes(const osla_layout *layout, osla_dtype dtype);

/* Bytes of the largest local array that any rank has of a triangular matrix of order layout->n in
 * blocks of layout->nb x layout->nb. Returns UINT64_MAX if no memory has so many bytes. Local,
 * allocates nothing. */
OSLA_API uint64_t osla_matrix_triangle_bytes(const osla_layout *layout, osla_dtype dtype);

/* Copies the m x n sub-matrix whose first element is (i, j) to or from the caller's column-major
 * buffer with leading dimension ld. Any range inside the matrix is allowed, whichever ranks own it.
 * Local, one-sided, complete on return (a put is visible to its target). Of a triangular matrix,
 * get_block returns elements above the diagonal from below the diagonal, conjugated for complex
 * types, and put_block ignores the elements of the buffer that lie above the diagonal. Errors: ARG
 * (range outside the matrix, with the values), MPI, MEM. */
OSLA_API osla_err osla_matrix_get_block(const osla_matrix *matrix, int64_t i, int64_t j, int64_t m,
                                        int64_t n, void *buffer, int64_t ld);
OSLA_API osla_err osla_matrix_put_block(osla_matrix *matrix, int64_t i, int64_t j, int64_t m,
                                        int64_t n, const void *buffer, int64_t ld);

/* Rules for the elements of a matrix, which do not depend on grid and block size. */
typedef enum osla_fill {
  OSLA_FILL_ZERO,
  OSLA_FILL_IDENTITY,
  OSLA_FILL_UNIFORM, /* uniformly distributed in [-1/2, 1/2), computed from (seed, i, j) */
  /* uniformly distributed, plus max(m, n) on the diagonal: can be factored without pivoting */
  OSLA_FILL_DOMINANT,
  /* symmetric, uniformly distributed, plus n on the diagonal: positive definite */
  OSLA_FILL_SPD,
  OSLA_FILL_INTEGER /* integers from -8 to 8: sums of products are exact */
} osla_fill;

/* Fills all elements. For complex types the imaginary part is random like the real one, and zero
 * where the fill prescribes the element. In a triangular matrix, the rule holds for the elements
 * (i, j) with i >= j, except that elements on the diagonal are real; so the matrix is Hermitian.
 * Collective, with a barrier at the end. Errors, on all ranks together: ARG (no such fill), MPI. */
OSLA_API osla_err osla_matrix_fill(osla_matrix *matrix, osla_fill fill, uint64_t seed);

/* Fills element (i, j) with f(i, j, arg), which is called once for each element by its owner; in a
 * triangular matrix only for i >= j. Collective. */
typedef double osla_element(int64_t i, int64_t j, void *arg);
OSLA_API osla_err osla_matrix_fill_with(osla_matrix *matrix, osla_element *f, void *arg);

typedef enum osla_norm {
  OSLA_NORM_MAX, /* max |a_ij| */
  OSLA_NORM_ONE, /* largest sum of |a_ij| over a column */
  OSLA_NORM_INF, /* largest sum of |a_ij| over a row */
  OSLA_NORM_FRO  /* square root of the sum of |a_ij|^2 */
} osla_norm;

/* Norm of a matrix, the same value on all ranks; NaN if an element is NaN. The norm of a triangular
 * matrix is that of the symmetric or Hermitian matrix that it represents. Collective.
 * Errors, on all ranks together: ARG (no such norm), MEM, MPI. */
OSLA_API osla_err osla_matrix_norm(const osla_matrix *matrix, osla_norm norm, double *value);

/* dest := source, for any block sizes and any grids over the same ranks. Collective. Sizes and
 * types must agree, and the two matrices must not share memory. Either may be triangular. A copy
 * from a full to a triangular matrix ignores the elements above the diagonal. A copy from a
 * triangular to a full matrix sets the elements above the diagonal to the conjugates of those below
 * it. Errors, on all ranks together: ARG, MEM, MPI. */
OSLA_API osla_err osla_matrix_copy(const osla_matrix *source, osla_matrix *dest);

/* dest := source^T (TRANS) or source^H (CONJTRANS), for full matrices. Otherwise as
 * osla_matrix_copy. Pieces that are contiguous in dest are fetched one by one, so dest's blocks
 * should not be tiny. */
OSLA_API osla_err osla_matrix_transpose(osla_trans trans, const osla_matrix *source,
                                        osla_matrix *dest);

/* matrix := alpha matrix; alpha = 0 sets it to zero, whatever its content (also NaN). Local: each
 * rank scales its own part. Real types use the real part of alpha. Errors: ARG (alpha is not real,
 * but the matrix is triangular and of a complex type). */
OSLA_API osla_err osla_matrix_scale(osla_complex alpha, osla_matrix *matrix);

/* dest := alpha source + beta dest. alpha = 0 does not read source, beta = 0 does not read dest.
 * Collective; each rank works on its own part, so both matrices need equal sizes, blocks and
 * owners, must both be real or both complex, and both full or both triangular. The precisions may
 * differ: values outside the range of the narrower one become infinite or zero. Errors, on all
 * ranks together: ARG, UNSUPPORTED (one matrix is full and the other triangular), MPI. */
OSLA_API osla_err osla_matrix_add(double alpha, const osla_matrix *source, double beta,
                                  osla_matrix *dest);

/* Copies the triangle `from` of a square matrix (mb = nb) over the other triangle, so that the
 * matrix becomes symmetric. In place, collective. Errors, on all ranks together: ARG, MEM, MPI. */
OSLA_API osla_err osla_matrix_mirror(osla_matrix *matrix, osla_uplo from);

#ifdef __cplusplus
}
#endif
#endif
