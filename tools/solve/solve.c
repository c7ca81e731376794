/* `osla solve` for dense H. There is only one matrix in memory: H is factored in place, and read
 * again from the file to compute the residual. */
#include "tools/common/command_files.h"
#include "tools/common/local_elements.h"
#include "tools/solve/solve_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct solve_job {
  const solve_options *options;
  osla_transport *t;
  osla_grid *grid;
  osla_file *file;
  osla_file_matrix stored; /* type, size and stored triangle of H in the file */
  osla_uplo uplo;          /* triangle of H that is factored */
  bool is_triangle;        /* true if only the lower triangle of H is in memory */
  double *g;               /* [n] right-hand side g, later the solution x */
  osla_matrix *h, *b, *x;
  int64_t *ipiv;
  double rcond, /* reciprocal condition number; NaN: not computed */
    residual;   /* scaled residual; NaN: not computed */
  osla_mixed_result mixed;
  char verdict[80]; /* SOLVE_GOOD, or a text about the defect of x */
  double seconds_read, seconds_solve;
} solve_job;

/* Checks all files on rank 0. The first call, before the work, checks that all files are different
 * and writable. The call with `room`, after the order of H is known, checks that the file systems
 * have room for the files. */
static osla_err check_files(const solve_job *job, bool room)
{
  const solve_options *o = job->options;
  const uint64_t bytes = (uint64_t)job->stored.n * sizeof(double);
  const command_file files[] = {{"--output", o->output, OSLA_FILE_REPLACED, bytes},
                                {"--json", o->json, OSLA_FILE_REPLACED, 0},
                                {"the system", o->input, OSLA_FILE_READ, 0}};
  return command_check_files_on_root(job->t, files, sizeof files / sizeof *files, room);
}

static osla_err examine_matrix(solve_job *job)
{
  const solve_options *o = job->options;
  osla_file_matrix *h = &job->stored;
  int64_t length;
  OSLA_CALL(osla_file_open(job->t, o->input, &job->file));
  OSLA_CALL(osla_file_look_matrix(job->file, "H", h));
  OSLA_CHECK(h->m == h->n && h->n > 0, OSLA_ERR_ARG,
             "%s: H: a square matrix was expected, and it is %" PRId64 " x %" PRId64, o->input,
             h->m, h->n);
  OSLA_CHECK(h->dtype == OSLA_DOUBLE || (h->dtype == OSLA_FLOAT && o->method != SOLVE_MIXED),
             OSLA_ERR_ARG, "%s: H: %s was expected, and it is of type %c", o->input,
             o->method == SOLVE_MIXED ? "double" : "double or float", osla_dtype_letter(h->dtype));
  OSLA_CALL(osla_file_look_vector(job->file, "g", OSLA_FILE_DOUBLE, &length));
  OSLA_CHECK(length == h->n, OSLA_ERR_ARG,
             "%s: g: %" PRId64 " elements (as H) were expected, and it has %" PRId64, o->input,
             h->n, length);
  job->uplo = h->stored == OSLA_STORED_UPPER ? OSLA_UPPER : OSLA_LOWER;
  /* H from a file with both triangles is stored as a square, so that the residual reveals an H that
   * is not symmetric. */
  job->is_triangle = h->stored == OSLA_STORED_LOWER && o->method != SOLVE_LU && !o->full;
  return OSLA_OK;
}

/* Reads H from the file and adds damping I. If H is stored as a square and the file has only one
 * triangle, copies this triangle over the other one. */
static osla_err read_h(solve_job *job)
{
  double start = osla_clock();
  OSLA_CALL(osla_file_get_matrix(job->file, "H", job->h));
  if (job->stored.stored != OSLA_STORED_WHOLE && !job->is_triangle)
    OSLA_CALL(osla_matrix_mirror(job->h, job->uplo));
  for (int64_t i = 0; i < job->stored.n; i++) {
    const int64_t at = local_element_index(job->h, i, i);
    if (at >= 0)
      local_element_set(job->h, at, local_element_get(job->h, at) + job->options->damping);
  }
  job->seconds_read += osla_clock() - start;
  return osla_barrier(job->t);
}

