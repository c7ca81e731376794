/* Checkpoint and restart of the accumulator.
 *
 * During a checkpoint each rank stops new updates, waits until running updates are in their owners'
 * memory, copies matrix, gradient and ledger, lets updates continue, and writes the copies. So the
 * ids in the file are exactly those of the updates that the matrix in the file contains. Updates
 * wait only until the copies in memory are made, not until they are written to the disk. If there
 * is no memory for a second matrix, updates wait until the matrix itself is written.
 *
 * The file holds the triangle of matrix "H", vector "gradient", vector "ids", and the accumulator's
 * properties as numbers and texts. In order-independent mode H and the gradient are stored as
 * fixed-point numbers (int64), and the ids ascend, so that the file does not depend on which rank
 * added which update. */
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_exact.h"
#include "kernels/hessian/hessian_ledger.h"
#include "kernels/hessian/hessian_target.h"
#include "osla_file.h"
#include "src/blas/move.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, JOB_MOST = 1024 };

/* This rank's copies of the data that a checkpoint writes. */
typedef struct snapshot {
  osla_matrix *matrix; /* copy of H; NULL if there was no memory for it */
  /* mask of the stripes of H itself that were converted to fixed point, if there is no copy */
  uint64_t converted;
  void *gradient; /* [n] sum over the ranks: double, or int64_t in order-independent mode */
  uint64_t *ids;  /* [n_ids] this rank's part of the ids; after merging, the ids of all ranks */
  int64_t n_ids;
} snapshot;

static osla_stored stored_of(const osla_hessian *h)
{
  if (h->options.uplo == OSLA_GENERAL) return OSLA_STORED_WHOLE;
  return h->options.uplo == OSLA_UPPER ? OSLA_STORED_UPPER : OSLA_STORED_LOWER;
}

/* ---- checkpoint ---- */

/* Allocates the copies that a checkpoint writes, in host memory. Collective. If memory for the copy
 * of H is missing and H lies in host memory, this is no error, and s->matrix is NULL. If H lies on
 * a device, the copy is always needed. */
static osla_err make_matrix(osla_hessian *h, snapshot *s)
{
  if (h->options.checkpoint_holds && !h->device) return OSLA_OK;
  osla_err err = osli_target_create(h, h->v.grid, &s->matrix);
  if (err == OSLA_ERR_MEM) s->matrix = NULL;
  return err == OSLA_ERR_MEM && !h->device ? OSLA_OK : err;
}

static osla_file_type gradient_type(const osla_hessian *h)
{
  return h->exact ? OSLA_FILE_INT64 : OSLA_FILE_DOUBLE;
}

/* Copies this rank's part of H. In order-independent mode the copy is converted to fixed point. */
static osla_err copy_matrix(const osla_hessian *h, snapshot *s)
{
  const local_view *v = &h->v;
  const owner_array own = owner_part(h, osla_transport_rank(v->t));
  uint64_t doubles = h->exact ? osli_exact_doubles(h) : 0;
  if (!s->matrix) {
    s->converted = doubles;
    return osli_exact_convert(h, doubles, true, &own);
  }
  owner_array copy = own;
  copy.at = osla_matrix_local(s->matrix);
  copy.lld = osla_matrix_lld(s->matrix, own.owner);
  for (int64_t c = 0, cols; c < v->cols; c += cols) {
    const stored_columns from = array_columns(&own, c), to = array_columns(&copy, c);
    const int64_t row = from.first_row;
    cols = from.count < v->cols - c ? from.count : v->cols - c;
    osli_move_columns(v->element, v->rows - row, cols,
                      array_at(&own, stored_index(&from, row, c), v->element), from.ld,
                      array_at(&copy, stored_index(&to, row, c), v->element), to.ld);
  }
  return osli_exact_convert(h, doubles, true, &copy);
}

static osla_err sum_gradient(osla_hessian *h, snapshot *s)
{
  size_t bytes = (size_t)h->n * sizeof(double);
  s->gradient = malloc(bytes + 1);
  osla_err err =
    s->gradient ? OSLA_OK
                : osla_error_set(OSLA_ERR_MEM, "no memory for a gradient of order %" PRId64, h->n);
  OSLA_CALL(osla_agree(h->v.t, err));
  if (h->exact) return osli_exact_sum_gradient(h, s->gradient);
  double *sum = s->gradient;
  memcpy(sum, h->pending_gradient, bytes);
  OSLA_CALL(osla_allreduce(h->v.t, sum, h->n, MPI_DOUBLE, MPI_SUM));
  for (int64_t i = 0; i < h->n; i++)
    sum[i] += h->gradient[i];
  return OSLA_OK;
}

static osla_err check_whole(const osla_hessian *h)
{
  OSLA_CHECK(!h->ledger->broken, OSLA_ERR_STATE,
             "osla_hessian_checkpoint: an update failed after a part of it may have been added: "
             "reset first");
  return OSLA_OK;
}

