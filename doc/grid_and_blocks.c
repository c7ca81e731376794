/* Makes the grid of the command line, computes the memory that a matrix needs, and times a
 * factorisation. doc/grid_and_blocks.md shows the main part of this program.
 *
 *   mpiexec -n RANKS grid_and_blocks N [NB [P Q]] */
#include <mpi.h>
#include <osla.h>
#include <stdio.h>
#include <stdlib.h>

static void check(osla_err err)
{
  if (err == OSLA_OK) return;
  osla_log(-1, "%s", osla_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double factor(osla_grid *grid, int64_t n, int64_t nb)
{
  osla_transport *transport = osla_grid_transport(grid);
  osla_matrix *A;
  int64_t info;
  check(osla_matrix_create(grid, OSLA_DOUBLE, n, n, nb, nb, &A));
  check(osla_matrix_fill(A, OSLA_FILL_SPD, 1));
  check(osla_barrier(transport));
  double start = osla_clock();
  check(osla_potrf(OSLA_LOWER, A, NULL, &info));
  double seconds = osla_clock() - start;
  osla_matrix_destroy(&A);
  check(osla_allreduce(transport, &seconds, 1, MPI_DOUBLE, MPI_MAX));
  return info == 0 ? seconds : -1.0;
}

int main(int argc, char **argv)
{
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int64_t n = argc > 1 ? atoll(argv[1]) : 2000, nb = argc > 2 ? atoll(argv[2]) : OSLA_DEFAULT_BLOCK;
  int p = argc > 4 ? atoi(argv[3]) : 0, q = argc > 4 ? atoi(argv[4]) : 0;
  osla_transport *transport;
  osla_grid *grid;

  check(osla_transport_create(MPI_COMM_WORLD, NULL, &transport));
  if (p == 0)
    check(osla_grid_create(transport, 0, 0, &grid)); /* OSLA chooses */
  else
    check(
      osla_grid_create_ordered(transport, p, q, osla_grid_choose_order(transport, p, q), &grid));

  osla_layout layout = {n, n, nb, nb, osla_grid_nprow(grid), osla_grid_npcol(grid)};
  uint64_t bytes = osla_matrix_bytes(&layout, OSLA_DOUBLE); /* most on one rank */
  check(osla_memory_check(transport, bytes));               /* fails if it does not fit */

  double seconds = factor(grid, n, nb);
  if (osla_transport_rank(transport) == 0)
    printf("grid %d x %d on %d nodes, blocks of %d: %.1f MiB a rank, Cholesky %.3f s\n",
           layout.nprow, layout.npcol, osla_transport_n_nodes(transport), (int)nb,
           (double)bytes / 1048576, seconds);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&transport);
  MPI_Finalize();
  return seconds < 0;
}
