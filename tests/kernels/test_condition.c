/* Tests of condition estimates, compared with the inverse that each rank computes from a copy. */
#include "osla_blas.h"
#include "osla_solve.h"
#include "tests/complex_help.h"
#include "tests/kernels/solve_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A dense matrix with its pivots, 1-norm and reciprocal condition number, and with its LU factors
 * in an array of the matrix's type. */
typedef struct example {
  dense a;
  void *factors;
  int64_t *pivots;
  double anorm, rcond;
} example;

typedef enum example_kind { RANDOM, GRADED, HILBERT, DIAGONAL, KINDS } example_kind;

static dense make_dense(example_kind kind, int64_t n, int parts, uint64_t seed)
{
  dense d = exact_numbers(n, n, parts, 100, seed);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      double *at = dense_at(&d, i, j), scale = pow(10.0, -(double)(i % 5));
      if (kind == GRADED) at[0] *= scale;
      if (kind == GRADED && parts == 2) at[1] *= scale;
      if (kind == HILBERT) at[0] = 1.0 / (double)(i + j + 1) + (i == j ? 1e-3 : 0.0);
      if (kind == DIAGONAL) at[0] = i == j ? scale : 0.0;
      if (kind >= HILBERT && parts == 2) at[1] = 0.0;
    }
  return d;
}

static double array_norm_one(osla_dtype dtype, const void *array, int64_t n)
{
  double most = 0.0;
  for (int64_t j = 0; j < n; j++) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
      sum += cabs(osla_test_load(dtype, array, i + j * n));
    most = fmax(most, sum);
  }
  return most;
}

/* Computes the inverse of the example's matrix from LAPACK's factors. */
static example make_example(example_kind kind, osla_dtype dtype, int64_t n, uint64_t seed)
{
  size_t bytes = (size_t)(n * n) * osla_dtype_size(dtype);
  example e = {.a = make_dense(kind, n, parts_of(dtype), seed),
               .factors = osla_test_allocate(1, bytes),
               .pivots = osla_test_allocate(1, (size_t)n * sizeof *e.pivots)};
  void *inverse = osla_test_allocate(1, bytes);
  int64_t info = -1;
  for (int64_t i = 0; i < n * n; i++) {
    const double *at = e.a.at + i * e.a.parts;
    osla_test_store(dtype, e.factors, i, CMPLX(at[0], e.a.parts == 2 ? at[1] : 0.0));
    osla_test_store(dtype, inverse, i, i % (n + 1) == 0 ? 1.0 : 0.0);
  }
  e.anorm = array_norm_one(dtype, e.factors, n);
  OSLA_ASSERT_OK(osla_lapack_getrf(dtype, n, n, e.factors, n, e.pivots, &info));
  CU_ASSERT(info == 0);
  OSLA_ASSERT_OK(osla_lapack_laswp(dtype, n, inverse, n, n, e.pivots, false));
  OSLA_ASSERT_OK(osla_blas_trsm(dtype, OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_UNIT, n, n,
                                e.factors, n, inverse, n));
  OSLA_ASSERT_OK(osla_blas_trsm(dtype, OSLA_LEFT, OSLA_UPPER, OSLA_NOTRANS, OSLA_NONUNIT, n, n,
                                e.factors, n, inverse, n));
  e.rcond = 1.0 / e.anorm / array_norm_one(dtype, inverse, n);
  free(inverse);
  return e;
}

static void example_free(example *e)
{
  dense_free(&e->a);
  free(e->factors);
  free(e->pivots);
}

static void expect(double got, double truth, double eps, const char *what, example_kind kind,
                   const kernel_matrix *a)
{
  OSLA_ASSERT_MSG(got >= truth * (1.0 - 1e3 * eps) && got <= truth * 10.0,
                  "%s of example %d: rcond %.17g, not from %.17g to ten times that, %s", what,
                  (int)kind, got, truth, kernel_label(a->a, a->memory != NULL));
}

/* Checks the condition estimate from the Cholesky factor of the example in a triangular matrix. */
static void check_triangle(const kernel_matrix *like, const example *e, example_kind kind)
{
  const osla_layout l = osla_matrix_layout(like->a);
  osla_grid *grid = osla_matrix_grid(like->a);
  const osla_dtype dtype = osla_matrix_dtype(like->a);
  kernel_matrix a = kernel_make_triangle(grid, dtype, l.n, l.nb);
  double rcond = -1.0;
  if (osla_test_rank() == 0)
    OSLA_ASSERT_OK(osla_matrix_put_block(a.a, 0, 0, l.n, l.n, e->factors, l.n));
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(grid)));
  OSLA_ASSERT_OK(osla_pocon(OSLA_LOWER, a.a, e->anorm, &rcond));
  expect(rcond, e->rcond, kernel_eps(dtype), "Cholesky", kind, &a);
  kernel_free(&a);
}

