/* Creation and destruction of the accumulator; commit, access to the matrix, and reset. */
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_boxes.h"
#include "kernels/hessian/hessian_exact.h"
#include "kernels/hessian/hessian_ledger.h"
#include "kernels/hessian/hessian_node.h"
#include "kernels/hessian/hessian_target.h"
#include "kernels/hessian/hessian_update.h"
#include "src/base/double_bits.h"
#include "src/base/reserved.h"
#include "src/blas/work.h"
#include "src/matrix/memory_kind.h"
#include "src/memory/segment.h"
#include "src/transport/live_objects.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* default value of the options ring_bytes and piece_bytes */
static const size_t default_bytes = (size_t)64 << 20;

osla_hessian_options osli_hessian_resolve(const osla_hessian_options *options)
{
  osla_hessian_options o = options ? *options : (osla_hessian_options){0};
  if (o.nb == 0) o.nb = OSLA_DEFAULT_BLOCK;
  if (o.ring_bytes == 0) o.ring_bytes = default_bytes;
  if (o.piece_bytes == 0) o.piece_bytes = default_bytes;
  return o;
}

static osla_err check(int64_t n, const osla_hessian_options *o)
{
  OSLA_CALL(OSLA_RESERVED(osla_hessian_options, o));
  OSLA_CHECK(n >= 0, OSLA_ERR_ARG, "order n = %" PRId64 " is negative", n);
  OSLA_CHECK(o->nb >= 1, OSLA_ERR_ARG, "block size %" PRId64 " is below 1", o->nb);
  OSLA_CHECK(o->uplo == OSLA_LOWER || o->uplo == OSLA_UPPER || o->uplo == OSLA_GENERAL,
             OSLA_ERR_ARG, "uplo = %d is not OSLA_LOWER, OSLA_UPPER or OSLA_GENERAL", (int)o->uplo);
  OSLA_CHECK(o->triangle == 0 || o->triangle == 1, OSLA_ERR_ARG,
             "triangle = %" PRId64 " is neither 0 nor 1", o->triangle);
  OSLA_CHECK(o->triangle == 0 || o->uplo == OSLA_LOWER, OSLA_ERR_ARG,
             "a triangular matrix stores the lower triangle: set uplo to OSLA_LOWER, not %d",
             (int)o->uplo);
  OSLA_CHECK(!isnan(o->initial), OSLA_ERR_ARG, "initial = %g is not a number", o->initial);
  OSLA_CHECK(!o->from_zero || o->initial == 0.0, OSLA_ERR_ARG,
             "from_zero requires initial = 0, not initial = %g", o->initial);
  if (o->order_independent) OSLA_CALL(osli_exact_check_options(o));
  if (o->node_sums) OSLA_CALL(osli_node_sums_check(o));
  OSLA_CHECK(!osli_work_modelled || !(o->order_independent || o->node_sums), OSLA_ERR_UNSUPPORTED,
             "%s cannot run with modelled work, because the bytes sent depend on the values",
             o->order_independent ? "order-independent mode" : "node_sums");
  OSLA_CHECK(o->piece_bytes >= 4096, OSLA_ERR_ARG, "piece_bytes = %zu is below 4096",
             o->piece_bytes);
  OSLA_CHECK(o->isolation == OSLA_ISOLATE_UPDATE || o->isolation == OSLA_ISOLATE_ELEMENT,
             OSLA_ERR_ARG, "isolation = %d is not an osla_isolation", (int)o->isolation);
  OSLA_CHECK(o->shipping == OSLA_SHIP_LESS || o->shipping == OSLA_SHIP_VALUES ||
               o->shipping == OSLA_SHIP_FACTORS,
             OSLA_ERR_ARG, "shipping = %d is not an osla_shipping", (int)o->shipping);
  return OSLA_OK;
}

static osla_err new_hessian(int64_t n, const osla_hessian_options *options, osla_hessian **out)
{
  osla_hessian_options o = osli_hessian_resolve(options);
  OSLA_CALL(check(n, &o));
  osla_hessian *h = calloc(1, sizeof *h);
  OSLA_CHECK(h, OSLA_ERR_MEM, "no memory for an accumulator object");
  *out = h;
  h->options = o;
  h->n = n;
  h->element = osla_dtype_size(osli_update_dtype(&o));
  OSLA_CALL(osli_combiner_make(&o, &h->combine));
  (void)pthread_mutex_init(&h->mutex, NULL);
  OSLA_CALL(osli_ledger_create(h));
  h->gradient = calloc((size_t)n + 1, sizeof *h->gradient);
  h->pending_gradient = calloc((size_t)n + 1, sizeof *h->pending_gradient);
  OSLA_CHECK(h->gradient && h->pending_gradient, OSLA_ERR_MEM,
             "no memory for a gradient of order %" PRId64, n);
  return OSLA_OK;
}

