/* -u'' + u = 1 on a line of N points, u = 0 at both ends, by Jacobi's method, in lock-step or
 * without waiting: doc/asynchronous.md. Usage: mpiexec -n RANKS asynchronous [sync|async|racy] */
#include <osla.h>
#include <stdio.h>
#include <stdlib.h>

/* Mine: x[1] to x[n]; x[0] and x[n + 1] are neighbours', or the ends. Side of halo 0: 1 right. */
typedef struct line {
  int64_t n, first;
} line;
enum { N = 200 };

static double sweep(void *mine, double omega, const double *x, double *y)
{
  const double h = 1.0 / (N + 1), diagonal = 2.0 / (h * h) + 1.0;
  double squares = 0.0;
  for (int64_t i = 1; i <= ((line *)mine)->n; i++) {
    const double residual = 1.0 + (x[i - 1] + x[i + 1]) / (h * h) - diagonal * x[i];
    y[i] = x[i] + omega * residual / diagonal;
    squares += residual * residual;
  }
  return squares;
}

static void pack(void *mine, int halo, const double *x, double *message)
{
  const line *l = mine;
  *message = x[l->first + halo == 0 ? 1 : l->n];
}

static void unpack(void *mine, int halo, const double *message, double *x)
{
  const line *l = mine;
  x[l->first + halo == 0 ? 0 : l->n + 1] = *message;
}

int main(int argc, char **argv)
{
  int level, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  line mine = {.n = N * (rank + 1) / size - N * rank / size, .first = rank == 0};
  const osla_halo halos[2] = {{.peer = rank - 1, .send = 1, .recv = 1},
                              {.peer = rank + 1, .send = 1, .recv = 1}};
  const osla_fixed_point problem = {.arg = &mine,
                                    .length = mine.n + 2,
                                    .n_halos = (rank > 0) + (rank < size - 1),
                                    .halos = halos + mine.first,
                                    .sweep = sweep,
                                    .pack = pack,
                                    .unpack = unpack};
  osla_iterate_options options = {0};
  if (argc > 1 && argv[1][0] == 's') options.mode = OSLA_ITERATE_SYNC;
  if (argc > 1 && argv[1][0] == 'r') options.mode = OSLA_ITERATE_RACY;
  osla_transport *transport = NULL;
  osla_iteration *iteration = NULL;
  osla_iterate_result result = {.end = OSLA_ITERATE_SWEEPS};
  double *x = calloc((size_t)mine.n + 2, sizeof *x); /* the start, and the ends */
  osla_err err = osla_transport_create(MPI_COMM_WORLD, NULL, &transport);
  if (err == OSLA_OK) err = osla_iteration_create(transport, &problem, &options, &iteration);
  if (err == OSLA_OK) err = osla_iterate(iteration, x, &result);
  if (err != OSLA_OK)
    fprintf(stderr, "%s\n", osla_error_text());
  else if (rank == 0)
    printf("%s: residual %.3g, %.0f sweeps\n", osla_iterate_end_name(result.end), result.residual,
           result.mean);
  osla_iteration_destroy(&iteration);
  osla_transport_destroy(&transport);
  free(x);
  MPI_Finalize();
  return result.end == OSLA_ITERATE_CONVERGED ? 0 : 1;
}
