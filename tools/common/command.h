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
  OSLA_EXIT_FAILED = 1, /* the work failed: MPI error, numerical failure, failed self-test */
  OSLA_EXIT_USAGE = 2   /* the input is wrong: options, files, sizes that exceed the memory */
};

/* The sub-commands. Those of the tomography are in apps/tomography/tomography.h. */
int command_info(int argc, char **argv);
int command_assemble(int argc, char **argv);
int command_solve(int argc, char **argv);

/* Runs the osla command: argv[1] names the sub-command, or asks for help or the version. Starts
 * and ends MPI for a sub-command that needs it. Returns the exit status, the same on all ranks. */
int command_run(int argc, char **argv);

typedef struct command_line {
  const char *name;     /* name of the sub-command; "-bench gemm" for osla-bench gemm */
  const char *synopsis; /* usage after "osla NAME" in the help; NULL: "[OPTION...]" */
  const char *about;    /* description below the usage line, at most 900 bytes */
  const char *after;    /* last lines of the help, such as examples; may be NULL */
  /* popt's table without the help option, ended by POPT_TABLEEND; values are stored through `arg`;
   * `val` must be 0 */
  const struct poptOption *options;
  bool takes_arguments; /* true: words that are not options, such as files, are accepted */
  char **arguments; /* [n_arguments] those words; set by command_parse, freed by command_release */
  int n_arguments;
  char **owned;
  int n_owned;
} command_line;

/* Parses argv with popt on every rank; rank 0 writes. Adds -h/--help, and --transport, which sets
 * OSLA_TRANSPORT for the transports that the command will make. Errors are an unknown option, a
 * missing value, a value of the wrong type, a whole number that begins with 0 (popt would read it
 * as octal), and an argument that is not an option unless takes_arguments. An option of type
 * POPT_ARG_ARGV may be given several times; its value must be NULL before the call. Returns true
 * if the command shall run; false after help (*status = OSLA_EXIT_OK) or an error
 * (OSLA_EXIT_USAGE). Strings stored through POPT_ARG_STRING or POPT_ARG_ARGV live until
 * command_release. Local; the same result on all ranks, which have the same argv. */
bool command_parse(command_line *line, int argc, char **argv, int *status);

/* True if "OPTION" or "OPTION=..." is among the words. Commands use it to reject options that
 * would have no effect. Local. */
bool command_is_given(int argc, char **argv, const char *option);

/* Takes ownership of malloc'ed memory, such as a text made from options, until command_release.
 * Frees it and returns false if memory is missing. Local. */
bool command_own_memory(command_line *line, char *text);

/* Frees strings and arguments of a parsed line. Local. */
void command_release(command_line *line);

/* Parses a process grid "PxQ" ("2x3", "2 x 3"). `option` ("--grid") names it in the error line. P
 * * Q must be at most `size`; ranks outside of the grid own no elements but take part in all
 * collective calls. Returns OSLA_EXIT_OK, or OSLA_EXIT_USAGE after the error line. Local. */
int command_parse_grid(const char *name, const char *option, const char *text, int size, int *nprow,
                       int *npcol);

/* Writes "osla NAME: TEXT" on rank 0 in one write, and returns OSLA_EXIT_USAGE, so that a check
 * can end with `return command_error("invert", "--damping: %g is negative", d)`. NAME may be NULL;
 * a NAME that starts with '-' follows "osla" without a blank and names another program. For errors
 * that all ranks see; the caller passes a failure of some ranks through osla_agree first. Local. */