/* Stops updates on all ranks, and makes each rank's copies of its data. Collective. */
static osla_err take_snapshot(osla_hessian *h, snapshot *s)
{
  osli_gate_close(h);
  OSLA_CALL(osli_hessian_complete_updates(h));
  OSLA_CALL(osla_agree(h->v.t, check_whole(h)));
  OSLA_CALL(osla_agree(h->v.t, copy_matrix(h, s)));
  if (h->exact) OSLA_CALL(osli_exact_agree_error(h));
  OSLA_CALL(sum_gradient(h, s));
  return osla_agree(h->v.t, osli_ledger_list(h, &s->ids, &s->n_ids));
}

/* Properties that must be equal in the accumulator that wrote a checkpoint and the one that reads
 * it. */
typedef struct kind {
  int64_t combine, exact;
  double initial, bound, gradient_bound;
} kind;

static kind kind_of(const osla_hessian *h)
{
  const osla_hessian_options *o = &h->options;
  return (kind){.combine = (int64_t)o->combine,
                .exact = o->order_independent,
                .initial = osli_combiner_initial(o),
                .bound = o->order_independent ? o->bound : 0.0,
                .gradient_bound = o->order_independent ? o->gradient_bound : 0.0};
}

static osla_err put_kind(const kind *k, osla_file *file)
{
  OSLA_CALL(osla_file_put_int(file, "combine", k->combine));
  OSLA_CALL(osla_file_put_int(file, "order_independent", k->exact));
  OSLA_CALL(osla_file_put_number(file, "initial", k->initial));
  OSLA_CALL(osla_file_put_number(file, "bound", k->bound));
  return osla_file_put_number(file, "gradient_bound", k->gradient_bound);
}

static osla_err put_snapshot(const osla_hessian *h, const snapshot *s, const char *job,
                             osla_file *file)
{
  OSLA_CALL(osla_file_put_int(file, "checkpoint", VERSION));
  OSLA_CALL(osla_file_put_text(file, "job", job));
  const kind k = kind_of(h);
  OSLA_CALL(put_kind(&k, file));
  OSLA_CALL(osla_file_put_matrix(file, "H", s->matrix ? s->matrix : h->matrix, stored_of(h)));
  OSLA_CALL(osla_file_put_vector(file, "gradient", gradient_type(h), h->n, s->gradient));
  if (h->exact) return osla_file_put_vector(file, "ids", OSLA_FILE_UINT64, s->n_ids, s->ids);
  return osla_file_put_parts(file, "ids", OSLA_FILE_UINT64, s->n_ids, s->ids);
}

static osla_err write_snapshot(osla_hessian *h, snapshot *s, const char *path, const char *job)
{
  osla_file *file = NULL;
  if (h->exact) OSLA_CALL(osli_ledger_merge(h, &s->ids, &s->n_ids));
  OSLA_CALL(osla_file_create(h->v.t, path, &file));
  osla_err err = put_snapshot(h, s, job, file);
  if (err == OSLA_OK) return osla_file_commit(&file);
  osla_file_close(&file);
  return err;
}

static osla_err check_job(const osla_hessian *h, const char *path, const char *job)
{
  OSLA_CHECK(is_shared(h->matrix), OSLA_ERR_UNSUPPORTED,
             "checkpoint and restore need a matrix that other ranks can access: make it by "
             "osla_matrix_wrap, not by osla_matrix_wrap_own");
  OSLA_CHECK(path, OSLA_ERR_ARG, "path is NULL");
  OSLA_CHECK(strlen(job) < JOB_MOST, OSLA_ERR_ARG, "job has %zu bytes, at most %d are allowed",
             strlen(job), JOB_MOST - 1);
  return OSLA_OK;
}

/* Checks that a text is equal on all ranks. Collective. */
static osla_err agree_text(const osla_hessian *h, const char *call, const char *name,
                           const char *text)
{
  enum { MOST = 4096, SHOWN = 100 };
  struct {
    size_t length;
    char text[MOST];
  } first = {.length = strlen(text)};
  (void)strncpy(first.text, text, MOST - 1);
  OSLA_CALL(osla_bcast(h->v.t, &first, sizeof first, MPI_BYTE, 0));
  const bool same = first.length == strlen(text) && strncmp(first.text, text, MOST - 1) == 0;
  osla_err err = OSLA_OK;
  if (!same)
    err = osla_error_set(OSLA_ERR_ARG,
                         "%s: %s is '%.*s' on rank 0, but '%.*s' on rank %d: all ranks must pass "
                         "the same",
                         call, name, SHOWN, first.text, SHOWN, text, osla_transport_rank(h->v.t));
  return osla_agree(h->v.t, err);
}

