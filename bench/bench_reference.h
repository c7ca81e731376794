/* Reference implementations, with which OSLA's kernels are compared. All functions are collective
 * on the job, except those marked local. */
#ifndef OSLA_BENCH_REFERENCE_H
#define OSLA_BENCH_REFERENCE_H

#include "bench/bench.h"
#include "osla_ga.h"

/* Last names in a kernel's list of reference implementations. They are empty in builds without the
 * library. */
#ifdef HAVE_SCALAPACK
#define REFERENCE_SCALAPACK       ",scalapack"
#define REFERENCE_SCALAPACK_ALONE "scalapack"
#else
#define REFERENCE_SCALAPACK       ""
#define REFERENCE_SCALAPACK_ALONE ""
#endif
#ifdef HAVE_GA
#define REFERENCE_GA ",ga"
#else
#define REFERENCE_GA ""
#endif

/* --- blas: the local limit ---------------------------------------------------------------------
 *
 * The product that each rank would compute if all operands were local: (its rows of C) x (its
 * columns of C) x k, on private memory, without communication. */
typedef struct reference_gemm {
  bench_job *job;
  osla_trans transa, transb;
  int64_t m, n, k; /* sizes of the product that this rank computes */
  double work;     /* floating-point operations over all ranks */
  osla_dtype dtype;
  void *a, *b, *c; /* arrays in host memory */
  /* memory on the device of --device for A, B and C; NULL if the product uses the arrays in host
   * memory */
  osla_segment *segment;
  /* arrays of the product in the order A, B, C: in `segment`, or a, b and c if `segment` is NULL */
  void *on_device[3];
  bool in_host_memory; /* true: the product uses the arrays in host memory even with --device */
  void *xt;            /* handle of cuBLASXt, a cublasXtHandle_t; NULL in other references */
  /* vectors of the check, which compares C x with op(A) (op(B) x) */
  osla_complex *x, *expected, *y;
} reference_gemm;

/* Returns the implementation "blas", which borrows `g`. The caller sets the members of `g` up to
 * `work`. Local. */
bench_impl reference_gemm_impl(reference_gemm *g);

/* Leading dimension of an array of the product; `array` is 0 for A, 1 for B, 2 for C. Local. */
int64_t reference_gemm_ld(const reference_gemm *g, int array);

/* Returns the implementation "cublasxt", which computes the product of arrays in host memory by
 * cuBLASXt, on the first GPU that this process sees. Local. */
bench_impl reference_cublasxt_impl(reference_gemm *g);
/* True if the process has loaded cuBLAS, hence after a device of kind "cuda" was opened. Local. */
bool reference_cublasxt_is_offered(void);

/* --- scalapack ---------------------------------------------------------------------------------
 *
 * These functions work on the memory of OSLA's matrices, in a BLACS grid with the same ranks as the
 * process grid. `context` is the BLACS context, -1 on ranks outside the grid. `info` is LAPACK's, 0
 * on ranks outside the grid. All types. Errors: RANGE (a size does not fit an int), UNSUPPORTED
 * (built without). */
osla_err reference_scalapack_open(osla_grid *grid, int *context);
void reference_scalapack_close(int *context);

/* ScaLAPACK's p?gemm: C := op(A) op(B). */
osla_err reference_scalapack_gemm(int context, osla_trans transa, osla_trans transb, osla_matrix *a,
                                  osla_matrix *b, osla_matrix *c);

/* Lower triangle of C := A A^H (pdsyrk, pzherk); C := A B, A symmetric and stored in its lower
 * triangle (pdsymm); B := A B, A lower triangular (pdtrmm). */
osla_err reference_scalapack_syrk(int context, osla_matrix *a, osla_matrix *c);
osla_err reference_scalapack_symm(int context, osla_matrix *a, osla_matrix *b, osla_matrix *c);
osla_err reference_scalapack_trmm(int context, osla_matrix *a, osla_matrix *b);

/* LU with partial pivoting (pdgetrf), the inverse (pdgetri) and the solve (pdgetrs) with its
 * factors. ipiv has local_rows + nb elements. */
