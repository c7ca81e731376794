/* Tests of osla_sums_all, which adds numbers over all ranks. */
#include "osla_krylov.h"
#include "tests/osla_test_help.h"

#include <stdio.h>
#include <string.h>

static void test_sums(void)
{
  osla_transport *t = osla_test_transport();
  osla_sums *s;
  const int size = osla_test_size(), me = osla_test_rank();
  int bad = 0;
  OSLA_ASSERT_ERR(osla_sums_create(t, 0, &s), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("most = 0 is less than 1");
  OSLA_ASSERT_OK(osla_sums_create(t, 3, &s));
  for (int call = 0; call < 200; call++) {
    const int n = 1 + call % 3;
    double value[3], expected[3] = {0.0};
    for (int j = 0; j < n; j++) {
      value[j] = call + me * 3 + j;
      for (int p = 0; p < size; p++)
        expected[j] += call + p * 3 + j;
    }
    OSLA_ASSERT_OK(osla_sums_all(s, n, value));
    for (int j = 0; j < n; j++)
      bad += !(value[j] == expected[j]);
  }
  OSLA_ASSERT_MSG(bad == 0, "%d sums are wrong", bad);
  double one[4] = {0.0};
  OSLA_ASSERT_ERR(osla_sums_all(s, 4, one), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("n = 4 is outside 1 to 3");
  OSLA_ASSERT_ERR(osla_sums_all(s, -1, one), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("n = -1 is outside 1 to 3");
  OSLA_ASSERT_OK(osla_sums_destroy(&s));
  OSLA_ASSERT_OK(osla_sums_destroy(&s));
  osla_transport_destroy(&t);
}

/* Sums with rounding errors have the same bits on all ranks and in all runs. */
static void test_sums_bits(void)
{
  osla_transport *t = osla_test_transport();
  osla_sums *s;
  double first = 0.0;
  OSLA_ASSERT_OK(osla_sums_create(t, 1, &s));
  for (int run = 0; run < 20; run++) {
    double value = 1.0 / (3 + osla_test_rank()), least;
    OSLA_ASSERT_OK(osla_sums_all(s, 1, &value));
    least = value;
    OSLA_ASSERT_OK(osla_allreduce(t, &least, 1, MPI_DOUBLE, MPI_MIN));
    CU_ASSERT(memcmp(&least, &value, sizeof value) == 0);
    if (run == 0) first = value;
    CU_ASSERT(memcmp(&first, &value, sizeof value) == 0);
  }
  OSLA_ASSERT_OK(osla_sums_destroy(&s));
  osla_transport_destroy(&t);
}

/* One or several ranks pass another count of numbers. All ranks report the same error, and later
 * sums are correct. */
static void test_other_counts(void)
{
  osla_transport *t = osla_test_transport();
  OSLA_ASSERT_OK(osla_sums_destroy(NULL));
  osla_sums *s;
  const int size = osla_test_size(), me = osla_test_rank();
  const int counts[] = {1, 3, 4, 0, -2};
  OSLA_ASSERT_OK(osla_sums_create(t, 3, &s));
  for (int first = 1; first < size; first += first < 8 ? 1 : 7)
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
      /* has more elements than any rank passes, so that 4 must not be read */
      double value[4] = {1.0, 2.0, 3.0, 4.0};
      char text[128];
      (void)snprintf(text, sizeof text, "osla_sums_all: n is 2 on rank 0, but %d on rank %d: all",
                     counts[i], first);
      const int n = me == first ? counts[i] : me > first && me % 2 ? 3 : 2;
      OSLA_ASSERT_ERR(osla_sums_all(s, n, value), OSLA_ERR_ARG);
      OSLA_ASSERT_TEXT(text);
      OSLA_ASSERT_SAME_TEXT();
      value[0] = 1.0, value[1] = me;
      OSLA_ASSERT_OK(osla_sums_all(s, 2, value));
      CU_ASSERT(value[0] == size && value[1] == size * (size - 1) / 2);
    }
  if (size == 1) CU_ASSERT(me == 0);
  OSLA_ASSERT_OK(osla_sums_destroy(&s));
  osla_transport_destroy(&t);
}

static void test_dot(void)
{
  const double x[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
  for (int n = 0; n <= 6; n++)
    CU_ASSERT(osla_dot_local(n, x, x) == n * (n + 1) * (2 * n + 1) / 6.0);
}

static const osla_test_case cases[] = {{"sums", test_sums},
                                       {"bits", test_sums_bits},
                                       {"other counts", test_other_counts},
                                       {"dot", test_dot},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_sums, cases);
