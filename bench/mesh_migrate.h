/* A mesh that moves to other ranks by star forests alone (Zhang et al. 2022, section 6.4, Fig. 11):
 * its cells with their corners and labels, and what its vertices need. (floor 4)
 *
 * The mesh is a periodic cube of N^3 hexahedra, with as many vertices; cell (x, y, z) has the
 * corners (x, y, z) to (x + 1, y + 1, z + 1). At first its cells and vertices lie
 *   seq     on rank 0
 *   chunks  in even blocks of their numbers: slabs in z
 *   rand    anywhere
 * and then cells lie in slabs in x, and with them the vertices of their corners. */
#ifndef MESH_MIGRATE_H
#define MESH_MIGRATE_H

#include "osla_forest.h"

typedef enum mesh_start { MESH_SEQ, MESH_CHUNKS, MESH_RAND, MESH_STARTS } mesh_start;

enum { MESH_CORNERS = 8, MESH_SPACE = 3 };

typedef struct mesh_cell {
  int64_t number, label, corner[MESH_CORNERS];
} mesh_cell;

typedef struct mesh_vertex {
  int64_t number, label;
  double place[MESH_SPACE];
} mesh_vertex;

/* This rank's part of a mesh. Shared vertices are on each rank that has cells of theirs. */
typedef struct mesh_part {
  int64_t side; /* N */
  int64_t n_cells, n_vertices;
  mesh_cell *cell;
  mesh_vertex *vertex; /* ascending by number when the mesh has moved */
  int64_t *owner;      /* [n_vertices] the lowest rank that has it; NULL before */
} mesh_part;

/* The part that this rank has at first. Local. Errors: MEM. */
osla_err mesh_start_create(osla_transport *transport, int64_t side, mesh_start start,
                           mesh_part *out);
void mesh_part_free(mesh_part *part);

/* To the slabs in x; *out is the caller's. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err mesh_migrate(osla_transport *transport, const mesh_part *from, mesh_part *out);

/* Is all there, once, where it belongs? Collective; the same on all ranks. */
osla_err mesh_check(osla_transport *transport, const mesh_part *part, bool *right);

#endif
