/* A defective MPI, to be preloaded (LD_PRELOAD): test_info.sh shows with it that `osla info` finds
 * the defect. The variable BROKEN_MPI names the defect:
 *   put       data of a put with a request arrive as zeroes, except a single word
 *   hang      a flush never returns
 *   window    MPI creates no window
 *   separate  windows have separate public and private copies
 *   letters   synchronous sends of rank 1 fail
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int broken(const char *fault)
{
  const char *chosen = getenv("BROKEN_MPI");
  return chosen && strcmp(chosen, fault) == 0;
}

int MPI_Rput(const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint disp,
             int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
  static const char zeroes[1 << 20];
  const void *source = broken("put") && count > 8 && count <= (int)sizeof zeroes ? zeroes : origin;
  return PMPI_Rput(source, count, type, rank, disp, target_count, target_type, win, request);
}

int MPI_Issend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request)
{
  int rank = 0;
  (void)PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (broken("letters") && rank == 1) return MPI_ERR_OTHER;
  return PMPI_Issend(buffer, count, type, to, tag, comm, request);
}

int MPI_Win_flush(int rank, MPI_Win win)
{
  while (broken("hang"))
    (void)sleep(1);
  return PMPI_Win_flush(rank, win);
}

int MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
  return broken("window") ? MPI_ERR_WIN : PMPI_Win_create(base, size, unit, info, comm, win);
}

int MPI_Win_get_attr(MPI_Win win, int key, void *value, int *found)
{
  static int separate = MPI_WIN_SEPARATE;
  int code = PMPI_Win_get_attr(win, key, value, found);
  if (broken("separate") && key == MPI_WIN_MODEL) *(int **)value = &separate;
  return code;
}
