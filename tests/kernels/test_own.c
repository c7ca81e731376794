/* Tests of matrices made by osla_matrix_wrap_own, whose memory only the owner can access. Kernels
 * that accept them give the same results as for memory that all ranks can access, and the padding
 * of the caller's array stays unchanged. Other kernels fail with the same error on all ranks. */
#include "osla_chol.h"
#include "osla_gemm.h"
#include "osla_inverse.h"
#include "osla_lu.h"
#include "osla_products.h"
#include "osla_solve.h"
#include "tests/osla_test.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PADDING = 3, N = 61, NB = 8 };
static const double border = 1e77;

/* Two matrices with equal elements: one in memory that all ranks can access (reached), one in
 * memory of its owners only (own). */
typedef struct twins {
  osla_matrix *reached, *own;
  double *memory; /* array of the matrix `own`, with PADDING rows below each column */
  int64_t lld, cols;
} twins;

static twins make_twins(osla_grid *grid, int64_t m, int64_t n, osla_fill fill, uint64_t seed)
{
  twins x = {0};
  OSLA_ASSERT_OK(osla_matrix_create(grid, OSLA_DOUBLE, m, n, NB, NB, &x.reached));
  OSLA_ASSERT_OK(osla_matrix_fill(x.reached, fill, seed));
  int64_t rows = osla_matrix_local_rows(x.reached);
  const double *from = osla_matrix_local(x.reached);
  x.cols = osla_matrix_local_cols(x.reached);
  int64_t ld = osla_matrix_lld(x.reached, osla_transport_rank(osla_grid_transport(grid)));
  x.lld = rows + PADDING;
  x.memory = malloc((size_t)(x.lld * x.cols + 1) * sizeof *x.memory);
  for (int64_t k = 0; k < x.lld * x.cols; k++)
    x.memory[k] = k % x.lld < rows ? from[k / x.lld * ld + k % x.lld] : border;
  OSLA_ASSERT_OK(osla_matrix_wrap_own(grid, OSLA_DOUBLE, m, n, NB, NB, x.memory, x.lld, &x.own));
  return x;
}

static void expect_same(const twins *x, double tolerance, const char *what)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(x->reached));
  int64_t ld = osla_matrix_lld(x->reached, osla_transport_rank(t));
  int64_t rows = x->lld - PADDING, wrong = 0, touched = 0;
  const double *expected = osla_matrix_local(x->reached);
  for (int64_t k = 0; k < x->lld * x->cols; k++) {
    if (k % x->lld >= rows)
      touched += x->memory[k] != border;
    else if (!(fabs(x->memory[k] - expected[k / x->lld * ld + k % x->lld]) <= tolerance))
      wrong++;
  }
  OSLA_ASSERT_MSG(wrong == 0 && touched == 0, "%s: %" PRId64 " differ, %" PRId64 " beside", what,
                  wrong, touched);
}

static void free_twins(twins *x)
{
  osla_matrix_destroy(&x->own);
  osla_matrix_destroy(&x->reached);
  free(x->memory);
}

/* ---- operands of products ---- */

static osla_part whole(osla_matrix *a)
{
  osla_layout l = osla_matrix_layout(a);
  return osla_part_at(a, 0, 0, l.m, l.n);
}

/* Checks a product of whole numbers in which ranks need only their own part of one operand: A on
 * one process column (of_a), or B on one process row. */
static void check_operand(osla_grid *grid, bool of_a, int64_t k)
{
  osla_err err;
  twins a = make_twins(grid, N, k, OSLA_FILL_INTEGER, 1);
  twins b = make_twins(grid, k, N + 9, OSLA_FILL_INTEGER, 2);
  twins c = make_twins(grid, N, N + 9, OSLA_FILL_INTEGER, 3);
  OSLA_ASSERT_OK(osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 2, whole(a.reached), whole(b.reached), -1,
                           whole(c.reached), NULL));
  err = osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 2, whole(of_a ? a.own : a.reached),
                  whole(of_a ? b.reached : b.own), -1, whole(c.own), NULL);
  OSLA_ASSERT_OK(err);
  expect_same(&c, 0, of_a ? "A of its owners" : "B of its owners");
  free_twins(&a), free_twins(&b), free_twins(&c);
}

