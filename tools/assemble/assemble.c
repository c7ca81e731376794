/* `osla assemble`: runs the steps of a job in their order. */
#include "tools/assemble/assemble_pass.h"
#include "tools/common/command_files.h"
#include "tools/common/local_elements.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks all files on rank 0. The first call, before the work, checks that all files are different
 * and writable. The call with `room`, after it is known that H fits in memory, checks that the file
 * systems have room for the files. */
static osla_err check_files(const assemble_job *job, bool room)
{
  const assemble_options *o = job->options;
  uint64_t elements, square, triangle;
  if (__builtin_mul_overflow((uint64_t)o->n, (uint64_t)o->n, &elements) ||
      __builtin_mul_overflow(elements, osla_dtype_size(o->dtype), &square))
    square = triangle = UINT64_MAX;
  else
    triangle = (elements + (uint64_t)o->n) / 2 * osla_dtype_size(o->dtype);
  const uint64_t bytes = assemble_stores_triangle(o) ? triangle : square;
  const command_file outputs[] = {
    {"--output", o->output, OSLA_FILE_REPLACED, o->both ? square : bytes},
    {"--json", o->json, OSLA_FILE_REPLACED, 0},
    {"--checkpoint", o->checkpoint, OSLA_FILE_CHECKPOINT, bytes}};
  enum { N_OUTPUTS = sizeof outputs / sizeof *outputs };
  if (room) return command_check_files_on_root(job->t, outputs, N_OUTPUTS, true);
  command_file *files = calloc((size_t)(N_OUTPUTS + o->n_files), sizeof *files);
  OSLA_CALL(osla_agree(
    job->t, files ? OSLA_OK
                  : osla_error_set(OSLA_ERR_MEM, "no memory for a table of %d files", o->n_files)));
  memcpy(files, outputs, sizeof outputs);
  for (int i = 0; i < o->n_files; i++)
    files[N_OUTPUTS + i] = (command_file){.option = "the updates", .path = o->files[i]};
  osla_err err = command_check_files_on_root(job->t, files, N_OUTPUTS + o->n_files, false);
  free(files);
  return err;
}

static osla_err make_hessian(assemble_job *job)
{
  const assemble_options *o = job->options;
  osla_hessian_options options = {0};
  options.uplo = o->uplo;
  options.single = o->dtype == OSLA_FLOAT;
  options.nb = o->nb;
  options.triangle = assemble_stores_triangle(o);
  reproducible_apply(&job->reproducible, &options);
  OSLA_CALL(osla_grid_create_ordered(
    job->t, o->nprow, o->npcol, osla_grid_choose_order(job->t, o->nprow, o->npcol), &job->grid));
  return osla_hessian_create(job->grid, o->n, &options, &job->hessian);
}

/* Overwrites the verdict if an element of the stored triangle of H is not finite. Collective. */
static osla_err judge_matrix(assemble_job *job)
{
  const int64_t n = job->options->n;
  osla_matrix *h;
  OSLA_CALL(osla_hessian_matrix(job->hessian, &h));
  int64_t first = local_elements_find_infinite(h, job->options->uplo);
  OSLA_CALL(osla_allreduce(job->t, &first, 1, MPI_INT64_T, MPI_MIN));
  if (first == n * n) return OSLA_OK;
  double value = 0.0;
  const int64_t at = local_element_index(h, first % n, first / n);
  if (at >= 0) value = local_element_get(h, at);
  OSLA_CALL(osla_allreduce(job->t, &value, 1, MPI_DOUBLE, MPI_SUM));
  (void)snprintf(job->verdict, sizeof job->verdict, "H[%" PRId64 ", %" PRId64 "] is %g", first % n,
                 first / n, value);
  return OSLA_OK;
}

/* Sets the verdict: good if H and g are finite, otherwise the first element that is not finite.
 * All ranks set the same verdict. */
static osla_err set_verdict(assemble_job *job)
{
  const double *g = osla_hessian_gradient(job->hessian);
  (void)snprintf(job->verdict, sizeof job->verdict, "%s", ASSEMBLE_GOOD);
  for (int64_t i = job->options->n - 1; i >= 0; i--)
    if (!isfinite(g[i]))
      (void)snprintf(job->verdict, sizeof job->verdict, "g[%" PRId64 "] is %g", i, g[i]);
  return judge_matrix(job);
}

