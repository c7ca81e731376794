/* Lateral parameterisation: a quasi-uniform grid of knots with a compact basis on the sphere.
 *
 * Knots are the vertices of an icosahedron whose faces are divided with frequency f. There are 10
 * f^2 + 2 knots; 12 have 5 neighbours, all others 6. The basis is the cubic spherical B-spline of
 * Wang & Dahlen (1995, Geophys. Res. Lett. 22, 3099-3102) with a support of twice the mean spacing,
 * divided by the sum of all splines at the point (Shepard), so that equal coefficients give a
 * constant field. Creation and destruction are local. A created mesh never changes, so all other
 * calls are thread-safe.
 */
#ifndef TOMO_MESH_H
#define TOMO_MESH_H

#include <stdint.h>

#include "osla_error.h"

typedef struct tomo_mesh tomo_mesh;

enum { TOMO_MESH_NEIGHBOURS = 6, TOMO_MESH_SUPPORT = 40, TOMO_MESH_FREQUENCY_MAX = 512 };

/* Builds a mesh, owned by the caller.
 *   frequency  [in]   1 .. TOMO_MESH_FREQUENCY_MAX
 * Errors: OSLA_ERR_ARG, OSLA_ERR_MEM. Memory: about 150 bytes per knot. */
osla_err tomo_mesh_create(int frequency, tomo_mesh **mesh);
/* destroys *mesh and sets it to NULL; does nothing if *mesh is NULL */
void tomo_mesh_destroy(tomo_mesh **mesh);

/* Number of knots of a frequency, without building the mesh. */
int64_t tomo_mesh_knots_of(int frequency);

int64_t tomo_mesh_knots(const tomo_mesh *mesh);

/* Mean distance of neighbouring knots, radians. */
double tomo_mesh_spacing(const tomo_mesh *mesh);

/* Compares two indices of knots (int32_t), for qsort. */
int tomo_compare_knots(const void *left, const void *right);

/* Unit vector of a knot, owned by the mesh. */
const double *tomo_mesh_knot(const tomo_mesh *mesh, int64_t knot);

/* Sets *neighbour to the ascending list of a knot's neighbours, which the mesh owns. Returns their
 * number, 5 or 6. */
int tomo_mesh_neighbours(const tomo_mesh *mesh, int64_t knot, const int32_t **neighbours);

/* Triangles between the knots of a mesh. Each has three knots, anticlockwise seen from outside, the
 * lowest first; triangles are ordered by their lowest knot. The number of triangles is 2 * knots -
 * 4.
 *   triangle  [out]  [number of triangles] */
int64_t tomo_mesh_count_triangles(int64_t knots);
void tomo_mesh_triangles(const tomo_mesh *mesh, int32_t (*triangle)[3]);

/* Evaluates the basis at a point: the knots (not sorted) whose function is not zero there, and the
 * functions' values, which add up to 1. Returns the number of knots, 1 .. TOMO_MESH_SUPPORT.
 *   v       [in]   unit vector
 *   knot    [out]  TOMO_MESH_SUPPORT
 *   weight  [out]  TOMO_MESH_SUPPORT */
int tomo_mesh_basis(const tomo_mesh *mesh, const double v[3], int32_t *knot, double *weight);

#endif
