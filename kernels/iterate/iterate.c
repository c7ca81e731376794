/* Iteration objects and the loops over sweeps. The loops follow Bethune et al. 2014, figure 1 and
 * sections 3.1.1 to 3.1.3, but swap pointers where the paper copies states.
 *
 * Memory of a rank besides the caller's state: two states (three if a bound is computed), and the
 * memory of the channels. */
#include "kernels/iterate/iterate.h"
#include "osla_clock.h"
#include "src/base/double_bits.h"
#include "src/base/huge_pages.h"
#include "src/base/reserved.h"
#include "src/transport/live_objects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Replaces zeros in the options by default values, and the value -1 of `tolerance` and `sweeps` by
 * 0. */
static osla_iterate_options resolve(const osla_iterate_options *options)
{
  osla_iterate_options o = options ? *options : (osla_iterate_options){0};
  o.tolerance = o.tolerance == 0.0 ? 1e-6 : o.tolerance == -1.0 ? 0.0 : o.tolerance;
  o.sweeps = o.sweeps == 0 ? 1000000 : o.sweeps == -1 ? 0 : o.sweeps;
  if (o.omega == 0.0) o.omega = 1.0;
  if (o.period == 0) o.period = 1;
  if (o.in_flight == 0) o.in_flight = 2;
  if (o.check == 0) o.check = 10;
  return o;
}

const char *osla_iterate_end_name(osla_iterate_end end)
{
  static const char *const names[] = {"converged", "stagnated", "sweeps", "diverged", "stalled"};
  return (size_t)end < sizeof names / sizeof *names ? names[end] : "unknown";
}

/* ---- objects ---- */

static osla_err check_options(const osla_iterate_options *o)
{
  OSLA_CHECK(o->mode >= OSLA_ITERATE_ASYNC && o->mode <= OSLA_ITERATE_SYNC, OSLA_ERR_ARG,
             "iteration: mode = %d is not an osla_iterate_mode", (int)o->mode);
  OSLA_CHECK(o->tolerance >= 0.0 && isfinite(o->tolerance), OSLA_ERR_ARG,
             "iteration: tolerance = %g is negative and not -1, or not finite", o->tolerance);
  OSLA_CHECK(o->norm >= 0.0 && isfinite(o->norm), OSLA_ERR_ARG,
             "iteration: norm = %g is negative, or not finite", o->norm);
  OSLA_CHECK(o->omega > 0.0 && isfinite(o->omega), OSLA_ERR_ARG,
             "iteration: omega = %g is not positive, or not finite", o->omega);
  OSLA_CHECK(o->sweeps >= 0 && o->sweeps < INT64_C(1) << 40, OSLA_ERR_ARG,
             "iteration: sweeps = %lld is outside -1 to 2^40", (long long)o->sweeps);
  OSLA_CHECK(o->period >= 1, OSLA_ERR_ARG, "iteration: period = %d is less than 1", o->period);
  OSLA_CHECK(o->lead >= -1, OSLA_ERR_ARG, "iteration: lead = %d is less than -1", o->lead);
  OSLA_CHECK(o->check >= 1, OSLA_ERR_ARG, "iteration: check = %d is less than 1", o->check);
  OSLA_CHECK(o->patience >= 0.0 && isfinite(o->patience), OSLA_ERR_ARG,
             "iteration: patience = %g is negative, or not finite", o->patience);
  OSLA_CHECK(o->record_bytes >= 0 && o->record_bytes <= INT64_C(1) << 46, OSLA_ERR_ARG,
             "iteration: record_bytes = %lld is outside 0 to 2^46", (long long)o->record_bytes);
  return OSLA_OK;
}

