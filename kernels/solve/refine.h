/* Refinement whose memory is there before A is factored (internal). */
#ifndef OSLA_REFINE_INTERNAL_H
#define OSLA_REFINE_INTERNAL_H

#include "osla_solve.h"

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
