/* Tests reductions that advance in steps while their ranks do other work. */
#include "osla_random.h"
#include "osla_reduction.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUMS = 3, MAXIMA = 2, VALUES = SUMS + MAXIMA };

static double value_of(int rank, int64_t round, int k)
{
  const uint64_t bits = osla_random_bits(11, (uint64_t)(round * 1000 + rank), (uint64_t)k);
  return ldexp((double)(bits >> 11), (int)(bits % 40) - 70) - 0x1p-20;
}

/* Makes one round. This rank makes `steps` steps before it looks for the result. */
static void run_round(osla_reduction *r, int64_t round, int steps, double *result)
{
  double values[VALUES];
  const double *got = NULL;
  for (int k = 0; k < VALUES; k++)
    values[k] = value_of(osla_test_rank(), round, k);
  OSLA_ASSERT_OK(osla_reduction_start(r, values, SUMS, MAXIMA));
  for (int i = 0; i < steps && !got; i++)
    OSLA_ASSERT_OK(osla_reduction_test(r, &got));
  OSLA_ASSERT_OK(osla_reduction_wait(r, &got));
  memcpy(result, got, VALUES * sizeof *result);
  OSLA_ASSERT_OK(osla_reduction_test(r, &got));
  CU_ASSERT(got && memcmp(result, got, VALUES * sizeof *result) == 0);
}

static void test_rounds(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size();
  osla_reduction *r;
  const double *none;
  OSLA_ASSERT_OK(osla_reduction_create(t, &r));
  OSLA_ASSERT_OK(osla_reduction_test(r, &none));
  CU_ASSERT(none == NULL);
  for (int64_t round = 0; round < 200; round++) {
    double got[VALUES], again[VALUES], first[VALUES], wrong = 0;
    run_round(r, round, (int)osla_test_choose(5, round * size + osla_test_rank(), 20), got);
    for (int k = 0; k < VALUES; k++) {
      double sum = 0, largest = -INFINITY, size_of = 0;
      for (int p = 0; p < size; p++) {
        sum += value_of(p, round, k);
        size_of += fabs(value_of(p, round, k));
        largest = fmax(largest, value_of(p, round, k));
      }
      wrong += k < SUMS ? !(fabs(got[k] - sum) <= 1e-15 * size * size_of) : got[k] != largest;
    }
    OSLA_ASSERT_MSG(wrong == 0, "round %d: %g wrong", (int)round, wrong);
    memcpy(first, got, sizeof first);
    if (round % 20) continue;
    OSLA_ASSERT_OK(osla_bcast(t, first, VALUES, MPI_DOUBLE, 0));
    CU_ASSERT(memcmp(first, got, sizeof got) == 0);
    run_round(r, round, 0, again);
    CU_ASSERT(memcmp(again, got, sizeof got) == 0);
  }
  osla_reduction_destroy(&r);
  osla_reduction_destroy(&r);
  osla_transport_destroy(&t);
}

/* Tests that a NaN of any rank is in the result, as a sum and as a maximum. Rounds may have
 * different lengths.
 */
static void test_not_numbers(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size();
  osla_reduction *r;
  OSLA_ASSERT_OK(osla_reduction_create(t, &r));
  for (int bad = 0; bad < size; bad++) {
    const double values[] = {1.0, osla_test_rank() == bad ? NAN : 1.0, 2.0,
                             osla_test_rank() == bad ? NAN : (double)osla_test_rank()};
    const double *got;
    OSLA_ASSERT_OK(osla_reduction_start(r, values, 2, 2));
    OSLA_ASSERT_OK(osla_reduction_wait(r, &got));
    CU_ASSERT(got[0] == size && isnan(got[1]) && got[2] == 2.0 && isnan(got[3]));
    OSLA_ASSERT_OK(osla_reduction_start(r, values, 0, 1));
    OSLA_ASSERT_OK(osla_reduction_wait(r, &got));
    CU_ASSERT(got[0] == 1.0);
    OSLA_ASSERT_OK(osla_reduction_start(r, values, 0, 0));
    OSLA_ASSERT_OK(osla_reduction_wait(r, &got));
    CU_ASSERT(got != NULL);
  }
  osla_reduction_destroy(&r);
  osla_transport_destroy(&t);
}

/* Tests that a round is not complete before the last rank has started it, and that a second start
 * is an error. */
