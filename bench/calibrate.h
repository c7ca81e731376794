/* What osla-calibrate is made of: pieces of work that are timed, and a model that is fitted to
 * them.
 *
 * Model: seconds = sum of c_i * monomial_i(m, n, k), c_i >= 0 (Cornebize, Legrand, Heinrich,
 * CLUSTER 2019, section IV), for each kind of work of src/blas/work.h, in double precision.
 */
#ifndef CALIBRATE_H
#define CALIBRATE_H

#include "osla_error.h"

#include <stdint.h>

enum { CALIBRATE_TERMS = 5, CALIBRATE_SHAPES = 80 };

typedef struct calibrate_shape {
  int64_t m, n, k;
} calibrate_shape;

typedef struct calibrate_room calibrate_room;

/* A kind of work. */
typedef struct calibrate_kind {
  const char *name;                       /* as in a machine file, behind "work-" */
  const char *monomials[CALIBRATE_TERMS]; /* "mnk", "1"; NULL: no more */
  int64_t m[6], n[6], k[4];               /* all that are tried, ended by 0; 0 first: 1 alone */
  osla_err (*work)(calibrate_room *room, const calibrate_shape *shape);
  osla_err (*prepare)(calibrate_room *room, const calibrate_shape *shape); /* untimed; or NULL */
} calibrate_kind;

extern const calibrate_kind calibrate_kinds[];
extern const int calibrate_n_kinds;

/* A matrix of n x n, whose blocks pieces of work walk through so that they find them in memory and
 * not in a cache, and small operands. Errors: MEM. */
osla_err calibrate_room_make(int64_t n, calibrate_room **out);
void calibrate_room_free(calibrate_room **room);

/* The median of some runs. Local. */
osla_err calibrate_time(calibrate_room *room, const calibrate_kind *kind,
                        const calibrate_shape *shape, double *seconds);

typedef struct calibrate_fit {
  int terms;
  double c[CALIBRATE_TERMS];
  double median, worst; /* |error| / measured */
} calibrate_fit;

/* Order of two doubles, for qsort. */
int calibrate_compare(const void *a, const void *b);

double calibrate_monomial(const char *monomial, const calibrate_shape *shape);

/* The c >= 0 with the least sum of squares of relative errors: of all choices of monomials the best
 * whose coefficients are positive. Local. */
osla_err calibrate_fit_kind(const calibrate_kind *kind, int count, const calibrate_shape *shape,
                            const double *seconds, calibrate_fit *out);

#endif