static void test_operands(void)
{
  osla_transport *t = osla_test_transport();
  int size = osla_test_size();
  for (int of_a = 0; of_a < 2; of_a++) {
    osla_grid *grid = NULL;
    OSLA_ASSERT_OK(osla_grid_create(t, of_a ? size : 1, of_a ? 1 : size, &grid));
    check_operand(grid, of_a, N);
    check_operand(grid, of_a, 3);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* A product that would need operands of other ranks fails. All ranks get the same message, and C
 * stays unchanged. */
static void test_operand_refused(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = NULL;
  OSLA_ASSERT_OK(osla_grid_create(t, 1, osla_test_size(), &grid));
  twins a = make_twins(grid, N, N, OSLA_FILL_INTEGER, 1);
  twins c = make_twins(grid, N, N, OSLA_FILL_INTEGER, 3);
  osla_err err =
    osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, 1, whole(a.own), whole(a.reached), 1, whole(c.own), NULL);
  if (osla_test_size() == 1) {
    CU_ASSERT(err == OSLA_OK);
  } else {
    OSLA_ASSERT_ERR(err, OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_gemm: other ranks need the ");
    OSLA_ASSERT_SAME_TEXT();
    OSLA_ASSERT_ERR(
      osla_symm(OSLA_RIGHT, OSLA_LOWER, 1, whole(a.reached), whole(a.own), 1, whole(c.own), NULL),
      OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_symm: other ranks need the ");
    OSLA_ASSERT_SAME_TEXT();
    expect_same(&c, 0, "C of a refused product");
    double x;
    int other = (osla_test_rank() + 1) % osla_test_size();
    err = osla_matrix_get_block(a.own, 0, (int64_t)other * NB, 1, 1, &x, 1);
    CU_ASSERT(err == OSLA_ERR_ARG);
  }
  free_twins(&a), free_twins(&c);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- factors and right-hand sides ---- */

static void test_lu(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = NULL;
  osla_lu_result results[2];
  int64_t pivots[2][N + NB];
  OSLA_ASSERT_OK(osla_grid_create(t, 1, osla_test_size(), &grid));
  twins a = make_twins(grid, N, N, OSLA_FILL_UNIFORM, 4);
  twins b = make_twins(grid, N, 20, OSLA_FILL_UNIFORM, 5);
  OSLA_ASSERT_OK(osla_getrf(a.reached, pivots[0], NULL, &results[0]));
  OSLA_ASSERT_OK(osla_getrf(a.own, pivots[1], NULL, &results[1]));
  CU_ASSERT(results[0].info == 0 && results[1].info == 0);
  CU_ASSERT(memcmp(pivots[0], pivots[1], N * sizeof pivots[0][0]) == 0);
  expect_same(&a, 1e-12, "LU");
  OSLA_ASSERT_OK(osla_getrs(OSLA_NOTRANS, a.reached, pivots[0], b.reached));
  OSLA_ASSERT_OK(osla_getrs(OSLA_NOTRANS, a.reached, pivots[0], b.own));
  expect_same(&b, 1e-9, "right-hand sides");
  OSLA_ASSERT_OK(osla_trsm(OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, OSLA_UNIT, -3, a.reached, b.reached));
  OSLA_ASSERT_OK(osla_trsm(OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, OSLA_UNIT, -3, a.reached, b.own));
  expect_same(&b, 1e-6, "solve from the left");
  /* solves need A on other ranks as well; solves from the right also need B */
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_getrs(OSLA_NOTRANS, a.own, pivots[0], b.reached), OSLA_ERR_ARG);
    OSLA_ASSERT_ERR(osla_trsm(OSLA_RIGHT, OSLA_LOWER, OSLA_TRANS, OSLA_UNIT, 2, a.reached, a.own),
                    OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_matrix_wrap_own");
    OSLA_ASSERT_SAME_TEXT();
    osla_factors factors = {.matrix = a.reached, .ipiv = pivots[0]};
    OSLA_ASSERT_ERR(osla_refine(a.reached, &factors, b.reached, b.own, NULL, NULL), OSLA_ERR_ARG);
    OSLA_ASSERT_SAME_TEXT();
    expect_same(&b, 1e-6, "after refused solves");
  }
  free_twins(&a), free_twins(&b);
  osla_grid_destroy(&grid);
  OSLA_ASSERT_OK(osla_grid_create(t, osla_test_size(), 1, &grid));
  a = make_twins(grid, N, N, OSLA_FILL_UNIFORM, 4);
  osla_err err = osla_getrf(a.own, pivots[1], NULL, &results[1]);
  CU_ASSERT(err == (osla_test_size() == 1 ? OSLA_OK : OSLA_ERR_ARG));
  free_twins(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_cholesky(void)
{
  osla_transport *t = osla_test_transport();
  int size = osla_test_size(), shapes[][2] = {{1, size}, {size, 1}, {size / 2, 2}};
  for (int s = 0; s < (size == 4 ? 3 : 2); s++)
    for (int uplo = OSLA_LOWER; uplo <= OSLA_UPPER; uplo++) {
      osla_grid *grid = NULL;
      int64_t info[2] = {-1, -1};
      OSLA_ASSERT_OK(osla_grid_create(t, shapes[s][0], shapes[s][1], &grid));
      twins a = make_twins(grid, N, N, OSLA_FILL_SPD, 6);
      OSLA_ASSERT_OK(osla_potrf((osla_uplo)uplo, a.reached, NULL, &info[0]));
      OSLA_ASSERT_OK(osla_potrf((osla_uplo)uplo, a.own, NULL, &info[1]));
      CU_ASSERT(info[0] == 0 && info[1] == 0);
      expect_same(&a, 1e-12, "Cholesky");
      OSLA_ASSERT_OK(osla_potri((osla_uplo)uplo, a.reached, NULL, &info[0]));
      OSLA_ASSERT_OK(osla_potri((osla_uplo)uplo, a.own, NULL, &info[1]));
      CU_ASSERT(info[0] == 0 && info[1] == 0);
      expect_same(&a, 1e-14, "its inverse");
      free_twins(&a);
      osla_grid_destroy(&grid);
    }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"operands", test_operands},
                                       {"operand_refused", test_operand_refused},
                                       {"lu", test_lu},
                                       {"cholesky", test_cholesky},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_own, cases);
