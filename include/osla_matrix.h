/* Distributed matrices: 2-D block-cyclic, in ScaLAPACK's own local layout (floor 2).
 *
 * An m x n matrix in blocks of mb x nb, block (0,0) on process (0,0) of the grid. Each process
 * holds its blocks as one column-major array of local_rows x local_cols elements with leading
 * dimension lld >= max(1, local_rows): a cache line more where columns would lie a multiple of 2
 * KiB apart. So the memory can be handed as it stands to ScaLAPACK, MPI-IO or HDF5, with that lld,
 * and every column panel of it is contiguous for RMA. Sizes and indices count elements, from 0.
 *
 * Memory order: element access by load, store, get and put is ordered between ranks by
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

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_matrix osla_matrix;

/* Of what is made without a block size (doc/grid_and_blocks.md). */
enum { OSLA_DEFAULT_BLOCK = 96 };

/* Shape and distribution: a value. */
typedef struct osla_layout {
  int64_t m, n;   /* rows, columns */
  int64_t mb, nb; /* rows, columns of a block */
  int nprow, npcol;
} osla_layout;

/* Makes a zero matrix. Collective. The grid is borrowed and must outlive the matrix.
 * Errors, on all ranks together: ARG (negative size, block below 1, ranks that differ), MEM
 * (checked before allocation), MPI. */
OSLA_API osla_err osla_matrix_create(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n,
                                     int64_t mb, int64_t nb, osla_matrix **out);

/* Makes a matrix of memory that the caller owns, laid out as above with its own leading dimension
 * lld >= max(1, local_rows), which may differ by rank. Collective. The memory must outlive the
 * matrix, be writable, and be left alone during the call (osla_segment_attach). Node neighbours
 * reach it by get and put, not by load. Errors as above, and ARG for a bad lld or local == NULL
 * where elements are owned. */
OSLA_API osla_err osla_matrix_wrap(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n,
                                   int64_t mb, int64_t nb, void *local, int64_t lld,
                                   osla_matrix **out);

/* Makes a matrix in the memory of a segment, from its first byte; the elements are what the memory
 * holds. For memory that is used again and again. Local; the same arguments on all ranks. The
 * segment is borrowed and must outlive the matrix. Errors: ARG (sizes as above, a segment that is
 * too small on this rank), MEM. */
OSLA_API osla_err osla_matrix_create_in(osla_segment *segment, osla_grid *grid, osla_dtype dtype,
                                        int64_t m, int64_t n, int64_t mb, int64_t nb,
                                        osla_matrix **out);

/* As osla_matrix_wrap, for memory that no other rank has to reach: it costs no window, and there is
 * no segment. Local. On one rank for everything; else for
 * - C of osla_gemm and osla_syrk; what osla_matrix_add takes;
 * - an operand of osla_gemm that each rank reads its own part of alone: A where there is one
 *   process column and its rows are distributed as C's, B where there is one process row and its
 *   columns are distributed as C's, both as they are (NOTRANS). Otherwise gemm fails: ARG;
 * - the right-hand sides of solves from the left on one process row;
 * - factors on one process row (osla_potrf, osla_potri: on any grid): panels are put to where they
 *   are needed.
 * Do not use it where other kernels would reach for parts of other ranks. */
OSLA_API osla_err osla_matrix_wrap_own(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n,
                                       int64_t mb, int64_t nb, void *local, int64_t lld,
                                       osla_matrix **out);

/* Collective, but for the two above. Accepts NULL and nulls the handle. */
OSLA_API void osla_matrix_destroy(osla_matrix **matrix);

/* Local queries. */
OSLA_API osla_layout osla_matrix_layout(const osla_matrix *matrix);
OSLA_API osla_grid *osla_matrix_grid(const osla_matrix *matrix); /* its object keeps it */
OSLA_API osla_dtype osla_matrix_dtype(const osla_matrix *matrix);
OSLA_API osla_segment *osla_matrix_segment(
  const osla_matrix *matrix); /* the matrix keeps it; element (0, 0) is at offset 0 */
OSLA_API void *osla_matrix_local(const osla_matrix *matrix);
OSLA_API int64_t osla_matrix_local_rows(const osla_matrix *matrix);
OSLA_API int64_t osla_matrix_local_cols(const osla_matrix *matrix);
OSLA_API int64_t osla_matrix_lld(const osla_matrix *matrix, int rank); /* of any rank */
/* The local array of a rank, or NULL when it cannot be reached by load and store. */
OSLA_API void *osla_matrix_peer(const osla_matrix *matrix, int rank);

