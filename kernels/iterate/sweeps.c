/* Sweeps as a preconditioner: an iteration that makes a fixed number of sweeps, without a
 * certificate. */
#include "osla_sweeps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sparse/krylov.h"

struct osla_sweeps {
  own_preconditioner own; /* must be the first member, because krylov.h casts pointers */
  osla_iteration *it;
  int64_t length;
  double *right; /* [own.rows] right-hand side of the current call */
  double *state; /* [length] state that the iteration sweeps */
};

enum { DEFAULT_SWEEPS = 3 };

static osla_iterate_options fixed_sweeps(const osla_iterate_options *options)
{
  osla_iterate_options o = options ? *options : (osla_iterate_options){0};
  if (o.sweeps == 0) o.sweeps = DEFAULT_SWEEPS;
  o.uncertified = true;
  o.proven = false;
  o.patience = 0.0;
  o.record_bytes = 0;
  return o;
}

/* Runs the sweeps. If the residual grows, all ranks return the same error. */
static osla_err apply(void *arg, const double *r, double *z)
{
  osla_sweeps *s = arg;
  osla_iterate_result result;
  const size_t bytes = (size_t)s->own.rows * sizeof *r;
  if (bytes > 0) memcpy(s->right, r, bytes);
  memset(s->state, 0, (size_t)s->length * sizeof *s->state);
  OSLA_CALL(osla_iterate(s->it, s->state, &result));
  OSLA_CHECK(result.end != OSLA_ITERATE_DIVERGED, OSLA_ERR_ARG,
             "sweeps as a preconditioner diverge, or r is not finite: residual %g, from %g",
             result.residual, result.start);
  if (bytes > 0) memcpy(z, s->state, bytes);
  return OSLA_OK;
}

static osla_err make(const osla_fixed_point *p, int64_t rows, double *right,
                     const osla_iterate_options *o, osla_sweeps *s)
{
  OSLA_CHECK(o->sweeps >= 1, OSLA_ERR_ARG,
             "osla_sweeps_create: sweeps = %" PRId64 " is less than 1", o->sweeps);
  OSLA_CHECK(rows >= 0 && rows <= p->length && p->length < INT64_MAX / 8 && (right || rows == 0),
             OSLA_ERR_ARG, "osla_sweeps_create: %" PRId64 " rows in a state of %" PRId64 "%s", rows,
             p->length, right ? "" : ", right is NULL");
  OSLA_CHECK(s, OSLA_ERR_MEM, "no memory for preconditioner object");
  *s = (osla_sweeps){.own = {rows, apply}, .length = p->length, .right = right};
  s->state = calloc((size_t)p->length + 1, sizeof *s->state);
  OSLA_CHECK(s->state, OSLA_ERR_MEM, "no memory for a state of %" PRId64 " numbers", p->length);
  return OSLA_OK;
}

osla_err osla_sweeps_create(osla_transport *t, const osla_fixed_point *problem, int64_t rows,
                            double *right, const osla_iterate_options *options, osla_sweeps **out)
{
  const osla_iterate_options o = fixed_sweeps(options);
  osla_fixed_point p = *problem;
  osla_sweeps *s = calloc(1, sizeof *s);
  p.magnitude = NULL;
  p.bound_sweep = NULL;
  p.distance = NULL;
  *out = NULL;
  osla_err err = osla_agree(t, make(&p, rows, right, &o, s));
  if (err == OSLA_OK) err = osla_iteration_create(t, &p, &o, &s->it);
  if (err == OSLA_OK)
    *out = s;
  else
    osla_sweeps_destroy(&s);
  return err;
}

void osla_sweeps_destroy(osla_sweeps **sweeps)
{
  osla_sweeps *s = sweeps ? *sweeps : NULL;
  if (!s) return;
  osla_iteration_destroy(&s->it);
  free(s->state);
  free(s);
  *sweeps = NULL;
}

osla_preconditioner osla_sweeps_use(osla_sweeps *sweeps)
{
  return (osla_preconditioner){.apply = osli_krylov_precondition, .arg = sweeps};
}
