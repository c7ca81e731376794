/* Certified end of an iteration. First the ranks add up residuals of parts of x from different
 * sweeps (stale residuals), which only give a hint that the iteration may end. Then a snapshot of x
 * gives a true residual.
 *
 * All ranks decide alike, because they decide on the results of the same reductions (rounds). A
 * round of estimates starts when the previous one is over; each rank contributes the residual of
 * its latest sweep. When the sum is small enough, each rank records its part of x at the moment it
 * sees the sum, sends the halos of the recorded part, and goes on sweeping. When the neighbours'
 * halos have arrived, it computes the residual of its recorded part; the next round sums these
 * residuals. Only a rank that makes no more sweeps waits. */
#include "kernels/iterate/iterate.h"

#include <float.h>
#include <math.h>

/* Indices of the values that ranks reduce in a round of the certificate. */
enum { RESIDUAL, MAGNITUDE, AT_END, SUMS, DISTANCE = SUMS, VALUES };
/* limits that are compared with squares of residuals */
static const double GROWN2 = 1e20, FAR2 = 1e16;

/* Bound of the rounding errors in a computed residual, squared (Higham, Accuracy and Stability of
 * Numerical Algorithms, section 3.1). The errors come from the products in a row, the right-hand
 * side and a division. */
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

/* ---- start of a run ---- */

osla_err osli_certificate_begin(osla_iteration *it, const double *x)
{
  certificate *c = &it->c;
  const int rank = osla_transport_rank(it->t);
  *c = (certificate){.state = ESTIMATING,
                     .pause = 1,
                     .next_magnitude = 16}; /* the magnitude of the start is computed below */
  const double mine = iteration_sweep(it, it->p.sweep, x, it->p.length);
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

/* ---- rounds without waiting ---- */

/* Returns whether to compute the bound of rounding errors again. The bound grows slowly with x and
 * costs as much as a sweep. It is not needed while the residual is far above the bound's last
 * value, unless x grows very much. */
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

/* Records the current state. If this rank makes no more sweeps, the state is not copied. */
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

/* Computes the residual of the recorded state. Overwrites the spare state, which the next sweep
 * writes anyway. */
static osla_err start_certifying(osla_iteration *it)
{
  double values[VALUES] = {0};
  OSLA_CALL(osli_halos_receive_state(it, it->recorded));
  /* shows neighbours that this rank is alive, because the next call may take as long as two
   * sweeps */
  OSLA_CALL(osli_watch_step(it));
  /* The other ranks of a group may not have recorded their parts yet, so this sweep must not wait
   * for them. With omega = 0 it only computes the residual. */
  const double omega = it->p.group ? 0.0 : 1.0;
  values[RESIDUAL] = it->p.sweep(it->p.arg, omega, it->recorded, it->spare);
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

/* Returns true also if the residual or its bound of rounding errors is not finite. */
bool osli_certificate_has_grown(const certificate *c, double residual2)
{
  if (!isfinite(residual2) || !isfinite(c->rounding2)) return true;
  return !(residual2 <= GROWN2 * fmax(c->start2, fmax(c->wanted2, c->rounding2)));
}

bool osli_certificate_vouches(osla_iterate_end end_run)
{
  return end_run != OSLA_ITERATE_DIVERGED && end_run != OSLA_ITERATE_STALLED;
}

/* Decides whether to take a snapshot. Stale residuals may repeatedly be smaller than the true
 * residual. Therefore, after a snapshot that failed, the next snapshot waits until the estimate,
 * scaled by the error of the previous estimate, is small enough, or until a pause is over. The
 * pause doubles after each such snapshot. */
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
  OSLA_CALL(at_end ? osli_watch_result(it, it->reduction, &sums)
                   : osla_reduction_test(it->reduction, &sums));
  if (!sums) return OSLA_OK;
  return c->state == ESTIMATING ? judge_estimate(it, sums, x, residual2, at_end)
                                : judge_snapshot(it, sums, x, residual2, at_end);
}

/* ---- SYNC mode ---- */

static osla_err reduce_values(osla_iteration *it, const double *values, const double **sums)
{
  return osli_watch_reduce(it, values, SUMS, VALUES - SUMS, sums);
}

/* Computes the distance of x from a fixed point by a sweep without relaxation, because the last
 * sweep may have been relaxed. */
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
  /* compute the bound of the rounding errors for this x */
  if (!anew && c->true2 <= fmax(c->rounding2, c->wanted2)) {
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
