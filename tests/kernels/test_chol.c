/* Tests of Cholesky for the lower and the upper triangle. Exact factors are compared bitwise, and
 * other factors are checked by their backward error. The other triangle must stay unchanged, a
 * matrix that is not positive definite must be reported, and the loop must have no collective
 * operation. Calls are also repeated. */
#include "osla_blas.h"
#include "osla_chol.h"
#include "osla_gemm.h"
#include "osla_trace.h"
#include "tests/complex_help.h"
#include "tests/kernels/kernel_stress.h"
#include "tests/kernels/kernel_trace.h"
#include "tests/kernels/solve_reference.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct size_case {
  int64_t n, nb;
} size_case;

static const size_case sizes[] = {{1, 1},  {2, 1},   {2, 3},   {11, 1},  {16, 4},
                                  {37, 5}, {50, 64}, {61, 40}, {96, 16}, {150, 7}};
enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

static bool inside(osla_uplo uplo, int64_t i, int64_t j)
{
  return uplo == OSLA_LOWER ? i >= j : i <= j;
}

/* Returns the triangle `uplo` of `stored`; elements outside the triangle are set from `rest`. */
static dense triangle_and(osla_uplo uplo, const dense *stored, double rest)
{
  dense d = dense_make(stored->n, stored->n, 1);
  for (int64_t j = 0; j < d.n; j++)
    for (int64_t i = 0; i < d.n; i++)
      *dense_at(&d, i, j) = inside(uplo, i, j) ? *dense_at(stored, i, j) : rest + (double)(i - j);
  return d;
}

static const int depths[] = {-1, 1, 2}; /* values of the option look_ahead */

/* Checks a factorisation with an exact factor. The elements outside the triangle are filled with
 * `rest`: numbers to show that these elements are not written, NaN to show that they are not read.
 */
static void check_exact(osla_matrix *a, osla_uplo uplo, int look_ahead, double rest, uint64_t seed,
                        const char *label)
{
  int64_t info = -1;
  osla_chol_options options = {.look_ahead = look_ahead, .forward = kernel_forward((int)seed)};
  dense l = exact_lower(osla_matrix_layout(a).n, seed), u = dense_transpose(&l);
  dense product = dense_product(&l, &u), before = triangle_and(uplo, &product, rest);
  dense after = triangle_and(uplo, uplo == OSLA_LOWER ? &l : &u, rest);
  dense_scatter(&before, a);
  OSLA_ASSERT_OK(osla_potrf(uplo, a, &options, &info));
  OSLA_ASSERT_MSG(info == 0, "%s: info %" PRId64, label, info);
  kernel_expect(a, &after, "exact Cholesky, %s, look-ahead %d, %s",
                uplo == OSLA_LOWER ? "lower" : "upper", look_ahead, label);
  dense_free(&l), dense_free(&u), dense_free(&product), dense_free(&before), dense_free(&after);
}

static void check_backward(osla_matrix *a, osla_uplo uplo, const osla_chol_options *options,
                           const char *label)
{
  int64_t info = -1;
  OSLA_ASSERT_OK(osla_matrix_fill(a, OSLA_FILL_SPD, 4));
  dense da = dense_gather(a);
  OSLA_ASSERT_OK(osla_potrf(uplo, a, options, &info));
  OSLA_ASSERT_MSG(info == 0, "%s: info %" PRId64, label, info);
  dense f = dense_gather(a);
  for (int64_t j = 0; j < f.n; j++)
    for (int64_t i = 0; i < f.n; i++)
      if (!inside(uplo, i, j)) *dense_at(&f, i, j) = 0.0;
  dense g = dense_transpose(&f);
  kernel_backward(label, &da, uplo == OSLA_LOWER ? &f : &g, uplo == OSLA_LOWER ? &g : &f,
                  osla_matrix_dtype(a));
  dense_free(&da), dense_free(&f), dense_free(&g);
}

