/* osla-bench: measures the time of a kernel, and compares it with the limit of the machine and with
 * the times of other libraries.
 * A case is one kernel at one size, with its implementations: OSLA's first, then reference
 * implementations for comparison. All implementations run in one process on the same data, in turn
 * (A B A B ...), after a warm-up of each. The ratio of the times of two implementations is taken
 * within one repetition, so that a drift of the machine's speed hardly changes it. Every run is
 * checked. README.md of this folder lists the files. */
#ifndef OSLA_BENCH_H
#define OSLA_BENCH_H

#include "osla_device.h"
#include "osla_lu.h"
#include "osla_matrix.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Upper limit of the scaled residual of a correct run, as in HPL. */
#define BENCH_RESIDUAL_LIMIT 16.0

/* --- options --- */

enum {
  BENCH_MAX_SIZES = 64,
  BENCH_MAX_GRIDS = 16,
  BENCH_MAX_REF_NB = 8,
  BENCH_MAX_IMPLS = 24,
  BENCH_MAX_DENSITIES = 8,
  BENCH_MAX_FIGURES = 12
};

typedef struct bench_settings {
  int64_t n[BENCH_MAX_SIZES]; /* sizes to run, in the order of the option --n */
  int n_count;
  int64_t nbs[BENCH_MAX_SIZES];
  int n_nbs;
  /* numbers of process rows and columns; with 0 x 0 OSLA chooses the grid */
  int grids[BENCH_MAX_GRIDS][2];
  int n_grids;
  osla_grid_order order;
  bool order_chosen; /* true: osla_grid_choose_order chooses the order of the ranks in each grid */
  int64_t nb;        /* block size of the current case, one element of nbs */
  int reps;
  osla_dtype dtype;
  /* comma-separated names of the reference implementations; freed with this struct */
  char *ref;
  /* kind of the device whose memory holds OSLA's matrices, or NULL for host memory; freed with this
   * struct */
  char *device;
  char *json;         /* path of the file for JSON lines, or NULL; freed with this struct */
  char *trace;        /* path of the trace file, or NULL; freed with this struct */
  int64_t updates,    /* kernel hessian: number of updates that each rank makes */
    rows;             /* kernel hessian: number of rows of G */
  int64_t run,        /* kernel hessian: number of indices in each run of consecutive indices */
    work;             /* kernel hessian: number of products that --work adds */
  int64_t ring_bytes; /* kernel hessian: value of osla_hessian_options.ring_bytes */
  int64_t seed;       /* kernel hessian: seed of indices and values */
  /* kernel hessian: number of indices in an update, one value for each case; used if n_counts >
   * 0 */
  int64_t counts[BENCH_MAX_SIZES];
  int n_counts;
  /* kernel hessian: number of indices in an update divided by n; used if n_counts is 0 */
  double density[BENCH_MAX_DENSITIES];
  int n_densities;
  osla_uplo uplo; /* kernel hessian: the triangle that is stored */
  /* Kernel hessian: number of threads of each rank that make updates. Kernel jacobi: number of
   * threads of the reference implementation `threads`, or 1 if it is not selected. */
  int threads;
  osla_trans transa, transb; /* kernel gemm: the operations op(A) and op(B) */
  /* m: rows of C (kernel gemm). k: inner size (kernels gemm and syrk). The value 0 stands for n. */
  int64_t m, k;
  /* kernels gemm and syrk: values of the members panel and memory of osla_gemm_options */
  int64_t panel;
  uint64_t memory;
  int64_t layers; /* kernel gemm: member `layers` of osla_gemm_options */
  /* kernel gemm. ablate: also run the ablated variants. plan: print the plan and multiply
   * nothing. */
  bool ablate, plan;
  /* block sizes of ScaLAPACK's matrices */
  int64_t ref_nb[BENCH_MAX_REF_NB];
  int n_ref_nb; /* number of block sizes in ref_nb */
  /* true: a trial chooses one block size of ref_nb; false: the option --ref-nb gives the block
   * sizes, and each has a row of its own */
  bool ref_nb_chosen;
  osla_pivoting pivoting; /* kernels lu and hpl: OSLA's pivoting */
  bool cold;              /* kernels lu and chol: time the first call of the process (--cold) */
  /* kernels lu, chol, potri, getri and hpl: the member look_ahead of OSLA's options */
  int look_ahead;
  /* kernels lu, chol, potri, getri and hpl: the member forward of OSLA's options */
  osla_forward forward;
  /* kernel solve: true if the factors are those of Cholesky, false if they are those of LU */
  bool chol;
  int64_t nrhs; /* kernel solve: number of right-hand sides */
  /* bit set: bit k selects case k of the kernels forest and channel, or mode k of the kernels
   * jacobi and splitting */
  unsigned cases;
  /* Kernel forest: true if the option --plain, --rewrite, --arrival or --exact is given. */
  bool plain, rewrite, arrival, exact;
  char *matrix;   /* kernel forest: path of the matrix file, or NULL; freed with this struct */
  bool partition; /* kernel forest: METIS distributes the rows or cells over the ranks */
  /* kernel forest: bit set of distributions of the mesh before a migration; bit k selects value k
   * of mesh_start */
  unsigned starts;
  /* kernel forest: largest squared distance between neighbours in the generated matrix */
  int reach;
  /* Kernels jacobi and splitting. whole: N is the side of the whole grid, not of each rank's part.
   * zeros: the initial state has no offset of 1. */
  bool whole, zeros;
  int64_t sweeps;
  /* kernel jacobi: points along a side of the cube of which each sweep and halo takes the simulated
   * time; 0: those of the rank's own cube */
  int64_t cost_points;
  double tolerance, slow_factor;
  /* kernels jacobi and splitting: values of the options --period, --lead and --in-flight; and the
   * rank of --slow, or -1 if no rank is slow */
  int period, lead, in_flight, slow_rank;
  /* kernel jacobi: number of steps for the bound of the convergence rate; 0: no bound is
   * computed */
  int bound;
  int levels; /* kernel jacobi: number of levels, 1 or 2 (osla_coarse.h) */
  /* kernel jacobi: sweeps between a correction of x by the coarse level and the coarse level's next
   * residual, at least 1; 0: the default of osla_coarse.h */
  int correct_every;
  double damping; /* kernel jacobi: factor of each correction, < 2; 0: that of osla_coarse.h */
  char *record;   /* kernel jacobi: path of the file for records, or NULL; freed with this struct */
  /* Kernel splitting. inner: name of the inner solver, "points", "cg" or "sparse"; NULL in other
   * kernels. inner_tolerance and group: values of the members of osla_splitting_options. */
  const char *inner;
  double inner_tolerance;
  int64_t group;
} bench_settings;