static osla_err put_bounds(osla_file *file, const reproducible *r)
{
  OSLA_CALL(osla_file_put_int(file, "reproducible", r->on));
  if (!r->on) return OSLA_OK;
  OSLA_CALL(osla_file_put_number(file, "bound", r->bound[BOUND_OF_H]));
  OSLA_CALL(osla_file_put_text(file, "bound_from", r->from[BOUND_OF_H]));
  OSLA_CALL(osla_file_put_number(file, "gradient_bound", r->bound[BOUND_OF_GRADIENT]));
  return osla_file_put_text(file, "gradient_bound_from", r->from[BOUND_OF_GRADIENT]);
}

/* Adds H to the output file. */
static osla_err put_h(const assemble_job *job, osla_file *file, osla_matrix *h)
{
  const assemble_options *o = job->options;
  const osla_stored one = o->uplo == OSLA_UPPER ? OSLA_STORED_UPPER : OSLA_STORED_LOWER;
  if (o->both && !assemble_stores_triangle(o)) OSLA_CALL(osla_matrix_mirror(h, o->uplo));
  return osla_file_put_matrix(file, "H", h, o->both ? OSLA_STORED_FULL : one);
}

static osla_err write_output(assemble_job *job)
{
  const assemble_options *o = job->options;
  double start = osla_clock();
  osla_matrix *h;
  osla_file *file = NULL;
  osla_err err;
  OSLA_CALL(osla_hessian_matrix(job->hessian, &h));
  OSLA_CALL(osla_file_create(job->t, o->output, &file));
  OSLA_TRY(put_h(job, file, h));
  OSLA_TRY(
    osla_file_put_vector(file, "g", OSLA_FILE_DOUBLE, o->n, osla_hessian_gradient(job->hessian)));
  OSLA_TRY(osla_file_put_int(file, "updates", job->updates));
  OSLA_TRY(put_bounds(file, &job->reproducible));
  OSLA_TRY(osla_file_put_text(file, "verdict", job->verdict));
  OSLA_TRY(osla_file_commit(&file));
cleanup:
  osla_file_close(&file);
  job->seconds_write = osla_clock() - start;
  return err;
}

static void print_report(const assemble_job *job)
{
  const assemble_options *o = job->options;
  if (o->quiet || osla_transport_rank(job->t) > 0) return;
  (void)printf("Updates    %" PRId64 " from %d file%s, %" PRId64 " elements added\n", job->updates,
               o->n_files, o->n_files == 1 ? "" : "s", job->elements);
  (void)printf("H          %lld x %lld, %s triangle%s, %s\n", o->n, o->n,
               o->uplo == OSLA_UPPER ? "upper" : "lower",
               assemble_stores_triangle(o) ? "" : " of a square",
               o->dtype == OSLA_FLOAT ? "float" : "double");
  (void)printf("Machine    %d rank%s (%d x %d)\n", osla_transport_size(job->t),
               osla_transport_size(job->t) == 1 ? "" : "s", osla_grid_nprow(job->grid),
               osla_grid_npcol(job->grid));
  reproducible_print(&job->reproducible);
  (void)printf("Times      assemble %s (slowest rank: read %s, add %s), write %s\n",
               format_seconds(job->seconds_assemble).s, format_seconds(job->seconds_read).s,
               format_seconds(job->seconds_add).s, format_seconds(job->seconds_write).s);
  if (o->checkpoint)
    (void)printf("Checkpoint %d written in %s\n", job->checkpoint.written,
                 format_seconds(job->checkpoint.seconds).s);
  (void)printf("Output     %s\n", o->output);
}

