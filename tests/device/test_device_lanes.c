/* Tests of the two lanes of a device. A wait for one lane must run work of the other lane only if
 * work of the first lane starts after it. Factorisations must publish a panel while the update by
 * the previous panel is still queued. */
#include "osla_chol.h"
#include "osla_lu.h"
#include "src/device/fake/fake.h"
#include "tests/device/device_help.h"

#include <stdlib.h>

static void expect_queued(const device_queue *q, uint64_t in_main, uint64_t in_panel)
{
  const uint64_t got[2] = {osli_fake_queued(q->state, LANE_MAIN),
                           osli_fake_queued(q->state, LANE_PANEL)};
  OSLA_ASSERT_MSG(got[0] == in_main && got[1] == in_panel, "%d and %d pieces are queued",
                  (int)got[0], (int)got[1]);
}

/* Queues *y := factor * *x + *y. */
static void add(double factor, const double *x, double *y)
{
  OSLA_ASSERT_OK(osli_device_add(OSLA_DOUBLE, 1, 1, factor, x, 1, 1, y, 1));
}

/* Checks which work is still queued after each wait, and the numbers that the work computes. */
static void test_order(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_segment *s = NULL;
  double x[3] = {1, 0, 0};
  OSLA_ASSERT_OK(osla_segment_create_on(b.device, sizeof x, 0, &s));
  double *on = osla_segment_local(s);
  const device_queue *q = osli_device_of(on);
  osli_device_copy_bytes(3 * sizeof *x, x, on);

  add(2, on, on + 1); /* in the main lane: on[1] = 0 + 2 * 1 */
  /* a get of no bytes waits for no work */
  OSLA_ASSERT_OK(osla_segment_read(s, osla_transport_rank(b.t), 0, x, 0));
  expect_queued(q, 1, 0);
  CU_ASSERT(osli_device_lane(LANE_PANEL) == LANE_MAIN);
  add(3, on, on + 2); /* in the panel lane: on[2] = 0 + 3 * 1 */
  OSLA_ASSERT_OK(osli_device_settle(SETTLE_NOTIFY));
  expect_queued(q, 1, 0);
  OSLA_ASSERT_OK(osli_device_after(q, LANE_PANEL));
  add(5, on + 1, on + 2); /* in the panel lane: on[2] = 3 + 5 * 2 */
  expect_queued(q, 1, 1);
  CU_ASSERT(osli_device_lane(LANE_MAIN) == LANE_PANEL);
  OSLA_ASSERT_OK(osli_device_after(q, LANE_MAIN));
  add(7, on + 2, on + 1); /* in the main lane: on[1] = 2 + 7 * 13 */
  (void)osli_device_lane(LANE_PANEL);
  OSLA_ASSERT_OK(osli_device_settle(SETTLE_COLLECTIVE));
  expect_queued(q, 1, 0);
  (void)osli_device_lane(LANE_MAIN);
  add(1, on + 1, on);
  OSLA_ASSERT_OK(osli_device_settle(SETTLE_NOTIFY));
  expect_queued(q, 0, 0);
  osli_device_copy_bytes(3 * sizeof *x, on, x);
  OSLA_ASSERT_MSG(x[0] == 94 && x[1] == 93 && x[2] == 13, "%g %g %g", x[0], x[1], x[2]);
  osla_segment_destroy(&s);
  bench_close(&b);
}

/* ---- look-ahead ---- */

/* Counters of submit_counted and wait_counted, which replace two functions of the device. */
static struct {
  device_ops real; /* all functions of the device before the replacement */
  bool by_host;    /* true if the host factors panels; a panel then counts when it is copied back */
  int panels;      /* number of panels that this rank has factored */
  int factored;    /* number of panels that were factored while the main lane had queued work */
  int awaited;     /* number of panels that were awaited while the main lane had queued work */
  int last_awaited; /* value of `panels` when `awaited` was last raised */
} counts;

