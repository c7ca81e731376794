/* --reproducible of `osla assemble` and `osla invert`: the order-independent mode of the
 * accumulator, and the source of its two bounds (layer 4).
 *
 * A bound is given by the user, or read from the checkpoint from which the job resumes, or found
 * by a first pass over the data. The pass uses sums that do not depend on the order
 * (order_free.h), and rounds them up to a power of two. Therefore the bounds are the same on any
 * number of ranks, and H and g have the same bits.
 */
#ifndef REPRODUCIBLE_H
#define REPRODUCIBLE_H

#include "osla_unstable.h"
#include "tools/common/checkpoint.h"

#include <jansson.h>

enum { BOUND_OF_H, BOUND_OF_GRADIENT, N_BOUNDS };

typedef struct reproducible {
  int on;                 /* 1: order-independent mode; int because popt sets it */
  double bound[N_BOUNDS]; /* bound of the user, 0: none; later the bound in use */
  /* source of each bound: "given", "checkpoint" or "first pass"; NULL: not known yet */
  const char *from[N_BOUNDS];
  double seconds; /* duration of the pass */
} reproducible;

/* Checks the parsed options. Local. Errors: ARG. */
osla_err reproducible_check(const reproducible *r, osla_dtype dtype);

/* Sets the bounds from the options and from the checkpoint if it exists. *pass: a bound is still
 * unknown, so that the pass is needed. Collective. Errors: those of osla_file.h. */
osla_err reproducible_start(reproducible *r, const checkpoint *c, bool *pass);

/* Sets the unknown bounds from the results of the pass: upper bounds of every partial sum of an
 * element of H, and of the gradient. Local. */
void reproducible_set_bounds(reproducible *r, double h, double gradient);

void reproducible_apply(const reproducible *r, osla_hessian_options *options);

/* Adds the option that changes the bound to the error of an exceeded bound; returns other errors
 * unchanged. Local. */
osla_err reproducible_explain_error(const reproducible *r, osla_err err);

/* A line of the text report, and members of a JSON object that the caller owns. Local. */
void reproducible_print(const reproducible *r);
json_t *reproducible_json(const reproducible *r);

#endif