/* Divides the memory cap. The node sums get `sums` bytes; rings and inboxes get at most half of the
 * remaining bytes; scratch memory of updating threads gets the rest. */
static osla_err divide_memory(osla_hessian *h, size_t sums)
{
  size_t cap = h->options.memory_cap, bytes = h->options.ring_bytes;
  size_t room = cap > sums ? cap - sums : 0;
  osli_wire_sizes(h, cap > 0 && bytes > room / 2 ? room / 2 : bytes);
  size_t needed = osli_wire_bytes(h) + osli_outboxes_bytes(h->wire) + osli_inboxes_bytes(h->wire);
  if (h->device) needed += (size_t)h->wire->n_inboxes * h->wire->message_most;
  h->memory = h->memory_peak = h->memory_fixed = needed + sums;
  h->memory_most = cap > 0 ? cap : SIZE_MAX;
  OSLA_CHECK(cap == 0 || needed <= room / 4 * 3, OSLA_ERR_MEM,
             "memory_cap = %zu is too small: %d ranks need at least %zu", cap,
             osla_transport_size(h->v.t), (needed + 2) / 3 * 4 + sums);
  return OSLA_OK;
}

/* Progress hook of the accumulator: announces waiting messages to other nodes, and adds messages
 * that have arrived. */
static void wire_step(void *hessian)
{
  osla_hessian *h = hessian;
  osla_err err = osli_outboxes_announce(h);
  if (err == OSLA_OK) err = osli_inboxes_serve(h);
  if (err != OSLA_OK)
    /* a progress hook cannot return an error, and other ranks would wait without end */
    osla_transport_abort(h->v.t, err);
}

static void stop_wire(osla_hessian *h)
{
  if (!h->hooked) return;
  osla_progress_remove(h->v.t, wire_step, h);
  osla_err err = osli_inboxes_stop(h);
  if (err == OSLA_OK) err = osli_outboxes_stop(h);
  if (err != OSLA_OK) osla_transport_abort(h->v.t, err);
}

static osla_err make_wire(osla_hessian *h)
{
  osla_transport *t = h->v.t;
  /* All ranks use the largest number of bytes of node sums, because their memory layouts must be
   * equal. */
  size_t sums;
  OSLA_CALL(osla_agree(t, osli_node_sums_bytes(h, &sums)));
  OSLA_CALL(osla_allreduce(t, &sums, 1, MPI_UINT64_T, MPI_MAX));
  OSLA_CALL(osla_agree(t, divide_memory(h, sums)));
  OSLA_CALL(osla_segment_create(t, h->wire->segment_bytes, 0, &h->segment));
  osla_segment_steers(h->segment);
  /* The data area of the segment, from rings_start on, holds only messages. */
  osli_segment_messages(h->segment, h->wire->rings_start);
  osla_err err = osli_outboxes_create(h);
  if (err == OSLA_OK) err = osli_inboxes_create(h);
  if (err == OSLA_OK && h->wire->n_nodes > 1) {
    err = osla_progress_add(t, wire_step, h);
    h->hooked = err == OSLA_OK;
  }
  return osla_agree(t, err);
}

/* Checks that all ranks passed equal arguments, except piece_bytes and combine_context, which may
 * differ. Collective. */
static osla_err agree(osla_transport *t, const char *call, int64_t n,
                      const osla_hessian_options *options, bool on_device, osla_err local)
{
  const osla_hessian_options o = osli_hessian_resolve(options);
  const osla_argument same[] = {{"n", n},
                                {"uplo", (int)o.uplo},
                                {"single", o.single},
                                {"single_updates", o.single_updates},
                                {"nb", o.nb},
                                {"ring_bytes", (int64_t)o.ring_bytes},
                                {"combine", (int)o.combine},
                                {"initial (bits)", double_bits(o.initial)},
                                {"from_zero", o.from_zero},
                                {"order_independent", o.order_independent},
                                {"bound (bits)", double_bits(o.bound)},
                                {"gradient_bound (bits)", double_bits(o.gradient_bound)},
                                {"memory_cap", (int64_t)o.memory_cap},
                                {"isolation", (int)o.isolation},
                                {"shipping", (int)o.shipping},
                                {"node_sums", o.node_sums},
                                {"checkpoint_holds", o.checkpoint_holds},
                                {"clear", o.clear},
                                {"triangle", o.triangle},
                                {"memory of the matrix (1: a device)", on_device}};
  return osla_agree_same(t, local, call, same, (int)(sizeof same / sizeof *same));
}

