/* `osla info`: shows this machine, its MPI and BLAS, and tests the functions that OSLA relies on.
 */
#include "tools/info/info.h"
#include "osla_matrix.h"
#include "tools/common/command_files.h"

#include <stdio.h>
#include <string.h>

static const char about[] =
  "Shows the ranks, nodes, libraries and memory of this job, tests what OSLA relies\n"
  "on, and reports what this MPI can and cannot do. Run it the way you\n"
  "run your jobs:  mpiexec -n 4 osla info";

static const char after[] =
  "Exit status: 0 when OSLA can work here, 1 when a test that it relies on fails,\n"
  "2 when the options are wrong or the JSON file cannot be written.\n";

/* Runs all tests and prints the report. Collective; returns the same exit status on all ranks. */
static int run_tests(osla_transport *t, const info_system *system, const char *json_file,
                     int limit_seconds)
{
  info_findings findings;
  memset(&findings, 0, sizeof findings);
  if (system->rank == 0) info_print_system(system);

  /* speeds are not measured in a simulation: they would be those of the machine description */
  bool simulated = osla_simulated_machine();
  info_watchdog *dog = simulated ? NULL : info_watchdog_start(system->rank, limit_seconds);
  if (info_test_transport(t, dog, &findings)) info_test_mpi(t, system, dog, &findings);
  if (!info_first_failure(&findings) && !simulated) info_measure_speed(t, system, dog, &findings);
  if (!info_first_failure(&findings)) info_test_devices(t, dog, &findings);
  info_watchdog_stop(dog);

  if (system->rank == 0) info_print_findings(system, &findings);
  int status = OSLA_EXIT_OK;
  if (json_file) {
    json_t *root = system->rank == 0 ? info_json(system, &findings) : NULL;
    status = command_write_json("info", json_file, root);
    json_decref(root);
  }
  const info_test *failed = info_first_failure(&findings);
  if (!failed) return status;
  (void)command_error("info", "FAILED: %s: %s", failed->name, failed->text);
  return OSLA_EXIT_FAILED;
}

int command_info(int argc, char **argv)
{
  char *json_file = NULL;
  int limit = 60, predict = 0;
  info_job job = {INFO_UNSET, INFO_UNSET, INFO_UNSET, INFO_UNSET};
  const struct poptOption options[] = {
    {"json", '\0', POPT_ARG_STRING, &json_file, 0, "Also write the findings to FILE as JSON",
     "FILE"},
    {"limit", '\0', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &limit, 0,
     "End with an error when a test takes longer", "SECONDS"},
    {"predict", '\0', POPT_ARG_NONE, &predict, 0,
     "Run no tests: show the memory that a job would need", NULL},
    {"ranks", '\0', POPT_ARG_LONGLONG, &job.ranks, 0, "--predict: number of ranks", "P"},
    {"per-node", '\0', POPT_ARG_LONGLONG, &job.per_node, 0, "--predict: ranks on each node", "R"},
    {"n", 'n', POPT_ARG_LONGLONG, &job.n, 0, "--predict: order of the matrix", "N"},
    {"nb", '\0', POPT_ARG_LONGLONG, &job.nb, 0, "--predict: block size (default: 96)", "N"},
    POPT_TABLEEND};
  command_line line = {.name = "info", .about = about, .after = after, .options = options};
  int status;
  if (!command_parse(&line, argc, argv, &status)) return status;
  if (limit < 1) {
    command_release(&line);
    return command_error("info", "--limit: %d is not a positive number of seconds", limit);
  }

  const long long given[] = {job.ranks, job.per_node, job.n, job.nb};
  for (int i = 0; i < 4 && !predict; i++)
    if (given[i] != INFO_UNSET) {
      command_release(&line);
      return command_error("info", "%s requires --predict",
                           (const char *const[]){"--ranks", "--per-node", "--n", "--nb"}[i]);
    }

  const command_file file = {"--json", json_file, OSLA_FILE_REPLACED, 0};
  if (command_rank() == 0) status = command_fail("info", command_check_files(&file, 1));
  status = command_agree(status);
  if (status != OSLA_EXIT_OK) {
    command_release(&line);
    return status;
  }

  if (predict) {
    if (job.nb == INFO_UNSET) job.nb = OSLA_DEFAULT_BLOCK;
    status = info_predict(&job, json_file);
    command_release(&line);
    return status;
  }

  command_cpu cpu;
  osla_transport *t = NULL;
  info_system system = {0};
  osla_err err = command_cpu_examine(MPI_COMM_WORLD, &cpu);
  if (err == OSLA_OK) {
    command_cpu_apply(&cpu);
    osla_transport_options transport_options = {.threads_per_rank = cpu.threads};
    err = osla_transport_create(MPI_COMM_WORLD, &transport_options, &t);
  }
  if (err == OSLA_OK) err = info_system_examine(t, &system);
  status = err == OSLA_OK ? run_tests(t, &system, json_file, limit) : command_fail("info", err);
  info_system_free(&system);
  osla_transport_destroy(&t);
  command_release(&line);
  return status;
}
