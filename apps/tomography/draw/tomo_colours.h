/* Colours of the pictures: tables of 256, made from a few anchors in CIELAB.
 *
 * Along each table lightness L* changes at an even rate, so that no step of the data looks larger
 * than another (Kovesi 2015, "Good Colour Maps: How to Design Them", arXiv:1509.03700; Crameri et
 * al. 2020, Nat. Commun. 11, 5444); and each can be read without red and green told apart, as
 * lightness and blue-yellow alone order it. Pure, thread-safe.
 */
#ifndef TOMO_COLOURS_H
#define TOMO_COLOURS_H

enum { TOMO_COLOURS = 256 };

typedef enum tomo_palette {
  TOMO_PALETTE_ANOMALY, /* slow: dark red, 0: almost white, fast: dark blue; as light on both sides
                         */
  TOMO_PALETTE_AMOUNT,  /* from almost white to dark blue: density, resolution */
  TOMO_PALETTE_DOUBT    /* from almost white to dark red: standard deviation */
} tomo_palette;

typedef unsigned char tomo_colour[3]; /* sRGB */

void tomo_colours_make(tomo_palette palette, tomo_colour table[TOMO_COLOURS]);

/* L*, a*, b* of an sRGB colour (white of D65). */
void tomo_colours_lab(const tomo_colour colour, double lab[3]);

/* What has no data. */
extern const tomo_colour tomo_colours_grey;

#endif
