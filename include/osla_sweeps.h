/* Sweeps as a preconditioner: z := result of a few sweeps for A z = r, started from 0 (layer 3).
 *
 * In SYNC mode of period 1 the preconditioner is one linear operator. It is symmetric if A and the
 * blocks of the splitting are, and CG may use it as it is (the operator of an odd number of sweeps
 * is positive definite if A and the blocks are; that of an even number is positive definite if the
 * sweeps converge). Asynchronous sweeps give another operator in each step, and a period above 1
 * gives a nonsymmetric operator: in both cases set osla_krylov_options.flexible. With asynchronous
 * sweeps no rank waits for another rank's sweep, but each apply begins with halos of 0 and ends
 * with one sum over the ranks.
 *
 *   double *r = calloc(rows, sizeof *r);           right-hand side of the splitting
 *   osla_splitting_create(a, r, &blocks, &split);
 *   osla_fixed_point problem = osla_splitting_problem(split);
 *   osla_sweeps_create(transport, &problem, rows, r, &how, &sweeps);
 *   osla_preconditioner m = osla_sweeps_use(sweeps);
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_SWEEPS_H
#define OSLA_SWEEPS_H

#include "osla_api.h"
#include "osla_iterate.h"
#include "osla_krylov.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct osla_sweeps osla_sweeps;

/* Creates the preconditioner. Collective.
 *   problem [in]  fixed point, linear and without boundaries; the first `rows` elements of a state
 *                 are the own part of x. Copied; its pointers are borrowed
 *   rows    [in]  rows of this rank, equal to those of the operator (osla_cg checks this);
 *                 problem->length also counts halos
 *   right   [in]  [rows] the right-hand side that `problem` reads; borrowed and overwritten
 *   options [in]  mode, omega, period, lead, in_flight, and sweeps (0: 3); other members are
 *                 ignored. NULL: defaults
 *   out     [out] owned by the caller
 * Memory: one state besides those of the iteration. Errors, on all ranks together: ARG (sweeps;
 * more rows than a state has), and those of osla_iteration_create. */
OSLA_API osla_err osla_sweeps_create(osla_transport *transport, const osla_fixed_point *problem,
                                     int64_t rows, double *right,
                                     const osla_iterate_options *options, osla_sweeps **out);
/* Destroys the preconditioner. Collective. Accepts NULL, and sets the pointer to NULL. */
OSLA_API void osla_sweeps_destroy(osla_sweeps **sweeps);

/* Returns the preconditioner, which borrows `sweeps`. apply is collective and maps r = 0 to 0.
 * Errors of apply, on all ranks together: ARG (the sweeps diverge, or r is not finite), and those
 * of osla_iterate. */
OSLA_API osla_preconditioner osla_sweeps_use(osla_sweeps *sweeps);

#ifdef __cplusplus
}
#endif
#endif
