/* Coarse level of an iteration (osla_coarse.h).
 *
 * In modes ASYNC and RACY, a rank repeats three phases: idle, recorded, reducing. It records its
 * elements of x for the (k + 1)-th time only after it has added correction k, and correction k
 * arrives only after all ranks have recorded their elements k times. So the k-th records of all
 * ranks contain the same corrections, no rank is ahead by more than one record, and two messages in
 * flight on each channel suffice.
 *
 * When a run ends, some ranks may have made one record more than others. The ranks agree on the
 * largest number of records, complete the reductions up to this number, and drop their results.
 *
 * Memory of a rank: one state, two vectors with an element for each rank, and a reduction of a
 * vector with an element for each rank. Messages of a correction: a halo to each neighbour, and the
 * vector of restricted residuals up and down the tree of ranks. */
#include "kernels/iterate/coarse.h"
#include "kernels/iterate/iterate.h"
#include "src/base/double_bits.h"
#include "src/base/reserved.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- halos ---- */

static bool halos_arrived(const osla_iteration *it, const struct coarse *c)
{
  for (int h = 0; h < it->p.n_halos; h++)
    if (!osla_channel_can_recv(c->set, h)) return false;
  return true;
}

/* Receives a halo from each neighbour and copies it into the state x, and also into the state
 * `other` unless that is NULL. All halos must have arrived. */
static osla_err receive_halos(const osla_iteration *it, struct coarse *c, double *x, double *other)
{
  for (int h = 0; h < it->p.n_halos; h++) {
    const void *message;
    OSLA_CALL(osla_channel_recv(c->set, h, &message, NULL));
    it->p.unpack(it->p.arg, h, message, x);
    if (other) it->p.unpack(it->p.arg, h, message, other);
  }
  return OSLA_OK;
}

/* ---- corrections ---- */

static void add_correction(osla_iteration *it, const double *residuals, double *x)
{
  struct coarse *c = it->coarse;
  const int size = osla_transport_size(it->t);
  const double since = osla_trace_now(it->t);
  double own = 0.0;
  for (int p = 0; p < size; p++)
    own += c->inverse[p] * residuals[p];
  if (it->p.length > 0) c->p.prolong(c->p.arg, own, x);
  osla_trace_add(it->t, OSLA_TRACE_SWEEP, since, (double)it->p.length);
  c->corrections++;
  c->idle_since = it->sweeps;
}

/* Starts the reduction that brings the restricted residuals of all ranks to all ranks. It sums
 * vectors with one element for each rank; a rank contributes a vector that has `residual` at the
 * index of the rank, and 0 elsewhere. */
static osla_err start_sum(osla_iteration *it, double residual)
{
  struct coarse *c = it->coarse;
  c->values[osla_transport_rank(it->t)] = residual;
  return osla_reduction_start(c->sum, c->values, osla_transport_size(it->t), 0);
}

static double restricted(const osla_iteration *it, const double *x)
{
  const struct coarse *c = it->coarse;
  if (it->p.length == 0) return 0.0;
  const double since = osla_trace_now(it->t);
  const double residual = c->p.restrict_residual(c->p.arg, false, x);
  osla_trace_add(it->t, OSLA_TRACE_SWEEP, since, (double)it->p.length);
  return residual;
}

static osla_err record_state(osla_iteration *it, const double *x)
{
  struct coarse *c = it->coarse;
  if (x != c->x) iteration_copy_state(it, c->x, x);
  c->records++;
  c->state = COARSE_RECORDED;
  return osli_coarse_send(it, c, c->x);
}

osla_err osli_coarse_step(osla_iteration *it, double *x)
{
  struct coarse *c = it->coarse;
  if (c->state == COARSE_REDUCING) {
    const double *residuals;
    OSLA_CALL(osla_reduction_test(c->sum, &residuals));
    if (!residuals) return OSLA_OK;
    add_correction(it, residuals, x);
    c->state = COARSE_IDLE;
  }
  if (c->state == COARSE_IDLE) {
    /* A rank that owns no elements of x makes no sweeps, so it never waits for sweeps. */
    if (it->p.length > 0 && it->sweeps - c->idle_since < c->sweeps) return OSLA_OK;
    OSLA_CALL(record_state(it, x));
  }
  if (!halos_arrived(it, c)) return OSLA_OK;
  OSLA_CALL(receive_halos(it, c, c->x, NULL));
  c->state = COARSE_REDUCING;
  return start_sum(it, restricted(it, c->x));
}

