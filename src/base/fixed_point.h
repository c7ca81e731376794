/* Fixed-point numbers: whole multiples of 2^-s in an int64_t (internal, pure; C and CUDA).
 *
 * For a bound b > 0, s is the largest integer with b * 2^s <= 2^51. So every fixed-point number of
 * absolute value at most b has at most 51 bits. Its conversion to a double and back is exact, and
 * 2048 such numbers can be added before an int64_t overflows. A double is converted by adding 3 *
 * 2^51. Since doubles of that size are 1 apart, this addition rounds to nearest, ties to even. It
 * does so equally on every machine, and vectorises without special instructions. */
#ifndef OSLA_FIXED_POINT_H
#define OSLA_FIXED_POINT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A function that runs on the host, and, compiled by nvcc, on the device, too. */
#ifdef __CUDACC__
#define OSLI_EVERYWHERE __host__ __device__ static inline
#else
#define OSLI_EVERYWHERE static inline
#endif

typedef struct fixed_point {
  double bound;
  double scale, unit; /* scale: the factor 2^s; unit: the factor 2^-s */
  int64_t limit; /* largest magnitude of a fixed-point number: the bound times 2^s, rounded up */
} fixed_point;

#define FIXED_SHIFT  0x1.8p52 /* the number 3 * 2^51; doubles of this size are 1 apart */
#define FIXED_DANGER (INT64_C(1) << 62)

/* Computes scale and limit from a bound. If the bound is not in [1e-250, 1e250], sets all members
 * to 0 and returns false. */
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

/* Returns the integer nearest to value * 2^s if |value| is within the bound. For any other value,
 * also NaN, returns an integer beyond the limit; this holds because doubles are ordered like their
 * bits. */
OSLI_EVERYWHERE int64_t fixed_of(double value, double scale)
{
  double shifted = value * scale + FIXED_SHIFT, zero = FIXED_SHIFT;
  uint64_t bits, zero_bits;
  memcpy(&bits, &shifted, sizeof bits);
  memcpy(&zero_bits, &zero, sizeof zero_bits);
  return (int64_t)(bits - zero_bits);
}

/* Returns number * 2^-s, which is exact for |number| <= 2^51 and unspecified for other numbers. */
OSLI_EVERYWHERE double fixed_value(int64_t number, double unit)
{
  double zero = FIXED_SHIFT, shifted;
  uint64_t bits;
  memcpy(&bits, &zero, sizeof bits);
  bits += (uint64_t)number;
  memcpy(&shifted, &bits, sizeof bits);
  return (shifted - FIXED_SHIFT) * unit;
}

/* Returns the sum modulo 2^64. If the final sum is in range, it is correct even if partial sums
 * overflow. */
OSLI_EVERYWHERE int64_t fixed_sum(int64_t a, int64_t b)
{
  return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Returns a word whose top bit is set if the sum lies outside [-2^62, 2^62). An addend is at most
 * 2^51, so a sum cannot leave the range of int64_t without first lying outside this range. */
OSLI_EVERYWHERE uint64_t fixed_danger(int64_t sum)
{
  return (uint64_t)sum + (uint64_t)FIXED_DANGER;
}

/* Returns a word whose top bit is set if the number lies outside [-limit, limit]. */
OSLI_EVERYWHERE uint64_t fixed_outside(int64_t number, int64_t limit)
{
  uint64_t up = (uint64_t)limit + (uint64_t)number, down = (uint64_t)limit - (uint64_t)number;
  return up | down;
}

/* Returns whether the value is within the bound. NaN is never within the bound. */
OSLI_EVERYWHERE bool fixed_holds(const fixed_point *f, double value)
{
  return fixed_outside(fixed_of(value, f->scale), f->limit) >> 63 == 0;
}

#endif
