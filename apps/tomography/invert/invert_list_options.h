/* Parsers of the options of `osla invert` that are lists or words: --scan, --spread, --choose,
 * --inverse (invert_list_options.c). */
#ifndef INVERT_LIST_OPTIONS_H
#define INVERT_LIST_OPTIONS_H

#include "osla_error.h"

enum { INVERT_POINTS_MAX = 64, INVERT_SCAN_MAX = 1000, INVERT_VECTORS_MAX = 1024 };

/* `count` values from first to last, evenly spaced in their logarithm; count 0: no scan. */
typedef struct invert_range {
  double first, last;
  int count;
} invert_range;

/* The parsed text of --scan, "damping=A:B:N,smoothing=A:B:M,vectors=K". */
typedef struct invert_scan_plan {
  invert_range damping, smoothing;
  int vectors; /* number of random vectors for the estimate of a trace */
} invert_scan_plan;

typedef struct invert_point {
  double latitude, longitude; /* position in geographic degrees */
  double depth_km;
} invert_point;

/* Source of the prior of the final model: the options, the corner of the L-curve, the least
 * generalised cross-validation. */
typedef enum invert_choice { INVERT_AS_GIVEN, INVERT_CORNER, INVERT_GCV } invert_choice;

/* Method for the posterior: the inverse overwrites the factor, or columns of the inverse are
 * computed a few at a time. */
typedef enum invert_inverse {
  INVERT_BY_MEMORY, /* in place if the memory suffices, else by columns */
  INVERT_IN_PLACE,
  INVERT_BY_COLUMNS
} invert_inverse;

/* Value i of a range; number of priors of a scan. Local, pure. */
double invert_range_value(const invert_range *range, int i);
int invert_scan_count(const invert_scan_plan *plan);

/* Parsers of the options; a NULL text gives the default. depth_km is the lower end of the model.
 * Local. Errors: OSLA_ERR_ARG, with the wrong word. */
osla_err invert_parse_scan(const char *text, invert_scan_plan *plan);
osla_err invert_parse_spread(const char *text, double depth_km, int *points,
                             invert_point point[INVERT_POINTS_MAX]);
osla_err invert_parse_choice(const char *text, invert_choice *choice);
osla_err invert_parse_inverse(const char *text, invert_inverse *inverse);

#endif
