/* Tests of LU, and of solves with its factors, on device matrices. Each rank computes the expected
 * results alone, on host matrices that it has whole. */
#include "osla_index.h"
#include "osla_lu.h"
#include "osla_solve.h"
#include "tests/device/device_help.h"

#include <math.h>
#include <string.h>

static const osla_trans transpositions[] = {OSLA_NOTRANS, OSLA_TRANS, OSLA_CONJTRANS};

/* Matrices of order n with blocks of nb x nb elements. */
static const struct size_case {
  int64_t n, nb;
} sizes[] = {{1, 1}, {2, 3}, {7, 2}, {19, 4}, {61, 16}, {150, 70}};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* Factors a part of both matrices of a pair, and asserts that results and pivots are equal. Each
 * rank has the whole host matrix. `ipiv` gets the pivots of the device matrix and `expected` those
 * of the host matrix; both have 200 elements. */
static void factor_pair(const matrix_pair *a, osla_part part, const osla_lu_options *options,
                        int64_t *ipiv, int64_t *expected)
{
  const osla_layout l = osla_matrix_layout(a->device);
  const int prow = osla_grid_prow(osla_matrix_grid(a->device));
  osla_lu_result on_host = {.info = -1}, on_device = {.info = -2};
  memset(ipiv, 0, 200 * sizeof *ipiv); /* osla_getrf_part sets only pivots of the part */
  memset(expected, 0, 200 * sizeof *expected);
  part.matrix = a->host;
  OSLA_ASSERT_OK(osla_getrf_part(part, expected, options, &on_host));
  part.matrix = a->device;
  OSLA_ASSERT_OK(osla_getrf_part(part, ipiv, options, &on_device));
  OSLA_ASSERT_MSG(on_device.info == on_host.info && on_device.trusted == on_host.trusted,
                  "info %d, not %d", (int)on_device.info, (int)on_host.info);
  for (int64_t i = 0; i < osla_matrix_local_rows(a->device); i++)
    CU_ASSERT(ipiv[i] == expected[osla_index_global(i, l.mb, prow, l.nprow)]);
}

/* True if a process column has ranks on several nodes. */
static bool spans_nodes(const osla_grid *grid)
{
  const osla_transport *t = osla_grid_transport(grid);
  bool spans = false;
  for (int j = 0; j < osla_grid_npcol(grid); j++)
    for (int i = 1; i < osla_grid_nprow(grid); i++)
      spans |= osla_transport_node_of(t, osla_grid_rank_at(grid, i, j)) !=
               osla_transport_node_of(t, osla_grid_rank_at(grid, 0, j));
  return spans;
}

/* Checks, on a grid with a process column on several nodes, that osla_getrf refuses a device matrix
 * and changes nothing, and that osla_getrs on the device works with factors that were copied from
 * host memory. */
static void check_between_nodes(device_bench *b, osla_grid *grid)
{
  int64_t ipiv[40];
  osla_lu_result result;
  for (int i = 0; i < 3; i++) {
    matrix_pair a = pair_make(b, grid, grid, OSLA_DOUBLE, 37, 37, 5, 5, OSLA_FILL_UNIFORM, 1);
    matrix_pair x = pair_make(b, grid, grid, OSLA_DOUBLE, 37, 4, 5, 2, OSLA_FILL_UNIFORM, 2);
    OSLA_ASSERT_ERR(osla_getrf(a.device, ipiv, NULL, &result), OSLA_ERR_UNSUPPORTED);
    OSLA_ASSERT_TEXT("the ranks of a process column must be on one node");
    OSLA_ASSERT_SAME_TEXT();
    pair_expect(&a, 0, "A after a refused getrf");
    OSLA_ASSERT_OK(osla_getrf(a.host, ipiv, NULL, &result));
    OSLA_ASSERT_OK(osla_matrix_copy(a.host, a.device));
    OSLA_ASSERT_OK(osla_getrs(transpositions[i], a.host, ipiv, x.host));
    OSLA_ASSERT_OK(osla_getrs(transpositions[i], a.device, ipiv, x.device));
    pair_expect(&x, 20000, "getrs between nodes, trans %d", i);
    pair_free(&a), pair_free(&x);
  }
}

