/* Tests of kernels on device matrices. Each result must equal that of the call on host matrices.
 * Before most comparisons rank 0 overwrites the operands (device_overwrite), so that a call which
 * returns before its work is complete gives wrong results. */
#include "osla_blas.h"
#include "osla_chol.h"
#include "osla_gemm.h"
#include "osla_solve.h"
#include "tests/complex_help.h"
#include "tests/device/device_help.h"

#include <complex.h>
#include <math.h>

static const osla_trans transpositions[] = {OSLA_NOTRANS, OSLA_TRANS, OSLA_CONJTRANS};
static const osla_complex alpha = 1.5 - 0.25 * I, beta = -0.5 + 0.75 * I;

/* Matrices of order n with blocks of nb x nb elements. */
static const struct size_case {
  int64_t n, nb;
} sizes[] = {{1, 1}, {2, 3}, {7, 2}, {19, 4}, {61, 16}, {150, 70}};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* ---- products ---- */

/* Computes C := alpha op(A) op(B) + beta C on the host and on the device, and compares both
 * results. */
static void multiply(device_bench *b, osla_grid *grid, osla_dtype dtype, osla_trans ta,
                     osla_trans tb, int64_t nb)
{
  enum { M = 23, N = 17, K = 31 };
  const bool plain_a = ta == OSLA_NOTRANS, plain_b = tb == OSLA_NOTRANS;
  matrix_pair x = pair_make(b, b->alone, grid, dtype, plain_a ? M : K, plain_a ? K : M, nb, nb + 1,
                            OSLA_FILL_UNIFORM, 1);
  matrix_pair y = pair_make(b, b->alone, grid, dtype, plain_b ? K : N, plain_b ? N : K, nb + 1, nb,
                            OSLA_FILL_UNIFORM, 2);
  matrix_pair c = pair_make(b, b->alone, grid, dtype, M, N, nb, nb, OSLA_FILL_UNIFORM, 3);
  OSLA_ASSERT_OK(osla_gemm(ta, tb, alpha, osla_whole(x.host), osla_whole(y.host), beta,
                           osla_whole(c.host), NULL));
  OSLA_ASSERT_OK(osla_gemm(ta, tb, alpha, osla_whole(x.device), osla_whole(y.device), beta,
                           osla_whole(c.device), NULL));
  device_overwrite(x.device);
  device_overwrite(y.device);
  pair_expect(&c, 50, "gemm '%c', trans %d and %d, nb %d", osla_dtype_letter(dtype), (int)ta,
              (int)tb, (int)nb);
  pair_free(&x), pair_free(&y), pair_free(&c);
}

static void check_gemm(device_bench *b, osla_grid *grid, int which)
{
  for (int i = 0; i < 9; i++) /* all pairs of transpositions, and several pairs for each type */
    multiply(b, grid, all_types[(i + which) % 4], transpositions[i % 3], transpositions[i / 3],
             i % 2 == 0 ? 3 : 40);
}

static void test_gemm(void)
{
  on_all_grids(check_gemm);
}

static void test_gemm_types(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_grid *grid = osla_test_square_grid(b.t);
  for (int i = 0; i < 36; i++)
    multiply(&b, grid, all_types[i % 4], transpositions[i / 4 % 3], transpositions[i / 12], 4);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

/* Compares products of parts on the device with those on the host. The parts begin at a block
 * corner or inside a block. Either A has 21 columns and beta is 0, or A has no column. */
static void check_parts(device_bench *b, osla_grid *grid, int which)
{
  const osla_dtype dtype = all_types[which % 4];
  matrix_pair x = pair_make(b, b->alone, grid, dtype, 40, 40, 4, 4, OSLA_FILL_UNIFORM, 1);
  matrix_pair c = pair_make(b, b->alone, grid, dtype, 40, 40, 4, 4, OSLA_FILL_UNIFORM, 3);
  for (int inside = 0; inside < 2; inside++)
    for (int k = 21; k >= 0; k -= 21) {
      osla_part xh = {x.host, 4, 8 + inside, 19, k}, yh = {x.host, 8, 12, k, 17};
      osla_part ch = {c.host, 8 + inside, 4, 19, 17}, xd = xh, yd = yh, cd = ch;
      xd.matrix = yd.matrix = x.device;
      cd.matrix = c.device;
      OSLA_ASSERT_OK(
        osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, alpha, xh, yh, k > 0 ? 0 : beta, ch, NULL));
      OSLA_ASSERT_OK(
        osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, alpha, xd, yd, k > 0 ? 0 : beta, cd, NULL));
      pair_expect(&c, 50, "gemm of parts, k %d", k);
    }
  pair_free(&x), pair_free(&c);
}

