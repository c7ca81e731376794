/* Lists of int64_t: sorted lists, and offsets of ranks (internal). */
#ifndef OSLA_LISTS_H
#define OSLA_LISTS_H

#include "osla_transport.h"

/* Sorts a list in ascending order, removes duplicates and returns the number left. Local. */
int64_t osli_sort_distinct(int64_t *list, int64_t n);

/* Index of a value that is in an ascending list without duplicates. Local. */
int64_t osli_sorted_index(const int64_t *list, int64_t n, int64_t value);

/* Comparison of int64_t for qsort. */
int osli_compare_int64(const void *left, const void *right);

/* (*start)[p] := sum of n over the ranks below p, p = 0 .. size. The caller frees it, also after an
 * error. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err osli_rank_starts(osla_transport *t, int64_t n, int64_t **start);

#endif
