/* osla-calibrate: measures how long a core takes for the kinds of work that the kernels consist of,
 * and fits a model for simulated machines (doc/simulation.md). All ranks measure at the same time,
 * since the cores share the memory bandwidth; a time is the mean over the ranks. */
#include "config.h"

#include "bench/calibrate.h"
#include "osla_blas.h"
#include "src/base/new_file.h"
#include "tools/common/command.h"
#include "tools/common/command_files.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "-calibrate";

typedef struct settings {
  int n;
  char *output, *json;
} settings;

typedef struct result {
  int count;
  calibrate_shape shape[CALIBRATE_SHAPES];
  double seconds[CALIBRATE_SHAPES];
  calibrate_fit fit;
} result;

/* Number of sizes in a list that ends with 0. An empty list stands for one size. */
static int length(const int64_t *list, int most)
{
  int count = 0;
  while (count < most && list[count] > 0)
    count++;
  return count > 0 ? count : 1;
}

static void list_shapes(const calibrate_kind *kind, int64_t n, result *r)
{
  r->count = 0;
  for (int i = 0; i < length(kind->m, 6); i++)
    for (int j = 0; j < length(kind->n, 6); j++)
      for (int l = 0; l < length(kind->k, 4); l++) {
        calibrate_shape s = {kind->m[i] > 0 ? kind->m[i] : 1, kind->n[j] > 0 ? kind->n[j] : 1,
                             kind->k[l] > 0 ? kind->k[l] : 1};
        /* in the work "add" n is a number of elements, in other work a number of columns */
        bool is_add = strcmp(kind->name, "add") == 0;
        if (s.m <= n && s.k <= n && s.n <= (is_add ? n * n / 4 : n)) r->shape[r->count++] = s;
      }
}

