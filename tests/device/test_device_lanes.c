/* Tests of the two lanes of a device: a wait for one lane runs work of the other lane only if the
 * first lane starts after it. */
#include "src/device/fake/fake.h"
#include "tests/device/device_help.h"

static void expect_queued(const device_queue *q, uint64_t in_main, uint64_t in_panel)
{
  const uint64_t got[2] = {osli_fake_queued(q->state, LANE_MAIN),
                           osli_fake_queued(q->state, LANE_PANEL)};
  OSLA_ASSERT_MSG(got[0] == in_main && got[1] == in_panel, "%d and %d entries are queued",
                  (int)got[0], (int)got[1]);
}

/* Queues *y := factor * *x + *y. */
static void add(double factor, const double *x, double *y)
{
  OSLA_ASSERT_OK(osli_device_add(OSLA_DOUBLE, 1, 1, factor, x, 1, 1, y, 1));
}

static void test_order(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_segment *s = NULL;
  double x[3] = {1, 0, 0};
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, sizeof x, 0, &s));
  double *on = osla_segment_local(s);
  const device_queue *q = osli_device_of(on);
  osli_device_copy(sizeof *x, 3, 1, x, 3, on, 3);

  add(2, on, on + 1); /* in the main lane: 2 */
  CU_ASSERT(osli_device_lane(LANE_PANEL) == LANE_MAIN);
  add(3, on, on + 2); /* in the panel lane: 3 */
  OSLA_ASSERT_OK(osli_device_settle(SETTLE_NOTIFY));
  expect_queued(q, 1, 0);
  OSLA_ASSERT_OK(osli_device_after(q, LANE_PANEL));
  add(5, on + 1, on + 2); /* 3 + 5 * 2 */
  expect_queued(q, 1, 2);
  CU_ASSERT(osli_device_lane(LANE_MAIN) == LANE_PANEL);
  OSLA_ASSERT_OK(osli_device_after(q, LANE_MAIN));
  add(7, on + 2, on + 1); /* 2 + 7 * 13 */
  (void)osli_device_lane(LANE_PANEL);
  OSLA_ASSERT_OK(osli_device_settle(SETTLE_COLLECTIVE));
  expect_queued(q, 2, 0);
  (void)osli_device_lane(LANE_MAIN);
  add(1, on + 1, on);
  OSLA_ASSERT_OK(osli_device_settle(SETTLE_NOTIFY));
  expect_queued(q, 0, 0);
  osli_device_copy(sizeof *x, 3, 1, on, 3, x, 3);
  OSLA_ASSERT_MSG(x[0] == 94 && x[1] == 93 && x[2] == 13, "%g %g %g", x[0], x[1], x[2]);
  osla_segment_destroy(&s);
  bench_close(&b);
}

static const osla_test_case cases[] = {{"order", test_order}, {NULL, NULL}};
OSLA_TEST_SUITE(test_device_lanes, cases);
