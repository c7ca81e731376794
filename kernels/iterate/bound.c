/* A bound of rho(|M|) by a positive vector (Collatz, Math. Z. 48, 1942; Wielandt, Math. Z. 52,
 * 1950; Horn and Johnson, Matrix Analysis, corollary 8.1.29): |M| v <= alpha v, element by element,
 * gives rho(|M|) <= alpha. Steps from v to a multiple of v + |M| v make alpha smaller, and keep v
 * positive. */
#include "iterate.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Looks at v, keeps it in `best` if its alpha is less, and makes the next one. *go_on: false when
 * |M| v is not finite. */
static osla_err step(osla_iteration *it, double *v, double *best, double *alpha, bool *go_on)
{
  const osla_fixed_point *p = &it->p;
  double *next = it->memory;
  const double *largest;
  OSLA_CALL(osla_halos_exchange(it, v));
  osla_state_copy(it, next, v);
  const double mine = p->bound_sweep(p->arg, v, next);
  OSLA_CALL(osla_reduction_start(it->reduction, &mine, 0, 1));
  OSLA_CALL(osla_reduction_wait(it->reduction, &largest));
  *go_on = isfinite(largest[0]);
  if (!*go_on) return OSLA_OK;
  /* Of computed numbers: each is wrong by its row's rounding at most. */
  const double found = largest[0] * (1.0 + (p->row_terms + 4) * DBL_EPSILON);
  if (found < *alpha) {
    *alpha = found;
    osla_state_copy(it, best, v);
  }
  const double scale = largest[0] > 1.0 ? 0.5 / largest[0] : 0.5; /* v stays finite */
  for (int64_t i = 0; i < p->length; i++)
    v[i] = scale * (v[i] + next[i]);
  return OSLA_OK;
}

osla_err osla_iterate_bound(osla_iteration *it, int64_t steps, double *alpha)
{
  const size_t n = (size_t)it->p.length;
  *alpha = INFINITY;
  OSLA_CALL(osla_watch_check(it));
  OSLA_CHECK(it->p.bound_sweep && it->p.distance, OSLA_ERR_UNSUPPORTED,
             "this problem gives no bound: it has no bound_sweep or distance");
  double *v = malloc((n + 1) * sizeof *v), *best = malloc((n + 1) * sizeof *v);
  osla_err err = v && best ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "two vectors of the bound");
  if (steps < 1)
    err = osla_error_set(OSLA_ERR_ARG, "bound: steps = %lld is less than 1", (long long)steps);
  const osla_argument same[] = {{"steps", steps}};
  err = osla_agree_same(it->t, err, "osla_iterate_bound", same, 1);
  for (size_t i = 0; err == OSLA_OK && i < n; i++)
    v[i] = 1.0;
  bool go_on = err == OSLA_OK;
  for (int64_t k = 0; k < steps && go_on; k++) {
    const osla_err one = step(it, v, best, alpha, &go_on);
    if (one != OSLA_OK) osla_transport_abort(it->t, one); /* the others wait */
  }
  free(v);
  free(it->v);
  it->v = NULL;
  if (isinf(*alpha)) {
    free(best);
    return err;
  }
  it->v = best;
  it->alpha = *alpha;
  return OSLA_OK;
}
