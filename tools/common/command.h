/* What the sub-commands of `osla` share: options, errors, exit statuses, texts, cores (floor 4).
 *
 * A sub-command is `int command_NAME(int argc, char **argv)`, argv[0] being its name. Every
 * rank calls it, after MPI_Init_thread and before MPI_Finalize, which are main's. It returns one of
 * the exit statuses below, the same on all ranks. Shape of one:
 *
 *   command_line line = {.name = "info", .about = "...", .options = table};
 *   int status;
 *   if (!command_parse(&line, argc, argv, &status)) return status;
 *   ...
 *   command_release(&line);
 *
 * Only rank 0 writes help and errors; an error is one line "osla NAME: TEXT" on stderr.
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
  OSLA_EXIT_FAILED = 1, /* the work went wrong: MPI, numerical failure, a failed self-test */
  OSLA_EXIT_USAGE = 2   /* the input is wrong: options, files, sizes that do not fit */
};

/* The sub-commands; those of the tomography are in apps/tomography/tomography.h. */
int command_info(int argc, char **argv);
int command_assemble(int argc, char **argv);
int command_solve(int argc, char **argv);

/* Runs a line of the osla command: argv[1] names the sub-command, or asks for help or the version.
 * Starts MPI for a sub-command that needs it, and ends it. Returns the exit status, the same on all
 * ranks. */
int command_run(int argc, char **argv);

/* --- options --- */

typedef struct command_line {
  const char *name;                 /* of the sub-command; "-bench gemm": of osla-bench gemm */
  const char *synopsis;             /* after "osla NAME" in the help; NULL: "[OPTION...]" */
  const char *about;                /* what it does: below the usage line, at most 900 bytes */
  const char *after;                /* last lines of the help (examples); may be NULL */
  const struct poptOption *options; /* popt's table without help, ended by POPT_TABLEEND; values are
                                       stored through `arg`; `val` must be 0 */
  bool takes_arguments;             /* words that are not options, such as files, are no error: */
  char **arguments;                 /* filled in by command_parse, freed by command_release */
  int n_arguments;
  char **owned;
  int n_owned;
} command_line;

/* Parses argv with popt on every rank; rank 0 writes. Adds -h/--help and --transport, which sets
 * OSLA_TRANSPORT for the transports that the command will make. An option that is not known,
 * lacks its value or has one of the wrong type, or a whole number that begins with 0 (popt would
 * take it for an octal one), is an error; so is an argument that is not an
 * option, unless the command takes them. An option of type POPT_ARG_ARGV may come several times;
 * its value is NULL before. Returns true to go on; false after help (*status =
 * OSLA_EXIT_OK) or an error (OSLA_EXIT_USAGE). Strings stored through POPT_ARG_STRING or
 * POPT_ARG_ARGV live until command_release. Local; the same result on all ranks, as they have
 * the same argv. */
bool command_parse(command_line *line, int argc, char **argv, int *status);

/* Is there "OPTION" or "OPTION=..." among the words? For options that would say how something is
 * done which is not done. Local. */
bool command_is_given(int argc, char **argv, const char *option);

/* Hands over what malloc gave, such as a text that is made of options: it lives until
 * command_release. False, and freed, without memory. Local. */
bool command_keep(command_line *line, char *text);

/* Frees the option strings. Local. */
void command_release(command_line *line);

/* Parses a process grid "PxQ" ("2x3", "2 x 3"). `option` ("--grid") names it in the error line.
 * P * Q must be at most `size`: ranks beyond the grid own nothing, and do what else there is to do.
 * One rule for all commands. Returns OSLA_EXIT_OK, or OSLA_EXIT_USAGE after the error. Local. */
int command_parse_grid(const char *name, const char *option, const char *text, int size, int *nprow,
                       int *npcol);

/* --- errors and exit --- */

/* On rank 0, writes "osla NAME: TEXT" (NAME may be NULL; one that starts with '-' follows "osla"
 * without a blank: another program) in one write; returns OSLA_EXIT_USAGE, so
 * that a check can end with `return command_error("invert", "--damping: %g is negative", d)`.
 * For errors that all ranks see; a failure of some ranks goes through osla_agree first. Local. */