static void test_gemm_parts(void)
{
  on_all_grids(check_parts);
}

/* Compares a product with a 5 x 5 matrix C and k = 9000. C is so small that on host matrices
 * osla_gemm would distribute the sum over k among the ranks. */
static void test_gemm_long(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_grid *grid = osla_test_square_grid(b.t);
  matrix_pair x = pair_make(&b, b.alone, grid, OSLA_DOUBLE, 9000, 5, 64, 64, OSLA_FILL_UNIFORM, 1);
  matrix_pair c = pair_make(&b, b.alone, grid, OSLA_DOUBLE, 5, 5, 64, 64, OSLA_FILL_UNIFORM, 3);
  OSLA_ASSERT_OK(osla_gemm(OSLA_TRANS, OSLA_NOTRANS, 1, osla_whole(x.host), osla_whole(x.host), 1,
                           osla_whole(c.host), NULL));
  OSLA_ASSERT_OK(osla_gemm(OSLA_TRANS, OSLA_NOTRANS, 1, osla_whole(x.device), osla_whole(x.device),
                           1, osla_whole(c.device), NULL));
  pair_expect(&c, 500, "gemm of long matrices");
  pair_free(&x), pair_free(&c);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

static void check_syrk(device_bench *b, osla_grid *grid, int which)
{
  for (int i = 0; i < 4; i++) {
    const int64_t n = i < 2 ? 45 : 100, nb = i % 2 == 0 ? 4 : 40;
    const bool trans = (i + which) % 2 != 0;
    const osla_uplo uplo = (i / 2 + which) % 2 == 0 ? OSLA_LOWER : OSLA_UPPER;
    const osla_dtype dtype = all_types[(i + which) % 4];
    matrix_pair a = pair_make(b, b->alone, grid, dtype, trans ? 13 : n, trans ? n : 13, nb, nb + 1,
                              OSLA_FILL_UNIFORM, 1);
    matrix_pair c = pair_make(b, b->alone, grid, dtype, n, n, nb, nb + 1, OSLA_FILL_UNIFORM, 2);
    const osla_trans t = trans ? OSLA_TRANS : OSLA_NOTRANS;
    const osla_complex keep = i == 3 ? 0 : beta;
    OSLA_ASSERT_OK(osla_syrk(uplo, t, alpha, osla_whole(a.host), keep, osla_whole(c.host), NULL));
    OSLA_ASSERT_OK(
      osla_syrk(uplo, t, alpha, osla_whole(a.device), keep, osla_whole(c.device), NULL));
    device_overwrite(a.device);
    pair_expect(&c, 50, "syrk, trans %d, uplo %d", trans, (int)uplo);
    pair_free(&a), pair_free(&c);
  }
}

static void test_syrk(void)
{
  on_all_grids(check_syrk);
}

/* Compares osla_herk on the device with osla_herk on the host. A diagonal element of C has an
 * imaginary part (NaN or 0.25), which osla_herk must not read. */
static void check_herk(device_bench *b, osla_grid *grid, int which)
{
  for (int i = 0; i < 2; i++) {
    const int64_t n = i == 0 ? 45 : 100, nb = i == 0 ? 4 : 40;
    const bool trans = (i + which) % 2 != 0;
    const osla_uplo uplo = (i / 2 + which) % 2 == 0 ? OSLA_LOWER : OSLA_UPPER;
    const osla_dtype dtype = all_types[i == 0 ? 3 : which % 4];
    const osla_complex bad = CMPLX(0.5, i == 0 ? (double)NAN : 0.25);
    matrix_pair a = pair_make(b, b->alone, grid, dtype, trans ? 13 : n, trans ? n : 13, nb, nb + 1,
                              OSLA_FILL_UNIFORM, 1);
    matrix_pair c = pair_make(b, b->alone, grid, dtype, n, n, nb, nb + 1, OSLA_FILL_SPD, 2);
    osla_complex element;
    osla_test_store(dtype, &element, 0, bad);
    OSLA_ASSERT_OK(osla_matrix_put_block(c.host, n / 2, n / 2, 1, 1, &element, 1));
    OSLA_ASSERT_OK(osla_barrier(b->t)); /* all ranks have filled their elements */
    if (osla_transport_rank(b->t) == 0)
      OSLA_ASSERT_OK(osla_matrix_put_block(c.device, n / 2, n / 2, 1, 1, &element, 1));
    const osla_trans t = trans ? OSLA_CONJTRANS : OSLA_NOTRANS;
    OSLA_ASSERT_OK(osla_herk(uplo, t, 1.5, osla_whole(a.host), -0.5, osla_whole(c.host), NULL));
    OSLA_ASSERT_OK(osla_herk(uplo, t, 1.5, osla_whole(a.device), -0.5, osla_whole(c.device), NULL));
    device_overwrite(a.device);
    pair_expect(&c, 50, "herk, trans %d, uplo %d", trans, (int)uplo);
    pair_free(&a), pair_free(&c);
  }
}

static void test_herk(void)
{
  on_all_grids(check_herk);
}

/* ---- Cholesky and solves ---- */

/* Solves A X = B with the Cholesky factor of A, on the device and on the host, and compares X. */
static void check_potrs(device_bench *b, osla_grid *grid, osla_uplo uplo, const matrix_pair *a)
{
  const osla_layout l = osla_matrix_layout(a->host);
  matrix_pair x =
    pair_make(b, b->alone, grid, osla_matrix_dtype(a->host), l.n, 5, l.nb, 2, OSLA_FILL_UNIFORM, 2);
  OSLA_ASSERT_OK(osla_potrs(uplo, a->host, x.host));
  OSLA_ASSERT_OK(osla_potrs(uplo, a->device, x.device));
  device_overwrite(a->device);
  pair_expect(&x, 100, "potrs, n %d, uplo %d", (int)l.n, (int)uplo);
  pair_free(&x);
}

static void check_potrf(device_bench *b, osla_grid *grid, int which)
{
  for (int i = 0; i < N_SIZES; i++) {
    const int64_t n = sizes[i].n, nb = sizes[i].nb;
    const osla_uplo uplo = (i + which) % 2 == 0 ? OSLA_LOWER : OSLA_UPPER;
    const osla_chol_options options = {.look_ahead = (i + which) % 4 - 1};
    int64_t info = -1, expected = -1;
    matrix_pair a =
      pair_make(b, b->alone, grid, all_types[(i + which) % 4], n, n, nb, nb, OSLA_FILL_SPD, 1);
    OSLA_ASSERT_OK(osla_potrf(uplo, a.host, &options, &expected));
    OSLA_ASSERT_OK(osla_potrf(uplo, a.device, &options, &info));
    CU_ASSERT(info == 0 && expected == 0);
    pair_expect(&a, 50, "potrf, n %d, nb %d, uplo %d, look-ahead %d", (int)n, (int)nb, (int)uplo,
                options.look_ahead);
    double logdet = 0, expected_logdet = 0;
    OSLA_ASSERT_OK(osla_chol_logdet(uplo, a.host, &expected_logdet));
    OSLA_ASSERT_OK(osla_chol_logdet(uplo, a.device, &logdet));
    OSLA_ASSERT_CLOSE(logdet, expected_logdet, 1e-5 * (double)n);
    if (n > nb) check_potrs(b, grid, uplo, &a);
    pair_free(&a);
  }
}

static void test_potrf(void)
{
  on_all_grids(check_potrf);
}

/* Checks the info of osla_potrf for a matrix that is not positive definite and for one with a NaN
 * on the diagonal. Compares the factors of a part on the device with those on the host. */
static void check_potrf_special(device_bench *b, osla_grid *grid, int which)
{
  (void)which;
  for (int i = 0; i < 2; i++) {
    const double bad = i == 0 ? -1e6 : (double)NAN;
    int64_t info = -1;
    matrix_pair a = pair_make(b, b->alone, grid, OSLA_DOUBLE, 37, 37, 5, 5, OSLA_FILL_SPD, 1);
    OSLA_ASSERT_OK(osla_barrier(b->t)); /* all ranks have filled their elements */
    if (osla_transport_rank(b->t) == 0)
      OSLA_ASSERT_OK(osla_matrix_put_block(a.device, 22, 22, 1, 1, &bad, 1));
    OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, a.device, NULL, &info));
    OSLA_ASSERT_MSG(info == 23, "info is %d", (int)info);
    pair_free(&a);
  }
  for (int from = 10; from < 12; from++) {
    int64_t info = -1;
    matrix_pair a = pair_make(b, b->alone, grid, OSLA_DOUBLE, 37, 37, 5, 5, OSLA_FILL_SPD, 1);
    OSLA_ASSERT_OK(
      osla_potrf_part(OSLA_LOWER, (osla_part){a.host, from, from, 23, 23}, NULL, &info));
    OSLA_ASSERT_OK(
      osla_potrf_part(OSLA_LOWER, (osla_part){a.device, from, from, 23, 23}, NULL, &info));
    pair_expect(&a, 50, "potrf of the part from %d", from);
    pair_free(&a);
  }
}

