/* What the solves with factors share (internal). */
#ifndef OSLA_SOLVE_INTERNAL_H
#define OSLA_SOLVE_INTERNAL_H

#include "osla_solve.h"

/* ---- solve.c ---- */

/* B := op(A)^-1 B with the factors of A (Cholesky: op is N, or C, which is the same). Collective.
 * Errors as osla_getrs. */
osla_err osli_factors_solve(const osla_factors *f, osla_trans trans, osla_matrix *b);

/* ---- residual.c ---- */

/* R := B - A X; *value as osla_residual, maxima[j] = largest |r_ij| of column j, both the same on
 * all ranks. Collective. norm_a = |A|_inf; `room` for OSLA_RESIDUAL_ROOM numbers a column. */
enum { OSLA_RESIDUAL_ROOM = 3 };
osla_err osli_residual_compute(const osla_matrix *a, double norm_a, const osla_matrix *x,
                               const osla_matrix *b, osla_matrix *r, double *value, double *maxima,
                               int64_t *room);

/* ---- refine.c ---- */

typedef struct osla_refinement osla_refinement;

/* Makes the vectors for right-hand sides like B, and the norm of A, of which `factor` is, or will
 * hold, the factors. What each solve needs comes later (osla_getrs_memory). Collective, all three;
 * _close takes NULL. Errors: MEM, MPI. */
osla_err osli_refinement_open(const osla_matrix *a, const osla_matrix *factor, const osla_matrix *b,
                              osla_refinement **out);

/* Fails on all ranks if `err` does on one, or if options (not NULL) are negative, or differ, or
 * which factors are meant. Collective. Errors: ARG, `err`. */
osla_err osli_refinement_agree(const osla_factors *factors, osla_err err, const char *call,
                               const osla_refine_options *options);

/* osla_refine, whose arguments have been checked. */
osla_err osli_refinement_run(osla_refinement *r, const osla_factors *factors, osla_matrix *x,
                             const osla_refine_options *options, osla_refine_result *result);
void osli_refinement_close(osla_refinement **r);

#endif
