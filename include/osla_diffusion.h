/* The problem of Bethune, Bull, Dingle and Higham (Int. J. High Perf. Comput. Appl. 28(1), 2014,
 * section 3) as a fixed point: Laplace's equation in the unit cube, 7-point differences, Jacobi's
 * method (layer 3).
 *
 * A x = b has rows 6 x_ijk - (sum of its six neighbours) = 0; neighbours outside the grid are
 * boundary values and part of b. An update x := M x + c sets each point to the mean of its six
 * neighbours. Point i is at (i + 1) / (n + 1) in each dimension. Details that the paper leaves
 * open: the circle at the bottom (z = 0) is centred and has radius `radius`. As in the paper's runs
 * `offset` (there 1) is added to boundary and start, so that there are no exact zeros, which some
 * processors handle slowly (section 6.1).
 *
 * rho(M) = (1/3) sum over d of cos(pi / (n_d + 1)), and M >= 0.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: stable (osla.h).
 */
#ifndef OSLA_DIFFUSION_H
#define OSLA_DIFFUSION_H

#include "osla_api.h"
#include "osla_iterate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum osla_diffusion_start {
  /* the boundary value in the circle is exp(-(0.5 - x)^2 - (0.5 - y)^2), as in the paper */
  OSLA_DIFFUSION_SOURCE,
  /* boundary and b are 0; the start is sin(pi x) sin(pi y) sin(pi z), an eigenvector of M */
  OSLA_DIFFUSION_MODE
} osla_diffusion_start;

/* Options of the diffusion problem, equal on all ranks. */
typedef struct osla_diffusion_options {
  int64_t points[3]; /* numbers of points of the whole grid along x, y, z; each >= 1 */
  /* process grid along x, y, z: at most as many ranks as points in each dimension, and at most all
   * ranks of the transport; ranks outside the grid have no points. 0 in all three dimensions: the
   * grid with the smallest halos */
  int ranks[3];
  osla_diffusion_start start;
  double radius; /* radius of the circle, > 0; 0 means 0.25 */
  /* number that is added to boundary and start; 0 means 1; OSLA_DIFFUSION_MODE does not use it */
  double offset;
  bool no_offset;       /* true: no number is added to boundary and start; requires offset = 0 */
  uint64_t reserved[8]; /* must be 0 (osla_types.h) */
} osla_diffusion_options;

/* Creates the diffusion problem. Collective. The caller owns the problem. Errors, on all ranks
 * together: ARG, MEM. */
typedef struct osla_diffusion osla_diffusion;
OSLA_API osla_err osla_diffusion_create(osla_transport *transport,
                                        const osla_diffusion_options *options,
                                        osla_diffusion **out);
OSLA_API void osla_diffusion_destroy(
  osla_diffusion **diffusion); /* Destroys the problem. Local. Accepts NULL, and sets the pointer
                                * to NULL. */

/* Returns the problem as a fixed point, which borrows `diffusion`. A state is an array of (count +
 * 2) points in each dimension, x fastest: own points inside one layer of halos and boundaries. A
 * rank without points has length 0. */
OSLA_API osla_fixed_point osla_diffusion_problem(osla_diffusion *diffusion);

/* Return this rank's own points (index of the first one and their count, in each dimension), and
 * the process grid. Local. */
OSLA_API void osla_diffusion_own(const osla_diffusion *diffusion, int64_t first[3],
                                 int64_t count[3]);
OSLA_API void osla_diffusion_ranks(const osla_diffusion *diffusion, int ranks[3]);

/* osla_diffusion_fill sets the start with its boundaries; osla_diffusion_radius returns rho(M).
 * Local. */
OSLA_API void osla_diffusion_fill(const osla_diffusion *diffusion, double *x);
OSLA_API double osla_diffusion_radius(const osla_diffusion *diffusion);

#ifdef __cplusplus
}
#endif
#endif