/* Name of a way to forward panels: "chosen", "flat", "ring" or "tree". Local. */
const char *bench_forward_name(osla_forward forward);

/* State of one call of osla-bench, shared by all cases. */
typedef struct bench_job {
  const bench_settings *settings;
  osla_transport *transport;
  osla_grid *grid;
  int rank, size, n_nodes;
  osla_device *device;  /* device of --device; NULL if OSLA's matrices are in host memory */
  char device_name[64]; /* name of this rank's device, such as "fake device 0" */
  bool device_shared;   /* true: some ranks share a device, so the report compares no rates */
  FILE *json;           /* on rank 0 the stream of --json; NULL on other ranks */
  bool header_done;     /* true: the head of the table has been printed */
  /* true: Global Arrays is initialised, and reference_ga_stop has to terminate it */
  bool ga_started;
  /* numbers of runs, warm-ups not counted: n_passed with a residual below the limit, n_failed
   * above */
  int n_passed;
  int n_failed;
  bool last_size;     /* true: with --trace, the last repetition of OSLA at this size is traced */
  const char *traced; /* name and size (traced_n) of the case that was traced last */
  int64_t traced_n;
} bench_job;

/* --- kernels --- */

typedef struct bench_kernel {
  const char *name;
  const char *summary; /* summary of the kernel, one line in osla-bench --help */
  const char *about;   /* text for osla-bench KERNEL --help; at most 1900 bytes */
  /* comma-separated names of the reference implementations in this build, in their order; may be
   * "" */
  const char *references;
  /* comma-separated names of the reference implementations that run without --ref; NULL: all */
  const char *default_references;
  /* comma-separated names of the reference implementations of a run with --device on one rank, all
   * of which run unless --ref selects some; NULL: the kernel does not accept --device */
  const char *device_references;
  /* names in device_references that several ranks can run; NULL stands for "blas" */
  const char *device_references_of_ranks;
  const char *after;                          /* text at the end of the kernel's help, or NULL */
  osla_err (*run)(bench_job *job, int64_t n); /* runs size n; collective */
  void (*finish)(const bench_job *job); /* called on rank 0 when all sizes have run; may be NULL */
  int64_t sizes[12];                    /* default sizes; 0 ends the list */
  const char *precisions;               /* letters that --precision accepts; NULL stands for "sd" */
  /* true if the kernel has the options of updates (bench_options_updates.c) */
  bool updates;
  bool general; /* true if the updates add to both triangles: there is no option --uplo */
  /* true if the kernel has the options --k, --panel and --memory */
  bool product;
  /* true if the kernel has the options --trans, --m, --ablate and --plan */
  bool shapes;
  /* true if the kernel has the option --ref-nb in builds with ScaLAPACK */
  bool other_nb;
  bool cold; /* true if the kernel has the option --cold */
  /* values that the option --pivoting accepts, the default first; NULL: no such option */
  const char *pivotings;
  /* largest value of --look-ahead; 0: the kernel has neither --look-ahead nor --forward */
  int most_look_ahead;
  bool solves; /* true if the kernel has the options --kind and --nrhs */
  int reps;    /* default value of --reps; 0 stands for 5 */
  /* true if the kernel needs two ranks, takes sizes in bytes, and has no matrix options */
  bool pairs;
  /* True if the kernel has --case, --plain and --rewrite, and no matrix options. Size 0 stands for
   * the default sizes of each case. */
  bool forest;
  /* true if the kernel has --mode, has --points in place of --n, and has no matrix options */
  bool jacobi;
  /* true if the kernel has --inner, has --points in place of --n, and has no matrix options */
  bool splitting;
  /* True if the kernel has --case, and has --bytes in place of --n. Size 0 stands for the default
   * sizes of each case. */
  bool channel;
  bool modelled; /* true if the kernel can run when work is only modelled (src/blas/work.h) */
} bench_kernel;

