/* A distributed mesh, which the case migrate of star forests moves.
 *
 * The mesh is a periodic cube of N^3 hexahedra with N^3 vertices; cell (x, y, z) has the corners
 * (x, y, z) to (x + 1, y + 1, z + 1). Before the migration its cells and vertices are distributed
 * in one of three ways (Zhang et al. 2022, section 6.4): "seq", all on rank 0; "chunks", in even
 * blocks of their numbers, which are slabs in z; "rand", at random. After the migration the cells
 * are in slabs in x, or distributed by METIS, and each rank has the vertices of its cells. */
#ifndef MESH_H
#define MESH_H

#include "bench/bench.h"

typedef enum mesh_start { MESH_SEQ, MESH_CHUNKS, MESH_RAND, MESH_STARTS } mesh_start;
#define MESH_START_NAMES "seq,chunks,rand" /* in the order of mesh_start */

enum { MESH_CORNERS = 8, MESH_SPACE = 3 };

typedef struct mesh_cell {
  int64_t number, label, corner[MESH_CORNERS];
} mesh_cell;

typedef struct mesh_vertex {
  int64_t number, label;
  double place[MESH_SPACE];
} mesh_vertex;

/* This rank's part of a mesh. A vertex is on each rank that has a cell with this corner. */
typedef struct mesh_part {
  int64_t side; /* N: number of cells along a side of the cube */
  /* [N^3] rank of each cell after the migration; NULL if the cells are distributed in slabs in x;
   * borrowed */
  const int32_t *target;
  int64_t n_cells, n_vertices;
  mesh_cell *cell;
  mesh_vertex *vertex; /* vertices; sorted by number after the migration */
  /* [n_vertices] lowest rank that has the vertex; NULL before the migration */
  int64_t *owner;
} mesh_part;

/* Creates this rank's part before the migration. Local. Errors: MEM. */
osla_err mesh_start_create(osla_transport *transport, int64_t side, mesh_start start,
                           const int32_t *target, mesh_part *out);
void mesh_part_free(mesh_part *part);

/* Rank that gets a cell by the migration. Local. */
int mesh_final_rank(const mesh_part *part, int64_t cell, int ranks);

/* Lists the corners of the part's cells, each once, in ascending order; the caller frees the list.
 * Local. Errors: MEM. */
osla_err mesh_list_corners(const mesh_part *part, int64_t **out, int64_t *n);

/* *right := true if every cell and every owned vertex exists once, on the right rank, with the
 * right contents. Collective; all ranks get the same. */
osla_err mesh_check(osla_transport *transport, const mesh_part *part, bool *right);

/* Creates the list *target: [side^3] rank of each cell after the migration, chosen by METIS on rank
 * 0 so that most cells that share a face are on one rank. All ranks get equal lists. Simulated
 * ranks share one list, because a list for each of thousands of ranks would not fit into memory.
 * Collective. Errors, on all ranks together: UNSUPPORTED, MEM, MPI. (mesh_partition.c) */
osla_err mesh_partition_create(bench_job *job, int64_t side, int32_t **target);
void mesh_partition_free(const bench_job *job, int32_t **target);

#endif