int command_error(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with the text of the latest osla_err; returns its exit status: OSLA_EXIT_USAGE for ARG,
 * MEM, RANGE, IO and UNSUPPORTED, OSLA_EXIT_FAILED for MPI and STATE, OSLA_EXIT_OK (and writes
 * nothing) for OSLA_OK. After MPI it ends all ranks, since nothing can be agreed upon any more: the
 * rank that failed writes the line. Local. */
int command_fail(const char *name, osla_err err);

/* The largest of the ranks' statuses. Collective on MPI_COMM_WORLD. */
int command_agree(int status);

/* All ranks must have been started with the same line: the error names the first word that differs.
 * Returns OSLA_EXIT_OK, or OSLA_EXIT_USAGE on all ranks after the line. Collective on
 * MPI_COMM_WORLD; what differs before that (a rank that has ended) it cannot see. */
int command_same_line(const char *name, int argc, char **argv);

/* At the begin of main, before MPI: a standard stream that is closed gets a descriptor on which
 * writing fails, so that no file of the job takes its number; a write beyond `ulimit -f` or to a
 * pipe that nobody reads shall be an error and not end the process (SIGXFSZ, SIGPIPE); how a
 * process ended that this one started can be known, also if a shell ignores SIGCHLD. Local. */
void command_begin(void);

/* What to ask MPI_Init_thread for: MPI_THREAD_MULTIPLE only where threads meet in MPI (with it Open
 * MPI's osc pt2pt refuses windows, and over TCP it may be the only one); else
 * MPI_THREAD_SERIALIZED, which is enough for threads that only call OSLA (osla_transport.h).
 *   beside [in] the word within an option that, together with --threads, says they do; as
 *               --progress-thread says alone
 *   tries  [in] would the command try it anyhow?
 * Local. */
int command_thread_level(int argc, char **argv, const char *beside, bool tries);

/* Starts MPI with that level, and arranges its end. Before: is there room for what the BLAS needs?
 * Where the environment says nothing of it, UCX gets large pieces for TCP (doc/clusters.md).
 * `name` as for command_error. Returns OSLA_EXIT_OK, or the exit status after the error. The
 * same on all ranks whose limits are. */
int command_start_mpi(const char *name, int argc, char **argv, const char *beside, bool tries);

/* At the end of main, or of the job: writes what is left of standard output. Returns status, or,
 * if it is OSLA_EXIT_OK and something could not be written, OSLA_EXIT_USAGE after the error line.
 * A pipe whose reader has left, as `head` does, is no error. Local; rank 0 is the one that
 * writes. */
int command_end(const char *name, int status);

/* My rank: of MPI_COMM_WORLD while MPI is up, else what the launcher's environment says (0 when it
 * says nothing). Local. */
int command_rank(void);

/* Writes a JSON document (2 blanks of indent, newline at the end), all at once (new_file.h); one of
 * a simulation says that it is. `root` is borrowed; NULL: there was no memory for it. Local. */
osla_err command_json(const char *file, json_t *root);

/* A number, or null where JSON has none for it (NaN, infinity). Local. */
json_t *command_number(double value);

/* The same on rank 0. `root` is borrowed and read on rank 0 only; NULL: there was no memory for it.
 * Collective on MPI_COMM_WORLD. Returns OSLA_EXIT_OK, or OSLA_EXIT_USAGE on all ranks after the
 * error line. */
int command_write_json(const char *name, const char *file, json_t *root);

/* --- texts --- */

typedef struct command_text {
  char s[40];
} command_text;

/* "512 bytes", "1.5 MiB"; "0.35 us", "12 ms", "3.1 s", "4 min 05 s". Use as format(...).s. */
command_text format_bytes(uint64_t bytes);
command_text format_seconds(double seconds);

/* --- cores and threads --- */

typedef struct command_cpu {
  osla_host host;      /* its name, and the cores that its ranks share */
  int threads;         /* for the BLAS of each rank: see below */
  bool chosen_by_user; /* OPENBLAS_NUM_THREADS or OMP_NUM_THREADS is set */
} command_cpu;

/* Looks at the host. `threads` is what the BLAS has when the user set OPENBLAS_NUM_THREADS or
 * OMP_NUM_THREADS, else max(1, cores / ranks). Changes nothing. Collective on comm; may
 * differ by host. Errors: MPI, MEM. */
osla_err command_cpu_look(MPI_Comm comm, command_cpu *out);

/* Gives the BLAS out->threads threads (osla_blas_set_threads), unless the user chose. Local. */
void command_cpu_apply(const command_cpu *cpu);

/* What main returns: status; or ends the process at once where the BLAS would hang at exit. Local.
 */
int command_leave(int status);

#endif
