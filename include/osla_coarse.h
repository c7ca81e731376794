/* Coarse level of a fixed-point iteration: the two-level form of osla_iterate (layer 3).
 *
 * The iteration solves A x = b. Sweeps reduce an error slowly if it hardly varies within the
 * elements of x that one rank owns. A coarse level reduces such errors: it has one unknown for each
 * rank, and adds the correction P (R A P)^-1 R (b - A x) to x. Column p of the prolongation P has
 * nonzeros only in the elements of x that rank p owns (usually 1 in each of them: a Nicolaides
 * coarse space); the restriction R is P^T. The number of sweeps to a given accuracy then depends on
 * the number of elements of x on a rank, and no longer on the number of ranks.
 *
 * SYNC   every `sweeps` sweeps, all ranks exchange their restricted residuals, which are the
 *        elements of R (b - A x), and add the correction
 * ASYNC  (and RACY) no rank waits. Each rank records its elements of x and sends their halos over
 *        separate channels. With the halos of its neighbours it computes its restricted residual.
 *        All restricted residuals belong to one vector x, which consists of the recorded elements
 *        of all ranks, although the ranks recorded them at different times. A reduction that runs
 *        during the sweeps brings all restricted residuals to all ranks. Each rank then computes
 *        its element of the coarse solution from its row of (R A P)^-1, adds the correction to its
 *        elements of x, and begins again. Every rank adds every correction exactly once
 *
 * A correction may be late by any number of sweeps; it still belongs to a recorded x, to which all
 * ranks had added all earlier corrections. Let e be the error of the recorded x, S the matrix by
 * which the sweeps between record and correction multiply an error, and Q the A-orthogonal
 * projection on the range of P. The error after the correction is (S - damping Q) e. The iteration
 * converges for damping < 1 if A is symmetric positive definite, and S is symmetric in the inner
 * product of A and has eigenvalues in [0, 1). Jacobi sweeps with omega = 1 do not satisfy this
 * condition, and an asynchronous iteration with a coarse level can then diverge. Jacobi sweeps with
 * omega <= 0.5 satisfy the condition if the eigenvalues of the iteration matrix M lie in (-1, 1).
 * Blocks that contain all rows of a rank may need a smaller omega. In mode SYNC with `period` > 1,
 * corrections are made only at multiples of `period` sweeps. A rank that has made its last sweep
 * (lead = -1) records no further state, so no rank gets further corrections. The certificate of
 * osla_iterate.h holds whatever the corrections are, because it is computed from the returned x.
 *
 * Sources: Glusa, Boman, Chow, Rajamanickam, Szyld, Scalable asynchronous domain decomposition
 * solvers, SIAM J. Sci. Comput. 42(6), 2020 (coarse solves without waiting; in that paper,
 * subdomains send the residual of their current x, and one additional rank solves the coarse
 * problem);
 * Gbikpi-Benissan and Magoules, Asynchronous multiplicative coarse-space correction, arXiv
 * 2312.12053, 2023 (non-blocking synchronisation of the coarse right-hand side).
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_COARSE_H
#define OSLA_COARSE_H

#include "osla_api.h"
#include "osla_diffusion.h"
#include "osla_iterate.h"
#include "osla_splitting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* This rank's functions of a coarse level. The first argument of each function is the member
 * `arg`. No function may wait for another rank. */
typedef struct osla_coarse {
  void *arg;
  /* Returns this rank's restricted residual, its element of R (b - A x). x is a state with its
   * halo values. If `homogeneous` is true, the function treats b as 0. */
  double (*restrict_residual)(void *arg, bool homogeneous, const double *x);
  /* Adds P c to the elements of x that this rank owns, where c is this rank's element of the
   * coarse solution. Changes nothing else. */
  void (*prolong)(void *arg, double c, double *x);
} osla_coarse;

/* Options of a coarse level, equal on all ranks. */
typedef struct osla_coarse_options {
  double damping; /* factor of each correction, in (0, 2); 0: 1 in mode SYNC, otherwise 0.9 */
  /* number of sweeps between a correction and the record of the next residual, >= 1; 0: 4 in mode
   * SYNC, otherwise 1 */
  int64_t sweeps;
  uint64_t reserved[8]; /* must be 0 (osla_types.h) */
} osla_coarse_options;

enum { OSLA_COARSE_MOST = 4096 }; /* largest number of ranks with a coarse level */

/* Adds a coarse level to an iteration before the first run of the iteration. Assembles R A P from
 * the functions of the problem and inverts it on rank 0. Collective.
 *   coarse  [in] copied; the member `arg` is borrowed until the iteration is destroyed
 *   options [in] NULL: defaults
 * Memory of a rank: one state; 40 bytes for each rank, and 8 bytes more per rank for each
 * neighbour in the reduction tree (at most 17 neighbours); two more halos for each neighbour of
 * the problem; during the call on rank 0, 8 bytes for each pair of ranks. Errors, on all ranks
 * together: ARG (invalid options; a missing function; R A P is not symmetric positive definite:
 * the text names the ranks; an iteration with `uncertified`, `proven` or `record_bytes`), STATE
 * (the iteration has a coarse level, or has run), MEM, MPI, RANGE (more than OSLA_COARSE_MOST
 * ranks; no progress hook left). */
OSLA_API osla_err osla_iteration_add_coarse(osla_iteration *iteration, const osla_coarse *coarse,
                                            const osla_coarse_options *options);

/* Returns the number of corrections that this rank added in the latest run. Local. */
OSLA_API int64_t osla_iteration_corrections(const osla_iteration *iteration);

/* Return a coarse level whose prolongation adds one number to all elements of x that a rank
 * owns. The result borrows the problem. Local. */
OSLA_API osla_coarse osla_diffusion_coarse(osla_diffusion *diffusion);
OSLA_API osla_coarse osla_splitting_coarse(osla_splitting *splitting);

#ifdef __cplusplus
}
#endif
#endif
