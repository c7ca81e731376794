/* The residual, as the refinement uses it again and again (internal). */
#ifndef OSLA_RESIDUAL_H
#define OSLA_RESIDUAL_H

#include "osla_solve.h"

/* R := B - A X; *value as osla_residual, maxima[j] = largest |r_ij| of column j, both the same on
 * all ranks. Collective. norm_a = |A|_inf; `room` for OSLA_RESIDUAL_ROOM numbers a column. */
enum { OSLA_RESIDUAL_ROOM = 3 };
osla_err osli_residual_make(const osla_matrix *a, double norm_a, const osla_matrix *x,
                            const osla_matrix *b, osla_matrix *r, double *value, double *maxima,
                            int64_t *room);

#endif