/* Bytes of the largest local array that such a matrix needs on any rank. Local, no allocation. */
OSLA_API uint64_t osla_matrix_bytes(const osla_layout *layout, osla_dtype dtype);

/* Copies the m x n sub-matrix whose first element is (i, j) to or from the caller's column-major
 * buffer with leading dimension ld. Local, one-sided; complete on return (a put is visible to its
 * target). Any range inside the matrix, whoever owns it. Errors: ARG (range outside the matrix,
 * with the values), MPI, MEM. */
OSLA_API osla_err osla_matrix_get_block(const osla_matrix *matrix, int64_t i, int64_t j, int64_t m,
                                        int64_t n, void *buffer, int64_t ld);
OSLA_API osla_err osla_matrix_put_block(osla_matrix *matrix, int64_t i, int64_t j, int64_t m,
                                        int64_t n, const void *buffer, int64_t ld);

/* Contents that are the same for every grid and block size. */
typedef enum osla_fill {
  OSLA_FILL_ZERO,
  OSLA_FILL_IDENTITY,
  OSLA_FILL_UNIFORM,  /* uniform in [-1/2, 1/2) from (seed, i, j) */
  OSLA_FILL_DOMINANT, /* uniform, plus max(m, n) on the diagonal: safe without pivoting */
  OSLA_FILL_SPD,      /* symmetric uniform plus n on the diagonal: positive definite */
  OSLA_FILL_INTEGER   /* whole numbers from -8 to 8: sums of products are exact */
} osla_fill;

/* Fills all elements; for complex types the imaginary part is random like the real one (and zero
 * where the element is set by a rule). Collective: a barrier at the end. Errors, on all ranks
 * together: ARG (no such fill), MPI. */
OSLA_API osla_err osla_matrix_fill(osla_matrix *matrix, osla_fill fill, uint64_t seed);

/* Fills with f(i, j, arg); f is called once for each owned element. Collective. */
typedef double osla_element(int64_t i, int64_t j, void *arg);
OSLA_API osla_err osla_matrix_fill_with(osla_matrix *matrix, osla_element *f, void *arg);

typedef enum osla_norm {
  OSLA_NORM_MAX, /* max |a_ij| */
  OSLA_NORM_ONE, /* largest column sum */
  OSLA_NORM_INF, /* largest row sum */
  OSLA_NORM_FRO  /* root of the sum of squares */
} osla_norm;

/* Norm of a matrix, the same value on all ranks; NaN if an element is NaN. Collective.
 * Errors, on all ranks together: ARG (no such norm), MEM, MPI. */
OSLA_API osla_err osla_matrix_norm(const osla_matrix *matrix, osla_norm norm, double *value);

/* dest := source, with any block sizes and any grids over the same ranks. Collective. Sizes and
 * types must agree, and the two must not share memory. Errors, on all ranks together: ARG, MEM,
 * MPI.
 */
OSLA_API osla_err osla_matrix_copy(const osla_matrix *source, osla_matrix *dest);

/* dest := source^T (TRANS) or source^H (CONJTRANS); otherwise as osla_matrix_copy. Pieces that are
 * contiguous in dest are fetched one by one, so its blocks should not be tiny. */
OSLA_API osla_err osla_matrix_transpose(osla_trans trans, const osla_matrix *source,
                                        osla_matrix *dest);

/* matrix := alpha matrix; alpha = 0 makes it zero, whatever it holds. Local, each rank its own
 * part; real types take the real part of alpha. */
OSLA_API osla_err osla_matrix_scale(osla_complex alpha, osla_matrix *matrix);

/* dest := alpha source + beta dest; alpha = 0 does not read source, beta = 0 not dest. Collective;
 * each rank works on its own part: same sizes, blocks and owners; both real or both complex. The
 * precisions may differ: what does not fit the narrower one becomes infinite or zero. Errors, on
 * all ranks together: ARG, MPI. */
OSLA_API osla_err osla_matrix_add(double alpha, const osla_matrix *source, double beta,
                                  osla_matrix *dest);

/* Copies the triangle `from` (square matrix, mb = nb) over the other one, so that the matrix
 * becomes symmetric. In place, collective. Errors, on all ranks together: ARG, MEM, MPI. */
OSLA_API osla_err osla_matrix_mirror(osla_matrix *matrix, osla_uplo from);

#ifdef __cplusplus
}
#endif
#endif
