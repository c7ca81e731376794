/* What both inverses ask of their factors (internal). */
#ifndef FIRST_ZERO_H
#define FIRST_ZERO_H

#include "kernels/common/local_view.h"

/* The first element of the diagonal that is exactly zero, counted from 1; 0: there is none. The
 * view is of a square matrix in square blocks. Collective. Errors: MPI. */
osla_err osli_first_zero(const local_view *view, int64_t *first);

#endif
