/* Times the functions of osla_ga.h and GA's own functions, in turn on the same arrays; the times
 * include OSLA's copies. Process 0 prints a line for each kernel: kernel, n, nb, median seconds of
 * OSLA, median seconds of GA, median of the ratios GA / OSLA. The kernel "potrf" compares OSLA's
 * factorisation of a copy with its factorisation in the array's own memory (OSLA_GA_IN_PLACE).
 * With nb > 0 the arrays have blocks of this size on a ScaLAPACK grid; with nb = 0 they have GA's
 * regular distribution. */
#include "osla_chol.h"
#include "osla_ga.h"

#include <ga.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NRHS = 1, MOST_TURNS = 101 };

typedef struct problem {
  int n, nb;
  int a, b, c, x; /* GA's handles of the matrices a, b, c and of the right-hand sides x */
} problem;

static void check(osla_err err)
{
  if (err != OSLA_OK) GA_Error((char *)osla_error_text(), (int)err);
}

static int make_array(const problem *p, int rows)
{
  int dims[2] = {rows, p->n}, block[2] = {p->nb, p->nb}, grid[2] = {1, GA_Nnodes()};
  int array = GA_Create_handle();
  GA_Set_data(array, 2, dims, C_DBL);
  if (p->nb > 0 && rows > 1) GA_Set_block_cyclic_proc_grid(array, block, grid);
  if (!GA_Allocate(array)) GA_Error("GA_Allocate", 1);
  return array;
}

/* Fills the arrays for a kernel: Cholesky needs a positive definite matrix. */
static void fill(const problem *p, const char *kernel)
{
  bool definite = strcmp(kernel, "llt") == 0 || strcmp(kernel, "potrf") == 0;
  double one = 1;
  osla_ga_matrix *m;
  check(osla_ga_matrix_create(p->a, OSLA_GA_SQUARE, &m));
  check(osla_matrix_fill(osla_ga_matrix_get(m), definite ? OSLA_FILL_SPD : OSLA_FILL_UNIFORM, 1));
  check(osla_ga_matrix_store(m));
  osla_ga_matrix_destroy(&m);
  GA_Copy(p->a, p->b);
  GA_Fill(p->x, &one);
}

static void factor(const problem *p, osla_ga_blocks blocks)
{
  osla_ga_matrix *m;
  int64_t info;
  check(osla_ga_matrix_create(p->a, blocks, &m));
  check(osla_potrf(OSLA_LOWER, osla_ga_matrix_get(m), NULL, &info));
  check(osla_ga_matrix_store(m));
  osla_ga_matrix_destroy(&m);
}

static void call(const problem *p, const char *kernel, int osla)
{
  int64_t info = 0;
  if (strcmp(kernel, "gemm") == 0 && osla)
    check(osla_ga_gemm('n', 'n', p->n, p->n, p->n, 1, p->a, p->b, 0, p->c));
  else if (strcmp(kernel, "gemm") == 0)
    GA_Dgemm64('n', 'n', p->n, p->n, p->n, 1, p->a, p->b, 0, p->c);
  else if (strcmp(kernel, "lu") == 0 && osla)
    check(osla_ga_lu_solve('n', p->a, p->x, &info));
  else if (strcmp(kernel, "lu") == 0)
    GA_Lu_solve('n', p->a, p->x);
  else if (strcmp(kernel, "llt") == 0 && osla)
    check(osla_ga_llt_solve(p->a, p->x, &info));
  else if (strcmp(kernel, "llt") == 0)
    info = GA_Llt_solve(p->a, p->x);
  else if (strcmp(kernel, "potrf") == 0)
    factor(p, osla ? OSLA_GA_SQUARE : OSLA_GA_IN_PLACE);
  else
    GA_Error("kernel is none of gemm lu llt potrf", 1);
  if (info != 0) GA_Error("not positive definite, or singular", (int)info);
}

static double seconds_of(const problem *p, const char *kernel, int osla)
{
  fill(p, kernel);
  GA_Sync();
  double since = MPI_Wtime();
  call(p, kernel, osla);
  double seconds = MPI_Wtime() - since;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

static int compare(const void *x, const void *y)
{
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

static double median(double *values, int count)
{
  qsort(values, (size_t)count, sizeof *values, compare);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void measure(const problem *p, const char *kernel, int turns)
{
  double osla[MOST_TURNS], others[MOST_TURNS], ratios[MOST_TURNS];
  (void)seconds_of(p, kernel, 1); /* the first calls allocate memory, so they are a warm-up */
  (void)seconds_of(p, kernel, 0);
  for (int turn = 0; turn < turns; turn++) {
    osla[turn] = seconds_of(p, kernel, 1);
    others[turn] = seconds_of(p, kernel, 0);
    ratios[turn] = others[turn] / osla[turn];
  }
  if (GA_Nodeid() == 0)
    printf("%s %d %d %.4f %.4f %.2f\n", kernel, p->n, p->nb, median(osla, turns),
           median(others, turns), median(ratios, turns));
}

int main(int argc, char **argv)
{
  problem p = {0};
  int turns = argc > 3 ? atoi(argv[3]) : 0;
  if (argc > 4) p = (problem){.n = atoi(argv[1]), .nb = atoi(argv[2])};
  if (p.n < 1 || p.nb < 0 || turns < 1 || turns > MOST_TURNS) {
    fprintf(stderr, "usage: %s N NB TURNS KERNEL... (gemm lu llt potrf; NB 0: regular)\n", argv[0]);
    return 2;
  }
  MPI_Init(&argc, &argv);
  check(osla_ga_initialize(4 * (int64_t)p.n * p.n + (1 << 20)));
  p.a = make_array(&p, p.n);
  p.b = make_array(&p, p.n);
  p.c = make_array(&p, p.n);
  p.x = make_array(&p, NRHS);
  for (int i = 4; i < argc; i++)
    measure(&p, argv[i], turns);
  osla_ga_terminate();
  MPI_Finalize();
  return 0;
}
