/* Tests of sparse systems that are solved as fixed-point iterations, split by their diagonal or by
 * diagonal blocks, in all modes. */
#include "osla_splitting.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A system on a grid of side x side points, whose rows are unevenly distributed. Each point is
 * coupled to the adjacent points. */
typedef struct system_of {
  osla_transport *t;
  osla_csr *a;
  int64_t rows, *start;
  double *b, *x, *solution;
} system_of;

/* Kind of matrix: `diagonal` is the value of its diagonal elements, and `wind` > 0 makes it
 * unsymmetric. */
typedef struct kind {
  int64_t side;
  double diagonal, wind;
} kind;

/* First row of each rank: the first rank has the most rows, and each further rank has half as many
 * as the rank before it. With many ranks, some have no rows. */
static int64_t *distribute(int64_t n)
{
  const int size = osla_test_size();
  int64_t *start = osla_test_allocate((size_t)size + 1, sizeof *start), left = n;
  for (int p = 0; p < size; p++) {
    const int64_t mine = p + 1 == size ? left : (left + 1) / 2;
    start[p + 1] = start[p] + mine;
    left -= mine;
  }
  return start;
}

static int64_t fill_row(const kind *k, int64_t i, int64_t *column, double *value)
{
  const int64_t x = i % k->side, y = i / k->side;
  int64_t n = 0;
  if (y > 0) column[n] = i - k->side, value[n++] = -1.0 - k->wind;
  if (x > 0) column[n] = i - 1, value[n++] = -1.0;
  column[n] = i, value[n++] = k->diagonal;
  if (x + 1 < k->side) column[n] = i + 1, value[n++] = -1.0;
  if (y + 1 < k->side) column[n] = i + k->side, value[n++] = -1.0;
  return n;
}

static bool make_system(system_of *s, const kind *k)
{
  const int rank = osla_test_rank();
  const int64_t n = k->side * k->side;
  s->t = osla_test_transport();
  s->start = distribute(n);
  s->rows = s->start[rank + 1] - s->start[rank];
  int64_t *first = osla_test_allocate((size_t)s->rows + 1, sizeof *first);
  int64_t *column = osla_test_allocate(5 * (size_t)s->rows + 1, sizeof *column);
  double *value = osla_test_allocate(5 * (size_t)s->rows + 1, sizeof *value);
  for (int64_t i = 0; i < s->rows; i++)
    first[i + 1] = first[i] + fill_row(k, s->start[rank] + i, column + first[i], value + first[i]);
  const bool made =
    OSLA_ASSERT_OK(osla_csr_create(s->t, s->start, s->start, first, column, value, &s->a));
  free(first);
  free(column);
  free(value);
  s->b = osla_test_allocate((size_t)s->rows + 1, sizeof *s->b);
  s->solution = osla_test_allocate((size_t)s->rows + 1, sizeof *s->solution);
  for (int64_t i = 0; i < s->rows; i++)
    s->solution[i] = (double)osla_test_choose(3, s->start[rank] + i, 9) - 4.0;
  if (made) OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, s->a, s->solution, 0.0, s->b));
  return made;
}

static void free_system(system_of *s)
{
  OSLA_ASSERT_OK(osla_csr_destroy(&s->a));
  free(s->start);
  free(s->b);
  free(s->solution);
  osla_transport_destroy(&s->t);
}