static osla_err check_problem(const osla_fixed_point *p, const osla_iterate_options *o)
{
  OSLA_CHECK(p->length >= 0 && p->length < INT64_MAX / 32, OSLA_ERR_ARG,
             "iteration: length = %lld is negative or too large", (long long)p->length);
  OSLA_CHECK(p->n_halos >= 0 && (p->n_halos == 0 || p->halos) && p->n_halos <= INT32_MAX / 4,
             OSLA_ERR_ARG, "iteration: n_halos = %d is negative or too large, or halos is NULL",
             p->n_halos);
  OSLA_CHECK(p->sweep && p->pack && p->unpack, OSLA_ERR_ARG,
             "iteration: sweep, pack or unpack is missing");
  OSLA_CHECK(p->row_terms >= 0, OSLA_ERR_ARG, "iteration: row_terms = %d is negative",
             p->row_terms);
  OSLA_CHECK(!p->group || o->record_bytes == 0, OSLA_ERR_ARG,
             "iteration: a record does not contain what a group of ranks exchanges in a sweep: "
             "leave out `record_bytes`");
  for (int h = 0; h < p->n_halos; h++)
    OSLA_CHECK(p->halos[h].tag >= 0 && p->halos[h].tag <= INT32_MAX / 4 && p->halos[h].send >= 0 &&
                 p->halos[h].recv >= 0 && p->halos[h].send < INT64_MAX / 8 &&
                 p->halos[h].recv < INT64_MAX / 8,
               OSLA_ERR_ARG,
               "iteration: halo %d has tag %d, send = %lld and recv = %lld: negative or too large",
               h, p->halos[h].tag, (long long)p->halos[h].send, (long long)p->halos[h].recv);
  return OSLA_OK;
}

static osla_err agree(osla_transport *t, osla_err err, const osla_fixed_point *p,
                      const osla_iterate_options *o)
{
  const osla_argument same[] = {{"mode", (int)o->mode},
                                {"tolerance (bits)", double_bits(o->tolerance)},
                                {"norm (bits)", double_bits(o->norm)},
                                {"omega (bits)", double_bits(o->omega)},
                                {"sweeps", o->sweeps},
                                {"period", o->period},
                                {"lead", o->lead},
                                {"in_flight", o->in_flight},
                                {"check", o->check},
                                {"patience (bits)", double_bits(o->patience)},
                                {"proven", o->proven},
                                {"uncertified", o->uncertified},
                                {"a record", o->record_bytes > 0},
                                {"a magnitude", p->magnitude != NULL},
                                {"row_terms", p->row_terms},
                                {"a bound", p->bound_sweep && p->distance},
                                {"a sweep in two parts", p->sweep_edge && p->sweep_rest},
                                {"a group", p->group != NULL}};
  return osla_agree_same(t, err, "osla_iteration_create", same, (int)(sizeof same / sizeof *same));
}

/* ---- memory of states ---- */

/* Arrays that a loop reads and writes at equal indices must not have equal offsets in 4 KiB pages:
 * x86 compares the last 12 bits of addresses, so a load would wait for an unrelated store. With
 * offsets half a page apart, sweeps of 50^3 points take 6 % less time (results/asynchronous). */
enum { PAGE_DOUBLES = 4096 / sizeof(double) };

static size_t room_of_state(const osla_iteration *it)
{
  return (size_t)it->p.length + PAGE_DOUBLES;
}

static void allocate_states(osla_iteration *it)
{
  const size_t bytes = 2 * room_of_state(it) * sizeof(double);
  it->memory = malloc(bytes);
  osli_huge_pages_advise(it->memory, bytes);
}

/* Returns the first address, not before `at`, whose offset in its page is `apart` doubles larger
 * than that of `other`, modulo the page. */
static double *align_state(const double *other, size_t apart, double *at)
{
  const size_t here = (uintptr_t)at / sizeof *at, there = (uintptr_t)other / sizeof *at;
  return at + (there + apart - here) % PAGE_DOUBLES;
}

static void align_states(osla_iteration *it, const double *x)
{
  it->spare = align_state(x, PAGE_DOUBLES / 2, it->memory);
  it->recorded = align_state(x, PAGE_DOUBLES / 4, it->memory + room_of_state(it));
}