int command_error(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the text of the latest osla_err as command_error does, and returns its exit status:
 * OSLA_EXIT_USAGE for ARG, MEM, RANGE, IO and UNSUPPORTED, OSLA_EXIT_FAILED for MPI and STATE,
 * OSLA_EXIT_OK without a line for OSLA_OK. After an MPI error the ranks cannot agree any more: the
 * failing rank writes the line and ends all ranks. Local. */
int command_fail(const char *name, osla_err err);

/* Returns the largest status of all ranks. Collective on MPI_COMM_WORLD. */
int command_agree(int status);

/* Checks that all ranks have the same command line; the error line names the first word that
 * differs. Returns OSLA_EXIT_OK, or OSLA_EXIT_USAGE on all ranks. Collective on MPI_COMM_WORLD; a
 * rank that has already ended cannot be detected. */
int command_same_line(const char *name, int argc, char **argv);

/* Prepares the process at the start of main, before MPI. A closed standard stream gets a
 * descriptor that refuses the transfer, so that no file of the job gets its number. SIGXFSZ and
 * SIGPIPE are ignored, so that a write beyond `ulimit -f` or to a closed pipe is an error instead
 * of the end of the process. SIGCHLD gets its default action, so that exit statuses of child
 * processes are available. Local. */
void command_prepare_process(void);

/* The thread level for MPI_Init_thread: MPI_THREAD_MULTIPLE only if several threads may call MPI
 * at the same time, because with it Open MPI's osc pt2pt refuses windows, and over TCP it may be
 * the only one; else MPI_THREAD_SERIALIZED, which suffices for threads that only call OSLA
 * (osla_transport.h).
 *   beside [in] part of an option that requires MULTIPLE together with --threads; --progress-
 *   thread alone requires it
 *   tries  [in] true if the command wants MULTIPLE in any case
 * Local. */
int command_thread_level(int argc, char **argv, const char *beside, bool tries);

/* Starts MPI with command_thread_level, and registers its end. Before, it checks that there is
 * memory for the buffers of the BLAS. Unless the environment has settings, it sets large segments
 * for UCX over TCP (doc/clusters.md). `name` as for command_error. Returns OSLA_EXIT_OK, or the
 * exit status after the error line; the same on all ranks with the same limits. */
int command_start_mpi(const char *name, int argc, char **argv, const char *beside, bool tries);

/* Flushes standard output at the end of main or of the job. Returns `status`; if that is
 * OSLA_EXIT_OK and the output could not be written, OSLA_EXIT_USAGE after the error line. A closed
 * pipe, as after `| head`, is no error. Local; only rank 0 has written. */
int command_flush_output(const char *name, int status);

/* The rank in MPI_COMM_WORLD while MPI is initialized, else the rank in the launcher's
 * environment, else 0. Local. */
int command_rank(void);

/* Writes a JSON document (indent 2, newline at the end) atomically (new_file.h); that of a
 * simulation names the simulated machine. `root` is borrowed; NULL: there was no memory for it.
 * Local. */
osla_err command_json(const char *file, json_t *root);

/* A JSON number, or null for NaN and infinity. Local. */
json_t *command_number(double value);

/* A JSON string, null for NULL, or "(not UTF-8)" for a text that is not UTF-8. Local. */
json_t *command_string(const char *text);

/* Writes a JSON document on rank 0, as command_json does. `root` is borrowed and read on rank 0
 * only; NULL: there was no memory for it. Collective on MPI_COMM_WORLD. Returns OSLA_EXIT_OK, or
 * OSLA_EXIT_USAGE on all ranks after the error line. */
int command_write_json(const char *name, const char *file, json_t *root);

typedef struct command_text {
  char s[40];
} command_text;

/* Numbers as text: "512 bytes", "1.5 MiB"; "0.35 us", "12 ms", "3.1 s", "4 min 05 s". Use as
 * format_bytes(...).s. Local. */
command_text format_bytes(uint64_t bytes);
command_text format_seconds(double seconds);

typedef struct command_cpu {
  osla_host host;      /* name of the host, cores that its ranks share */
  int threads;         /* BLAS threads of each rank, see command_cpu_examine */
  bool chosen_by_user; /* true if OPENBLAS_NUM_THREADS or OMP_NUM_THREADS is set */
} command_cpu;

/* Examines the host. `threads` becomes the present number of BLAS threads if the user set
 * OPENBLAS_NUM_THREADS or OMP_NUM_THREADS, else max(1, cores / ranks). Changes no setting.
 * Collective on comm; the result may differ between hosts. Errors: MPI, MEM. */
osla_err command_cpu_examine(MPI_Comm comm, command_cpu *out);

/* Sets the BLAS to cpu->threads threads (osla_blas_set_threads), unless the user chose. Local. */
void command_cpu_apply(const command_cpu *cpu);

/* Returns the exit status for main; ends the process at once if the BLAS would hang at exit.
 * Local.
 */
int command_exit(int status);

#endif
