/* Numbers in fixed point: whole multiples of 2^-s in an int64_t (internal, pure).
 *
 * A bound b > 0 gives s, the largest with b 2^s <= 2^51. So every number within the bound has at
 * most 51 bits: a double holds it exactly, both ways, as often as one likes; and 2048 of them fit
 * an int64_t before it overflows. Conversion by adding 3 2^51, in whose binade doubles are 1
 * apart: round to nearest, ties to even, the same on every machine, and wide without any special
 * instruction.
 */
#ifndef OSLA_HESSIAN_FIXED_H
#define OSLA_HESSIAN_FIXED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct fixed_point {
  double bound;
  double scale, unit; /* 2^s, 2^-s */
  int64_t limit;      /* of the whole numbers: bound 2^s, rounded up */
} fixed_point;

#define FIXED_SHIFT  0x1.8p52 /* 3 2^51 */
#define FIXED_DANGER (INT64_C(1) << 62)

/* False, and all zero: the bound is not a number from 1e-250 to 1e250. */
static inline bool fixed_make(double bound, fixed_point *out)
{
  *out = (fixed_point){0};
  if (!(bound >= 1e-250 && bound <= 1e250)) return false;
  int e;
  double mantissa = frexp(bound, &e); /* bound = mantissa 2^e, 1/2 <= mantissa < 1 */
  int s = 51 - e + (mantissa == 0.5);
  out->bound = bound;
  out->scale = ldexp(1.0, s);
  out->unit = ldexp(1.0, -s);
  out->limit = (int64_t)ceil(bound * out->scale);
  return true;
}

/* The whole number next to value 2^s, |value| <= bound; of any other value, NaN too, a number
 * beyond the limit, because doubles are ordered like their bits. */
static inline int64_t fixed_of(double value, double scale)
{
  double shifted = value * scale + FIXED_SHIFT, zero = FIXED_SHIFT;
  uint64_t bits, zero_bits;
  memcpy(&bits, &shifted, sizeof bits);
  memcpy(&zero_bits, &zero, sizeof zero_bits);
  return (int64_t)(bits - zero_bits);
}

/* number 2^-s, |number| <= 2^51: exact; of any other number, some value. */
static inline double fixed_value(int64_t number, double unit)
{
  double zero = FIXED_SHIFT, shifted;
  uint64_t bits;
  memcpy(&bits, &zero, sizeof bits);
  bits += (uint64_t)number;
  memcpy(&shifted, &bits, sizeof bits);
  return (shifted - FIXED_SHIFT) * unit;
}

/* Sum modulo 2^64: right again once the true sum is within the range. */
static inline int64_t fixed_sum(int64_t a, int64_t b)
{
  return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Its top bit says that a sum has left [-2^62, 2^62): it can get no further unseen, because one
 * addend is at most 2^51. */
static inline uint64_t fixed_danger(int64_t sum)
{
  return (uint64_t)sum + (uint64_t)FIXED_DANGER;
}

/* Its top bit says that a number is not within [-limit, limit]. */
static inline uint64_t fixed_outside(int64_t number, int64_t limit)
{
  uint64_t up = (uint64_t)limit + (uint64_t)number, down = (uint64_t)limit - (uint64_t)number;
  return up | down;
}

/* Is the value within the bound? NaN is not. */
static inline bool fixed_holds(const fixed_point *f, double value)
{
  return fixed_outside(fixed_of(value, f->scale), f->limit) >> 63 == 0;
}

#endif
