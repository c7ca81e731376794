/* pdgemm, pdgetrf (with or without pivoting) or pdpotrf on a simulated machine, where all work is
 * only modelled (modelled_blas.c). The matrices of all ranks share one piece of memory. Prints
 * routine, n, nb, grid, ranks and the simulated seconds of the slowest rank. */
#include "bench/peers/peer.h"
#include "bench/scalapack_calls.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int one = 1, zero = 0;

static int call(const char *routine, int n, double *a, int *ipiv, const int *desc)
{
  const double alpha = 1, beta = 0;
  int info = 0;
  if (strcmp(routine, "gemm") == 0)
    pdgemm_("N", "N", &n, &n, &n, &alpha, a, &one, &one, desc, a, &one, &one, desc, &beta, a, &one,
            &one, desc);
  else if (strcmp(routine, "lu") == 0 || peer_no_pivoting)
    pdgetrf_(&n, &n, a, &one, &one, desc, ipiv, &info);
  else if (strcmp(routine, "chol") == 0)
    pdpotrf_("L", &n, a, &one, &one, desc, &info, 1);
  else
    info = -1;
  return info;
}

int main(int argc, char **argv)
{
  if (argc != 6) {
    (void)fprintf(stderr, "usage: %s gemm|lu|lu-nopivot|chol N NB NPROW NPCOL\n", argv[0]);
    return 2;
  }
  int n = atoi(argv[2]), nb = atoi(argv[3]), nprow = atoi(argv[4]), npcol = atoi(argv[5]);
  int context, prow, pcol, info = 0, desc[9];
  peer_process_rows = nprow; /* one variable of all ranks, as peer_process_columns */
  peer_process_columns = npcol;
  MPI_Init(&argc, &argv);
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "C", nprow, npcol);
  Cblacs_gridinfo(context, &nprow, &npcol, &prow, &pcol);
  int rows = numroc_(&n, &nb, &prow, &zero, &nprow), cols = numroc_(&n, &nb, &pcol, &zero, &npcol);
  int lld = rows > 1 ? rows : 1;
  descinit_(desc, &n, &n, &nb, &nb, &zero, &zero, &context, &lld, &info);
  size_t bytes = (size_t)lld * (size_t)(cols + 1) * sizeof(double);
  double *a = bytes <= BULK_BYTES ? bulk_memory() : NULL;
  int *ipiv = malloc(((size_t)lld + (size_t)nb) * sizeof *ipiv);
  if (!a || !ipiv || info != 0) {
    (void)fprintf(stderr, "%s: no memory for n = %d\n", argv[0], n);
    return 1;
  }
  peer_no_pivoting = strcmp(argv[1], "lu-nopivot") == 0; /* one variable of all ranks */
  MPI_Barrier(MPI_COMM_WORLD);
  double since = MPI_Wtime();
  info = call(argv[1], n, a, ipiv, desc);
  peer_report(argv[1], n, nb, nprow, npcol, MPI_Wtime() - since, info);
  MPI_Finalize();
  return 0;
}
