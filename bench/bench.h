/* osla-bench: a kernel timed beside its limit and other libraries (floor 4).
 *
 * A case is one kernel at one size, with its implementations: ours first, then the references. They
 * run in one process on the same data, in turn (A B A B ...), after a warm-up of each, so that a
 * ratio of the same repetition holds when the speed of the machine drifts. Every run is checked.
 *
 *   osla_bench.c     main
 *   bench_command.c  kernels, MPI, exit status
 *   bench_options*.c options
 *   bench_run.c      the loop over repetitions and implementations
 *   bench_report.c   the table for people, the JSON lines
 *   bench_trace.c    the trace of one repetition
 *   bench_data.c     private memory, y = A x, residuals
 *   bench_product.c bench_gemm.c bench_gemm_plan.c bench_syrk.c bench_triangle.c
 *   bench_vector.c                                                products
 *   bench_factor.c bench_lu_chol.c bench_inverse.c bench_solve.c bench_hpl.c
 *                                                                 factorisations, solves
 *   bench_hessian.c hessian_*.c seeded_updates.c, bench_put.c     the other kernels
 *   bench_forest.c forest_*.c                                     and star forests
 *   bench_jacobi.c jacobi_*.c                                     and iterations
 *   bench_channel.c channel_*.c                                   and channels
 *   reference_*.c    what they are compared with (bench_reference.h)
 */
#ifndef OSLA_BENCH_H
#define OSLA_BENCH_H

#include "osla_lu.h"
#include "osla_matrix.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A scaled residual passes below this, as in HPL. */
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
  int64_t n[BENCH_MAX_SIZES]; /* sizes, in the given order */
  int n_count;
  int64_t nbs[BENCH_MAX_SIZES];
  int n_nbs;
  int grids[BENCH_MAX_GRIDS][2]; /* process rows, columns; 0 x 0: chosen */
  int n_grids;
  osla_grid_order order;
  bool order_chosen; /* by osla_grid_choose_order, for each grid */
  int64_t nb;        /* of the current case: one of nbs */
  int reps;
  osla_dtype dtype;
  char *ref;                       /* comma list of references; owned */
  char *json;                      /* file; NULL: none; owned */
  char *trace;                     /* the same */
  int64_t updates, rows;           /* hessian: updates of each rank, rows of G */
  int64_t run, work;               /* hessian: consecutive indices, products of work beside */
  int64_t ring_bytes;              /* hessian: as in its options */
  int64_t counts[BENCH_MAX_SIZES]; /* hessian: indices of an update; or, n_counts = 0: */
  int n_counts;
  double density[BENCH_MAX_DENSITIES]; /* their share of n */
  int n_densities;
  osla_uplo uplo;            /* hessian */
  int threads;               /* hessian: producers of each rank; jacobi: of a reference, or 1 */
  osla_trans transa, transb; /* gemm */
  int64_t m, k;              /* gemm; k also syrk; 0: n */
  int64_t panel;             /* osla_gemm_options of gemm and syrk */
  uint64_t memory;
  bool ablate, plan;                   /* gemm: the variants of ours; the plan alone */
  int64_t ref_nb[BENCH_MAX_REF_NB];    /* block sizes of scalapack's own matrices */
  int n_ref_nb;                        /* 0: our matrices */
  osla_pivoting pivoting;              /* lu, hpl */
  int look_ahead;                      /* osla_lu_options; also chol's */
  osla_forward forward;                /* the same */
  bool chol;                           /* solve: with the factor of Cholesky, else of LU */
  int64_t nrhs;                        /* solve */
  unsigned cases;                      /* forest, channel: bit k: case k of their enum */
  bool plain, rewrite, arrival, exact; /* forest */
  char *matrix;                        /* forest: file; NULL: none; owned */
  bool partition;                      /* forest: METIS puts its rows, or cells, on ranks */
  int reach;                           /* forest: of the generated matrix */
  bool whole, zeros;                   /* jacobi, and what follows; cases: bit k: mode k */
  int64_t sweeps;
  double tolerance, slow_factor;
  int period, lead, in_flight, slow_rank; /* slow_rank -1: none */
  int bound;                              /* steps; 0: none */
  char *record;                           /* file; NULL: none; owned */
} bench_settings;

/* "chosen", "flat", "ring", "tree". Local. */
const char *bench_forward_name(osla_forward forward);

/* What a kernel runs with. */
typedef struct bench_job {
  const bench_settings *settings;
  osla_transport *transport;
  osla_grid *grid;
  int rank, size, n_nodes;
  FILE *json;       /* rank 0; NULL: none */
  bool header_done; /* the table's head is printed */
  bool ga_started;  /* Global Arrays is up (reference_ga_stop ends it) */
  int n_passed;     /* runs whose residual passed, and did not, without the warm-up */
  int n_failed;
  bool last_size;     /* --trace: this size's last repetition of osla is traced */
  const char *traced; /* the case that was traced last, and its size */
  int64_t traced_n;
} bench_job;

