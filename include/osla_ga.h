/* Global Arrays programs with OSLA's kernels (layer 4; libosla_ga).
 *
 * Handles are those of GA's C interface. OSLA works on the memory that GA_Access gives, or on a
 * copy that it transfers by its own transport.
 *
 * Index order. GA's C interface numbers dimensions in reverse order of memory: an array of dims
 * {d0, d1} is a column-major matrix of d1 rows and d0 columns, whose element (i, j) is [j][i] of
 * the array. The calls below follow the corresponding calls of GA:
 * - osla_ga_gemm, like GA_Dgemm, uses C's order: A is [m][k], B [k][n], C [m][n];
 * - all others, like GA_Lu_solve, use the matrix in memory (Fortran's view): A is the transpose of
 *   the array in C's order, and a right-hand side is one row of an array of dims {nrhs, n}. If A is
 *   symmetric, this matters only for the right-hand sides.
 *
 * Arrays must be two-dimensional (right-hand sides also one-dimensional), of type C_FLOAT, C_DBL,
 * C_SCPL or C_DCPL, with any distribution: regular, irregular, block-cyclic, on a ScaLAPACK grid,
 * tiled, restricted, with ghost cells (which are not updated). They must belong to all processes.
 *
 * All calls are collective over GA's world unless stated otherwise. They begin and end with
 * GA_Sync. MPI must have been started, by MPI_Init or MPI_Init_thread. GA may be used by one thread
 * at a time, and so may this header.
 *
 * Errors, on all ranks together: STATE (GA is not running, another default group, the array is not
 * allocated), ARG (no such array, sizes or types that do not fit), UNSUPPORTED (dimensions, type,
 * processor group, mirrored; a tiled array that GA itself places outside its memory), MEM, MPI.
 *
 * Threads: one at a time, as GA requires.
 * Part: stable; of libosla_ga.
 */
#ifndef OSLA_GA_H
#define OSLA_GA_H

#include "osla_api.h"
#include "osla_gemm.h"
#include "osla_hessian.h"
#include "osla_lu.h"
#include "osla_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts GA with the settings that correct results need with ARMCI-MPI 0.3.1 on MPICH 4.0.2:
 * ARMCI_USE_WIN_ALLOCATE=0 (otherwise puts and accumulates land up to 12 bytes too early) and
 * ARMCI_RMA_ATOMICITY=1 (otherwise strided gets complete before the data have arrived), unless the
 * user has set these variables. Then calls GA_Initialize and MA_init. Collective over
 * MPI_COMM_WORLD.
 *   doubles [in] elements of MA's stack, and as many of its heap: buffers of GA_Dgemm and
 *                GA_Lu_solve; OSLA's calls need none
 * If a program starts GA itself without these settings, the first call below prints one warning.
 * Errors: STATE (MPI is not running, or GA is), ARG, MEM. */
OSLA_API osla_err osla_ga_initialize(int64_t doubles);

/* Frees what OSLA's calls on global arrays have cached (the transport and its memory), and calls
 * GA_Terminate. MPI_Finalize frees the cache, too, so a program may also call GA_Terminate itself.
 * Collective. */
OSLA_API void osla_ga_terminate(void);

/* --- products --- */

/* C := alpha op(A) op(B) + beta C, like GA_Sgemm64, GA_Dgemm64, GA_Cgemm64, GA_Zgemm64: the arrays
 * determine the type.
 *   transa, transb [in]     'n', 't' or 'c' (or capitals)
 *   m, n, k        [in]     op(A) is m x k, op(B) k x n; at most the arrays' sizes; elements beyond
 *                  are not used
 *   alpha, beta    [in]     real numbers convert implicitly; real types use the real part
 *   g_a, g_b, g_c  [in,out] three arrays; C must be neither A nor B
 * Memory: a copy of A and B (none on one process), and a copy of C unless it has the layout that
 * OSLA_GA_IN_PLACE requires. */
OSLA_API osla_err osla_ga_gemm(char transa, char transb, int64_t m, int64_t n, int64_t k,
                               osla_complex alpha, int g_a, int g_b, osla_complex beta, int g_c);

/* --- solves; each needs memory for a copy of A and one of B --- */

/* B := op(A)^-1 B by LU with partial pivoting, like GA_Lu_solve, for all types; A is unchanged.
 *   trans [in]     'n', 't' or 'c'
 *   g_a   [in]     n x n
 *   g_b   [in,out] n x nrhs, that is dims {nrhs, n}, or dims {n}
 *   info  [out]    0, or LAPACK's INFO > 0 if A is singular; then B is unchanged. The same on all
 *                  ranks */
OSLA_API osla_err osla_ga_lu_solve(char trans, int g_a, int g_b, int64_t *info);

/* B := A^-1 B by Cholesky, like GA_Llt_solve: A is symmetric (Hermitian) positive definite; its
 * lower triangle in memory is read. info is 0, or the order of the leading minor that is not
 * positive definite; then B is unchanged. */
OSLA_API osla_err osla_ga_llt_solve(int g_a, int g_b, int64_t *info);

/* B := A^-1 B for a symmetric (Hermitian) A, like GA_Solve. It uses Cholesky and, if Cholesky
 * fails, LU.
 *   info [out] 0 after Cholesky; > 0 the order of the minor that is not positive definite, after
 *              which LU was used; < 0 the -info-th pivot of LU is zero, and B is unchanged */
OSLA_API osla_err osla_ga_solve(int g_a, int g_b, int64_t *info);