static void check_getrf(device_bench *b, osla_grid *grid, int which)
{
  if (spans_nodes(grid)) {
    check_between_nodes(b, grid);
    return;
  }
  for (int i = 0; i < N_SIZES; i++) {
    const int64_t n = sizes[i].n, nb = sizes[i].nb, m = n + (i % 3 == 0 ? 0 : i % 3 == 1 ? 9 : -1);
    const osla_lu_options options = {.look_ahead = (i + which) % 4 - 1};
    const osla_dtype dtype = all_types[(i + which) % 4];
    const osla_trans trans = transpositions[(i / 3 + which) % 3];
    int64_t ipiv[200], expected[200];
    matrix_pair a = pair_make(b, b->alone, grid, dtype, m, n, nb, nb, OSLA_FILL_UNIFORM, 1);
    factor_pair(&a, osla_whole(a.host), &options, ipiv, expected);
    pair_expect(&a, 1000, "getrf, %d x %d, nb %d, look-ahead %d", (int)m, (int)n, (int)nb,
                options.look_ahead);
    if (m == n) {
      matrix_pair x =
        pair_make(b, b->alone, grid, dtype, n, 4, nb, 1 + i % 3, OSLA_FILL_UNIFORM, 2);
      OSLA_ASSERT_OK(osla_getrs(trans, a.host, expected, x.host));
      OSLA_ASSERT_OK(osla_getrs(trans, a.device, ipiv, x.device));
      device_overwrite(a.device);
      pair_expect(&x, 20000, "getrs, n %d, trans %d", (int)n, (int)trans);
      pair_free(&x);
    }
    pair_free(&a);
  }
}

static void test_getrf(void)
{
  on_all_grids(check_getrf);
}

/* Factors a matrix with a NaN above, below or on the diagonal, or with a column of zeros.
 * osla_getrf must return the same positive info for the device matrix and for the host matrix. */
static void check_bad_elements(device_bench *b, osla_grid *grid)
{
  static const struct index_pair {
    int64_t i, j;
  } at[] = {{3, 20}, {30, 12}, {17, 17}};
  int64_t ipiv[40];
  for (int k = 0; k < 4; k++) {
    const double bad = (double)NAN, zeros[37] = {0};
    matrix_pair a = pair_make(b, b->alone, grid, OSLA_DOUBLE, 37, 37, 5, 5, OSLA_FILL_UNIFORM, 1);
    osla_matrix *both[] = {a.host, a.device};
    osla_lu_result result[2] = {{0}};
    OSLA_ASSERT_OK(osla_barrier(b->t)); /* all ranks have filled their elements */
    for (int w = 0; w < 2; w++) {
      const bool writes = w == 0 || osla_transport_rank(b->t) == 0;
      if (writes && k < 3)
        OSLA_ASSERT_OK(osla_matrix_put_block(both[w], at[k].i, at[k].j, 1, 1, &bad, 1));
      if (writes && k == 3) OSLA_ASSERT_OK(osla_matrix_put_block(both[w], 0, 8, 37, 1, zeros, 37));
      OSLA_ASSERT_OK(osla_getrf(both[w], ipiv, NULL, &result[w]));
    }
    OSLA_ASSERT_MSG(result[0].info == result[1].info && result[0].info > 0, "%d: info %d and %d", k,
                    (int)result[0].info, (int)result[1].info);
    pair_free(&a);
  }
}

/* Solves with the factors of the part of A that begins at row and column `from`, and compares the
 * solution on the device with that on the host. */
