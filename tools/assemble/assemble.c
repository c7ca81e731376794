/* `osla assemble`, step by step. */
#include "assemble.h"
#include "tomo_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static osla_err check_output(const assemble_job *job)
{
  const assemble_options *o = job->options;
  osla_err err = OSLA_OK;
  if (osla_transport_rank(job->t) == 0) {
    err = tomo_store_check(o->output);
    if (err == OSLA_OK && o->json) err = tomo_store_check(o->json);
  }
  return osla_agree(job->t, err);
}

static osla_err make_hessian(assemble_job *job)
{
  const assemble_options *o = job->options;
  osla_hessian_options options = osla_hessian_defaults();
  options.uplo = o->uplo;
  options.dtype = o->dtype;
  options.nb = o->nb;
  reproducible_apply(&job->reproducible, &options);
  OSLA_CALL(osla_grid_create(job->t, o->nprow, o->npcol, &job->grid));
  return osla_hessian_create(job->grid, o->n, &options, &job->hessian);
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

static osla_err write_output(assemble_job *job)
{
  const assemble_options *o = job->options;
  osla_stored stored = o->uplo == OSLA_UPPER ? OSLA_STORED_UPPER : OSLA_STORED_LOWER;
  double start = osla_clock();
  osla_matrix *h;
  osla_file *file = NULL;
  osla_err err;
  OSLA_CALL(osla_hessian_matrix(job->hessian, &h));
  OSLA_CALL(osla_file_create(job->t, o->output, &file));
  OSLA_TRY(osla_file_put_matrix(file, "H", h, stored));
  OSLA_TRY(
    osla_file_put_vector(file, "g", OSLA_FILE_DOUBLE, o->n, osla_hessian_gradient(job->hessian)));
  OSLA_TRY(osla_file_put_int(file, "updates", job->updates));
  OSLA_TRY(put_bounds(file, &job->reproducible));
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
  (void)printf("H          %lld x %lld, %s triangle, %s\n", o->n, o->n,
               o->uplo == OSLA_UPPER ? "upper" : "lower",
               o->dtype == OSLA_FLOAT ? "float" : "double");
  (void)printf("Machine    %d rank%s (%d x %d)\n", osla_transport_size(job->t),
               osla_transport_size(job->t) == 1 ? "" : "s", osla_grid_nprow(job->grid),
               osla_grid_npcol(job->grid));
  reproducible_print(&job->reproducible);
  (void)printf("Times      assemble %s (slowest rank: read %s, add %s), write %s\n",
               osla_format_seconds(job->seconds_assemble).s,
               osla_format_seconds(job->seconds_read).s, osla_format_seconds(job->seconds_add).s,
               osla_format_seconds(job->seconds_write).s);
  if (o->checkpoint)
    (void)printf("Checkpoint %d written in %s\n", job->checkpoint.written,
                 osla_format_seconds(job->checkpoint.seconds).s);
  (void)printf("Output     %s\n", o->output);
}

static json_t *report_json(const assemble_job *job)
{
  const assemble_options *o = job->options;
  const checkpoint *c = &job->checkpoint;
  json_t *root = json_pack(
    "{s:I, s:i, s:I, s:I, s:s, s:s, s:I, s:i, s:i, s:f, s:f, s:f, s:f, s:I, s:i, s:f}", "updates",
    (json_int_t)job->updates, "files", o->n_files, "elements", (json_int_t)job->elements, "n",
    (json_int_t)o->n, "type", o->dtype == OSLA_FLOAT ? "float" : "double", "uplo",
    o->uplo == OSLA_UPPER ? "upper" : "lower", "nb", (json_int_t)o->nb, "nprow",
    osla_grid_nprow(job->grid), "npcol", osla_grid_npcol(job->grid), "seconds_assemble",
    job->seconds_assemble, "seconds_read", job->seconds_read, "seconds_add", job->seconds_add,
    "seconds_write", job->seconds_write, "updates_resumed", (json_int_t)c->resumed, "checkpoints",
    c->written, "seconds_checkpoint", c->seconds);
  json_t *bounds = reproducible_json(&job->reproducible);
  (void)json_object_update(root, bounds);
  json_decref(bounds);
  return root;
}

static osla_err begin_checkpoints(assemble_job *job)
{
  checkpoint *c = &job->checkpoint;
  c->total = job->updates;
  assemble_describe(job, c->job, sizeof c->job);
  return checkpoint_begin(c, job->hessian);
}

static osla_err run_steps(assemble_job *job)
{
  OSLA_CALL(check_output(job));
  OSLA_CALL(checkpoint_check(&job->checkpoint, job->t));
  OSLA_CALL(assemble_look(job));
  OSLA_CALL(assemble_find_bounds(job));
  OSLA_CALL(make_hessian(job));
  OSLA_CALL(begin_checkpoints(job));
  OSLA_CALL(reproducible_explain(&job->reproducible, assemble_add(job)));
  OSLA_CALL(write_output(job));
  checkpoint_remove(&job->checkpoint);
  return OSLA_OK;
}

int osla_command_assemble(int argc, char **argv)
{
  assemble_options options;
  osla_command_line line;
  osla_cpu cpu;
  int status, ranks;
  if (MPI_Comm_size(MPI_COMM_WORLD, &ranks) != MPI_SUCCESS) return OSLA_EXIT_FAILED;
  if (!assemble_parse(argc, argv, ranks, &options, &line, &status)) return status;
  assemble_job job = {.options = &options, .reproducible = options.reproducible};
  osla_err err = osla_cpu_look(MPI_COMM_WORLD, &cpu);
  if (err == OSLA_OK) {
    const osla_transport_options transport = {.threads_per_rank = cpu.threads};
    osla_cpu_apply(&cpu);
    if (options.reproducible.on) osla_blas_set_threads(1); /* products of the same bits anywhere */
    err = osla_transport_create(MPI_COMM_WORLD, &transport, &job.t);
  }
  job.checkpoint = (checkpoint){.t = job.t,
                                .command = "assemble",
                                .data = "updates",
                                .file = options.checkpoint,
                                .interval = options.interval,
                                .keep = options.keep,
                                .quiet = options.quiet};
  if (err == OSLA_OK) err = run_steps(&job);
  status = osla_command_fail("assemble", err);
  if (err == OSLA_OK) print_report(&job);
  if (err == OSLA_OK && options.json) {
    json_t *root = osla_transport_rank(job.t) == 0 ? report_json(&job) : NULL;
    status = osla_command_write_json("assemble", options.json, root);
    json_decref(root);
  }
  osla_hessian_destroy(&job.hessian);
  osla_grid_destroy(&job.grid);
  free(job.before);
  osla_transport_destroy(&job.t);
  osla_command_release(&line);
  return osla_command_agree(status);
}
