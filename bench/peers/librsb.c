/* Compares the local sparse product y := A x with that of librsb (recursive blocks of rows;
 * Martone, Efficient multithreaded untransposed, transposed or symmetric sparse matrix-vector
 * multiplication with the Recursive Sparse Blocks format, Parallel Computing 40 (2014)). Its matrix
 * is used twice: as created, and tuned for this product. All products run in turn in one process
 * with one thread.
 *
 *    cc -O2 -I . bench/peers/librsb.c -o librsb -lrsb -lm && OMP_NUM_THREADS=1 ./librsb
 *
 * Prints for each matrix: rows, entries, seconds of OSLA, of librsb and of librsb tuned (medians of
 * REPS), and the median ratios librsb / OSLA (above 1: OSLA is faster). */
#include "kernels/sparse/spmv_rows.h"

#include <math.h>
#include <rsb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPS = 15, WAYS = 3 };

typedef struct csr {
  int64_t n, entries, *first;
  int32_t *row, *column;
  double *value, *x, *y, *y_librsb;
} csr;

static double seconds(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *allocate(int64_t count, size_t size)
{
  void *memory = calloc((size_t)count + 1, size);
  if (!memory) exit((perror("librsb"), 1));
  return memory;
}

static void add(csr *a, int64_t i, int64_t j)
{
  a->row[a->entries] = (int32_t)i;
  a->column[a->entries] = (int32_t)j;
  a->value[a->entries++] = 1.0 / (double)(1 + i % 7 + j % 5);
}

static csr start(int64_t n, int64_t most)
{
  return (csr){.n = n,
               .first = allocate(n, sizeof(int64_t)),
               .row = allocate(most, sizeof(int32_t)),
               .column = allocate(most, sizeof(int32_t)),
               .value = allocate(most, sizeof(double)),
               .x = allocate(n, sizeof(double)),
               .y = allocate(n, sizeof(double)),
               .y_librsb = allocate(n, sizeof(double))};
}

/* Creates the matrix of a cube of points: each point has entries for itself and its neighbours (7
 * or 27 entries in a row, fewer at the boundary). */
static csr cube(int64_t side, bool diagonals)
{
  const int64_t n = side * side * side;
  csr a = start(n, 27 * n);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < 27; k++) {
      const int64_t dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
      const int64_t x = i % side + dx, y = i / side % side + dy, z = i / side / side + dz;
      if (!diagonals && dx * dx + dy * dy + dz * dz > 1) continue;
      if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side) continue;
      add(&a, i, (z * side + y) * side + x);
    }
    a.first[i + 1] = a.entries;
  }
  return a;
}

/* Creates a matrix with random columns, which are in ascending order in each row. */
static csr scattered(int64_t n, int64_t each)
{
  csr a = start(n, n * each);
  uint64_t state = 1;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < each; k++) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      add(&a, i, k * (n / each) + (int64_t)((state >> 33) % (uint64_t)(n / each)));
    }
    a.first[i + 1] = a.entries;
  }
  return a;
}

static struct rsb_mtx_t *librsb_matrix(const csr *a, bool tuned)
{
  rsb_err_t err = RSB_ERR_NO_ERROR;
  const double one = 1.0, zero = 0.0;
  struct rsb_mtx_t *m = rsb_mtx_alloc_from_coo_const(
    a->value, a->row, a->column, (rsb_nnz_idx_t)a->entries, RSB_NUMERICAL_TYPE_DOUBLE,
    (rsb_coo_idx_t)a->n, (rsb_coo_idx_t)a->n, 1, 1, RSB_FLAG_NOFLAGS, &err);
  if (!m || err != RSB_ERR_NO_ERROR) exit((fprintf(stderr, "librsb: no matrix\n"), 1));
  if (tuned)
    err = rsb_tune_spmm(&m, NULL, NULL, 0, 2.0, RSB_TRANSPOSITION_N, &one, NULL, 1,
                        RSB_FLAG_WANT_COLUMN_MAJOR_ORDER, a->x, 0, &zero, a->y_librsb, 0);
  if (err != RSB_ERR_NO_ERROR) exit((fprintf(stderr, "librsb: no tuning\n"), 1));
  return m;
}

static double once(csr *a, const struct rsb_mtx_t *m)
{
  const double one = 1.0, zero = 0.0, from = seconds();
  if (m)
    (void)rsb_spmv(RSB_TRANSPOSITION_N, &one, m, a->x, 1, &zero, a->y_librsb, 1);
  else
    gather_rows(a->n, a->first, a->column, a->value, a->x, 0.0, a->y);
  return seconds() - from;
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *v)
{
  qsort(v, REPS, sizeof *v, ascending);
  return v[REPS / 2];
}

static void compare(const char *name, csr a)
{
  struct rsb_mtx_t *m[WAYS] = {NULL, librsb_matrix(&a, false), librsb_matrix(&a, true)};
  double took[WAYS][REPS], ratio[WAYS][REPS], worst = 0;
  for (int64_t i = 0; i < a.n; i++)
    a.x[i] = 1.0 + (double)(i % 11);
  for (int rep = -1; rep < REPS; rep++) /* the first repetition is a warm-up */
    for (int way = 0; way < WAYS; way++) {
      const double t = once(&a, m[way]);
      if (rep < 0) continue;
      took[way][rep] = t;
      ratio[way][rep] = t / took[0][rep];
    }
  for (int64_t i = 0; i < a.n; i++)
    worst = fmax(worst, fabs(a.y[i] - a.y_librsb[i]) / fabs(a.y[i]));
  if (!(worst < 1e-12))
    exit((fprintf(stderr, "librsb: %s: products differ by %g\n", name, worst), 1));
  printf("%-12s %9lld %10lld %10.3g %10.3g %10.3g %7.3f %7.3f\n", name, (long long)a.n,
         (long long)a.entries, median(took[0]), median(took[1]), median(took[2]), median(ratio[1]),
         median(ratio[2]));
  (void)fflush(stdout);
  for (int way = 1; way < WAYS; way++)
    (void)rsb_mtx_free(m[way]);
  free(a.first), free(a.row), free(a.column), free(a.value);
  free(a.x), free(a.y), free(a.y_librsb);
}

int main(void)
{
  if (rsb_lib_init(RSB_NULL_INIT_OPTIONS) != RSB_ERR_NO_ERROR) return 1;
  printf("%-12s %9s %10s %10s %10s %10s %7s %7s\n", "matrix", "rows", "entries", "ours s",
         "librsb s", "tuned s", "ratio", "tuned");
  compare("7 points", cube(19, false));
  compare("27 points", cube(19, true));
  compare("7 points", cube(100, false));
  compare("27 points", cube(70, true));
  compare("scattered", scattered(20000, 20));
  compare("scattered", scattered(1000000, 16));
  return rsb_lib_exit(RSB_NULL_EXIT_OPTIONS) == RSB_ERR_NO_ERROR ? 0 : 1;
}
