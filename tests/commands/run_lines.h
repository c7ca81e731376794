/* Runs lines of a command in one process: see run_lines.c. */
#ifndef RUN_LINES_H
#define RUN_LINES_H

/* A command that starts and ends MPI; returns its exit status. argv[1] is its first word. */
typedef int line_runner(int argc, char **argv);

/* The body of main; returns its exit status. */
int run_lines(int argc, char **argv, line_runner *run);

#endif
