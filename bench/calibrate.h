/* Declarations that the files of osla-calibrate share: the kinds of work that are timed, and the
 * fit of a model.
 *
 * Model: seconds = sum of c_i * monomial_i(m, n, k), c_i >= 0 (Cornebize, Legrand, Heinrich,
 * CLUSTER 2019, section IV), for each kind of work in src/blas/work.h, in double precision. */
#ifndef CALIBRATE_H
#define CALIBRATE_H

#include "osla_error.h"

#include <stdint.h>

enum { CALIBRATE_TERMS = 5, CALIBRATE_SHAPES = 80 };

typedef struct calibrate_shape {
  int64_t m, n, k;
} calibrate_shape;

typedef struct calibrate_room calibrate_room;

/* A kind of work and the sizes at which it is timed. */
typedef struct calibrate_kind {
  /* name of the work in a machine file, without the prefix "work-" */
  const char *name;
  /* monomials of the model, such as "mnk" or "1"; NULL ends the list */
  const char *monomials[CALIBRATE_TERMS];
  /* sizes, ended by 0; an empty list stands for the size 1 */
  int64_t m[6], n[6], k[4];
  osla_err (*work)(calibrate_room *room, const calibrate_shape *shape);
  /* restores the operands before each run, untimed; may be NULL */
  osla_err (*prepare)(calibrate_room *room, const calibrate_shape *shape);
} calibrate_kind;

extern const calibrate_kind calibrate_kinds[];
extern const int calibrate_n_kinds;

/* Creates the operands: small matrices, and a matrix of order n. The timed work walks through the
 * blocks of this matrix, so that it finds them in memory and not in a cache. Errors: MEM. */
osla_err calibrate_room_make(int64_t n, calibrate_room **out);
void calibrate_room_free(calibrate_room **room);

/* *seconds := median time of several runs. Local. */
osla_err calibrate_time(calibrate_room *room, const calibrate_kind *kind,
                        const calibrate_shape *shape, double *seconds);

typedef struct calibrate_fit {
  int terms;
  double c[CALIBRATE_TERMS];
  double median, /* median error of the model, relative to the measured times */
    worst;       /* largest error of the model, relative to the measured times */
} calibrate_fit;

/* Compares two doubles, for qsort. */
int calibrate_compare(const void *a, const void *b);

double calibrate_monomial(const char *monomial, const calibrate_shape *shape);

/* Finds coefficients c >= 0 that minimise the sum of squares of the relative errors: fits every
 * subset of the monomials, and keeps the best fit whose coefficients are all positive. Local. */
osla_err calibrate_fit_kind(const calibrate_kind *kind, int count, const calibrate_shape *shape,
                            const double *seconds, calibrate_fit *out);

#endif
