/* Colour scales: ranges with round ends, ticks, numbers as text. Pure, thread-safe. */
#ifndef TOMO_SCALE_H
#define TOMO_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/tomography/draw/tomo_colours.h"

typedef struct tomo_scale {
  tomo_palette palette;
  double low, high; /* low < high; low > 0 if logarithmic */
  bool logarithmic;
  bool below, above; /* true if values lie beyond that end; they have the colour of the end */
  const char *label; /* text below the bar: quantity and unit */
} tomo_scale;

/* Position of a value on the scale, 0..1. */
double tomo_scale_position(const tomo_scale *scale, double value);

/* The smallest of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten that is not below x; 1 unless x >
 * 0. */
double tomo_scale_round(double x);

enum { TOMO_TICKS_MAX = 24 };
/* Lists round values within the scale, ascending; returns their number. */
int tomo_scale_ticks(const tomo_scale *scale, double tick[TOMO_TICKS_MAX]);

/* The quantile `part` (0..1) of the finite ones among n values; 0 if none is finite. Sorts
 * `value`, NaN last. */
double tomo_scale_quantile(float *value, int64_t n, double part);

/* A number as text for people, with `digits` significant digits: 0.02, −3, 1.5×10⁻⁷. */
typedef struct tomo_number {
  char s[64];
} tomo_number;
tomo_number tomo_number_text(double value, int digits);

#endif