bool osli_coarse_is_due(const osla_iteration *it)
{
  const struct coarse *c = it->coarse;
  return c && !it->is_swept && it->sweeps - c->idle_since >= c->sweeps;
}

osla_err osli_coarse_correct(osla_iteration *it, double *x)
{
  struct coarse *c = it->coarse;
  const double *residuals;
  OSLA_CALL(start_sum(it, restricted(it, x)));
  OSLA_CALL(osli_watch_result(it, c->sum, &residuals));
  if (!residuals) return OSLA_OK;
  add_correction(it, residuals, x);
  OSLA_CALL(osli_coarse_send(it, c, x));
  OSLA_CALL(osli_watch_receive(it, c->set, it->p.n_halos, c->numbers));
  if (it->w.stopped >= 0) return OSLA_OK;
  /* Halos that arrived before the correction must not be copied into the spare state later. */
  for (int h = 0; h < it->p.n_halos; h++)
    it->unpacks_left[h] = 0;
  return receive_halos(it, c, x, it->spare);
}

/* ---- begin and end of a run ---- */

void osli_coarse_begin(osla_iteration *it)
{
  struct coarse *c = it->coarse;
  if (!c) return;
  c->state = COARSE_IDLE;
  c->records = c->corrections = c->idle_since = 0;
}

osla_err osli_coarse_end(osla_iteration *it)
{
  struct coarse *c = it->coarse;
  const double *most, *residuals;
  if (!c || it->o.mode == OSLA_ITERATE_SYNC) return OSLA_OK;
  const double mine = (double)c->records;
  OSLA_CALL(osli_watch_reduce(it, &mine, 0, 1, &most));
  if (!most) return OSLA_OK;
  const int64_t records = (int64_t)*most;
  while (c->state != COARSE_IDLE || c->records < records) {
    if (c->state == COARSE_IDLE) OSLA_CALL(record_state(it, c->x));
    if (c->state == COARSE_RECORDED) {
      OSLA_CALL(osli_watch_receive(it, c->set, it->p.n_halos, c->numbers));
      if (it->w.stopped >= 0) return OSLA_OK;
      OSLA_CALL(receive_halos(it, c, c->x, NULL));
      OSLA_CALL(start_sum(it, 0.0));
    }
    OSLA_CALL(osli_watch_result(it, c->sum, &residuals));
    if (!residuals) return OSLA_OK;
    c->state = COARSE_IDLE;
  }
  return OSLA_OK;
}

int64_t osla_iteration_corrections(const osla_iteration *it)
{
  return it->coarse ? it->coarse->corrections : 0;
}

/* ---- create and destroy ---- */

static osla_coarse_options resolve(const osla_coarse_options *options, bool sync)
{
  osla_coarse_options o = options ? *options : (osla_coarse_options){0};
  if (o.damping == 0.0) o.damping = sync ? 1.0 : 0.9;
  if (o.sweeps == 0) o.sweeps = sync ? 4 : 1;
  return o;
}

