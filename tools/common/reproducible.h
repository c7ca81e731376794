/* --reproducible of `osla assemble` and `osla invert`: the order-independent mode of the
 * accumulator, and where its two bounds come from (floor 4).
 *
 * A bound is given, or that of the checkpoint from which the job goes on, or found by a first pass
 * over the data: from sums that no order changes (order_free.h), rounded up to a power of two. So
 * each is the same on any number of ranks, and H and g have the same bits.
 */
#ifndef REPRODUCIBLE_H
#define REPRODUCIBLE_H

#include "osla_unstable.h"
#include "tools/common/checkpoint.h"

#include <jansson.h>

enum { BOUND_OF_H, BOUND_OF_GRADIENT, N_BOUNDS };

typedef struct reproducible {
  int on;                     /* int: what popt sets */
  double bound[N_BOUNDS];     /* as given, 0: not; later what is used */
  const char *from[N_BOUNDS]; /* "given", "checkpoint" or "first pass"; NULL: not known yet */
  double seconds;             /* of the pass */
} reproducible;

/* The options, as they were parsed. Local. Errors: ARG. */
osla_err reproducible_check(const reproducible *r, osla_dtype dtype);

/* Takes what is given, and what the checkpoint's file has if it is there. *pass: something is still
 * unknown. Collective. Errors: those of osla_file.h. */
osla_err reproducible_begin(reproducible *r, const checkpoint *c, bool *pass);

/* What the pass has found: no sum of terms of H, or of g, is larger, whatever is left out. Fills in
 * what is not known. Local. */
void reproducible_found(reproducible *r, double h, double gradient);

void reproducible_apply(const reproducible *r, osla_hessian_options *options);

/* To the error of a bound that was not kept, adds the option that changes it. Local. */
osla_err reproducible_explain(const reproducible *r, osla_err err);

/* A line of the report; members of a JSON object, whose reference is the caller's. */
void reproducible_print(const reproducible *r);
json_t *reproducible_json(const reproducible *r);

#endif
