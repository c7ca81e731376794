/* `osla solve`: H x = g, or a sparse A x = b, from a file to a file (layer 4). */
#ifndef OSLA_SOLVE_COMMAND_H
#define OSLA_SOLVE_COMMAND_H

#include "osla_unstable.h"
#include "tools/common/command.h"

/* Largest scaled residual for exit status 0, as in HPL. It tests the solver and not H: a backward
 * stable solver has a residual of order 1 for any condition of H. */
#define SOLVE_RESIDUAL_MOST 16.0

#define SOLVE_GOOD "good" /* verdict of a good solution; any other text is the defect of x */

typedef enum solve_method {
  SOLVE_CHOLESKY,
  SOLVE_LU,
  SOLVE_MIXED,
  SOLVE_CG, /* SOLVE_CG and the following are for sparse matrices */
  SOLVE_LSQR,
  SOLVE_CHOSEN /* default: cholesky for H; cg or lsqr depending on the sparse matrix */
} solve_method;

typedef struct solve_options {
  char *input, *output, *json, *rhs;
  bool quiet;
  solve_method method;
  double damping, tolerance;
  long long iterations, block; /* block: size of the blocks of block-Jacobi; 0: no preconditioner */
  bool sparse;                 /* true if the input is a Matrix Market file */
  long long nb;
  int nprow, npcol; /* process grid; 0: chosen by the library */
} solve_options;

const char *solve_method_name(solve_method method);

/* Parses the command line. Returns false after help or an error; *status as in command.h. */
bool solve_parse(int argc, char **argv, int ranks, solve_options *options, command_line *line,
                 int *status);

/* Result of a solver, for the JSON report and the exit status. */
typedef struct solve_report {
  json_t *root;      /* JSON report on rank 0, owned by the caller; NULL on other ranks */
  char verdict[120]; /* SOLVE_GOOD, or the defect of x */
} solve_report;

/* Solves a sparse system and writes and prints the results (solve_sparse.c). Collective. */
osla_err solve_sparse(osla_transport *transport, const solve_options *options,
                      solve_report *report);

#endif