static void test_potrf_special(void)
{
  on_all_grids(check_potrf_special);
}

static void check_trsm(device_bench *b, osla_grid *grid, int which)
{
  for (int i = 0; i < 12; i++) {
    const int64_t n = sizes[1 + i % 4].n, nb = sizes[1 + i % 4].nb, m = i % 3 == 0 ? 1 : 19;
    const osla_side side = i % 4 == 3 ? OSLA_RIGHT : OSLA_LEFT;
    const osla_uplo uplo = i / 2 % 2 == 0 ? OSLA_LOWER : OSLA_UPPER;
    const osla_trans trans = transpositions[(i + which) % 3];
    const osla_diag diag = i == 5 ? OSLA_UNIT : OSLA_NONUNIT;
    const osla_dtype dtype = all_types[(i + which) % 4];
    const bool left = side == OSLA_LEFT, fits = i % 2 == 0;
    matrix_pair a = pair_make(b, b->alone, grid, dtype, n, n, nb, nb, OSLA_FILL_DOMINANT, 1);
    matrix_pair x = pair_make(b, b->alone, grid, dtype, left ? n : m, left ? m : n,
                              fits ? nb : nb + 2, 3, OSLA_FILL_UNIFORM, 2);
    if (diag == OSLA_UNIT) { /* small elements keep the solution small */
      OSLA_ASSERT_OK(osla_matrix_scale(0.01, a.host));
      OSLA_ASSERT_OK(osla_matrix_scale(0.01, a.device));
    }
    OSLA_ASSERT_OK(osla_trsm(side, uplo, trans, diag, alpha, a.host, x.host));
    OSLA_ASSERT_OK(osla_trsm(side, uplo, trans, diag, alpha, a.device, x.device));
    device_overwrite(a.device);
    pair_expect(&x, 100, "trsm %d: side %d, uplo %d, trans %d", i, (int)side, (int)uplo,
                (int)trans);
    pair_free(&a), pair_free(&x);
  }
}

