/* osla-bench: times a kernel beside the machine's limit and beside other libraries (floor 4).
 *
 * A case is one kernel at one size, with its implementations: OSLA's first, then the references.
 * They run in one process on the same data, in turn (A B A B ...), after a warm-up of each. The
 * ratio of two implementations is taken within one repetition, so that it holds when the speed of
 * the machine drifts. Every run is checked. README.md of this folder lists the files. */
#ifndef OSLA_BENCH_H
#define OSLA_BENCH_H

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
  int64_t n[BENCH_MAX_SIZES]; /* sizes to run, in the order of the option */
  int n_count;
  int64_t nbs[BENCH_MAX_SIZES];
  int n_nbs;
  int grids[BENCH_MAX_GRIDS][2]; /* process rows and columns; 0 x 0: OSLA chooses the grid */
  int n_grids;
  osla_grid_order order;
  bool order_chosen; /* the order comes from osla_grid_choose_order, for each grid */
  int64_t nb;        /* block size of the current case: an element of nbs */
  int reps;
  osla_dtype dtype;
  char *ref;             /* comma list of references; owned */
  char *json;            /* file of the JSON lines, or NULL; owned */
  char *trace;           /* file of the trace, or NULL; owned */
  int64_t updates, rows; /* hessian: updates of each rank; rows of G */
  int64_t run, work;     /* hessian: length of runs of consecutive indices; products of --work */
  int64_t ring_bytes;    /* hessian: osla_hessian_options.ring_bytes */
  int64_t counts[BENCH_MAX_SIZES]; /* hessian: indices of an update, if n_counts > 0 */
  int n_counts;
  double density[BENCH_MAX_DENSITIES]; /* hessian: indices of an update as a share of n, if n_counts
                                          = 0 */
  int n_densities;
  osla_uplo uplo; /* hessian: the stored triangle */
  /* hessian: threads of each rank that make updates. jacobi: threads of the reference `threads`,
   * else 1. */
  int threads;
  osla_trans transa, transb; /* gemm: op(A), op(B) */
  int64_t m, k;              /* gemm: rows of C; gemm and syrk: inner size; 0: n */
  int64_t panel;             /* gemm, syrk: osla_gemm_options.panel and .memory */
  uint64_t memory;
  bool ablate, plan; /* gemm: run the ablated variants; print the plan and run nothing */
  int64_t ref_nb[BENCH_MAX_REF_NB]; /* block sizes of matrices that ScaLAPACK has for itself */
  int n_ref_nb;                     /* 0: ScaLAPACK works on OSLA's matrices */
  osla_pivoting pivoting;           /* lu, hpl: pivoting of OSLA */
  int look_ahead;                   /* lu, chol, potri, getri, hpl: look_ahead of OSLA's options */
  osla_forward forward;             /* lu, chol, potri, getri, hpl: forward of OSLA's options */
  bool chol;                        /* solve: true: factors of Cholesky, false: of LU */
  int64_t nrhs;                     /* solve: number of right-hand sides */
  unsigned cases; /* forest, channel: bit k: run case k of their enum; jacobi: bit k: run mode k */
  /* forest: the options --plain, --rewrite, --arrival, --exact */
  bool plain, rewrite, arrival, exact;
  char *matrix;      /* forest: matrix file, or NULL; owned */
  bool partition;    /* forest: METIS distributes the rows or cells */
  int reach;         /* forest: squared distance of neighbours in the generated matrix */
  bool whole, zeros; /* jacobi: N is the side of the whole grid; no offset of 1 in the start */
  int64_t sweeps;
  double tolerance, slow_factor;
  int period, lead, in_flight, slow_rank; /* jacobi; slow_rank: -1 if no rank is slow */
  int bound;    /* jacobi: steps of the convergence bound; 0: not computed */
  char *record; /* jacobi: file of the record, or NULL; owned */
} bench_settings;

/* Name of a way to forward panels: "chosen", "flat", "ring" or "tree". Local. */
const char *bench_forward_name(osla_forward forward);

/* State of one run of osla-bench, shared by all its cases. */
typedef struct bench_job {
  const bench_settings *settings;
  osla_transport *transport;
  osla_grid *grid;
  int rank, size, n_nodes;
  FILE *json;       /* stream of --json on rank 0; else NULL */
  bool header_done; /* the head of the table is printed */
  bool ga_started;  /* Global Arrays is initialised; reference_ga_stop terminates it */
  int n_passed;     /* runs with a residual below and above the limit, without warm-ups */
  int n_failed;
  bool last_size;     /* with --trace, the last repetition of OSLA at this size is traced */
  const char *traced; /* name and size of the case that was traced last */
  int64_t traced_n;
} bench_job;

/* --- kernels --- */

