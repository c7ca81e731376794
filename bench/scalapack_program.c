/* A plain ScaLAPACK program that times pdgemm, pdsyrk, pdtrsm, factorisations and solves. It uses
 * nothing of OSLA: bench/scalapack_table runs it with and without the drop-in. Process 0 prints a
 * line for each repetition: routine, n, nb, nprow, npcol, repetition, seconds, checksum. The time
 * is that of the slowest process; the checksum is the largest magnitude in a part of the result,
 * which shows that both libraries computed the same. getrs=NRHS and potrs=NRHS have NRHS right-hand
 * sides. symm-s, symm-c and symm-z are symm of the other types. */
#include "bench/scalapack_calls.h"

#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int one = 1, zero = 0;

typedef struct problem {
  int n, nb, nprow, npcol, prow, pcol, context;
  int rows, cols, lld, desc[9];
  double *a, *b, *c;
  int *ipiv;
} problem;

/* A number in [-1/2, 1/2) that is a function of the indices. */
static double element(int i, int j)
{
  unsigned x = (unsigned)i * 2654435761u ^ ((unsigned)j * 40503u + 977u);
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return (double)(x % 65536u) / 65536.0 - 0.5;
}

/* Fills a matrix. If it is symmetric, it has n on the diagonal, which suits every factorisation;
 * otherwise it needs pivots, as a matrix for LU. */
static void fill(const problem *p, int is_symmetric, double *local)
{
  for (int c = 0; c < p->cols; c++)
    for (int r = 0; r < p->rows; r++) {
      int i = (r / p->nb * p->nprow + p->prow) * p->nb + r % p->nb;
      int j = (c / p->nb * p->npcol + p->pcol) * p->nb + c % p->nb;
      local[(size_t)r + (size_t)c * (size_t)p->lld] =
        is_symmetric ? (i < j ? element(i, j) : element(j, i)) + (i == j ? p->n : 0)
                     : element(i, j);
    }
}

/* Letter of the routine's type: s, c or z for symm-s, symm-c or symm-z, and d for all other
 * routines. */
static char type_of(const char *routine)
{
  const char *at = strncmp(routine, "symm-", 5) == 0 ? strpbrk(routine + 5, "scz") : NULL;
  return at && at == routine + 5 ? *at : 'd';
}

/* Converts the doubles of an array in place to another type. For complex types the imaginary part
 * is half of the real part. */
static void convert(const problem *p, char type, double *local)
{
  const size_t n = (size_t)p->lld * (size_t)p->cols;
  for (size_t i = 0; i < n && type != 'd'; i++) {
    /* in this order no element is overwritten before it is read */
    const size_t at = type == 'z' ? n - 1 - i : i;
    const double x = local[at];
    if (type == 's')
      memcpy((float *)(void *)local + at, &(float){(float)x}, sizeof(float));
    else if (type == 'c')
      memcpy(local + at, &(float _Complex){(float)x + 0.5f * (float)x * I}, sizeof(float _Complex));
    else
      memcpy(local + 2 * at, &(double _Complex){x + 0.5 * x * I}, sizeof(double _Complex));
  }
}

/* Real part of element i of an array. */
static double number(const double *local, char type, size_t i)
{
  float x;
  if (type == 'd' || type == 'z') return local[type == 'z' ? 2 * i : i];
  memcpy(&x, (const float *)(const void *)local + (type == 'c' ? 2 * i : i), sizeof x);
  return x;
}

static int other_symm(const problem *p, char type)
{
  const float s[2] = {1, 0};
  const double z[2] = {1, 0}, zeros[2] = {0, 0};
  if (type == 's')
    pssymm_("L", "L", &p->n, &p->n, s, p->a, &one, &one, p->desc, p->b, &one, &one, p->desc, zeros,
            p->c, &one, &one, p->desc);
  else if (type == 'c')
    pcsymm_("L", "L", &p->n, &p->n, s, p->a, &one, &one, p->desc, p->b, &one, &one, p->desc, zeros,
            p->c, &one, &one, p->desc);
  else if (type == 'z')
    pzsymm_("L", "L", &p->n, &p->n, z, p->a, &one, &one, p->desc, p->b, &one, &one, p->desc, zeros,
            p->c, &one, &one, p->desc);
  return type != 'd';
}

