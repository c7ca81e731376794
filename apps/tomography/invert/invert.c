/* `osla invert`: runs the steps of a job in their order. */
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/tomography.h"
#include "tools/common/command.h"
#include "tools/common/command_files.h"
#include "tools/common/report_directory.h"
#include <stdlib.h>
#include <string.h>

#include <stdio.h>

/* Lists all input tables (also the shipped sample) and all outputs, and checks them. */
static osla_err check_on_root(const invert_job *job, bool room)
{
  const invert_options *o = job->options;
  const uint64_t n = (uint64_t)job->n, vectors = 3 + 2 * (uint64_t)(o->posterior + o->points);
  /* upper bound of the checkpoint's size in bytes; no overflow, because H fits in memory */
  const uint64_t elements = invert_stores_triangle(o) ? n * (n + 1) / 2 : n * n;
  const uint64_t matrix = elements * osla_dtype_size(o->dtype);
  char page[PATH_MAX] = "", earth[PATH_MAX];
  OSLA_CALL(invert_name_reference(job, earth));
  if (o->report) report_directory_page(o->report, page);
  const command_file outputs[] = {
    {"--output", o->output, OSLA_FILE_REPLACED,
     vectors * n * sizeof(double) + (o->files.xdmf && room ? invert_xdmf_bytes(job) : 0)},
    {"--map", o->map, OSLA_FILE_REPLACED, 0},
    {"--json", o->json, OSLA_FILE_REPLACED, 0},
    {"--report", o->report, OSLA_FILE_REPORT, 0},
    {"--report", page[0] ? page : NULL, OSLA_FILE_REPLACED, 0},
    {"--netcdf", o->files.netcdf, OSLA_FILE_REPLACED,
     o->files.netcdf && room ? invert_netcdf_bytes(job) : 0},
    {"--write-data", o->write_data, OSLA_FILE_REPLACED, 0},
    {"--data", o->data, OSLA_FILE_READ, 0},
    {"--reference", strcmp(earth, "stand-in") == 0 ? NULL : earth, OSLA_FILE_READ, 0},
    {"--scan-plot", o->scan_plot, OSLA_FILE_REPLACED, 0},
    {"--prior", o->prior_file, OSLA_FILE_READ, 0},
    {"--xdmf", o->files.xdmf, OSLA_FILE_REPLACED, 0},
    {"--checkpoint", o->checkpoint, OSLA_FILE_CHECKPOINT, matrix}};
  const int n_outputs = sizeof outputs / sizeof *outputs;
  invert_tables t;
  OSLA_CALL(invert_name_tables(job, &t));
  if (o->files.xdmf) OSLA_CALL(invert_check_xdmf(o));
  command_file *files = malloc((size_t)(n_outputs + t.n_stations + t.n_events) * sizeof *files);
  OSLA_CHECK(files, OSLA_ERR_MEM, "no memory for the names of files");
  int count = 0;
  for (; count < n_outputs; count++)
    files[count] = outputs[count];
  for (int i = 0; i < t.n_stations; i++)
    files[count++] = (command_file){"--stations", t.stations[i], OSLA_FILE_READ, 0};
  for (int i = 0; i < t.n_events; i++)
    files[count++] = (command_file){"--events", t.events[i], OSLA_FILE_READ, 0};
  osla_err err = room ? command_check_room(files, count) : command_check_files(files, count);
  free(files);
  return err;
}

/* Checks on rank 0 that all files of the job are different and writable. If `room` is true, it
 * checks instead that the file systems have room for the files; this needs the sizes of the
 * problem. */
static osla_err check_files(const invert_job *job, bool room)
{
  return osla_agree(job->t, osla_transport_rank(job->t) == 0 ? check_on_root(job, room) : OSLA_OK);
}

/* Computes the model. With --robust and --scan, the model is first computed without a scan until
 * the weights of the data are final, and then once more with the scan of priors. */
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
  OSLA_CALL(check_files(job, false));
  OSLA_CALL(checkpoint_check_support(&job->checkpoint));
  OSLA_CALL(invert_read_input(job));
  OSLA_CALL(invert_make_problem(job));
  OSLA_CALL(check_files(job, true));
  OSLA_CALL(invert_check_write_data(job));
  OSLA_CALL(invert_forecast_work(job));
  OSLA_CALL(find_model(job));
  invert_compare_models(job);
  OSLA_CALL(invert_sample_resolution(job));
  OSLA_CALL(invert_find_rows(job));
  OSLA_CALL(invert_measure_misfit(job));
  OSLA_CALL(invert_find_posterior(job)); /* last step that needs the factor */
  OSLA_CALL(invert_write_data(job));
  /* time before the output files are written, which the HTML report shows */
  job->result.wall = osla_clock() - start;
  OSLA_CALL(invert_write_output(job));
  job->result.wall = osla_clock() - start;
  OSLA_CALL(invert_write_json(job));
  checkpoint_remove(&job->checkpoint);
  return invert_print_report(job);
}

/* Starts child processes that read files on which HDF5 may crash. They start before all other work,
 * because fork then copies little memory. */
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
