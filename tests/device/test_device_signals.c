/* Tests of signals between the lanes of a device. */
#include "src/device/fake/fake.h"
#include "src/memory/segment.h"
#include "tests/device/device_help.h"

/* ---- lanes ---- */

/* Queues *y := factor * *x + *y. */
static void add(double factor, const double *x, double *y)
{
  OSLA_ASSERT_OK(osli_device_add(OSLA_DOUBLE, 1, 1, factor, x, 1, 1, y, 1));
}

/* Lets the main lane wait for a signal of the panel lane, and checks the number that both lanes
 * compute. Nothing but the signal makes the device run the panel lane. */
static void check_lanes(bool early)
{
  static _Alignas(4096) _Atomic uint64_t word[512];
  device_bench b;
  double *on = NULL, x[3] = {1, 0, 0};
  if (!bench_open(&b, early)) return;
  device_queue *q = osli_device_queue(b.device);
  const bool pins = q->ops->pin != NULL;
  OSLA_ASSERT_OK(osli_device_alloc(q, sizeof x, false, (void **)&on));
  if (pins) OSLA_ASSERT_OK(q->ops->pin(q->state, word, sizeof word));
  atomic_store(word, 0);
  for (uint64_t round = 1; round <= 3; round++) {
    osli_device_copy_bytes(sizeof x, (double[]){1, 0, 0}, on);
    (void)osli_device_lane(LANE_PANEL);
    add((double)round, on, on + 1);
    OSLA_ASSERT_OK(osli_device_signal(q, word, round));
    (void)osli_device_lane(LANE_MAIN);
    OSLA_ASSERT_OK(osli_device_await(q, word, round));
    add(5, on + 1, on + 2);
    OSLA_ASSERT_OK(osli_device_finish(q));
    CU_ASSERT(atomic_load(word) == round);
    osli_device_copy_bytes(sizeof x, on, x);
    OSLA_ASSERT_MSG(x[2] == 5 * (double)round, "round %d: %g", (int)round, x[2]);
  }
  OSLA_ASSERT_OK(osli_device_wait(q));
  if (pins) q->ops->unpin(q->state, word);
  osli_device_free(on);
  bench_close(&b);
}

static void test_lanes(void)
{
  check_lanes(false);
  check_lanes(true);
}

static const osla_test_case cases[] = {{"lanes", test_lanes}, {NULL, NULL}};
OSLA_TEST_SUITE(test_device_signals, cases);
