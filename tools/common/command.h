/* Common parts of the sub-commands of `osla`: options, errors, exit statuses, texts, cores (layer
 * 4).
 *
 * A sub-command is `int command_NAME(int argc, char **argv)`, with argv[0] its name. Every rank
 * calls it between MPI_Init_thread and MPI_Finalize, which main calls. It returns one of the exit
 * statuses below, the same on all ranks. Its outline:
 *
 *   command_line line = {.name = "info", .about = "...", .options = table};
 *   int status;
 *   if (!command_parse(&line, argc, argv, &status)) return status;
 *   ...
 *   command_release(&line);
 *
 * Only rank 0 writes help and errors. An error is one line "osla NAME: TEXT" on stderr.
 */
#ifndef OSLA_COMMAND_H
#define OSLA_COMMAND_H

#include <jansson.h>
#include <popt.h>
#include <stdbool.h>
#include <stdint.h>

#include "osla_host.h"
#include "osla_transport.h"

enum {
  OSLA_EXIT_OK = 0,
  /* exit status if the work failed: MPI error, numerical failure, or failed self-test */
  OSLA_EXIT_FAILED = 1,
  /* exit status if the input is wrong: options, files, or sizes that exceed the memory */
  OSLA_EXIT_USAGE = 2
};

/* The sub-commands. The sub-commands of the tomography are declared in
 * apps/tomography/tomography.h. */
int command_info(int argc, char **argv);
int command_assemble(int argc, char **argv);
int command_solve(int argc, char **argv);

/* Runs the osla command: argv[1] names the sub-command, or asks for help or the version. Starts
 * and ends MPI for a sub-command that needs it. Returns the exit status, the same on all ranks. */
int command_run(int argc, char **argv);

typedef struct command_line {
  const char *name;     /* name of the sub-command; "-bench gemm" for osla-bench gemm */
  const char *synopsis; /* usage after "osla NAME" in the help; NULL: "[OPTION...]" */
  const char *about;    /* description below the usage line, at most 1900 bytes */
  const char *after;    /* last lines of the help, such as examples; may be NULL */
  /* popt's table without the help option, ended by POPT_TABLEEND; values are stored through `arg`;
   * `val` must be 0 */
  const struct poptOption *options;
  bool takes_arguments; /* true: words that are not options, such as files, are accepted */
  /* [n_arguments] the accepted words that are not options; set by command_parse, freed by
   * command_release */
  char **arguments;
  int n_arguments;
  char **owned;
  int n_owned;
} command_line;

/* Parses argv with popt on every rank; rank 0 writes help and errors. Adds -h/--help, and
 * --transport, which sets OSLA_TRANSPORT for the transports that the command will make. Errors are
 * an unknown option, a missing value, a value of the wrong type, a whole number that begins with 0
 * (popt would read it as octal), and an argument that is not an option unless takes_arguments is
 * set. An option of type POPT_ARG_ARGV may be given several times; its variable must be NULL before
 * the call. Returns true if the command shall run; false after help (*status = OSLA_EXIT_OK) or an
 * error (OSLA_EXIT_USAGE). Strings stored through POPT_ARG_STRING or POPT_ARG_ARGV live until
 * command_release. Local; the same result on all ranks, which have the same argv. */
bool command_parse(command_line *line, int argc, char **argv, int *status);

/* Returns true if "OPTION" or "OPTION=..." is among the words of the command line. Commands use it
 * to reject options that would have no effect. Local. */
bool command_is_given(int argc, char **argv, const char *option);

/* Takes ownership of malloc'ed memory, such as a text made from options, until command_release. If
 * memory for this is missing, frees the text and returns false. Local. */
bool command_own_memory(command_line *line, char *text);

/* Frees the strings and arguments of a parsed command line. Local. */
void command_release(command_line *line);

/* Parses a process grid P x Q, written as "2x3" or "2 x 3". `option` ("--grid") is the name of the
 * option for the error line. P * Q must be at most `size`; ranks outside of the grid own no
 * elements but take part in all collective calls. Returns OSLA_EXIT_OK, or OSLA_EXIT_USAGE after
 * the error line. Local. */
int command_parse_grid(const char *name, const char *option, const char *text, int size, int *nprow,
                       int *npcol);

/* Writes the error line "osla NAME: TEXT" on rank 0 in one write, and returns OSLA_EXIT_USAGE, so
 * that a check can end with `return command_error("invert", "--damping: %g is negative", d)`. NAME
 * may be NULL; a NAME that starts with '-' follows "osla" without a blank and names another
 * program. The error must occur on all ranks: if only some ranks fail, the caller first calls
 * osla_agree. Local. */
