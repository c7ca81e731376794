/* Search for a zero on the diagonal of a factor (internal). */
#ifndef FIRST_ZERO_H
#define FIRST_ZERO_H

#include "kernels/common/local_view.h"

/* Index, from 1, of the first diagonal element that is exactly zero; 0 if there is none. The matrix
 * is square with square blocks. Collective. Errors: MPI. */
osla_err osli_first_zero(const local_view *view, int64_t *first);

#endif
