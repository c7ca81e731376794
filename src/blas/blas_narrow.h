/* Sizes become the BLAS's int in one checked place (internal). */
#ifndef OSLA_BLAS_NARROW_H
#define OSLA_BLAS_NARROW_H

#include "osla_error.h"
#include <stdint.h>

/* out[i] := value[i]. Local. Errors: RANGE for one that is negative or does not fit. */
osla_err osla_blas_narrow(int count, const int64_t *value, int *out);

#endif
