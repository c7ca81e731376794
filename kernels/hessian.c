/* The accumulator's life: make, commit, hand out, reset, free. */
#include "hessian_exact.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_MIN = 64 * 1024, ALIGN = 64 };

osla_hessian_options osla_hessian_defaults(void)
{
  return (osla_hessian_options){.uplo = OSLA_LOWER,
                                .dtype = OSLA_DOUBLE,
                                .update_dtype = OSLA_HESSIAN_SAME,
                                .combine = OSLA_COMBINE_SUM,
                                .initial = (double)NAN,
                                .nb = 128,
                                .ring_bytes = (size_t)64 << 20,
                                .piece_bytes = (size_t)64 << 20};
}

static osla_err check(int64_t n, const osla_hessian_options *o)
{
  OSLA_CHECK(n >= 0, OSLA_ERR_ARG, "Hessian of order %" PRId64, n);
  OSLA_CHECK(o->nb >= 1, OSLA_ERR_ARG, "block size %" PRId64 " is below 1", o->nb);
  osla_dtype update = osla_update_dtype(o);
  OSLA_CHECK(o->dtype == OSLA_FLOAT || o->dtype == OSLA_DOUBLE, OSLA_ERR_UNSUPPORTED,
             "Hessian of type '%c'", osla_dtype_letter(o->dtype));
  OSLA_CHECK(update == o->dtype || (update == OSLA_FLOAT && o->dtype == OSLA_DOUBLE),
             OSLA_ERR_UNSUPPORTED, "updates of type %d into a Hessian of type '%c'", (int)update,
             osla_dtype_letter(o->dtype));
  OSLA_CHECK(o->uplo == OSLA_LOWER || o->uplo == OSLA_UPPER || o->uplo == OSLA_GENERAL,
             OSLA_ERR_ARG, "uplo = %d", (int)o->uplo);
  if (o->order_independent) OSLA_CALL(osla_exact_check_options(o));
  OSLA_CHECK(o->piece_bytes >= 4096, OSLA_ERR_ARG, "piece_bytes = %zu is below 4096",
             o->piece_bytes);
  return OSLA_OK;
}

static osla_err new_hessian(osla_grid *grid, int64_t n, const osla_hessian_options *options,
                            osla_hessian **out)
{
  osla_hessian_options o = options ? *options : osla_hessian_defaults();
  OSLA_CALL(check(n, &o));
  int ranks = osla_transport_size(osla_grid_transport(grid));
  osla_hessian *h = calloc(1, sizeof *h);
  OSLA_CHECK(h, OSLA_ERR_MEM, "Hessian object");
  *out = h;
  h->options = o;
  h->n = n;
  h->element = osla_dtype_size(osla_update_dtype(&o));
  OSLA_CALL(osla_combiner_make(&o, &h->combine));
  (void)pthread_mutex_init(&h->mutex, NULL);
  h->gradient = calloc((size_t)n + 1, sizeof *h->gradient);
  h->pending_gradient = calloc((size_t)n + 1, sizeof *h->pending_gradient);
  h->sent = calloc((size_t)ranks, sizeof *h->sent);
  h->applied = calloc((size_t)ranks, sizeof *h->applied);
  h->credited = calloc((size_t)ranks, sizeof *h->credited);
  h->send_mutex = calloc((size_t)ranks, sizeof *h->send_mutex);
  OSLA_CHECK(h->gradient && h->pending_gradient && h->sent && h->applied && h->credited &&
               h->send_mutex,
             OSLA_ERR_MEM, "Hessian tables of order %" PRId64 " and %d ranks", n, ranks);
  for (int rank = 0; rank < ranks; rank++)
    (void)pthread_mutex_init(&h->send_mutex[rank], NULL);
  return OSLA_OK;
}

static osla_err make_rings(osla_hessian *h)
{
  osla_transport *t = h->v.t;
  /* The same on all ranks, although nodes may differ in size: the smallest node has most origins.
   */
  int remote = osla_transport_size(t) - osla_transport_node_size(t);
  OSLA_CALL(osla_allreduce(t, &remote, 1, MPI_INT, MPI_MAX));
  size_t slot = remote > 0 ? h->options.ring_bytes / ((size_t)remote * RING_SLOTS) : 0;
  h->slot_bytes = (slot > SLOT_MIN ? slot : SLOT_MIN) / ALIGN * ALIGN;
  OSLA_CALL(osla_segment_create(t, osla_ring_segment_bytes(h), NOTIFY_PURPOSES, &h->segment));
  osla_err err = OSLA_OK;
  if (remote > 0) {
    err = osla_progress_add(t, osla_ring_drain, h);
    h->hooked = err == OSLA_OK;
  }
  return osla_agree(t, err);
}

static double initial_element(int64_t i, int64_t j, void *value)
{
  (void)i;
  (void)j;
  return *(const double *)value;
}

static osla_err fill_initial(osla_hessian *h)
{
  double initial = osla_combiner_initial(&h->options);
  if (initial == 0.0) return osla_matrix_fill(h->matrix, OSLA_FILL_ZERO, 0);
  return osla_matrix_fill_with(h->matrix, initial_element, &initial);
}

