/* `osla solve`: H x = g, from a file to a file (floor 4). */
#ifndef OSLA_SOLVE_COMMAND_H
#define OSLA_SOLVE_COMMAND_H

#include "command.h"
#include "osla.h"

/* The scaled residual of a solution that is written with exit status 0 is at most this (as HPL's).
 * It judges the way of solving and not H: a backward stable one has it of order 1 whatever the
 * condition of H. */
#define SOLVE_RESIDUAL_MOST 16.0

typedef enum solve_method { SOLVE_CHOLESKY, SOLVE_LU, SOLVE_MIXED } solve_method;

typedef struct solve_options {
  char *input, *output, *json;
  bool quiet;
  solve_method method;
  double damping;
  long long nb;
  int nprow, npcol; /* 0: chosen */
} solve_options;

const char *solve_method_name(solve_method method);

/* Parses the command line. Returns false after help or an error; *status as in command.h. */
bool solve_parse(int argc, char **argv, int ranks, solve_options *options, osla_command_line *line,
                 int *status);

#endif
