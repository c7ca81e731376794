/* Fixed-point numbers: whole multiples of 2^-s, stored as int64_t (internal, pure; C and CUDA).
 *
 * The caller gives a bound b > 0, and s is the largest integer with b * 2^s <= 2^51. So every
 * fixed-point number of absolute value at most b has at most 51 bits. Its conversion to a double
 * and back is exact, and 2048 such numbers can be added before an int64_t overflows. A double is
 * converted by adding 3 * 2^51. Since doubles of that size are 1 apart, this addition rounds to
 * nearest, ties to even. The rounding is the same on every machine, and the addition vectorises
 * without special instructions. */
#ifndef OSLA_FIXED_POINT_H
#define OSLA_FIXED_POINT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Marks a function that runs on the host and, if nvcc compiles it, also on the device. */
#ifdef __CUDACC__
#define OSLI_EVERYWHERE __host__ __device__ static inline
#else
#define OSLI_EVERYWHERE static inline
#endif

typedef struct fixed_point {
  double bound;
  double scale, /* the factor 2^s */
    unit;       /* the factor 2^-s */
  /* largest absolute value of the stored integer: the bound times 2^s, rounded up */
  int64_t limit;
} fixed_point;

#define FIXED_SHIFT  0x1.8p52 /* the number 3 * 2^51; doubles of this size are 1 apart */
#define FIXED_DANGER (INT64_C(1) << 62)

/* Sets all members of *out for a bound and returns true. If the bound is not in [1e-250, 1e250],
 * sets all members to 0 and returns false. */
static inline bool fixed_make(double bound, fixed_point *out)
{
  *out = (fixed_point){0};
  if (!(bound >= 1e-250 && bound <= 1e250)) return false;
  int e;
  double mantissa = frexp(bound, &e); /* the bound is mantissa * 2^e with 1/2 <= mantissa < 1 */
  int s = 51 - e + (mantissa == 0.5);
  out->bound = bound;
  out->scale = ldexp(1.0, s);
  out->unit = ldexp(1.0, -s);
  out->limit = (int64_t)ceil(bound * out->scale);
  return true;
}

/* Returns the integer nearest to value * 2^s if |value| is within the bound, where scale = 2^s. For
 * any other value, also NaN, the returned integer lies beyond the limit, because doubles have the
 * same order as their bits. */
OSLI_EVERYWHERE int64_t fixed_of(double value, double scale)
{
  double shifted = value * scale + FIXED_SHIFT, zero = FIXED_SHIFT;
  uint64_t bits, zero_bits;
  memcpy(&bits, &shifted, sizeof bits);
  memcpy(&zero_bits, &zero, sizeof zero_bits);
  return (int64_t)(bits - zero_bits);
}

/* Returns number * unit, where unit = 2^-s. The result is exact for |number| <= 2^51 and
 * unspecified for other numbers. */
OSLI_EVERYWHERE double fixed_value(int64_t number, double unit)
{
  double zero = FIXED_SHIFT, shifted;
  uint64_t bits;
  memcpy(&bits, &zero, sizeof bits);
  bits += (uint64_t)number;
  memcpy(&shifted, &bits, sizeof bits);
  return (shifted - FIXED_SHIFT) * unit;
}

/* Returns a + b modulo 2^64. A sum of several numbers whose exact value fits an int64_t is
 * therefore correct even if partial sums overflow. */
OSLI_EVERYWHERE int64_t fixed_sum(int64_t a, int64_t b)
{
  return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Returns a word whose top bit is set if `sum` lies outside [-2^62, 2^62). An addend is at most
 * 2^51, so a growing sum lies outside [-2^62, 2^62) before an int64_t overflows. */
OSLI_EVERYWHERE uint64_t fixed_danger(int64_t sum)
{
  return (uint64_t)sum + (uint64_t)FIXED_DANGER;
}

/* Returns a word whose top bit is set if `number` lies outside [-limit, limit]. */
OSLI_EVERYWHERE uint64_t fixed_outside(int64_t number, int64_t limit)
{
  uint64_t up = (uint64_t)limit + (uint64_t)number, down = (uint64_t)limit - (uint64_t)number;
  return up | down;
}

/* Returns whether |value| is at most the bound of f; false for NaN. */
OSLI_EVERYWHERE bool fixed_holds(const fixed_point *f, double value)
{
  return fixed_outside(fixed_of(value, f->scale), f->limit) >> 63 == 0;
}

#endif
