/* Private to tomo_mesh: vertices and neighbours of the divided icosahedron. */
#ifndef TOMO_ICOSAHEDRON_H
#define TOMO_ICOSAHEDRON_H

#include <stdint.h>

#include "apps/tomography/earth/tomo_mesh.h"

typedef struct icosahedron_vertex {
  double v[3]; /* unit vector */
  int32_t neighbour[TOMO_MESH_NEIGHBOURS];
  int32_t n_neighbours;
} icosahedron_vertex;

/* Fills vertex[0 .. 10 f^2 + 1], zeroed by the caller: 12 corners, then edges, then faces. */
void icosahedron_divide(int frequency, icosahedron_vertex *vertex);

#endif
