/* The problem of Bethune, Bull, Dingle and Higham (Int. J. High Perf. Comput. Appl. 28(1), 2014,
 * section 3) as a fixed point: Laplace's equation in the unit cube, 7-point differences, Jacobi.
 *
 * A x = b has rows 6 x_ijk - (its six neighbours) = 0, where what lies outside is a boundary value
 * and part of b; x := M x + c takes the mean of the six. Points are at (i + 1) / (n + 1) in each
 * dimension. Where the paper is silent: the circle at the bottom (z = 0) has its centre in the
 * middle, and `radius`. As in the runs that they report `offset` (theirs: 1) is added to boundary
 * and start, so that no exact zeros slow some processors down (their section 6.1).
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
  OSLA_DIFFUSION_SOURCE, /* the paper's: boundary exp(-(0.5 - x)^2 - (0.5 - y)^2) in the circle */
  OSLA_DIFFUSION_MODE    /* boundary and b 0, start sin(pi x) sin(pi y) sin(pi z): an eigenvector */
} osla_diffusion_start;

/* The same on all ranks. */
typedef struct osla_diffusion_options {
  int64_t points[3]; /* of the whole grid, x y z, each at least 1 */
  int ranks[3];      /* along x y z; at most points, together at most the ranks of the transport,
                        those beyond sleep. 0 (all three): the shape with the least halos */
  osla_diffusion_start start;
  double radius;        /* > 0; 0: 0.25 */
  double offset;        /* 0: 1; MODE: not used */
  bool no_offset;       /* nothing is added; with offset = 0 */
  uint64_t reserved[8]; /* 0: osla_types.h */
} osla_diffusion_options;

/* Collective. Owned by the caller. Errors, on all ranks together: ARG, MEM. */
typedef struct osla_diffusion osla_diffusion;
OSLA_API osla_err osla_diffusion_create(osla_transport *transport,
                                        const osla_diffusion_options *options,
                                        osla_diffusion **out);
OSLA_API void osla_diffusion_destroy(
  osla_diffusion **diffusion); /* local; accepts NULL; sets the pointer to NULL */

/* The fixed point; borrows it. States are arrays of (count + 2) points in each dimension, x
 * fastest: the own points within one layer of halos and boundaries. A rank without points has
 * length 0. */
OSLA_API osla_fixed_point osla_diffusion_problem(osla_diffusion *diffusion);

/* Local: the own points, and the ranks along each dimension. */
OSLA_API void osla_diffusion_own(const osla_diffusion *diffusion, int64_t first[3],
                                 int64_t count[3]);
OSLA_API void osla_diffusion_ranks(const osla_diffusion *diffusion, int ranks[3]);

/* The start with its boundaries, and rho(M). Local. */
OSLA_API void osla_diffusion_fill(const osla_diffusion *diffusion, double *x);
OSLA_API double osla_diffusion_radius(const osla_diffusion *diffusion);

#ifdef __cplusplus
}
#endif
#endif
