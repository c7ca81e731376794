/* Tests the accumulator on the memory of Global Arrays against a serial sum of integers, which must
 * be equal, and the whole way on one array: GA's own accumulates, updates, LU or Cholesky in place,
 * solution, and GA's own reads. */
#include "osla_chol.h"
#include "osla_lu.h"
#include "osla_products.h"
#include "osla_solve.h"
#include "tests/adaptors/ga_help.h"
#include "tests/hessian_reference.h"

#include <complex.h>
#include <ga.h>
#include <inttypes.h>
#include <macdecls.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int some_block[2] = {7, 7};

static double zero(int64_t i, int64_t j, void *arg)
{
  (void)i, (void)j, (void)arg;
  return 0;
}

/* Asserts that the array holds the sum: H(i, j) is element [j][i] of the array. */
static void expect(const serial_sum *sum, osla_ga_hessian *h, const char *what)
{
  osla_complex *have = ga_read(osla_ga_hessian_array(h));
  int64_t wrong = 0;
  for (int64_t k = 0; k < sum->n * sum->n; k++)
    wrong += !(have[k] == sum->h[k]);
  OSLA_ASSERT_MSG(wrong == 0, "%s: %" PRId64 " elements differ", what, wrong);
  CU_ASSERT(
    memcmp(osla_hessian_gradient(osla_ga_hessian_get(h)), sum->gradient, (size_t)sum->n * 8) == 0);
  free(have);
}

/* Every rank makes UPDATES updates of a stream. */
static void push_all(osla_ga_hessian *h, serial_sum *sum, int first, osla_dtype dtype)
{
  enum { UPDATES = 6 };
  for (int u = first * UPDATES; u < (first + 1) * UPDATES; u++)
    for (int r = 0; r < osla_test_size(); r++) {
      sum_add(sum, update_random(7 + (uint64_t)r, u, sum->n, sum->n, dtype), 1);
      if (r == osla_test_rank())
        OSLA_ASSERT_OK(update_push(osla_ga_hessian_get(h),
                                   update_random(7 + (uint64_t)r, u, sum->n, sum->n, dtype)));
    }
}

/* Each rank adds 2 to one element per column of the stored triangle, by GA's own call. */
static void add_by_ga(int array, serial_sum *sum, osla_dtype dtype)
{
  const int64_t n = sum->n;
  for (int64_t j = 0; j < n; j++) {
    const int64_t i = sum->uplo == OSLA_UPPER ? 0 : n - 1;
    int64_t at[2] = {j, i}, ld[1] = {1};
    double two = 2, one = 1;
    float two_single = 2, one_single = 1;
    if (j % osla_test_size() == osla_test_rank())
      NGA_Acc64(array, at, at, dtype == OSLA_FLOAT ? (void *)&two_single : &two, ld,
                dtype == OSLA_FLOAT ? (void *)&one_single : &one);
    sum->h[i + j * n] += 2;
  }
}

/* Calls of GA and updates in turn. Returns false if the array cannot be used in place. */
static bool check(ga_kind kind, osla_dtype dtype, osla_uplo uplo, int64_t n,
                  const osla_hessian_options *options)
{
  osla_ga_hessian *h = NULL;
  osla_hessian_options o = options ? *options : (osla_hessian_options){0};
  o.uplo = uplo;
  int array = ga_make(kind, dtype, n, n, some_block);
  serial_sum sum = sum_create(n, uplo);
  ga_fill(array, zero, NULL);
  add_by_ga(array, &sum, dtype);
  osla_err err = osla_ga_hessian_create(array, &o, &h);
  if (err != OSLA_OK) {
    OSLA_ASSERT_MSG(err == OSLA_ERR_UNSUPPORTED, "%s: %s", ga_kind_name(kind), osla_error_text());
    OSLA_ASSERT_TEXT("GA_Set_block_cyclic_proc_grid and square blocks");
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT(h == NULL);
  } else {
    for (int turn = 0; turn < 2; turn++) {
      push_all(h, &sum, turn, dtype);
      OSLA_ASSERT_OK(osla_ga_hessian_commit(h));
      expect(&sum, h, ga_kind_name(kind));
      GA_Sync();
      add_by_ga(array, &sum, dtype);
      GA_Sync();
      expect(&sum, h, "after GA's own calls");
      GA_Sync();
    }
    osla_ga_hessian_destroy(&h);
    CU_ASSERT(h == NULL && GA_Valid_handle(array));
  }
  sum_free(&sum);
  GA_Destroy(array);
  return err == OSLA_OK;
}