static void test_grids_and_blocks(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < N_SIZES; s++) {
      if (!kernel_turn(g, s)) continue;
      bool wrapped = (g + 2 * s) % 3 == 0;
      osla_dtype dtype = (g / 2 + s) % 2 ? OSLA_FLOAT : OSLA_DOUBLE;
      osla_uplo uplo = (g + s / 2) % 2 ? OSLA_LOWER : OSLA_UPPER,
                other = (osla_uplo)(1 - (int)uplo);
      kernel_matrix a =
        kernel_make(grid, dtype, sizes[s].n, sizes[s].n, sizes[s].nb, sizes[s].nb, wrapped);
      char label[128];
      (void)snprintf(label, sizeof label, "%s", kernel_label(a.a, wrapped));
      check_exact(a.a, OSLA_LOWER, depths[s % 3], (double)NAN, (uint64_t)s, label);
      check_exact(a.a, OSLA_UPPER, depths[(s + g) % 3], 5e5, (uint64_t)s + 20, label);
      check_exact(a.a, uplo, depths[(s + 1) % 3], uplo == OSLA_LOWER ? 5e5 : (double)NAN,
                  (uint64_t)s + 40, label);
      check_backward(a.a, other, NULL, label);
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
  check_exact(a.a, OSLA_LOWER, 1, 3.0, 7, kernel_label(a.a, false));
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
    OSLA_ASSERT_OK(osla_potrf(g % 2 ? OSLA_LOWER : OSLA_UPPER, a.a, NULL, &info));
    CU_ASSERT(info == 0);
    kernel_free(&a);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Factors L L^T after diagonal element `bad` was changed, so that pivot `bad` is 0, negative or
 * NaN, and all earlier pivots are positive. The call must return info = bad + 1, and so must LAPACK
 * if it detects NaN. */
static void check_indefinite(osla_grid *grid, osla_dtype dtype, osla_uplo uplo, size_case s,
                             int64_t bad, double change)
{
  int64_t info = -1, local_info = -1;
  kernel_matrix a = kernel_make(grid, dtype, s.n, s.n, s.nb, s.nb, false);
  dense l = exact_lower(s.n, 12), u = dense_transpose(&l), da = dense_product(&l, &u);
  double *pivot = dense_at(&da, bad, bad), root = *dense_at(&l, bad, bad);
  *pivot = *pivot - root * root + change;
  dense_scatter(&da, a.a);
  OSLA_ASSERT_OK(osla_potrf(uplo, a.a, NULL, &info));
  OSLA_ASSERT_OK(osla_lapack_potrf(OSLA_DOUBLE, uplo, s.n, da.at, s.n, &local_info));
  OSLA_ASSERT_MSG(info == bad + 1 && local_info == bad + 1,
                  "pivot %" PRId64 " is %g: info %" PRId64 ", LAPACK's %" PRId64 ", %s", bad,
                  change, info, local_info, kernel_label(a.a, false));
  dense_free(&l), dense_free(&u), dense_free(&da);
  kernel_free(&a);
}

static void test_indefinite(void)
{
  static const double changes[] = {-1.0, 0.0, -400.0, NAN};
  static const size_case list[] = {{30, 4}, {30, 4}, {30, 4}, {90, 70}, {1, 1}};
  static const int64_t bad[] = {0, 17, 29, 41, 0};
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g += osla_test_size() > 2 ? 2 : 1) {
    osla_dtype dtype = g / 2 % 2 ? OSLA_FLOAT : OSLA_DOUBLE;
    for (int i = 0; i < 4; i++) {
      osla_uplo uplo = (g / 4 + i) % 2 ? OSLA_LOWER : OSLA_UPPER;
      for (int s = 0; s < 5; s++)
        if (kernel_turn(g / 2, 7 * i + s))
          check_indefinite(grid, dtype, uplo, list[s], bad[s], changes[i]);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Factors a matrix with a NaN at (row, column) of the triangle, off the diagonal. The NaN makes the
 * pivot of this row NaN. */
static void check_nan(osla_grid *grid, osla_uplo uplo, int64_t row, int64_t column)
{
  enum { N = 33, NB = 5 };
  int64_t info = -1;
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, N, N, NB, NB, false);
  dense l = exact_lower(N, 12), u = dense_transpose(&l), da = dense_product(&l, &u);
  *(uplo == OSLA_LOWER ? dense_at(&da, row, column) : dense_at(&da, column, row)) = (double)NAN;
  dense_scatter(&da, a.a);
  OSLA_ASSERT_OK(osla_potrf(uplo, a.a, NULL, &info));
  OSLA_ASSERT_MSG(info == row + 1, "NaN at (%" PRId64 ", %" PRId64 "): info %" PRId64 ", %s", row,
                  column, info, kernel_label(a.a, false));
  dense_free(&l), dense_free(&u), dense_free(&da);
  kernel_free(&a);
}

static void test_nan(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    osla_uplo uplo = g % 2 ? OSLA_LOWER : OSLA_UPPER;
    if (kernel_turn(g, 0)) check_nan(grid, uplo, 20, 2);
    if (kernel_turn(g, 1)) check_nan(grid, uplo, 3, 1);
    if (kernel_turn(g, 2)) check_nan(grid, uplo, 32, 30);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static double complex entry(const dense *d, int64_t i, int64_t j)
{
  const double *at = dense_at(d, i, j);
  return CMPLX(at[0], at[1]);
}

/* Asserts |A - L L^H| <= 8 n eps |A| in the maximum norm, where A = G G^H with a random n x 2 n
 * matrix G. */
static void check_complex(osla_grid *grid, osla_dtype dtype, osla_uplo uplo, int64_t n, int64_t nb,
                          const osla_chol_options *options)
{
  kernel_matrix a = kernel_make(grid, dtype, n, n, nb, nb, nb % 2 == 0);
  kernel_matrix g = kernel_make(grid, dtype, n, 2 * n, nb, nb, false);
  int64_t info = -1;
  double worst = 0, largest = 0;
  OSLA_ASSERT_OK(osla_matrix_fill(g.a, OSLA_FILL_UNIFORM, (uint64_t)n));
  OSLA_ASSERT_OK(osla_gemm(OSLA_NOTRANS, OSLA_CONJTRANS, 1, osla_whole(g.a), osla_whole(g.a), 0,
                           osla_whole(a.a), NULL));
  dense da = dense_gather(a.a);
  OSLA_ASSERT_OK(osla_potrf(uplo, a.a, options, &info));
  dense f = dense_gather(a.a);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j; i < n; i++) { /* for each element (i, j) of the lower triangle of A */
      double complex sum = 0;
      for (int64_t k = 0; k <= j; k++)
        sum += uplo == OSLA_LOWER ? entry(&f, i, k) * conj(entry(&f, j, k))
                                  : conj(entry(&f, k, i)) * entry(&f, k, j);
      double distance = cabs(sum - entry(&da, i, j));
      if (!(distance <= worst)) worst = distance;
      if (cabs(entry(&da, i, j)) > largest) largest = cabs(entry(&da, i, j));
    }
  OSLA_ASSERT_MSG(info == 0 && worst <= 8 * (double)n * kernel_eps(dtype) * largest,
                  "|A - L L^H| = %g, |A| = %g, info %" PRId64 ", %s", worst, largest, info,
                  kernel_label(a.a, false));
  dense_free(&da), dense_free(&f);
  kernel_free(&a), kernel_free(&g);
}

static void test_complex(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    osla_chol_options options = {.look_ahead = depths[g % 3], .forward = kernel_forward(g)};
    osla_uplo uplo = g % 2 ? OSLA_LOWER : OSLA_UPPER;
    if (kernel_turn(g, 0)) check_complex(grid, OSLA_COMPLEX_DOUBLE, uplo, 29, 4, &options);
    if (kernel_turn(g, 1)) check_complex(grid, OSLA_COMPLEX_FLOAT, uplo, 17, 5, NULL);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Returns the sum of the logarithms of the squared diagonal of a factor. */
static double logdet_of(const dense *factor)
{
  double sum = 0;
  for (int64_t i = 0; i < factor->n; i++)
    sum += 2 * log(dense_at(factor, i, i)[0]);
  return sum;
}

/* Compares the logarithm of the determinant with a sum over the whole factor. On all grids the
 * result must have the bits of *bits, which the call for grid 0 sets. The imaginary part of a
 * complex diagonal, and all other elements, are NaN, because they must not be read. */
static void check_logdet(osla_grid *grid, int g, osla_dtype dtype, size_case s, double *bits)
{
  kernel_matrix a = kernel_make(grid, dtype, s.n, s.n, s.nb, s.nb, g % 2);
  dense l = dense_make(s.n, s.n, dtype >= OSLA_COMPLEX_FLOAT ? 2 : 1);
  double value = -1;
  for (int64_t i = 0; i < s.n * s.n * l.parts; i++)
    l.at[i] = (double)NAN;
  for (int64_t i = 0; i < s.n; i++)
    dense_at(&l, i, i)[0] = 0.25 + (double)(i * i % 17);
  matrix_set(&l, a.a);
  OSLA_ASSERT_OK(osla_chol_logdet(g % 2 ? OSLA_UPPER : OSLA_LOWER, a.a, &value));
  OSLA_ASSERT_CLOSE(value, logdet_of(&l), 1e-13 * (double)s.n);
  if (g == 0) *bits = value;
  OSLA_ASSERT_MSG(memcmp(&value, bits, sizeof value) == 0, "%.17g, but %.17g on grid 0, %s", value,
                  *bits, kernel_label(a.a, g % 2));
  dense_free(&l);
  kernel_free(&a);
}

static void test_logdet(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  double bits[N_SIZES];
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int s = 0; s < N_SIZES; s++)
      if (g == 0 || kernel_turn(g, s))
        check_logdet(grid, g, (osla_dtype)(s % 4), sizes[s], &bits[s]);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* Elements of a factor's diagonal that are not positive are refused with their index. */
static void test_logdet_errors(void)
{
  static const double wrong[] = {0.0, -3.0, NAN};
  static const char *const texts[] = {"diagonal element 20 (from 0) of the factor is 0",
                                      "element 20 (from 0) of the factor is -3", "is nan"};
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, 31, 31, 4, 4, false);
  kernel_matrix oblong = kernel_make(grid, OSLA_DOUBLE, 4, 7, 2, 2, false);
  kernel_matrix empty = kernel_make(grid, OSLA_COMPLEX_FLOAT, 0, 0, 2, 2, false);
  double value = 7;
  for (int i = 0; i < 3; i++) {
    OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_IDENTITY, 0));
    if (osla_test_rank() == 0)
      OSLA_ASSERT_OK(osla_matrix_put_block(a.a, 20, 20, 1, 1, &wrong[i], 1));
    OSLA_ASSERT_OK(osla_barrier(t));
    OSLA_ASSERT_ERR(osla_chol_logdet(OSLA_LOWER, a.a, &value), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT(texts[i]);
    OSLA_ASSERT_SAME_TEXT();
  }
  OSLA_ASSERT_ERR(osla_chol_logdet(OSLA_UPPER, oblong.a, &value), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("4 x 7");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_CLOSE(value, 7.0, 0.0);
  OSLA_ASSERT_OK(osla_chol_logdet(OSLA_UPPER, empty.a, &value));
  OSLA_ASSERT_CLOSE(value, 0.0, 0.0);
  kernel_free(&a), kernel_free(&oblong), kernel_free(&empty);
  osla_grid_destroy(&grid);
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
  OSLA_ASSERT_ERR(osla_potrf(OSLA_LOWER, oblong.a, NULL, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("4 x 7");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_potrf(OSLA_UPPER, blocks.a, NULL, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("2 x 3");
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_potrf(OSLA_LOWER, square.a, &(osla_chol_options){.look_ahead = 3}, &info),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("look_ahead = 3");
  OSLA_ASSERT_SAME_TEXT();
  osla_chol_options nowhere = {.forward = (osla_forward)4};
  OSLA_ASSERT_ERR(osla_potrf(OSLA_LOWER, square.a, &nowhere, &info), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("forward = 4");
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
    OSLA_ASSERT_OK(osla_matrix_fill(a.a, OSLA_FILL_SPD, 3));
    OSLA_ASSERT_OK(osla_trace_start(t));
    OSLA_ASSERT_OK(osla_potrf(i % 2 ? OSLA_UPPER : OSLA_LOWER, a.a, &options, &info));
    (void)loop_trace_expect(t, i % 2 ? "upper" : "lower");
  }
  kernel_free(&a);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void stress(const stress_round *r)
{
  /* the round's type is reduced to a real one, since exact factors are real */
  osla_dtype dtype = (osla_dtype)(r->dtype % 2);
  kernel_matrix a = kernel_make(r->grid, dtype, r->n, r->n, r->nb, r->nb, r->wrapped);
  kernel_matrix b = kernel_make(r->grid, OSLA_DOUBLE, r->n, r->n, r->nb, r->nb, false);
  char label[160];
  (void)snprintf(label, sizeof label, "%s, %s", r->name, kernel_label(a.a, r->wrapped));
  for (int i = 0; i < 4; i++) {
    osla_uplo uplo = i / 2 ? OSLA_UPPER : OSLA_LOWER;
    int64_t info = -1;
    OSLA_ASSERT_OK(osla_matrix_fill(b.a, OSLA_FILL_SPD, r->seed));
    OSLA_ASSERT_OK(osla_potrf(uplo, b.a, NULL, &info)); /* the next call follows without a pause */
    check_exact(a.a, uplo, depths[i % 3], 3.0, r->seed + (uint64_t)i, label);
  }
  check_backward(b.a, OSLA_LOWER, NULL, label);
  kernel_free(&a), kernel_free(&b);
}

static void test_stress(void)
{
  kernel_stress(2, 3000, stress);
}

static const osla_test_case cases[] = {
  {"grids_and_blocks", test_grids_and_blocks},
  {"huge_block", test_huge_block},
  {"empty", test_empty},
  {"indefinite", test_indefinite},
  {"nan", test_nan},
  {"complex", test_complex},
  {"logdet", test_logdet},
  {"logdet_errors", test_logdet_errors},
  {"errors", test_errors},
  {"no_collectives", test_no_collectives},
  {"stress", test_stress},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_chol, cases);