static json_t *report_json(const assemble_job *job)
{
  const assemble_options *o = job->options;
  const checkpoint *c = &job->checkpoint;
  json_t *root = json_pack(
    "{s:I, s:i, s:I, s:I, s:s, s:s, s:s, s:I, s:i, s:i, s:f, s:f, s:f, s:f, s:I, s:i, s:f, s:s}",
    "updates", (json_int_t)job->updates, "files", o->n_files, "elements", (json_int_t)job->elements,
    "n", (json_int_t)o->n, "type", o->dtype == OSLA_FLOAT ? "float" : "double", "uplo",
    o->uplo == OSLA_UPPER ? "upper" : "lower", "layout",
    assemble_stores_triangle(o) ? "triangle" : "square", "nb", (json_int_t)o->nb, "nprow",
    osla_grid_nprow(job->grid), "npcol", osla_grid_npcol(job->grid), "seconds_assemble",
    job->seconds_assemble, "seconds_read", job->seconds_read, "seconds_add", job->seconds_add,
    "seconds_write", job->seconds_write, "updates_resumed", (json_int_t)c->resumed, "checkpoints",
    c->written, "seconds_checkpoint", c->seconds, "verdict", job->verdict);
  json_t *bounds = reproducible_json(&job->reproducible);
  (void)json_object_update(root, bounds);
  json_decref(bounds);
  return root;
}

static osla_err begin_checkpoints(assemble_job *job)
{
  checkpoint *c = &job->checkpoint;
  c->total = job->updates;
  assemble_identify(job, c->job, sizeof c->job);
  return checkpoint_restore(c, job->hessian);
}

static osla_err run_steps(assemble_job *job)
{
  OSLA_CALL(check_files(job, false));
  OSLA_CALL(checkpoint_check_support(&job->checkpoint));
  OSLA_CALL(assemble_count_updates(job));
  OSLA_CALL(assemble_find_bounds(job));
  OSLA_CALL(make_hessian(job));
  OSLA_CALL(check_files(job, true));
  OSLA_CALL(begin_checkpoints(job));
  OSLA_CALL(reproducible_explain_error(&job->reproducible, assemble_add_updates(job)));
  OSLA_CALL(set_verdict(job));
  OSLA_CALL(write_output(job));
  checkpoint_remove(&job->checkpoint);
  return OSLA_OK;
}

/* Returns the verdict as an error, the same on all ranks. */
static osla_err verdict_error(const assemble_job *job)
{
  const assemble_options *o = job->options;
  OSLA_CHECK(strcmp(job->verdict, ASSEMBLE_GOOD) == 0, OSLA_ERR_STATE, "%.200s: %s%s", o->output,
             job->verdict,
             o->dtype == OSLA_FLOAT && job->verdict[0] == 'H' ? ": --type double holds more" : "");
  return OSLA_OK;
}

int command_assemble(int argc, char **argv)
{
  assemble_options options;
  command_line line;
  command_cpu cpu;
  int status, ranks;
  if (MPI_Comm_size(MPI_COMM_WORLD, &ranks) != MPI_SUCCESS) return OSLA_EXIT_FAILED;
  if (!assemble_parse(argc, argv, ranks, &options, &line, &status)) return status;
  assemble_job job = {.options = &options, .reproducible = options.reproducible};
  osla_err err = command_cpu_examine(MPI_COMM_WORLD, &cpu);
  /* The reader process starts first, because this process does not have large memory, registered
   * memory, or threads yet. */
  osla_err started = updates_reader_start(&job.reader);
  if (err == OSLA_OK) {
    const osla_transport_options transport = {.threads_per_rank = cpu.threads};
    command_cpu_apply(&cpu);
    /* one BLAS thread, because the bits of a product depend on the number of threads */
    if (options.reproducible.on) osla_blas_set_threads(1);
    err = osla_transport_create(MPI_COMM_WORLD, &transport, &job.t);
  }
  job.checkpoint = (checkpoint){.t = job.t,
                                .command = "assemble",
                                .data = "updates",
                                .file = options.checkpoint,
                                .interval = options.interval,
                                .keep = options.keep,
                                .quiet = options.quiet};
  if (err == OSLA_OK) err = osla_agree(job.t, started);
  if (err == OSLA_OK) err = run_steps(&job);
  status = command_fail("assemble", err);
  if (err == OSLA_OK) print_report(&job);
  if (err == OSLA_OK && options.json) {
    json_t *root = osla_transport_rank(job.t) == 0 ? report_json(&job) : NULL;
    status = command_write_json("assemble", options.json, root);
    json_decref(root);
  }
  if (err == OSLA_OK && status == OSLA_EXIT_OK)
    status = command_fail("assemble", verdict_error(&job));
  osla_hessian_destroy(&job.hessian);
  osla_grid_destroy(&job.grid);
  updates_reader_stop(&job.reader);
  free(job.before);
  osla_transport_destroy(&job.t);
  command_release(&line);
  return command_agree(status);
}
