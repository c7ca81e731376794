/* Bound of rho(|M|) by a positive vector: |M| v <= alpha v, element by element, implies rho(|M|) <=
 * alpha (Collatz, Math. Z. 48, 1942; Wielandt, Math. Z. 52, 1950; Horn and Johnson, Matrix
 * Analysis, corollary 8.1.29). Replacing v by a multiple of v + |M| v lowers alpha and keeps v
 * positive. */
#include "kernels/iterate/iterate.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* limit below which numbers, and products of them, do not have full precision */
static const double least_sound = DBL_MIN / DBL_EPSILON;

/* Returns the smallest element, of two vectors, that is not 0. Elements at boundaries are 0. */
static double find_least(int64_t n, const double *v, const double *next)
{
  double least = INFINITY;
  for (int64_t i = 0; i < n; i++) {
    if (v[i] > 0.0) least = fmin(least, v[i]);
    if (next[i] > 0.0) least = fmin(least, next[i]);
  }
  return least;
}

static double find_most(int64_t n, const double *v)
{
  double most = 0.0;
  for (int64_t i = 0; i < n; i++)
    most = fmax(most, v[i]);
  return most;
}

/* One step of the bound: computes alpha of v. If alpha is the smallest so far, copies v to `best`,
 * scaled to a largest element of 1. Then replaces v by a scaled v + |M| v. *go_on = false if |M| v
 * is not finite, or if an element became too small to give an exact quotient. */
static osla_err bound_step(osla_iteration *it, double *v, double *best, double *alpha, bool *go_on)
{
  const osla_fixed_point *p = &it->p;
  double *next = it->memory;
  const double *largest;
  OSLA_CALL(osli_halos_exchange(it, v));
  iteration_copy_state(it, next, v);
  const double found_here = p->bound_sweep(p->arg, v, next);
  const double mine[] = {found_here, find_most(p->length, v), -find_least(p->length, v, next)};
  OSLA_CALL(osla_reduction_start(it->reduction, mine, 0, 3));
  OSLA_CALL(osla_reduction_wait(it->reduction, &largest));
  const double least = -largest[2];
  *go_on = isfinite(largest[0]) && least >= least_sound;
  if (!*go_on) return OSLA_OK;
  /* The quotient is computed from rounded numbers, so a bound of the rounding errors of a row is
   * added. */
  const double found = largest[0] * (1.0 + (p->row_terms + 4) * DBL_EPSILON);
  if (found < *alpha) {
    *alpha = found;
    for (int64_t i = 0; i < p->length; i++)
      best[i] = v[i] / largest[1];
  }
  const double scale = (largest[0] > 1.0 ? 0.5 / largest[0] : 0.5) / largest[1];
  *go_on = scale * least >= least_sound; /* the iteration stops before an element becomes 0 */
  for (int64_t i = 0; i < p->length; i++)
    v[i] = scale * (v[i] + next[i]);
  return OSLA_OK;
}

osla_err osla_iterate_bound(osla_iteration *it, int64_t steps, double *alpha)
{
  const size_t n = (size_t)it->p.length;
  *alpha = INFINITY;
  OSLA_CALL(osli_watch_check(it));
  OSLA_CHECK(it->p.bound_sweep && it->p.distance, OSLA_ERR_UNSUPPORTED,
             "osla_iterate_bound: the problem needs bound_sweep and distance");
  double *v = malloc((n + 1) * sizeof *v), *best = malloc((n + 1) * sizeof *v);
  osla_err err =
    v && best ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for two vectors of the bound");
  if (steps < 1)
    err = osla_error_set(OSLA_ERR_ARG, "bound: steps = %lld is less than 1", (long long)steps);
  const osla_argument same[] = {{"steps", steps}};
  err = osla_agree_same(it->t, err, "osla_iterate_bound", same, 1);
  if (err != OSLA_OK) {
    free(v);
    free(best);
    return err;
  }
  for (size_t i = 0; i < n; i++)
    v[i] = 1.0;
  bool go_on = true;
  for (int64_t k = 0; k < steps && go_on; k++) {
    const osla_err one = bound_step(it, v, best, alpha, &go_on);
    if (one != OSLA_OK)
      osla_transport_abort(it->t, one); /* ends the job, because an error on one rank cannot be
                                           returned while the other ranks wait */
  }
  free(v);
  free(it->v);
  it->v = NULL;
  if (isinf(*alpha)) {
    free(best);
    return OSLA_OK;
  }
  it->v = best;
  it->alpha = *alpha;
  return OSLA_OK;
}
