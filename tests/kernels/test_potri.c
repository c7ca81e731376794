/* Tests of inverses from Cholesky factors, in both triangles and all types. The residual with the
 * original matrix must be small, and the inverse is compared with LAPACK's inverse from the same
 * factor. The elements outside the triangle must stay unchanged, zeros on the diagonal must be
 * reported, and the loop must have no collective operation. Calls are also repeated. */
#include "osla_blas.h"
#include "osla_gemm.h"
#include "osla_inverse.h"
#include "osla_trace.h"
#include "tests/complex_help.h"
#include "tests/kernels/kernel_stress.h"
#include "tests/kernels/kernel_trace.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct size_case {
  int64_t n, nb;
} size_case;

static const size_case sizes[] = {{1, 1},  {2, 1},   {2, 3},   {11, 1},  {16, 4},
                                  {37, 5}, {50, 64}, {61, 40}, {96, 16}, {150, 7}};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

static const int depths[] = {-1, 1, 2}; /* values of the option look_ahead */

static bool inside(osla_uplo uplo, int64_t i, int64_t j)
{
  return uplo == OSLA_LOWER ? i >= j : i <= j;
}

static double complex entry(const dense *d, int64_t i, int64_t j)
{
  const double *at = dense_at(d, i, j);
  return CMPLX(at[0], d->parts == 2 ? at[1] : 0.0);
}

/* Element (i, j) of a Hermitian matrix of which one triangle is stored. */
static double complex hermitian(const dense *d, osla_uplo uplo, int64_t i, int64_t j)
{
  return inside(uplo, i, j) ? entry(d, i, j) : conj(entry(d, j, i));
}

/* A := G G^H with a random n x (n + 3) matrix G, so that the condition number is about n^2.
 * Elements outside the stored triangle are NaN. */
static dense fill_definite(osla_matrix *a, osla_uplo uplo, uint64_t seed)
{
  osla_layout l = osla_matrix_layout(a);
  kernel_matrix g =
    kernel_make(osla_matrix_grid(a), osla_matrix_dtype(a), l.n, l.n + 3, l.nb, l.nb, false);
  OSLA_ASSERT_OK(osla_matrix_fill(g.a, OSLA_FILL_UNIFORM, seed));
  OSLA_ASSERT_OK(osla_gemm(OSLA_NOTRANS, OSLA_CONJTRANS, 1, osla_whole(g.a), osla_whole(g.a), 0,
                           osla_whole(a), NULL));
  dense d = dense_gather(a);
  for (int64_t j = 0; j < d.n; j++)
    for (int64_t i = 0; i < d.n; i++)
      for (int part = 0; part < d.parts && !inside(uplo, i, j); part++)
        dense_at(&d, i, j)[part] = (double)NAN;
  dense_scatter(&d, a);
  kernel_free(&g);
  return d;
}

static double norm_one(const dense *d, osla_uplo uplo)
{
  double largest = 0;
  for (int64_t j = 0; j < d->n; j++) {
    double sum = 0;
    for (int64_t i = 0; i < d->n; i++)
      sum += cabs(hermitian(d, uplo, i, j));
    if (!(sum <= largest)) largest = sum;
  }
  return largest;
}

/* Asserts |I - A X|_1 / (n eps |A|_1 |X|_1) < 30, the criterion of LAPACK's tester xPOT03. */
static void check_residual(const dense *a, const dense *x, osla_uplo uplo, osla_dtype dtype,
                           const char *label)
{
  double largest = 0, n = (double)a->n;
  for (int64_t j = 0; j < a->n; j++) {
    double sum = 0;
    for (int64_t i = 0; i < a->n; i++) {
      double complex product = i == j ? -1.0 : 0.0;
      for (int64_t k = 0; k < a->n; k++)
        product += hermitian(a, uplo, i, k) * hermitian(x, uplo, k, j);
      sum += cabs(product);
    }
    if (!(sum <= largest)) largest = sum;
  }
  double ratio = largest / (n * kernel_eps(dtype) * norm_one(a, uplo) * norm_one(x, uplo));
  OSLA_ASSERT_MSG(ratio < 30, "|I - A X| / (n eps |A| |X|) = %g, %s", ratio, label);
}

/* Asserts that all elements outside the triangle are still NaN. */
static void check_rest(const dense *x, osla_uplo uplo, const char *label)
{
  int64_t changed = 0;
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->n; i++)
      if (!inside(uplo, i, j) && !isnan(dense_at(x, i, j)[0])) changed++;
  OSLA_ASSERT_MSG(changed == 0, "%" PRId64 " elements of the other triangle changed, %s", changed,
                  label);
}

