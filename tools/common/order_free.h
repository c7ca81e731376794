/* Sums of numbers >= 0 whose bits do not depend on the order of addition, nor on the distribution
 * of the terms over ranks and threads (layer 4). They serve misfits, ray densities, and the bounds
 * of --reproducible.
 *
 * The range of doubles is divided into fixed bins of 30 bits. A sum has an integer for each of
 * three bins: the bin of the largest term of the array so far, and the next two lower bins. Parts
 * of a term below the three bins are cut off. The error of a sum is therefore at most 2^-60 of the
 * array's largest term for each term added. Source of the idea: Demmel, Nguyen, "Parallel
 * Reproducible Summation", IEEE Transactions on Computers 64 (2015) 2060-2070; here with integers.
 *
 * A sum can have at most 2^33 terms. Calls are local and for one thread unless the comment says
 * otherwise. */
#ifndef ORDER_FREE_H
#define ORDER_FREE_H

#include "osla_transport.h"

enum { ORDER_FREE_BINS = 3 };

typedef struct order_free_sums {
  int64_t count;  /* number of sums */
  int top;        /* index of the bin of the largest term so far */
  int64_t *digit; /* [ORDER_FREE_BINS][count] integers of the bins, from the highest bin down */
} order_free_sums;

/* Makes `count` sums that are 0. Errors: MEM. */
osla_err order_free_create(int64_t count, order_free_sums *out);
void order_free_destroy(order_free_sums *sums); /* Frees the sums; accepts a zeroed struct. */

/* Adds a term >= 0 to sum i. A term below 2^-1022 counts as 0; infinity and NaN count as the
 * largest double. */
void order_free_add(order_free_sums *sums, int64_t i, double term);

/* Adds the sums of `from` to those of `into`. Both arrays have the same number of sums. */
void order_free_merge(order_free_sums *into, const order_free_sums *from);

/* Adds the sums over all ranks, on all ranks. Collective. Errors: MPI. */
osla_err order_free_reduce(osla_transport *transport, order_free_sums *sums);

double order_free_value(const order_free_sums *sums, int64_t i);

/* Returns the largest sum of the array; 0 if it is empty. */
double order_free_largest(const order_free_sums *sums);

#endif