static osla_err agree_job(const osla_hessian *h, const char *call, const char *path,
                          const char *job)
{
  OSLA_CALL(osla_agree(h->v.t, check_job(h, path, job)));
  OSLA_CALL(agree_text(h, call, "path", path));
  return agree_text(h, call, "job", job);
}

/* Converts H back to doubles, if it was converted to be written without a copy, and lets updates
 * continue. Also called after an error. */
static osla_err reopen_matrix(osla_hessian *h, const snapshot *s, osla_err err)
{
  err = osla_agree(h->v.t, err); /* waits until no rank reads H any more */
  const owner_array own = owner_part(h, osla_transport_rank(h->v.t));
  if (h->exact) (void)osli_exact_convert(h, s->converted, false, &own);
  /* waits until all ranks have converted their parts, because then other ranks of the node may add
   * to H */
  err = osla_agree(h->v.t, err);
  osli_gate_open(h);
  return err;
}

osla_err osla_hessian_checkpoint(osla_hessian *h, const char *path, const char *job)
{
  snapshot s = {.matrix = NULL};
  if (!job) job = "";
  OSLA_CALL(agree_job(h, "osla_hessian_checkpoint", path, job));
  OSLA_CALL(make_matrix(h, &s));
  osla_err err = take_snapshot(h, &s);
  if (s.matrix) osli_gate_open(h);
  if (err == OSLA_OK) err = write_snapshot(h, &s, path, job);
  if (!s.matrix) err = reopen_matrix(h, &s, err);
  osla_matrix_destroy(&s.matrix);
  free(s.gradient);
  free(s.ids);
  return err;
}

/* ---- restore ---- */

static osla_err check_matrix(const osla_hessian *h, const char *path, osla_file_matrix stored)
{
  static const char *const triangle[] = {"the whole", "the lower triangle", "the upper triangle"};
  OSLA_CHECK(stored.m == h->n && stored.n == h->n, OSLA_ERR_IO,
             "%.200s: has order %" PRId64 ", the accumulator has order %" PRId64, path, stored.n,
             h->n);
  OSLA_CHECK(stored.dtype == osli_hessian_dtype(&h->options), OSLA_ERR_IO,
             "%.200s: has type '%c', the accumulator has type '%c'", path,
             osla_dtype_letter(stored.dtype), osla_dtype_letter(osli_hessian_dtype(&h->options)));
  OSLA_CHECK(stored.stored == stored_of(h), OSLA_ERR_IO,
             "%.200s: holds %s of H, the accumulator %s", path, triangle[stored.stored],
             triangle[stored_of(h)]);
  return OSLA_OK;
}

static osla_err check_kind(const osla_hessian *h, const char *path, osla_file *file)
{
  const kind own = kind_of(h);
  kind k;
  OSLA_CALL(osla_file_get_int(file, "combine", &k.combine));
  OSLA_CALL(osla_file_get_int(file, "order_independent", &k.exact));
  OSLA_CALL(osla_file_get_number(file, "initial", &k.initial));
  OSLA_CALL(osla_file_get_number(file, "bound", &k.bound));
  OSLA_CALL(osla_file_get_number(file, "gradient_bound", &k.gradient_bound));
  OSLA_CHECK(k.combine == own.combine, OSLA_ERR_IO,
             "%.200s: has combine = %" PRId64 ", the accumulator has %" PRId64, path, k.combine,
             own.combine);
  OSLA_CHECK(k.initial == own.initial, OSLA_ERR_IO,
             "%.200s: has initial = %.17g, the accumulator has %.17g", path, k.initial,
             own.initial);
  OSLA_CHECK(k.exact == own.exact, OSLA_ERR_IO,
             "%.200s: has order_independent = %d, the accumulator has %d", path, (int)k.exact,
             (int)own.exact);
  OSLA_CHECK(k.bound == own.bound && k.gradient_bound == own.gradient_bound, OSLA_ERR_IO,
             "%.200s: has bounds %.17g and %.17g, the accumulator has %.17g and %.17g", path,
             k.bound, k.gradient_bound, own.bound, own.gradient_bound);
  return OSLA_OK;
}

/* Checks that a file is a checkpoint with the properties of this accumulator. Collective; all ranks
 * return the same error. */
static osla_err check_file(const osla_hessian *h, const char *path, const char *job,
                           osla_file *file)
{
  char written_for[JOB_MOST];
  int64_t version;
  osla_file_matrix stored;
  OSLA_CHECK(osla_file_get_int(file, "checkpoint", &version) == OSLA_OK, OSLA_ERR_IO,
             "%.200s: is not a checkpoint of osla_hessian", path);
  OSLA_CHECK(version == VERSION, OSLA_ERR_IO,
             "%.200s: has checkpoint version %" PRId64 ", this library reads version %d", path,
             version, VERSION);
  OSLA_CALL(osla_file_get_text(file, "job", written_for, sizeof written_for));
  OSLA_CHECK(strcmp(written_for, job) == 0, OSLA_ERR_IO,
             "%.200s: was written for job \"%.100s\", not for job \"%.100s\"", path, written_for,
             job);
  OSLA_CALL(osla_file_look_matrix(file, "H", &stored));
  OSLA_CALL(check_matrix(h, path, stored));
  return check_kind(h, path, file);
}

