/* The assembly: ranks fetch subsets of updates from a shared counter, so that a rank with slow
 * reads or large updates fetches fewer subsets. */
#include "tools/assemble/assemble_pass.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static osla_err count_updates(const assemble_job *job)
{
  const assemble_options *o = job->options;
  job->before[0] = 0;
  for (int i = 0; i < o->n_files; i++) {
    int64_t count;
    OSLA_CALL(updates_reader_open(job->reader, o->files[i], &count));
    job->before[i + 1] = job->before[i] + count;
  }
  return OSLA_OK;
}

osla_err assemble_count_updates(assemble_job *job)
{
  const assemble_options *o = job->options;
  job->before = calloc((size_t)o->n_files + 1, sizeof *job->before);
  OSLA_CALL(osla_agree(
    job->t, job->before
              ? OSLA_OK
              : osla_error_set(OSLA_ERR_MEM, "no memory for list of %d files", o->n_files)));
  bool root = osla_transport_rank(job->t) == 0;
  OSLA_CALL(osla_agree(job->t, root ? count_updates(job) : OSLA_OK));
  OSLA_CALL(osla_bcast(job->t, job->before, o->n_files + 1, MPI_INT64_T, 0));
  job->updates = job->before[o->n_files];
  return OSLA_OK;
}

void assemble_identify(const assemble_job *job, char *text, size_t size)
{
  const assemble_options *o = job->options;
  uint64_t hash = 0;
  for (int i = 0; i < o->n_files; i++) {
    struct stat status = {0};
    /* stat cannot fail, because the file has been opened before */
    (void)stat(o->files[i], &status);
    int64_t facts[4] = {(int64_t)status.st_size, (int64_t)status.st_mtim.tv_sec,
                        (int64_t)status.st_mtim.tv_nsec, job->before[i]};
    hash = checkpoint_hash(hash, facts, sizeof facts);
  }
  (void)snprintf(text, size, "assemble: %" PRId64 " updates, %d files, state %016" PRIx64,
                 job->updates, o->n_files, hash);
}

static osla_err grow(double **array, size_t *room, int64_t wanted)
{
  if (*room >= (size_t)wanted) return OSLA_OK;
  double *longer = realloc(*array, (size_t)wanted * sizeof *longer);
  OSLA_CHECK(longer, OSLA_ERR_MEM, "no memory for %" PRId64 " numbers", wanted);
  *array = longer;
  *room = (size_t)wanted;
  return OSLA_OK;
}

/* Computes w->sums := G^T diag(w) r, and then replaces G by diag(w)^(1/2) G. G is k x n. */
static void weight_panel(assemble_worker *w, int64_t k, int64_t n, void *g, const double *weight,
                         const double *residual)
{
  osla_dtype dtype = w->job->options->dtype;
  for (int64_t d = 0; weight && d < k; d++)
    w->root_w[d] = sqrt(weight[d]);
  for (int64_t a = 0; a < n; a++) {
    double sum = 0.0;
    for (int64_t d = 0; d < k; d++) {
      double x = update_value(dtype, g, a * k + d);
      if (residual) sum += x * (weight ? weight[d] * residual[d] : residual[d]);
      if (!weight) continue;
      if (dtype == OSLA_FLOAT)
        ((float *)g)[a * k + d] = (float)(x * w->root_w[d]);
      else
        ((double *)g)[a * k + d] = x * w->root_w[d];
    }
    w->sums[a] = sum;
  }
}

static double largest_of(osla_dtype dtype, const void *u, int64_t count)
{
  double largest = 0.0;
  for (int64_t i = 0; i < count; i++)
    largest = fmax(largest, fabs(update_value(dtype, u, i)));
  return largest;
}