static void test_kinds(void)
{
  int served = 0;
  ga_start();
  for (int kind = 0; kind<GA_KINDS; kind += osla_test_size()> 2 ? 3 : 1)
    served +=
      check((ga_kind)kind, kind % 2 ? OSLA_FLOAT : OSLA_DOUBLE, (osla_uplo)(kind % 3), 28, NULL);
  CU_ASSERT(served > 0);
  CU_ASSERT(check(GA_SCALAPACK, OSLA_DOUBLE, OSLA_LOWER, 29, NULL));
  /* two equal parts, one for each rank, are cut into square blocks */
  if (osla_test_size() <= 2) CU_ASSERT(check(GA_REGULAR, OSLA_DOUBLE, OSLA_UPPER, 28, NULL));
}

static void test_options(void)
{
  osla_hessian_options o = {.node_sums = true};
  ga_start();
  CU_ASSERT(check(GA_SCALAPACK, OSLA_DOUBLE, OSLA_LOWER, 29, &o));
  o = (osla_hessian_options){.order_independent = true};
  o.bound = o.gradient_bound = 1e6;
  CU_ASSERT(check(GA_SCALAPACK, OSLA_DOUBLE, OSLA_GENERAL, 29, &o));
}

/* ---- the whole way ---- */

enum { N = 42, ROWS_OF_G = 3 };

/* Element of the assembled matrix: 6 updates of ones with ROWS_OF_G rows, plus the diagonal. */
static double assembled(int64_t i, int64_t j, void *arg)
{
  (void)arg;
  return 6 * ROWS_OF_G + (i == j ? 100 + (double)i : 0);
}

static double diagonal(int64_t i, int64_t j, void *arg)
{
  (void)arg;
  return i == j ? 100 + (double)i : 0;
}

static void chain(const int blocks[2], const int grid[2], bool by_lu)
{
  int64_t dims[2] = {N, N}, info = -1;
  int sides[2] = {blocks[0], blocks[1]}, shape[2] = {grid[0], grid[1]};
  int array = GA_Create_handle();
  GA_Set_data64(array, 2, dims, C_DBL);
  GA_Set_array_name(array, "chain");
  GA_Set_block_cyclic_proc_grid(array, sides, shape);
  CU_ASSERT_FATAL(GA_Allocate(array));
  ga_fill(array, diagonal, NULL);

  osla_ga_hessian *h = NULL;
  osla_matrix *a = NULL, *x = NULL, *r = NULL, *whole = NULL;
  const osla_hessian_options o = {.uplo = by_lu ? OSLA_GENERAL : OSLA_LOWER};
  OSLA_ASSERT_OK(osla_ga_hessian_create(array, &o, &h));
  for (int u = osla_test_rank(); u < 6; u += osla_test_size())
    OSLA_ASSERT_OK(update_push(osla_ga_hessian_get(h), update_ones(N, ROWS_OF_G, OSLA_DOUBLE)));
  OSLA_ASSERT_OK(osla_ga_hessian_commit(h));
  OSLA_ASSERT_OK(osla_hessian_matrix(osla_ga_hessian_get(h), &a));
  osla_grid *own = osla_matrix_grid(a);
  const int64_t nb = osla_matrix_layout(a).nb;
  OSLA_ASSERT_OK(osla_matrix_create(own, OSLA_DOUBLE, N, 1, nb, nb, &x));
  OSLA_ASSERT_OK(osla_matrix_create(own, OSLA_DOUBLE, N, 1, nb, nb, &r));
  OSLA_ASSERT_OK(osla_matrix_create(own, OSLA_DOUBLE, N, N, nb, nb, &whole));
  OSLA_ASSERT_OK(osla_matrix_fill_with(whole, assembled, NULL));
  OSLA_ASSERT_OK(osla_matrix_fill(x, OSLA_FILL_UNIFORM, 3));
  OSLA_ASSERT_OK(osla_matrix_copy(x, r));
  if (by_lu) {
    osla_lu_result result;
    int64_t *ipiv = osla_test_allocate((size_t)osla_matrix_local_rows(a) + 1, sizeof *ipiv);
    OSLA_ASSERT_OK(osla_getrf(a, ipiv, NULL, &result));
    CU_ASSERT(result.info == 0);
    OSLA_ASSERT_OK(osla_getrs(OSLA_NOTRANS, a, ipiv, x));
    free(ipiv);
  } else {
    OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, a, NULL, &info));
    CU_ASSERT(info == 0);
    OSLA_ASSERT_OK(osla_potrs(OSLA_LOWER, a, x));
  }
  double residual = NAN;
  OSLA_ASSERT_OK(
    osla_symm(OSLA_LEFT, OSLA_LOWER, 1, osla_whole(whole), osla_whole(x), -1, osla_whole(r), NULL));
  OSLA_ASSERT_OK(osla_matrix_norm(r, OSLA_NORM_MAX, &residual));
  OSLA_ASSERT_MSG(residual < 1e-13, "residual %g", residual);
  osla_matrix_destroy(&x);
  osla_matrix_destroy(&r);
  osla_matrix_destroy(&whole);
  osla_ga_hessian_destroy(&h);

  /* The array is still GA's, and holds the factor: row 0 of U, or the first column of L. */
  double first = 0;
  int64_t at[2] = {0, 0}, ld[1] = {1};
  GA_Sync();
  NGA_Get64(array, at, at, &first, ld);
  const double corner = assembled(0, 0, NULL);
  OSLA_ASSERT_MSG(fabs(first - (by_lu ? corner : sqrt(corner))) < 1e-12, "factor's corner %g",
                  first);
  GA_Destroy(array);
}

