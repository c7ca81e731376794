/* Wrong arguments of PBLAS routines. The program defines PB_Cabort, as ScaLAPACK's testers do: it
 * records the error that the real routine reports, so that one run checks all calls. Each process
 * prints a line for each call. */
#include "tests/adaptors/dropin_program.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 40, LLD = 8 };

static int reported; /* value of `info` that PB_Cabort received in the current call */

/* The real library calls PB_Cabort with info = minus the number of the wrong argument. */
void PB_Cabort(int number, const char *routine, int info);
void PB_Cabort(int number, const char *routine, int info)
{
  (void)number, (void)routine;
  reported = info;
}

/* A product with one changed entry in B's descriptor. entry: index of this entry, or negative if no
 * entry is changed. */
static void gemm(const context *c, const char *what, char trans, int m, int i, int entry, int value)
{
  array a = array_make(c, 'd', SIZE, SIZE, NULL), b = array_make(c, 'd', SIZE, SIZE, NULL);
  array x = array_make(c, 'd', SIZE, SIZE, NULL);
  const double one = 1;
  int n = SIZE;
  if (entry >= 0) b.desc[entry] = value;
  reported = 0;
  pdgemm_(&trans, "N", &m, &n, &n, &one, a.at, &i, &a.j, a.desc, b.at, &b.i, &b.j, b.desc, &one,
          x.at, &x.i, &x.j, x.desc);
  printf("%s: (%d,%d) of %dx%d: %d, result %016llx\n", what, c->prow, c->pcol, c->nprow, c->npcol,
         reported, (unsigned long long)array_hash(c, &x));
  array_free(&a);
  array_free(&b);
  array_free(&x);
}

static void others(const context *c)
{
  array a = array_make(c, 'd', SIZE, SIZE, NULL), x = array_make(c, 'd', SIZE, SIZE, &a);
  const double one = 1;
  int n = SIZE, none = -1;
  reported = 0;
  pdsyrk_("X", "N", &n, &n, &one, a.at, &a.i, &a.j, a.desc, &one, x.at, &x.i, &x.j, x.desc);
  printf("syrk uplo: (%d,%d) %d\n", c->prow, c->pcol, reported);
  reported = 0;
  pdtrsm_("L", "L", "N", "X", &n, &n, &one, a.at, &a.i, &a.j, a.desc, x.at, &x.i, &x.j, x.desc);
  printf("trsm diag: (%d,%d) %d\n", c->prow, c->pcol, reported);
  reported = 0;
  pdgeadd_("T", &none, &n, &one, a.at, &a.i, &a.j, a.desc, &one, x.at, &x.i, &x.j, x.desc);
  printf("geadd m: (%d,%d) %d\n", c->prow, c->pcol, reported);
  array_free(&a);
  array_free(&x);
}

int main(int argc, char **argv)
{
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  context c = context_make("R", 1, size);
  gemm(&c, "right", 'N', SIZE, 1, -1, 0);
  gemm(&c, "trans", 'X', SIZE, 1, -1, 0);
  gemm(&c, "m < 0", 'N', -1, 1, -1, 0);
  gemm(&c, "m = 0", 'N', 0, 1, -1, 0);
  gemm(&c, "ia = 0", 'N', SIZE, 0, -1, 0);
  gemm(&c, "ia too large", 'N', SIZE, 1000, -1, 0);
  gemm(&c, "type", 'N', SIZE, 1, 0, 77);
  gemm(&c, "context", 'N', SIZE, 1, 1, c.number + 1);
  gemm(&c, "rows", 'N', SIZE, 1, 2, -1);
  gemm(&c, "block", 'N', SIZE, 1, 5, 0);
  gemm(&c, "source", 'N', SIZE, 1, 6, 1);
  gemm(&c, "lld", 'N', SIZE, 1, LLD, 1);
  others(&c);
  context_free(&c);
  MPI_Finalize();
  return 0;
}
