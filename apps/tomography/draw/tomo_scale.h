/* Colour scales: ranges with round ends, ticks, numbers as text. Pure, thread-safe. */
#ifndef TOMO_SCALE_H
#define TOMO_SCALE_H

#include <stdbool.h>
#include <stdint.h>

/* Colours of the pictures: palettes of 256 colours, interpolated in CIELAB.
 *
 * The lightness L* changes at a constant rate along each palette, so that equal steps of the data
 * look equal (Kovesi 2015, "Good Colour Maps: How to Design Them", arXiv:1509.03700; Crameri et
 * al. 2020, Nat. Commun. 11, 5444). Lightness and blue-yellow alone order each palette, so that
 * people who cannot tell red from green can read it. Pure, thread-safe.
 */
enum { TOMO_COLOURS = 256 };

typedef enum tomo_palette {
  /* for velocity anomalies: from dark red (slow) over almost white (0) to dark blue (fast), both
   * ends equally dark */
  TOMO_PALETTE_ANOMALY,
  TOMO_PALETTE_AMOUNT, /* for density and resolution: from almost white to dark blue */
  TOMO_PALETTE_DOUBT   /* for standard deviations: from almost white to dark red */
} tomo_palette;

typedef unsigned char tomo_colour[3]; /* sRGB */

void tomo_colours_make(tomo_palette palette, tomo_colour table[TOMO_COLOURS]);

/* Colour of pixels without data. */
extern const tomo_colour tomo_colours_grey;

typedef struct tomo_scale {
  tomo_palette palette;
  double low, high; /* ends of the scale, low < high; for a logarithmic scale low > 0 */
  bool logarithmic;
  bool below, /* true: some values are less than `low`, and get the colour of the lower end */
    above;    /* true: some values are greater than `high`, and get the colour of the upper end */
  const char *label; /* text below the colour bar: quantity and unit */
} tomo_scale;

/* Returns the position of a value on the scale, 0..1. */
double tomo_scale_position(const tomo_scale *scale, double value);

/* Returns the smallest of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten that is not below x, or 1
 * if x is not positive. */
double tomo_scale_round(double x);

enum { TOMO_TICKS_MAX = 24 };
/* Lists round values within the scale, ascending; returns their number. */
int tomo_scale_ticks(const tomo_scale *scale, double tick[TOMO_TICKS_MAX]);

/* Returns the quantile `part` (0..1) of the finite values among n values, or 0 if no value is
 * finite. Sorts `value`, with NaN at the end. */
double tomo_scale_quantile(float *value, int64_t n, double part);

/* A number as text for readers, with `digits` significant digits: 0.02, −3, 1.5×10⁻⁷. */
typedef struct tomo_number {
  char s[64];
} tomo_number;
tomo_number tomo_number_text(double value, int digits);

#endif
