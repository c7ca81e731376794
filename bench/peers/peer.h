/* Functions shared by the programs of this folder. */
#ifndef OSLA_PEER_H
#define OSLA_PEER_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Memory for matrices whose values are never read: BULK_BYTES bytes, which all ranks share
 * (own_globals.c). */
#define BULK_BYTES ((size_t)64 << 30)
void *bulk_memory(void);

/* True: pdgetrf does not pivot (no_pivoting.c). All ranks share the variable. */
extern bool peer_no_pivoting;

/* Shape of the process grid, which grid_split.c needs before Cblacs_gridinit. All ranks share the
 * variables. */
extern int peer_process_rows, peer_process_columns;

/* Prints the line that bench/scripts/study reads, with the time of the slowest rank. Collective. */
static inline void peer_report(const char *routine, int n, int nb, int nprow, int npcol,
                               double seconds, int info)
{
  int rank;
  double slowest;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("%s %d %d %dx%d %d %.6g simulated s, info %d\n", routine, n, nb, nprow, npcol,
           nprow * npcol, slowest, info);
}

#endif
