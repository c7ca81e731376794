/* A bound of rho(|M|) by a positive vector (Collatz, Math. Z. 48, 1942; Wielandt, Math. Z. 52,
 * 1950; Horn and Johnson, Matrix Analysis, corollary 8.1.29): |M| v <= alpha v, element by element,
 * gives rho(|M|) <= alpha. Steps v := (v + |M| v) / 2 make alpha smaller, and keep v positive. */
#include "iterate.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

osla_err osla_iterate_bound(osla_iteration *it, int64_t steps, double *alpha)
{
  const osla_fixed_point *p = &it->p;
  const size_t n = (size_t)p->length;
  *alpha = INFINITY;
  OSLA_CHECK(p->bound_sweep && p->distance, OSLA_ERR_UNSUPPORTED,
             "this problem gives no bound: it has no bound_sweep or distance");
  double *v = malloc((n + 1) * sizeof *v), *best = malloc((n + 1) * sizeof *v);
  osla_err err = v && best ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "two vectors of the bound");
  if (steps < 1)
    err = osla_error_set(OSLA_ERR_ARG, "bound: steps = %lld is less than 1", (long long)steps);
  const osla_argument same[] = {{"steps", steps}};
  err = osla_agree_same(it->t, err, "osla_iterate_bound", same, 1);
  for (size_t i = 0; err == OSLA_OK && i < n; i++)
    v[i] = 1.0;
  for (int64_t step = 0; err == OSLA_OK && step < steps; step++) {
    double *next = it->memory;
    const double *largest;
    err = osla_halos_exchange(it, v);
    if (err != OSLA_OK) break;
    memcpy(next, v, n * sizeof *v);
    const double mine = p->bound_sweep(p->arg, v, next);
    err = osla_reduction_start(it->reduction, &mine, 0, 1);
    if (err == OSLA_OK) err = osla_reduction_wait(it->reduction, &largest);
    if (err != OSLA_OK) break;
    const double scale = largest[0] > 1.0 ? 0.5 / largest[0] : 0.5; /* v stays finite */
    if (!isfinite(largest[0])) break;
    /* Of computed numbers: each is wrong by its row's rounding at most. */
    const double found = largest[0] * (1.0 + (p->row_terms + 4) * DBL_EPSILON);
    if (found < *alpha) {
      *alpha = found;
      memcpy(best, v, n * sizeof *v);
    }
    for (size_t i = 0; i < n; i++)
      v[i] = scale * (v[i] + next[i]);
  }
  free(v);
  free(it->v);
  it->v = NULL;
  if (err != OSLA_OK || isinf(*alpha)) {
    free(best);
    return err;
  }
  it->v = best;
  it->alpha = *alpha;
  return OSLA_OK;
}
