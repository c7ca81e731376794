/* A Global Arrays program that uses OSLA's kernels: creates an array, adds to it by NGA_Acc from
 * all processes, factors it in place and solves. doc/global_arrays.md shows the main part. */
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <osla_ga.h>
#include <stdio.h>

/* N: number of unknowns. WIDTH: number of unknowns in one contribution. */
enum { N = 500, WIDTH = 10 };

static void check(osla_err err)
{
  if (err != OSLA_OK) GA_Error((char *)osla_error_text(), (int)err);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  check(osla_ga_initialize(1 << 20)); /* osla_ga_initialize replaces GA_Initialize and MA_init */

  int dims[2] = {N, N}, lengths[1] = {N};
  int g_a = NGA_Create(C_DBL, 2, dims, "A", NULL);
  int g_b = NGA_Create(C_DBL, 1, lengths, "b", NULL);
  double piece[WIDTH * WIDTH], one = 1;
  for (int k = 0; k < WIDTH * WIDTH; k++)
    piece[k] = k % (WIDTH + 1) == 0 ? WIDTH + 1 : 1; /* piece is a positive definite matrix */
  GA_Zero(g_a);
  GA_Fill(g_b, &one);
  /* the contributions are divided among the processes */
  for (int i = GA_Nodeid(); i <= N - WIDTH; i += GA_Nnodes()) {
    int low[2] = {i, i}, high[2] = {i + WIDTH - 1, i + WIDTH - 1}, ld = WIDTH;
    NGA_Acc(g_a, low, high, piece, &ld, &one);
  }

  int64_t info;
  check(osla_ga_potrf('l', g_a, &info)); /* A := L L^T, in the array's memory */
  check(osla_ga_potrs('l', g_a, g_b));   /* b := A^-1 b */

  double x;
  int first[1] = {0}, ld = 1;
  NGA_Get(g_b, first, first, &x, &ld);
  if (GA_Nodeid() == 0) printf("info %d, x[0] %.9f\n", (int)info, x);
  GA_Destroy(g_a);
  GA_Destroy(g_b);
  osla_ga_terminate(); /* osla_ga_terminate replaces GA_Terminate */
  MPI_Finalize();
  return info == 0 ? 0 : 1;
}
