/* G without a matrix of it: the rows of each rank's own paths in factored form, and the prior's.
 *
 * A path's rows are G[i, (l, r)] = W[i, r] A[l] (tomo_path.h): kept are its knots l with their
 * A[l], 12 bytes each, on the rank that traced it. W is k x N_r; with W = Q R (invert_split.h)
 * min(k, N_r) rows take the place of k and have the same normal equations; R is kept once for all
 * paths of a set of data. The model is distributed by blocks of knots; a forest brings
 * the coefficients of the knots that a rank's paths touch, and brings back what is summed up for
 * them. The prior's rows L (C_m^-1 = L^T L) are a sparse matrix, those of a knot on the rank that
 * has the knot.
 */
#ifndef INVERT_RAYS_H
#define INVERT_RAYS_H

#include "apps/tomography/invert/invert.h"

typedef struct invert_rays invert_rays;

/* Traces this rank's share of the paths, makes the prior's rows; misfit, density and data as
 * invert_assemble does. Collective; job->rays is the caller's, also after a failure. */
osla_err invert_rays_create(invert_job *job);
/* The prior's rows anew, of job->prior. Collective. */
osla_err invert_rays_renew_prior(invert_rays *rays);
void invert_rays_destroy(invert_rays **rays); /* collective; accepts NULL */

/* The rows of G above those of L, times this rank's coefficients of the model. Borrowed. */
osla_operator invert_rays_operator(invert_rays *rays);

/* Local. */
int64_t invert_rays_first(const invert_rays *rays);   /* my first unknown */
int64_t invert_rays_data(const invert_rays *rays);    /* my rows of G */
const double *invert_rays_d(const invert_rays *rays); /* Q^T of their data */
uint64_t invert_rays_bytes(const invert_rays *rays);  /* of G's rows */

/* d[j] := the diagonal of G^T C_d^-1 G + C_m^-1, of my unknowns. Collective. */
osla_err invert_rays_diagonal(invert_rays *rays, double *d);

#endif