/* Calls a routine that multiplies with a matrix of which one triangle is stored. Returns 0 if
 * `routine` is no such routine. */
static int triangle(const problem *p, const char *routine)
{
  const double alpha = 1, beta = 0;
  const char *side = strstr(routine, "-right") ? "R" : "L";
  if (other_symm(p, type_of(routine))) return 1;
  if (strncmp(routine, "symm", 4) == 0)
    pdsymm_(side, "L", &p->n, &p->n, &alpha, p->a, &one, &one, p->desc, p->b, &one, &one, p->desc,
            &beta, p->c, &one, &one, p->desc);
  else if (strncmp(routine, "trmm", 4) == 0)
    pdtrmm_(side, "L", "N", "N", &p->n, &p->n, &alpha, p->a, &one, &one, p->desc, p->c, &one, &one,
            p->desc);
  else
    return 0;
  return 1;
}

/* Solves with the factors in p->a, which prepare has computed. */
static int solve(const problem *p, const char *routine)
{
  int nrhs = atoi(routine + 6), info = 0;
  if (nrhs > p->n) return -1;
  if (*routine == 'g')
    pdgetrs_("N", &p->n, &nrhs, p->a, &one, &one, p->desc, p->ipiv, p->c, &one, &one, p->desc,
             &info, 1);
  else
    pdpotrs_("L", &p->n, &nrhs, p->a, &one, &one, p->desc, p->c, &one, &one, p->desc, &info, 1);
  return info;
}

static int prepare(const problem *p, const char *routine)
{
  int info = 0;
  fill(p, strcmp(routine, "getrf") != 0 && strncmp(routine, "getrs=", 6) != 0, p->a);
  if (strncmp(routine, "getrs=", 6) == 0)
    pdgetrf_(&p->n, &p->n, p->a, &one, &one, p->desc, p->ipiv, &info);
  if (strncmp(routine, "potrs=", 6) == 0) pdpotrf_("L", &p->n, p->a, &one, &one, p->desc, &info, 1);
  return info;
}

static int call(const problem *p, const char *routine)
{
  const double alpha = 1, beta = 0;
  int info = 0;
  if (triangle(p, routine)) return 0;
  if (strcmp(routine, "gemm") == 0)
    pdgemm_("N", "N", &p->n, &p->n, &p->n, &alpha, p->a, &one, &one, p->desc, p->b, &one, &one,
            p->desc, &beta, p->c, &one, &one, p->desc);
  else if (strcmp(routine, "gemm-update") == 0) /* the inner size is nb, as in a factorisation */
    pdgemm_("N", "N", &p->n, &p->n, &p->nb, &alpha, p->a, &one, &one, p->desc, p->b, &one, &one,
            p->desc, &alpha, p->c, &one, &one, p->desc);
  else if (strcmp(routine, "gemm-narrow") == 0) /* the result has nb columns */
    pdgemm_("N", "N", &p->n, &p->nb, &p->n, &alpha, p->a, &one, &one, p->desc, p->b, &one, &one,
            p->desc, &beta, p->c, &one, &one, p->desc);
  else if (strcmp(routine, "syrk") == 0)
    pdsyrk_("L", "N", &p->n, &p->n, &alpha, p->a, &one, &one, p->desc, &beta, p->c, &one, &one,
            p->desc);
  else if (strcmp(routine, "trsm") == 0)
    pdtrsm_("L", "L", "N", "N", &p->n, &p->n, &alpha, p->a, &one, &one, p->desc, p->c, &one, &one,
            p->desc);
  else if (strcmp(routine, "trsm-right") == 0)
    pdtrsm_("R", "L", "T", "N", &p->n, &p->n, &alpha, p->a, &one, &one, p->desc, p->c, &one, &one,
            p->desc);
  else if (strcmp(routine, "geadd") == 0)
    pdgeadd_("T", &p->n, &p->n, &alpha, p->a, &one, &one, p->desc, &beta, p->c, &one, &one,
             p->desc);
  else if (strcmp(routine, "getrf") == 0)
    pdgetrf_(&p->n, &p->n, p->c, &one, &one, p->desc, p->ipiv, &info);
  else if (strcmp(routine, "potrf") == 0)
    pdpotrf_("L", &p->n, p->c, &one, &one, p->desc, &info, 1);
  else if (strcmp(routine, "potrf-upper") == 0)
    pdpotrf_("U", &p->n, p->c, &one, &one, p->desc, &info, 1);
  else if (strncmp(routine, "getrs=", 6) == 0 || strncmp(routine, "potrs=", 6) == 0)
    info = solve(p, routine);
  else
    info = -1;
  return info;
}

