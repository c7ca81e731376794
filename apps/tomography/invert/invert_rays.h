/* The product with G without assembled H: each rank stores the rows of its own paths in factored
 * form, and rows of the prior.
 *
 * The rows of a path are G[i, (l, r)] = W[i, r] A[l] (tomo_path.h), k data i, knots l, N_r radial
 * functions r. The rank that traced the path stores its knots l and A[l], 12 bytes each. By W = Q
 * R (invert_path_qr.h) min(k, N_r) rows replace the k rows, with the same normal equations; R is
 * stored once for all paths with the same set of measurements. The model is distributed by blocks
 * of knots. A star forest fetches the coefficients of the knots that a rank's paths touch, and
 * sums contributions to them at their owners. The rows L of the prior (C_m^-1 = L^T L) are a
 * sparse matrix; the owner of a knot owns its rows.
 */
#ifndef INVERT_RAYS_H
#define INVERT_RAYS_H

#include "apps/tomography/invert/invert.h"

typedef struct invert_rays invert_rays;

/* Traces this rank's share of the paths and makes the rows of the prior; sets misfit, ray density
 * and number of data as invert_assemble does. Collective. Sets job->rays, which the caller
 * destroys, also after a failure. */
osla_err invert_rays_create(invert_job *job);
/* Replaces the rows of the prior by those of job->prior. Collective. */
osla_err invert_rays_replace_prior(invert_rays *rays);
void invert_rays_destroy(invert_rays **rays); /* Destroys the rows; accepts NULL. Collective. */

/* The operator [G; L], applied to this rank's coefficients of the model. Borrows `rays`. */
osla_operator invert_rays_operator(invert_rays *rays);

/* Facts about the rows of this rank. Local. */
int64_t invert_rays_first(const invert_rays *rays);   /* first unknown of this rank */
int64_t invert_rays_data(const invert_rays *rays);    /* number of rows of G on this rank */
const double *invert_rays_d(const invert_rays *rays); /* [rows] Q^T d of this rank's paths */
/* memory of the stored rows of G on this rank */
uint64_t invert_rays_bytes(const invert_rays *rays);

/* d[j] := diagonal element j of G^T C_d^-1 G + C_m^-1, for this rank's unknowns. Collective. */
osla_err invert_rays_diagonal(invert_rays *rays, double *d);

#endif
