/* Sweeps as a preconditioner: z := what a few sweeps from 0 make of A z = r (floor 3).
 *
 * In lock-step of period 1 it is one linear operator, symmetric if A and the blocks of the
 * splitting are, and CG may take it as it is (an odd number of sweeps is positive definite where A
 * and the blocks are; an even one where they converge). Without waiting it is another one in each
 * step, and with a longer period not symmetric: osla_krylov_options.flexible. No rank then waits
 * for another's sweep, but each apply begins with halos of 0 and ends with one sum over the ranks.
 *
 *   double *r = calloc(rows, sizeof *r);           what the splitting solves for
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

/* Collective.
 *   problem [in] what is swept, linear and without boundaries; the first `rows` of a state are the
 *                own part of x. Copied; what it points to is borrowed
 *   rows    [in] of this rank, as of the operator that is solved with, which osla_cg checks;
 *                problem->length counts what is sent by others, too
 *   right   [in] [rows] the right-hand side that `problem` reads; borrowed, and overwritten
 *   options [in] mode, omega, period, lead, in_flight, and `sweeps` of a rank, here 0: 3; the
 *                others are not looked at. NULL: defaults
 *   out     [out] owned by the caller
 * Memory: a state beside those of the iteration. Errors, on all ranks together: ARG (sweeps; more
 * rows than a state has), and those of osla_iteration_create. */
OSLA_API osla_err osla_sweeps_create(osla_transport *transport, const osla_fixed_point *problem,
                                     int64_t rows, double *right,
                                     const osla_iterate_options *options, osla_sweeps **out);
OSLA_API void osla_sweeps_destroy(osla_sweeps **sweeps); /* collective; accepts NULL, nulls */

/* Borrows the sweeps. apply is collective; of r = 0 it makes 0. Its errors, on all ranks together:
 * ARG (the sweeps diverge; r is not finite), and those of osla_iterate. */
OSLA_API osla_preconditioner osla_sweeps_use(osla_sweeps *sweeps);

#ifdef __cplusplus
}
#endif
#endif
