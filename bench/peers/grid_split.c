/* MPI_Comm_split as Cblacs_gridinit calls it: first for the process rows of a grid, then for its
 * process columns. SimGrid's MPI_Comm_split gathers one value of each rank on one rank, which takes
 * a core minutes on 10,000 ranks. Here each rank computes the members of its row or column from the
 * size of the grid. bench/peers/build links the calls of BLACS to this function (ld --wrap). */
#include "bench/peers/peer.h"

#include <stdlib.h>

int peer_process_rows, peer_process_columns;

int __wrap_MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out);

/* Returns whether this call of the rank is for process rows. Each Cblacs_gridinit calls
 * MPI_Comm_split twice, first for process rows and then for process columns, so the results of a
 * rank alternate and begin with true. */
static bool is_for_rows(int rank)
{
  static bool *is_odd; /* of each rank: it has made an odd number of calls */
  if (!is_odd) is_odd = calloc((size_t)peer_process_rows * (size_t)peer_process_columns, 1);
  if (!is_odd) abort();
  is_odd[rank] = !is_odd[rank];
  return is_odd[rank];
}

/* `color` is the number of the row or column, and `key` the index of this rank in it. The ranks of
 * `comm` are numbered along the rows of the grid. */
int __wrap_MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out)
{
  int rank;
  MPI_Group all, some;
  MPI_Comm_rank(comm, &rank);
  const bool rows = is_for_rows(rank);
  const int columns = peer_process_columns, n = rows ? columns : peer_process_rows;
  if (rank != (rows ? color * columns + key : key * columns + color)) abort();
  int *members = malloc((size_t)n * sizeof *members);
  if (!members) abort();
  for (int i = 0; i < n; i++)
    members[i] = rows ? color * columns + i : i * columns + color;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, n, members, &some);
  free(members);
  const int err = MPI_Comm_create(comm, some, out);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return err;
}
