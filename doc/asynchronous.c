/* Solves 2.01 x[i] - x[i - 1] - x[i + 1] = 1 on a line with x = 0 at both ends, by Jacobi's method
 * in lock-step (sync) or without waiting (async, racy). doc/asynchronous.md explains this program.
 * Usage: mpiexec -n RANKS asynchronous [sync|async|racy] */
#include <osla.h>
#include <stdio.h>

/* points of a rank: x[1] to x[N]; x[0] and x[N + 1] belong to neighbours or are ends of the line */
enum { N = 200 };

static double sweep(void *rank, double omega, const double *x, double *y)
{
  double squares = 0.0;
  (void)rank;
  for (int i = 1; i <= N; i++) {
    const double residual = 1.0 + x[i - 1] + x[i + 1] - 2.01 * x[i];
    y[i] = x[i] + omega * residual / 2.01;
    squares += residual * residual;
  }
  return squares;
}

/* Halo 0 belongs to the left neighbour, or on rank 0, which has none, to the right neighbour. */
static void pack(void *rank, int halo, const double *x, double *message)
{
  *message = x[halo == 0 && *(int *)rank > 0 ? 1 : N];
}

static void unpack(void *rank, int halo, const double *message, double *x)
{
  x[halo == 0 && *(int *)rank > 0 ? 0 : N + 1] = *message;
}

int main(int argc, char **argv)
{
  int level, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const osla_halo halos[2] = {{.peer = rank - 1, .send = 1, .recv = 1},
                              {.peer = rank + 1, .send = 1, .recv = 1}};
  osla_fixed_point problem = {.length = N + 2, .sweep = sweep, .pack = pack, .unpack = unpack};
  problem.arg = &rank; /* the first argument of sweep, pack and unpack */
  problem.n_halos = (rank > 0) + (rank < size - 1);
  problem.halos = halos + (rank == 0);
  osla_iterate_options options = {0};
  if (argc > 1 && argv[1][0] == 's') options.mode = OSLA_ITERATE_SYNC;
  if (argc > 1 && argv[1][0] == 'r') options.mode = OSLA_ITERATE_RACY;
  osla_transport *transport = NULL;
  osla_iteration *iteration = NULL;
  osla_iterate_result r = {.end = OSLA_ITERATE_SWEEPS};
  double x[N + 2] = {0}; /* start values, and 0 at the ends of the line */
  osla_err err = osla_transport_create(MPI_COMM_WORLD, NULL, &transport);
  if (err == OSLA_OK) err = osla_iteration_create(transport, &problem, &options, &iteration);
  if (err == OSLA_OK) err = osla_iterate(iteration, x, &r);
  if (err != OSLA_OK) fprintf(stderr, "%s\n", osla_error_text());
  if (err == OSLA_OK && rank == 0)
    printf("%s: residual %.3g, %.0f sweeps\n", osla_iterate_end_name(r.end), r.residual, r.mean);
  osla_iteration_destroy(&iteration);
  osla_transport_destroy(&transport);
  MPI_Finalize();
  return r.end == OSLA_ITERATE_CONVERGED ? 0 : 1;
}