static void test_trsm(void)
{
  on_all_grids(check_trsm);
}

/* Compares solves with parts, and with replicated right-hand sides, on the device with those on the
 * host. Checks the number of operations that osla_gemm_predict returns for device matrices. */
static void check_solve_special(device_bench *b, osla_grid *grid, osla_dtype dtype)
{
  enum { N = 37, NB = 5, FROM = 10, ORDER = 23, NRHS = 3 };
  matrix_pair a = pair_make(b, b->alone, grid, dtype, N, N, NB, NB, OSLA_FILL_SPD, 1);
  matrix_pair x = pair_make(b, b->alone, grid, dtype, N, 7, NB, 2, OSLA_FILL_UNIFORM, 2);
  osla_part ah = {a.host, FROM, FROM, ORDER, ORDER}, ad = {a.device, FROM, FROM, ORDER, ORDER};
  for (int from = FROM; from < FROM + 2; from++) { /* row 10 begins a block, row 11 does not */
    osla_part xh = {x.host, from, 2, ORDER, NRHS}, xd = {x.device, from, 2, ORDER, NRHS};
    OSLA_ASSERT_OK(
      osla_trsm_part(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, alpha, ah, xh));
    OSLA_ASSERT_OK(
      osla_trsm_part(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, alpha, ad, xd));
    pair_expect(&x, 100, "trsm of the part from %d", from);
    OSLA_ASSERT_OK(osla_potrs_part(OSLA_LOWER, ah, xh));
    OSLA_ASSERT_OK(osla_potrs_part(OSLA_LOWER, ad, xd));
    pair_expect(&x, 200, "potrs of the part from %d", from);
  }
  osla_complex on_host[N * NRHS] = {0}, on_device[N * NRHS] = {0};
  for (int i = 0; i < N * NRHS; i++) {
    osla_test_store(dtype, on_host, i, (double)(1 + i % 5) + I);
    osla_test_store(dtype, on_device, i, (double)(1 + i % 5) + I);
  }
  OSLA_ASSERT_OK(osla_potrs_replicated(OSLA_LOWER, a.host, NRHS, on_host, N));
  OSLA_ASSERT_OK(osla_potrs_replicated(OSLA_LOWER, a.device, NRHS, on_device, N));
  double largest = 0, apart = 0;
  for (int i = 0; i < N * NRHS; i++) {
    const osla_complex expected = osla_test_load(dtype, on_host, i);
    largest = fmax(largest, cabs(expected));
    const double difference = cabs(osla_test_load(dtype, on_device, i) - expected);
    if (!(difference <= apart)) apart = isnan(difference) ? (double)INFINITY : difference;
  }
  OSLA_ASSERT_MSG(largest > 0 && apart <= 1e-5 * largest, "replicated: %g apart of %g", apart,
                  largest);
  osla_gemm_plan plan = {0};
  OSLA_ASSERT_OK(osla_gemm_predict(OSLA_NOTRANS, OSLA_NOTRANS, osla_whole(a.device),
                                   (osla_part){x.device, 0, 0, N, NRHS},
                                   (osla_part){x.device, 0, NRHS, N, NRHS}, NULL, &plan));
  OSLA_ASSERT_OK(osla_allreduce(b->t, &plan.flops, 1, MPI_DOUBLE, MPI_SUM));
  const bool is_real = dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE;
  OSLA_ASSERT_CLOSE(plan.flops, (is_real ? 2.0 : 8.0) * N * N * NRHS, 0);
  pair_free(&a), pair_free(&x);
}

static void test_solve_special(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_grid *grid = osla_test_square_grid(b.t);
  for (int i = 0; i < 4; i++)
    check_solve_special(&b, grid, all_types[i]);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

static const osla_test_case cases[] = {{"gemm", test_gemm},
                                       {"gemm types", test_gemm_types},
                                       {"gemm parts", test_gemm_parts},
                                       {"gemm long", test_gemm_long},
                                       {"syrk", test_syrk},
                                       {"herk", test_herk},
                                       {"potrf and potrs", test_potrf},
                                       {"potrf special", test_potrf_special},
                                       {"trsm", test_trsm},
                                       {"solve special", test_solve_special},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_device_kernels, cases);
