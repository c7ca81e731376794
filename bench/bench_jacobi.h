/* Jacobi's method in its modes (floor 4): what the files of its kernel share.
 *
 *   bench_jacobi.c       the kernel: cases, ours, checks
 *   jacobi_problem.c     the problem, and a rank that is slow
 *   jacobi_mpi.c         the paper's forms by two-sided messages
 *   jacobi_copying.c     the same with their loops: a new array, and a copy back
 *   jacobi_threads.c     their form by OpenMP threads, in one process
 *   jacobi_rows.c        rows of their loops
 *   jacobi_cg.c          CG for the same residual
 *   jacobi_record.c      what a run read, into a file
 *   jacobi_bound.c       whether every schedule converges
 */
#ifndef OSLA_BENCH_JACOBI_H
#define OSLA_BENCH_JACOBI_H

#include "bench/bench.h"
#include "osla_diffusion.h"

/* The grid of the case, as each implementation sweeps over it. */
typedef struct jacobi_problem {
  bench_job *job;
  osla_diffusion *diffusion;
  osla_fixed_point inner; /* the diffusion's */
  osla_fixed_point p;     /* the same, slow on the slow rank; borrows this object */
  double factor;          /* of this rank's sweeps; 1: not slow */
  double points;          /* of all ranks */
  double in_lock_step;    /* residual of ours in SYNC, checked; 0: not known */
} jacobi_problem;

/* n points a side: of each rank's part, or of the whole. Collective. Errors, on all ranks together:
 * ARG, MEM. */
osla_err jacobi_problem_create(bench_job *job, int64_t n, jacobi_problem *out);
void jacobi_problem_free(jacobi_problem *problem);

/* With --bound: says whether every schedule converges; else warns. Collective. Errors, on all ranks
 * together: MEM, MPI. */
osla_err jacobi_bound_print(const jacobi_problem *problem);

/* One implementation. x begins as the start in each run. */
struct jacobi_mpi;
struct jacobi_copying;
struct jacobi_threads;
struct jacobi_cg;
typedef struct jacobi_data {
  jacobi_problem *problem;
  osla_iterate_mode mode;
  bool plain;        /* of ours: without a certificate */
  bool recorded;     /* of ours: with a record of each run */
  bool is_reference; /* its record is not written */
  void *memory[2];   /* of x and spare, which are swapped */
  double *x, *spare;
  osla_iteration *iteration;  /* of ours */
  osla_iterate_result result; /* of threads: its sweeps alone */
  double certified;           /* |b - A x| over that of the start, once it was looked at */
  struct jacobi_mpi *mpi;
  struct jacobi_copying *copying; /* NULL: mpi swaps pointers */
  struct jacobi_threads *threads;
  struct jacobi_cg *cg;
} jacobi_data;

/* The references: sweeps alone; halos by two-sided messages. Both keep a state that the sweeps were
 * made on in x. As bench_impl's calls. */
osla_err jacobi_compute(void *data);
osla_err jacobi_mpi_setup(void *data);
osla_err jacobi_mpi_run(void *data);
void jacobi_mpi_teardown(void *data);

/* Of the reference `copying`, which is `mpi` with other steps: makes what they need; sweep number k
 * with what belongs to it; after the last one ends reductions that are under way. Collective but
 * for the step, which is so in SYNC alone. Errors: MEM, MPI. */
osla_err jacobi_copying_setup(void *data);
osla_err jacobi_copying_step(jacobi_data *d, int64_t k);
osla_err jacobi_copying_end(jacobi_data *d);
void jacobi_copying_teardown(jacobi_data *d);

/* The reference `threads`: for one rank and settings->threads threads, not more than layers; with a
 * tolerance or for so many sweeps of each. Errors: MEM (OpenMP gives fewer threads), UNSUPPORTED.
 */
#ifdef _OPENMP
#define JACOBI_THREADS ",threads"
#else
#define JACOBI_THREADS ""
#endif
osla_err jacobi_threads_setup(void *data);
osla_err jacobi_threads_run(void *data);
void jacobi_threads_teardown(jacobi_data *d);

/* The reference `cg`, with a tolerance alone: osla_cg until |b - A x| is at most as large as that
 * of Jacobi's method shall be. Iterations: of the latest run. Errors: those of the matrix and of
 * CG. */
osla_err jacobi_cg_setup(void *data);
osla_err jacobi_cg_run(void *data);
void jacobi_cg_teardown(jacobi_data *d);
int64_t jacobi_cg_iterations(const jacobi_data *d);

/* Of ours, recorded: appends the latest run to settings->record, as one line of JSON: mode; of each
 * rank its sweeps and [lag, sweeps] of its halos; and [seconds, |b - A x| over that of the start]
 * as they were known on rank 0. Collective. Errors: IO, and those of osla_iteration_gather. */
osla_err jacobi_record_write(const jacobi_data *d);

/* x := M x + c by way of the spare state, which it is swapped with. */
void jacobi_sweep(jacobi_data *d);

/* On the slow rank: waits, busily as a slow core would be, until what began at `since` has taken
 * `factor` times as long. Local. */
void jacobi_linger(const jacobi_problem *problem, double since);

/* ---- the paper's loops, row by row (jacobi_rows.c) ---- */

/* A row of points in x, with its neighbours in y and z. */
typedef struct jacobi_row {
  const double *at, *south, *north, *below, *above;
} jacobi_row;

/* Where the own points of a state lie. */
typedef struct jacobi_grid {
  int64_t count[3], row, plane; /* doubles from a row, a plane to the next */
} jacobi_grid;

jacobi_grid jacobi_grid_of(const jacobi_problem *problem);
int64_t jacobi_row_offset(const jacobi_grid *g, int64_t j, int64_t k); /* of row j in plane k */
jacobi_row jacobi_row_at(const jacobi_grid *g, const double *x, int64_t j, int64_t k);

/* The sum of the squares of b - A x over a row of n points; and y := M x + c, y not being x. Local.
 */
double jacobi_row_residual2(int64_t n, const jacobi_row *r);
void jacobi_row_new(int64_t n, const jacobi_row *r, double *y);

#endif