static osla_err submit_counted(device_state *state, const device_work *work)
{
  OSLA_CALL(counts.real.submit(state, work));
  const bool is_panel = work->kind == DEVICE_POTRF || work->kind == DEVICE_GETRF;
  /* The head of a panel is copied as bytes, so a copy of larger elements from host memory is a
   * panel. */
  const bool is_back = work->kind == DEVICE_COPY && work->element > 1 && !osli_device_of(work->a);
  if (counts.by_host ? !is_back : !is_panel) return OSLA_OK;
  counts.panels++;
  counts.factored += osli_fake_queued(state, LANE_MAIN) > 0;
  return OSLA_OK;
}

static osla_err wait_counted(device_state *state, uint64_t mark)
{
  OSLA_CALL(counts.real.wait(state, mark));
  if (mark % LANES != LANE_PANEL || osli_fake_queued(state, LANE_MAIN) == 0) return OSLA_OK;
  counts.awaited += counts.last_awaited != counts.panels;
  counts.last_awaited = counts.panels;
  return OSLA_OK;
}

/* Factors a matrix of 12 block columns on one process row. Each panel of this rank, except block
 * column 0 and the last one of this rank, must be factored while the update by the previous panel
 * is still queued. */
static void check_look_ahead(bool cholesky, bool by_host)
{
  enum { NB = 3, STEPS = 12, N = NB * STEPS };
  device_bench b;
  int64_t ipiv[N], info = 0;
  osla_lu_result result;
  (void)setenv("OSLA_DEVICE_PANELS", by_host ? "host" : "device", 1);
  const bool is_open = bench_open(&b, false);
  (void)unsetenv("OSLA_DEVICE_PANELS");
  if (!is_open) return;
  osla_grid *grid = NULL;
  const int rank = osla_transport_rank(b.t), size = osla_transport_size(b.t);
  OSLA_ASSERT_OK(osla_grid_create(b.t, 1, size, &grid));
  matrix_pair a = pair_make(&b, b.alone, grid, OSLA_DOUBLE, N, N, NB, NB, OSLA_FILL_SPD, 1);
  device_queue *q = osli_device_of(osla_matrix_local(a.device));
  const device_ops *real = q->ops;
  device_ops counted = counts.real = *real;
  counts.by_host = by_host;
  counts.panels = counts.factored = counts.awaited = counts.last_awaited = 0;
  counted.submit = submit_counted;
  counted.wait = wait_counted;
  q->ops = &counted;
  if (cholesky)
    OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, a.device, NULL, &info));
  else
    OSLA_ASSERT_OK(osla_getrf(a.device, ipiv, NULL, &result));
  q->ops = real;
  int owned = 0, ahead = 0;
  for (int k = rank; k < STEPS; k += size) {
    owned++;
    ahead += k > 0 && k + size < STEPS;
  }
  OSLA_ASSERT_MSG(counts.panels == owned, "%d panels of %d", counts.panels, owned);
  OSLA_ASSERT_MSG(counts.factored == ahead, "%d panels of %d were factored during an update",
                  counts.factored, ahead);
  /* Panels that the host factors are not checked here, because the wait for their copy to the host
   * comes before they count, nor is LU on one rank, which notifies no other rank. `awaited` may
   * exceed `ahead`, because between nodes LU also waits for a panel that has arrived, to copy its
   * head to the host. */
  if (!by_host && (cholesky || size > 1))
    OSLA_ASSERT_MSG(counts.awaited >= ahead, "%d panels of %d were published during an update",
                    counts.awaited, ahead);
  if (cholesky)
    OSLA_ASSERT_OK(osla_potrf(OSLA_LOWER, a.host, NULL, &info));
  else
    OSLA_ASSERT_OK(osla_getrf(a.host, ipiv, NULL, &result));
  pair_expect(&a, 100, "look-ahead, cholesky %d, by_host %d", cholesky, by_host);
  pair_free(&a);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

static void test_cholesky(void)
{
  for (int by_host = 0; by_host < 2; by_host++)
    check_look_ahead(true, by_host);
}

static void test_lu(void)
{
  for (int by_host = 0; by_host < 2; by_host++)
    check_look_ahead(false, by_host);
}

static const osla_test_case cases[] = {
  {"order", test_order}, {"cholesky", test_cholesky}, {"lu", test_lu}, {NULL, NULL}};
OSLA_TEST_SUITE(test_device_lanes, cases);
