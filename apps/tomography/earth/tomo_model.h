/* True models for recovery tests, field values, the prior, and the comparison of two models.
 *
 * A model is an array of N_m = knots * N_r coefficients in percent of dlnVs, with index l N_r + r
 * for knot l and radial function r. All calls are local and thread-safe (they only read mesh and
 * basis).
 */
#ifndef TOMO_MODEL_H
#define TOMO_MODEL_H

#include <stdint.h>

#include "apps/tomography/earth/tomo_mesh.h"
#include "apps/tomography/earth/tomo_radial.h"

typedef enum tomo_model_kind {
  TOMO_MODEL_CHECKERBOARD,
  TOMO_MODEL_BLOBS,
  TOMO_MODEL_SPIKE,
  TOMO_MODEL_KINDS
} tomo_model_kind;

/* Name of a kind of model: "checkerboard", "blobs" or "spike". */
const char *tomo_model_name(tomo_model_kind kind);

typedef struct tomo_location {
  double latitude, longitude, depth_km; /* latitude and longitude in geographic degrees */
} tomo_location;

enum { TOMO_SPIKES_MAX = 32 };

typedef struct tomo_model_options {
  tomo_model_kind kind;     /* kind of the true model; default TOMO_MODEL_CHECKERBOARD */
  double amplitude_percent; /* amplitude of the cells, blobs or spikes in percent; default 5 */
  /* side of a cell, or diameter of a blob, 1 .. 180 degrees; default 25 */
  double cell_degrees;
  /* height of a cell or a blob, >= 0; default 1000. If it is 0, the cells do not change sign with
   * depth, and blobs have half the height of the model. */
  double cell_depth_km;
  uint64_t seed; /* seed of the random centres and signs of blobs; default 1 */
  int n_spikes;  /* number of spikes, 1 .. TOMO_SPIKES_MAX; default 3 */
  /* positions of the spikes; default: western North America, Africa and Australia, at 100 km
   * depth */
  tomo_location spike[TOMO_SPIKES_MAX];
} tomo_model_options;

tomo_model_options tomo_model_defaults(void);

/* Index of the coefficient whose knot and Greville depth are nearest to the location. */
int64_t tomo_nearest_coefficient(const tomo_mesh *mesh, const tomo_radial *radial,
                                 const tomo_location *place);

/* Sets the coefficients of the true model: its formula, sampled at every knot and Greville depth.
 *   checkerboard  cells of alternating sign (tomo_model.c)
 *   blobs         sum of gaussians with random centres and signs
 *   spike         the amplitude at the coefficient nearest to each spike, zero elsewhere
 *   options  [in]   NULL = defaults
 *   m        [out]  [N_m] percent
 * Errors: OSLA_ERR_ARG (with the value). */
osla_err tomo_model_set_true(const tomo_model_options *options, const tomo_mesh *mesh,
                             const tomo_radial *radial, double *m);

/* The prior C_m^(-1) = L^T L. For every knot l and radial index r, L has the rows
 *   sqrt(damping)  m[l, r]
 *   sqrt(lateral)  (m[l, r] - mean of m[j, r] over the neighbours j of l)
 *   sqrt(radial)   second difference m[l, r-1] - 2 m[l, r] + m[l, r+1] (N_r >= 3), the first
 *                  difference (N_r = 2), or no row (N_r = 1)
 * The prior's mean m^p is zero. Different knots have different rows of L, so the sum over all knots
 * of G^T G, with G a knot's panel, is C_m^(-1). */
typedef struct tomo_prior_options {
  double damping; /* 1 / (standard deviation in percent)^2, >= 0; default 0.05 */
  double lateral; /* weight of lateral smoothing, >= 0; default 0.5 */
  double radial;  /* weight of radial smoothing, >= 0; default 0.1 */
  /* [N_m] factor by which the damping of each unknown is multiplied, owned by the caller; NULL: all
   * 1 (tomo_prior_file.h) */
  const double *damping_of;
  /* [N_r] factor by which the lateral smoothing of each radial function is multiplied, owned by the
   * caller; NULL: all 1 */
  const double *lateral_of;
} tomo_prior_options;

tomo_prior_options tomo_prior_defaults(void);

/* Upper bounds of the numbers of rows and columns of a knot's panel of the prior, for N_r radial
 * functions. */
int tomo_prior_rows_max(int n_radial);
int tomo_prior_columns_max(int n_radial);

/* Computes the rows of L, with C_m^(-1) = L^T L, that belong to one knot, as a dense panel.
 *   options  [in]   not NULL, valid
 *   rows     [out]  number of rows, 0 .. tomo_prior_rows_max()
 *   columns  [out]  number of columns
 *   ix       [out]  model indices, ascending, tomo_prior_columns_max() entries
 *   g        [out]  rows x columns, column-major, leading dimension *rows;
 *                   tomo_prior_rows_max() * tomo_prior_columns_max() entries */
void tomo_prior_panel(const tomo_prior_options *options, const tomo_mesh *mesh, int n_radial,
                      int64_t knot, int *rows, int *columns, int64_t *ix, double *g);

/* An upper bound of the absolute values of all elements of C_m^(-1). */
double tomo_prior_bound(const tomo_prior_options *options, int64_t knots, int n_radial);

/* m^T C_m^(-1) m, computed without forming the rows that tomo_prior_panel returns. */
double tomo_prior_norm(const tomo_prior_options *options, const tomo_mesh *mesh, int n_radial,
                       const double *m);

/* y := C_m^(-1) x, computed without forming the rows that tomo_prior_panel returns. x and y have
 * N_m elements and do not overlap. */
void tomo_prior_multiply(const tomo_prior_options *options, const tomo_mesh *mesh, int n_radial,
                         const double *x, double *y);

/* Quality of a recovered model over all coefficients of the knots whose ray density is at least a
 * threshold. */
typedef struct tomo_recovery {
  int64_t knots; /* number of mesh knots over which the models are compared */
  /* Pearson's correlation; NaN if a model is constant or no knots are compared */
  double correlation;
  double variance_reduction; /* variance reduction 1 - |m - m_true|^2 / |m_true|^2 */
  double amplitude;          /* slope of the regression of recovered on true values */
} tomo_recovery;

/* Compares a recovered model with the true one at the knots where density >= threshold.
 *   density    [in]  [knots] the lengths A_l (tomo_path_knots) summed over paths
 *   below      [in]  nonzero: compares instead at the knots where density < threshold */
tomo_recovery tomo_model_compare(const double *m_true, const double *m, const double *density,
                                 int64_t knots, int n_radial, double threshold, int below);

/* Sorts n >= 1 values, and returns their median. */
double tomo_median(double *values, int64_t n);

/* Quantile of the density (km): the given part (0 .. 1) of the knots have at most this density; 0.5
 * is the median. Returns 0 if there is no memory. */
double tomo_density_quantile(const double *density, int64_t knots, double part);

#endif
