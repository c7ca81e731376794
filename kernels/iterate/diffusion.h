/* Private state of the diffusion problem, shared by its files. */
#ifndef DIFFUSION_H
#define DIFFUSION_H

#include "osla_diffusion.h"

enum { DIMENSIONS = 3, FACES = 6 };

struct osla_diffusion {
  osla_diffusion_options o;
  int rank, position[DIMENSIONS]; /* this rank; its coordinates in the process grid */
  int64_t first[DIMENSIONS], count[DIMENSIONS];
  int64_t stride[DIMENSIONS]; /* distances in a state between neighbours in x, y and z: 1, row
                                 length, plane size */
  int64_t length;
  int n_halos, face[FACES]; /* number of the face at which each halo lies: 2 d for the lower face in
                             * dimension d, 2 d + 1 for the upper face */
  osla_halo halos[FACES];
};

/* Makes the part of rank `rank` of `size` ranks on the calling rank. Tests use it to compute the
 * parts of all ranks in one process. Local. Errors: ARG, MEM. */
osla_err osli_diffusion_create_part(const osla_diffusion_options *options, int rank, int size,
                                    osla_diffusion **out);

/* Sweeps and related functions of osla_fixed_point (diffusion_sweep.c). `arg` is the
 * osla_diffusion. */
double osli_diffusion_sweep(void *arg, double omega, const double *x, double *y);
double osli_diffusion_sweep_edge(void *arg, double omega, const double *x, double *y);
double osli_diffusion_sweep_rest(void *arg, double omega, const double *x, double *y);
double osli_diffusion_magnitude(void *arg, const double *x);
double osli_diffusion_bound_sweep(void *arg, double *x, double *y);
double osli_diffusion_distance(void *arg, const double *x, const double *y, const double *v);

/* Layer of points at face f: own points if depth is 1, halo points if depth is 0. `at`: index of
 * the first point. n and stride: number of points and distance between points, in each of the
 * layer's two dimensions. */
typedef struct layer {
  int64_t at, n[2], stride[2];
} layer;
static inline layer diffusion_layer(const osla_diffusion *d, int f, int depth)
{
  const int along = f / 2, a = along == 0 ? 1 : 0, b = along == 2 ? 1 : 2;
  const int64_t position = f % 2 == 0 ? depth : d->count[along] + 1 - depth;
  return (layer){.at = position * d->stride[along] + d->stride[a] + d->stride[b],
                 .n = {d->count[a], d->count[b]},
                 .stride = {d->stride[a], d->stride[b]}};
}

#endif