/* Makes everything but the matrix, and sets the first values of H unless `is_zero`. The caller's
 * matrix is changed last, when nothing can fail any more. Collective. */
static osla_err build(osla_hessian *h, bool is_zero)
{
  osla_transport *t = h->v.t;
  bool hidden;
  OSLA_CALL(osli_target_is_hidden(h, &hidden));
  OSLA_CALL(osla_agree(t, osli_wire_create(h, hidden)));
  if (h->options.order_independent) OSLA_CALL(osli_exact_create(h));
  OSLA_CALL(osli_node_sums_create(h));
  OSLA_CALL(make_wire(h));
  OSLA_CALL(osla_agree(t, osli_target_claim(h)));
  if (is_zero) return OSLA_OK;
  if (h->options.clear) return osli_target_fill(h);
  return h->exact ? osli_exact_begin(h) : OSLA_OK;
}

osla_err osla_hessian_create(osla_grid *grid, int64_t n, const osla_hessian_options *options,
                             osla_hessian **out)
{
  OSLA_MAKES("osla_hessian_create", "osla_hessian_destroy");
  osla_hessian *h = NULL;
  *out = NULL;
  osla_err err;
  OSLA_TRY(agree(osla_grid_transport(grid), "osla_hessian_create", n, options, false,
                 new_hessian(n, options, &h)));
  h->options.clear = h->owns_matrix = true;
  OSLA_TRY(osli_target_create(h, grid, &h->matrix));
  h->v = view_of(h->matrix);
  OSLA_TRY(build(h, osli_combiner_initial(&h->options) == 0.0));
  *out = h;
  return OSLA_OK;
cleanup:
  osla_hessian_destroy(&h);
  return err;
}

osla_err osla_hessian_create_on(osla_matrix *matrix, const osla_hessian_options *options,
                                osla_hessian **out)
{
  OSLA_MAKES("osla_hessian_create_on", "osla_hessian_destroy");
  *out = NULL;
  OSLA_CHECK(matrix, OSLA_ERR_ARG, "osla_hessian_create_on: the matrix is NULL");
  osla_hessian_options o = options ? *options : (osla_hessian_options){0};
  osla_hessian *h = NULL;
  const int64_t n = osla_matrix_layout(matrix).n;
  const osla_device *device = osla_matrix_device(matrix);
  osla_err err = osli_target_check(matrix, &o);
  if (err == OSLA_OK) err = new_hessian(n, &o, &h);
  OSLA_TRY(agree(osla_grid_transport(osla_matrix_grid(matrix)), "osla_hessian_create_on", n, &o,
                 device, err));
  h->matrix = matrix;
  h->v = view_of(matrix);
  if (device) h->device = osli_device_queue(device);
  OSLA_TRY(build(h, false));
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
  /* Wait for all ranks before the progress hook is removed: a rank that still updates may need this
   * rank to fetch its messages. */
  if (h->segment) (void)osla_barrier(h->v.t);
  stop_wire(h);
  osla_segment_destroy(&h->segment);
  osli_node_sums_destroy(h);
  osli_outboxes_free(h);
  osli_inboxes_free(h);
  osli_wire_free(h);
  osli_exact_destroy(h);
  osli_workspace_free_all(h);
  osli_target_release(h);
  if (h->owns_matrix) osla_matrix_destroy(&h->matrix);
  osli_ledger_destroy(h);
  (void)pthread_mutex_destroy(&h->mutex);
  free(h->gradient);
  free(h->pending_gradient);
  free(h);
  *handle = NULL;
}

/* Completes all updates. Collective. A gate is the rank that receives updates for the ranks of
 * its node. Every rank notifies each gate of the number of bytes that it has sent to the gate,
 * and waits until the gates have added them. Direct additions to memory of ranks of the node are
 * complete when the update calls have returned. */
osla_err osli_hessian_complete_updates(osla_hessian *h)
{
  const wire *w = h->wire;
  osla_at_step(h->v.t, "osla_hessian_commit", 0);
  OSLA_CALL(osli_node_sums_send(h));
  size_t ranks = (size_t)osla_transport_size(h->v.t);
  uint64_t *counts = calloc(2 * ranks, sizeof *counts);
  osla_err err =
    counts ? OSLA_OK
           : osla_error_set(OSLA_ERR_MEM, "no memory for the message counts of %zu ranks", ranks);
  err = osla_agree(h->v.t, err);
  if (err != OSLA_OK) {
    free(counts);
    return err;
  }
  uint64_t *expected = counts + ranks;
  for (int node = 0; node < w->n_nodes; node++)
    if (node != w->node)
      counts[wire_gate(w, node, osla_transport_rank(h->v.t))] = osli_outbox_written(h, node);
  err = osla_alltoall(h->v.t, counts, expected, 1, MPI_UINT64_T);
  if (err == OSLA_OK) osli_inboxes_wait_applied(h, expected);
  free(counts);
  if (err != OSLA_OK || w->n_nodes == 1) return err;
  /* Parts for this rank may have arrived through another rank of the node that serves as gate. */
  return osli_matrix_barrier(h->v.matrix);
}

