/* Colours of the pictures: palettes of 256 colours, interpolated in CIELAB.
 *
 * The lightness L* changes at a constant rate along each palette, so that equal steps of the data
 * look equal (Kovesi 2015, "Good Colour Maps: How to Design Them", arXiv:1509.03700; Crameri et
 * al. 2020, Nat. Commun. 11, 5444). Lightness and blue-yellow alone order each palette, so that
 * people who cannot tell red from green can read it. Pure, thread-safe.
 */
#ifndef TOMO_COLOURS_H
#define TOMO_COLOURS_H

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

/* Converts an sRGB colour to L*, a*, b* (white point D65). */
void tomo_colours_lab(const tomo_colour colour, double lab[3]);

/* Colour of pixels without data. */
extern const tomo_colour tomo_colours_grey;

#endif
