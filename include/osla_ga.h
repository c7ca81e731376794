/* Global Arrays programs on OSLA's kernels (floor 4; libosla_ga).
 *
 * Handles are those of GA's C interface. OSLA works on the memory that GA_Access shows, or on a
 * copy of it that moves by OSLA's own transport: no call of this header but those of the
 * accumulator makes GA communicate.
 *
 * Index order. GA's C interface numbers dimensions the other way round than its memory lies: an
 * array of dims {d0, d1} is a column-major matrix of d1 rows and d0 columns, in which element (i,
 * j) is [j][i] of the array. The calls below follow GA's own:
 * - osla_ga_gemm, as GA_Dgemm, sees arrays in C's order: A is [m][k], B [k][n], C [m][n];
 * - all others, as GA_Lu_solve, see the matrix that lies in memory (what Fortran sees): A is the
 *   transpose of the array in C's order, and a right-hand side is one row of an array of dims
 *   {nrhs, n}. For a symmetric A only that second half matters.
 *
 * Arrays. Two-dimensional (right-hand sides also one-dimensional), C_FLOAT, C_DBL, C_SCPL or
 * C_DCPL, of any distribution: regular, irregular, block-cyclic, on a ScaLAPACK grid, tiled,
 * restricted, with ghost cells (which are not updated). They must belong to all processes.
 *
 * All calls are collective over GA's world, if nothing else is said. They begin and end with
 * GA_Sync. MPI must have been started, by MPI_Init or MPI_Init_thread. GA is for one thread at a
 * time, and so is this header.
 *
 * Errors, on all ranks together: STATE (GA is not running, another default group, the array is not
 * allocated), ARG (no such array, sizes or types that do not fit), UNSUPPORTED (dimensions, type,
 * processor group, mirrored; a tiled array that GA itself puts outside its memory), MEM, MPI.
 *
 * Threads: one at a time, as GA has it.
 * Part: stable; of libosla_ga.
 */
#ifndef OSLA_GA_H
#define OSLA_GA_H

#include "osla_api.h"
#include "osla_gemm.h"
#include "osla_lu.h"
#include "osla_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts GA so that its results are right: sets what ARMCI-MPI 0.3.1 needs with MPICH 4.0.2,
 * ARMCI_USE_WIN_ALLOCATE=0 (else puts and accumulates land up to 12 bytes early) and
 * ARMCI_RMA_ATOMICITY=1 (else strided gets complete before the data is there), where the user has
 * not set them; then calls GA_Initialize and MA_init. Collective over MPI_COMM_WORLD.
 *   doubles [in] elements of MA's stack, and as many of its heap: GA_Dgemm's and GA_Lu_solve's
 *                buffers; OSLA's calls need none
 * A program that starts GA by itself in a bad environment gets one line of warning from the first
 * call below, and an error from osla_ga_hessian_create, whose sums would be wrong.
 * Errors: STATE (MPI is not running, or GA is), ARG, MEM. */
OSLA_API osla_err osla_ga_initialize(int64_t doubles);

/* Frees what the calls below keep (the transport and its memory), and calls GA_Terminate. What is
 * kept is also freed by MPI_Finalize, so that GA_Terminate alone will do. Collective. */
OSLA_API void osla_ga_terminate(void);

/* --- products --- */

/* C := alpha op(A) op(B) + beta C, as GA_Sgemm64, GA_Dgemm64, GA_Cgemm64, GA_Zgemm64: the type is
 * that of the arrays.
 *   transa, transb [in]     'n', 't' or 'c' (capitals too)
 *   m, n, k        [in]     op(A) is m x k, op(B) k x n; at most the arrays' sizes: the rest stays
 *   alpha, beta    [in]     a real number converts by itself; real types take the real part
 *   g_a, g_b, g_c  [in,out] three arrays; C is none of A and B
 * Memory: a copy of A and B (on one process none); of C where it does not lie as OSLA_GA_IN_PLACE
 * below says. */
OSLA_API osla_err osla_ga_gemm(char transa, char transb, int64_t m, int64_t n, int64_t k,
                               osla_complex alpha, int g_a, int g_b, osla_complex beta, int g_c);

/* --- solves; memory: a copy of A and one of B --- */

/* B := op(A)^-1 B by LU with partial pivoting, as GA_Lu_solve, for all types; A stays.
 *   trans [in]     'n', 't' or 'c'
 *   g_a   [in]     n x n
 *   g_b   [in,out] n x nrhs, that is dims {nrhs, n}, or dims {n}
 *   info  [out]    0, or LAPACK's INFO > 0: A is singular, B stays. The same on all ranks */
OSLA_API osla_err osla_ga_lu_solve(char trans, int g_a, int g_b, int64_t *info);

/* B := A^-1 B by Cholesky, as GA_Llt_solve: A is symmetric (Hermitian) positive definite; its lower
 * triangle in memory is read. info: 0, or the order of the leading minor that is not positive
 * definite: B stays. */
OSLA_API osla_err osla_ga_llt_solve(int g_a, int g_b, int64_t *info);

/* B := A^-1 B for a symmetric (Hermitian) A, as GA_Solve: by Cholesky, or if that fails by LU.
 *   info [out] 0 Cholesky; > 0 the order of the minor that made it fail, LU was used; < 0 LU met a
 *              pivot of zero, the -info-th: B stays */
OSLA_API osla_err osla_ga_solve(int g_a, int g_b, int64_t *info);

/* --- factors that stay in the array; memory: a copy of A, in solves also of B --- */

