/* `osla solve`: solves H x = g, or a sparse system A x = b; the input is a file, and so is the
 * output (layer 4). */
#ifndef OSLA_SOLVE_COMMAND_H
#define OSLA_SOLVE_COMMAND_H

#include "osla_unstable.h"
#include "tools/common/command.h"

/* Largest scaled residual for which the exit status is 0, as in HPL. It tests the solver and not
 * the condition of H: with a backward stable solver the scaled residual is of order 1 for any
 * condition number. */
#define SOLVE_RESIDUAL_MOST 16.0

/* verdict of a good solution; any other verdict names the defect of x */
#define SOLVE_GOOD "good"

typedef enum solve_method {
  SOLVE_CHOLESKY,
  SOLVE_LU,
  SOLVE_MIXED,
  SOLVE_CG, /* SOLVE_CG and SOLVE_LSQR are for sparse matrices */
  SOLVE_LSQR,
  /* default: SOLVE_CHOLESKY for dense H; for a sparse matrix CG or LSQR, depending on its
   * symmetry */
  SOLVE_CHOSEN
} solve_method;

typedef struct solve_options {
  char *input, *output, *json, *rhs;
  /* 0 or 1, int because popt sets them. quiet: no report on standard output. full: H is stored as
   * a square, also where the lower triangle is enough. */
  int quiet, full;
  solve_method method;
  double damping, tolerance;
  /* block: size of the diagonal blocks of the block-Jacobi preconditioner; 0: no preconditioner */
  long long iterations, block;
  /* true if the input is a Matrix Market file, which holds a sparse matrix */
  bool sparse;
  long long nb;
  int nprow, npcol; /* process grid; 0: chosen by the library */
} solve_options;

const char *solve_method_name(solve_method method);

/* Parses the command line. Returns false after help or an error, with the exit status in *status as
 * command_parse does (command.h). */
bool solve_parse(int argc, char **argv, int ranks, solve_options *options, command_line *line,
                 int *status);

/* Result of a solver, for the JSON report and the exit status. */
typedef struct solve_report {
  json_t *root;      /* JSON report on rank 0, owned by the caller; NULL on other ranks */
  char verdict[120]; /* SOLVE_GOOD, or a text about the defect of x */
} solve_report;

/* Solves a sparse system, writes the solution and prints the results (solve_sparse.c). Collective.
 */
osla_err solve_sparse(osla_transport *transport, const solve_options *options,
                      solve_report *report);

#endif
