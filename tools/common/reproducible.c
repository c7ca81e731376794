/* Reads, sets and reports the two bounds of --reproducible. See reproducible.h. */
#include "tools/common/reproducible.h"
#include "tools/common/command.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const option[N_BOUNDS] = {"--bound", "--gradient-bound"};
static const char *const attribute[N_BOUNDS] = {"bound", "gradient_bound"};

/* Factor by which a bound is enlarged; it exceeds the rounding errors of the sums and products that
 * make the bound. */
#define ROOM 1.001

osla_err reproducible_check(const reproducible *r, osla_dtype dtype)
{
  for (int i = 0; i < N_BOUNDS; i++) {
    OSLA_CHECK(r->bound[i] == 0.0 || (r->bound[i] >= 1e-250 && r->bound[i] <= 1e250), OSLA_ERR_ARG,
               "%s: %g is not from 1e-250 to 1e250", option[i], r->bound[i]);
    OSLA_CHECK(r->bound[i] == 0.0 || r->on, OSLA_ERR_ARG, "%s requires --reproducible", option[i]);
  }
  OSLA_CHECK(!r->on || dtype == OSLA_DOUBLE, OSLA_ERR_ARG,
             "--reproducible requires double precision");
  return OSLA_OK;
}

/* Reads the bounds from the checkpoint. They are 0 if the checkpoint is not one of the
 * order-independent mode, which osla_hessian_restore reports later. */
static osla_err read_bounds(const checkpoint *c, double bound[N_BOUNDS])
{
  osla_file *file = NULL;
  osla_err err = osla_file_open(c->t, c->file, &file);
  for (int i = 0; i < N_BOUNDS && err == OSLA_OK; i++)
    err = osla_file_get_number(file, attribute[i], &bound[i]);
  osla_file_close(&file);
  return err;
}

osla_err reproducible_start(reproducible *r, const checkpoint *c, bool *pass)
{
  double stored[N_BOUNDS] = {0.0, 0.0};
  int32_t there = 0;
  *pass = false;
  if (!r->on) return OSLA_OK;
  OSLA_CALL(checkpoint_exists(c, &there));
  if (there) OSLA_CALL(read_bounds(c, stored));
  for (int i = 0; i < N_BOUNDS; i++) {
    if (r->bound[i] > 0.0) {
      r->from[i] = "given";
    } else if (there) {
      r->bound[i] = stored[i] > 0.0 ? stored[i] : 1.0;
      r->from[i] = "checkpoint";
    }
    *pass |= !r->from[i];
  }
  return OSLA_OK;
}

void reproducible_set_bounds(reproducible *r, double h, double gradient)
{
  const double found[N_BOUNDS] = {h, gradient};
  for (int i = 0; i < N_BOUNDS; i++) {
    if (r->from[i]) continue;
    r->bound[i] = found[i] > 0.0 ? exp2(ceil(log2(found[i] * ROOM))) : 1.0;
    r->from[i] = "first pass";
  }
}

void reproducible_apply(const reproducible *r, osla_hessian_options *o)
{
  if (!r->on) return;
  o->order_independent = true;
  o->bound = r->bound[BOUND_OF_H];
  o->gradient_bound = r->bound[BOUND_OF_GRADIENT];
}

osla_err reproducible_explain_error(const reproducible *r, osla_err err)
{
  char text[400];
  (void)snprintf(text, sizeof text, "%s", osla_error_text());
  if (!r->on || err != OSLA_ERR_RANGE || !strstr(text, "the bound")) return err;
  int i = strstr(text, "gradient") ? BOUND_OF_GRADIENT : BOUND_OF_H;
  return osla_error_set(err, "%s (%s; %s gives a larger one)", text, r->from[i], option[i]);
}

void reproducible_print(const reproducible *r)
{
  if (!r->on) return;
  (void)printf("Bounds     of |H| %g (%s), of |g| %g (%s)", r->bound[BOUND_OF_H],
               r->from[BOUND_OF_H], r->bound[BOUND_OF_GRADIENT], r->from[BOUND_OF_GRADIENT]);
  if (r->seconds > 0.0) (void)printf("; the pass took %s", format_seconds(r->seconds).s);
  (void)printf("\n");
}

json_t *reproducible_json(const reproducible *r)
{
  if (!r->on) return json_pack("{s:b}", "reproducible", 0);
  return json_pack("{s:b, s:f, s:s, s:f, s:s, s:f}", "reproducible", 1, "bound",
                   r->bound[BOUND_OF_H], "bound_from", r->from[BOUND_OF_H], "gradient_bound",
                   r->bound[BOUND_OF_GRADIENT], "gradient_bound_from", r->from[BOUND_OF_GRADIENT],
                   "seconds_bounds", r->seconds);
}