/* --- kernels --- */

typedef struct bench_kernel {
  const char *name;
  const char *summary;            /* for osla-bench --help */
  const char *about;              /* for osla-bench KERNEL --help; at most 900 bytes */
  const char *references;         /* comma list of those that this build has, in order; may be "" */
  const char *default_references; /* NULL: all of them */
  const char *after;              /* end of the kernel's help; may be NULL */
  osla_err (*run)(bench_job *job, int64_t n); /* collective */
  void (*finish)(const bench_job *job);       /* after all sizes, on rank 0; may be NULL */
  int64_t sizes[12];                          /* defaults of --n, ended by 0 */
  const char *precisions;                     /* letters that --precision takes; NULL: "sd" */
  bool updates;                               /* has the options of the updates */
  bool product;                               /* has --k, --panel, --memory */
  bool shapes;                                /* has --trans, --m, --ablate, --plan */
  bool other_nb;                              /* has --ref-nb, where scalapack is built in */
  const char *pivotings; /* what --pivoting takes, the default first; NULL: no such option */
  int most_look_ahead;   /* what --look-ahead takes; 0: neither this nor --forward */
  bool solves;           /* has --kind, --nrhs */
  int reps;              /* default of --reps; 0: 5 */
  bool pairs;            /* needs two ranks; --n counts bytes; no matrix options */
  bool forest;           /* has --case, --plain, --rewrite; no matrix options; n = 0: its own */
  bool jacobi;           /* --n is --points; has --mode and the like; no matrix options */
  bool channel;          /* --n is --bytes, 0: each case has its own; has --case */
  bool modelled;         /* may run where work is only modelled (work.h) */
} bench_kernel;

extern const bench_kernel bench_gemm, bench_syrk, bench_symm, bench_trmm, bench_gemv, bench_symv,
  bench_lu, bench_chol, bench_potri, bench_getri, bench_solve, bench_hpl, bench_hessian, bench_put,
  bench_forest, bench_jacobi, bench_channel;

/* Parses the options of a kernel (argv[0] is its name) for `size` ranks. Returns true to go on;
 * else *status is the exit status and the error or help is written. Local. */
bool bench_options_parse(const bench_kernel *kernel, int size, int argc, char **argv,
                         bench_settings *settings, int *status);
void bench_settings_free(bench_settings *settings);