typedef struct bench_kernel {
  const char *name;
  const char *summary;    /* one line for osla-bench --help */
  const char *about;      /* text for osla-bench KERNEL --help; at most 900 bytes */
  const char *references; /* comma list of the references in this build, in order; may be "" */
  const char
    *default_references; /* comma list of the references that run without --ref; NULL: all */
  const char *after;     /* text at the end of the kernel's help, or NULL */
  osla_err (*run)(bench_job *job, int64_t n); /* runs size n; collective */
  void (*finish)(const bench_job *job); /* called on rank 0 after the last size; may be NULL */
  int64_t sizes[12];                    /* default sizes, ended by 0 */
  const char *precisions;               /* letters that --precision accepts; NULL: "sd" */
  bool updates;                         /* has the options of updates (bench_options_updates.c) */
  bool product;                         /* has --k, --panel, --memory */
  bool shapes;                          /* has --trans, --m, --ablate, --plan */
  bool other_nb;                        /* has --ref-nb, if ScaLAPACK is built in */
  const char *pivotings; /* values of --pivoting, the default first; NULL: no such option */
  int most_look_ahead;   /* largest --look-ahead; 0: neither --look-ahead nor --forward */
  bool solves;           /* has --kind, --nrhs */
  int reps;              /* default of --reps; 0: 5 */
  bool pairs;            /* needs two ranks; sizes are bytes; no matrix options */
  bool forest;   /* has --case, --plain, --rewrite; no matrix options; size 0: each case has its own
                    sizes */
  bool jacobi;   /* has --points in place of --n, --mode; no matrix options */
  bool channel;  /* has --bytes in place of --n, --case; size 0: each case has its own sizes */
  bool modelled; /* can run when work is only modelled (src/blas/work.h) */
} bench_kernel;

extern const bench_kernel bench_gemm, bench_syrk, bench_symm, bench_trmm, bench_gemv, bench_symv,
  bench_lu, bench_chol, bench_potri, bench_getri, bench_solve, bench_hpl, bench_hessian, bench_put,
  bench_forest, bench_jacobi, bench_channel;

/* Parses the options of a kernel for `size` ranks; argv[0] is the kernel's name. Returns true if
 * the kernel shall run. Returns false after an error or after help; *status is then the exit
 * status. Local. */
bool bench_options_parse(const bench_kernel *kernel, int size, int argc, char **argv,
                         bench_settings *settings, int *status);
void bench_settings_free(bench_settings *settings);

/* Writes "osla-bench KERNEL: TEXT" on rank 0 and returns the exit status of an error. Local. */
int bench_error(const bench_kernel *kernel, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* True if `name` is an item of the comma list. Local. */
bool bench_list_has(const char *list, const char *name);

/* --- a case --- */

/* A number that a JSON line holds beside the times. */
typedef struct bench_figure {
  const char *name;
  double value;
  bool
    phase; /* seconds of a run spent on a phase: in "phases" of the JSON line, and below the row */
} bench_figure;

/* One implementation of a case. All functions are collective and get `data`; each but `run` may be
 * NULL. */
typedef struct bench_impl {
  /* name in the table and in JSON lines: "osla", "blas", "scalapack" ... */
  const char *name;
  osla_err (*setup)(void *data);   /* allocates memory that only this implementation needs */
  osla_err (*prepare)(void *data); /* called before every run, untimed: restores the input */
  osla_err (*run)(void *data);     /* the timed call */
  osla_err (*check)(
    void *data,
    double *residual);          /* called after every run; the residual is the same on all ranks */
  void (*teardown)(void *data); /* called also after a failed setup */
  double (*work)(const void *data);    /* work of one run over all ranks; NULL: bench_case.work */
  int (*operations)(const void *data); /* called after setup; NULL: bench_case.operations */
  void *data;                          /* argument of all functions; NULL: bench_case.data */
  const char *ref; /* item of --ref that selects this implementation; NULL: its name */
  bool is_osla;    /* a variant of OSLA, which runs whatever --ref says */
  bool models;     /* prepare and check are also called when work is only modelled */
  /* Called on rank 0 after the last run: writes at most BENCH_MAX_FIGURES figures and returns their
   * number. May be NULL. Local. */
  int (*figures)(const void *data, bench_figure *figures);
  int64_t nb; /* block size of this implementation; 0: that of the case; BENCH_NO_NB: none */
} bench_impl;

enum { BENCH_NO_NB = -1 };

typedef enum bench_unit {
  BENCH_GFLOPS,      /* GF/s; work in floating-point operations */
  BENCH_MELEMENTS,   /* million elements/s; work in elements */
  BENCH_GBYTES,      /* GB/s; work in bytes */
  BENCH_MICROSECONDS /* us of one operation; lower is better */
} bench_unit;

struct bench_result;

typedef struct bench_case {
  const char *kernel;
  const char *precision; /* "s", "d", "c" or "z"; "" if the kernel has no precision */
  int64_t n, nb;         /* order and block size; nb = 0 if the kernel has no blocks */
  int64_t m, k;          /* products: rows of C and inner size; else 0 */
  const char *trans;     /* products: "NN", "NT" ...; else NULL */
  const char *pivoting;  /* LU: "partial", "tournament" or "none"; else NULL */
  bool look_ahead;       /* the JSON line has look_ahead and forward */
  int64_t nrhs;          /* solves: number of right-hand sides; else 0 */
  const char *variant;   /* text behind the kernel's name in the table, as "upper 400"; or NULL */
  /* integers that the JSON lines hold, such as options of the kernel */
  const bench_figure *parameters;
  int n_parameters;
  const bench_impl *impls; /* implementations, OSLA's first */
  int n_impls;             /* number of impls; --ref may leave some of them out */
  void *data;
  double work; /* work of one operation over all ranks */
  bench_unit unit;
  int operations; /* operations of a run, at least 1; reported times are those of one operation */
  bool cold;      /* no warm-up before the repetitions */
  /* Prints one result on rank 0. NULL: bench_report prints a row of the table. */
  void (*print)(const bench_job *job, const struct bench_case *c, const struct bench_result *r);
} bench_case;

/* Measurements of one implementation. */
typedef struct bench_result {
  const bench_impl *impl;
  double work;     /* work of one operation over all ranks */
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
