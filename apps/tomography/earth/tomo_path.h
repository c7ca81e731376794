/* One path: the panel of the Jacobian, data, residuals.
 *
 * The path-average approximation (Woodhouse & Dziewonski 1984, J. Geophys. Res. 89, 5953-5986): the
 * phase delay of a surface wave is the integral of its local phase slowness along the great circle,
 *   dt_i = -(1 / c_i) integral ds integral dz K_i(z) dlnVs(s, z).
 * With lateral functions phi_l, radial functions B_r, model index l N_r + r (radial fastest) and
 * coefficients in percent, the whitened Jacobian of path p is
 *   G[i, (l, r)] = W[i, r] A_l,   A_l = integral of phi_l along the path in km,
 * where W[i, r] is the response (tomo_kernel.h) of the path's measure i divided by sigma_i
 * (C_d^(-1/2)), so that data have unit variance.
 *
 * A tomo_path is a workspace for one thread at a time. It refers to mesh and kernel, which must
 * outlive it. Only create allocates memory. All calls are local.
 */
#ifndef TOMO_PATH_H
#define TOMO_PATH_H

#include <stdint.h>

#include "apps/tomography/earth/tomo_kernel.h"
#include "apps/tomography/earth/tomo_mesh.h"
#include "apps/tomography/earth/tomo_sphere.h"
#include "apps/tomography/readers/tomo_data.h"
#include "osla_types.h"

typedef struct tomo_path tomo_path;

/* Creates a workspace for paths of any length with at most `max_data` data. Errors: OSLA_ERR_ARG,
 * OSLA_ERR_MEM. Memory: 8 bytes per knot of the mesh, 12 + 8 N_r bytes per knot that a full circle
 * touches, 8 (N_r + 1) per datum. */
osla_err tomo_path_create(const tomo_mesh *mesh, const tomo_kernel *kernel, int max_data,
                          tomo_path **path);
void tomo_path_destroy(tomo_path **path);

/* The greatest number of columns (touched knots * N_r) that the panel of any path can have, for the
 * size of buffers. A path is at most a full circle. */
int64_t tomo_path_columns_max(const tomo_path *path);

/* Traces an arc: finds the touched knots and their A_l by the midpoint rule with steps of at most
 * an eighth of the spacing. Returns n = touched knots * N_r, the number of columns of the panel.
 * All calls below use the latest arc. */
int64_t tomo_path_trace(tomo_path *path, const tomo_arc *arc);

/* Sets the k data of the path, which all calls below use until the next tomo_path_set_data.
 *   set     [in]  measures and deviations, whose arrays must exist until the next
 *                 tomo_path_set_data; to pass the current set again costs no time
 *   factor  [in]  [k] factor by which each datum and its row of G are multiplied; 0 excludes the
 *                 datum; NULL: all 1 */
void tomo_path_set_data(tomo_path *path, const tomo_set *set, const double *factor);
/* Returns k, the number of data of the path. */
int tomo_path_count(const tomo_path *path);
/* Returns the whitened response W of the path, a column-major matrix of k x N_r elements, where N_r
 * is the number of radial functions. */
const double *tomo_path_response(const tomo_path *path);

/* Returns the number of knots that the path touches. Sets *knot to the array of these knots,
 * ascending, and *length_km to the array of their lengths A_l (km, > 0). The workspace owns both
 * arrays, which are valid until the next trace. Either pointer may be NULL. */
int64_t tomo_path_knots(const tomo_path *path, const int32_t **knot, const double **length_km);

/* Model indices of the panel's n columns, ascending, owned by the workspace until the next
 * trace. */
const int64_t *tomo_path_indices(const tomo_path *path);

/* Fills the panel G, k x n column-major.
 *   dtype  [in]   OSLA_DOUBLE or OSLA_FLOAT (computed in double, then rounded)
 *   g      [out]  ld * n elements of dtype
 *   ld     [in]   >= k
 * Errors: OSLA_ERR_ARG. */
osla_err tomo_path_panel(const tomo_path *path, osla_dtype dtype, void *g, int64_t ld);

/* Turns delays d (s) into whitened data in place: divides each by its standard deviation and
 * multiplies it by its factor. */
void tomo_path_whiten(const tomo_path *path, double *d);

/* Computes whitened data: G m_true + factor * noise * osla_random_normal(seed, id, i). The
 * rows of G include the factors of tomo_path_set_data.
 *   m_true  [in]  N_m = knots * N_r coefficients in percent
 *   noise   [in]  standard deviation in units of sigma_i: 0 for exact data, 1 for noise as large
 *                 as the standard deviations of the data */
void tomo_path_data(const tomo_path *path, const double *m_true, double noise, uint64_t seed,
                    int64_t id, double *d);

/* r := d - G m. m = NULL means the zero model; r and d may be one array. tomo_path_misfit returns
 * |r|^2, the path's part of the misfit. */
void tomo_path_residuals(const tomo_path *path, const double *m, const double *d, double *r);
double tomo_path_misfit(const tomo_path *path, const double *m, const double *d);

#endif