static osla_err check(const osla_iteration *it, const osla_coarse *p, const osla_coarse_options *o)
{
  const int size = osla_transport_size(it->t);
  OSLA_CHECK(!it->coarse && it->run == 0, OSLA_ERR_STATE,
             "coarse level: the iteration has %s: add one coarse level, before the first run",
             it->coarse ? "a coarse level" : "already run");
  OSLA_CHECK(p->restrict_residual && p->prolong, OSLA_ERR_ARG,
             "coarse level: restrict_residual or prolong is missing");
  OSLA_CHECK(o->damping > 0.0 && o->damping < 2.0, OSLA_ERR_ARG,
             "coarse level: damping = %g is not above 0 and below 2", o->damping);
  OSLA_CHECK(o->sweeps >= 1, OSLA_ERR_ARG, "coarse level: sweeps = %" PRId64 " is less than 1",
             o->sweeps);
  OSLA_CHECK(!it->o.uncertified, OSLA_ERR_ARG,
             "coarse level: an iteration with `uncertified` makes no corrections: leave out one");
  OSLA_CHECK(!it->o.proven, OSLA_ERR_ARG,
             "coarse level: no proof covers corrections: leave out `proven`");
  OSLA_CHECK(it->o.record_bytes == 0, OSLA_ERR_ARG,
             "coarse level: a record contains no corrections: leave out `record_bytes`");
  OSLA_CHECK(size <= OSLA_COARSE_MOST, OSLA_ERR_RANGE,
             "coarse level: %d ranks are more than %d: use fewer, larger parts", size,
             (int)OSLA_COARSE_MOST);
  return OSLA_OK;
}

static struct coarse *allocate(const osla_iteration *it)
{
  const size_t size = (size_t)osla_transport_size(it->t);
  struct coarse *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->numbers = calloc((size_t)it->p.n_halos + 1, sizeof *c->numbers);
  c->x = calloc((size_t)it->p.length + 1, sizeof *c->x);
  c->inverse = calloc(size, sizeof *c->inverse);
  c->values = calloc(size, sizeof *c->values);
  for (int h = 0; c->numbers && h < it->p.n_halos; h++)
    c->numbers[h] = h;
  return c;
}

static osla_err create_channels(const osla_iteration *it, struct coarse *c)
{
  const int n = it->p.n_halos;
  osla_channel_end *ends = calloc((size_t)n + 1, sizeof *ends);
  osla_err err =
    osla_agree(it->t, ends ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for %d halos", n));
  for (int h = 0; err == OSLA_OK && h < n; h++) {
    const osla_halo *halo = &it->p.halos[h];
    ends[h] = (osla_channel_end){.peer = halo->peer,
                                 .tag = halo->tag,
                                 .kind = OSLA_CHANNEL_EVERY,
                                 .in_flight = 2,
                                 .send_bytes = halo->send * (int64_t)sizeof(double),
                                 .recv_bytes = halo->recv * (int64_t)sizeof(double)};
  }
  if (err == OSLA_OK) err = osla_channels_create(it->t, n, ends, &c->set);
  free(ends);
  return err;
}

void osli_coarse_destroy(osla_iteration *it)
{
  struct coarse *c = it->coarse;
  if (!c) return;
  osla_channels_destroy(&c->set);
  osla_reduction_destroy(&c->sum);
  free(c->numbers);
  free(c->x);
  free(c->inverse);
  free(c->values);
  free(c);
  it->coarse = NULL;
}

osla_err osla_iteration_add_coarse(osla_iteration *it, const osla_coarse *coarse,
                                   const osla_coarse_options *options)
{
  const osla_coarse_options o = resolve(options, it->o.mode == OSLA_ITERATE_SYNC);
  const osla_argument same[] = {{"damping (bits)", double_bits(o.damping)}, {"sweeps", o.sweeps}};
  osla_err err = OSLA_RESERVED(osla_coarse_options, options);
  if (err == OSLA_OK) err = check(it, coarse, &o);
  OSLA_CALL(osla_agree_same(it->t, err, "osla_iteration_add_coarse", same, 2));
  struct coarse *c = allocate(it);
  it->coarse = c;
  const bool made = c && c->numbers && c->x && c->inverse && c->values;
  err = osla_agree(it->t,
                   made ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for a coarse level"));
  if (err == OSLA_OK) {
    c->p = *coarse;
    c->sweeps = o.sweeps;
    err = osla_reduction_create_wide(it->t, osla_transport_size(it->t), &c->sum);
  }
  if (err == OSLA_OK) err = create_channels(it, c);
  if (err == OSLA_OK) err = osli_coarse_invert(it, c, o.damping);
  if (err != OSLA_OK) osli_coarse_destroy(it);
  return err;
}
