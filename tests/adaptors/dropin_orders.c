/* A ScaLAPACK program without OSLA: products in more contexts than the drop-in caches. Every
 * second process closes the contexts in another order. BLACS does not wait when a context is
 * closed, so the drop-in must not wait, either. */
#include "tests/adaptors/dropin_program.h"

#include <stdio.h>

enum { CONTEXTS = 10, TIMES = 3, N = 120 };

static void multiply(const context *c)
{
  const int n = N;
  const double alpha = 1.0, beta = 0.0;
  array a = array_make(c, 'd', n, n, NULL), b = array_make(c, 'd', n, n, NULL);
  array x = array_make(c, 'd', n, n, NULL);
  for (int i = 0; i < TIMES; i++)
    pdgemm_("T", "N", &n, &n, &n, &alpha, a.at, &a.i, &a.j, a.desc, b.at, &b.i, &b.j, b.desc, &beta,
            x.at, &x.i, &x.j, x.desc);
  array_free(&a);
  array_free(&b);
  array_free(&x);
}

int main(int argc, char **argv)
{
  int rank, size;
  context c[CONTEXTS];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int k = 0; k < CONTEXTS; k++) {
    c[k] = context_make("R", 1, size);
    multiply(&c[k]);
  }
  for (int k = 0; k < CONTEXTS; k++)
    context_free(&c[rank % 2 ? CONTEXTS - 1 - k : k]);
  if (rank == 0) printf("left\n");
  MPI_Finalize();
  return 0;
}