/* Writes "osla-bench KERNEL: TEXT" on rank 0; returns the exit status. Local. */
int bench_error(const bench_kernel *kernel, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* Is `name` an item of the comma list? Local. */
bool bench_list_has(const char *list, const char *name);

/* --- a case --- */

/* A number that goes into the JSON lines beside the times. */
typedef struct bench_figure {
  const char *name;
  double value;
  bool phase; /* seconds of a run that went into this: in "phases", and below the table's row */
} bench_figure;

/* One implementation. All calls are collective and get its data; each may be NULL but run. */
typedef struct bench_impl {
  const char *name;                /* "osla", "blas", "scalapack" */
  osla_err (*setup)(void *data);   /* allocates what this implementation alone needs */
  osla_err (*prepare)(void *data); /* before every run, not timed: restores the input */
  osla_err (*run)(void *data);     /* timed */
  osla_err (*check)(void *data, double *residual); /* after every run; same value on all ranks */
  void (*teardown)(void *data);                    /* also after a failed setup */
  double (*work)(const void *data);    /* of one run over all ranks; NULL: bench_case.work */
  int (*operations)(const void *data); /* after setup; NULL: bench_case.operations */
  void *data;                          /* NULL: bench_case.data */
  const char *ref;                     /* the item of --ref that it belongs to; NULL: its name */
  bool ours;                           /* a variant of ours: measured whatever --ref says */
  bool models; /* prepare and check are called where work is only modelled, too */
  /* After the last run, on rank 0: writes at most BENCH_MAX_FIGURES, returns their number; may be
   * NULL. Local. */
  int (*figures)(const void *data, bench_figure *figures);
  int64_t nb; /* its own block size; 0: the case's; BENCH_NO_NB: it has none */
} bench_impl;

enum { BENCH_NO_NB = -1 };

typedef enum bench_unit {
  BENCH_GFLOPS,      /* work: floating-point operations */
  BENCH_MELEMENTS,   /* work: elements */
  BENCH_GBYTES,      /* work: bytes */
  BENCH_MICROSECONDS /* rate: time of one operation, lower is better */
} bench_unit;

struct bench_result;

typedef struct bench_case {
  const char *kernel;
  const char *precision; /* "s", "d", "c", "z"; "" where it has no meaning */
  int64_t n, nb;         /* nb = 0 where it has no meaning */
  int64_t m, k;          /* of a product; 0: it has none */
  const char *trans;     /* of a product: "NN", "NT" ...; NULL: it has none */
  const char *pivoting;  /* of LU: "partial" ...; NULL: it has none */
  bool look_ahead;       /* it has --look-ahead and --forward */
  int64_t nrhs;          /* of a solve; 0: it has none */
  const char *variant;   /* behind the kernel's name in the table, "upper 400"; NULL: none */
  const bench_figure *parameters; /* integers for the JSON lines */
  int n_parameters;
  const bench_impl *impls; /* ours first */
  int n_impls;             /* those that --ref leaves out are skipped */
  void *data;
  double work; /* of one operation over all ranks */
  bench_unit unit;
  int operations; /* per run, at least 1: the times reported are those of one operation */
  bool cold;      /* no warm-up */
  /* Prints a result, on rank 0; NULL: a row of the table. */
  void (*print)(const bench_job *job, const struct bench_case *c, const struct bench_result *r);
} bench_case;

/* What was measured of one implementation. */
typedef struct bench_result {
  const bench_impl *impl;
  double work;     /* of one operation */
  double *seconds; /* [reps], per operation, largest over the ranks */
  double residual; /* largest of all runs; NaN if one was */
  bool pass;
} bench_result;

/* Sets up, warms up, measures, checks, reports and tears down. Collective. */
osla_err bench_run_case(bench_job *job, const bench_case *c);

/* *iterations := how many times `run`, which repeats a transfer *iterations times, has to repeat it
 * to take 20 ms on the slowest rank; at most 2^24. `run` is called some times. Collective. */
osla_err bench_choose_iterations(osla_transport *transport, osla_err (*run)(void *data), void *data,
                                 int *iterations);

/* Reports the results of a case: on rank 0 the table's rows and JSON lines. Local.
 * Errors: IO, MEM. */
osla_err bench_report(bench_job *job, const bench_case *c, const bench_result *results,
                      int n_results);

/* Median of the `count` values; sorts a copy. NaN when there is no memory. Local. */
double bench_median(const double *values, int count);

/* --- the trace --- */

/* Writes the file and prints what the traced repetition was spent on. Collective; nothing without
 * --trace. Errors: IO, MEM, MPI. */
osla_err bench_trace_report(bench_job *job);

/* --- data --- */

/* Does every rank's share of private memory fit its node? Collective. Errors, on all ranks
 * together: MEM with the bytes needed and available. */
osla_err bench_look_for(bench_job *job, uint64_t bytes);

/* Zeroed private memory, after a look at whether every rank's share fits its node. Collective.
 * Errors as bench_look_for. */
osla_err bench_alloc(bench_job *job, uint64_t bytes, void **out);

/* The type of the sums and of the vectors: complex for complex types, else with no imaginary part.
 *
 * x[i] for i < n, uniform; the same for every rank. Local. */
void bench_fill_vector(osla_dtype dtype, osla_complex *x, int64_t n, uint64_t seed);

/* What of a matrix: all, or a triangle (unit: with 1 on its diagonal, whatever is stored there). */
typedef enum bench_part { BENCH_WHOLE, BENCH_LOWER, BENCH_UNIT_LOWER, BENCH_UPPER } bench_part;

/* y := op(part of A) x; x and y are whole vectors on every rank. Triangles: A is square.
 * Collective. */
osla_err bench_apply(bench_part part, osla_trans trans, osla_matrix *a, const osla_complex *x,
                     osla_complex *y);

/* y := A x; only the lower triangle of the square A is read. The upper triangle is the transpose of
 * the lower one, for `trans` = OSLA_CONJTRANS its conjugate. y and scratch have n elements each.
 * Collective. */
osla_err bench_apply_symmetric(osla_trans trans, osla_matrix *a, const osla_complex *x,
                               osla_complex *y, osla_complex *scratch);

/* y += op(A) x for a local array (m x n, leading dimension ld). Local. */
void bench_apply_local(osla_dtype dtype, osla_trans trans, int64_t m, int64_t n, const void *a,
                       int64_t ld, const osla_complex *x, osla_complex *y);

/* max |u_i|; and max |u_i - v_i|: NaN if there is one. Local. */
double bench_max(const osla_complex *u, int64_t n);
double bench_max_difference(const osla_complex *u, const osla_complex *v, int64_t n);

/* |y - expected| / (eps sqrt(terms) |expected|), max norms: of order 1 for every size, as the
 * rounding errors of random data grow with the square root of the number of terms. Local. */
double bench_residual(osla_dtype dtype, const osla_complex *y, const osla_complex *expected,
                      int64_t n, int64_t terms);

double bench_eps(osla_dtype dtype);

/* Element k of an array of type s or d. */
static inline double bench_element(osla_dtype dtype, const void *array, int64_t k)
{
  return dtype == OSLA_FLOAT ? (double)((const float *)array)[k] : ((const double *)array)[k];
}

/* Runs a line of osla-bench: argv[1] names the kernel, or asks for help or the version. Starts and
 * ends MPI. Returns the exit status, the same on all ranks. */
int bench_run_line(int argc, char **argv);

#endif
