/* Jacobi's method: data and functions shared by its implementations. README.md lists the files. */
#ifndef OSLA_BENCH_JACOBI_H
#define OSLA_BENCH_JACOBI_H

#include "bench/bench.h"
#include "osla_coarse.h"
#include "osla_diffusion.h"
#include "osla_sparse.h"

/* The problem of the case on its grid. Each implementation sweeps over this grid. */
typedef struct jacobi_problem {
  bench_job *job;
  osla_diffusion *diffusion;
  osla_fixed_point inner; /* iteration problem that `diffusion` gives */
  /* problem like `inner`, but with longer sweeps on the slow rank; its argument is this struct */
  osla_fixed_point p;
  /* factor by which this rank's sweeps take longer; 1 on a rank that is not slow */
  double factor;
  /* with --cost-points: halos as long as those of a cube with `cost` points along a side; the
   * rank's cube has `side` points. cost = 0: sweeps and halos of `inner` */
  int64_t cost, side;
  osla_halo halos[6];
  osla_coarse inner_coarse; /* coarse level of `diffusion`, without the time of --cost-points */
  /* true if a rank copies x before it computes a residual of the coarse level, as it does in the
   * asynchronous modes; the time of this copy is charged */
  bool copies;
  double points;        /* number of points on all ranks */
  double sync_residual; /* checked residual of OSLA in mode SYNC; 0 if it is not known */
} jacobi_problem;

/* Creates the problem: n points along a side of each rank's part, or with --whole of the whole
 * grid. Collective. Errors, on all ranks together: ARG, MEM. */
osla_err jacobi_problem_create(bench_job *job, int64_t n, jacobi_problem *out);
/* Sets problem->inner to `inner`, and problem->p to the iteration problem like `inner` with longer
 * sweeps on the slow rank. Local. */
void jacobi_problem_wrap(jacobi_problem *problem, const osla_fixed_point *inner);
/* Returns the coarse level of the problem. With --cost-points, its passes over x take the simulated
 * time of a cube with that number of points along a side. Local. */
osla_coarse jacobi_coarse(jacobi_problem *problem);
void jacobi_problem_free(jacobi_problem *problem);

/* Creates the matrix of the problem. A rank owns the rows of its points, in the order of
 * jacobi_row_offset. Collective. The caller owns *out, and destroys it with osla_csr_destroy.
 *   scratch [out] memory of problem->inner.length doubles
 * Errors, on all ranks together: MEM, MPI, and those of osla_csr_create. */
osla_err jacobi_matrix_create(const jacobi_problem *problem, double *scratch, osla_csr **out);

/* Times one mode of an iteration for problem size n. Collective. */
typedef osla_err jacobi_mode_function(bench_job *job, void *problem, osla_iterate_mode mode,
                                      int64_t n);
/* Calls run_one for each mode that --mode selects, in the order sync, async, racy, until one
 * returns an error. Collective. */
osla_err jacobi_run_modes(bench_job *job, jacobi_mode_function *run_one, void *problem, int64_t n);

/* With --bound, prints whether every schedule converges, or a warning. Collective. Errors, on all
 * ranks together: MEM, MPI. */
osla_err jacobi_bound_print(const jacobi_problem *problem);

/* One implementation. Each run starts from the same x. */
struct jacobi_mpi;
struct jacobi_shmem;
struct jacobi_copying;
struct jacobi_threads;
struct jacobi_cg;
typedef struct jacobi_data {
  jacobi_problem *problem;
  osla_iterate_mode mode;
  bool one_level;    /* true: OSLA without a coarse level, also with --levels 2 */
  bool plain;        /* true: OSLA without a certificate of the residual */
  bool recorded;     /* true: OSLA keeps a record of each run */
  bool is_reference; /* true if the implementation is a reference; its record is not written */
  void *memory[2];   /* the two allocations behind x and spare, whose pointers are swapped */
  double *x, *spare;
  osla_iteration *iteration; /* iteration object of OSLA; NULL in reference implementations */
  /* result of a run; the implementation `threads` sets only the numbers of sweeps */
  osla_iterate_result result;
  double certified; /* |b - A x| divided by that of the initial state; set by the check */
  struct jacobi_mpi *mpi;
  /* state of the reference implementation `copying`; NULL in `mpi`, which swaps pointers */
  struct jacobi_copying *copying;
  struct jacobi_shmem *shmem;
  struct jacobi_threads *threads;
  struct jacobi_cg *cg;
} jacobi_data;

