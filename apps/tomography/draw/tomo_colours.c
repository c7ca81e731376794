/* See tomo_colours.h. CIELAB and sRGB: CIE 15:2004, IEC 61966-2-1. */
#include "apps/tomography/draw/tomo_colours.h"

#include <math.h>

const tomo_colour tomo_colours_grey = {198, 198, 198};

/* Lightness, chroma and hue (degrees) of one of the six evenly spaced colours that define a
 * palette. */
typedef struct anchor {
  double l, c, h;
} anchor;

enum { ANCHORS = 6 };
static const anchor slow[ANCHORS] = {{97, 0, 70},  {82, 22, 66}, {67, 44, 54},
                                     {52, 58, 40}, {37, 55, 30}, {22, 38, 22}};
static const anchor fast[ANCHORS] = {{97, 0, 245},  {82, 15, 245}, {67, 27, 250},
                                     {52, 33, 262}, {37, 37, 274}, {22, 33, 286}};
static const anchor amount[ANCHORS] = {{97, 5, 105},  {82, 22, 130}, {67, 28, 175},
                                       {52, 26, 225}, {37, 31, 265}, {22, 36, 294}};
static const anchor doubt[ANCHORS] = {{97, 5, 100}, {82, 36, 82}, {67, 50, 64},
                                      {52, 54, 44}, {37, 50, 22}, {22, 36, 350}};

static const double white[3] = {0.95047, 1.0, 1.08883};
static const double pi = 3.14159265358979323846;

static double clamp(double x, double low, double high)
{
  return fmin(fmax(x, low), high);
}

/* Interpolates between the six colours that define a palette; x = 0..1 is the position in the
 * palette. The hue takes the shorter way around the colour circle. */
static void interpolate_anchors(const anchor *anchors, double x, double lab[3])
{
  const double at = clamp(x, 0.0, 1.0) * (ANCHORS - 1);
  const int i = at < ANCHORS - 2 ? (int)at : ANCHORS - 2;
  const double part = at - i;
  const anchor *a = &anchors[i], *b = &anchors[i + 1];
  const double turn = remainder(b->h - a->h, 360.0);
  const double c = a->c + part * (b->c - a->c), h = (a->h + part * turn) * pi / 180.0;
  lab[0] = a->l + part * (b->l - a->l);
  lab[1] = c * cos(h);
  lab[2] = c * sin(h);
}

static double cube_of(double t)
{
  const double d = 6.0 / 29.0;
  return t > d ? t * t * t : 3.0 * d * d * (t - 4.0 / 29.0);
}

static double root_of(double t)
{
  const double d = 6.0 / 29.0;
  return t > d * d * d ? cbrt(t) : t / (3.0 * d * d) + 4.0 / 29.0;
}

static unsigned char encoded(double linear)
{
  const double x = clamp(linear, 0.0, 1.0);
  const double s = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1.0 / 2.4) - 0.055;
  return (unsigned char)lround(255.0 * s);
}

static void colour_of(const double lab[3], tomo_colour colour)
{
  const double f = (lab[0] + 16.0) / 116.0;
  const double x = white[0] * cube_of(f + lab[1] / 500.0), y = white[1] * cube_of(f);
  const double z = white[2] * cube_of(f - lab[2] / 200.0);
  colour[0] = encoded(3.2404542 * x - 1.5371385 * y - 0.4985314 * z);
  colour[1] = encoded(-0.9692660 * x + 1.8760108 * y + 0.0415560 * z);
  colour[2] = encoded(0.0556434 * x - 0.2040259 * y + 1.0572252 * z);
}

void tomo_colours_make(tomo_palette palette, tomo_colour table[TOMO_COLOURS])
{
  for (int i = 0; i < TOMO_COLOURS; i++) {
    const double x = (double)i / (TOMO_COLOURS - 1);
    double lab[3];
    switch (palette) {
      case TOMO_PALETTE_ANOMALY:
        interpolate_anchors(x < 0.5 ? slow : fast, x < 0.5 ? 1.0 - 2.0 * x : 2.0 * x - 1.0, lab);
        break;
      case TOMO_PALETTE_AMOUNT: interpolate_anchors(amount, x, lab); break;
      case TOMO_PALETTE_DOUBT: interpolate_anchors(doubt, x, lab); break;
    }
    colour_of(lab, table[i]);
  }
}

void tomo_colours_lab(const tomo_colour colour, double lab[3])
{
  double rgb[3];
  for (int i = 0; i < 3; i++) {
    const double s = colour[i] / 255.0;
    rgb[i] = s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
  }
  const double x = 0.4124564 * rgb[0] + 0.3575761 * rgb[1] + 0.1804375 * rgb[2];
  const double y = 0.2126729 * rgb[0] + 0.7151522 * rgb[1] + 0.0721750 * rgb[2];
  const double z = 0.0193339 * rgb[0] + 0.1191920 * rgb[1] + 0.9503041 * rgb[2];
  const double f = root_of(y / white[1]);
  lab[0] = 116.0 * f - 16.0;
  lab[1] = 500.0 * (root_of(x / white[0]) - f);
  lab[2] = 200.0 * (f - root_of(z / white[2]));
}