/* Solves a system from x = 0. Returns the largest number of sweeps that a rank made. */
static int64_t solve_by(const system_of *s, osla_splitting_options o, int mode, double *bound)
{
  const int64_t block = o.block;
  osla_splitting *split;
  osla_iteration *it;
  osla_iterate_result r = {0};
  osla_iterate_options how = {0};
  how.mode = (osla_iterate_mode)mode;
  how.tolerance = 1e-11;
  how.check = 1;
  if (!OSLA_ASSERT_OK(osla_splitting_create(s->a, s->b, &o, &split))) return 0;
  const osla_fixed_point p = osla_splitting_problem(split);
  double *x = osla_test_allocate((size_t)p.length + 1, sizeof *x), error = 0.0, alpha = 0.0;
  OSLA_ASSERT_OK(osla_iteration_create(s->t, &p, &how, &it));
  OSLA_ASSERT_OK(osla_iterate_bound(it, block > 1 ? 20 : 300, &alpha));
  for (int64_t i = s->rows; i < p.length; i++)
    x[i] = NAN; /* initial values of halos are not used */
  OSLA_ASSERT_OK(osla_iterate(it, x, &r));
  OSLA_ASSERT_MSG(r.end == OSLA_ITERATE_CONVERGED, "block %lld, mode %d: %s", (long long)block,
                  mode, osla_iterate_end_name(r.end));
  for (int64_t i = 0; i < s->rows; i++)
    error = fmax(error, fabs(x[i] - s->solution[i]));
  OSLA_ASSERT_MSG(error <= 1e-8, "block %lld, mode %d: error %g", (long long)block, mode, error);
  /* v <= 1, so the bound in the norm |.|_v holds for each element */
  CU_ASSERT(alpha >= 1.0 ? r.error == 0.0 : error <= r.error + (block > 1 ? 1e-13 : 0));
  if (bound) *bound = alpha;
  free(x);
  osla_iteration_destroy(&it);
  osla_splitting_destroy(&split);
  CU_ASSERT(split == NULL);
  return r.most;
}

static int64_t solve(const system_of *s, int64_t block, int mode, double *bound)
{
  return solve_by(s, (osla_splitting_options){.block = block}, mode, bound);
}

static void test_modes(void)
{
  const kind laplace = {9, 4.0, 0.0};
  system_of s;
  if (!make_system(&s, &laplace)) return;
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    double alpha;
    const int64_t points = solve(&s, 1, mode, &alpha), lines = solve(&s, 9, mode, NULL);
    const int64_t parts = solve(&s, INT64_MAX, mode, NULL);
    const double rho = cos(3.14159265358979 / 10);
    OSLA_ASSERT_MSG(alpha < 1.0 && alpha >= rho - 1e-12 && alpha < rho + 0.01, "alpha %.9f", alpha);
    if (mode == OSLA_ITERATE_SYNC) CU_ASSERT(parts < lines && lines < points);
    if (osla_test_size() == 1) /* with one rank there is one block, so a sweep is a direct solve;
                                  asynchronous modes make some more sweeps until they end */
      CU_ASSERT(parts <= (mode == OSLA_ITERATE_SYNC ? 2 : 6));
  }
  free_system(&s);
}

/* Tests systems with unsymmetric matrices, with a negative diagonal, and of one row. */
static void test_others(void)
{
  static const kind kinds[] = {{7, 4.5, 0.4}, {5, -6.0, 1.0}, {1, 3.0, 0.0}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    system_of s;
    if (!make_system(&s, &kinds[i])) continue;
    for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++)
      (void)solve(&s, 1, mode, NULL);
    free_system(&s);
  }
}

/* A matrix with rho(M) < 1 < rho(|M|). SYNC mode converges, and osla_iterate_bound reports that
 * convergence is not proved for every schedule. */
