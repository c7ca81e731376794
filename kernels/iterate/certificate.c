/* The end of an iteration: hints from stale residuals, then a snapshot whose residual is true.
 *
 * All ranks decide alike, for they decide on the results of the same rounds. A round of estimates
 * is started when the one before is over; each rank gives the residual of its latest sweep. When
 * the sum looks small enough, each rank records its part at the moment when it sees that, sends the
 * halos of that part, and sweeps on. Once it has the neighbours' halos the residual of its recorded
 * part is that of one assembled x; their sum is the next round. Nothing of this waits, but for a
 * rank that sweeps no more. */
#include "kernels/iterate/iterate.h"

#include <float.h>
#include <math.h>

/* What goes into a round. */
enum { RESIDUAL, MAGNITUDE, AT_END, SUMS, DISTANCE = SUMS, VALUES };
static const double GROWN2 = 1e20, FAR2 = 1e16; /* of squares */

/* Computed residuals are wrong by so much (Higham, Accuracy and Stability of Numerical Algorithms,
 * section 3.1: products in a row, the right-hand side and a division), as squares. */
static double rounding_of(const osla_iteration *it, double magnitude2)
{
  const double terms = it->p.row_terms + 3;
  const double gamma = terms * (DBL_EPSILON / 2) / (1.0 - terms * (DBL_EPSILON / 2));
  return gamma * gamma * magnitude2;
}

static double magnitude_of(const osla_iteration *it, const double *x)
{
  return it->p.magnitude ? it->p.magnitude(it->p.arg, x) : 0.0;
}

/* ---- the start ---- */

osla_err osli_certificate_begin(osla_iteration *it, const double *x)
{
  certificate *c = &it->c;
  const int rank = osla_transport_rank(it->t);
  *c = (certificate){.state = ESTIMATING, .pause = 1, .next_magnitude = 16}; /* one is made below */
  const double mine = it->p.sweep(it->p.arg, it->o.omega, x, it->spare);
  it->is_swept = true;
  it->swept2 = mine;
  const double size = magnitude_of(it, x);
  const double values[] = {mine, size, isfinite(mine) && isfinite(size) ? -1.0 : (double)rank};
  const double *sums;
  OSLA_CALL(osli_watch_reduce(it, values, 2, 1, &sums));
  if (!sums) return OSLA_OK;
  OSLA_CHECK(
    isfinite(sums[0]) && isfinite(sums[1]), OSLA_ERR_ARG,
    "iteration: the residual of the start is %g: a number of x or of the right-hand side is "
    "not finite, or too large; seen on rank %d (-1: in the sum)",
    sums[0], (int)sums[2]);
  c->start2 = c->true2 = c->estimate2 = sums[0];
  c->rounding2 = rounding_of(it, sums[1]);
  const double norm2 = it->o.norm > 0.0 ? it->o.norm * it->o.norm : sums[0];
  c->wanted2 = it->o.tolerance * it->o.tolerance * norm2;
  return OSLA_OK;
}

/* ---- rounds ---- */

/* What the rounding is grows with x, slowly, and costs as much as a sweep. While the residual is
 * far above what it was last there is no need to know, unless x grows very much. */
static bool is_magnitude_due(certificate *c)
{
  enum { WHEN_FAR = 4096 };
  const bool is_far = c->estimate2 > FAR2 * c->rounding2;
  if (c->rounds < c->next_magnitude || (is_far && c->rounds < WHEN_FAR)) return false;
  c->next_magnitude = 16 * c->rounds;
  return true;
}

static osla_err start_estimate(osla_iteration *it, const double *x, double residual2, bool at_end)
{
  certificate *c = &it->c;
  double values[VALUES] = {[RESIDUAL] = residual2, [AT_END] = at_end};
  if (is_magnitude_due(c)) values[MAGNITUDE] = magnitude_of(it, x);
  c->state = ESTIMATING;
  return osla_reduction_start(it->reduction, values, SUMS, VALUES - SUMS);
}

/* A rank that has stopped sweeping needs no copy. */
static osla_err record_snapshot(osla_iteration *it, double *x, bool at_end)
{
  if (at_end)
    it->recorded = x;
  else
    iteration_copy_state(it, it->recorded, x);
  it->c.state = RECORDED;
  it->c.snapshots++;
  it->r.returned = it->sweeps;
  return osli_halos_send_state(it, it->recorded);
}

/* The spare state's own part is what the next sweep writes. */
static osla_err start_certifying(osla_iteration *it)
{
  double values[VALUES] = {0};
  OSLA_CALL(osli_halos_receive_state(it, it->recorded));
  OSLA_CALL(osli_watch_step(it)); /* what follows takes as long as two sweeps or more */
  values[RESIDUAL] = it->p.sweep(it->p.arg, 1.0, it->recorded, it->spare);
  OSLA_CALL(osli_watch_step(it));
  values[MAGNITUDE] = magnitude_of(it, it->recorded);
  if (it->v) values[DISTANCE] = it->p.distance(it->p.arg, it->recorded, it->spare, it->v);
  it->c.state = CERTIFYING;
  return osla_reduction_start(it->reduction, values, SUMS, VALUES - SUMS);
}

static void end_run(certificate *c, osla_iterate_end how)
{
  c->over = true;
  c->end = how;
}

/* Also where it, or its rounding, is no number. */
bool osli_certificate_has_grown(const certificate *c, double residual2)
{
  if (!isfinite(residual2) || !isfinite(c->rounding2)) return true;
  return !(residual2 <= GROWN2 * fmax(c->start2, fmax(c->wanted2, c->rounding2)));
}

