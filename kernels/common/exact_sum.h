/* Exact sums of doubles, which are rounded once, so that the result has the same bits for any order
 * and any grouping of the addends (layer 3, internal). A sum is a long accumulator, which is a
 * fixed-point number that can hold any double (Kulisch, Computer Arithmetic and Validity, 2nd ed.
 * 2013, chapter 8). All calls are local. */
#ifndef EXACT_SUM_H
#define EXACT_SUM_H

#include <stdint.h>

enum { EXACT_DIGITS = 69, EXACT_DIGIT_BITS = 32 };

/* The value is the sum of digit[i] * 2^(32 i - 1074). Digits are signed, and may exceed 32 bits
 * until the next carry. */
typedef struct exact_sum {
  int64_t digit[EXACT_DIGITS];
  int low;           /* lowest index of the digits that may differ from 0 */
  int high;          /* highest index of the digits that may differ from 0 */
  int64_t added;     /* number of additions since the latest carry */
  double not_finite; /* sum of the infinities and NaNs; 0 if there are none */
} exact_sum;

/* _start sets a new sum to 0; _clear sets a sum to 0 that was started earlier, which is faster. */
void osli_exact_sum_start(exact_sum *sum);
void osli_exact_sum_clear(exact_sum *sum);

void osli_exact_sum_add(exact_sum *sum, double x);

/* Returns the sum rounded to nearest, ties to even, as a double or a float. The result is
 * infinite if the sum is too large, +0 if the sum is 0, and as IEEE 754 defines it if infinities
 * or NaNs were added. Performs pending carries, which do not change the value of the sum. */
double osli_exact_sum_round(exact_sum *sum);
float osli_exact_sum_round_float(exact_sum *sum);

#endif
