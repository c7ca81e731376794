/* Products with G without assembled H: each rank stores the rows of its own paths in factored form,
 * and rows of the prior.
 *
 * The rows of a path are G[i, (l, r)] = W[i, r] A[l] (tomo_path.h), with data i = 1..k, knots l and
 * N_r radial functions r. The rank that traced the path stores l and A[l], 12 bytes for each knot.
 * With the factorisation W = Q R the min(k, N_r) rows of R replace the k rows of W, and the normal
 * equations stay the same; R is stored once for all paths with the same set of measurements. The
 * model is distributed by blocks of knots. A star forest fetches the coefficients of the knots that
 * a rank's paths touch, and sums the contributions to these coefficients at their owners. The rows
 * L of the prior (C_m^-1 = L^T L) are a sparse matrix; the owner of a knot owns the rows of the
 * knot. */
#ifndef INVERT_RAYS_H
#define INVERT_RAYS_H

#include "apps/tomography/earth/tomo_path.h"
#include "apps/tomography/invert/invert.h"

/* A path of this rank. */
typedef struct invert_ray {
  int64_t count; /* number of knots that the path touches; 0: degenerate path */
  /* [count] A[l]; the allocation starts here and also holds the knots, and R if the path owns it */
  double *length;
  /* [count] knots of the path: mesh indices at first, later indices into the list of touched
   * knots */
  int32_t *knot;
  const double *r; /* R, rows x N_r, row-major; owned by the path or by its set of measurements */
  int32_t rows;    /* number of rows of R: min(k, N_r) */
  int64_t first;   /* index of the path's first row among the rows of this rank */
} invert_ray;

typedef struct invert_rays {
  const invert_job *job;
  int64_t radial;
  /* [sets] R of each set of measurements; NULL: no path of this rank has used the set yet */
  double **set_r;
  int64_t n,        /* number of this rank's paths */
    rows;           /* number of stored rows of this rank's paths, min(k, N_r) for each path */
  invert_ray *path; /* [n] paths of this rank in the order of the job's list */
  double *d;        /* [rows] Q^T d of the paths */
  int64_t *start;   /* [size + 1] index of the first knot that each rank owns */
  int64_t touched;  /* number of knots that paths of this rank touch */
  osla_forest *forest;
  /* [radial * touched] coefficients of the touched knots; other ranks of the node read them without
   * a copy */
  double *ghost;
  osla_csr *prior;
  int64_t first; /* index of the first unknown that this rank owns */
} invert_rays;

/* Traces this rank's share of the paths and makes the rows of the prior. Sets the misfit of the
 * zero model, the ray density and the number of data, as invert_assemble does. Sets job->rays,
 * which the caller destroys, also after a failure. Collective. */
osla_err invert_rays_create(invert_job *job);
/* Makes the rows of the prior anew, after the caller has changed job->prior. Collective. */
osla_err invert_rays_replace_prior(invert_rays *rays);
void invert_rays_destroy(invert_rays **rays); /* Destroys the rows; accepts NULL. Collective. */

/* Returns the operator A = [G; L], which multiplies this rank's coefficients of the model. Borrows
 * `rays`. */
osla_operator invert_rays_operator(invert_rays *rays);

/* Returns the memory of the stored rows of G on this rank in bytes. Local. */
uint64_t invert_rays_bytes(const invert_rays *rays);

/* d[j] := diagonal element j of G^T C_d^-1 G + C_m^-1, for this rank's unknowns. Collective. */
osla_err invert_rays_diagonal(invert_rays *rays, double *d);

/* QR factorisation W = Q R of the whitened responses of a path, W being k x N_r for k data. The
 * rows of R can replace the rows of W in the least-squares problem, because |d - W a|^2 = |Q^T d -
 * R a|^2 + constant. R has min(k, N_r) rows; any rows of zeros come last. Local; one workspace for
 * each thread. */
typedef struct invert_path_qr {
  int64_t radial;
  double *q; /* [k * rows] Q, column-major */
  double *r; /* [rows * radial] R, row-major, zero left of the diagonal */
  double *column;
  int64_t rows; /* number of rows of R for the path factored last: min(k, radial) */
  /* set of measurements of the path factored last; -1: there is no such path, or its data had
   * weights */
  int64_t set;
} invert_path_qr;

/* Makes a workspace for paths with at most `most` data each. Errors: MEM. */
osla_err invert_path_qr_create(int most, int radial, invert_path_qr **split);
void invert_path_qr_destroy(invert_path_qr **split);

/* Factors the responses of a path. If the path has the set of measurements of the preceding call,
 * the result of that call is reused. If `factored` is true, the data have weights, and no result is
 * reused. */
void invert_path_qr_factor(invert_path_qr *split, const tomo_path *path, int64_t set,
                           bool factored);

#endif