int command_error(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the text of the latest error as command_error does, and returns the exit status for the
 * error code `err`: OSLA_EXIT_USAGE for ARG, MEM, RANGE, IO and UNSUPPORTED, OSLA_EXIT_FAILED for
 * MPI and STATE. For OSLA_OK it writes nothing and returns OSLA_EXIT_OK. After an MPI error the
 * ranks cannot agree any more: the failing rank writes the line and ends all ranks. Local. */
int command_fail(const char *name, osla_err err);

/* Returns the largest status of all ranks. Collective on MPI_COMM_WORLD. */
int command_agree(int status);

/* Checks that all ranks have the same command line; the error line names the first word that
 * differs. Returns OSLA_EXIT_OK, or OSLA_EXIT_USAGE on all ranks. Collective on MPI_COMM_WORLD; if
 * a rank has ended before, the check does not notice it. */
int command_same_line(const char *name, int argc, char **argv);

/* Prepares the process at the start of main, before MPI. If a standard stream is closed, its
 * descriptor is opened in a way that makes transfers fail, so that no file of the job gets its
 * number. SIGXFSZ and SIGPIPE are ignored, so that a write beyond `ulimit -f` or to a closed pipe
 * is an error instead of the end of the process. SIGCHLD gets its default action, so that exit
 * statuses of child processes are available. Local. */
void command_prepare_process(void);

/* Returns the thread level for MPI_Init_thread. MPI_THREAD_MULTIPLE is asked for only if several
 * threads may call MPI at the same time, because with it Open MPI's component osc/pt2pt refuses to
 * create windows, and over TCP there may be no other component. Otherwise the level is
 * MPI_THREAD_SERIALIZED, which suffices for threads that only call OSLA (osla_transport.h).
 *
 *   beside [in] part of the name of an option that, together with --threads, requires MULTIPLE;
 *               --progress-thread requires it alone
 *   tries  [in] true if the command wants MULTIPLE in any case
 *
 * Local. */
int command_thread_level(int argc, char **argv, const char *beside, bool tries);

/* Starts MPI with the level of command_thread_level, and calls osla_farewell_arrange for the end of
 * MPI. First it checks that there is memory for the buffers of the BLAS. It sets large segments for
 * UCX over TCP, unless the environment contains such settings (doc/clusters.md). `name` is the
 * command's name as for command_error. Returns OSLA_EXIT_OK, or the exit status after the error
 * line; the same on all ranks with the same limits. */
int command_start_mpi(const char *name, int argc, char **argv, const char *beside, bool tries);

/* Flushes standard output at the end of main or of the job. Returns `status`. If `status` is
 * OSLA_EXIT_OK and the output cannot be written, it writes an error line and returns
 * OSLA_EXIT_USAGE. A closed pipe, as after `| head`, is no error. Local; only rank 0 has written
 * output. */
int command_flush_output(const char *name, int status);

/* Returns the rank in MPI_COMM_WORLD while MPI is initialized, otherwise the rank in the
 * environment that the launcher has set, or 0 if there is none. Local. */
int command_rank(void);

/* Writes a JSON document (indent 2, newline at the end) atomically (new_file.h). In a simulation
 * the document also names the simulated machine. `root` is borrowed; NULL means that there was no
 * memory for the document. Local. */
osla_err command_json(const char *file, json_t *root);

/* Returns a JSON number, or JSON null for NaN and infinity. Local. */
json_t *command_number(double value);

/* Returns a JSON string, JSON null for NULL, or the string "(not UTF-8)" for a text that is not
 * UTF-8. Local. */
json_t *command_string(const char *text);

/* Writes a JSON document on rank 0, as command_json does. `root` is borrowed, and only rank 0 reads
 * it; NULL means that there was no memory for the document. Collective on MPI_COMM_WORLD. Returns
 * OSLA_EXIT_OK, or OSLA_EXIT_USAGE on all ranks after the error line. */
int command_write_json(const char *name, const char *file, json_t *root);

typedef struct command_text {
  char s[40];
} command_text;

/* Return sizes and times as text: "512 bytes", "1.5 MiB"; "0.35 us", "12 ms", "3.1 s", "4 min 05
 * s". Use as format_bytes(...).s. Local. */
command_text format_bytes(uint64_t bytes);
command_text format_seconds(double seconds);

typedef struct command_cpu {
  osla_host host;      /* name of the host, number of cores that the ranks of the host share */
  int threads;         /* number of BLAS threads of each rank, see command_cpu_examine */
  bool chosen_by_user; /* true if OPENBLAS_NUM_THREADS or OMP_NUM_THREADS is set */
} command_cpu;

/* Examines the host. Sets `threads` to the present number of BLAS threads if the user set
 * OPENBLAS_NUM_THREADS or OMP_NUM_THREADS, otherwise to max(1, cores / ranks of the host). Changes
 * no setting. Collective on comm; the result may differ between hosts. Errors: MPI, MEM. */
osla_err command_cpu_examine(MPI_Comm comm, command_cpu *out);

/* Sets the number of BLAS threads to cpu->threads (osla_blas_set_threads), unless the user has set
 * a number. Local. */
void command_cpu_apply(const command_cpu *cpu);

/* Returns `status`, the exit status for main; ends the process at once if the BLAS would hang at
 * exit. Local. */
int command_exit(int status);

#endif
