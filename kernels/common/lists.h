/* Lists of int64_t: sorted lists, and sums over all lower ranks (internal). */
#ifndef OSLA_LISTS_H
#define OSLA_LISTS_H

#include "osla_transport.h"

/* Sorts a list in ascending order and removes duplicates. Returns the number of remaining elements.
 * Local. */
int64_t osli_sort_distinct(int64_t *list, int64_t n);

/* Returns the index of a value in an ascending list without duplicates. The list must contain the
 * value. Local. */
int64_t osli_sorted_index(const int64_t *list, int64_t n, int64_t value);

/* Comparison function for qsort: ascending int64_t. */
int osli_compare_int64(const void *left, const void *right);

/* Sets (*start)[p], for p = 0 .. size, to the sum of n over the ranks below p. The caller frees
 * *start, also after an error. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err osli_rank_starts(osla_transport *t, int64_t n, int64_t **start);

#endif