static void check_inverse(osla_matrix *a, osla_uplo uplo, const osla_chol_options *options,
                          uint64_t seed, const char *label)
{
  int64_t info = -1;
  char text[192];
  (void)snprintf(text, sizeof text, "%s, look-ahead %d, %s", uplo == OSLA_LOWER ? "lower" : "upper",
                 options ? options->look_ahead : 0, label);
  dense before = fill_definite(a, uplo, seed);
  OSLA_ASSERT_OK(osla_potrf(uplo, a, NULL, &info));
  OSLA_ASSERT_MSG(info == 0, "potrf: info %" PRId64 ", %s", info, text);
  info = -1;
  OSLA_ASSERT_OK(osla_potri(uplo, a, options, &info));
  OSLA_ASSERT_MSG(info == 0, "info %" PRId64 ", %s", info, text);
  dense after = dense_gather(a);
  check_residual(&before, &after, uplo, osla_matrix_dtype(a), text);
  check_rest(&after, uplo, text);
  dense_free(&before), dense_free(&after);
}

static void test_grids_and_blocks(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < N_SIZES; s++) {
      if (!kernel_turn(g, s)) continue;
      bool wrapped = (g + 2 * s) % 3 == 0;
      osla_dtype dtype = (osla_dtype)((g / 2 + s) % 4);
      kernel_matrix a =
        kernel_make(grid, dtype, sizes[s].n, sizes[s].n, sizes[s].nb, sizes[s].nb, wrapped);
      char label[128];
      (void)snprintf(label, sizeof label, "%s", kernel_label(a.a, wrapped));
      for (int i = 0; i < 2; i++) {
        osla_chol_options options = {.look_ahead = depths[(s + g + i) % 3],
                                     .forward = kernel_forward(s + g)};
        check_inverse(a.a, i ? OSLA_UPPER : OSLA_LOWER, s % 2 ? &options : NULL,
                      (uint64_t)(s + 20 * i), label);
      }
      kernel_free(&a);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* A matrix that lies in one block, with a block size far larger than its order. */
static void test_huge_block(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix a =
    kernel_make(grid, OSLA_DOUBLE, 10, 10, INT64_C(1) << 40, INT64_C(1) << 40, false);
  check_inverse(a.a, OSLA_LOWER, NULL, 7, kernel_label(a.a, false));
  kernel_free(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_empty(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    int64_t info = -1;
    kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, 0, 0, 3, 3, g & 1);
    OSLA_ASSERT_OK(osla_potri(g % 2 ? OSLA_LOWER : OSLA_UPPER, a.a, NULL, &info));
    CU_ASSERT(info == 0);
    kernel_free(&a);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Compares the inverse with the one that LAPACK computes in double precision from the same factor
 * of a well-conditioned matrix. */
static void check_lapack(osla_grid *grid, osla_dtype dtype, osla_uplo uplo, size_case s)
{
  kernel_matrix a = kernel_make(grid, dtype, s.n, s.n, s.nb, s.nb, false);
  int64_t info = -1, local_info = -1;
  double worst = 0, largest = 0;
  OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_SPD, 5));
  OSLA_ASSERT_OK(osla_potrf(uplo, a.a, NULL, &info));
  dense expected = dense_gather(a.a);
  OSLA_ASSERT_OK(osla_potri(uplo, a.a, NULL, &info));
  OSLA_ASSERT_OK(osla_lapack_potri(expected.parts == 2 ? OSLA_COMPLEX_DOUBLE : OSLA_DOUBLE, uplo,
                                   s.n, expected.at, s.n, &local_info));
  dense x = dense_gather(a.a);
  for (int64_t j = 0; j < s.n; j++)
    for (int64_t i = 0; i < s.n; i++) {
      double distance = cabs(entry(&x, i, j) - entry(&expected, i, j));
      if (inside(uplo, i, j) && cabs(entry(&expected, i, j)) > largest)
        largest = cabs(entry(&expected, i, j));
      /* elements outside the triangle must be unchanged */
      if (!inside(uplo, i, j) && distance != 0) distance = (double)INFINITY;
      if (!(distance <= worst)) worst = distance;
    }
  OSLA_ASSERT_MSG(info == 0 && local_info == 0 &&
                    worst <= 8 * (double)s.n * kernel_eps(dtype) * largest,
                  "|X - LAPACK's| = %g, |X| = %g, info %" PRId64 ", %s", worst, largest, info,
                  kernel_label(a.a, false));
  dense_free(&expected), dense_free(&x);
  kernel_free(&a);
}

static void test_lapack(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int dtype = 0; dtype < 4; dtype++)
      if (kernel_turn(g, dtype))
        check_lapack(grid, (osla_dtype)dtype, (g + dtype / 2) % 2 ? OSLA_LOWER : OSLA_UPPER,
                     (size_case){29 + dtype, 4});
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* The factor has zeros on the diagonal, at `bad` and in later rows. info must name the first one,
 * as LAPACK's does, and the matrix must stay unchanged. */
static void check_singular(osla_grid *grid, osla_dtype dtype, osla_uplo uplo, size_case s,
                           int64_t bad)
{
  int64_t info = -1, local_info = -1;
  kernel_matrix a = kernel_make(grid, dtype, s.n, s.n, s.nb, s.nb, false);
  OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_SPD, 6));
  dense d = dense_gather(a.a);
  for (int part = 0; part < d.parts; part++)
    dense_at(&d, bad, bad)[part] = dense_at(&d, s.n - 1, s.n - 1)[part] = part ? 0.0 : -0.0;
  dense_scatter(&d, a.a);
  OSLA_ASSERT_OK(osla_potri(uplo, a.a, NULL, &info));
  kernel_expect(a.a, &d, "singular factor, zero %" PRId64, bad);
  OSLA_ASSERT_OK(osla_lapack_potri(d.parts == 2 ? OSLA_COMPLEX_DOUBLE : OSLA_DOUBLE, uplo, s.n,
                                   d.at, s.n, &local_info));
  OSLA_ASSERT_MSG(info == bad + 1 && local_info == bad + 1,
                  "zero %" PRId64 ": info %" PRId64 ", LAPACK's %" PRId64 ", %s", bad, info,
                  local_info, kernel_label(a.a, false));
  dense_free(&d);
  kernel_free(&a);
}