static void test_late(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size(), late = size - 1;
  const double one = 1.0, *got = NULL;
  osla_reduction *r;
  OSLA_ASSERT_OK(osla_reduction_create(t, &r));
  if (osla_test_rank() != late) {
    OSLA_ASSERT_OK(osla_reduction_start(r, &one, 1, 0));
    OSLA_ASSERT_ERR(osla_reduction_start(r, &one, 1, 0), OSLA_ERR_STATE);
    OSLA_ASSERT_TEXT("round 1 of the reduction is not complete");
    OSLA_ASSERT_OK(osla_reduction_test(r, &got));
    CU_ASSERT(got == NULL);
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  if (osla_test_rank() == late) OSLA_ASSERT_OK(osla_reduction_start(r, &one, 1, 0));
  OSLA_ASSERT_OK(osla_reduction_wait(r, &got));
  CU_ASSERT(got && got[0] == size);
  const double values[OSLA_REDUCTION_MOST + 1] = {0};
  OSLA_ASSERT_ERR(osla_reduction_start(r, values, OSLA_REDUCTION_MOST, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_reduction_start(r, values, -1, 1), OSLA_ERR_ARG);
  OSLA_ASSERT_OK(osla_reduction_start(r, values, 1, OSLA_REDUCTION_MOST - 1));
  OSLA_ASSERT_OK(osla_reduction_wait(r, &got));
  osla_reduction_destroy(&r);
  osla_transport_destroy(&t);
}

/* Tests a reduction whose rounds have in turn more values than OSLA_REDUCTION_MOST, and one
 * value. */
static void test_wide(void)
{
  enum { WIDE = 777 };
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size(), rank = osla_test_rank();
  osla_reduction *r;
  const double *got;
  double values[WIDE + 1];
  OSLA_ASSERT_ERR(osla_reduction_create_wide(t, 0, &r), OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_reduction_create_wide(t, OSLA_REDUCTION_WIDEST + 1, &r), OSLA_ERR_ARG);
  CU_ASSERT(r == NULL);
  if (size > 1) {
    OSLA_ASSERT_ERR(osla_reduction_create_wide(t, WIDE + rank, &r), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("most is 777 on rank 0, but 778 on rank 1");
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT(r == NULL);
  }
  OSLA_ASSERT_OK(osla_reduction_create_wide(t, WIDE, &r));
  for (int round = 0; round < 20; round++) {
    const int n = round % 2 ? 1 : WIDE;
    int wrong = 0;
    for (int k = 0; k <= WIDE; k++)
      values[k] = k % size == rank ? k + round : 0;
    OSLA_ASSERT_OK(osla_reduction_start(r, values, n, 0));
    OSLA_ASSERT_OK(osla_reduction_wait(r, &got));
    for (int k = 0; got && k < n; k++)
      wrong += got[k] != k + round;
    CU_ASSERT(got && wrong == 0);
  }
  OSLA_ASSERT_ERR(osla_reduction_start(r, values, WIDE, 1), OSLA_ERR_ARG);
  osla_reduction_destroy(&r);
  osla_transport_destroy(&t);
}

/* Returns the sum of (rank + 1) over the even ranks from `first` to first + n - 1. */
static double sum_of_even(int first, int n)
{
  double sum = 0.0;
  for (int p = first; p < first + n && p < osla_test_size(); p++)
    if (p % 2 == 0) sum += p + 1;
  return sum;
}

/* Tests reductions of sets of ranks: the ranks with even numbers among each `width` consecutive
 * ranks. Ranks with odd numbers are in no set. Each set makes another number of rounds. */
static void test_sets(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size(), rank = osla_test_rank();
  int *set = osla_test_allocate((size_t)size + 1, sizeof *set);
  osla_reduction *r;
  const double *got;
  for (int width = 1; width <= size + 1; width++) {
    const int first = rank - rank % width;
    int n = 0;
    for (int p = first; p < first + width && p < size && rank % 2 == 0; p++)
      if (p % 2 == 0) set[n++] = p;
    if (!OSLA_ASSERT_OK(osla_reduction_create_among(t, n, set, 2, &r))) continue;
    for (int round = 0; n > 0 && round < 5 + first; round++) {
      const double values[] = {rank + 1 + round, rank};
      OSLA_ASSERT_OK(osla_reduction_start(r, values, 1, 1));
      OSLA_ASSERT_OK(osla_reduction_wait(r, &got));
      CU_ASSERT(got[0] == sum_of_even(first, width) + n * round && got[1] == set[n - 1]);
    }
    osla_reduction_destroy(&r);
  }
  set[0] = rank == size - 1 ? size : rank;
  OSLA_ASSERT_ERR(osla_reduction_create_among(t, 1, set, 2, &r), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("is not a rank, or not in ascending order");
  OSLA_ASSERT_SAME_TEXT();
  set[0] = (rank + 1) % size;
  if (size > 1) OSLA_ASSERT_ERR(osla_reduction_create_among(t, 1, set, 2, &r), OSLA_ERR_ARG);
  if (size > 1) OSLA_ASSERT_TEXT("rank 0 is not in its own set of ranks");
  OSLA_ASSERT_ERR(osla_reduction_create_among(t, -1, set, 2, &r), OSLA_ERR_ARG);
  CU_ASSERT(r == NULL);
  free(set);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"rounds", test_rounds}, {"not_numbers", test_not_numbers},
  {"late", test_late},     {"wide", test_wide},
  {"sets", test_sets},     {NULL, NULL},
};
OSLA_TEST_SUITE(test_reduction, cases);