/* Checks the condition estimate from LU factors and, if the matrix is positive definite, the
 * estimate from Cholesky factors. */
static void check_example(const kernel_matrix *a, example_kind kind, uint64_t seed)
{
  osla_dtype dtype = osla_matrix_dtype(a->a);
  int64_t n = osla_matrix_layout(a->a).n, info = -1;
  example e = make_example(kind, dtype, n, seed);
  int64_t *ipiv = local_pivots(a->a, e.pivots);
  double rcond = -1.0, eps = kernel_eps(dtype);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a->a));
  if (osla_test_rank() == 0) OSLA_ASSERT_OK(osla_matrix_put_block(a->a, 0, 0, n, n, e.factors, n));
  OSLA_ASSERT_OK(osla_barrier(t));
  OSLA_ASSERT_OK(osla_gecon(a->a, ipiv, e.anorm, &rcond));
  expect(rcond, e.rcond, eps, "LU", kind, a);
  if (kind >= HILBERT) {
    osla_uplo uplo = seed % 2 ? OSLA_UPPER : OSLA_LOWER;
    for (int64_t i = 0; i < n * n; i++) {
      const double *at = e.a.at + i * e.a.parts;
      osla_test_store(dtype, e.factors, i, CMPLX(at[0], e.a.parts == 2 ? at[1] : 0.0));
    }
    OSLA_ASSERT_OK(osla_lapack_potrf(dtype, uplo, n, e.factors, n, &info));
    CU_ASSERT(info == 0);
    if (osla_test_rank() == 0)
      OSLA_ASSERT_OK(osla_matrix_put_block(a->a, 0, 0, n, n, e.factors, n));
    OSLA_ASSERT_OK(osla_barrier(t));
    OSLA_ASSERT_OK(osla_pocon(uplo, a->a, e.anorm, &rcond));
    expect(rcond, e.rcond, eps, "Cholesky", kind, a);
    if (uplo == OSLA_LOWER) check_triangle(a, &e, kind);
  }
  free(ipiv);
  example_free(&e);
}

static void test_estimates(void)
{
  static const int64_t sizes[][2] = {{1, 1}, {2, 1}, {13, 4}, {40, 6}};
  grid_set g = grids_open();
  uint64_t turn = 0;
  for (int which = 0; which < g.n; which++)
    for (int s = 0; s < 4; s++) {
      if (!solve_turn(which, s + 2)) continue;
      osla_dtype dtype = (osla_dtype)((which + s + (int)turn / 4) % 4);
      kernel_matrix a = kernel_make(g.at[which], dtype, sizes[s][0], sizes[s][0], sizes[s][1],
                                    sizes[s][1], turn % 2);
      for (int i = 0; i < (osla_test_size() > 2 ? 1 : (int)KINDS); i++)
        check_example(&a, (example_kind)((turn + (uint64_t)i) % KINDS), turn + (uint64_t)i);
      kernel_free(&a);
      turn++;
    }
  grids_close(&g);
}

static void test_special(void)
{
  grid_set g = grids_open();
  double rcond = -1.0;
  kernel_matrix a = kernel_make(g.at[0], OSLA_DOUBLE, 6, 6, 2, 2, false);
  kernel_matrix none = kernel_make(g.at[0], OSLA_DOUBLE, 0, 0, 2, 2, false);
  kernel_matrix oblong = kernel_make(g.at[0], OSLA_DOUBLE, 6, 5, 2, 2, false);
  OSLA_ASSERT_OK(osla_gecon(none.a, NULL, 0.0, &rcond));
  OSLA_ASSERT_CLOSE(rcond, 1.0, 0.0);
  OSLA_ASSERT_OK(osla_gecon(a.a, NULL, 0.0, &rcond)); /* the matrix a is zero */
  OSLA_ASSERT_CLOSE(rcond, 0.0, 0.0);
  /* factors of a singular matrix, with zero pivots */
  OSLA_ASSERT_OK(osla_gecon(a.a, NULL, 1.0, &rcond));
  OSLA_ASSERT_CLOSE(rcond, 0.0, 0.0);
  OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_IDENTITY, 0));
  OSLA_ASSERT_OK(osla_pocon(OSLA_LOWER, a.a, 1.0, &rcond));
  OSLA_ASSERT_CLOSE(rcond, 1.0, 1e-14);
  OSLA_ASSERT_ERR(osla_pocon(OSLA_LOWER, a.a, -1.0, &rcond), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("anorm = -1");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_gecon(a.a, NULL, (double)NAN, &rcond), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_gecon(oblong.a, NULL, 1.0, &rcond), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("6 x 5");
  kernel_free(&a), kernel_free(&none), kernel_free(&oblong);
  grids_close(&g);
}

static const osla_test_case cases[] = {
  {"estimates", test_estimates}, {"special", test_special}, {NULL, NULL}};
OSLA_TEST_SUITE(test_condition, cases);