osla_err osla_hessian_create(osla_grid *grid, int64_t n, const osla_hessian_options *options,
                             osla_hessian **out)
{
  osla_hessian *h = NULL;
  *out = NULL;
  osla_err err;
  OSLA_TRY(osla_agree(osla_grid_transport(grid), new_hessian(grid, n, options, &h)));
  OSLA_TRY(
    osla_matrix_create(grid, h->options.dtype, n, n, h->options.nb, h->options.nb, &h->matrix));
  h->v = view_of(h->matrix);
  if (osla_combiner_initial(&h->options) != 0.0) OSLA_TRY(fill_initial(h)); /* it is made as zero */
  if (h->options.order_independent) OSLA_TRY(osla_exact_create(h));
  OSLA_TRY(make_rings(h));
  *out = h;
  return OSLA_OK;
cleanup:
  osla_hessian_destroy(&h);
  return err;
}

void osla_hessian_destroy(osla_hessian **handle)
{
  osla_hessian *h = handle ? *handle : NULL;
  if (!h) return;
  /* A rank that still updates may be waiting for room in a ring here: serve it until it is done. */
  if (h->segment) (void)osla_barrier(h->v.t);
  if (h->hooked) osla_progress_remove(h->v.t, osla_ring_drain, h);
  osla_segment_destroy(&h->segment);
  osla_exact_destroy(h);
  osla_workspace_free_all(h);
  if (h->send_mutex && h->matrix)
    for (int rank = 0; rank < osla_transport_size(h->v.t); rank++)
      (void)pthread_mutex_destroy(&h->send_mutex[rank]);
  osla_matrix_destroy(&h->matrix);
  (void)pthread_mutex_destroy(&h->mutex);
  free(h->gradient);
  free(h->pending_gradient);
  free(h->sent);
  free(h->applied);
  free(h->credited);
  free(h->send_mutex);
  free(h);
  *handle = NULL;
}

typedef struct arrivals {
  osla_hessian *h;
  const uint64_t *expected;
} arrivals;

/* All pieces that were sent here have been added; the adding is done by the progress hook. */
static bool all_applied(void *arg)
{
  const arrivals *a = arg;
  for (int origin = 0; origin < osla_transport_size(a->h->v.t); origin++)
    if (atomic_load(&a->h->applied[origin]) < a->expected[origin]) return false;
  return true;
}

/* Every send has reached its ring when update returns; so once all ranks have come here, the counts
 * say what each owner still has to add, and direct additions on the node are complete. */
static osla_err wait_for_pieces(osla_hessian *h)
{
  size_t ranks = (size_t)osla_transport_size(h->v.t);
  uint64_t *expected = calloc(ranks, sizeof *expected);
  OSLA_CALL(osla_agree(h->v.t, expected ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "piece counts")));
  osla_err err = osla_alltoall(h->v.t, h->sent, expected, 1, MPI_UINT64_T);
  arrivals a = {h, expected};
  if (err == OSLA_OK) osla_segment_wait(h->segment, all_applied, &a);
  free(expected);
  return err;
}

static osla_err sum_gradient(osla_hessian *h)
{
  OSLA_CALL(osla_allreduce(h->v.t, h->pending_gradient, h->n, MPI_DOUBLE, MPI_SUM));
  for (int64_t i = 0; i < h->n; i++)
    h->gradient[i] += h->pending_gradient[i];
  memset(h->pending_gradient, 0, (size_t)h->n * sizeof *h->pending_gradient);
  return OSLA_OK;
}

osla_err osla_hessian_commit(osla_hessian *h)
{
  OSLA_CALL(wait_for_pieces(h));
  OSLA_CALL(h->exact ? osla_exact_commit(h) : sum_gradient(h));
  h->dirty = false;
  return osla_barrier(h->v.t); /* every owner is complete before anyone reads H */
}

osla_err osla_hessian_matrix(osla_hessian *h, osla_matrix **out)
{
  *out = NULL;
  if (h->exact) OSLA_CALL(osla_exact_verdict(h));
  OSLA_CHECK(!h->dirty, OSLA_ERR_STATE, "the matrix was asked for before osla_hessian_commit");
  *out = h->matrix;
  return OSLA_OK;
}

const double *osla_hessian_gradient(const osla_hessian *h)
{
  return h->gradient;
}

osla_hessian_stats osla_hessian_get_stats(osla_hessian *h)
{
  return h->stats;
}

osla_err osla_hessian_reset(osla_hessian *h)
{
  bool failed = h->exact && osla_exact_verdict(h) != OSLA_OK; /* on all ranks */
  osla_err err = OSLA_OK;
  if (h->dirty && !failed) err = osla_error_set(OSLA_ERR_STATE, "reset before osla_hessian_commit");
  OSLA_CALL(osla_agree(h->v.t, err));
  if (h->exact) osla_exact_reset(h);
  h->dirty = false;
  memset(h->gradient, 0, (size_t)h->n * sizeof *h->gradient);
  h->stats = (osla_hessian_stats){0};
  return fill_initial(h);
}
