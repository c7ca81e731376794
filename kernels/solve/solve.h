/* What the solves with factors share (internal). */
#ifndef OSLA_SOLVE_INTERNAL_H
#define OSLA_SOLVE_INTERNAL_H

#include "osla_solve.h"

/* B := op(A)^-1 B with the factors of A (Cholesky: op is N, or C, which is the same). Collective.
 * Errors as osla_getrs. */
osla_err osli_factors_solve(const osla_factors *f, osla_trans trans, osla_matrix *b);

#endif
