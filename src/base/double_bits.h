/* The bit pattern of a double as an integer, so that osla_agree_same can compare doubles of several
 * ranks exactly: a difference in the last bit could let ranks decide differently (layer 0,
 * internal). */
#ifndef DOUBLE_BITS_H
#define DOUBLE_BITS_H

#include <complex.h>
#include <stdint.h>
#include <string.h>

static inline int64_t double_bits(double x)
{
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Two entries, real and imaginary part, of a scalar factor in the list of arguments that
 * osla_agree_same compares across ranks. */
/* clang-format off */
#define OSLA_FACTOR_ARGUMENTS(name, factor)                                                        \
  {name " (bits)", double_bits(creal(factor))},                                                   \
  {"imaginary part of " name " (bits)", double_bits(cimag(factor))}
/* clang-format on */

#endif
