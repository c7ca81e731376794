/* Jacobi's method in its modes (floor 4): what the files of its kernel share.
 *
 *   bench_jacobi.c       the kernel: cases, ours, checks
 *   jacobi_problem.c     the problem, and a rank that is slow
 *   jacobi_mpi.c         the paper's forms by two-sided messages
 */
#ifndef OSLA_BENCH_JACOBI_H
#define OSLA_BENCH_JACOBI_H

#include "bench.h"
#include "osla_diffusion.h"

/* The grid of the case, as each implementation sweeps over it. */
typedef struct jacobi_problem {
  bench_job *job;
  osla_diffusion *diffusion;
  osla_fixed_point inner; /* the diffusion's */
  osla_fixed_point p;     /* the same, slow on the slow rank; borrows this object */
  double factor;          /* of this rank's sweeps; 1: not slow */
  double points;          /* of all ranks */
} jacobi_problem;

/* n points a side: of each rank's part, or of the whole. Collective. Errors, on all ranks together:
 * ARG, MEM. */
osla_err jacobi_problem_create(bench_job *job, int64_t n, jacobi_problem *out);
void jacobi_problem_free(jacobi_problem *problem);

/* One implementation. x begins as the start in each run. */
struct jacobi_mpi;
typedef struct jacobi_data {
  jacobi_problem *problem;
  osla_iterate_mode mode;
  double *x, *spare;
  osla_iteration *iteration; /* of ours */
  osla_iterate_result result;
  struct jacobi_mpi *mpi;
} jacobi_data;

/* The references: sweeps alone; halos by two-sided messages. Both keep a state that the sweeps were
 * made on in x. As bench_impl's calls. */
osla_err jacobi_compute(void *data);
osla_err jacobi_mpi_setup(void *data);
osla_err jacobi_mpi_run(void *data);
void jacobi_mpi_teardown(void *data);

/* x := M x + c by way of the spare state, which it is swapped with. */
void jacobi_sweep(jacobi_data *d);

#endif
