/* Creates and closes BLACS contexts, and computes products in them. Some contexts are used once.
 * Others form pairs, which are used in turn and are closed in a different order on each process.
 * Others leave processes out. Prints one line of bits for each product. At the end prints to stderr
 * how often process 0 determined its node, which the creation of a transport does once. */
#include "tests/adaptors/dropin_program.h"

#include <stdio.h>

/* number of calls of MPI_Comm_split_type, which neither BLACS nor ScaLAPACK makes */
static int looks;

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out)
{
  looks++;
  return PMPI_Comm_split_type(comm, type, key, info, out);
}

static void use(const context *c, int rank, int round)
{
  int n = 20 + round % 7;
  const double one = 1, two = 2;
  array a = array_make(c, 'd', n, n, NULL), b = array_make(c, 'd', n, n, NULL);
  array x = array_make(c, 'd', n, n, NULL);
  if (c->prow >= 0)
    pdgemm_("N", "T", &n, &n, &n, &two, a.at, &a.i, &a.j, a.desc, b.at, &b.i, &b.j, b.desc, &one,
            x.at, &x.i, &x.j, x.desc);
  uint64_t hash = array_hash(c, &x);
  if (rank == 0)
    printf("%d %d x %d: %016llx\n", round, c->nprow, c->npcol, (unsigned long long)hash);
  array_free(&a);
  array_free(&b);
  array_free(&x);
}

int main(int argc, char **argv)
{
  enum { ROUNDS = 12 };
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < ROUNDS; round++) {
    context once = context_make("R", 1, size);
    use(&once, rank, round);
    context_free(&once);
    context pair[2] = {context_make("R", round % 2 ? size : 1, round % 2 ? 1 : size),
                       context_make("R", 1, size)};
    for (int i = 0; i < 4; i++)
      use(&pair[i % 3 % 2], rank, round);
    if (size > 1) {
      context part = context_make("R", 1, size - 1);
      use(&part, rank, round);
      context_free(&part);
    }
    context_free(&pair[(round + rank) % 2]);
    context_free(&pair[(round + rank + 1) % 2]);
  }
  if (rank == 0) fprintf(stderr, "looks %d\n", looks);
  MPI_Finalize();
  return 0;
}
