/* Tests the accumulator on Global Arrays against a serial sum of integers, which must be equal. */
#include "tests/adaptors/ga_help.h"
#include "tests/hessian_reference.h"

#include <complex.h>
#include <ga.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const int some_block[2] = {7, 7};

static double zero(int64_t i, int64_t j, void *arg)
{
  (void)i, (void)j, (void)arg;
  return 0;
}

static osla_err push(osla_ga_hessian *h, const test_update *u)
{
  OSLA_CALL(osla_ga_hessian_update_gradient(h, u->rows, u->ix, u->gradient));
  if (u->k < 0)
    return osla_ga_hessian_update_block(h, u->rows, u->ix, u->cols, u->jx, u->values, u->ld);
  return osla_ga_hessian_update(h, u->rows, u->ix, u->k, u->values, u->ld);
}

/* Asserts that the array holds the sum: H(i, j) is element [j][i] of the array. */
static void expect(const serial_sum *sum, const osla_ga_hessian *h, const char *what)
{
  osla_complex *have = ga_read(osla_ga_hessian_array(h));
  int64_t wrong = 0;
  for (int64_t k = 0; k < sum->n * sum->n; k++)
    wrong += !(have[k] == sum->h[k]);
  OSLA_ASSERT_MSG(wrong == 0, "%s: %" PRId64 " elements differ", what, wrong);
  CU_ASSERT(memcmp(osla_ga_hessian_gradient(h), sum->gradient, (size_t)sum->n * 8) == 0);
  free(have);
}

/* Tests random updates by all ranks, with two commits. */
static void check(ga_kind kind, osla_dtype dtype, osla_uplo uplo, int64_t n, int64_t most)
{
  enum { UPDATES = 12, COMMITS = 2 };
  osla_ga_hessian *h = NULL;
  int array = ga_make(kind, dtype, n, n, some_block), size = osla_test_size();
  ga_fill(array, zero, NULL);
  if (!OSLA_ASSERT_OK(osla_ga_hessian_create(array, uplo, &h))) return;
  serial_sum sum = sum_create(n, uplo);
  for (int c = 0; c < COMMITS; c++) {
    for (int u = c * UPDATES; u < (c + 1) * UPDATES; u++)
      for (int r = 0; r < size; r++) {
        test_update update = update_random(7 + (uint64_t)r, u, n, most, dtype);
        if (r == osla_test_rank()) OSLA_ASSERT_OK(push(h, &update));
        sum_add(&sum, update, 1);
      }
    OSLA_ASSERT_OK(osla_ga_hessian_commit(h));
    expect(&sum, h, ga_kind_name(kind));
    GA_Sync();
  }
  sum_free(&sum);
  osla_ga_hessian_destroy(&h);
  CU_ASSERT(h == NULL);
  GA_Destroy(array);
}

static void test_kinds(void)
{
  ga_start();
  for (int kind = 0; kind<GA_KINDS; kind += osla_test_size()> 2 ? 3 : 1)
    check(kind, kind % 2 ? OSLA_FLOAT : OSLA_DOUBLE, (osla_uplo)(kind % 3), 29, 20);
}

/* Tests an update with more elements than one call of NGA_Scatter_acc gets, and with more columns
 * than are computed at a time. */
static void test_large(void)
{
  enum { N = 401, K = 2 };
  osla_ga_hessian *h = NULL;
  ga_start();
  int array = ga_make(GA_REGULAR, OSLA_DOUBLE, N, N, some_block);
  ga_fill(array, zero, NULL);
  OSLA_ASSERT_OK(osla_ga_hessian_create(array, OSLA_UPPER, &h));
  serial_sum sum = sum_create(N, OSLA_UPPER);
  test_update mine = update_ones(N, K, OSLA_DOUBLE);
  OSLA_ASSERT_OK(push(h, &mine));
  update_free(&mine);
  sum_add(&sum, update_ones(N, K, OSLA_DOUBLE), osla_test_size());
  OSLA_ASSERT_OK(osla_ga_hessian_commit(h));
  expect(&sum, h, "large");
  sum_free(&sum);
  osla_ga_hessian_destroy(&h);
  GA_Destroy(array);
}

static void test_refused(void)
{
  osla_ga_hessian *h = NULL;
  int64_t ix[2] = {1, 9};
  double g[2] = {1, 1};
  ga_start();
  int array = ga_make(GA_REGULAR, OSLA_DOUBLE, 9, 9, some_block);
  int flat = ga_make(GA_REGULAR, OSLA_DOUBLE, 9, 8, some_block);
  int complex_array = ga_make(GA_REGULAR, OSLA_COMPLEX_DOUBLE, 9, 9, some_block);
  OSLA_ASSERT_ERR(osla_ga_hessian_create(flat, OSLA_LOWER, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_hessian_create(complex_array, OSLA_LOWER, &h), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_ERR(osla_ga_hessian_create(array, (osla_uplo)9, &h), OSLA_ERR_ARG);
  (void)setenv("ARMCI_USE_WIN_ALLOCATE", "1",
               1); /* osla_ga_hessian_create must notice this wrong setting of ARMCI */
  osla_err err = osla_ga_hessian_create(array, OSLA_LOWER, &h);
  OSLA_ASSERT_MSG(err == OSLA_OK || err == OSLA_ERR_STATE, "%s", osla_error_text());
  if (err != OSLA_OK) OSLA_ASSERT_TEXT("ARMCI_USE_WIN_ALLOCATE=0");
  osla_ga_hessian_destroy(&h);
  (void)setenv("ARMCI_USE_WIN_ALLOCATE", "0", 1);
  OSLA_ASSERT_OK(osla_ga_hessian_create(array, OSLA_LOWER, &h));
  OSLA_ASSERT_ERR(osla_ga_hessian_update(h, 2, ix, 1, g, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("ix[1] = 9 is outside 0 to 8");
  OSLA_ASSERT_ERR(osla_ga_hessian_update(h, 1, ix, 1, g, 0), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_hessian_update(h, 1, ix, -1, g, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_hessian_update(h, -1, ix, 1, g, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_hessian_update_block(h, 1, ix, 2, ix, g, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_hessian_update_block(h, 1, ix, 1, ix, NULL, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_hessian_update_gradient(h, 1, ix, NULL), OSLA_ERR_ARG);
  osla_ga_hessian_destroy(&h);
  GA_Destroy(array);
  GA_Destroy(flat);
  GA_Destroy(complex_array);
}

static void test_terminate(void)
{
  ga_start();
  osla_ga_terminate();
  CU_ASSERT(!GA_Initialized());
}

static const osla_test_case cases[] = {{"kinds", test_kinds},
                                       {"large", test_large},
                                       {"refused", test_refused},
                                       {"terminate", test_terminate},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_ga_hessian, cases);
