/* Tests of exact sums of doubles, and of reductions with OSLA_SUM_EXACT. */
#include "kernels/common/exact_sum.h"
#include "osla_forest.h"
#include "osla_random.h"
#include "tests/osla_test_help.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the accumulator of exact sums ---- */

static double sum_of(const double *x, int n)
{
  exact_sum s;
  osli_exact_sum_start(&s);
  for (int i = 0; i < n; i++)
    osli_exact_sum_add(&s, x[i]);
  return osli_exact_sum_round(&s);
}

static bool same(double a, double b)
{
  return memcmp(&a, &b, sizeof a) == 0;
}

static void test_values(void)
{
  const double tiny = DBL_TRUE_MIN, huge = DBL_MAX, half = DBL_EPSILON / 2;
  const struct {
    double x[4], sum;
  } cases[] = {
    {{0.0, -0.0, 0.0, 0.0}, 0.0},
    {{1.0, half, 0.0, 0.0}, 1.0},                /* halfway between two doubles, rounded to even */
    {{1.0, half, tiny, 0.0}, 1.0 + DBL_EPSILON}, /* slightly above the middle of two doubles */
    {{1.0, half, -tiny, 0.0}, 1.0},              /* slightly below the middle of two doubles */
    {{-1.0, -half, -tiny, 0.0}, -1.0 - DBL_EPSILON},
    {{1e300, 1.0, -1e300, tiny}, 1.0},
    {{huge, huge, -huge, -huge}, 0.0}, /* a partial sum exceeds the largest double */
    {{huge, huge, -huge, tiny}, huge},
    {{huge, huge, 0.0, 0.0}, HUGE_VAL},
    {{-huge, -huge, 1.0, 0.0}, -HUGE_VAL},
    {{DBL_MIN, -tiny, 0.0, 0.0}, DBL_MIN - tiny}, /* the sum is below the smallest normal number */
    {{HUGE_VAL, 1.0, 0.0, 0.0}, HUGE_VAL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    OSLA_ASSERT_MSG(same(sum_of(cases[i].x, 4), cases[i].sum), "case %zu: %a, not %a", i,
                    sum_of(cases[i].x, 4), cases[i].sum);
  /* rounded to double first, each sum would be halfway between two floats */
  const float ulp = FLT_EPSILON;
  const double float_cases[][3] = {
    {1.0, ulp / 2, tiny}, {1.0, ulp / 2, -tiny}, {1.0, ulp / 2, 0.0}};
  const float floats[] = {1.0F + ulp, 1.0F, 1.0F};
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
    exact_sum s;
    osli_exact_sum_start(&s);
    for (int k = 0; k < 3; k++)
      osli_exact_sum_add(&s, float_cases[i][k]);
    CU_ASSERT(osli_exact_sum_round_float(&s) == floats[i]);
  }
  const double both[] = {HUGE_VAL, -HUGE_VAL};
  CU_ASSERT(isnan(sum_of(both, 2)));
}

/* Exact sums of two random doubles equal the rounded sums of the processor. */
static void test_pairs(void)
{
  int bad = 0;
  for (uint64_t i = 0; i < 100000; i++) {
    double x[2];
    for (uint64_t k = 0; k < 2; k++) {
      const uint64_t bits = osla_random_bits(1, i, k);
      memcpy(&x[k], &bits, sizeof bits);
    }
    if (!isfinite(x[0]) || !isfinite(x[1])) continue;
    if (i % 2) x[1] = ldexp(x[1] > 0 ? 1.5 : -1.25, ilogb(x[0]) - (int)(i % 60));
    bad += x[0] + x[1] != sum_of(x, 2);
  }
  OSLA_ASSERT_MSG(bad == 0, "%d sums of two are wrong", bad);
}

/* ---- reductions with exact sums ---- */

/* EDGES values are added at ROOTS roots. The values do not depend on the distribution of the edges,
 * have very different magnitudes, and nearly cancel in pairs. */
enum { EDGES = 3000, ROOTS = 7 };

static double value_of(int64_t edge)
{
  const uint64_t bits = osla_random_bits(2, (uint64_t)(edge / 2), 0);
  const double size = ldexp((double)(bits >> 11), (int)(bits % 60));
  return edge % 2 ? -size * (1.0 + ldexp(1.0, -30 - (int)(bits % 20))) : size;
}

static int root_of(int64_t edge)
{
  return (int)(osla_random_bits(3, (uint64_t)edge, 0) % ROOTS);
}

/* The rank that owns an edge, in three distributions: blocks, round robin, random. */
static int rank_of(int way, int64_t edge)
{
  const int size = osla_test_size();
  return way == 0   ? (int)(edge * size / EDGES)
         : way == 1 ? (int)(edge % size)
                    : (int)(osla_random_bits(4, (uint64_t)edge, 0) % (uint64_t)size);
}

static void expect_sums(int way, bool floats, const void *got)
{
  double *x = osla_test_allocate(EDGES + 1, sizeof *x);
  for (int j = 0; j < ROOTS; j++) {
    int n = 0;
    if (j % osla_test_size() != osla_test_rank()) continue;
    for (int64_t e = EDGES - 1; e >= 0; e--)
      if (root_of(e) == j) x[n++] = floats ? (double)(float)value_of(e) : value_of(e);
    x[n++] = 0.5 + j;
    const int at = j / osla_test_size();
    exact_sum all;
    osli_exact_sum_start(&all);
    for (int k = 0; k < n; k++)
      osli_exact_sum_add(&all, x[k]);
    const double sum =
      floats ? (double)osli_exact_sum_round_float(&all) : osli_exact_sum_round(&all);
    const double is = floats ? (double)((const float *)got)[at] : ((const double *)got)[at];
    OSLA_ASSERT_MSG(is == sum, "way %d, root %d: %a, not %a", way, j, is, sum);
  }
  free(x);
}

static void run_exact(osla_transport *t, int way, bool floats, bool plain)
{
  const int me = osla_test_rank(), size = osla_test_size();
  const int64_t n_roots = (ROOTS - me + size - 1) / size;
  osla_root *root = osla_test_allocate(EDGES, sizeof *root);
  void *memory = NULL;
  OSLA_ASSERT_OK(osla_vertices_create(t, (EDGES + ROOTS) * sizeof(double), &memory));
  double *values = plain ? osla_test_allocate(EDGES + ROOTS, sizeof *values) : memory;
  double *roots = values + EDGES;
  int64_t n = 0;
  for (int64_t e = 0; e < EDGES; e++) {
    if (rank_of(way, e) != me) continue;
    if (floats)
      ((float *)values)[n] = (float)value_of(e);
    else
      values[n] = value_of(e);
    root[n++] = (osla_root){root_of(e) % size, root_of(e) / size};
  }
  for (int64_t i = 0; i < n_roots; i++) {
    const double start = 0.5 + (double)(me + i * size);
    if (floats)
      ((float *)roots)[i] = (float)start;
    else
      roots[i] = start;
  }
  osla_forest *f;
  const osla_unit unit = {floats ? OSLA_UNIT_FLOAT : OSLA_UNIT_DOUBLE, 1, 0};
  OSLA_ASSERT_OK(osla_forest_create(t, n_roots > 0 ? n_roots : 0, n, NULL, root, &f));
  OSLA_ASSERT_OK(osla_forest_reduce(f, unit, values, roots, OSLA_SUM_EXACT));
  expect_sums(way, floats, roots);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  if (plain) free(values);
  OSLA_ASSERT_OK(osla_vertices_free(t, &memory));
  free(root);
}

static void test_exact(void)
{
  osla_transport *t = osla_test_transport();
  for (int way = 0; way < 3; way++) {
    run_exact(t, way, false, false);
    run_exact(t, way, true, way == 1);
    run_exact(t, way, false, true);
  }
  osla_transport_destroy(&t);
}

static void test_refused(void)
{
  osla_transport *t = osla_test_transport();
  const osla_root root = {osla_test_rank(), 0};
  double x[3] = {1.0, 2.0, 3.0};
  osla_forest *f;
  OSLA_ASSERT_OK(osla_forest_create(t, 1, 1, NULL, &root, &f));
  OSLA_ASSERT_ERR(osla_forest_fetch(f, OSLA_ONE_DOUBLE, x, x + 1, x + 2, OSLA_SUM_EXACT),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("a fetch of double has no SUM_EXACT");
  OSLA_ASSERT_ERR(osla_forest_fetch(f, OSLA_ONE_DOUBLE, x, x + 1, x + 2, OSLA_SUM_ARRIVAL),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"values", test_values},
                                       {"pairs", test_pairs},
                                       {"exact", test_exact},
                                       {"refused", test_refused},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_forest_exact, cases);
