/* Tests of order-independent sums: equal bits for any order of the terms, on any number of ranks
 * and for any way of merging; accuracy of 2^-60 of the largest term; extreme terms. */
#include "osla_random.h"
#include "tests/osla_test.h"
#include "tests/osla_test_help.h"
#include "tools/common/order_free.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TERMS = 20000, SUMS = 7 };

/* Makes terms over 160 powers of two, so that the bins move up and low bits are cut off. */
static double term(int i)
{
  return ldexp(1.0 + osla_random_uniform(1, (uint64_t)i, 0),
               (int)(osla_random_bits(2, (uint64_t)i, 0) % 160) - 100);
}

static void add(order_free_sums *s, int i)
{
  order_free_add(s, i % SUMS, term(i));
}

static bool equal(const order_free_sums *a, const order_free_sums *b)
{
  bool same = true;
  for (int64_t i = 0; i < SUMS; i++) {
    double x = order_free_value(a, i), y = order_free_value(b, i);
    same &= memcmp(&x, &y, sizeof x) == 0;
  }
  return same;
}

static void test_any_order(void)
{
  order_free_sums up, down, parts, part;
  OSLA_ASSERT_OK(order_free_create(SUMS, &up));
  OSLA_ASSERT_OK(order_free_create(SUMS, &down));
  OSLA_ASSERT_OK(order_free_create(SUMS, &parts));
  for (int i = 0; i < TERMS; i++) {
    add(&up, i);
    add(&down, TERMS - 1 - i);
  }
  for (int p = 0; p < 5; p++) {
    OSLA_ASSERT_OK(order_free_create(SUMS, &part));
    for (int i = p; i < TERMS; i += 5)
      add(&part, i);
    order_free_merge(&parts, &part);
    order_free_destroy(&part);
  }
  CU_ASSERT(equal(&up, &down) && equal(&up, &parts));
  long double sum[SUMS] = {0.0L};
  double largest = 0.0;
  for (int i = 0; i < TERMS; i++)
    sum[i % SUMS] += (long double)term(i);
  for (int64_t i = 0; i < SUMS; i++) {
    double value = order_free_value(&up, i);
    largest = fmax(largest, value);
    OSLA_ASSERT_CLOSE(value, (double)sum[i], 1e-15 * (double)sum[i]);
  }
  CU_ASSERT(order_free_largest(&up) == largest);
  order_free_destroy(&up);
  order_free_destroy(&down);
  order_free_destroy(&parts);
}

/* Each rank has its own terms; with several ranks the last rank has no terms. */
static void test_ranks(void)
{
  osla_transport *t;
  order_free_sums all, mine;
  if (!OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, NULL, &t))) return;
  int rank = osla_test_rank(), busy = osla_test_size() > 1 ? osla_test_size() - 1 : 1;
  OSLA_ASSERT_OK(order_free_create(SUMS, &all));
  OSLA_ASSERT_OK(order_free_create(SUMS, &mine));
  for (int i = 0; i < TERMS; i++) {
    add(&all, i);
    if (i * 7 / TERMS % busy == rank) add(&mine, i);
  }
  OSLA_ASSERT_OK(order_free_reduce(t, &mine));
  CU_ASSERT(equal(&all, &mine));
  order_free_destroy(&all);
  order_free_destroy(&mine);
  osla_transport_destroy(&t);
}

static void test_odd_terms(void)
{
  const double exact[] = {1.0, 0x1.fffffffffffffp0, 0x1p-1022, 0x1.8p1000, 3.0, 0x1p30, 0x1p-30};
  for (size_t k = 0; k < sizeof exact / sizeof *exact; k++) {
    order_free_sums s;
    OSLA_ASSERT_OK(order_free_create(1, &s));
    CU_ASSERT(order_free_value(&s, 0) == 0.0);
    order_free_add(&s, 0, 0.0);
    order_free_add(&s, 0, DBL_MIN / 4);
    order_free_add(&s, 0, exact[k]);
    OSLA_ASSERT_MSG(order_free_value(&s, 0) == exact[k], "%a", exact[k]);
    order_free_add(&s, 0, NAN);
    CU_ASSERT(order_free_value(&s, 0) >= DBL_MAX);
    order_free_destroy(&s);
  }
}

static const osla_test_case cases[] = {{"any order", test_any_order},
                                       {"ranks", test_ranks},
                                       {"odd terms", test_odd_terms},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_order_free, cases);