osla_err reference_scalapack_getrf(int context, osla_matrix *a, int *ipiv, int64_t *info);
osla_err reference_scalapack_getri(int context, osla_matrix *a, int *ipiv, int64_t *info);
osla_err reference_scalapack_getrs(int context, osla_matrix *a, int *ipiv, osla_matrix *b);

/* y := A x, for a general A, and for a symmetric A stored in its lower triangle (types s and d). */
osla_err reference_scalapack_gemv(int context, osla_matrix *a, osla_matrix *x, osla_matrix *y);
osla_err reference_scalapack_symv(int context, osla_matrix *a, osla_matrix *x, osla_matrix *y);

/* Cholesky factorisation of the lower triangle (pdpotrf), the inverse (pdpotri) and the solve
 * (pdpotrs) with its factor. */
osla_err reference_scalapack_potrf(int context, osla_matrix *a, int64_t *info);
osla_err reference_scalapack_potri(int context, osla_matrix *a, int64_t *info);
osla_err reference_scalapack_potrs(int context, osla_matrix *a, osla_matrix *b);

/* Appends ScaLAPACK's implementations to a case: one named "scalapack-NB" for each block size NB of
 * the settings. Without --ref-nb they are the candidates of the group "scalapack", and only the
 * smallest block size that holds a matrix of order `order` in one block is tried. `impl` has the
 * functions; the implementation of block size i of the settings gets the data at
 * sets + i * set_bytes. On entry impls has *n elements. sets and names are borrowed. Local. */
typedef struct reference_names {
  char text[BENCH_MAX_REF_NB][32];
} reference_names;
void reference_scalapack_impls(const bench_settings *settings, int64_t order,
                               const bench_impl *impl, void *sets, size_t set_bytes,
                               reference_names *names, bench_impl *impls, int *n);

/* --- mpi ---------------------------------------------------------------------------------------
 *
 * Plain MPI: windows of MPI_Win_allocate under MPI_Win_lock_all. MPI_Win_flush completes each
 * transfer. */
typedef struct reference_window {
  MPI_Win win;
  unsigned char *base; /* this rank's part of the window: the data, then a page with the flag */
  size_t bytes;
} reference_window;

osla_err reference_window_create(size_t bytes, reference_window *w);
void reference_window_free(reference_window *w);
osla_err reference_window_put(reference_window *w, int rank, const void *source, size_t bytes);
osla_err reference_window_get(reference_window *w, int rank, void *dest, size_t bytes);

/* The notification puts the data, flushes, puts the flag, and flushes. The wait polls the flag and
 * makes MPI progress. */
osla_err reference_window_notify(reference_window *w, int rank, const void *source, size_t bytes,
                                 uint64_t value);
osla_err reference_window_wait(reference_window *w, uint64_t value);

/* A message from the origin of transfers to their target. The target waits in reference_await, and
 * so stays inside MPI, until the origin has finished and calls reference_signal. */
osla_err reference_signal(int rank);
osla_err reference_await(int rank);

/* Sums an array of type s or d over the ranks, in place, by MPI_Allreduce. */
osla_err reference_allreduce(osla_dtype dtype, void *array, int64_t count);

/* --- ga ----------------------------------------------------------------------------------------
 *
 * GA_Sgemm ... GA_Zgemm of Global Arrays, on copies of OSLA's matrices in GA's regular distribution
 * over all ranks. The first use initialises GA; reference_ga_stop terminates it, and must be called
 * before MPI_Finalize. */
typedef struct reference_ga {
  bench_job *job;
  int64_t m, n, k;
  osla_matrix *from_a, *from_b;
  /* vectors of the check, which compares C x with op(A) (op(B) x) */
  const osla_complex *x, *expected;
  osla_complex *y; /* [m] the product C x that the check computes */
  int a, b, c;     /* handles of GA's arrays; 0 if not created */
} reference_ga;

/* Returns the implementation "ga", which borrows `g`. The caller sets the members of `g` up to
 * `y`. Local. */
bench_impl reference_ga_impl(reference_ga *g);
osla_err reference_ga_start(bench_job *job);
void reference_ga_stop(bench_job *job);
/* Number of bytes that reference_ga_start allocates on each rank. Local. */
uint64_t reference_ga_bytes(const bench_job *job);

#endif
