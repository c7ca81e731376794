/* A ScaLAPACK program that also uses OSLA: computes C := A B by pdgemm, then by osla_gemm on the
 * memory of A and B, without copies. doc/scalapack.md shows the main part of this program. */
#include <math.h>
#include <mpi.h>
#include <osla.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 400, NB = 32 };

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int nprow, int npcol);
void Cblacs_gridinfo(int context, int *nprow, int *npcol, int *prow, int *pcol);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *nb, const int *iproc, const int *source, const int *nprocs);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb,
               const int *irsrc, const int *icsrc, const int *context, const int *lld, int *info);
void pdgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
             const double *alpha, const double *a, const int *ia, const int *ja, const int *desca,
             const double *b, const int *ib, const int *jb, const int *descb, const double *beta,
             double *c, const int *ic, const int *jc, const int *descc);

static void check(osla_err err)
{
  if (err == OSLA_OK) return;
  osla_log(-1, "%s", osla_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Computes C := A B by OSLA. The processes of the BLACS grid are all ranks of MPI_COMM_WORLD. */
static void multiply(int nprow, int npcol, int prow, int pcol, double *a, double *b, double *c,
                     int lld)
{
  osla_transport *transport;
  osla_grid *grid;
  osla_matrix *A, *B, *C;
  check(osla_transport_create(MPI_COMM_WORLD, NULL, &transport));
  check(osla_grid_create_at(transport, nprow, npcol, prow, pcol, &grid));
  check(osla_matrix_wrap(grid, OSLA_DOUBLE, N, N, NB, NB, a, lld, &A));
  check(osla_matrix_wrap(grid, OSLA_DOUBLE, N, N, NB, NB, b, lld, &B));
  check(osla_matrix_wrap(grid, OSLA_DOUBLE, N, N, NB, NB, c, lld, &C));
  check(
    osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, osla_whole(A), osla_whole(B), 0, osla_whole(C), NULL));
  osla_matrix_destroy(&A);
  osla_matrix_destroy(&B);
  osla_matrix_destroy(&C);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&transport);
}

int main(int argc, char **argv)
{
  const double one = 1, none = 0;
  const int n = N, nb = NB, first = 1, zero = 0;
  int rank, size, context, nprow, npcol, prow, pcol, desc[9], info;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "R", 1, size);
  Cblacs_gridinfo(context, &nprow, &npcol, &prow, &pcol);
  int rows = numroc_(&n, &nb, &prow, &zero, &nprow), cols = numroc_(&n, &nb, &pcol, &zero, &npcol);
  size_t count = (size_t)rows * (size_t)(cols + 1);
  double *a = malloc(count * sizeof *a), *b = malloc(count * sizeof *b);
  double *c = malloc(count * sizeof *c), *d = malloc(count * sizeof *d);
  if (!a || !b || !c || !d) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int l = 0; l < rows * cols; l++) {
    a[l] = (l + rank) % 7 - 3;
    b[l] = (l - rank) % 5 - 2;
  }
  descinit_(desc, &n, &n, &nb, &nb, &zero, &zero, &context, &rows, &info);

  pdgemm_("N", "N", &n, &n, &n, &one, a, &first, &first, desc, b, &first, &first, desc, &none, c,
          &first, &first, desc);
  multiply(nprow, npcol, prow, pcol, a, b, d, rows);

  double difference = 0;
  for (int l = 0; l < rows * cols; l++)
    difference = fmax(difference, fabs(c[l] - d[l]));
  MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("the products differ by %g\n", difference);
  free(a);
  free(b);
  free(c);
  free(d);
  Cblacs_gridexit(context);
  MPI_Finalize();
  return difference != 0;
}
