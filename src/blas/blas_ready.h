/* What must be so before a thread may call BLAS (internal to src/blas). */
#ifndef OSLA_BLAS_READY_H
#define OSLA_BLAS_READY_H

#include "osla_error.h"
#include "osla_types.h"
#include <stdint.h>

/* Every call of BLAS or LAPACK begins with it, and ends with osla_work_did. out[i] := value[i], as
 * sizes become the BLAS's int in one place; and the first time in a thread osla_blas_ready. Local.
 * Errors: RANGE for a value that is negative or does not fit; those of osla_blas_ready. */
osla_err osli_blas_enter(int count, const int64_t *value, int *out);

#endif
