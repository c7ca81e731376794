/* The bits of a number, for comparisons between ranks (osla_agree_same): a difference in the last
 * one would let them decide differently (floor 0, internal). */
#ifndef BITS_OF_H
#define BITS_OF_H

#include <complex.h>
#include <stdint.h>
#include <string.h>

static inline int64_t osla_bits_of(double x)
{
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* A factor among the arguments that osla_agree_same compares. */
/* clang-format off */
#define OSLA_FACTOR_ARGUMENTS(name, factor)                                                        \
  {name " (bits)", osla_bits_of(creal(factor))},                                                   \
  {"imaginary part of " name " (bits)", osla_bits_of(cimag(factor))}
/* clang-format on */

#endif
