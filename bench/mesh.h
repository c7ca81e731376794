/* A mesh of which each rank has a part: what migrates in the case migrate of star forests. (floor
 * 4)
 *
 * The mesh is a periodic cube of N^3 hexahedra, with as many vertices; cell (x, y, z) has the
 * corners (x, y, z) to (x + 1, y + 1, z + 1). At first its cells and vertices lie
 *   seq     on rank 0
 *   chunks  in even blocks of their numbers: slabs in z
 *   rand    anywhere
 * and at last cells lie in slabs in x, or where METIS puts them, and with them the vertices of
 * their corners (Zhang et al. 2022, section 6.4). */
#ifndef MESH_H
#define MESH_H

#include "bench/bench.h"

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
  int64_t side;          /* N */
  const int32_t *target; /* [N^3] the rank of each cell at last; NULL: slabs in x; borrowed */
  int64_t n_cells, n_vertices;
  mesh_cell *cell;
  mesh_vertex *vertex; /* ascending by number when the mesh has moved */
  int64_t *owner;      /* [n_vertices] the lowest rank that has it; NULL before */
} mesh_part;

/* The part that this rank has at first. Local. Errors: MEM. */
osla_err mesh_start_create(osla_transport *transport, int64_t side, mesh_start start,
                           const int32_t *target, mesh_part *out);
void mesh_part_free(mesh_part *part);

/* The rank that has a cell at last. Local. */
int mesh_rank_at_last(const mesh_part *part, int64_t cell, int ranks);

/* The corners of the part's cells, ascending, each once; the caller frees them. Local. Errors: MEM.
 */
osla_err mesh_list_corners(const mesh_part *part, int64_t **out, int64_t *n);

/* Is all there, once, where it belongs? Collective; the same on all ranks. */
osla_err mesh_check(osla_transport *transport, const mesh_part *part, bool *right);

/* target[N^3], the same on all ranks: cells that share faces lie together (METIS, on rank 0).
 * Collective. Errors, on all ranks together: UNSUPPORTED, MEM, MPI. (mesh_partition.c) */
osla_err mesh_partition(bench_job *job, int64_t side, int32_t *target);

#endif
