/* Runs many command lines in one process: see run_lines.c. */
#ifndef RUN_LINES_H
#define RUN_LINES_H

/* A command that starts and ends MPI, and returns its exit status. Its first word is argv[1]. */
typedef int line_runner(int argc, char **argv);

/* The body of the main program that runs many command lines with `run`. Returns its exit status. */
int run_lines(int argc, char **argv, line_runner *run);

#endif
