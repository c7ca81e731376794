/* A sweep of one's own, in lock-step or without waiting: doc/asynchronous.md. Solves the equation
 * -u'' + u = 1 on a line of N points, u = 0 at both ends, by Jacobi's method.
 * Usage: mpiexec -n RANKS asynchronous [sync|async|racy] */
#include <mpi.h>
#include <osla.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 200 };

static void check(osla_err err)
{
  if (err == OSLA_OK) return;
  osla_log(-1, "%s", osla_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* My points are x[1] to x[n]; x[0] and x[n + 1] are a neighbour's, or the ends. */
typedef struct line {
  int64_t n;
  int n_halos;
  osla_halo halos[2];
  int at[2]; /* of each halo: 0 at the left, 1 at the right */
} line;

static double sweep(void *arg, double omega, const double *x, double *y)
{
  const line *l = arg;
  const double h = 1.0 / (N + 1), diagonal = 2.0 / (h * h) + 1.0;
  double squares = 0.0;
  for (int64_t i = 1; i <= l->n; i++) {
    const double residual = 1.0 + (x[i - 1] + x[i + 1]) / (h * h) - diagonal * x[i];
    y[i] = x[i] + omega * residual / diagonal;
    squares += residual * residual;
  }
  return squares;
}

static void pack(void *arg, int k, const double *x, double *message)
{
  const line *l = arg;
  message[0] = l->at[k] == 0 ? x[1] : x[l->n];
}

static void unpack(void *arg, int k, const double *message, double *x)
{
  const line *l = arg;
  x[l->at[k] == 0 ? 0 : l->n + 1] = message[0];
}

int main(int argc, char **argv)
{
  int level, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  line l = {.n = N * (rank + 1) / size - N * rank / size};
  for (int side = 0; side < 2; side++) {
    const int peer = side == 0 ? rank - 1 : rank + 1;
    if (peer < 0 || peer == size) continue;
    l.at[l.n_halos] = side;
    l.halos[l.n_halos++] = (osla_halo){.peer = peer, .send = 1, .recv = 1};
  }
  osla_fixed_point problem = {.arg = &l,
                              .length = l.n + 2,
                              .n_halos = l.n_halos,
                              .halos = l.halos,
                              .sweep = sweep,
                              .pack = pack,
                              .unpack = unpack};
  osla_iterate_options options = {0};
  options.mode = argc > 1 && strcmp(argv[1], "sync") == 0   ? OSLA_ITERATE_SYNC
                 : argc > 1 && strcmp(argv[1], "racy") == 0 ? OSLA_ITERATE_RACY
                                                            : OSLA_ITERATE_ASYNC;
  osla_transport *transport;
  osla_iteration *iteration;
  osla_iterate_result result;
  double *x = calloc((size_t)l.n + 2, sizeof *x); /* the start, and the ends */
  check(osla_transport_create(MPI_COMM_WORLD, NULL, &transport));
  check(osla_iteration_create(transport, &problem, &options, &iteration));
  check(osla_iterate(iteration, x, &result));
  if (rank == 0)
    printf("%s: residual %.3g of %.3g, %.0f sweeps (%lld to %lld)\n",
           osla_iterate_end_name(result.end), result.residual, result.norm, result.mean,
           (long long)result.least, (long long)result.most);
  osla_iteration_destroy(&iteration);
  osla_transport_destroy(&transport);
  free(x);
  MPI_Finalize();
  return result.end == OSLA_ITERATE_CONVERGED ? 0 : 1;
}