static osla_err measure(const calibrate_kind *kind, calibrate_room *room, int64_t n, int ranks,
                        result *r)
{
  list_shapes(kind, n, r);
  for (int i = 0; i < r->count; i++) {
    double mine;
    OSLA_MPI(MPI_Barrier(MPI_COMM_WORLD));
    OSLA_CALL(calibrate_time(room, kind, &r->shape[i], &mine));
    OSLA_MPI(MPI_Allreduce(&mine, &r->seconds[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    r->seconds[i] /= ranks;
  }
  return calibrate_fit_kind(kind, r->count, r->shape, r->seconds, &r->fit);
}

/* Prints the terms of a model: "5.3e-11 mnk 4e-10 mn". */
static void print_terms(FILE *out, const calibrate_kind *kind, const calibrate_fit *fit)
{
  const char *between = "";
  for (int j = 0; j < fit->terms; j++)
    if (fit->c[j] > 0) {
      (void)fprintf(out, "%s%.4g %s", between, fit->c[j], kind->monomials[j]);
      between = " ";
    }
}

/* Rate of a core in large products, from the coefficient of mnk in the model. */
static double flops_of(const result *all)
{
  return all[0].fit.c[0] > 0 ? 2 / all[0].fit.c[0] : 0;
}

static void print_table(const result *all, int ranks)
{
  (void)printf("%d ranks at once; BLAS: %s\na core: %.4g flops/s in large products\n", ranks,
               osla_blas_describe(), flops_of(all));
  (void)printf("%-11s %5s %9s %9s  seconds\n", "work", "sizes", "median", "worst");
  for (int i = 0; i < calibrate_n_kinds; i++) {
    const calibrate_fit *fit = &all[i].fit;
    (void)printf("%-11s %5d %8.1f%% %8.1f%%  ", calibrate_kinds[i].name, all[i].count,
                 100 * fit->median, 100 * fit->worst);
    print_terms(stdout, &calibrate_kinds[i], fit);
    (void)printf("\n");
  }
}

/* Writes the model as properties of the hosts in a machine file. */
static osla_err write_properties(const char *path, const result *all)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  OSLA_CHECK(out, OSLA_ERR_MEM, "no memory for the model");
  for (int i = 0; i < calibrate_n_kinds; i++) {
    (void)fprintf(out, "      <prop id=\"work-%s\" value=\"", calibrate_kinds[i].name);
    print_terms(out, &calibrate_kinds[i], &all[i].fit);
    (void)fprintf(out, "\"/> <!-- error of %d sizes: median %.1f %%, worst %.1f %% -->\n",
                  all[i].count, 100 * all[i].fit.median, 100 * all[i].fit.worst);
  }
  bool whole = fclose(out) == 0;
  osla_err err = whole ? osli_new_file_write(path, text, size)
                       : osla_error_set(OSLA_ERR_MEM, "no memory for the model");
  free(text);
  return err;
}

static json_t *report_kind(const calibrate_kind *kind, const result *r)
{
  json_t *terms = json_object(), *times = json_array();
  for (int j = 0; j < r->fit.terms; j++)
    (void)json_object_set_new(terms, kind->monomials[j], json_real(r->fit.c[j]));
  for (int i = 0; i < r->count; i++) {
    const calibrate_shape *s = &r->shape[i];
    (void)json_array_append_new(times, json_pack("{s:I,s:I,s:I,s:f}", "m", (json_int_t)s->m, "n",
                                                 (json_int_t)s->n, "k", (json_int_t)s->k, "seconds",
                                                 r->seconds[i]));
  }
  return json_pack("{s:o,s:f,s:f,s:o}", "seconds", terms, "error_median", r->fit.median,
                   "error_worst", r->fit.worst, "measured", times);
}

static json_t *report(const result *all, int ranks, int64_t n)
{
  json_t *kinds = json_object();
  for (int i = 0; i < calibrate_n_kinds; i++)
    (void)json_object_set_new(kinds, calibrate_kinds[i].name,
                              report_kind(&calibrate_kinds[i], &all[i]));
  return json_pack("{s:i,s:I,s:s,s:f,s:o}", "ranks", ranks, "n", (json_int_t)n, "blas",
                   osla_blas_describe(), "flops", flops_of(all), "work", kinds);
}

static osla_err calibrate(const settings *s, int ranks, result *all)
{
  calibrate_room *room = NULL;
  osla_err err = calibrate_room_make(s->n, &room);
  int failed = err != OSLA_OK, any;
  OSLA_MPI(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  if (any && err == OSLA_OK) err = osla_error_set(OSLA_ERR_MEM, "another rank has no memory");
  for (int i = 0; i < calibrate_n_kinds && err == OSLA_OK; i++)
    err = measure(&calibrate_kinds[i], room, s->n, ranks, &all[i]);
  calibrate_room_free(&room);
  return err;
}

static int write_all(const settings *s, int rank, int ranks, const result *all)
{
  int status = OSLA_EXIT_OK;
  if (rank == 0) print_table(all, ranks);
  if (rank == 0 && s->output) status = command_fail(program, write_properties(s->output, all));
  status = command_agree(status);
  if (status != OSLA_EXIT_OK || !s->json) return status;
  json_t *root = rank == 0 ? report(all, ranks, s->n) : NULL;
  status = command_write_json(program, s->json, root);
  json_decref(root);
  return status;
}

static int check(const settings *s, int rank)
{
  const command_file files[] = {{"--output", s->output, OSLA_FILE_REPLACED, 0},
                                {"--json", s->json, OSLA_FILE_REPLACED, 0}};
  if (s->n < 256 || s->n > 65536)
    return command_error(program, "--n: %d is not between 256 and 65536", s->n);
  int status = OSLA_EXIT_OK;
  if (rank == 0) status = command_fail(program, command_check_files(files, 2));
  return command_agree(status);
}

static int run(int argc, char **argv)
{
  settings s = {.n = 4104};
  const struct poptOption table[] = {
    {"n", 'n', POPT_ARG_INT, &s.n, 0, "order of the matrix that the work walks through (4104)",
     "N"},
    {"output", 'o', POPT_ARG_STRING, &s.output, 0, "the model, as properties of a machine file",
     "FILE"},
    {"json", 'j', POPT_ARG_STRING, &s.json, 0, "model, errors and measurements", "FILE"},
    POPT_TABLEEND};
  command_line line = {
    .name = program,
    .about = "Measures how long a core takes for the pieces of work that kernels are made of, and "
             "fits the model that a simulated machine computes by.",
    .after = "All ranks measure at once: start as many as will compute side by side.\n"
             "  mpiexec -n 2 osla-calibrate --output core.xml",
    .options = table};
  int status, rank, ranks;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!command_parse(&line, argc, argv, &status)) return status;
  result *all = calloc((size_t)calibrate_n_kinds, sizeof *all);
  status = check(&s, rank);
  if (status == OSLA_EXIT_OK && !all) status = command_error(program, "no memory for the results");
  status = command_agree(status);
  if (status == OSLA_EXIT_OK) status = command_fail(program, calibrate(&s, ranks, all));
  status = command_agree(status);
  if (status == OSLA_EXIT_OK) status = write_all(&s, rank, ranks, all);
  free(all);
  command_release(&line);
  return status;
}

int main(int argc, char **argv)
{
  command_prepare_process();
  int status = command_start_mpi(program, argc, argv, "--", false);
  if (status != OSLA_EXIT_OK) return status;
  osla_blas_set_threads(1);
  status = command_same_line(program, argc, argv);
  if (status == OSLA_EXIT_OK)
    status = command_agree(command_flush_output(program, run(argc, argv)));
  (void)MPI_Finalize();
  return command_exit(status);
}
