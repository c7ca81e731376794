/* Interchanges of rows by one thread (layer 0, internal to the library). */
#ifndef OSLA_ROW_SWAP_H
#define OSLA_ROW_SWAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exchanges row i with row pivots[i], for first <= i < last, in ascending order of i, or in
 * descending order if `backward`. Rows are counted from 0.
 *   element [in]     bytes of an element: 4, 8 or 16
 *   n, a, lda        columns [in], elements [inout], leading dimension [in] of the matrix
 *   pivots [in]      entries before `first` and from `last` on are not read
 * Local. */
void osli_swap_rows(size_t element, int64_t n, void *a, int64_t lda, int64_t first, int64_t last,
                    const int64_t *pivots, bool backward);

#endif
