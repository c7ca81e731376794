/* The kinds of work that osla-calibrate times, at sizes that occur in the kernels. The operands are
 * small and reused; the matrix that the work changes is large. */
#include "bench/calibrate.h"

#include "osla_blas.h"
#include "osla_clock.h"
#include "osla_random.h"

#include <stdlib.h>
#include <string.h>

enum { WIDEST = 512 }; /* largest number of columns of an operand */

struct calibrate_room {
  int64_t n,        /* order of the matrix */
    row,            /* row of the next block */
    col;            /* column of the next block */
  double *matrix;   /* [n * n] matrix that the work walks through */
  double *a, *b;    /* [n * WIDEST] elements of each small operand */
  double *triangle; /* [WIDEST * WIDEST] a well-conditioned triangle */
  int64_t *rows;    /* [n] row interchanges */
  int64_t *sorted;  /* [n] indices of every second row */
};

osla_err calibrate_room_make(int64_t n, calibrate_room **out)
{
  calibrate_room *r = calloc(1, sizeof *r);
  size_t all = (size_t)n * (size_t)n, some = (size_t)n * WIDEST;
  *out = r;
  if (r) {
    r->n = n;
    r->matrix = malloc(all * sizeof *r->matrix);
    r->a = malloc(some * sizeof *r->a);
    r->b = malloc(some * sizeof *r->b);
    r->triangle = calloc((size_t)WIDEST * WIDEST, sizeof *r->triangle);
    r->rows = malloc((size_t)n * sizeof *r->rows);
    r->sorted = malloc((size_t)n * sizeof *r->sorted);
  }
  if (!r || !r->matrix || !r->a || !r->b || !r->triangle || !r->rows || !r->sorted) {
    calibrate_room_free(out);
    return osla_error_set(OSLA_ERR_MEM, "%zu bytes for a matrix of order %lld",
                          all * sizeof(double), (long long)n);
  }
  for (size_t i = 0; i < all; i++)
    r->matrix[i] = 1e-3 * (double)(i % 1021);
  for (size_t i = 0; i < some; i++)
    r->a[i] = r->b[i] = osla_random_uniform(1, i, 0);
  for (size_t i = 0; i < (size_t)WIDEST * WIDEST; i++)
    r->triangle[i] = i % (WIDEST + 1) == 0 ? 1 : 1e-6 * osla_random_uniform(2, i, 0);
  for (int64_t i = 0; i < n; i++)
    r->sorted[i] = 2 * i;
  return OSLA_OK;
}

void calibrate_room_free(calibrate_room **room)
{
  calibrate_room *r = *room;
  if (!r) return;
  free(r->matrix);
  free(r->a);
  free(r->b);
  free(r->triangle);
  free(r->rows);
  free(r->sorted);
  free(r);
  *room = NULL;
}

/* Next block of rows x cols elements of the matrix, which was not used recently. */
static double *next_block(calibrate_room *r, int64_t rows, int64_t cols)
{
  if (r->col + cols > r->n) r->col = 0, r->row += rows;
  if (r->row + rows > r->n) r->row = 0;
  double *at = r->matrix + r->row + r->col * r->n;
  r->col += cols;
  return at;
}

static osla_err gemm(calibrate_room *r, const calibrate_shape *s)
{
  return osla_blas_gemm(OSLA_DOUBLE, OSLA_NOTRANS, OSLA_NOTRANS, s->m, s->n, s->k, -1, r->a, s->m,
                        r->b, s->k, 1, next_block(r, s->m, s->n), r->n);
}

static osla_err syrk(calibrate_room *r, const calibrate_shape *s)
{
  return osla_blas_syrk(OSLA_DOUBLE, OSLA_LOWER, OSLA_NOTRANS, s->n, s->k, -1, r->a, s->n, 1,
                        next_block(r, s->n, s->n), r->n);
}

static osla_err trsm_left(calibrate_room *r, const calibrate_shape *s)
{
  return osla_blas_trsm(OSLA_DOUBLE, OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, s->m, s->n,
                        r->triangle, WIDEST, next_block(r, s->m, s->n), r->n);
}

static osla_err trsm_right(calibrate_room *r, const calibrate_shape *s)
{
  return osla_blas_trsm(OSLA_DOUBLE, OSLA_RIGHT, OSLA_LOWER, OSLA_TRANS, OSLA_NONUNIT, s->m, s->n,
                        r->triangle, WIDEST, next_block(r, s->m, s->n), r->n);
}

/* Fills the operand r->a, which the factorisation overwrites. */
static osla_err prepare_getrf(calibrate_room *r, const calibrate_shape *s)
{
  for (int64_t i = 0; i < s->m * s->n; i++)
    r->a[i] = r->b[(i * 7) % (s->m * s->n)];
  return OSLA_OK;
}
static osla_err getrf(calibrate_room *r, const calibrate_shape *s)
{
  /* the pivots overwrite the row interchanges of laswp, which are generated again before laswp */
  int64_t info, *pivots = r->rows;
  return osla_lapack_getrf(OSLA_DOUBLE, s->m, s->n, r->a, s->m, pivots, &info);
}

static osla_err prepare_potrf(calibrate_room *r, const calibrate_shape *s)
{
  for (int64_t i = 0; i < s->n * s->n; i++)
    r->a[i] = i % (s->n + 1) == 0 ? (double)s->n : 0.5;
  return OSLA_OK;
}
static osla_err potrf(calibrate_room *r, const calibrate_shape *s)
{
  int64_t info;
  return osla_lapack_potrf(OSLA_DOUBLE, OSLA_LOWER, s->n, r->a, s->n, &info);
}