/* A := P^T L U.
 *   g_a  [in,out] m x n
 *   ipiv [out]    [min(m, n)], LAPACK's IPIV: row i + 1 was exchanged with row ipiv[i]. The same on
 *                 all ranks
 *   info [out]    as osla_lu_result's */
OSLA_API osla_err osla_ga_getrf(int g_a, int64_t *ipiv, int64_t *info);

/* A := L L^H (uplo 'l') or U^H U ('u'), the triangle in memory (in C's order the other one). The
 * other triangle stays. */
OSLA_API osla_err osla_ga_potrf(char uplo, int g_a, int64_t *info);

/* B := op(A)^-1 B with these factors. */
OSLA_API osla_err osla_ga_getrs(char trans, int g_a, const int64_t *ipiv, int g_b);
OSLA_API osla_err osla_ga_potrs(char uplo, int g_a, int g_b);

/* --- any other kernel --- */

/* An array as a matrix. */
typedef struct osla_ga_matrix osla_ga_matrix;

typedef enum osla_ga_blocks {
  OSLA_GA_AS_DISTRIBUTED, /* as the array: equal blocks as they are, others nearly so */
  OSLA_GA_SQUARE,         /* square blocks, for factorisations: its own from 32 to 256, else 128 */
  OSLA_GA_IN_PLACE        /* the array's own memory, without a copy */
} osla_ga_blocks;

/* Makes a matrix with the contents of an array: the one that lies in memory, see above.
 *
 * AS_DISTRIBUTED, SQUARE: it is a copy in memory that node neighbours reach by load and store, as
 * GA's own cannot be reached; freed, the library keeps such memory for the next call (up to 128 MiB
 * of each rank).
 *
 * IN_PLACE: what changes in the matrix changes in the array. For arrays too large to be held
 * twice; neighbours then reach it by get and put, which is slower (doc/global_arrays.md). Every
 * process's part must lie as osla_matrix.h says: arrays of GA_Set_block_cyclic_proc_grid do, and
 * regular ones of equal parts (the last row and column of parts may be smaller). Others:
 * UNSUPPORTED. Kernels ask for what they always do: factorisations for square blocks. */
OSLA_API osla_err osla_ga_matrix_create(int g_a, osla_ga_blocks blocks, osla_ga_matrix **out);

/* For osla_* calls; borrowed, freed by osla_ga_matrix_destroy. Local. */
OSLA_API osla_matrix *osla_ga_matrix_get(osla_ga_matrix *matrix);

/* The array takes the matrix's contents; IN_PLACE it has them, and GA's calls see them then. */
OSLA_API osla_err osla_ga_matrix_store(osla_ga_matrix *matrix);

/* Accepts NULL and nulls the handle. The array is not changed. */
OSLA_API void osla_ga_matrix_destroy(osla_ga_matrix **matrix);

/* --- the accumulator on a global array --- */

/* osla_hessian's calls, on NGA_Scatter_acc: for comparisons, and for codes whose H must stay a
 * global array. What an update means is in osla_hessian.h. Beyond that:
 * - Only sums; G and U are of the array's type. No order-independent mode, ids, checkpoints.
 * - An element is added atomically; an update is not: others may see a part of it.
 * - On return of an update the caller's arrays may be reused. Owners take part by MPI's progress.
 * - Memory: 64 columns of the update's block, a copy of G, and 24 bytes for each of up to 65536
 *   elements; no cap.
 * - One thread at a time. */
typedef struct osla_ga_hessian osla_ga_hessian;

/* Adds to array g_h, n x n, C_FLOAT or C_DBL, of any distribution, whatever it holds; the array
 * stays the caller's and is used between commits by updates alone. Collective.
 *   uplo [in] the triangle in memory that is kept (in C's order the other one), or OSLA_GENERAL.
 *             osla_hessian.h's H(i, j) is [j][i] of the array
 * Errors as above, and STATE if GA was started in an environment that makes its sums wrong. */
OSLA_API osla_err osla_ga_hessian_create(int g_h, osla_uplo uplo, osla_ga_hessian **out);

/* Local. Accepts NULL and nulls the handle. The array stays. */
OSLA_API void osla_ga_hessian_destroy(osla_ga_hessian **hessian);

/* As osla_hessian's. Local. Errors: ARG (then nothing was added), MEM, RANGE. */
OSLA_API osla_err osla_ga_hessian_update(osla_ga_hessian *hessian, int64_t count, const int64_t *ix,
                                         int64_t k, const void *g, int64_t ldg);
OSLA_API osla_err osla_ga_hessian_update_block(osla_ga_hessian *hessian, int64_t rows,
                                               const int64_t *ix, int64_t cols, const int64_t *jx,
                                               const void *u, int64_t ldu);
OSLA_API osla_err osla_ga_hessian_update_gradient(osla_ga_hessian *hessian, int64_t count,
                                                  const int64_t *ix, const double *values);

/* Waits until all ranks' updates are in the array and in the gradient. Collective. Errors: MPI. */
OSLA_API osla_err osla_ga_hessian_commit(osla_ga_hessian *hessian);

/* The array, for osla_ga_potrf and the like. Local. */
OSLA_API int osla_ga_hessian_array(const osla_ga_hessian *hessian);

/* The summed gradient [n], the same on all ranks, valid until the next commit; borrowed. Local. */
OSLA_API const double *osla_ga_hessian_gradient(const osla_ga_hessian *hessian);

#ifdef __cplusplus
}
#endif
#endif
