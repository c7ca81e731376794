/* `osla invert`: runs the steps of a job in their order. */
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/tomography.h"
#include "tools/common/command.h"

#include <stdio.h>

/* Computes the model. With --robust the scan of priors follows the last reweighting, and the model
 * is computed once more. */
static osla_err find_model(invert_job *job)
{
  const bool scans = invert_has_scan(job->options);
  job->scanning = scans && !job->options->robust;
  OSLA_CALL(invert_compute_model(job, false));
  OSLA_CALL(invert_solve_robustly(job));
  if (!scans || job->scanning) return OSLA_OK;
  job->scanning = true;
  return invert_compute_model(job, true);
}

static osla_err run_steps(invert_job *job)
{
  double start = osla_clock();
  OSLA_CALL(invert_check_files(job, false));
  OSLA_CALL(checkpoint_check_support(&job->checkpoint));
  OSLA_CALL(invert_read_input(job));
  OSLA_CALL(invert_make_problem(job));
  OSLA_CALL(invert_check_files(job, true));
  OSLA_CALL(invert_check_write_data(job));
  OSLA_CALL(invert_forecast_work(job));
  OSLA_CALL(find_model(job));
  invert_compare_models(job);
  OSLA_CALL(invert_sample_resolution(job));
  OSLA_CALL(invert_find_rows(job));
  OSLA_CALL(invert_measure_misfit(job));
  OSLA_CALL(invert_find_posterior(job)); /* the last step that needs the factor */
  OSLA_CALL(invert_write_data(job));
  job->result.wall = osla_clock() - start; /* time until now, for the HTML report */
  OSLA_CALL(invert_write_output(job));
  job->result.wall = osla_clock() - start;
  OSLA_CALL(invert_write_json(job));
  checkpoint_remove(&job->checkpoint);
  return invert_print_report(job);
}

/* Starts child processes for files that may crash their reader. They start first, because fork
 * then copies little memory. */
static osla_err start_readers(invert_job *job)
{
  const invert_options *o = job->options;
  if (o->data) OSLA_CALL(tomo_data_reader_start(o->data, &job->reader));
  return o->prior_file ? tomo_prior_reader_start(o->prior_file, &job->prior_reader) : OSLA_OK;
}

int command_invert(int argc, char **argv)
{
  invert_options options;
  command_line line;
  int status, ranks, rank;
  if (MPI_Comm_size(MPI_COMM_WORLD, &ranks) != MPI_SUCCESS ||
      MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS)
    return OSLA_EXIT_FAILED;
  if (!invert_parse(argc, argv, ranks, &options, &line, &status)) return status;

  invert_job job = {.options = &options, .reproducible = options.reproducible};
  const osla_transport_options transport = {.progress_thread = options.progress_thread,
                                            .threads_per_rank = options.threads};
  command_cpu cpu;
  osla_err err = command_cpu_examine(MPI_COMM_WORLD, &cpu), started = OSLA_OK;
  if (rank == 0) started = start_readers(&job);
  if (err == OSLA_OK) {
    command_cpu_apply(&cpu);
    job.blas_threads = cpu.threads;
    err = osla_transport_create(MPI_COMM_WORLD, &transport, &job.t);
  }
  job.checkpoint = (checkpoint){.t = job.t,
                                .command = "invert",
                                .data = "paths",
                                .file = options.checkpoint,
                                .interval = options.interval,
                                .keep = options.keep,
                                .quiet = options.quiet};
  if (err == OSLA_OK) err = osla_agree(job.t, started);
  if (err == OSLA_OK) err = run_steps(&job);
  status = command_fail("invert", err);
  invert_destroy(&job);
  osla_transport_destroy(&job.t);
  command_release(&line);
  return command_agree(status);
}
