/* Sums of doubles without rounding until the end (private to forests): the same bits in any order
 * and any grouping. A long accumulator: a fixed-point number that holds any double (Kulisch,
 * Computer Arithmetic and Validity, 2nd ed. 2013, chapter 8). */
#ifndef EXACT_SUM_H
#define EXACT_SUM_H

#include <stdint.h>

enum { EXACT_DIGITS = 69, EXACT_DIGIT_BITS = 32 };

/* The sum of digit[i] * 2^(32 i - 1074), each of them signed and without a carry to the next; those
 * from low to high were touched. Numbers that are not finite are summed apart. */
typedef struct exact_sum {
  int64_t digit[EXACT_DIGITS];
  int low, high;
  int64_t added;
  double not_finite; /* 0: all are */
} exact_sum;

/* osli_exact_sum_start before the first use; _clear empties one that was started. */
void osli_exact_sum_start(exact_sum *sum);
void osli_exact_sum_clear(exact_sum *sum);

void osli_exact_sum_add(exact_sum *sum, double x);

/* Rounded to nearest, ties to even. Infinite where it is too large; a sum of infinities as IEEE 754
 * has it. A zero is +0. The sum is changed in form, not in value. */
double osli_exact_sum_round(exact_sum *sum);

/* The same to a float. */
float osli_exact_sum_round_float(exact_sum *sum);

#endif