/* --- factors that stay in the array; memory: a copy of A, in solves also of B --- */

/* A := P^T L U.
 *   g_a  [in,out] m x n
 *   ipiv [out]    [min(m, n)], LAPACK's IPIV: row i + 1 was exchanged with row ipiv[i]. The same on
 *                 all ranks
 *   info [out]    that of osla_lu_result */
OSLA_API osla_err osla_ga_getrf(int g_a, int64_t *ipiv, int64_t *info);

/* A := L L^H (uplo 'l') or U^H U ('u'), where uplo names the triangle in memory (the opposite one
 * in C's order). The other triangle is unchanged. */
OSLA_API osla_err osla_ga_potrf(char uplo, int g_a, int64_t *info);

/* Computes B := op(A)^-1 B with the factors of osla_ga_getrf or osla_ga_potrf. */
OSLA_API osla_err osla_ga_getrs(char trans, int g_a, const int64_t *ipiv, int g_b);
OSLA_API osla_err osla_ga_potrs(char uplo, int g_a, int g_b);

/* --- arrays as matrices, for all other kernels --- */

/* A Global Array that OSLA's kernels use as a matrix. */
typedef struct osla_ga_matrix osla_ga_matrix;

typedef enum osla_ga_blocks {
  /* a copy with the array's blocks if they have equal sizes, otherwise with blocks that give nearly
     the array's distribution */
  OSLA_GA_AS_DISTRIBUTED,
  /* a copy with square blocks, for factorisations: the array's block size if it is 32 to 256,
     otherwise 128 */
  OSLA_GA_SQUARE,
  OSLA_GA_IN_PLACE /* the array's own memory, without a copy */
} osla_ga_blocks;

/* Makes a matrix with the contents of an array, as they are ordered in memory (the transpose of the
 * array in C's order).
 *
 * AS_DISTRIBUTED, SQUARE: the matrix is a copy in memory that node neighbours access by load and
 * store, which GA's own memory does not allow. When the matrix is destroyed, the library caches the
 * memory for the next call (up to 128 MiB on each rank).
 *
 * IN_PLACE: changes of the matrix change the array. It is meant for arrays too large to be stored
 * twice; neighbours access the memory by get and put, which is slower (doc/global_arrays.md). Each
 * process's part must have the layout that osla_matrix.h describes. Arrays of
 * GA_Set_block_cyclic_proc_grid have it, and regular arrays of equal parts (the last row and column
 * of parts may be smaller). Other arrays give UNSUPPORTED. Kernels have their usual requirements:
 * factorisations need square blocks. */
OSLA_API osla_err osla_ga_matrix_create(int g_a, osla_ga_blocks blocks, osla_ga_matrix **out);

/* Returns the matrix, for osla_* calls. It is borrowed; osla_ga_matrix_destroy frees it. Local. */
OSLA_API osla_matrix *osla_ga_matrix_get(osla_ga_matrix *matrix);

/* Copies the matrix's contents into the array; with OSLA_GA_IN_PLACE it only makes them visible to
 * GA's calls. */
OSLA_API osla_err osla_ga_matrix_store(osla_ga_matrix *matrix);

/* Destroys the matrix; the array is unchanged. Accepts NULL, and sets the handle to NULL. */
OSLA_API void osla_ga_matrix_destroy(osla_ga_matrix **matrix);

/* --- the accumulator on a Global Array --- */

/* An osla_hessian (osla_hessian.h) that adds to the memory of a Global Array. */
typedef struct osla_ga_hessian osla_ga_hessian;

/* Creates an accumulator on the n x n array g_h, of type C_FLOAT or C_DBL: H := H + updates, or,
 * with options->clear, H := updates. H(i, j) of osla_hessian.h is element [j][i] of the array. The
 * array must have the layout that OSLA_GA_IN_PLACE requires, with square blocks; a regular array of
 * equal parts on one process row or column has one too, because its parts can be cut into square
 * blocks. Other arrays give UNSUPPORTED with the property that prevents it; nothing is copied.
 * Collective.
 *   options [in] those of osla_hessian_create_on
 *
 * The caller owns the array, which must exist until the accumulator is destroyed. GA's own calls
 * (NGA_Acc, NGA_Get ...) may access the array before this call, and between a commit and the next
 * update of any rank, which a GA_Sync must separate. Owners add the updates of other processes, so
 * each process must make progress (osla_hessian.h, section "Progress"): GA's waits make none. */
OSLA_API osla_err osla_ga_hessian_create(int g_h, const osla_hessian_options *options,
                                         osla_ga_hessian **out);

/* Destroys the accumulator; the array remains. Accepts NULL, and sets the handle to NULL. */
OSLA_API void osla_ga_hessian_destroy(osla_ga_hessian **hessian);

/* Returns the accumulator, for all calls of osla_hessian.h but commit and destroy; borrowed.
 * osla_hessian_matrix gives the array as a matrix, which osla_getrf or osla_potrf factors in place.
 * Local. */
OSLA_API osla_hessian *osla_ga_hessian_get(osla_ga_hessian *hessian);

/* osla_hessian_commit; then the sums are visible to GA's calls. Errors: those of
 * osla_hessian_commit, and STATE (the array was destroyed). */
OSLA_API osla_err osla_ga_hessian_commit(osla_ga_hessian *hessian);

/* Returns the array's handle. Local. */
OSLA_API int osla_ga_hessian_array(const osla_ga_hessian *hessian);

#ifdef __cplusplus
}
#endif
#endif
