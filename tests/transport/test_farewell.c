/* Transports on very many sets of ranks must leave communicators to the program (osla_farewell.h).
 * It is a program of its own, because the transports of other tests would cover all ranks first. */
#include "osla_farewell.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Tag of the messages in MPI_COMM_WORLD, see osla_farewell.h. */
enum { WORLD_TAG = 32749 };
static int n_world; /* number of messages sent in MPI_COMM_WORLD with that tag */

/* Replaces MPI's function, also for calls by the library, to count messages. */
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  if (comm == MPI_COMM_WORLD && tag == WORLD_TAG) n_world++;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

enum { MOST_COMMUNICATORS = 1 << 16, MOST_KEPT = 64, RANKS = 8, LARGEST_SET = 5 };

/* Number of communicators that this rank can still create. */
static int count_free(void)
{
  static MPI_Comm made[MOST_COMMUNICATORS];
  int n = 0;
  while (n < MOST_COMMUNICATORS && MPI_Comm_dup(MPI_COMM_SELF, &made[n]) == MPI_SUCCESS)
    n++;
  for (int i = 0; i < n; i++)
    (void)MPI_Comm_free(&made[i]);
  return n;
}

/* Calls osla_farewell_arrange for the ranks whose bits are set in `members`. */
static osla_err arrange(MPI_Group world, int members)
{
  int ranks[RANKS], n = 0;
  MPI_Group group;
  MPI_Comm comm;
  for (int rank = 0; rank < RANKS; rank++)
    if (members & 1 << rank) ranks[n++] = rank;
  MPI_Group_incl(world, n, ranks, &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, members, &comm);
  osla_err err = osla_farewell_arrange(comm);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  return err;
}

int main(int argc, char **argv)
{
  int rank, size, failed = 0;
  MPI_Group world;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_group(MPI_COMM_WORLD, &world);

  const int before = count_free();
  /* small sets first, so that no earlier set contains all ranks of a later one */
  for (int many = 2; many <= LARGEST_SET; many++)
    for (int members = 0; members < 1 << RANKS; members++)
      if (__builtin_popcount((unsigned)members) == many && members & 1 << rank)
        failed |= arrange(world, members) != OSLA_OK;
  const int kept = before - count_free();
  MPI_Group_free(&world);
  if (failed) fprintf(stderr, "%s\n", osla_error_text());
  MPI_Finalize();
  printf("rank %d: %d of %d communicators are kept, %d messages in MPI_COMM_WORLD\n", rank, kept,
         before, n_world);
  if (kept == 0 && !failed) {
    printf("no farewell is needed with this MPI\n");
    return 77;
  }
  failed |= kept > MOST_KEPT || n_world == 0;
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
