/* The command line of osla-bench: finds the kernel, starts and ends MPI, runs all sizes. */
#include "config.h"

#include "bench/bench.h"
#include "bench/bench_reference.h"
#include "osla_armci.h"
#include "osla_blas.h"
#include "osla_shmem.h"
#include "src/blas/work.h"
#include "tools/common/command.h"
#include "tools/common/command_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const bench_kernel *const kernels[] = {
  &bench_gemm,   &bench_syrk,   &bench_symm,      &bench_trmm,   &bench_gemv,
  &bench_symv,   &bench_lu,     &bench_chol,      &bench_potri,  &bench_getri,
  &bench_solve,  &bench_hpl,    &bench_hessian,   &bench_chain,  &bench_put,
  &bench_forest, &bench_jacobi, &bench_splitting, &bench_channel};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

static const bench_kernel *find_kernel(const char *name)
{
  for (int i = 0; i < N_KERNELS; i++)
    if (strcmp(kernels[i]->name, name) == 0) return kernels[i];
  return NULL;
}

static int print_help(void)
{
  if (command_rank() != 0) return OSLA_EXIT_OK;
  (void)printf("Usage: mpiexec -n RANKS osla-bench KERNEL [OPTION...]\n\n"
               "Times a kernel beside the limit of the machine and other libraries: in one "
               "process, on the same\ndata, in turn (A B A B ...), after a warm-up of each. Every "
               "run is checked.\n\nKernels:\n");
  for (int i = 0; i < N_KERNELS; i++)
    (void)printf("  %-8s %s\n", kernels[i]->name, kernels[i]->summary);
  (void)printf("\nReferences of this build (--ref):\n");
  for (int i = 0; i < N_KERNELS; i++)
    (void)printf("  %-8s %s\n", kernels[i]->name, kernels[i]->references);
  (void)printf(
    "\nThe table: times in seconds, the largest over the ranks; the rate at the median; the "
    "scaled\n"
    "residual of the worst run, which passes below 16; osla/ref: our speed over this reference's,\n"
    "the median of the ratios of the same repetition (above 1: osla is faster).\n"
    "\nEach rank of several has one BLAS thread, one rank has all cores, unless "
    "OPENBLAS_NUM_THREADS or\nOMP_NUM_THREADS is set.\n"
    "\nExit status: 0 all runs passed, 1 one failed, 2 bad option or not enough memory.\n"
    "\nosla-bench KERNEL --help shows the options of a kernel, osla-bench --version the libraries\n"
    "beneath.\n");
  return command_flush_output("-bench", OSLA_EXIT_OK);
}

/* Prints the versions of osla-bench, MPI and the BLAS, which bench/scripts/run records. */
static int print_version(void)
{
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  if (command_rank() != 0) return OSLA_EXIT_OK;
  (void)MPI_Get_library_version(mpi, &length); /* may be called before MPI_Init */
  mpi[strcspn(mpi, "\n")] = '\0';
  for (char *tab = strchr(mpi, '\t'); tab; tab = strchr(tab, '\t'))
    *tab = ' ';
  (void)printf("osla-bench %s\nMPI: %s\nBLAS: %s\n", PACKAGE_VERSION, mpi, osla_blas_describe());
  return command_flush_output("-bench", OSLA_EXIT_OK);
}

/* Sets the number of threads of the BLAS, unless the user has chosen it: one thread for each core
 * if there is a single rank without threads of its own, otherwise one thread on each rank. *threads
 * := number of threads of a rank. */
static osla_err set_threads(const bench_settings *settings, int size, int *threads)
{
  command_cpu cpu;
  OSLA_CALL(command_cpu_examine(MPI_COMM_WORLD, &cpu));
  *threads = cpu.threads;
  if (!cpu.chosen_by_user) {
    if (size > 1 || settings->threads > 1) *threads = 1;
    osla_blas_set_threads(*threads);
  }
  if (settings->threads > *threads) *threads = settings->threads;
  return OSLA_OK;
}

/* Runs all sizes and block sizes on grid number g of the option --grid. */
static osla_err run_grid(const bench_kernel *kernel, bench_job *job, bench_settings *current, int g)
{
  bool last_grid = g + 1 == current->n_grids;
  osla_transport *t = job->transport;
  int p = current->grids[g][0], q = current->grids[g][1];
  if (current->order_chosen) current->order = osla_grid_choose_order(t, p, q);
  osla_err err = osla_grid_create_ordered(t, p, q, current->order, &job->grid);
  for (int i = 0; i < current->n_count; i++)
    for (int j = 0; j < current->n_nbs && err == OSLA_OK; j++) {
      job->last_size = last_grid && i + 1 == current->n_count && j + 1 == current->n_nbs;
      current->nb = current->nbs[j];
      err = kernel->run(job, current->n[i]);
    }
  osla_grid_destroy(&job->grid);
  return err;
}

