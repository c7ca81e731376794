/* Functions and data shared by the implementations of osla-bench chain: assembly of a symmetric
 * matrix, LU factorisation, and solution, in one job. */
#ifndef OSLA_BENCH_CHAIN_H
#define OSLA_BENCH_CHAIN_H

#include "bench/bench_hessian.h"
#include "osla_random.h"

/* Phases of a run, in seconds of the slowest rank. */
typedef enum chain_phase { CHAIN_ASSEMBLE, CHAIN_FACTOR, CHAIN_SOLVE, CHAIN_PHASES } chain_phase;

/* One implementation. */
typedef struct chain {
  struct chain_data *all;
  char name[32];
  /* job with a block size of its own, for the implementations that differ only in the block size */
  bench_job job;
  bench_settings settings;
  hessian_data h;      /* data of the assembly; shares the updates of all implementations */
  bench_impl assembly; /* the assembly, an implementation of osla-bench hessian */
  /* Factor the assembled matrix, and solve with the right-hand side of the job. Collective. */
  osla_err (*factor)(struct chain *c);
  osla_err (*solve)(struct chain *c);
  osla_err (*read)(struct chain *c, double *x); /* x [n] := the solution, on rank 0 alone */
  /* frees objects that `factor` created besides x and the pivots; NULL: there are no others */
  void (*destroy)(struct chain *c);
  osla_matrix *a,               /* matrix of the assembly */
    *x;                         /* right-hand side, which the solution replaces */
  int64_t *ipiv;                /* pivots of OSLA */
  int *pivots;                  /* pivots of ScaLAPACK */
  int context;                  /* BLACS context of ScaLAPACK */
  int vector;                   /* GA's handle of the right-hand side */
  int64_t info;                 /* 0 if the latest factorisation succeeded */
  double seconds[CHAIN_PHASES]; /* times of the latest run */
  double sums[CHAIN_PHASES];    /* times of all counted runs */
  int runs;                     /* number of runs so far; the first run is the warm-up */
} chain;

enum { CHAIN_OSLA = 3, CHAIN_SCALAPACK = 2 * BENCH_MAX_REF_NB, CHAIN_GA = 3 };

typedef struct chain_data {
  bench_job *job;
  int64_t n;
  updates updates;
  double *b,   /* [n] right-hand side */
    *x,        /* [n] solution */
    *ax;       /* [n] product of the matrix and x */
  double *row; /* [n] sum over the updates of the magnitudes in each row */
  chain osla[CHAIN_OSLA], scalapack[CHAIN_SCALAPACK], ga[CHAIN_GA];
} chain_data;

enum { CHAIN_SEED = 2 };

/* Element i of the right-hand side. The signature is that of osla_matrix_fill_with. */
static inline double chain_right_side(int64_t i, int64_t j, void *unused)
{
  (void)unused;
  return osla_random_uniform(CHAIN_SEED, (uint64_t)i, (uint64_t)j);
}

/* Set the functions of an implementation, whose members `all`, `h` and `job` are set. Local.
 * chain_osla.c: OSLA on a matrix of its own, on memory of the caller, or on a Global Array.
 * chain_scalapack.c: MPI_Accumulate, pdgetrf, pdgetrs. chain_ga.c: accumulates of Global Arrays and
 * GA_Lu_solve. */
void chain_osla_make(chain *c, hessian_accumulator *accumulator);
void chain_scalapack_make(chain *c, hessian_window *window);
void chain_ga_make(chain *c, hessian_ga *ga);

#endif