static osla_err sum_gradient(osla_hessian *h)
{
  OSLA_CALL(osla_allreduce(h->v.t, h->pending_gradient, h->n, MPI_DOUBLE, MPI_SUM));
  if (osli_work_modelled) return OSLA_OK;
  for (int64_t i = 0; i < h->n; i++)
    h->gradient[i] += h->pending_gradient[i];
  memset(h->pending_gradient, 0, (size_t)h->n * sizeof *h->pending_gradient);
  return OSLA_OK;
}

osla_err osla_hessian_commit(osla_hessian *h)
{
  OSLA_CALL(osli_hessian_complete_updates(h));
  OSLA_CALL(h->exact ? osli_exact_commit(h) : sum_gradient(h));
  h->dirty = false;
  /* wait until every owner has completed its part of H, because after the commit each rank may read
   * H */
  return osli_matrix_barrier(h->v.matrix);
}

osla_err osla_hessian_matrix(osla_hessian *h, osla_matrix **out)
{
  *out = NULL;
  if (h->exact) OSLA_CALL(osli_exact_error(h));
  OSLA_CHECK(!h->dirty, OSLA_ERR_STATE,
             "osla_hessian_matrix: call osla_hessian_commit first, there were updates since");
  *out = h->matrix;
  return OSLA_OK;
}

const double *osla_hessian_gradient(const osla_hessian *h)
{
  return h->gradient;
}

osla_hessian_stats osla_hessian_get_stats(osla_hessian *h)
{
  (void)pthread_mutex_lock(&h->mutex);
  osla_hessian_stats stats = h->stats;
  stats.bytes_peak = (int64_t)h->memory_peak;
  (void)pthread_mutex_unlock(&h->mutex);
  osli_ledger_stats(h, &stats);
  return stats;
}

osla_err osla_hessian_reset(osla_hessian *h)
{
  bool failed = h->exact && osli_exact_error(h) != OSLA_OK; /* `err` is equal on all ranks */
  osla_err err = OSLA_OK;
  if (h->dirty && !failed)
    err = osla_error_set(
      OSLA_ERR_STATE,
      "osla_hessian_reset: call osla_hessian_commit first, there were updates since");
  OSLA_CALL(osla_agree(h->v.t, err));
  /* Completes updates in flight. There may be some if a checkpoint found the error, or if more
   * updates followed the error. */
  if (failed) OSLA_CALL(osli_hessian_complete_updates(h));
  if (h->exact) osli_exact_reset(h);
  osli_ledger_clear(h);
  h->dirty = false;
  if (!osli_work_modelled) memset(h->gradient, 0, (size_t)h->n * sizeof *h->gradient);
  (void)pthread_mutex_lock(&h->mutex);
  h->stats = (osla_hessian_stats){0};
  h->memory_peak = h->memory;
  (void)pthread_mutex_unlock(&h->mutex);
  return osli_target_fill(h);
}

/* Predicts the memory of a rank on the first of two nodes; the other node has the fewest ranks. */
uint64_t osla_hessian_memory(const osla_shape *s)
{
  int smallest = s->ranks - (s->nodes - 1) * s->per_node;
  /* first rank of each of the two nodes; this rank is on node 0 */
  int node_start[] = {0, s->per_node};
  wire w = {.ranks = s->ranks,
            .n_nodes = s->nodes,
            .node_start = node_start,
            .remote = s->ranks - smallest,
            .shape =
              osli_arrivals_shape(s->nodes > 1 ? (s->ranks - 1) / smallest + 1 : 0, ARRIVAL_FAN)};
  osla_hessian h = {.wire = &w, .options = osli_hessian_resolve(NULL)};
  osli_wire_sizes(&h, h.options.ring_bytes);
  return osla_segment_footprint(w.segment_bytes, 0, s->ranks) +
         (2 * (uint64_t)s->ranks + (uint64_t)s->nodes + 1) * sizeof(int) + osli_outboxes_bytes(&w) +
         osli_inboxes_bytes(&w) + 2 * ((uint64_t)s->n + 1) * sizeof(double);
}
