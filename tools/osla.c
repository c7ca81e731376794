/* The `osla` command: finds the sub-command, starts and ends MPI for it. */
#include "config.h"

#include "apps/tomography/tomography.h"
#include "osla_armci.h"
#include "osla_shmem.h"
#include "tools/common/command.h"

#ifdef HAVE_HDF5
#include <hdf5.h>
#endif
#include <stdio.h>
#include <string.h>

static int run_help(int argc, char **argv);

/* A sub-command. If needs_mpi is true, it runs between MPI_Init_thread and MPI_Finalize. */
typedef struct command {
  const char *name;
  const char *summary;
  int (*run)(int argc, char **argv);
  bool needs_mpi;
} command;

static const command commands[] = {
  {"info", "look at this machine and MPI, and test what OSLA relies on", command_info, true},
  {"invert", "surface-wave tomography: assemble, factor and solve in one job", command_invert,
   true},
  {"assemble", "sum updates from HDF5 files into a matrix H and a vector g", command_assemble,
   true},
  {"solve", "factor H and solve H x = g, from a file to a file", command_solve, true},
  {"reference", "velocities and depth kernels of surface waves, as a table for invert",
   command_reference, false},
  {"help", "show this text, or the help of a command: osla help info", run_help, false},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const command *find_command(const char *name)
{
  for (int i = 0; i < N_COMMANDS; i++)
    if (strcmp(commands[i].name, name) == 0) return &commands[i];
  return NULL;
}

static int unknown_command(const char *name)
{
  return command_error(NULL, "%s: unknown %s (see osla help)", name,
                       name[0] == '-' ? "option" : "command");
}

static void print_help(FILE *out)
{
  if (command_rank() != 0) return;
  (void)fprintf(out, "Usage: osla COMMAND [OPTION...]\n"
                     "       mpiexec -n RANKS osla COMMAND [OPTION...]\n\n"
                     "One-sided linear algebra: assemble a large matrix and solve with it, by MPI "
                     "RMA.\n\nCommands:\n");
  for (int i = 0; i < N_COMMANDS; i++)
    (void)fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
  (void)fprintf(out, "\nOptions:\n"
                     "  --help     show this text\n"
                     "  --version  show the version\n\n"
                     "osla COMMAND --help shows the options of a command.\n");
}

/* Silences HDF5 after a failure. The command has already reported the error; HDF5 1.10 may print
 * another line ("infinite loop closing library") when MPI_Finalize ends HDF5 after a damaged file.
 */
static void silence_hdf5(void)
{
#ifdef HAVE_HDF5
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
#endif
}

/* Runs a sub-command, between start and end of MPI if it needs MPI. Returns the exit status, the
 * same on all ranks. */
static int run_command(const command *found, int argc, char **argv)
{
  if (!found->needs_mpi) return found->run(argc, argv);
  bool tries_threads = found->run == command_info;
  int status = command_start_mpi(found->name, argc, argv, "--checkpoint", tries_threads);
  if (status != OSLA_EXIT_OK) return status;
  status = command_same_line(found->name, argc, argv);
  if (status == OSLA_EXIT_OK)
    status = command_agree(command_flush_output(found->name, found->run(argc, argv)));
  if (status != OSLA_EXIT_OK) silence_hdf5();
  (void)MPI_Finalize();
  return status;
}

static int run_help(int argc, char **argv)
{
  if (argc < 2) {
    print_help(stdout);
    return command_flush_output(NULL, OSLA_EXIT_OK);
  }
  const command *found = find_command(argv[1]);
  if (!found) return unknown_command(argv[1]);
  if (found->run == run_help) return run_help(1, argv);
  char *help_argv[] = {argv[1], "--help", NULL};
  return run_command(found, 2, help_argv);
}

int command_run(int argc, char **argv)
{
  command_prepare_process();
  if (argc < 2) return command_error(NULL, "no command (see osla help)");
  const char *name = argv[1];
  /* These calls fail in builds without ARMCI or OpenSHMEM, which lack the transports armci or
   * shmem.
   */
  (void)osla_armci_offer();
  (void)osla_shmem_offer();
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return run_help(1, argv);
  if (strcmp(name, "--version") == 0) {
    if (command_rank() == 0) (void)printf("osla %s\n", PACKAGE_VERSION);
    return command_flush_output(NULL, OSLA_EXIT_OK);
  }
  const command *found = find_command(name);
  if (!found) return unknown_command(name);
  return run_command(found, argc - 1, argv + 1);
}
