/* Chooses round ends and ticks of colour scales, and writes numbers as text. */
#include "apps/tomography/draw/tomo_scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double tomo_scale_position(const tomo_scale *s, double value)
{
  double x;
  if (!s->logarithmic)
    x = (value - s->low) / (s->high - s->low);
  else
    x = value > 0.0 ? log(value / s->low) / log(s->high / s->low) : 0.0;
  return fmin(fmax(x, 0.0), 1.0);
}

static const double steps[] = {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0};

double tomo_scale_round(double x)
{
  if (!(x > 0.0) || !isfinite(x)) return 1.0;
  const double power = pow(10.0, floor(log10(x)));
  for (int i = 0; i < 9; i++)
    if (steps[i] * power >= x * (1.0 - 1e-9)) return steps[i] * power;
  return 10.0 * power;
}

/* Lists ticks of a logarithmic scale: one, three or five for each power of ten, fewer if the scale
 * spans many powers. */
static int log_ticks(const tomo_scale *s, double *tick)
{
  static const double of[3][5] = {{1.0}, {1.0, 2.0, 5.0}, {1.0, 2.0, 3.0, 5.0, 7.0}};
  static const int counts[3] = {1, 3, 5};
  const double ratio = s->high / s->low;
  const int kind = ratio > 1e4 ? 0 : ratio > 20.0 ? 1 : 2;
  int n = 0;
  for (int power = (int)floor(log10(s->low)); power <= 308 && n < TOMO_TICKS_MAX; power++) {
    if (pow(10.0, power) > s->high * 1.001) break;
    for (int i = 0; i < counts[kind] && n < TOMO_TICKS_MAX; i++) {
      const double value = of[kind][i] * pow(10.0, power);
      if (value > s->low * 0.999 && value < s->high * 1.001) tick[n++] = value;
    }
  }
  return n;
}

int tomo_scale_ticks(const tomo_scale *s, double tick[TOMO_TICKS_MAX])
{
  static const double of[] = {1.0, 2.0, 2.5, 5.0, 10.0};
  if (s->logarithmic && s->high / s->low > 6.0) return log_ticks(s, tick);
  const double rough = (s->high - s->low) / 8.0, power = pow(10.0, floor(log10(rough)));
  double step = 10.0 * power;
  int n = 0;
  for (int i = 4; i >= 0; i--)
    if (of[i] * power >= rough * (1.0 - 1e-9)) step = of[i] * power;
  for (double k = ceil(s->low / step - 1e-6); k * step <= s->high + 1e-6 * step; k++)
    if (n < TOMO_TICKS_MAX) tick[n++] = fabs(k) < 0.5 ? 0.0 : k * step;
  return n;
}

static int by_value(const void *a, const void *b)
{
  const float x = *(const float *)a, y = *(const float *)b;
  if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
  return (x > y) - (x < y);
}

double tomo_scale_quantile(float *value, int64_t n, double part)
{
  qsort(value, (size_t)n, sizeof *value, by_value);
  while (n > 0 && !isfinite(value[n - 1]))
    n--;
  if (n == 0) return 0.0;
  const int64_t at = (int64_t)ceil(part * (double)n) - 1;
  return (double)value[at < 0 ? 0 : at];
}

tomo_number tomo_number_text(double value, int digits)
{
  static const char *const raised[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                       "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  tomo_number out;
  char plain[32], power[12];
  (void)snprintf(plain, sizeof plain, "%.*g", digits < 15 ? digits : 15, value);
  char *to = out.s, *e = strchr(plain, 'e');
  const int exponent = e ? atoi(e + 1) : 0;
  if (e) *e = '\0';
  const char *mantissa = plain;
  if (*mantissa == '-') {
    to = stpcpy(to, "\u2212");
    mantissa++;
  }
  if (!e) {
    (void)stpcpy(to, mantissa);
    return out;
  }
  if (strcmp(mantissa, "1") != 0) to = stpcpy(stpcpy(to, mantissa), "\u00d7");
  to = stpcpy(to, exponent < 0 ? "10\u207b" : "10");
  (void)snprintf(power, sizeof power, "%d", abs(exponent));
  for (const char *c = power; *c; c++)
    to = stpcpy(to, raised[*c - '0']);
  return out;
}

/* Conversion of colours between CIELAB and sRGB (CIE 15:2004, IEC 61966-2-1). */

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
  const double c = a->c + part * (b->c - a->c), h = (a->h + part * turn) * M_PI / 180.0;
  lab[0] = a->l + part * (b->l - a->l);
  lab[1] = c * cos(h);
  lab[2] = c * sin(h);
}

static double cube_of(double t)
{
  const double d = 6.0 / 29.0;
  return t > d ? t * t * t : 3.0 * d * d * (t - 4.0 / 29.0);
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