osla_err update_check_symmetric(osla_dtype dtype, const void *u, int64_t n, double largest)
{
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++) {
      double x = update_value(dtype, u, i * n + j), y = update_value(dtype, u, j * n + i);
      OSLA_CHECK(fabs(x - y) <= 1e-6 * largest, OSLA_ERR_IO,
                 "U is not symmetric: U[%" PRId64 ", %" PRId64 "] = %g, U[%" PRId64 ", %" PRId64
                 "] = %g",
                 i, j, x, j, i, y);
    }
  return OSLA_OK;
}

/* For blocks, the gradient is only the data set g of the file. */
osla_err update_prepare(assemble_worker *w, int64_t u, void *values, const double **gradient)
{
  const updates_batch *b = &w->batch;
  int64_t at = b->offset[u] - b->offset[0], n = b->offset[u + 1] - b->offset[u];
  const double *given = b->g ? b->g + at : NULL;
  *gradient = given;
  if (b->k == 0) return OSLA_OK;
  OSLA_CALL(grow(&w->root_w, &w->k_room, b->k));
  OSLA_CALL(grow(&w->sums, &w->sums_room, n + 1));
  weight_panel(w, b->k, n, values, b->w ? b->w + u * b->k : NULL, b->r ? b->r + u * b->k : NULL);
  if (!b->r) return OSLA_OK;
  for (int64_t a = 0; given && a < n; a++)
    w->sums[a] += given[a];
  *gradient = w->sums;
  return OSLA_OK;
}

/* Returns true if the accumulator already has update u of file i, from a checkpoint. In the pass
 * that finds the bounds there is no accumulator, and the result is false. */
static bool is_added(const assemble_worker *w, int i, int64_t u)
{
  osla_hessian *h = w->job->hessian;
  return h && osla_hessian_has_id(h, (uint64_t)(w->job->before[i] + u));
}

/* Adds update u of the batch to H and g. The id of an update is its number among the updates of all
 * files. */
static osla_err add_update(assemble_worker *w, int64_t u, void *values)
{
  const updates_batch *b = &w->batch;
  osla_hessian *h = w->job->hessian;
  int64_t at = b->offset[u] - b->offset[0], n = b->offset[u + 1] - b->offset[u];
  osla_hessian_datum d = {
    .id = (uint64_t)(w->job->before[w->open_file] + b->first + u), .count = n, .ix = b->ix + at};
  OSLA_CALL(update_prepare(w, u, values, &d.gradient));
  if (b->k > 0) {
    d.k = d.ldg = b->k;
    d.g = values;
  } else {
    osla_dtype dtype = w->job->options->dtype;
    if (!w->job->symmetric)
      OSLA_CALL(update_check_symmetric(dtype, values, n, largest_of(dtype, values, n * n)));
    d.cols = n;
    d.jx = d.ix;
    d.u = values;
    d.ldu = n > 0 ? n : 1;
  }
  return osla_hessian_update_once(h, &d, NULL);
}

static osla_err process_batch(assemble_worker *w, const char *path)
{
  const updates_batch *b = &w->batch;
  size_t size = osla_dtype_size(w->job->options->dtype);
  unsigned char *values = b->values;
  for (int64_t u = 0; u < b->count; u++) {
    int64_t n = b->offset[u + 1] - b->offset[u];
    osla_err err = is_added(w, w->open_file, b->first + u) ? OSLA_OK : w->process(w, u, values);
    if (err != OSLA_OK) {
      char text[400];
      (void)snprintf(text, sizeof text, "%s", osla_error_text());
      return osla_error_set(err, "%.200s: update %" PRId64 ": %s", path, b->first + u, text);
    }
    values += (size_t)(n * (b->k > 0 ? b->k : n)) * size;
    osla_progress(w->job->t);
  }
  return OSLA_OK;
}

