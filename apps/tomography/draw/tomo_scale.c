/* See tomo_scale.h. */
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

/* Appends a text and returns the position of the new end. */
static char *append_text(char *to, const char *text)
{
  while (*text)
    *to++ = *text++;
  *to = '\0';
  return to;
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
    to = append_text(to, "\u2212");
    mantissa++;
  }
  if (!e) {
    append_text(to, mantissa);
    return out;
  }
  if (strcmp(mantissa, "1") != 0) to = append_text(append_text(to, mantissa), "\u00d7");
  to = append_text(to, exponent < 0 ? "10\u207b" : "10");
  (void)snprintf(power, sizeof power, "%d", abs(exponent));
  for (const char *c = power; *c; c++)
    to = append_text(to, raised[*c - '0']);
  return out;
}