/* Reference implementations: `compute` sweeps without exchanging halos, `mpi` exchanges halos by
 * two-sided messages. The result is in x. The parameters are those of the functions of bench_impl.
 */
osla_err jacobi_compute(void *data);
osla_err jacobi_mpi_setup(void *data);
osla_err jacobi_mpi_run(void *data);
void jacobi_mpi_teardown(void *data);

/* Reference implementation `shmem`, which exchanges halos by puts of OpenSHMEM; only in builds with
 * OpenSHMEM. setup, prepare and run are collective; prepare needs the initial state in x. Errors:
 * MEM, and those of the transport `shmem`. */
#ifdef HAVE_SHMEM
#define JACOBI_SHMEM ",shmem"
osla_err jacobi_shmem_setup(void *data);
osla_err jacobi_shmem_prepare(void *data);
osla_err jacobi_shmem_run(void *data);
void jacobi_shmem_teardown(jacobi_data *d);
#else
#define JACOBI_SHMEM ""
#endif

/* Reference implementation `copying`, which differs from `mpi` in its step. setup allocates
 * memory; step makes sweep number k and its part of the sum of residuals; end completes the sums
 * after the last sweep. setup and end are collective; step is collective in mode SYNC. Errors:
 * MEM, MPI. */
osla_err jacobi_copying_setup(void *data);
osla_err jacobi_copying_step(jacobi_data *d, int64_t k);
osla_err jacobi_copying_end(jacobi_data *d);
void jacobi_copying_teardown(jacobi_data *d);

/* Reference implementation `threads`: one rank with settings->threads threads, at most one for
 * each layer of the grid. Sweeps until a tolerance is reached, or for a number of sweeps of each
 * thread. Errors: MEM (OpenMP provides fewer threads), UNSUPPORTED. */
#ifdef _OPENMP
#define JACOBI_THREADS ",threads"
#else
#define JACOBI_THREADS ""
#endif
osla_err jacobi_threads_setup(void *data);
osla_err jacobi_threads_run(void *data);
void jacobi_threads_teardown(jacobi_data *d);

/* Reference implementation `cg`, only with a tolerance: osla_cg, with the same criterion for |b -
 * A x| as Jacobi's method. jacobi_cg_iterations returns the iterations of the latest run. Errors:
 * those of the matrix and of CG. */
osla_err jacobi_cg_setup(void *data);
osla_err jacobi_cg_run(void *data);
void jacobi_cg_teardown(jacobi_data *d);
int64_t jacobi_cg_iterations(const jacobi_data *d);

/* Appends the record of the latest run to settings->record, as one line of JSON. It has the mode;
 * for each rank the number of sweeps, and the pairs [lag, number of sweeps] of the rank's halos;
 * and the pairs [seconds, residual divided by the residual of the start] that rank 0 knew.
 * Collective. Errors: IO, and those of osla_iteration_gather. */
osla_err jacobi_record_write(const jacobi_data *d);

/* Computes M x + c into the spare state, then swaps x and the spare state. */
void jacobi_sweep(jacobi_data *d);

/* On a slow rank, waits actively until the time since `since` is problem->factor times the time
 * that the work took. Does nothing on other ranks. Local. */
void jacobi_delay(const jacobi_problem *problem, double since);

/* ---- loops of Bethune et al., row by row (jacobi_rows.c) ---- */

/* A row of points in x, and its neighbours in y and z. */
typedef struct jacobi_row {
  const double *at, *south, *north, *below, *above;
} jacobi_row;

/* Layout of this rank's points in a state. */
typedef struct jacobi_grid {
  int64_t count[3], row, plane; /* distance in doubles between rows, and between planes */
} jacobi_grid;

jacobi_grid jacobi_grid_of(const jacobi_problem *problem);
/* number of this rank's points */
static inline int64_t jacobi_grid_points(const jacobi_grid *g)
{
  return g->count[0] * g->count[1] * g->count[2];
}
/* offset of row j in plane k */
int64_t jacobi_row_offset(const jacobi_grid *g, int64_t j, int64_t k);
jacobi_row jacobi_row_at(const jacobi_grid *g, const double *x, int64_t j, int64_t k);

/* Two functions of a row of n points: the sum of the squares of b - A x; and a sweep y := M x + c,
 * where y does not overlap x. Local. */
double jacobi_row_residual2(int64_t n, const jacobi_row *r);
void jacobi_row_new(int64_t n, const jacobi_row *r, double *y);

#endif
