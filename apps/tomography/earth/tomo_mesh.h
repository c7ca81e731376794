/* Lateral parameterisation: a quasi-uniform grid of knots with a compact basis on the sphere.
 *
 * Knots are the vertices of an icosahedron whose faces are divided with frequency f: 10 f^2 + 2
 * points, each with 6 neighbours, 12 of them with 5. The basis is the cubic spherical B-spline of
 * Wang & Dahlen (1995, Geophys. Res. Lett. 22, 3099-3102) with support of twice the mean spacing,
 * divided by the sum of all of them at the point (Shepard), so that equal coefficients give a
 * constant field. Creation and destruction are local; a created mesh is never changed, so that all
 * other calls are thread-safe.
 */
#ifndef TOMO_MESH_H
#define TOMO_MESH_H

#include <stdint.h>

#include "osla_error.h"

typedef struct tomo_mesh tomo_mesh;

enum { TOMO_MESH_NEIGHBOURS = 6, TOMO_MESH_SUPPORT = 40, TOMO_MESH_FREQUENCY_MAX = 512 };

/* Builds the mesh; the caller owns it.
 *   frequency  [in]   1 .. TOMO_MESH_FREQUENCY_MAX
 * Errors: OSLA_ERR_ARG, OSLA_ERR_MEM. Memory: about 150 bytes per knot. */
osla_err tomo_mesh_create(int frequency, tomo_mesh **mesh);
void tomo_mesh_destroy(tomo_mesh **mesh); /* NULL inside is accepted; sets NULL */

/* Number of knots of a frequency, without building the mesh. */
int64_t tomo_mesh_knots_of(int frequency);

int64_t tomo_mesh_knots(const tomo_mesh *mesh);

/* Mean distance of neighbouring knots, radians. */
double tomo_mesh_spacing(const tomo_mesh *mesh);

/* Unit vector of a knot, owned by the mesh. */
const double *tomo_mesh_knot(const tomo_mesh *mesh, int64_t knot);

/* Neighbours of a knot, ascending; the array is owned by the mesh; returns 5 or 6. */
int tomo_mesh_neighbours(const tomo_mesh *mesh, int64_t knot, const int32_t **neighbours);

/* The triangles between the knots of a mesh, each by its three, anticlockwise seen from outside, in
 * the order of their lowest knot, with which each begins.
 *   triangle  [out]  as many as the two calls say */
int64_t tomo_mesh_triangles_of(int frequency);
int64_t tomo_mesh_count_triangles(const tomo_mesh *mesh);
void tomo_mesh_triangles(const tomo_mesh *mesh, int32_t (*triangle)[3]);

/* The basis at a point: knots whose function is not zero there (not sorted) and their values, which
 * add up to 1. Returns their number, 1 .. TOMO_MESH_SUPPORT.
 *   v       [in]   unit vector
 *   knot    [out]  TOMO_MESH_SUPPORT
 *   weight  [out]  TOMO_MESH_SUPPORT */
int tomo_mesh_basis(const tomo_mesh *mesh, const double v[3], int32_t *knot, double *weight);

#endif
