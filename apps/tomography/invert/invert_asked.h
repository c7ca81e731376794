/* Options of `osla invert` that are lists: --scan and --spread (invert_asked.c). */
#ifndef INVERT_ASKED_H
#define INVERT_ASKED_H

#include "osla_error.h"

enum { INVERT_POINTS_MAX = 64, INVERT_SCAN_MAX = 1000, INVERT_VECTORS_MAX = 1024 };

/* count values from first to last, evenly spaced in their logarithm; count 0: it is not scanned. */
typedef struct invert_range {
  double first, last;
  int count;
} invert_range;

/* "damping=A:B:N,smoothing=A:B:M,vectors=K" */
typedef struct invert_scan_plan {
  invert_range damping, smoothing;
  int vectors; /* random ones, for each trace */
} invert_scan_plan;

typedef struct invert_point {
  double latitude, longitude; /* geographic degrees */
  double depth_km;
} invert_point;

/* Which prior the model is made with. */
typedef enum invert_choice { INVERT_AS_GIVEN, INVERT_CORNER, INVERT_GCV } invert_choice;

/* How the posterior is found: by the inverse in the factor's place, or by columns of it. */
typedef enum invert_inverse {
  INVERT_BY_MEMORY, /* in place, where memory allows it */
  INVERT_IN_PLACE,
  INVERT_BY_COLUMNS
} invert_inverse;

/* Value i of a range; how many priors are scanned. Local, pure. */
double invert_range_value(const invert_range *range, int i);
int invert_scan_count(const invert_scan_plan *plan);

/* Parse; a NULL text is an empty list. Local. Errors: OSLA_ERR_ARG, with the offending word. */
osla_err invert_parse_scan(const char *text, invert_scan_plan *plan);
osla_err invert_parse_spread(const char *text, double depth_km, int *points,
                             invert_point point[INVERT_POINTS_MAX]); /* of a model so deep */
osla_err invert_parse_choice(const char *text, invert_choice *choice);
osla_err invert_parse_inverse(const char *text, invert_inverse *inverse);

#endif
