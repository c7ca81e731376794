/* Distribution of a mesh's cells by METIS. */
#include "bench/graph_partition.h"
#include "bench/mesh.h"

#include <inttypes.h>
#include <stdlib.h>

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

/* Returns true if this rank has its own list of the cells' ranks. Simulated ranks run in one
 * process, so all of them read the list of rank 0. */
static bool has_list(const bench_job *job)
{
  return job->rank == 0 || !osla_simulated_machine();
}

static osla_err partition(int64_t side, int parts, int32_t *target)
{
  const int64_t all = side * side * side;
  graph_lists l;
  OSLA_CALL(graph_lists_create(all, 6 * all, &l));
  list_faces(side, &l);
  osla_err err = graph_partition(&l, parts, target);
  graph_lists_free(&l);
  return err;
}

osla_err mesh_partition_create(bench_job *job, int64_t side, int32_t **target)
{
  const int64_t all = side * side * side;
  int32_t *list = has_list(job) ? malloc((size_t)all * sizeof *list) : NULL;
  osla_err err = list || !has_list(job)
                   ? OSLA_OK
                   : osla_error_set(OSLA_ERR_MEM, "the ranks of %" PRId64 " cells", all);
  if (err == OSLA_OK && job->rank == 0) err = partition(side, job->size, list);
  err = osla_agree(job->transport, err);
  *target = list;
  if (err == OSLA_OK)
    err = osla_simulated_machine()
            ? osla_bcast(job->transport, target, (int)sizeof *target, MPI_BYTE, 0)
            : osla_bcast(job->transport, list, all, MPI_INT32_T, 0);
  if (err != OSLA_OK) {
    free(list);
    *target = NULL;
  }
  return err;
}

void mesh_partition_free(const bench_job *job, int32_t **target)
{
  if (has_list(job)) free(*target);
  *target = NULL;
}
