/* True models for recovery tests, field values, the prior, and how to compare two models.
 *
 * A model is a plain array of N_m = knots * N_r coefficients in percent of dlnVs, index l N_r + r.
 * All calls are local and thread-safe (they only read mesh and basis).
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

/* "checkerboard", "blobs", "spike". */
const char *tomo_model_name(tomo_model_kind kind);

typedef struct tomo_place {
  double latitude, longitude, depth_km; /* geographic degrees */
} tomo_place;

enum { TOMO_SPIKES_MAX = 32 };

typedef struct tomo_model_options {
  tomo_model_kind kind;     /* default TOMO_MODEL_CHECKERBOARD */
  double amplitude_percent; /* peak (checkerboard) or standard scale (blobs); default 5 */
  double cell_degrees;      /* side of a cell, or diameter of a blob; 1 .. 180; default 25 */
  double cell_depth_km;     /* height of a cell or a blob, > 0; 0 = no change of sign with depth
                               (checkerboard) or half the model (blobs); default 1000 */
  uint64_t seed;            /* blobs; default 1 */
  int n_spikes;             /* 1 .. TOMO_SPIKES_MAX; default 3: */
  tomo_place spike[TOMO_SPIKES_MAX]; /* western North America, Africa, Australia, at 100 km */
} tomo_model_options;

tomo_model_options tomo_model_defaults(void);

/* Coefficients of the true model: the field's formula sampled at every knot and Greville depth.
 *   checkerboard  amplitude sin(pi lat / cell) sin(m lon) cos(pi z / cell_depth), with m the whole
 *                 number of waves nearest to 180 / cell that goes round every parallel; where the
 *                 meridians draw together it fades out with cos(lat) (see tomo_model.c)
 *   blobs         sum of gaussians at random places with random signs
 *   spike         the amplitude at the one coefficient that is nearest to each place, else zero
 *   options  [in]   NULL = defaults
 *   m        [out]  N_m, percent
 * Errors: OSLA_ERR_ARG (with the value). */
osla_err tomo_model_true(const tomo_model_options *options, const tomo_mesh *mesh,
                         const tomo_radial *radial, double *m);

/* The field of coefficients m at a point (geographic degrees, km), percent. */
double tomo_model_field(const tomo_mesh *mesh, const tomo_radial *radial, const double *m,
                        double latitude, double longitude, double depth_km);

/* The prior C_m^(-1) = L^T L, with for every knot l and radial index r the rows
 *   sqrt(damping)  m[l, r]
 *   sqrt(lateral)  (m[l, r] - mean of m[j, r] over the neighbours j of l)
 *   sqrt(radial)   second difference m[l, r-1] - 2 m[l, r] + m[l, r+1] (N_r >= 3), or the first
 *                  difference (N_r = 2), or nothing (N_r = 1)
 * The prior's mean m^p is zero. Rows of different knots are different rows of L, so that the sum of
 * all knots' G^T G is C_m^(-1). */
typedef struct tomo_prior_options {
  double damping;           /* 1 / (standard deviation in percent)^2, >= 0; default 0.05 */
  double lateral;           /* >= 0; default 0.5 */
  double radial;            /* >= 0; default 0.1 */
  const double *damping_of; /* [N_m] factors of damping for each unknown; NULL: 1 */
  const double *lateral_of; /* [N_r] the same of lateral for each radial function */
} tomo_prior_options;       /* the arrays are borrowed: tomo_prior_file.h */

tomo_prior_options tomo_prior_defaults(void);

/* OSLA_OK, or OSLA_ERR_ARG with the value that is negative or not finite. */
osla_err tomo_prior_check(const tomo_prior_options *options);

/* Upper bounds of the panels' sizes for N_r radial functions. */
int tomo_prior_rows_max(int n_radial);
int tomo_prior_columns_max(int n_radial);

/* The prior's panel of one knot.
 *   options  [in]   not NULL, valid
 *   rows     [out]  number of rows, 0 .. tomo_prior_rows_max()
 *   columns  [out]  number of columns
 *   ix       [out]  model indices, ascending, tomo_prior_columns_max() entries
 *   g        [out]  rows x columns, column-major, ld = *rows;
 *                   tomo_prior_rows_max() * tomo_prior_columns_max() entries */
void tomo_prior_panel(const tomo_prior_options *options, const tomo_mesh *mesh, int n_radial,
                      int64_t knot, int *rows, int *columns, int64_t *ix, double *g);

/* No element of C_m^(-1) is larger, in size. */
double tomo_prior_most(const tomo_prior_options *options, int64_t knots, int n_radial);

/* m^T C_m^(-1) m, computed from differences without panels. */
double tomo_prior_norm(const tomo_prior_options *options, const tomo_mesh *mesh, int n_radial,
                       const double *m);

/* y := C_m^(-1) x, in the same way; both have N_m elements, and are not one. */
void tomo_prior_multiply(const tomo_prior_options *options, const tomo_mesh *mesh, int n_radial,
                         const double *x, double *y);

/* How well a model is recovered, over the knots with density[l] >= threshold (all r). */
typedef struct tomo_recovery {
  int64_t knots;             /* how many */
  double correlation;        /* Pearson's; NaN when a model is constant there or knots = 0 */
  double variance_reduction; /* 1 - |m - m_true|^2 / |m_true|^2 */
  double amplitude;          /* slope of recovered against true */
} tomo_recovery;

/*   density    [in]  an entry per knot (the lengths A_l of tomo_path_knots summed over paths)
 *   below      [in]  nonzero: knots with density < threshold instead */
tomo_recovery tomo_model_compare(const double *m_true, const double *m, const double *density,
                                 int64_t knots, int n_radial, double threshold, int below);

/* The density (km) that the given part (0 .. 1) of knots stay below: 0.5 = the median. 0 when
 * memory is short. */
double tomo_density_quantile(const double *density, int64_t knots, double part);

#endif