osla_err osla_iteration_create(osla_transport *t, const osla_fixed_point *problem,
                               const osla_iterate_options *options, osla_iteration **out)
{
  OSLA_MAKES("osla_iteration_create", "osla_iteration_destroy");
  *out = NULL;
  osla_iterate_options o = resolve(options);
  osla_err err = OSLA_RESERVED(osla_iterate_options, options);
  if (err == OSLA_OK) err = check_options(&o);
  if (err == OSLA_OK) err = check_problem(problem, &o);
  OSLA_CALL(agree(t, err, problem, &o));
  if (o.lead == 0)
    o.lead = osla_transport_oversubscribed(t) ? OSLA_ITERATE_LEAD_CROWDED : OSLA_ITERATE_LEAD;
  osla_iteration *it = calloc(1, sizeof *it);
  if (it) {
    *it = (osla_iteration){.t = t, .p = *problem, .o = o, .w = {.stopped = -1}};
    allocate_states(it);
  }
  err = it && it->memory ? osli_record_create(it)
                         : osla_error_set(OSLA_ERR_MEM, "no memory for two states of %lld numbers",
                                          (long long)problem->length);
  err = osla_agree(t, err);
  if (err == OSLA_OK) err = osla_reduction_create(t, &it->reduction);
  if (err == OSLA_OK) err = osli_group_create(it);
  if (err == OSLA_OK) err = osli_halos_create(it);
  if (err != OSLA_OK) {
    osla_iteration_destroy(&it);
    return err;
  }
  *out = it;
  return OSLA_OK;
}

void osla_iteration_destroy(osla_iteration **iteration)
{
  osla_iteration *it = iteration ? *iteration : NULL;
  if (!it) return;
  osli_coarse_destroy(it);
  osla_channels_destroy(&it->set);
  osla_reduction_destroy(&it->reduction);
  osli_group_destroy(it);
  osli_record_destroy(it);
  free(it->memory);
  free(it->v);
  free(it->message);
  free(it->unpacks_left);
  free(it->sweeps_since);
  free(it->is_last);
  free(it->numbers);
  free(it);
  *iteration = NULL;
}

/* ---- sweep loops ---- */

/* Residuals of this rank in a run without a certificate. */
typedef struct first_and_last {
  double first2; /* square of the first residual */
  double last2;  /* square of the last residual */
} first_and_last;

/* Swaps the current state and the spare state, which the sweep has just written. */
static void swap_states(osla_iteration *it, double **x)
{
  double *from = *x;
  *x = it->spare;
  it->spare = from;
  it->sweeps++;
  for (int h = 0; h < it->p.n_halos; h++)
    it->sweeps_since[h]++;
}

static double sweep(osla_iteration *it, const double *x)
{
  if (it->is_swept) {
    it->is_swept = false;
    return it->swept2;
  }
  return iteration_sweep(it, it->p.sweep, x, it->p.length);
}

/* Exchanges halos of x before a sweep in mode SYNC. Halos between ranks of one group are exchanged
 * before every sweep but the first, and the other halos only once in `period` sweeps. */
static osla_err exchange_halos(osla_iteration *it, double *x)
{
  if (it->sweeps == 0) return OSLA_OK;
  if (it->sweeps % it->o.period == 0) {
    if (it->sent_at != it->sweeps) OSLA_CALL(osli_halos_send(it, x, false));
    OSLA_CALL(osli_halos_receive_next(it));
  }
  return osli_halos_exchange_inner(it, x);
}

/* ASYNC and RACY: receives the halos for a sweep of x. If the problem has groups, it->has_left
 * becomes true if the group makes no more sweeps. */
static osla_err receive_halos(osla_iteration *it, double *x)
{
  if (it->p.group) return osli_group_prepare(it, x);
  return it->is_swept ? OSLA_OK : osli_halos_receive_newest(it, x);
}

/* Makes one sweep in mode SYNC. `goes_on` is true if another sweep may follow. If another sweep may
 * follow and `period` sweeps have passed since the latest exchange, the rank sends its new halos
 * before it sweeps the interior. */
static osla_err sweep_in_lock_step(osla_iteration *it, const double *x, bool goes_on,
                                   double *residual2)
{
  const osla_fixed_point *p = &it->p;
  const bool sends = goes_on && p->sweep_edge && p->sweep_rest;
  if (it->is_swept || !sends || (it->sweeps + 1) % it->o.period != 0) {
    *residual2 = sweep(it, x);
    return OSLA_OK;
  }
  *residual2 = iteration_sweep(it, p->sweep_edge, x, 0);
  OSLA_CALL(osli_halos_send_next(it, it->spare));
  *residual2 += iteration_sweep(it, p->sweep_rest, x, p->length);
  return OSLA_OK;
}

/* Loop over sweeps in mode SYNC. When a residual is checked, the halos of x are from the same sweep
 * as x, so the residual is true. */
