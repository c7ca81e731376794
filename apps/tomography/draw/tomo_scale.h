/* What the colours of a picture stand for: ranges with round ends, ticks, numbers as text.
 * Pure, thread-safe. */
#ifndef TOMO_SCALE_H
#define TOMO_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/tomography/draw/tomo_colours.h"

typedef struct tomo_scale {
  tomo_palette palette;
  double low, high; /* low < high; > 0 where logarithmic */
  bool logarithmic;
  bool below, above; /* are there values beyond the ends? they have the end's colour */
  const char *label; /* what, and its unit */
} tomo_scale;

/* Where a value is on the scale, 0 .. 1. */
double tomo_scale_place(const tomo_scale *scale, double value);

/* The next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten that is not below x; 1 unless x > 0. */
double tomo_scale_round(double x);

enum { TOMO_TICKS_MAX = 24 };
/* Round values within the scale, ascending; returns how many. */
int tomo_scale_ticks(const tomo_scale *scale, double tick[TOMO_TICKS_MAX]);

/* The value that `part` (0 .. 1) of the n finite ones stay below or at; `value` is sorted, NaN
 * last. 0 if none is finite. */
double tomo_scale_quantile(float *value, int64_t n, double part);

/* A number as a page prints it, in so many digits: 0.02, −3, 1.5×10⁻⁷. */
typedef struct tomo_number {
  char s[64];
} tomo_number;
tomo_number tomo_number_text(double value, int digits);

#endif
