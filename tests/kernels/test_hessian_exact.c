/* Tests of the accumulator's order-independent mode. Sums must have equal bits on any grid, with
 * any block size, piece size, number of threads, distribution of updates and number of commits.
 * Values beyond the bound must be reported. For the reference, one rank makes all updates in order
 * on a 1 x 1 grid. Sums of updates by blocks U are also compared with fixed-point sums that the
 * test computes. */
#include "osla_random.h"
#include "src/base/fixed_point.h"
#include "tests/hessian_reference.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { N = 170, UPDATES = 12, THREADS = 3 };

/* An update with random values of full precision. It has 1 to 160 indices, unsorted, some of them
 * repeated, so that the library works on one or two strips of columns. */
typedef struct real_update {
  int64_t count, k, ix[N];
  void *values; /* G as a k x count matrix; if k < 0, a block U as a count x count matrix */
  double gradient[N];
} real_update;

static double real_value(int64_t number, int64_t at)
{
  return osla_random_uniform(7, (uint64_t)number, (uint64_t)at) * 1.9;
}

static real_update make_update(int64_t number, osla_dtype dtype, bool blocks_only)
{
  static const int64_t depths[] = {-1, 1, 3, 40};
  uint64_t seed = 100 + (uint64_t)number;
  real_update u = {.count = 1 + osla_test_choose(seed, -1, 160)};
  u.k = blocks_only ? -1 : depths[number % 4];
  if (number % 4 == 3) u.count = 160;
  for (int64_t i = 0; i < u.count; i++)
    u.ix[i] = osla_test_choose(seed, i, N);
  int64_t values = (u.k < 0 ? u.count : u.k) * u.count;
  u.values = osla_test_allocate((size_t)values, osla_dtype_size(dtype));
  for (int64_t at = 0; at < values; at++)
    osla_test_store(dtype, u.values, at, real_value(number, at));
  for (int64_t i = 0; i < u.count; i++)
    u.gradient[i] = real_value(number, -1 - i);
  return u;
}

static osla_err push_update(osla_hessian *h, int64_t number, osla_dtype dtype, bool blocks_only)
{
  real_update u = make_update(number, dtype, blocks_only);
  osla_err err = u.k < 0
                   ? osla_hessian_update_block(h, u.count, u.ix, u.count, u.ix, u.values, u.count)
                   : osla_hessian_update(h, u.count, u.ix, u.k, u.values, u.k);
  if (err == OSLA_OK) err = osla_hessian_update_gradient(h, u.count, u.ix, u.gradient);
  free(u.values);
  return err;
}

static osla_hessian_options exact_options(osla_uplo uplo, osla_dtype dtype)
{
  osla_hessian_options o = {0};
  o.uplo = uplo;
  o.single_updates = dtype == OSLA_FLOAT;
  o.order_independent = true;
  o.bound = 900.0;
  o.gradient_bound = 70.0;
  return o;
}

/* ---- equal bits in all variants ---- */

typedef struct result {
  double h[N * N], gradient[N];
} result;

/* Commits; then the last rank has the matrix, and all ranks have the gradient. */
static void collect(osla_hessian *h, result *r)
{
  osla_matrix *a = NULL;
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  OSLA_ASSERT_OK(osla_hessian_matrix(h, &a));
  memset(r, 0, sizeof *r);
  if (osla_test_rank() == osla_test_size() - 1) hessian_read(a, r->h);
  memcpy(r->gradient, osla_hessian_gradient(h), sizeof r->gradient);
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(osla_matrix_grid(a))));
}

static void reference(osla_transport *t, osla_uplo uplo, osla_dtype dtype, bool blocks_only,
                      result *out)
{
  osla_grid *grid = NULL;
  OSLA_ASSERT_OK(osla_grid_create(t, 1, 1, &grid));
  osla_hessian_options o = exact_options(uplo, dtype);
  osla_hessian *h = hessian_create_or_end(grid, N, &o);
  for (int64_t i = 0; osla_test_rank() == 0 && i < UPDATES; i++)
    OSLA_ASSERT_OK(push_update(h, i, dtype, blocks_only));
  collect(h, out);
  osla_hessian_destroy(&h);
  osla_grid_destroy(&grid);
}