static osla_err run_in_lock_step(osla_iteration *it, double **x)
{
  const osla_iterate_options *o = &it->o;
  const int64_t check = ((int64_t)o->check + o->period - 1) / o->period * o->period;
  while (!it->c.over) {
    const bool at_end = it->sweeps == o->sweeps, exchanges = it->sweeps % o->period == 0;
    double residual2;
    OSLA_CALL(exchange_halos(it, *x));
    osli_halos_unpack(it, *x);
    if (at_end && !exchanges) OSLA_CALL(osli_halos_exchange(it, *x));
    OSLA_CALL(osli_watch_step(it));
    if (it->c.over) break;
    if (exchanges && !at_end && osli_coarse_is_due(it)) OSLA_CALL(osli_coarse_correct(it, *x));
    if (it->c.over) break;
    OSLA_CALL(sweep_in_lock_step(it, *x, !at_end, &residual2));
    if (at_end || it->sweeps % check == 0)
      OSLA_CALL(osli_certificate_sum(it, *x, residual2, at_end));
    if (!it->c.over) swap_states(it, x);
  }
  return osli_halos_drop_next(it);
}

/* Loop over sweeps in modes ASYNC and RACY. A rank that has made its last sweep still takes part in
 * rounds and snapshots. *x becomes the result. */
static osla_err run_freely(osla_iteration *it, double **x)
{
  const osla_iterate_options *o = &it->o;
  double residual2 = 0.0; /* initial value, which a rank without a part of x keeps */
  while (!it->c.over) {
    bool at_end = it->sweeps == o->sweeps || it->p.length == 0 || it->has_left;
    if (!at_end) OSLA_CALL(receive_halos(it, *x));
    at_end = at_end || it->has_left;
    if (!at_end) {
      OSLA_CALL(osli_watch_step(it));
      if (it->c.over) break;
      osli_halos_unpack(it, *x);
      residual2 = sweep(it, *x);
      if (it->c.over) break; /* a rank has stopped, so the sweep of a group is incomplete */
      swap_states(it, x);
    }
    /* A rank that has made its last sweep adds no corrections, because x may already be recorded
     * as the result. A rank that owns no elements of x always takes part. */
    if (it->coarse && (!at_end || it->p.length == 0)) OSLA_CALL(osli_coarse_step(it, *x));
    if (!at_end) {
      const bool last = it->sweeps == o->sweeps;
      if (last || it->sweeps % o->period == 0) OSLA_CALL(osli_halos_send(it, *x, last));
    }
    OSLA_CALL(osli_certificate_step(it, *x, residual2, at_end));
  }
  /* a last halo ends the waits of neighbours */
  OSLA_CALL(it->p.group ? osli_group_leave(it, *x) : osli_halos_send(it, *x, true));
  if (osli_certificate_vouches(it->c.end)) *x = it->recorded;
  return OSLA_OK;
}

/* Loop without a certificate: makes `sweeps` sweeps and records only the first and the last
 * residual. */
static osla_err run_uncertified(osla_iteration *it, double **x, first_and_last *seen)
{
  const osla_iterate_options *o = &it->o;
  const bool sync = o->mode == OSLA_ITERATE_SYNC;
  while (it->sweeps < o->sweeps && (sync || it->p.length > 0)) {
    OSLA_CALL(sync ? exchange_halos(it, *x) : receive_halos(it, *x));
    OSLA_CALL(osli_watch_step(it));
    if (it->c.over) return OSLA_OK;
    osli_halos_unpack(it, *x);
    if (sync)
      OSLA_CALL(sweep_in_lock_step(it, *x, it->sweeps + 1 < o->sweeps, &seen->last2));
    else
      seen->last2 = sweep(it, *x);
    if (it->c.over) return OSLA_OK; /* a rank has stopped */
    if (it->sweeps == 0) seen->first2 = seen->last2;
    swap_states(it, x);
    const bool last = it->sweeps == o->sweeps;
    if (!sync && (last || it->sweeps % o->period == 0)) OSLA_CALL(osli_halos_send(it, *x, last));
  }
  return OSLA_OK;
}

/* ---- result ---- */

/* Sums the numbers of sweeps of all ranks. When the function returns, all ranks have finished the
 * run. Otherwise a rank could miss halos that a neighbour sends in the next run. */