static int run(problem *p, const char *routine, int reps)
{
  const char type = type_of(routine);
  int bad = prepare(p, routine);
  fill(p, 1, p->b);
  convert(p, type, p->a);
  convert(p, type, p->b);
  for (int rep = 0; rep < reps && !bad; rep++) {
    fill(p, strcmp(routine, "getrf") != 0, p->c);
    convert(p, type, p->c);
    MPI_Barrier(MPI_COMM_WORLD);
    double since = MPI_Wtime();
    bad = call(p, routine) != 0;
    double seconds = MPI_Wtime() - since, largest = 0;
    for (int r = 0; r < p->rows && p->cols > 0; r++)
      largest = fmax(largest, fabs(number(p->c, type, (size_t)r)));
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (p->prow == 0 && p->pcol == 0)
      printf("%s %d %d %d %d %d %.6f %.12g\n", routine, p->n, p->nb, p->nprow, p->npcol, rep,
             seconds, largest);
  }
  return bad;
}

int main(int argc, char **argv)
{
  problem p = {0};
  int info = 0, bad;
  if (argc < 7) {
    fprintf(stderr,
            "usage: %s N NB NPROW NPCOL REPS ROUTINE... (gemm gemm-update gemm-narrow syrk symm "
            "symm-right symm-s symm-c symm-z trmm trmm-right trsm trsm-right geadd getrf potrf "
            "potrf-upper getrs=NRHS "
            "potrs=NRHS)\n",
            argv[0]);
    return 2;
  }
  MPI_Init(&argc, &argv);
  p.n = atoi(argv[1]);
  p.nb = atoi(argv[2]);
  Cblacs_get(-1, 0, &p.context);
  Cblacs_gridinit(&p.context, "R", atoi(argv[3]), atoi(argv[4]));
  Cblacs_gridinfo(p.context, &p.nprow, &p.npcol, &p.prow, &p.pcol);
  p.rows = numroc_(&p.n, &p.nb, &p.prow, &zero, &p.nprow);
  p.cols = numroc_(&p.n, &p.nb, &p.pcol, &zero, &p.npcol);
  p.lld = p.rows > 1 ? p.rows : 1;
  descinit_(p.desc, &p.n, &p.n, &p.nb, &p.nb, &zero, &zero, &p.context, &p.lld, &info);
  size_t bytes = (size_t)p.lld * (size_t)(p.cols + 1) * sizeof(double _Complex);
  p.a = malloc(bytes);
  p.b = malloc(bytes);
  p.c = malloc(bytes);
  p.ipiv = malloc(((size_t)p.rows + (size_t)p.nb + 1) * sizeof(int));
  bad = info != 0 || !p.a || !p.b || !p.c || !p.ipiv;
  for (int i = 6; i < argc && !bad; i++)
    bad = run(&p, argv[i], atoi(argv[5]));
  if (bad) fprintf(stderr, "%s: wrong argument, no memory, or a routine failed\n", argv[0]);
  free(p.a);
  free(p.b);
  free(p.c);
  free(p.ipiv);
  Cblacs_gridexit(p.context);
  MPI_Finalize();
  return bad;
}