/* One way to make the updates: layout of the lower triangle, sizes of blocks and pieces,
 * distribution and order of the updates, number of threads, and number of commits. */
typedef struct variant {
  bool triangle;
  int64_t nb;
  size_t piece_bytes;
  bool backward, by_last_rank;
  int threads, commits;
} variant;

static void push_share(osla_hessian *h, const variant *v, int64_t first, int64_t past,
                       osla_dtype dtype)
{
  osla_err errors[UPDATES] = {OSLA_OK};
  int rank = osla_test_rank(), size = osla_test_size();
#pragma omp parallel for num_threads(v->threads) schedule(static, 1)
  for (int64_t i = first; i < past; i++) {
    int64_t number = v->backward ? past - 1 - (i - first) : i;
    int maker = v->by_last_rank ? size - 1 : (int)(number % size);
    if (maker == rank) errors[number] = push_update(h, number, dtype, false);
  }
  for (int i = 0; i < UPDATES; i++)
    OSLA_ASSERT_MSG(errors[i] == OSLA_OK, "update %d: %s", i, osla_err_name(errors[i]));
}

static void expect_same(osla_grid *grid, const variant *v, osla_uplo uplo, osla_dtype dtype,
                        const result *expected)
{
  static result seen;
  osla_hessian_options o = exact_options(uplo, dtype);
  o.nb = v->nb;
  o.piece_bytes = v->piece_bytes;
  o.triangle = v->triangle && uplo == OSLA_LOWER;
  osla_hessian *h = hessian_create_or_end(grid, N, &o);
  for (int c = 0; c < v->commits; c++) {
    push_share(h, v, UPDATES * c / v->commits, UPDATES * (c + 1) / v->commits, dtype);
    collect(h, &seen);
  }
  if (osla_test_rank() == osla_test_size() - 1)
    OSLA_ASSERT_MSG(memcmp(seen.h, expected->h, sizeof seen.h) == 0,
                    "%d x %d grid, triangle %d, nb %" PRId64
                    ", piece_bytes %zu, %d threads, %d commits, type "
                    "%d, uplo %d: other bits",
                    osla_grid_nprow(grid), osla_grid_npcol(grid), v->triangle, v->nb,
                    v->piece_bytes, v->threads, v->commits, (int)dtype, (int)uplo);
  OSLA_ASSERT_MSG(memcmp(seen.gradient, expected->gradient, sizeof seen.gradient) == 0,
                  "nb %" PRId64 ", %d threads, %d commits: other bits in the gradient", v->nb,
                  v->threads, v->commits);
  osla_hessian_destroy(&h);
}

static void test_same_bits(void)
{
  static const variant variants[] = {
    {false, 128, (size_t)64 << 20, false, false, 1, 1},
    {true, 16, 4096, true, false, THREADS, 1},
    {true, 5, (size_t)64 << 20, true, true, 1, 3},
    {false, 64, 200000, false, false, THREADS, 2},
    {true, 1000, 4096, false, true, 1, 1},
  };
  static result expected;
  osla_transport *t = NULL;
  const osla_transport_options with = {.threads_per_rank = THREADS};
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &with, &t));
  /* fewer cases on several nodes, where creating an accumulator's window takes time */
  bool brief = osla_transport_n_nodes(t) > 1;
  for (int turn = 0; turn < (brief ? 2 : 4); turn++) {
    osla_uplo uplo = (osla_uplo)(turn % 3);
    osla_dtype dtype = turn == 1 ? OSLA_FLOAT : OSLA_DOUBLE;
    osla_grid *grid;
    reference(t, uplo, dtype, false, &expected);
    for (int which = 0; (grid = hessian_grid(t, which)) != NULL; which++) {
      for (int i = 0; i < 5; i++)
        if (i % 5 == (which + turn) % 5 || (!brief && turn == 0))
          expect_same(grid, &variants[i], uplo, dtype, &expected);
      osla_grid_destroy(&grid);
    }
  }
  osla_transport_destroy(&t);
}

