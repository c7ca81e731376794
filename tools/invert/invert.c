/* `osla invert`, step by step. */
#include "invert.h"
#include "command.h"

#include <stdio.h>

static osla_err run_steps(invert_job *job)
{
  double start = osla_clock();
  OSLA_CALL(invert_check_output(job));
  OSLA_CALL(invert_read_input(job));
  OSLA_CALL(invert_make_problem(job));
  OSLA_CALL(invert_assemble(job));
  OSLA_CALL(invert_solve(job));
  OSLA_CALL(invert_sample_resolution(job));
  OSLA_CALL(invert_measure_misfit(job));
  OSLA_CALL(invert_write_output(job));
  job->result.wall = osla_clock() - start;
  return invert_print_report(job);
}

static int write_json(invert_job *job)
{
  json_t *root = NULL;
  if (!job->options->json) return OSLA_EXIT_OK;
  osla_err err = invert_report_json(job, &root);
  int status = err == OSLA_OK ? osla_command_write_json("invert", job->options->json, root)
                              : osla_command_fail("invert", err);
  json_decref(root);
  return status;
}

/* Threads for the BLAS: while paths are worked on, each producer thread calls it by itself. */
static void set_blas_threads(const invert_options *o)
{
  osla_cpu cpu;
  if (o->threads > 1)
    osla_blas_set_threads(1);
  else if (osla_cpu_look(MPI_COMM_WORLD, &cpu) == OSLA_OK)
    osla_cpu_apply(&cpu);
}

int osla_command_invert(int argc, char **argv)
{
  invert_options options;
  osla_command_line line;
  int status, ranks;
  if (MPI_Comm_size(MPI_COMM_WORLD, &ranks) != MPI_SUCCESS) return OSLA_EXIT_FAILED;
  if (!invert_parse(argc, argv, ranks, &options, &line, &status)) return status;

  invert_job job = {.options = &options};
  const osla_transport_options transport = {.progress_thread = options.progress_thread,
                                            .threads_per_rank = options.threads};
  set_blas_threads(&options);
  osla_err err = osla_transport_create(MPI_COMM_WORLD, &transport, &job.t);
  if (err == OSLA_OK) err = run_steps(&job);
  status = osla_command_fail("invert", err);
  if (err == OSLA_OK) status = write_json(&job);
  invert_destroy(&job);
  osla_transport_destroy(&job.t);
  osla_command_release(&line);
  return osla_command_agree(status);
}