static void test_no_proof(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size(), rank = osla_test_rank();
  int64_t *start = osla_test_allocate((size_t)size + 1, sizeof *start);
  const double skew = 0.55;
  for (int p = 0; p <= size; p++)
    start[p] = p == 0 ? 0 : size == 1 || p > 1 ? 3 : 2;
  /* x0 = -s x1 - s x2, x1 = s x0 - s x2, x2 = s x0 + s x1: the spectral radius of |M| is 2 s, and
   * that of M is s sqrt(3) */
  const int64_t columns[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  const double values[] = {1, skew, skew, -skew, 1, skew, -skew, -skew, 1};
  const int64_t rows = start[rank + 1] - start[rank], from = 3 * start[rank];
  const int64_t first[] = {0, 3, 6, 9};
  const double b[] = {1.0, 2.0, 3.0};
  double x[3] = {0}, alpha = 0.0;
  osla_csr *a;
  osla_splitting *split;
  osla_iteration *it;
  osla_iterate_options how = {0};
  osla_iterate_result r;
  how.mode = OSLA_ITERATE_SYNC;

  if (OSLA_ASSERT_OK(osla_csr_create(t, start, start, first, columns + from, values + from, &a))) {
    OSLA_ASSERT_OK(osla_splitting_create(a, b + (rows > 0 ? start[rank] : 0), NULL, &split));
    const osla_fixed_point p = osla_splitting_problem(split);
    OSLA_ASSERT_OK(osla_iteration_create(t, &p, &how, &it));
    OSLA_ASSERT_OK(osla_iterate_bound(it, 200, &alpha));
    OSLA_ASSERT_CLOSE(alpha, 2 * skew, 1e-9);
    OSLA_ASSERT_OK(osla_iterate(it, x, &r));
    /* r.error = 0 means that no error bound is known */
    CU_ASSERT(r.end == OSLA_ITERATE_CONVERGED && r.error == 0.0);
    osla_iteration_destroy(&it);
    osla_splitting_destroy(&split);
    OSLA_ASSERT_OK(osla_csr_destroy(&a));
  }
  free(start);
  osla_transport_destroy(&t);
}

/* Convection and diffusion by upwind differences, which give an M-matrix with unsymmetric blocks.
 * With blocks factored by LU, larger blocks take fewer sweeps. */
static void test_convection(void)
{
  const kind upwind = {8, 7.0, 3.0};
  const int64_t blocks[] = {1, 3, INT64_MAX};
  system_of s;
  if (!make_system(&s, &upwind)) return;
  for (int mode = OSLA_ITERATE_ASYNC; mode <= OSLA_ITERATE_SYNC; mode++) {
    int64_t sweeps[3];
    for (int i = 0; i < 3; i++)
      sweeps[i] = solve_by(
        &s, (osla_splitting_options){.block = blocks[i], .factor = OSLA_SPLITTING_LU}, mode, NULL);
    if (mode == OSLA_ITERATE_SYNC) CU_ASSERT(sweeps[1] <= sweeps[0] && sweeps[2] < sweeps[1]);
    if (mode == OSLA_ITERATE_SYNC && osla_test_size() == 1) CU_ASSERT(sweeps[2] <= 2);
  }
  free_system(&s);
}

/* Returns alpha of A = [B C; C B], split into blocks of two rows. B is 2 x 2, stored by rows, and
 * all elements of C equal c. */
static double alpha_of(osla_transport *t, const double *b, double c, osla_splitting_factor factor)
{
  const int size = osla_test_size(), rank = osla_test_rank();
  const double values[] = {b[0], b[1], c, c, b[2], b[3], c, c, c, c, b[0], b[1], c, c, b[2], b[3]};
  const int64_t columns[] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
  const int64_t first[] = {0, 4, 8, 12, 16};
  const double right[] = {1.0, -2.0, 3.0, 5.0};
  const osla_splitting_options o = {.block = 2, .factor = factor};
  double x[4] = {0}, alpha = NAN;
  int64_t *start = osla_test_allocate((size_t)size + 1, sizeof *start);
  for (int p = 1; p <= size; p++)
    start[p] = size == 1 || p > 1 ? 4 : 2;
  const int64_t from = 4 * start[rank];
  osla_csr *a;
  osla_splitting *split;
  osla_iteration *it;
  osla_iterate_result r;
  osla_iterate_options how = {0};
  /* asynchronous modes may find the exact solution, which gives no rate */
  how.mode = OSLA_ITERATE_SYNC;
  how.check = 1;
  if (OSLA_ASSERT_OK(
        osla_csr_create(t, start, start, first, columns + from % 16, values + from % 16, &a))) {
    OSLA_ASSERT_OK(osla_splitting_create(a, right + start[rank] % 4, &o, &split));
    const osla_fixed_point p = osla_splitting_problem(split);
    OSLA_ASSERT_OK(osla_iteration_create(t, &p, &how, &it));
    OSLA_ASSERT_OK(osla_iterate_bound(it, 50, &alpha));
    if (alpha < 1.0) {
      OSLA_ASSERT_OK(osla_iterate(it, x, &r));
      CU_ASSERT(r.end == OSLA_ITERATE_CONVERGED && r.error > 0.0);
    }
    osla_iteration_destroy(&it);
    osla_splitting_destroy(&split);
    OSLA_ASSERT_OK(osla_csr_destroy(&a));
  }
  free(start);
  return alpha;
}

/* Tests alpha for 2 x 2 blocks B and C for which all rows of |B^-1| |C| have the same sum, which is
 * then its spectral radius. For the first matrix, an M-matrix, this spectral radius equals
 * rho(|M|). For the second one it is three times rho(|M|). The third one is factored with an
 * interchange. For the last one, which is nearly singular, no bound is found. */
static void test_block_bound(void)
{
  static const double m_matrix[] = {2, -1, -1, 2}, positive[] = {2, 1, 1, 2};
  static const double turned[] = {0.5, -2, 2, 0.5}, near_singular[] = {1, 1, 1, 1 + 0x1p-51};
  osla_transport *t = osla_test_transport();
  for (int lu = 0; lu < 2; lu++) {
    const osla_splitting_factor f = lu ? OSLA_SPLITTING_LU : OSLA_SPLITTING_CHOLESKY;
    OSLA_ASSERT_CLOSE(alpha_of(t, m_matrix, -0.45, f), 0.9, 1e-13);
    OSLA_ASSERT_CLOSE(alpha_of(t, positive, 0.45, f), 0.9, 1e-13);
    CU_ASSERT(alpha_of(t, m_matrix, -0.45, f) >= 0.9);
  }
  OSLA_ASSERT_CLOSE(alpha_of(t, turned, 0.5, OSLA_SPLITTING_LU), 2.5 / 4.25, 1e-13);
  CU_ASSERT(isinf(alpha_of(t, near_singular, 0.1, OSLA_SPLITTING_LU)));
  osla_transport_destroy(&t);
}

/* A = c I + k J, where all elements of J are 1, with all rows on rank 0. The spectral radius of |M|
 * is k (n - 1) / (c + k). osla_iterate_bound makes many steps, each of which lowers alpha. */
static void test_many_steps(void)
{
  enum { N = 26 };
  osla_transport *t = osla_test_transport();
  int64_t *start = osla_test_allocate((size_t)osla_test_size() + 1, sizeof *start), first[N + 1];
  int64_t *column = osla_test_allocate(N * N, sizeof *column);
  double *value = osla_test_allocate(N * N, sizeof *value), ones[N];
  for (int p = 1; p <= osla_test_size(); p++)
    start[p] = N;
  for (int i = 0; i <= N; i++)
    first[i] = osla_test_rank() == 0 ? i * N : 0;
  static const double radius[] = {10.0, 1.8,
                                  /* spectral radius of |M|; the diagonal elements are 0.9, and all
                                     others are 0.9 radius / (n - 1) */
                                  0.2};
  for (int r = 0; r < 3; r++) {
    double alpha = 0.0;
    osla_csr *a;
    osla_splitting *split;
    osla_iteration *it;
    for (int k = 0; k < N * N; k++) {
      column[k] = k % N;
      value[k] = k % N == k / N ? 0.9 : 0.9 * radius[r] / (N - 1);
      ones[k % N] = 1.0;
    }
    if (!OSLA_ASSERT_OK(osla_csr_create(t, start, start, first, column, value, &a))) continue;
    OSLA_ASSERT_OK(osla_splitting_create(a, ones, NULL, &split));
    const osla_fixed_point p = osla_splitting_problem(split);
    OSLA_ASSERT_OK(osla_iteration_create(t, &p, NULL, &it));
    OSLA_ASSERT_OK(osla_iterate_bound(it, 4000, &alpha));
    OSLA_ASSERT_CLOSE(alpha, radius[r], 1e-12);
    /* the refused call of osla_iterate_bound does not change the earlier bound */
    OSLA_ASSERT_ERR(osla_iterate_bound(it, 0, &alpha), OSLA_ERR_ARG);
    double x[N] = {0};
    osla_iterate_result result;
    OSLA_ASSERT_OK(osla_iterate(it, x, &result));
    CU_ASSERT((result.end == OSLA_ITERATE_CONVERGED) == (radius[r] < 1));
    CU_ASSERT((result.error > 0.0 && result.error < 1.0) == (radius[r] < 1));
    osla_iteration_destroy(&it);
    osla_splitting_destroy(&split);
    OSLA_ASSERT_OK(osla_csr_destroy(&a));
  }
  free(start);
  free(column);
  free(value);
  osla_transport_destroy(&t);
}

/* Blocks that cannot be factored, and wrong options, are refused. The first block, of rows 0 and 1,
 * is [1 -1; -1 1], or has infinite elements. */
static void test_blocks_refused(void)
{
  const kind singular = {2, 1.0, 0.0}, infinite = {2, INFINITY, 0.0};
  osla_splitting_options pairs = {.block = 2, .factor = OSLA_SPLITTING_LU};
  osla_splitting *split;
  system_of s;
  if (!make_system(&s, &singular)) return;
  OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &pairs, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("the block of rows 0 to 1 is singular (pivot 2)");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(split == NULL);
  pairs.factor = OSLA_SPLITTING_CHOLESKY;
  OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &pairs, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("the block of rows 0 to 1 is not positive definite (leading minor 2)");
  pairs.factor = (osla_splitting_factor)7;
  OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &pairs, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("factor = 7 is not an osla_splitting_factor");
  pairs.factor = osla_test_rank() == 0 ? OSLA_SPLITTING_LU : OSLA_SPLITTING_CHOLESKY;
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &pairs, &split), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("factor");
    OSLA_ASSERT_SAME_TEXT();
  }
  free_system(&s);
  if (!make_system(&s, &infinite)) return;
  pairs.factor = OSLA_SPLITTING_LU;
  OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &pairs, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("the block of rows 0 to 1 is not finite");
  free_system(&s);
  const kind wind = {4, 7.0, 3.0};
  if (!make_system(&s, &wind)) return;
  const osla_splitting_options five = {.block = 5};
  OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &five, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("= -4 and a(0, 4) = -1: Cholesky needs symmetric blocks");
  free_system(&s);
}

static void test_refused(void)
{
  const kind zero = {4, 0.0, 0.0}, indefinite = {4, 1.0, 0.0};
  const osla_splitting_options none = {.block = -3}, all = {.block = INT64_MAX};
  osla_splitting *split;
  system_of s;
  if (!make_system(&s, &zero)) return;
  OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, NULL, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("the diagonal element of row 0 is 0");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(split == NULL);
  OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &none, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("block = -3 is negative");
  free_system(&s);
  if (!make_system(&s, &indefinite)) return;
  OSLA_ASSERT_ERR(osla_splitting_create(s.a, s.b, &all, &split), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("is not positive definite");
  free_system(&s);
}

static const osla_test_case cases[] = {
  {"modes", test_modes},
  {"others", test_others},
  {"no_proof", test_no_proof},
  {"convection", test_convection},
  {"block_bound", test_block_bound},
  {"many_steps", test_many_steps},
  {"refused", test_refused},
  {"blocks refused", test_blocks_refused},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_splitting, cases);
