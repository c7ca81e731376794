/* Assembles H = sum of G^T G + I and a gradient g from synthetic data on any number of ranks, and
 * solves H x = g. README.md shows the main part of this program. */
#include <mpi.h>
#include <osla.h>
#include <stdio.h>

enum { N = 1000, COUNT = 20, DATA = 5 }; /* all unknowns; unknowns and data of one update */

static void check(osla_err err)
{
  if (err == OSLA_OK) return;
  osla_log(-1, "%s", osla_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Update i: the indices of its unknowns, G (DATA x COUNT, column-major), and its gradient. */
static void make_up(int64_t i, int64_t *ix, double *G, double *g)
{
  for (int64_t a = 0; a < COUNT; a++)
    ix[a] = (i + a * a) % N;
  for (int64_t e = 0; e < COUNT * DATA; e++)
    G[e] = osla_random_uniform(1, (uint64_t)i, (uint64_t)e);
  for (int64_t a = 0; a < COUNT; a++)
    g[a] = G[a * DATA];
}

static double element(int64_t i, int64_t j, void *vector)
{
  return j == 0 ? ((const double *)vector)[i] : 0.0;
}

int main(int argc, char **argv)
{
  int level, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  osla_transport *transport;
  osla_grid *grid;
  osla_hessian *hessian;
  osla_matrix *H, *x;
  int64_t ix[COUNT], info;
  double G[COUNT * DATA], g[COUNT], one = 1.0, largest;

  check(osla_transport_create(MPI_COMM_WORLD, NULL, &transport));
  check(osla_grid_create(transport, 0, 0, &grid)); /* collective */
  check(osla_hessian_create(grid, N, NULL, &hessian));
  for (int64_t i = rank; i < N; i += size) { /* the updates of this rank */
    make_up(i, ix, G, g);
    check(osla_hessian_update(hessian, COUNT, ix, DATA, G, DATA)); /* H[ix, ix] += G^T G */
    check(osla_hessian_update_gradient(hessian, COUNT, ix, g));    /* g[ix] += g */
    check(osla_hessian_update(hessian, 1, &i, 1, &one, 1));        /* H[i, i] += 1 */
  }
  check(osla_hessian_commit(hessian)); /* H is complete */

  check(osla_hessian_matrix(hessian, &H)); /* the accumulator's memory, not a copy */
  check(osla_matrix_create(grid, OSLA_DOUBLE, N, 1, osla_matrix_layout(H).nb, 1, &x));
  check(osla_matrix_fill_with(x, element, (void *)osla_hessian_gradient(hessian)));
  check(osla_potrf(OSLA_LOWER, H, NULL, &info)); /* H := L L^T; info > 0: not positive definite */
  check(osla_potrs(OSLA_LOWER, H, x));           /* x := H^-1 g */

  check(osla_matrix_norm(x, OSLA_NORM_MAX, &largest));
  if (rank == 0) printf("info %d, largest |x| %.9f\n", (int)info, largest);
  osla_matrix_destroy(&x);
  osla_hessian_destroy(&hessian);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&transport);
  MPI_Finalize();
  return info == 0 ? 0 : 1;
}
