/* Functions that the solves with factors share (internal). */
#ifndef OSLA_SOLVE_INTERNAL_H
#define OSLA_SOLVE_INTERNAL_H

#include "osla_solve.h"

/* ---- solve.c ---- */

/* Solves op(A) X = B, and stores X in B. `f` holds the factors of A; op(A) is A, A^T or A^H, as
 * `trans` says. With Cholesky, `trans` must be OSLA_NOTRANS or OSLA_CONJTRANS; both give equal
 * results, since A = A^H. Collective. Errors as osla_getrs. */
osla_err osli_factors_solve(const osla_factors *f, osla_trans trans, osla_matrix *b);

/* ---- residual.c ---- */

/* R := B - A X. *value is the scaled residual of osla_residual, and maxima[j] is the largest |r_ij|
 * of column j. Both results are the same on all ranks. norm_a = |A|_inf. `room` has
 * OSLA_RESIDUAL_ROOM numbers for each column. Collective. */
enum { OSLA_RESIDUAL_ROOM = 3 };
osla_err osli_residual_compute(const osla_matrix *a, double norm_a, const osla_matrix *x,
                               const osla_matrix *b, osla_matrix *r, double *value, double *maxima,
                               int64_t *room);

/* ---- refine.c ---- */

typedef struct osla_refinement osla_refinement;

/* A refinement whose vectors are allocated before A is factored. _open allocates vectors for
 * right-hand sides like B, and computes the norm of A. `factor` is the matrix that will hold the
 * factors. The solves need further memory (osla_getrs_memory). _close accepts NULL. All calls are
 * collective. Errors: MEM, MPI. */
osla_err osli_refinement_open(const osla_matrix *a, const osla_matrix *factor, const osla_matrix *b,
                              osla_refinement **out);

/* Checks the arguments of a refinement. Fails on all ranks if `err` is an error on any rank, if
 * options (unless NULL) are negative, or if ranks pass different options or kinds of factors.
 * Collective. Errors: ARG, or `err`. */
osla_err osli_refinement_agree(const osla_factors *factors, osla_err err, const char *call,
                               const osla_refine_options *options);

/* Does the work of osla_refine; the arguments have been checked. */
osla_err osli_refinement_run(osla_refinement *r, const osla_factors *factors, osla_matrix *x,
                             const osla_refine_options *options, osla_refine_result *result);
void osli_refinement_close(osla_refinement **r);

#endif