bool osli_certificate_vouches(osla_iterate_end end_run)
{
  return end_run != OSLA_ITERATE_DIVERGED && end_run != OSLA_ITERATE_STALLED;
}

/* Is it worth a snapshot? Stale residuals may be too small again and again: then they are believed
 * by what the last snapshot said, or after a pause that doubles. */
static bool is_promising(certificate *c)
{
  const double small = fmax(c->wanted2, c->rounding2);
  if (!(c->estimate2 <= small)) return false;
  if (c->excess == 0.0 || c->estimate2 * c->excess <= small) return true;
  return ++c->wait_rounds >= c->pause;
}

static osla_err judge_estimate(osla_iteration *it, const double *sums, double *x, double residual2,
                               bool at_end)
{
  certificate *c = &it->c;
  const bool all_at_end = sums[AT_END] == osla_transport_size(it->t);
  c->rounds++;
  c->estimate2 = sums[RESIDUAL];
  osli_record_estimate(it, sqrt(c->estimate2));
  if (sums[MAGNITUDE] > 0) c->rounding2 = rounding_of(it, sums[MAGNITUDE]);
  if (osli_certificate_has_grown(c, c->estimate2)) {
    end_run(c, OSLA_ITERATE_DIVERGED);
    return OSLA_OK;
  }
  c->last = all_at_end;
  if (all_at_end || is_promising(c)) return record_snapshot(it, x, at_end);
  return start_estimate(it, x, residual2, at_end);
}

static osla_err judge_snapshot(osla_iteration *it, const double *sums, const double *x,
                               double residual2, bool at_end)
{
  certificate *c = &it->c;
  c->true2 = sums[RESIDUAL];
  c->rounding2 = rounding_of(it, sums[MAGNITUDE]);
  c->distance = sums[DISTANCE];
  c->excess = c->true2 / (c->estimate2 > DBL_MIN ? c->estimate2 : DBL_MIN);
  c->wait_rounds = 0;
  c->pause = c->pause < 1024 ? 2 * c->pause : c->pause;
  c->rounds++;
  if (c->true2 <= c->wanted2) {
    end_run(c, OSLA_ITERATE_CONVERGED);
  } else if (c->true2 <= c->rounding2) {
    end_run(c, OSLA_ITERATE_STAGNATED);
  } else if (c->last) {
    end_run(c, OSLA_ITERATE_SWEEPS);
  } else {
    return start_estimate(it, x, residual2, at_end);
  }
  return OSLA_OK;
}

osla_err osli_certificate_step(osla_iteration *it, double *x, double residual2, bool at_end)
{
  certificate *c = &it->c;
  const double *sums;
  if (c->rounds == 0) {
    c->rounds = 1;
    return start_estimate(it, x, residual2, at_end);
  }
  if (c->state == RECORDED) {
    bool here;
    OSLA_CALL(osli_halos_state_arrived(it, at_end, &here));
    return here ? start_certifying(it) : OSLA_OK;
  }
  OSLA_CALL(at_end ? osli_watch_result(it, &sums) : osla_reduction_test(it->reduction, &sums));
  if (!sums) return OSLA_OK;
  return c->state == ESTIMATING ? judge_estimate(it, sums, x, residual2, at_end)
                                : judge_snapshot(it, sums, x, residual2, at_end);
}

/* ---- in lock-step ---- */

static osla_err reduce_values(osla_iteration *it, const double *values, const double **sums)
{
  return osli_watch_reduce(it, values, SUMS, VALUES - SUMS, sums);
}

/* The sweep may have been relaxed. */
static osla_err find_distance(osla_iteration *it, const double *x)
{
  double values[VALUES] = {0};
  const double *sums;
  if (!it->v) return OSLA_OK;
  (void)it->p.sweep(it->p.arg, 1.0, x, it->spare);
  values[DISTANCE] = it->p.distance(it->p.arg, x, it->spare, it->v);
  OSLA_CALL(reduce_values(it, values, &sums));
  if (sums) it->c.distance = sums[DISTANCE];
  return OSLA_OK;
}

osla_err osli_certificate_sum(osla_iteration *it, const double *x, double residual2, bool at_end)
{
  certificate *c = &it->c;
  double values[VALUES] = {[RESIDUAL] = residual2};
  const double *sums;
  const bool anew = is_magnitude_due(c) || at_end;
  if (anew) values[MAGNITUDE] = magnitude_of(it, x);
  OSLA_CALL(reduce_values(it, values, &sums));
  if (!sums) return OSLA_OK;
  c->rounds++;
  c->true2 = c->estimate2 = sums[RESIDUAL];
  osli_record_estimate(it, sqrt(c->true2));
  if (anew) c->rounding2 = rounding_of(it, sums[MAGNITUDE]);
  if (!anew && c->true2 <= fmax(c->rounding2, c->wanted2)) { /* of this very x */
    const double now[VALUES] = {[MAGNITUDE] = magnitude_of(it, x)};
    OSLA_CALL(reduce_values(it, now, &sums));
    if (!sums) return OSLA_OK;
    c->rounding2 = rounding_of(it, sums[MAGNITUDE]);
  }
  if (osli_certificate_has_grown(c, c->true2))
    end_run(c, OSLA_ITERATE_DIVERGED);
  else if (c->true2 <= c->wanted2)
    end_run(c, OSLA_ITERATE_CONVERGED);
  else if (c->true2 <= c->rounding2)
    end_run(c, OSLA_ITERATE_STAGNATED);
  else if (at_end)
    end_run(c, OSLA_ITERATE_SWEEPS);
  return c->over && osli_certificate_vouches(c->end) ? find_distance(it, x) : OSLA_OK;
}
