/* Checks before a thread calls BLAS (internal to src/blas). */
#ifndef OSLA_BLAS_READY_H
#define OSLA_BLAS_READY_H

#include "osla_error.h"
#include "osla_types.h"
#include <stdint.h>

/* Every function that calls BLAS or LAPACK begins with this call. It converts the sizes, out[i] :=
 * value[i], to BLAS's int, and calls osla_blas_ready, which checks once in each thread. Local.
 * Errors: RANGE for a value that is negative or does not fit; those of osla_blas_ready. */
osla_err osli_blas_enter(int count, const int64_t *value, int *out);

#endif
