/* Distribution of a mesh's cells by METIS. */
#include "bench/graph_partition.h"
#include "bench/mesh.h"

/* Lists for each cell the other cells that share a face with it, each only once. (In small cubes
 * the neighbours on opposite sides coincide.) */
static void list_faces(int64_t side, graph_lists *l)
{
  int64_t at = 0;
  for (int64_t i = 0; i < l->n; i++) {
    for (int64_t stride = 1; stride < l->n; stride *= side) {
      const int64_t place = i / stride % side;
      const int64_t up = i + ((place + 1) % side - place) * stride;
      const int64_t down = i + ((place + side - 1) % side - place) * stride;
      if (up != i) l->neighbour[at++] = up;
      if (down != i && down != up) l->neighbour[at++] = down;
    }
    l->first[i + 1] = at;
  }
}

osla_err mesh_partition(bench_job *job, int64_t side, int32_t *target)
{
  const int64_t all = side * side * side;
  graph_lists l = {0};
  osla_err err = job->rank == 0 ? graph_lists_create(all, 6 * all, &l) : OSLA_OK;
  if (err == OSLA_OK && job->rank == 0) {
    list_faces(side, &l);
    err = graph_partition(&l, job->size, target);
  }
  graph_lists_free(&l);
  OSLA_CALL(osla_agree(job->transport, err));
  return osla_bcast(job->transport, target, all, MPI_INT32_T, 0);
}