/* Processes updates [first, end) of file i. */
static osla_err process_range(assemble_worker *w, int i, int64_t first, int64_t end)
{
  const assemble_options *o = w->job->options;
  if (w->open_file != i) {
    int64_t count;
    w->open_file = -1;
    OSLA_CALL(updates_reader_open(w->job->reader, o->files[i], &count));
    w->open_file = i;
    OSLA_CHECK(count == w->job->before[i + 1] - w->job->before[i], OSLA_ERR_IO,
               "%.200s: was changed while it was read", o->files[i]);
  }
  while (first < end) {
    if (is_added(w, i, first)) {
      first++; /* an update that the accumulator has from the checkpoint is not even read */
      continue;
    }
    double start = osla_clock();
    OSLA_CALL(updates_reader_read(w->job->reader, first, end - first, o->dtype, &w->batch));
    double read = osla_clock();
    OSLA_CALL(process_batch(w, o->files[i]));
    w->seconds_read += read - start;
    w->seconds_use += osla_clock() - read;
    first += w->batch.count;
  }
  return OSLA_OK;
}

static osla_err process_subsets(assemble_worker *w, osla_counter *counter, int64_t subset)
{
  assemble_job *job = w->job;
  for (;;) {
    int64_t first, end;
    OSLA_CALL(w->points ? checkpoint_next(w->points, counter, subset, true, &first)
                        : osla_counter_next(counter, subset, &first));
    if (first >= job->updates) return OSLA_OK;
    end = first + subset < job->updates ? first + subset : job->updates;
    for (int i = 0; i < job->options->n_files; i++) {
      int64_t from = first > job->before[i] ? first : job->before[i];
      int64_t to = end < job->before[i + 1] ? end : job->before[i + 1];
      if (from < to) OSLA_CALL(process_range(w, i, from - job->before[i], to - job->before[i]));
    }
  }
}

/* Returns the number of updates in a subset. There are at least 16 subsets for each rank, so that
 * the ranks finish at about the same time. With checkpoints, which are written between subsets,
 * there are at least 64. A subset has at most 1024 updates. */
static int64_t choose_subset(const assemble_job *job)
{
  int64_t each = job->checkpoint.file ? 64 : 16;
  int64_t subset = job->updates / (each * osla_transport_size(job->t));
  return subset < 1 ? 1 : subset > 1024 ? 1024 : subset;
}

osla_err assemble_for_all_updates(assemble_worker *w)
{
  assemble_job *job = w->job;
  osla_counter *counter = NULL;
  w->open_file = -1;
  OSLA_CALL(osla_counter_create(job->t, &counter));
  osla_err err = process_subsets(w, counter, choose_subset(job));
  if (err != OSLA_OK) { /* fetch all remaining work, so that the other ranks stop */
    char text[512];
    int64_t left;
    (void)snprintf(text, sizeof text, "%s", osla_error_text());
    (void)osla_counter_next(counter, job->updates, &left);
    if (w->points) checkpoint_abandon(w->points, err);
    (void)osla_error_set(err, "%s", text);
  }
  err = osla_agree(job->t, err);
  free(w->root_w);
  free(w->sums);
  osla_counter_destroy(&counter);
  return err;
}

static osla_err reduce_totals(assemble_job *job, const assemble_worker *w)
{
  double seconds[2] = {w->seconds_read, w->seconds_use};
  job->elements = osla_hessian_get_stats(job->hessian).elements;
  OSLA_CALL(osla_allreduce(job->t, &job->elements, 1, MPI_INT64_T, MPI_SUM));
  OSLA_CALL(osla_allreduce(job->t, seconds, 2, MPI_DOUBLE, MPI_MAX));
  job->seconds_read = seconds[0];
  job->seconds_add = seconds[1];
  return OSLA_OK;
}

osla_err assemble_add_updates(assemble_job *job)
{
  assemble_worker w = {.job = job, .process = add_update, .points = &job->checkpoint};
  double start = osla_clock();
  OSLA_CALL(assemble_for_all_updates(&w));
  OSLA_CALL(checkpoint_write_final(&job->checkpoint));
  OSLA_CALL(osla_hessian_commit(job->hessian));
  OSLA_CALL(reduce_totals(job, &w));
  job->seconds_assemble = osla_clock() - start;
  return OSLA_OK;
}