static void check_getrs_part(device_bench *b, osla_grid *grid, const matrix_pair *a, int from,
                             const int64_t *ipiv, const int64_t *expected)
{
  enum { ORDER = 23, NRHS = 3 };
  const osla_part ah = {a->host, from, from, ORDER, ORDER};
  const osla_part ad = {a->device, from, from, ORDER, ORDER};
  matrix_pair x = pair_make(b, b->alone, grid, OSLA_DOUBLE, 37, 7, 5, 2, OSLA_FILL_UNIFORM, 2);
  for (int row = from; row < from + 2; row++) {
    const osla_part xh = {x.host, row, 2, ORDER, NRHS}, xd = {x.device, row, 2, ORDER, NRHS};
    OSLA_ASSERT_OK(osla_getrs_part(OSLA_TRANS, ah, expected, xh));
    OSLA_ASSERT_OK(osla_getrs_part(OSLA_TRANS, ad, ipiv, xd));
    pair_expect(&x, 20000, "getrs of the parts from %d and %d", from, row);
  }
  pair_free(&x);
}

/* Solves with right-hand sides that each rank has whole, and compares the solution on the device
 * with that on the host. */
static void check_getrs_replicated(device_bench *b, osla_grid *grid)
{
  enum { N = 37, NRHS = 3 };
  int64_t ipiv[200], expected[200];
  double on_host[N * NRHS], on_device[N * NRHS], largest = 0, apart = 0;
  matrix_pair a = pair_make(b, b->alone, grid, OSLA_DOUBLE, N, N, 5, 5, OSLA_FILL_UNIFORM, 1);
  for (int i = 0; i < N * NRHS; i++)
    on_host[i] = on_device[i] = 1 + i % 5;
  factor_pair(&a, osla_whole(a.host), NULL, ipiv, expected);
  OSLA_ASSERT_OK(osla_getrs_replicated(OSLA_NOTRANS, a.host, expected, NRHS, on_host, N));
  OSLA_ASSERT_OK(osla_getrs_replicated(OSLA_NOTRANS, a.device, ipiv, NRHS, on_device, N));
  for (int i = 0; i < N * NRHS; i++) {
    largest = fmax(largest, fabs(on_host[i]));
    const double difference = fabs(on_device[i] - on_host[i]);
    if (!(difference <= apart)) apart = isnan(difference) ? (double)INFINITY : difference;
  }
  OSLA_ASSERT_MSG(largest > 0 && apart <= 1e-11 * largest, "replicated: %g apart of %g", apart,
                  largest);
  pair_free(&a);
}

/* Tests LU of matrices with bad elements and of parts, and solves with replicated right-hand sides.
 * Checks that LU without pivoting refuses a device matrix. */
static void check_getrf_special(device_bench *b, osla_grid *grid, int which)
{
  (void)which;
  int64_t ipiv[200], expected[200];
  if (spans_nodes(grid)) return;
  check_bad_elements(b, grid);
  for (int from = 10; from < 12; from++) { /* row 10 begins a block, row 11 does not */
    matrix_pair a = pair_make(b, b->alone, grid, OSLA_DOUBLE, 37, 37, 5, 5, OSLA_FILL_UNIFORM, 1);
    factor_pair(&a, (osla_part){NULL, from, from, 23, 23}, NULL, ipiv, expected);
    pair_expect(&a, 1000, "getrf of the part from %d", from);
    check_getrs_part(b, grid, &a, from, ipiv, expected);
    pair_free(&a);
  }
  check_getrs_replicated(b, grid);
  const osla_lu_options none = {.pivoting = OSLA_PIVOT_NONE};
  osla_lu_result result;
  matrix_pair a = pair_make(b, b->alone, grid, OSLA_DOUBLE, 37, 37, 5, 5, OSLA_FILL_DOMINANT, 1);
  OSLA_ASSERT_ERR(osla_getrf(a.device, ipiv, &none, &result), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("osla_getrf");
  pair_expect(&a, 0, "A after a refused getrf");
  pair_free(&a);
}

static void test_getrf_special(void)
{
  on_all_grids(check_getrf_special);
}

static const osla_test_case cases[] = {
  {"getrf", test_getrf}, {"getrf special", test_getrf_special}, {NULL, NULL}};
OSLA_TEST_SUITE(test_device_lu, cases);
