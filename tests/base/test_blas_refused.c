/* Tests of a BLAS that is unusable on one rank only, which OSLA detects at a thread's first call.
 * All ranks get the error, the job goes on, and matrices are unchanged. */
#include "osla_blas.h"
#include "osla_chol.h"
#include "osla_gemm.h"
#include "osla_inverse.h"
#include "osla_lu.h"
#include "osla_solve.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Replaces the BLAS's dasum_, which OSLA calls to find the size of BLAS integers. While a case
 * runs, this function simulates 64-bit integers on the last rank. */
double dasum_(const void *n, const double *x, const void *incx);
static bool has_64_bits;
double dasum_(const void *n, const double *x, const void *incx)
{
  const int count = *(const int *)n, step = *(const int *)incx;
  double sum = has_64_bits ? -1 : 0;
  for (int64_t i = 0; i < count && !has_64_bits; i++)
    sum += fabs(x[i * step]);
  return sum;
}

enum {
  N = 24,
  NB = 4,
  K = 30000 /* large enough for ranks of a node to share fetched panels (gemm_sharing.c) */
};

typedef struct job {
  osla_matrix *a, *b, *wide, *tall;
  int64_t ipiv[N], info;
  osla_err (*call)(struct job *job);
  osla_err err;
  char text[512];
} job;

static osla_err norm(job *j)
{
  double value;
  return osla_matrix_norm(j->a, OSLA_NORM_MAX, &value);
}
static osla_err getrf(job *j)
{
  osla_lu_result result;
  return osla_getrf(j->a, j->ipiv, NULL, &result);
}
static osla_err potrf(job *j)
{
  return osla_potrf(OSLA_LOWER, j->a, NULL, &j->info);
}
static osla_err potri(job *j)
{
  return osla_potri(OSLA_LOWER, j->a, NULL, &j->info);
}
static osla_err getri(job *j)
{
  return osla_getri(j->a, j->ipiv, NULL, &j->info);
}
static osla_err potrs(job *j)
{
  return osla_potrs(OSLA_LOWER, j->a, j->b);
}
static osla_err trsm(job *j)
{
  return osla_trsm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 2.0, j->a, j->b);
}

static osla_err gemm(job *j)
{
  return osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, osla_whole(j->wide), osla_whole(j->tall), 1,
                   osla_whole(j->a), NULL);
}

static void *run(void *arg)
{
  job *j = arg;
  j->err = j->call(j);
  (void)strncpy(j->text, osla_error_text(), sizeof j->text - 1);
  return NULL;
}

/* Makes a call of OSLA in a thread that has not called BLAS yet, and asserts that the call is
 * refused. The main thread only waits. */
static void refuse(osla_transport *t, const char *name, osla_err (*call)(job *))
{
  osla_grid *grid = osla_test_square_grid(t);
  job j = {.call = call};
  pthread_t thread;
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, N, NB, NB, &j.a));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, 3, NB, NB, &j.b));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, N, K, NB, K / 4, &j.wide));
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, K, N, K / 4, NB, &j.tall));
  OSLA_ASSERT_OK(osla_matrix_fill(j.wide, OSLA_FILL_UNIFORM, 3));
  OSLA_ASSERT_OK(osla_matrix_fill(j.tall, OSLA_FILL_UNIFORM, 4));
  OSLA_ASSERT_OK(osla_matrix_fill(j.a, OSLA_FILL_SPD, 1));
  OSLA_ASSERT_OK(osla_matrix_fill(j.b, OSLA_FILL_UNIFORM, 2));
  for (int64_t l = 0; l < osla_matrix_local_rows(j.a); l++)
    j.ipiv[l] = osla_index_global(l, NB, osla_grid_prow(grid), osla_grid_nprow(grid)) + 1;
  osla_matrix *const matrices[] = {j.a, j.b};
  double *before[2];
  size_t bytes[2];
  for (int k = 0; k < 2; k++) {
    const int64_t lld = osla_matrix_lld(matrices[k], osla_test_rank());
    bytes[k] = (size_t)(lld * osla_matrix_local_cols(matrices[k])) * sizeof(double);
    before[k] = osla_test_allocate(bytes[k] / sizeof(double) + 1, sizeof(double));
    if (bytes[k] > 0) memcpy(before[k], osla_matrix_local(matrices[k]), bytes[k]);
  }
  has_64_bits = osla_test_rank() == osla_test_size() - 1;
  CU_ASSERT_FATAL(pthread_create(&thread, NULL, run, &j) == 0);
  (void)pthread_join(thread, NULL);
  has_64_bits = false;
  OSLA_ASSERT_MSG(j.err == OSLA_ERR_UNSUPPORTED && strstr(j.text, "ILP64"), "%s: %s, \"%s\"", name,
                  osla_err_name(j.err), j.text);
  for (int k = 0; k < 2; k++) {
    const void *now = osla_matrix_local(matrices[k]);
    OSLA_ASSERT_MSG(bytes[k] == 0 || memcmp(now, before[k], bytes[k]) == 0, "%s has changed %c",
                    name, "AB"[k]);
    free(before[k]);
  }
  osla_matrix_destroy(&j.tall);
  osla_matrix_destroy(&j.wide);
  osla_matrix_destroy(&j.b);
  osla_matrix_destroy(&j.a);
  osla_grid_destroy(&grid);
}

static void test_refused(void)
{
  if (!osla_test_multiple("calls from another thread")) return;
  osla_transport *t = osla_test_transport();
  refuse(t, "norm", norm);
  refuse(t, "getrf", getrf);
  refuse(t, "potrf", potrf);
  refuse(t, "potri", potri);
  refuse(t, "getri", getri);
  refuse(t, "potrs", potrs);
  refuse(t, "trsm", trsm);
  refuse(t, "gemm", gemm);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"refused", test_refused}, {NULL, NULL}};
OSLA_TEST_SUITE(test_blas_refused, cases);