static osla_err count_sweeps(osla_iteration *it, const first_and_last *seen, osla_iterate_result *r)
{
  const double mine = (double)it->sweeps;
  const double values[] = {mine, seen->first2, seen->last2, mine, -mine};
  const double *got;
  OSLA_CALL(osli_watch_reduce(it, values, 3, 2, &got));
  if (!got) return OSLA_OK;
  r->mean = got[0] / osla_transport_size(it->t);
  r->most = (int64_t)got[3];
  r->least = (int64_t)-got[4];
  if (!it->o.uncertified) return OSLA_OK;
  certificate *c = &it->c;
  const bool none = r->most == 0;
  c->start2 = none ? NAN : got[1];
  c->estimate2 = none ? NAN : got[2];
  c->end = !none && osli_certificate_has_grown(c, c->estimate2) ? OSLA_ITERATE_DIVERGED
                                                                : OSLA_ITERATE_SWEEPS;
  return OSLA_OK;
}

static void fill_result(const osla_iteration *it, osla_iterate_result *r)
{
  const certificate *c = &it->c;
  const bool certified = !it->o.uncertified && osli_certificate_vouches(c->end);
  r->end = c->end;
  r->stalled = it->w.stopped;
  r->residual = sqrt(certified ? c->true2 : c->estimate2);
  r->start = sqrt(c->start2);
  r->norm = it->o.norm > 0.0 ? it->o.norm : r->start;
  r->rounding = sqrt(c->rounding2);
  if (certified && it->v && it->alpha < 1.0) r->error = c->distance / (1.0 - it->alpha);
  r->sweeps = it->sweeps;
  r->snapshots = c->snapshots;
}

static osla_err run_iteration(osla_iteration *it, double *x, osla_iterate_result *result)
{
  double *now = x;
  first_and_last seen = {0.0, 0.0};
  OSLA_CALL(osli_watch_begin(it));
  OSLA_CALL(osli_halos_begin(it, x));
  osli_halos_unpack(it, x);
  /* copies boundary values and first halos to the spare state */
  iteration_copy_state(it, it->spare, x);
  if (!it->c.over && !it->o.uncertified) OSLA_CALL(osli_certificate_begin(it, x));
  if (it->o.uncertified)
    OSLA_CALL(run_uncertified(it, &now, &seen));
  else
    OSLA_CALL(it->o.mode == OSLA_ITERATE_SYNC ? run_in_lock_step(it, &now) : run_freely(it, &now));
  if (now != it->recorded) it->r.returned = it->sweeps;
  if (now != x) iteration_copy_state(it, x, now);
  OSLA_CALL(osli_coarse_end(it));
  result->least = result->most = it->sweeps;
  result->mean = (double)it->sweeps;
  OSLA_CALL(count_sweeps(it, &seen, result));
  fill_result(it, result);
  return OSLA_OK;
}

/* Returns STATE if the iteration cannot run now. */
static osla_err check_run(const osla_iteration *it)
{
  OSLA_CALL(osli_watch_check(it));
  if (!it->o.proven) return OSLA_OK;
  OSLA_CHECK(it->v && it->o.omega < 2.0 / (1.0 + it->alpha) && it->alpha < 1.0, OSLA_ERR_STATE,
             "iteration: not proved that every schedule converges (call osla_iterate_bound): alpha "
             "= %g, omega = %g",
             it->v ? it->alpha : INFINITY, it->o.omega);
  return OSLA_OK;
}

osla_err osla_iterate(osla_iteration *it, double *x, osla_iterate_result *result)
{
  const double since = osla_clock();
  *result = (osla_iterate_result){.stalled = -1};
  OSLA_CALL(check_run(it));
  it->run = it->run % OSLA_ITERATE_RUNS + 1;
  it->sweeps = 0;
  it->c = (certificate){0};
  it->is_swept = false;
  align_states(it, x);
  osli_record_begin(it);
  osli_coarse_begin(it);
  osli_group_begin(it);
  const osla_err err = run_iteration(it, x, result);
  osli_group_end(it);
  osli_watch_end(it);
  /* All ranks know that a start is not finite (ARG). Any other error is known to one rank while the
   * other ranks wait, so it ends the job. */
  if (err != OSLA_OK && err != OSLA_ERR_ARG) osla_transport_abort(it->t, err);
  result->seconds = osla_clock() - since;
  return err;
}