static void test_singular(void)
{
  static const size_case list[] = {{30, 4}, {30, 4}, {30, 4}, {90, 70}, {1, 1}};
  static const int64_t bad[] = {0, 17, 29, 41, 0};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < 5; s++)
      if (kernel_turn(g, s))
        check_singular(grid, (osla_dtype)((g + s) % 4), g % 2 ? OSLA_LOWER : OSLA_UPPER, list[s],
                       bad[s]);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  int64_t info = 0;
  kernel_matrix oblong = kernel_make(grid, OSLA_DOUBLE, 4, 7, 2, 2, false);
  kernel_matrix blocks = kernel_make(grid, OSLA_DOUBLE, 7, 7, 2, 3, false);
  kernel_matrix square = kernel_make(grid, OSLA_DOUBLE, 7, 7, 2, 2, false);
  OSLA_ASSERT_ERR(osla_potri(OSLA_LOWER, oblong.a, NULL, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("4 x 7, not square");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_potri(OSLA_UPPER, blocks.a, NULL, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("2 x 3");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_potri((osla_uplo)2, square.a, NULL, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("inverse: uplo = 2");
  OSLA_ASSERT_SAME_TEXT();
  osla_chol_options deep = {.look_ahead = 3};
  OSLA_ASSERT_ERR(osla_potri(OSLA_LOWER, square.a, &deep, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("look_ahead = 3");
  OSLA_ASSERT_SAME_TEXT();
  kernel_free(&oblong), kernel_free(&blocks), kernel_free(&square);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_no_collectives(void)
{
  enum { N = 100, NB = 8 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, kernel_n_grids(t) > 2 ? 1 : 0); /* a 2 x 2 grid on four ranks */
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, NB, NB, false);
  for (int i = 0; i < 3; i++) {
    osla_chol_options options = {.look_ahead = depths[i]};
    int64_t info = -1;
    /* any triangle can be used as a factor */
    OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_SPD, 3));
    OSLA_ASSERT_OK(osla_trace_start(t));
    OSLA_ASSERT_OK(osla_potri(i % 2 ? OSLA_UPPER : OSLA_LOWER, a.a, &options, &info));
    (void)loop_trace_expect(t, i % 2 ? "upper" : "lower");
  }
  kernel_free(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void stress(const stress_round *r)
{
  kernel_matrix a = kernel_make(r->grid, r->dtype, r->n, r->n, r->nb, r->nb, r->wrapped);
  char label[160];
  (void)snprintf(label, sizeof label, "%s, %s", r->name, kernel_label(a.a, r->wrapped));
  for (int i = 0; i < 4; i++) {
    osla_chol_options options = {.look_ahead = depths[i % 3]};
    check_inverse(a.a, i / 2 ? OSLA_UPPER : OSLA_LOWER, &options, r->seed + (uint64_t)i, label);
  }
  kernel_free(&a);
}

static void test_stress(void)
{
  kernel_stress(2, 5000, stress);
}

static const osla_test_case cases[] = {
  {"grids_and_blocks", test_grids_and_blocks},
  {"huge_block", test_huge_block},
  {"empty", test_empty},
  {"lapack", test_lapack},
  {"singular", test_singular},
  {"errors", test_errors},
  {"no_collectives", test_no_collectives},
  {"stress", test_stress},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_potri, cases);