extern const bench_kernel bench_gemm, bench_syrk, bench_symm, bench_trmm, bench_gemv, bench_symv,
  bench_lu, bench_chol, bench_potri, bench_getri, bench_solve, bench_hpl, bench_hessian,
  bench_chain, bench_put, bench_forest, bench_jacobi, bench_splitting, bench_channel;

/* Parses the options of a kernel for `size` ranks; argv[0] is the kernel's name. Returns true if
 * the kernel has to run, and false after an error or after help; *status is then the exit status.
 * Local. */
bool bench_options_parse(const bench_kernel *kernel, int size, int argc, char **argv,
                         bench_settings *settings, int *status);
void bench_settings_free(bench_settings *settings);

/* Writes "osla-bench KERNEL: TEXT" on rank 0 and returns the exit status of an error. Local. */
int bench_error(const bench_kernel *kernel, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* True if `name` is an item of the comma-separated list. Local. */
bool bench_list_has(const char *list, const char *name);

/* --- a case --- */

/* A number that a JSON line holds beside the times. */
typedef struct bench_figure {
  const char *name;
  double value;
  /* True if the value is the time in seconds that a run spent on a phase. Such values are in the
   * object "phases" of a JSON line, and in a line below the row of the table. */
  bool phase;
} bench_figure;

/* One implementation of a case. All functions are collective and get `data` as argument. Each
 * function but `run` may be NULL. */
typedef struct bench_impl {
  /* name in the table and in JSON lines: "osla", "blas", "scalapack" ... */
  const char *name;
  osla_err (*setup)(void *data);   /* allocates memory that only this implementation needs */
  osla_err (*prepare)(void *data); /* restores the input before every run; not timed */
  osla_err (*run)(void *data);     /* runs the implementation once; only this call is timed */
  osla_err (*check)(void *data,
                    /* checks the result after every run; the residual is the same on all ranks */
                    double *residual);
  void (*teardown)(void *data); /* frees what setup allocated; called also after a failed setup */
  /* work of one run over all ranks; if NULL, bench_case.work holds */
  double (*work)(const void *data);
  /* number of operations in a run, called after setup; if NULL, bench_case.operations holds */
  int (*operations)(const void *data);
  /* argument of all functions; if NULL, bench_case.data is the argument */
  void *data;
  /* item of --ref that selects this implementation; NULL if the item equals `name` */
  const char *ref;
  /* Item of --ref that selects the fastest of all implementations with this group, or NULL. A trial
   * before the warm-up finds the fastest one, which is then reported under the group's name. */
  const char *group;
  /* Runs in a trial in place of `run`, and is not checked, because it may do a part of the work.
   * NULL: a trial calls `run`. */
  osla_err (*run_part)(void *data);
  bool is_osla; /* true for a variant of OSLA, which runs whatever --ref selects */
  bool models;  /* true if prepare and check are also called when work is only modelled */
  /* Called on rank 0 after the last run: writes at most BENCH_MAX_FIGURES figures and returns their
   * number. May be NULL. Local. */
  int (*figures)(const void *data, bench_figure *figures);
  /* block size of this implementation; 0: block size of the case; BENCH_NO_NB: no blocks */
  int64_t nb;
} bench_impl;

enum { BENCH_NO_NB = -1 };

typedef enum bench_unit {
  /* The unit is GF/s, and the work of a run is a number of floating-point operations. */
  BENCH_GFLOPS,
  BENCH_MELEMENTS,   /* unit million elements/s; the work is in elements */
  BENCH_GBYTES,      /* unit GB/s; the work is in bytes */
  BENCH_MICROSECONDS /* microseconds of one operation; lower is better */
} bench_unit;

struct bench_result;

typedef struct bench_case {
  const char *kernel;
  const char *precision; /* precision: "s", "d", "c" or "z"; "" if the kernel has no precision */
  /* order of the matrices and block size; nb = 0 if the kernel has no blocks */
  int64_t n, nb;
  /* matrix products: number of rows of C and inner size; 0 in other kernels */
  int64_t m, k;
  const char *trans;    /* matrix products: "NN", "NT" ...; NULL in other kernels */
  const char *pivoting; /* LU: "partial", "tournament" or "none"; NULL in other kernels */
  bool look_ahead;      /* true if the JSON line has the members look_ahead and forward */
  int64_t nrhs;         /* solves: number of right-hand sides; 0 in other kernels */
  const char *inner;    /* splittings: name of the inner solver; NULL in other kernels */
  /* text after the kernel's name in the table, such as "upper 400"; or NULL */
  const char *variant;
  /* Integers that the JSON lines hold, such as values of the kernel's options. */
  const bench_figure *parameters;
  int n_parameters;
  const bench_impl *impls; /* implementations of the case; OSLA's is the first */
  int n_impls;             /* number of elements of impls; --ref may leave some of them out */
  void *data;
  double work; /* work of one operation, summed over all ranks */
  bench_unit unit;
  /* number of operations in a run, at least 1; reported times are those of one operation */
  int operations;
  bool cold; /* true: there is no warm-up before the repetitions */
  /* Prints one result on rank 0. If NULL, bench_report prints a row of the table. */
  void (*print)(const bench_job *job, const struct bench_case *c, const struct bench_result *r);
} bench_case;

/* Shortest run of a candidate in a trial. */
typedef struct bench_trial {
  const char *name;
  double seconds;
} bench_trial;

/* Measurements of one implementation. */
typedef struct bench_result {
  const bench_impl *impl;
  /* If a trial chose the implementation: `chosen` is the implementation under its group's name, to
   * which `impl` points; fastest is the index of the chosen candidate in `trials`. Otherwise
   * n_trials is 0. */
  bench_impl chosen;
  bench_trial trials[BENCH_MAX_IMPLS];
  int n_trials, fastest;
  double work;     /* work of one operation, summed over all ranks */
  double *seconds; /* [reps] seconds of one operation on the slowest rank */
  double residual; /* largest residual of all runs; NaN if a run had NaN */
  bool pass;
} bench_result;

/* Runs a case: sets up all implementations, warms them up, measures, checks, reports, and tears
 * them down. Collective. */
osla_err bench_run_case(bench_job *job, const bench_case *c);

/* Chooses how many transfers a run makes, so that it takes 20 ms on the slowest rank; at most 2^24.
 * `run` makes *iterations transfers, and is called several times. Collective. */
osla_err bench_choose_iterations(osla_transport *transport, osla_err (*run)(void *data), void *data,
                                 int *iterations);

/* Reports the results of a case: prints rows of the table and writes JSON lines, both on rank 0.
 * Local. Errors: IO, MEM. */
osla_err bench_report(bench_job *job, const bench_case *c, const bench_result *results,
                      int n_results);

/* Median of `count` values. Sorts a copy; NaN if memory for it is lacking. Local. */
double bench_median(const double *values, int count);

/* Block size of an implementation of a case; 0 if it has no blocks. Local. */
int64_t bench_block_size(const bench_case *c, const bench_impl *impl);

/* --- devices --- */

/* Opens the device of --device on all ranks, and sets job->device, device_name and device_shared.
 * Does nothing without --device. The caller closes job->device. Collective. Errors, on all ranks
 * together: those of osla_device_open. */
osla_err bench_device_open(bench_job *job);

/* True if the job uses the fake device, which computes on the cores of the host. Local. */
bool bench_device_is_fake(const bench_job *job);

/* Creates a matrix of zeros on the grid of the job, in the memory of job->device, or in host memory
 * if job->device is NULL. Collective. */
osla_err bench_matrix_create(bench_job *job, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                             int64_t nb, osla_matrix **out);

/* --- the trace --- */

/* Writes the trace file and prints a table of the traced repetition. Does nothing without --trace.
 * Collective. Errors: IO, MEM, MPI. */
osla_err bench_trace_report(bench_job *job);

/* --- data --- */

/* Checks that `bytes` of private memory on each rank, together with those of the other ranks of its
 * node, fit the memory of the node. Collective. Errors, on all ranks together: MEM with the bytes
 * needed and available. */
osla_err bench_memory_check(bench_job *job, uint64_t bytes);

/* Allocates zeroed private memory after a check by bench_memory_check. Collective. Errors, on all
 * ranks together: MEM. */
osla_err bench_alloc(bench_job *job, uint64_t bytes, void **out);

/* Makes free keep memory in the process. MPI_Accumulate and the references allocate buffers of many
 * MB for each update. Otherwise page faults of these buffers make the references 2.3 times slower
 * (N = 8192, 2000 indices), or not, depending on what the process has allocated before. Local. */
void bench_keep_freed_memory(void);

/* x[i] for i < n, uniform in [-1/2, 1/2) and the same on every rank. The imaginary part is random
 * for complex types, else 0. Local. */
void bench_fill_vector(osla_dtype dtype, osla_complex *x, int64_t n, uint64_t seed);

/* Part of a matrix: the whole or a triangle. BENCH_UNIT_LOWER has ones on the diagonal, whatever is
 * stored there. */
typedef enum bench_part { BENCH_WHOLE, BENCH_LOWER, BENCH_UNIT_LOWER, BENCH_UPPER } bench_part;

/* y := op(part of A) x. x and y are whole vectors on every rank; a triangle needs a square A.
 * Collective. */
osla_err bench_apply(bench_part part, osla_trans trans, osla_matrix *a, const osla_complex *x,
                     osla_complex *y);

/* y := A x, where only the lower triangle of the square A is read. The upper triangle is the
 * transpose of the lower one, for trans = OSLA_CONJTRANS its conjugate transpose. y and scratch
 * have n elements each. Collective. */
osla_err bench_apply_symmetric(osla_trans trans, osla_matrix *a, const osla_complex *x,
                               osla_complex *y, osla_complex *scratch);

/* y += op(A) x for a local array A (m x n, leading dimension ld). Local. */
void bench_apply_local(osla_dtype dtype, osla_trans trans, int64_t m, int64_t n, const void *a,
                       int64_t ld, const osla_complex *x, osla_complex *y);

/* max |u_i| and max |u_i - v_i|; NaN if an element is NaN. Local. */
double bench_max(const osla_complex *u, int64_t n);
double bench_max_difference(const osla_complex *u, const osla_complex *v, int64_t n);

/* |y - expected| / (eps sqrt(terms) |expected|) in max norms. It is of order 1 for every size,
 * since rounding errors of random data grow with the square root of the number of terms. Local. */
double bench_residual(osla_dtype dtype, const osla_complex *y, const osla_complex *expected,
                      int64_t n, int64_t terms);

double bench_eps(osla_dtype dtype);

/* Element k of an array of type s or d, as double. */
static inline double bench_element(osla_dtype dtype, const void *array, int64_t k)
{
  return dtype == OSLA_FLOAT ? (double)((const float *)array)[k] : ((const double *)array)[k];
}

/* Runs a command line of osla-bench: argv[1] names the kernel, or asks for help or the version.
 * Starts and ends MPI. Returns the exit status, the same on all ranks. */
int bench_run_line(int argc, char **argv);

#endif