/* ---- correct values of the sums ---- */

/* Sums of updates by blocks U, compared with fixed-point sums that the test computes. */
static void test_blocks_in_whole_numbers(void)
{
  static result seen;
  static int64_t sums[N * N], g[N];
  fixed_point f, fg;
  osla_transport *t = osla_test_transport();
  osla_hessian_options o = exact_options(OSLA_UPPER, OSLA_DOUBLE);
  CU_ASSERT(fixed_make(o.bound, &f) && fixed_make(o.gradient_bound, &fg));
  memset(sums, 0, sizeof sums);
  memset(g, 0, sizeof g);
  for (int64_t i = 0; i < UPDATES; i++) {
    real_update u = make_update(i, OSLA_DOUBLE, true);
    const double *values = u.values;
    for (int64_t b = 0; b < u.count; b++) {
      g[u.ix[b]] += llrint(u.gradient[b] * fg.scale);
      for (int64_t a = 0; a < u.count; a++)
        if (u.ix[a] <= u.ix[b])
          sums[u.ix[a] + u.ix[b] * N] += llrint(values[a + b * u.count] * f.scale);
    }
    free(u.values);
  }
  reference(t, OSLA_UPPER, OSLA_DOUBLE, true, &seen);
  int64_t wrong = 0, wrong_gradient = 0;
  for (int64_t at = 0; at < (int64_t)N * N; at++)
    wrong += seen.h[at] != (double)sums[at] * f.unit;
  for (int64_t i = 0; i < N; i++)
    wrong_gradient += seen.gradient[i] != (double)g[i] * fg.unit;
  if (osla_test_rank() == osla_test_size() - 1) CU_ASSERT(wrong == 0);
  CU_ASSERT(wrong_gradient == 0);
  osla_transport_destroy(&t);
}

/* The order-independent mode is compared with the plain mode. The difference must be at most bound
 * 2^-51 for each contribution plus the rounding of both sums. */
static void test_error_bound(void)
{
  static result exact, plain;
  static double count[N * N];
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  reference(t, OSLA_LOWER, OSLA_DOUBLE, false, &exact);
  osla_hessian_options o = {0};
  osla_hessian *h = hessian_create_or_end(grid, N, &o);
  memset(count, 0, sizeof count);
  for (int64_t i = 0; i < UPDATES; i++) {
    real_update u = make_update(i, OSLA_DOUBLE, false);
    for (int64_t b = 0; b < u.count; b++)
      for (int64_t a = 0; a < u.count; a++)
        count[u.ix[a] + u.ix[b] * N] += 1.0;
    free(u.values);
    if (i % osla_test_size() == osla_test_rank())
      OSLA_ASSERT_OK(push_update(h, i, OSLA_DOUBLE, false));
  }
  collect(h, &plain);
  double worst = 0.0, largest = 0.0;
  for (int64_t at = 0; at < (int64_t)N * N; at++) {
    double error = fabs(exact.h[at] - plain.h[at]);
    /* each contribution sums 40 products of at most 0.95^2, and each of the two modes rounds it */
    double rounding = count[at] * 40 * 0.91 * 2 * (count[at] + 40) * 0x1p-53;
    double allowed = count[at] * 900.0 * 0x1p-51 + rounding;
    if (!(error <= allowed)) worst = fmax(worst, isnan(error) ? (double)INFINITY : error);
    largest = fmax(largest, fabs(exact.h[at]));
  }
  if (osla_test_rank() == osla_test_size() - 1) {
    OSLA_ASSERT_MSG(worst == 0.0, "an error of %g", worst);
    CU_ASSERT(largest > 1.0);
  }
  osla_hessian_destroy(&h);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"same_bits", test_same_bits},
  {"blocks_in_whole_numbers", test_blocks_in_whole_numbers},
  {"error_bound", test_error_bound},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian_exact, cases);
