/* Sums of numbers >= 0 whose bits do not depend on the order of addition, nor on who adds what
 * (floor 4): misfits, ray densities, and the bounds of --reproducible.
 *
 * The range of doubles is divided into bins of 30 bits at fixed places. A sum keeps whole numbers
 * in the three bins from that of the largest term downward; what lies below them is cut off, term
 * by term. So a sum is exact but for 2^-60 of the largest term of all, for each term. The three
 * bins are common to all sums of an array. Source of the idea: Demmel, Nguyen, "Parallel
 * Reproducible Summation", IEEE Transactions on Computers 64 (2015) 2060-2070; here with integers.
 *
 * Up to 2^33 terms for each sum. Local calls by one thread, if not said otherwise.
 */
#ifndef ORDER_FREE_H
#define ORDER_FREE_H

#include "osla_transport.h"

enum { ORDER_FREE_BINS = 3 };

typedef struct order_free_sums {
  int64_t count;  /* of the sums */
  int top;        /* bin of the largest term so far */
  int64_t *digit; /* [ORDER_FREE_BINS][count] bins from the top down */
} order_free_sums;

/* `count` sums of no term yet. Errors: MEM. */
osla_err order_free_make(int64_t count, order_free_sums *out);
void order_free_free(order_free_sums *sums); /* accepts what make has not been called for (zeros) */

/* Adds a term >= 0 to sum i. Less than 2^-1022 counts as 0, infinity and NaN as the largest
 * double. */
void order_free_add(order_free_sums *sums, int64_t i, double term);

/* into += from, of the same count. */
void order_free_merge(order_free_sums *into, const order_free_sums *from);

/* Adds up over the ranks. Collective. Errors: MPI. */
osla_err order_free_reduce(osla_transport *transport, order_free_sums *sums);

double order_free_value(const order_free_sums *sums, int64_t i);

/* The largest of all sums; 0 if there is none. */
double order_free_largest(const order_free_sums *sums);

#endif