static double element_of(int64_t i, int64_t j, void *vector)
{
  (void)j;
  return ((const double *)vector)[i];
}

static osla_err create_matrices(solve_job *job)
{
  const osla_file_matrix *h = &job->stored;
  int64_t nb = job->options->nb;
  OSLA_CALL(osla_grid_create_ordered(
    job->t, job->options->nprow, job->options->npcol,
    osla_grid_choose_order(job->t, job->options->nprow, job->options->npcol), &job->grid));
  OSLA_CALL(job->is_triangle
              ? osla_matrix_create_triangle(job->grid, h->dtype, h->n, nb, &job->h)
              : osla_matrix_create(job->grid, h->dtype, h->n, h->n, nb, nb, &job->h));
  OSLA_CALL(osla_matrix_create(job->grid, h->dtype, h->n, 1, nb, 1, &job->b));
  OSLA_CALL(osla_matrix_create(job->grid, h->dtype, h->n, 1, nb, 1, &job->x));
  job->g = malloc((size_t)h->n * sizeof *job->g);
  job->ipiv = calloc((size_t)osla_matrix_local_rows(job->h) + 1, sizeof *job->ipiv);
  bool made = job->g && job->ipiv;
  OSLA_CALL(osla_agree(
    job->t,
    made ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for vectors of %" PRId64, h->n)));
  OSLA_CALL(osla_file_get_vector(job->file, "g", OSLA_FILE_DOUBLE, h->n, job->g));
  for (int64_t i = 0; i < h->n; i++)
    OSLA_CHECK(isfinite(job->g[i]), OSLA_ERR_ARG, "%s: g[%" PRId64 "] is %g", job->options->input,
               i, job->g[i]);
  OSLA_CALL(osla_matrix_fill_with(job->b, element_of, job->g));
  return osla_matrix_copy(job->b, job->x);
}

static osla_err check_definite(const solve_job *job, int64_t info)
{
  OSLA_CHECK(info == 0, OSLA_ERR_STATE,
             "%s: H%s is not positive definite (leading minor of order %" PRId64
             "): raise --damping, or use --method lu",
             job->options->input, job->options->damping > 0.0 ? " + damping" : "", info);
  return OSLA_OK;
}

static osla_err solve_cholesky(solve_job *job, double norm)
{
  int64_t info;
  OSLA_CALL(osla_potrf(job->uplo, job->h, NULL, &info));
  OSLA_CALL(check_definite(job, info));
  OSLA_CALL(osla_potrs(job->uplo, job->h, job->x));
  return osla_pocon(job->uplo, job->h, norm, &job->rcond);
}

static osla_err solve_lu(solve_job *job, double norm)
{
  osla_lu_result lu;
  OSLA_CALL(osla_getrf(job->h, job->ipiv, NULL, &lu));
  OSLA_CHECK(lu.info == 0, OSLA_ERR_STATE,
             "%s: H is singular (pivot %" PRId64 " is zero, or no number)", job->options->input,
             lu.info);
  OSLA_CALL(osla_getrs(OSLA_NOTRANS, job->h, job->ipiv, job->x));
  return osla_gecon(job->h, job->ipiv, norm, &job->rcond);
}

/* The mixed-precision method does not change H. */
static osla_err solve_mixed(solve_job *job)
{
  OSLA_CALL(osla_posv_mixed(job->uplo, job->h, job->b, job->x, NULL, &job->mixed));
  return check_definite(job, job->mixed.info);
}

static osla_err solve_system(solve_job *job)
{
  double norm, start = osla_clock();
  job->rcond = NAN;
  OSLA_CALL(osla_matrix_norm(job->h, OSLA_NORM_ONE, &norm));
  OSLA_CHECK(isfinite(norm), OSLA_ERR_ARG, "%s: H%s: is not finite (norm %g)", job->options->input,
             job->options->damping > 0.0 ? " + damping" : "", norm);
  switch (job->options->method) {
    case SOLVE_CHOLESKY: OSLA_CALL(solve_cholesky(job, norm)); break;
    case SOLVE_LU: OSLA_CALL(solve_lu(job, norm)); break;
    default: OSLA_CALL(solve_mixed(job)); break;
  }
  job->seconds_solve = osla_clock() - start;
  return OSLA_OK;
}

static osla_err measure_residual(solve_job *job)
{
  if (job->options->method != SOLVE_MIXED) OSLA_CALL(read_h(job));
  return osla_residual(job->h, job->x, job->b, &job->residual);
}

/* Copies x to every rank, converted to double. */
static osla_err fetch_x(solve_job *job)
{
  int64_t n = job->stored.n;
  if (job->stored.dtype == OSLA_DOUBLE) return osla_matrix_get_block(job->x, 0, 0, n, 1, job->g, n);
  float *x = malloc((size_t)n * sizeof *x);
  OSLA_CHECK(x, OSLA_ERR_MEM, "no memory for solution of %" PRId64 " unknowns", n);
  osla_err err = osla_matrix_get_block(job->x, 0, 0, n, 1, x, n);
  for (int64_t i = 0; i < n && err == OSLA_OK; i++)
    job->g[i] = x[i];
  free(x);
  return err;
}

/* Sets the verdict from the residual and x; it is the same on all ranks. */
static void set_verdict(solve_job *job)
{
  (void)snprintf(job->verdict, sizeof job->verdict, "%s", SOLVE_GOOD);
  if (!(job->residual <= SOLVE_RESIDUAL_MOST))
    (void)snprintf(job->verdict, sizeof job->verdict, "the scaled residual is %.3g, above %g",
                   job->residual, SOLVE_RESIDUAL_MOST);
  for (int64_t i = job->stored.n - 1; i >= 0; i--)
    if (!isfinite(job->g[i]))
      (void)snprintf(job->verdict, sizeof job->verdict, "x[%" PRId64 "] is %g", i, job->g[i]);
}

static osla_err write_output(solve_job *job)
{
  const solve_options *o = job->options;
  osla_file *file = NULL;
  osla_err err;
  OSLA_CALL(osla_file_create(job->t, o->output, &file));
  OSLA_TRY(osla_file_put_vector(file, "x", OSLA_FILE_DOUBLE, job->stored.n, job->g));
  OSLA_TRY(osla_file_put_text(file, "method", solve_method_name(o->method)));
  OSLA_TRY(osla_file_put_number(file, "damping", o->damping));
  OSLA_TRY(osla_file_put_number(file, "residual", job->residual));
  if (!isnan(job->rcond)) OSLA_TRY(osla_file_put_number(file, "rcond", job->rcond));
  OSLA_TRY(osla_file_put_text(file, "verdict", job->verdict));
  OSLA_TRY(osla_file_commit(&file));
cleanup:
  osla_file_close(&file);
  return err;
}

static const char *mixed_text(osla_mixed_path path)
{
  return path == OSLA_MIXED_SINGLE ? "float factors, refined" : "double factors after all";
}

static void print_report(const solve_job *job)
{
  const solve_options *o = job->options;
  if (o->quiet || osla_transport_rank(job->t) > 0) return;
  (void)printf("H          %" PRId64 " unknowns, %s, damping %g, %d rank%s (%d x %d)\n",
               job->stored.n, job->is_triangle ? "lower triangle" : "square", o->damping,
               osla_transport_size(job->t), osla_transport_size(job->t) == 1 ? "" : "s",
               osla_grid_nprow(job->grid), osla_grid_npcol(job->grid));
  (void)printf("Method     %s", solve_method_name(o->method));
  if (o->method == SOLVE_MIXED) (void)printf(" (%s)", mixed_text(job->mixed.path));
  (void)printf("\nResidual   %.3g (scaled; of order 1 or below is as good as rounding allows)\n",
               job->residual);
  if (!isnan(job->rcond)) (void)printf("Condition  about %.3g\n", 1.0 / job->rcond);
  (void)printf("Times      read %s, solve %s\n", format_seconds(job->seconds_read).s,
               format_seconds(job->seconds_solve).s);
  (void)printf("Output     %s\n", o->output);
}

static json_t *report_json(const solve_job *job)
{
  const solve_options *o = job->options;
  return json_pack("{s:I, s:s, s:f, s:s, s:o, s:o, s:i, s:i, s:f, s:f, s:s}", "n",
                   (json_int_t)job->stored.n, "layout", job->is_triangle ? "triangle" : "square",
                   "damping", o->damping, "method", solve_method_name(o->method), "residual",
                   command_number(job->residual), "rcond", command_number(job->rcond), "nprow",
                   osla_grid_nprow(job->grid), "npcol", osla_grid_npcol(job->grid), "seconds_read",
                   job->seconds_read, "seconds_solve", job->seconds_solve, "verdict", job->verdict);
}

static osla_err run_steps(solve_job *job)
{
  OSLA_CALL(check_files(job, false));
  OSLA_CALL(examine_matrix(job));
  OSLA_CALL(check_files(job, true));
  OSLA_CALL(create_matrices(job));
  OSLA_CALL(read_h(job));
  OSLA_CALL(solve_system(job));
  OSLA_CALL(measure_residual(job));
  OSLA_CALL(osla_agree(job->t, fetch_x(job)));
  set_verdict(job);
  return write_output(job);
}

static void destroy_job(solve_job *job)
{
  osla_matrix_destroy(&job->x);
  osla_matrix_destroy(&job->b);
  osla_matrix_destroy(&job->h);
  osla_file_close(&job->file);
  osla_grid_destroy(&job->grid);
  free(job->g);
  free(job->ipiv);
}

static osla_err solve_dense(osla_transport *t, const solve_options *options, solve_report *report)
{
  solve_job job = {.options = options, .t = t};
  osla_err err = run_steps(&job);
  if (err == OSLA_OK) print_report(&job);
  if (err == OSLA_OK && osla_transport_rank(t) == 0) report->root = report_json(&job);
  memcpy(report->verdict, job.verdict, sizeof job.verdict);
  destroy_job(&job);
  return err;
}

/* Writes the JSON report, prints the defect of x if it has one, and returns the exit status.
 * Collective. */
static int finish(const solve_options *o, osla_err err, const solve_report *report)
{
  int status = command_fail("solve", err);
  if (err == OSLA_OK && o->json) status = command_write_json("solve", o->json, report->root);
  if (status != OSLA_EXIT_OK || strcmp(report->verdict, SOLVE_GOOD) == 0) return status;
  return command_fail("solve",
                      osla_error_set(OSLA_ERR_STATE, "%.200s: %s", o->output, report->verdict));
}

int command_solve(int argc, char **argv)
{
  solve_options options;
  command_line line;
  osla_transport *t = NULL;
  command_cpu cpu;
  int status, ranks;
  if (MPI_Comm_size(MPI_COMM_WORLD, &ranks) != MPI_SUCCESS) return OSLA_EXIT_FAILED;
  if (!solve_parse(argc, argv, ranks, &options, &line, &status)) return status;
  osla_err err = command_cpu_examine(MPI_COMM_WORLD, &cpu);
  if (err == OSLA_OK) {
    const osla_transport_options transport = {.threads_per_rank = cpu.threads};
    command_cpu_apply(&cpu);
    err = osla_transport_create(MPI_COMM_WORLD, &transport, &t);
  }
  solve_report report = {.root = NULL};
  if (err == OSLA_OK) err = (options.sparse ? solve_sparse : solve_dense)(t, &options, &report);
  status = finish(&options, err, &report);
  json_decref(report.root);
  osla_transport_destroy(&t);
  command_release(&line);
  return command_agree(status);
}
