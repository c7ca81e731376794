/* Vertices and neighbours of a divided icosahedron (private to tomo_mesh). */
#ifndef TOMO_ICOSAHEDRON_H
#define TOMO_ICOSAHEDRON_H

#include <stdint.h>

#include "apps/tomography/earth/tomo_mesh.h"

typedef struct icosahedron_vertex {
  double v[3]; /* position of the vertex, a unit vector */
  int32_t neighbour[TOMO_MESH_NEIGHBOURS];
  int32_t n_neighbours;
} icosahedron_vertex;

/* Fills vertex[0 .. 10 f^2 + 1], which the caller has set to zero, in the order corners, edges,
 * faces. */
void icosahedron_divide(int frequency, icosahedron_vertex *vertex);

#endif