static void test_chain(void)
{
  static const int small[2] = {5, 5}, large[2] = {16, 16};
  const int size = osla_test_size();
  const int across[2] = {size, 1}, along[2] = {1, size}, square[2] = {2, 2};
  ga_start();
  for (int by_lu = 0; by_lu < 2; by_lu++) {
    chain(small, across, by_lu);
    if (size > 1) chain(small, along, by_lu);
    if (size == 4) chain(large, square, by_lu);
  }
}

/* ---- refused arguments ---- */

static void test_refused(void)
{
  osla_ga_hessian *h = NULL;
  ga_start();
  int array = ga_make(GA_SCALAPACK, OSLA_DOUBLE, 28, 28, some_block);
  int flat = ga_make(GA_REGULAR, OSLA_DOUBLE, 9, 8, some_block);
  int complex_array = ga_make(GA_REGULAR, OSLA_COMPLEX_DOUBLE, 9, 9, some_block);
  ga_fill(array, zero, NULL);
  OSLA_ASSERT_ERR(osla_ga_hessian_create(flat, NULL, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("needs a square array");
  OSLA_ASSERT_ERR(osla_ga_hessian_create(complex_array, NULL, &h), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_ERR(osla_ga_hessian_create(array, &(osla_hessian_options){.uplo = (osla_uplo)9}, &h),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_ga_hessian_create(array, &(osla_hessian_options){.nb = 6}, &h),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("nb = 6");
  OSLA_ASSERT_OK(osla_ga_hessian_create(array, NULL, &h));
  osla_ga_hessian *second = NULL;
  OSLA_ASSERT_ERR(osla_ga_hessian_create(array, NULL, &second), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("another accumulator");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_OK(osla_ga_hessian_commit(h));
  GA_Destroy(array);
  OSLA_ASSERT_ERR(osla_ga_hessian_commit(h), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("was destroyed before the commit");
  osla_ga_hessian_destroy(&h);
  OSLA_ASSERT_ERR(osla_ga_hessian_create(array, NULL, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("is not the handle of a global array");
  OSLA_ASSERT_SAME_TEXT();
  GA_Destroy(flat);
  GA_Destroy(complex_array);
}

static void test_terminate(void)
{
  ga_start();
  osla_ga_terminate();
  CU_ASSERT(!GA_Initialized());
}

static const osla_test_case cases[] = {{"kinds", test_kinds},         {"options", test_options},
                                       {"chain", test_chain},         {"refused", test_refused},
                                       {"terminate", test_terminate}, {NULL, NULL}};
OSLA_TEST_SUITE(test_ga_hessian, cases);