static osla_err run_all(const bench_kernel *kernel, bench_job *job)
{
  bench_settings current = *job->settings;
  osla_transport_options options = {0};
  OSLA_CALL(set_threads(&current, job->size, &options.threads_per_rank));
  job->settings = &current;
  osla_err err = osla_transport_create(MPI_COMM_WORLD, &options, &job->transport);
  if (err == OSLA_OK) job->n_nodes = osla_transport_n_nodes(job->transport);
  if (err == OSLA_OK && osli_work_modelled && !kernel->modelled)
    err = osla_error_set(OSLA_ERR_UNSUPPORTED,
                         "this kernel cannot be only modelled: gemm, lu, chol and hessian can");
  if (err == OSLA_OK) err = bench_device_open(job);
  for (int g = 0; g < current.n_grids && err == OSLA_OK; g++)
    err = run_grid(kernel, job, &current, g);
  if (err == OSLA_OK && kernel->finish && job->rank == 0) kernel->finish(job);
  if (err == OSLA_OK) err = bench_trace_report(job);
  reference_ga_stop(job);
  osla_device_close(&job->device);
  osla_transport_destroy(&job->transport);
  return err;
}

/* An error ends the job, because the partner would wait for ever. */
static bool ends_with_line(const char *file)
{
  struct stat status;
  char last = '\n';
  if (stat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return true;
  const int fd = open(file, O_RDONLY);
  const bool read = fd >= 0 && pread(fd, &last, 1, status.st_size - 1) == 1;
  if (fd >= 0) (void)close(fd);
  return !read || last == '\n';
}

/* Opens the file for appending. If its last line has no line feed, because an earlier job was
 * killed, a line feed is appended first. */
static FILE *open_lines(const char *file)
{
  const bool ends = ends_with_line(file);
  FILE *stream = fopen(file, "a");
  if (!stream || ends || (fputc('\n', stream) != EOF && fflush(stream) == 0)) return stream;
  (void)fclose(stream);
  return NULL;
}

/* Checks all output files before the runs, so that a file that cannot be written costs no time. */
static int open_files(const char *name, bench_job *job)
{
  const bench_settings *s = job->settings;
  const command_file files[] = {{"--json", s->json, OSLA_FILE_APPENDED, 0},
                                {"--trace", s->trace, OSLA_FILE_TRACE, 0},
                                {"--record", s->record, OSLA_FILE_APPENDED, 0}};
  int status = OSLA_EXIT_OK;
  if (job->rank == 0) {
    status = command_fail(name, command_check_files(files, 3));
    if (status == OSLA_EXIT_OK && s->json) job->json = open_lines(s->json);
    if (status == OSLA_EXIT_OK && s->json && !job->json)
      status = command_error(name, "--json: %s cannot be written: %s", s->json, strerror(errno));
  }
  return command_agree(status);
}

static int run_kernel(const bench_kernel *kernel, int argc, char **argv)
{
  bench_settings settings;
  bench_job job = {.settings = &settings};
  char name[40];
  int status = OSLA_EXIT_OK;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &job.size);
  if (!bench_options_parse(kernel, job.size, argc, argv, &settings, &status)) return status;
  (void)snprintf(name, sizeof name, "-bench %s", kernel->name);
  status = open_files(name, &job);
  if (status == OSLA_EXIT_OK) status = command_fail(name, run_all(kernel, &job));
  if (job.json && fclose(job.json) != 0 && status == OSLA_EXIT_OK)
    status = bench_error(kernel, "--json: %s: %s", settings.json, strerror(errno));
  bench_settings_free(&settings);
  status = command_agree(status);
  return status == OSLA_EXIT_OK && job.n_failed > 0 ? OSLA_EXIT_FAILED : status;
}

int bench_run_line(int argc, char **argv)
{
  command_prepare_process();
  if (argc < 2) return command_error("-bench", "no kernel is named (see osla-bench --help)");
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return print_help();
  if (strcmp(argv[1], "--version") == 0) return print_version();
  const bench_kernel *kernel = find_kernel(argv[1]);
  if (!kernel)
    return command_error("-bench", "%s: unknown kernel (see osla-bench --help)", argv[1]);
  (void)osla_armci_offer(); /* lets users select the transport `armci` */
  (void)osla_shmem_offer(); /* lets users select the transport `shmem` */
  /* The reference implementation mpi-accumulate needs MPI_THREAD_MULTIPLE, because its threads
   * call MPI. */
  int status = command_start_mpi("-bench", argc, argv, "mpi-accumulate", false);
  if (status != OSLA_EXIT_OK) return status;
  status = command_same_line("-bench", argc - 1, argv + 1);
  if (status == OSLA_EXIT_OK)
    status = command_agree(command_flush_output("-bench", run_kernel(kernel, argc - 1, argv + 1)));
  (void)MPI_Finalize();
  return status;
}
