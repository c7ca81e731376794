/* `osla solve`: H x = g, or a sparse A x = b, from a file to a file (floor 4). */
#ifndef OSLA_SOLVE_COMMAND_H
#define OSLA_SOLVE_COMMAND_H

#include "osla_unstable.h"
#include "tools/common/command.h"

/* The scaled residual of a solution that is written with exit status 0 is at most this (as HPL's).
 * It judges the way of solving and not H: a backward stable one has it of order 1 whatever the
 * condition of H. */
#define SOLVE_RESIDUAL_MOST 16.0

#define SOLVE_GOOD "good" /* the verdict, or what is wrong with x */

typedef enum solve_method {
  SOLVE_CHOLESKY,
  SOLVE_LU,
  SOLVE_MIXED,
  SOLVE_CG, /* this and the rest: of sparse matrices */
  SOLVE_LSQR,
  SOLVE_CHOSEN /* cholesky of H; of sparse matrices by what they are */
} solve_method;

typedef struct solve_options {
  char *input, *output, *json, *rhs;
  bool quiet;
  solve_method method;
  double damping, tolerance;
  long long iterations, block; /* block of Jacobi, 0: none */
  bool sparse;                 /* input is a Matrix Market file */
  long long nb;
  int nprow, npcol; /* 0: chosen */
} solve_options;

const char *solve_method_name(solve_method method);

/* Parses the command line. Returns false after help or an error; *status as in command.h. */
bool solve_parse(int argc, char **argv, int ranks, solve_options *options, command_line *line,
                 int *status);

/* solve.c: writes the JSON report (root of rank 0, which is freed), and says what is wrong with x;
 * the exit status. Collective. */
int solve_finish(const solve_options *options, osla_err err, json_t *root, const char *verdict);

/* solve_sparse.c: the whole of it; returns the exit status. Collective. */
int solve_sparse(osla_transport *transport, const solve_options *options);

#endif
