#include "kernels/common/exact_sum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
  LOWEST = -1074, /* exponent of the lowest bit that a sum holds */
  /* number of additions after which a digit may need a carry; 63 bits hold the sum of at least this
   * number of addends of 32 bits */
  MANY = 1 << 29
};
static const int64_t digit_mask = ((int64_t)1 << EXACT_DIGIT_BITS) - 1;

void osli_exact_sum_start(exact_sum *s)
{
  memset(s, 0, sizeof *s);
  s->low = EXACT_DIGITS;
  s->high = -1;
}

void osli_exact_sum_clear(exact_sum *s)
{
  for (int i = s->low; i <= s->high; i++)
    s->digit[i] = 0;
  s->low = EXACT_DIGITS;
  s->high = -1;
  s->added = 0;
  s->not_finite = 0;
}

/* Carries between digits: afterwards all digits are in 0 .. 2^32 - 1, except the highest digit,
 * which has the sign. */
static void carry(exact_sum *s)
{
  for (int i = s->low; i <= s->high; i++) {
    int64_t over = s->digit[i] >> EXACT_DIGIT_BITS;
    if (i == EXACT_DIGITS - 1 || over == 0) continue;
    /* the highest digit is -1 after its carry, so it stays a negative number of 32 bits */
    if (i == s->high && over == -1) continue;
    s->digit[i] &= digit_mask;
    s->digit[i + 1] += over;
    if (i == s->high) s->high++;
  }
  s->added = 0;
}

/* The 53 bits of a double touch at most three digits. */
void osli_exact_sum_add(exact_sum *s, double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 2047);
  uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
  if (exponent == 2047) {
    s->not_finite += x;
    return;
  }
  if (exponent > 0)
    mantissa |= (uint64_t)1 << 52;
  else
    exponent = 1;
  const int shift = exponent - 1, at = shift / EXACT_DIGIT_BITS, by = shift % EXACT_DIGIT_BITS;
  const uint64_t low = mantissa << by, high = by > 0 ? mantissa >> (64 - by) : 0;
  const int64_t sign = bits >> 63 ? -1 : 1;
  if (mantissa == 0) return;
  s->digit[at] += sign * (int64_t)(low & (uint64_t)digit_mask);
  s->digit[at + 1] += sign * (int64_t)(low >> EXACT_DIGIT_BITS);
  s->digit[at + 2] += sign * (int64_t)high;
  if (at < s->low) s->low = at;
  if (at + 2 > s->high) s->high = at + 2;
  if (++s->added >= MANY) carry(s);
}

/* Rounds a sum to a double; s->digit[top] is the highest digit that is not 0, and all digits are
 * in 0 .. 2^32 - 1. The highest 64 bits are rounded once, after their last bit was set if any
 * lower bit of the sum is set. With is_odd the result is rounded to odd: its last bit is set if
 * any lower bit is set, so that a later conversion to float rounds correctly. */
static double round_from(const exact_sum *s, int top, bool is_odd)
{
  unsigned __int128 bits = 0;
  for (int i = top; i > top - 4; i--)
    bits = bits << EXACT_DIGIT_BITS | (i >= 0 ? (uint64_t)s->digit[i] : 0);
  bool rest = false;
  for (int i = s->low; i <= top - 4; i++)
    rest |= s->digit[i] != 0;
  int shift = 0; /* number of bits by which `bits` is shifted left to set its highest bit */
  while (!(bits >> 127)) {
    bits <<= 1;
    shift++;
  }
  const uint64_t upper = (uint64_t)(bits >> 64), lower = (uint64_t)bits;
  /* mask of the 11 lowest of 64 bits, which a double cannot hold */
  const uint64_t below = is_odd ? 2047 : 0;
  const bool more = lower != 0 || rest || (upper & below) != 0;
  const uint64_t rounded = more ? (upper & ~below) | (below + 1) : upper;
  const int exponent = (top - 3) * EXACT_DIGIT_BITS + LOWEST - shift + 64;
  return ldexp((double)rounded, exponent);
}

/* Returns the index of the highest digit that is not 0, or s->low - 1 if all digits are 0. */
static int top_of(const exact_sum *s)
{
  int top = s->high;
  while (top >= s->low && s->digit[top] == 0)
    top--;
  return top;
}

static void negate(exact_sum *s)
{
  for (int i = s->low; i <= s->high; i++)
    s->digit[i] = -s->digit[i];
  carry(s);
}

static double round_sum(exact_sum *s, bool is_odd)
{
  if (isnan(s->not_finite)) return NAN;
  if (s->not_finite != 0) return s->not_finite;
  carry(s);
  int top = top_of(s);
  if (top < s->low) return 0.0;
  const bool negative = s->digit[top] < 0;
  if (negative) negate(s);
  const double size = round_from(s, top_of(s), is_odd);
  if (negative) negate(s);
  return negative ? -size : size;
}

double osli_exact_sum_round(exact_sum *s)
{
  return round_sum(s, false);
}

float osli_exact_sum_round_float(exact_sum *s)
{
  return (float)round_sum(s, true);
}
