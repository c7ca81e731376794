/* --reproducible of `osla assemble` and `osla invert`: the order-independent mode of the
 * accumulator, and the source of its two bounds (layer 4).
 *
 * A bound is given by the user, or read from the checkpoint from which the job resumes, or found by
 * a first pass over the data. The sums of that pass do not depend on the order of the data
 * (order_free.h), and are rounded up to a power of two. Therefore the bounds are the same on any
 * number of ranks, and H and g have the same bits. */
#ifndef REPRODUCIBLE_H
#define REPRODUCIBLE_H

#include "osla_unstable.h"
#include "tools/common/checkpoint.h"

#include <jansson.h>

enum { BOUND_OF_H, BOUND_OF_GRADIENT, N_BOUNDS };

typedef struct reproducible {
  int on;                 /* 1: order-independent mode; the type is int because popt sets it */
  double bound[N_BOUNDS]; /* bound that the user gave, or 0; later the bound that is used */
  /* source of each bound: "given", "checkpoint" or "first pass"; NULL: not known yet */
  const char *from[N_BOUNDS];
  double seconds; /* seconds of the first pass */
} reproducible;

/* Checks the parsed options. Local. Errors: ARG. */
osla_err reproducible_check(const reproducible *r, osla_dtype dtype);

/* Sets the bounds from the options, and from the checkpoint if it exists. *pass is true if a bound
 * is still unknown, so that a first pass is needed. Collective. Errors: those of osla_file.h. */
osla_err reproducible_start(reproducible *r, const checkpoint *c, bool *pass);

/* Sets the unknown bounds from the results of the first pass: `h` bounds every partial sum of an
 * element of H, `gradient` every partial sum of an element of g. Local. */
void reproducible_set_bounds(reproducible *r, double h, double gradient);

void reproducible_apply(const reproducible *r, osla_hessian_options *options);

/* If the error is an exceeded bound, appends to its text the option that changes the bound. Returns
 * all errors unchanged. Local. */
osla_err reproducible_explain_error(const reproducible *r, osla_err err);

/* Print a line of the text report, and return members of the JSON report as an object that the
 * caller owns. Local. */
void reproducible_print(const reproducible *r);
json_t *reproducible_json(const reproducible *r);

#endif