/* Data that a restore reads before it changes the accumulator. */
typedef struct content {
  void *gradient; /* [n] gradient that was read: double, or int64_t in order-independent mode */
  uint64_t *ids;
  int64_t n_ids;
} content;

static osla_err read_content(const osla_hessian *h, osla_file *file, content *c)
{
  int64_t n;
  OSLA_CALL(osla_file_look_vector(file, "gradient", gradient_type(h), &n));
  OSLA_CALL(osla_file_look_vector(file, "ids", OSLA_FILE_UINT64, &c->n_ids));
  /* checks that there is memory for the list and the set of ids (the file has 8 bytes for each id,
   * unless it is a sparse file) */
  OSLA_CALL(osla_memory_check(h->v.t, ((uint64_t)c->n_ids + 1) * 4 * sizeof *c->ids));
  c->gradient = malloc(((size_t)h->n + 1) * sizeof(double));
  c->ids = malloc(((size_t)c->n_ids + 1) * sizeof *c->ids);
  osla_err err = c->gradient && c->ids
                   ? OSLA_OK
                   : osla_error_set(OSLA_ERR_MEM, "no memory for %" PRId64 " ids", c->n_ids);
  OSLA_CALL(osla_agree(h->v.t, err));
  OSLA_CALL(osla_file_get_vector(file, "gradient", gradient_type(h), h->n, c->gradient));
  return osla_file_get_vector(file, "ids", OSLA_FILE_UINT64, c->n_ids, c->ids);
}

static osla_err fill_ledger(osla_hessian *h, const char *path, const content *c)
{
  for (int64_t i = 0; i < c->n_ids; i++) {
    bool added;
    OSLA_CALL(osli_id_set_add(&h->ledger->restored, c->ids[i], &added));
    OSLA_CHECK(added, OSLA_ERR_IO, "%.200s: two ranks added the id %" PRIu64, path, c->ids[i]);
  }
  return OSLA_OK;
}

/* Reads H from a checkpoint. If H lies on a device, the file is read into a matrix in host memory,
 * which is then copied to H. */
static osla_err read_matrix(osla_hessian *h, osla_file *file)
{
  osla_matrix *read = NULL;
  if (!h->device) return osla_file_get_matrix(file, "H", h->matrix);
  OSLA_CALL(osli_target_create(h, h->v.grid, &read));
  osla_err err = osla_file_get_matrix(file, "H", read);
  if (err == OSLA_OK) err = osla_matrix_copy(read, h->matrix);
  osla_matrix_destroy(&read);
  return err;
}

static osla_err restore(osla_hessian *h, const char *path, osla_file *file, const content *c)
{
  OSLA_CALL(osla_agree(h->v.t, fill_ledger(h, path, c)));
  OSLA_CALL(read_matrix(h, file));
  if (h->exact)
    OSLA_CALL(osli_exact_restored(h, c->gradient));
  else
    memcpy(h->gradient, c->gradient, (size_t)h->n * sizeof *h->gradient);
  h->dirty = h->ledger->used = true;
  return OSLA_OK;
}

static osla_err check_fresh(const osla_hessian *h)
{
  OSLA_CHECK(!h->ledger->used, OSLA_ERR_STATE,
             "osla_hessian_restore: the accumulator has had updates: reset it first");
  return OSLA_OK;
}

/* Resets the accumulator after a failed restore; the text of the error stays. */
static void reset_after_error(osla_hessian *h, osla_err err)
{
  char text[512];
  (void)snprintf(text, sizeof text, "%s", osla_error_text());
  (void)osla_hessian_reset(h);
  (void)osla_error_set(err, "%s", text);
}

osla_err osla_hessian_restore(osla_hessian *h, const char *path, const char *job)
{
  osla_file *file = NULL;
  content c = {.n_ids = 0};
  if (!job) job = "";
  OSLA_CALL(agree_job(h, "osla_hessian_restore", path, job));
  OSLA_CALL(osla_agree(h->v.t, check_fresh(h)));
  OSLA_CALL(osla_file_open(h->v.t, path, &file));
  osla_err err = check_file(h, path, job, file);
  if (err == OSLA_OK) err = read_content(h, file, &c);
  if (err == OSLA_OK) {
    err = restore(h, path, file, &c);
    if (err != OSLA_OK) reset_after_error(h, err);
  }
  osla_file_close(&file);
  free(c.gradient);
  free(c.ids);
  return err;
}