static osla_err prepare_laswp(calibrate_room *r, const calibrate_shape *s)
{
  for (int64_t i = 0; i < s->k; i++)
    r->rows[i] = i + (int64_t)(osla_random_bits(4, (uint64_t)i, 0) % (uint64_t)(r->n - i));
  return OSLA_OK;
}
static osla_err laswp(calibrate_room *r, const calibrate_shape *s)
{
  r->row = 0;
  return osla_lapack_laswp(OSLA_DOUBLE, s->n, next_block(r, r->n, s->n), r->n, s->k, r->rows,
                           false);
}

static osla_err gemv(calibrate_room *r, const calibrate_shape *s)
{
  return osla_blas_ger(OSLA_DOUBLE, s->m, s->n, 1e-9, r->a, 1, r->b, 1, next_block(r, s->m, s->n),
                       r->n);
}

static osla_err vector(calibrate_room *r, const calibrate_shape *s)
{
  int64_t at;
  return osla_blas_iamax(OSLA_DOUBLE, s->n, r->a, &at);
}

static osla_err copy(calibrate_room *r, const calibrate_shape *s)
{
  const double *from = next_block(r, s->m, s->n);
  for (int64_t c = 0; c < s->n; c++)
    memcpy(r->a + (c * s->m) % (r->n * (WIDEST - 8)), from + c * r->n, (size_t)s->m * sizeof *from);
  return OSLA_OK;
}

/* Adds to every second row of some columns, as an update with scattered indices does in the
 * accumulator. */
static osla_err add(calibrate_room *r, const calibrate_shape *s)
{
  int64_t rows = r->n / 2 < s->n ? r->n / 2 : s->n, cols = s->n / rows;
  r->row = 0;
  double *to = next_block(r, r->n, cols);
  for (int64_t c = 0; c < cols; c++, to += r->n)
    for (int64_t i = 0; i < rows; i++)
      to[r->sorted[i]] += r->b[i + (c % 8) * rows];
  return OSLA_OK;
}

/* Kinds of work, with the terms of their models and the sizes to time: the sizes in steps of a
 * factorisation or a product, from small to large. */
const calibrate_kind calibrate_kinds[] = {
  {"gemm",
   {"mnk", "mn", "mk", "nk", "1"},
   {32, 128, 512, 2048},
   {32, 128, 512, 1024},
   {32, 128, 512},
   gemm,
   NULL},
  {"syrk",
   {"nnk", "nn", "nk", "n", "1"},
   {0},
   {32, 64, 128, 256, 1024, 2048},
   {32, 128, 512},
   syrk,
   NULL},
  {"trsm-left",
   {"mmn", "mn", "mm", "1"},
   {32, 64, 128, 256},
   {16, 64, 256, 1024, 2048},
   {0},
   trsm_left,
   NULL},
  {"trsm-right",
   {"nnm", "mn", "nn", "1"},
   {16, 64, 256, 1024, 2048},
   {32, 64, 128, 256},
   {0},
   trsm_right,
   NULL},
  {"potrf", {"nnn", "nn", "n", "1"}, {0}, {16, 32, 64, 128, 256, 512}, {0}, potrf, prepare_potrf},
  {"getrf",
   {"mnn", "mn", "n", "1"},
   {128, 256, 512, 1024, 2048, 4096},
   {32, 64, 128, 256},
   {0},
   getrf,
   prepare_getrf},
  {"laswp", {"nk", "n", "1"}, {0}, {16, 64, 128, 512, 2048}, {16, 64, 128}, laswp, prepare_laswp},
  {"gemv", {"mn", "n", "1"}, {64, 256, 1024, 4096}, {32, 128, 512}, {0}, gemv, NULL},
  {"vector", {"n", "1"}, {0}, {16, 64, 256, 1024, 4096}, {0}, vector, NULL},
  {"copy", {"mn", "n", "1"}, {16, 64, 256, 1024, 2048}, {16, 64, 128, 512}, {0}, copy, NULL},
  {"add", {"n", "1"}, {0}, {1024, 16384, 65536, 262144, 1048576}, {0}, add, NULL},
};
const int calibrate_n_kinds = sizeof calibrate_kinds / sizeof *calibrate_kinds;

/* Each run is timed separately, since some kinds of work need fresh data. There are at least 5
 * runs, and more until 10 ms have passed. */
osla_err calibrate_time(calibrate_room *room, const calibrate_kind *kind,
                        const calibrate_shape *shape, double *seconds)
{
  enum { LEAST = 5, MOST = 101 };
  double taken[MOST], all = 0;
  int runs = 0;
  for (int i = -1; i < MOST && (i < LEAST || all < 10e-3); i++) {
    if (kind->prepare) OSLA_CALL(kind->prepare(room, shape));
    double since = osla_clock();
    OSLA_CALL(kind->work(room, shape));
    double took = osla_clock() - since;
    if (i < 0) continue; /* the first run is a warm-up */
    taken[runs++] = took;
    all += took;
  }
  qsort(taken, (size_t)runs, sizeof *taken, calibrate_compare);
  *seconds = taken[runs / 2];
  return OSLA_OK;
}
