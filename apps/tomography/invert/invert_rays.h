/* The product with G without assembled H: each rank stores the rows of its own paths in factored
 * form, and rows of the prior.
 *
 * The rows of a path are G[i, (l, r)] = W[i, r] A[l] (tomo_path.h), k data i, knots l, N_r radial
 * functions r. The rank that traced the path stores its knots l and A[l], 12 bytes each. By W = Q
 * R (invert_rays.h) min(k, N_r) rows replace the k rows, with the same normal equations; R is
 * stored once for all paths with the same set of measurements. The model is distributed by blocks
 * of knots. A star forest fetches the coefficients of the knots that a rank's paths touch, and
 * sums contributions to them at their owners. The rows L of the prior (C_m^-1 = L^T L) are a
 * sparse matrix; the owner of a knot owns its rows.
 */
#ifndef INVERT_RAYS_H
#define INVERT_RAYS_H

#include "apps/tomography/earth/tomo_path.h"
#include "apps/tomography/invert/invert.h"

/* A path of this rank. */
typedef struct invert_ray {
  int64_t count; /* number of knots; 0: degenerate path */
  /* [count] A[l]; start of the allocation, which also holds the path's own R and the knots */
  double *length;
  int32_t *knot;   /* [count] knots: first mesh indices, then indices into the touched knots */
  const double *r; /* R, rows x N_r row-major; owned by the path or by its set */
  int32_t rows;    /* number of rows of R: min(k, N_r) */
  int64_t first;   /* index of the path's first row on this rank */
} invert_ray;

typedef struct invert_rays {
  const invert_job *job;
  int64_t radial;
  double **set_r;   /* [sets] R of each set; NULL: no path of this rank used it yet */
  int64_t n, rows;  /* number of paths of this rank, number of their rows */
  invert_ray *path; /* [n] in the order of the list of paths */
  double *d;        /* [rows] Q^T d of the paths */
  int64_t *start;   /* [size + 1] first knot of each rank */
  int64_t touched;  /* number of knots that paths of this rank touch */
  osla_forest *forest;
  /* [radial * touched] coefficients of the touched knots; ranks on the same node read them in
   * place */
  double *ghost;
  osla_csr *prior;
  int64_t first; /* first unknown of this rank */
} invert_rays;

/* Traces this rank's share of the paths and makes the rows of the prior; sets misfit, ray density
 * and number of data as invert_assemble does. Collective. Sets job->rays, which the caller
 * destroys, also after a failure. */
osla_err invert_rays_create(invert_job *job);
/* Replaces the rows of the prior by those of job->prior. Collective. */
osla_err invert_rays_replace_prior(invert_rays *rays);
void invert_rays_destroy(invert_rays **rays); /* Destroys the rows; accepts NULL. Collective. */

/* The operator [G; L], applied to this rank's coefficients of the model. Borrows `rays`. */
osla_operator invert_rays_operator(invert_rays *rays);

/* Memory of the stored rows of G on this rank. Local. */
uint64_t invert_rays_bytes(const invert_rays *rays);

/* d[j] := diagonal element j of G^T C_d^-1 G + C_m^-1, for this rank's unknowns. Collective. */
osla_err invert_rays_diagonal(invert_rays *rays, double *d);

/* QR factorisation W = Q R of the whitened responses of a path, W being k x N_r. |d - W a|^2 =
 * |Q^T d - R a|^2 + constant, so that the rows of R replace the rows of W. R has min(k, N_r) rows;
 * rows that would be zero come last. Local; workspace of one thread. */
typedef struct invert_path_qr {
  int64_t radial;
  double *q; /* [k * rows] Q, column-major */
  double *r; /* [rows * radial] R, row-major, zero left of the diagonal */
  double *column;
  int64_t rows; /* min(k, radial) of the path that was factored last */
  int64_t set;  /* set of measurements of that path; -1: none, or with weights */
} invert_path_qr;

/* For paths with at most `most` data. Errors: MEM. */
osla_err invert_path_qr_create(int most, int radial, invert_path_qr **split);
void invert_path_qr_destroy(invert_path_qr **split);

/* Factors the responses of a path. With `factored` false and the set of the last call, the result
 * of the last call is reused.
 */
void invert_path_qr_factor(invert_path_qr *split, const tomo_path *path, int64_t set,
                           bool factored);

#endif
