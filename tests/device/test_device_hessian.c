/* Tests of the accumulator on a device matrix. Updates by factors G and by blocks U, in host memory
 * and on the device, must give the sum that each rank computes serially. All values are integers,
 * so the sums are exact in any order. */
#include "osla_index.h"
#include "src/memory/segment.h"
#include "tests/device/device_help.h"
#include "tests/file_help.h"
#include "tests/hessian_reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UPDATES = 5, ORDER = 53 };

/* ---- a device matrix and its serial sum ---- */

static double first_value(int64_t i, int64_t j, void *arg)
{
  (void)arg;
  return (double)((3 * i + 5 * j) % 11 - 4);
}

static bool is_stored(osla_uplo uplo, int64_t i, int64_t j)
{
  return uplo == OSLA_GENERAL || (uplo == OSLA_LOWER ? i >= j : i <= j);
}

/* Makes an n x n matrix of the elements first_value, on a device, or in host memory if `device` is
 * NULL. Sets the serial sum to the H with which an accumulator with the options `clear` and
 * `initial` begins. Collective. */
static osla_matrix *make_filled(osla_device *device, osla_grid *grid, osla_dtype dtype, int64_t n,
                                int64_t nb, bool clear, double initial, serial_sum *sum)
{
  osla_matrix *a = NULL;
  if (device)
    OSLA_ASSERT_OK(osla_matrix_create_on(device, grid, dtype, n, n, nb, nb, &a));
  else
    OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, n, n, nb, nb, &a));
  OSLA_ASSERT_OK(osla_matrix_fill_with(a, first_value, NULL));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++)
      sum->h[i + j * n] = clear && is_stored(sum->uplo, i, j) ? initial : first_value(i, j, NULL);
  return a;
}

/* Makes a host matrix with the elements of a device matrix. Collective. */
static osla_matrix *copy_to_host(osla_matrix *a)
{
  const osla_layout l = osla_matrix_layout(a);
  osla_matrix *host = NULL;
  OSLA_ASSERT_OK(
    osla_matrix_create(osla_matrix_grid(a), osla_matrix_dtype(a), l.m, l.n, l.mb, l.nb, &host));
  OSLA_ASSERT_OK(osla_matrix_copy(a, host));
  return host;
}

/* Commits, and asserts that all elements of the matrix, including the triangle that is not stored,
 * and the gradient equal the serial sum. Collective. */
static void expect_sum(osla_hessian *h, osla_matrix *a, const serial_sum *sum, const char *when)
{
  const osla_layout l = osla_matrix_layout(a);
  osla_matrix *same = NULL;
  int64_t differ = 0;
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  OSLA_ASSERT_OK(osla_hessian_matrix(h, &same));
  CU_ASSERT(same == a);
  osla_matrix *host = copy_to_host(a);
  osla_grid *grid = osla_matrix_grid(a);
  const int64_t lld = osla_matrix_lld(host, osla_test_rank());
  for (int64_t c = 0; c < osla_matrix_local_cols(host); c++)
    for (int64_t r = 0; r < osla_matrix_local_rows(host); r++)
      differ += osla_test_real(osla_matrix_dtype(a), osla_matrix_local(host), r + c * lld) !=
                sum->h[osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow) +
                       osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol) * l.n];
  OSLA_ASSERT_MSG(differ == 0, "%s, uplo %d: %" PRId64 " elements differ", when, (int)sum->uplo,
                  differ);
  CU_ASSERT(memcmp(osla_hessian_gradient(h), sum->gradient, (size_t)l.n * sizeof(double)) == 0);
  osla_matrix_destroy(&host);
}

/* ---- updates ---- */

enum { G_BYTES = 1 << 19 };

/* Adds an update whose values lie on the device: copies them to this rank's memory of segment g,
 * passes the address of this memory to the accumulator, and overwrites the memory at once. The
 * accumulator must have read the values by then. */
static osla_err push_from_device(osla_hessian *h, test_update u, osla_segment *g)
{
  const size_t bytes = (size_t)(u.ld * u.cols) * osla_dtype_size(u.dtype);
  OSLA_ASSERT_MSG(bytes <= G_BYTES, "an update of %zu bytes", bytes);
  OSLA_ASSERT_OK(device_upload(g, u.values, bytes));
  const void *there = osla_segment_local(g);
  osla_err err = u.k < 0 ? osla_hessian_update_block(h, u.rows, u.ix, u.cols, u.jx, there, u.ld)
                         : osla_hessian_update(h, u.rows, u.ix, u.k, there, u.ld);
  if (err == OSLA_OK) err = osla_hessian_update_gradient(h, u.rows, u.ix, u.gradient);
  unsigned char *bad = osla_test_allocate(bytes + 1, 1);
  memset(bad, 0x40, bytes);
  OSLA_ASSERT_OK(device_upload(g, bad, bytes));
  free(bad);
  update_free(&u);
  return err;
}

static void push_all(osla_hessian *h, osla_segment *g, serial_sum *sum, uint64_t seed,
                     osla_dtype dtype)
{
  for (int i = 0; i < UPDATES * osla_test_size() && sum->n > 0; i++) {
    sum_add(sum, update_random(seed, i, sum->n, sum->n, dtype), 1.0);
    if (i % osla_test_size() != osla_test_rank()) continue;
    test_update u = update_random(seed, i, sum->n, sum->n, dtype);
    OSLA_ASSERT_OK(i / osla_test_size() % 2 == 0 ? push_from_device(h, u, g) : update_push(h, u));
  }
}

static double larger(double old, double value)
{
  return value > old ? value : old;
}

/* Compares two accumulators, made one after the other on one matrix, with the serial sum. The first
 * one begins with the contents of the matrix or, if `clear` is set, with `initial`. The second one
 * begins with the sums of the first one. */
static void check_life(device_bench *b, osla_grid *grid, int64_t n, osla_hessian_options o)
{
  const osla_dtype dtype = type_of(&o), updates = o.single_updates ? OSLA_FLOAT : dtype;
  serial_sum sum = sum_create(n, o.uplo == 0 ? OSLA_LOWER : o.uplo);
  osla_hessian *h = NULL;
  osla_segment *g = NULL;
  if (o.combine == OSLA_COMBINE_MAX) sum.combine = larger;
  OSLA_ASSERT_OK(osla_segment_create_on(b->device, G_BYTES, 0, &g));
  osla_matrix *a = make_filled(b->device, grid, dtype, n, o.nb, o.clear, o.initial, &sum);
  OSLA_ASSERT_OK(osla_hessian_create_on(a, &o, &h));
  expect_sum(h, a, &sum, "before the first update");
  for (uint64_t turn = 1; turn <= 2; turn++) {
    push_all(h, g, &sum, turn, updates);
    expect_sum(h, a, &sum, "after a commit");
  }
  osla_hessian_destroy(&h);
  o.clear = false;
  o.initial = 0.0;
  memset(sum.gradient, 0, (size_t)n * sizeof *sum.gradient);
  OSLA_ASSERT_OK(osla_hessian_create_on(a, &o, &h));
  push_all(h, g, &sum, 3, updates);
  expect_sum(h, a, &sum, "second accumulator");
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  memset(sum.gradient, 0, (size_t)n * sizeof *sum.gradient);
  const osla_hessian_options plain = {.combine = o.combine};
  for (int64_t at = 0; at < n * n; at++)
    if (is_stored(sum.uplo, at % n, at / n))
      sum.h[at] = plain.combine == OSLA_COMBINE_MAX ? -(double)INFINITY : 0.0;
  expect_sum(h, a, &sum, "after a reset");
  osla_hessian_destroy(&h);
  osla_matrix_destroy(&a);
  osla_segment_destroy(&g);
  sum_free(&sum);
}

static void check_kinds(device_bench *b, osla_grid *grid, int which)
{
  static const osla_uplo shapes[] = {OSLA_LOWER, OSLA_UPPER, OSLA_GENERAL};
  for (int kind = 0; kind < 3; kind++) {
    osla_hessian_options o = {.uplo = shapes[(which + kind) % 3], .nb = which % 2 ? 3 : 16};
    o.clear = (which + kind) % 2;
    o.single = kind == 1;
    o.single_updates = kind == 2;
    check_life(b, grid, ORDER, o);
  }
}

static void test_kinds(void)
{
  on_all_grids(check_kinds);
}

/* Runs check_life with options that change the pieces in which values are added, and the way in
 * which values are combined. */
static void check_options(device_bench *b, osla_grid *grid, int which)
{
  /* ring_bytes = 1 selects the smallest rings between nodes, so that many messages are sent */
  osla_hessian_options o = {.nb = 8, .piece_bytes = 4096, .ring_bytes = 1};
  if (which > 1) return;
  check_life(b, grid, 61, o);
  o.isolation = OSLA_ISOLATE_ELEMENT;
  o.uplo = OSLA_UPPER;
  o.shipping = OSLA_SHIP_FACTORS;
  check_life(b, grid, 61, o);
  o = (osla_hessian_options){.nb = 16, .node_sums = true, .shipping = OSLA_SHIP_FACTORS};
  check_life(b, grid, 61, o);
  o.node_sums = false;
  o.single_updates = true;
  check_life(b, grid, 61, o);
  o = (osla_hessian_options){.nb = 4, .memory_cap = 1 << 20};
  check_life(b, grid, 30, o);
  o = (osla_hessian_options){.nb = 5, .combine = OSLA_COMBINE_MAX};
  check_life(b, grid, 40, o);
  o.clear = true;
  o.initial = -20.0;
  check_life(b, grid, 40, o);
  o = (osla_hessian_options){.nb = 4, .order_independent = true};
  o.bound = o.gradient_bound = 1e6;
  check_life(b, grid, 45, o);
  o.uplo = OSLA_GENERAL;
  o.single_updates = true;
  o.piece_bytes = 4096;
  check_life(b, grid, 45, o);
  o.clear = true;
  check_life(b, grid, 1, o);
  o.order_independent = false;
  check_life(b, grid, 0, o);
}

static void test_options(void)
{
  on_all_grids(check_options);
}

/* ---- threads ---- */

static void test_threads(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_grid *grid = osla_test_square_grid(b.t);
  const osla_hessian_options o = {.nb = 8, .memory_cap = 1 << 20};
  serial_sum sum = sum_create(ORDER, OSLA_LOWER);
  osla_matrix *a = make_filled(b.device, grid, OSLA_DOUBLE, ORDER, 8, false, 0, &sum);
  osla_hessian *h = NULL;
  OSLA_ASSERT_OK(osla_hessian_create_on(a, &o, &h));
  push_by_threads(h, &sum);
  expect_sum(h, a, &sum, "threads");
  CU_ASSERT(osla_hessian_get_stats(h).bytes_peak <= 1 << 20);
  osla_hessian_destroy(&h);
  osla_matrix_destroy(&a);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

/* ---- lanes ---- */

/* Ranks that are in the panel lane, as during a factorisation on the device, add messages of other
 * nodes in the main lane. */
static void test_lane(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_grid *grid = osla_test_square_grid(b.t);
  const osla_hessian_options o = {.nb = 8, .ring_bytes = 1};
  const bool pushes = osla_test_rank() % 2 == 0;
  serial_sum sum = sum_create(ORDER, OSLA_LOWER);
  osla_matrix *a = make_filled(b.device, grid, OSLA_DOUBLE, ORDER, 8, false, 0, &sum);
  osla_hessian *h = NULL;
  OSLA_ASSERT_OK(osla_hessian_create_on(a, &o, &h));
  for (int i = 0; i < UPDATES * osla_test_size(); i++) {
    if (i % osla_test_size() % 2 == 0)
      sum_add(&sum, update_random(9, i, ORDER, ORDER, OSLA_DOUBLE), 1.0);
    if (pushes && i % osla_test_size() == osla_test_rank())
      OSLA_ASSERT_OK(update_push(h, update_random(9, i, ORDER, ORDER, OSLA_DOUBLE)));
  }
  count_begin(b.device);
  (void)osli_device_lane(LANE_PANEL);
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  (void)osli_device_lane(LANE_MAIN);
  const int in_panel = count_end(b.device).panel_combines;
  OSLA_ASSERT_MSG(in_panel == 0, "%d additions in the panel lane", in_panel);
  expect_sum(h, a, &sum, "in the panel lane");
  osla_hessian_destroy(&h);
  osla_matrix_destroy(&a);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

/* ---- failures ---- */

static device_ops not_failing; /* functions of the backend, while work fails */

static osla_err submit_failing(device_state *state, const device_work *work)
{
  if (work->kind == DEVICE_COMBINE)
    osli_device_keep_error(osla_error_set(OSLA_ERR_STATE, "planted failure"));
  return not_failing.submit(state, work);
}

/* Work of the last rank fails before a commit or, if it adds messages of rank 0 to its part of H,
 * during the commit. Then the commit returns the error on all ranks. */
static void check_failure(device_bench *b, osla_grid *grid, bool before, bool node_sums)
{
  const osla_hessian_options o = {.nb = 8, .node_sums = node_sums};
  const bool is_last = osla_test_rank() == osla_test_size() - 1;
  serial_sum sum = sum_create(ORDER, OSLA_LOWER);
  osla_matrix *a = make_filled(b->device, grid, OSLA_DOUBLE, ORDER, 8, false, 0, &sum);
  osla_hessian *h = NULL;
  OSLA_ASSERT_OK(osla_hessian_create_on(a, &o, &h));
  device_queue *q = osli_device_queue(b->device);
  const device_ops *real = q->ops;
  device_ops failing = not_failing = *real;
  failing.submit = submit_failing;
  if (osla_test_rank() == 0) OSLA_ASSERT_OK(update_push(h, update_ones(ORDER, 1, OSLA_DOUBLE)));
  if (is_last && before) osli_device_keep_error(osla_error_set(OSLA_ERR_STATE, "planted failure"));
  if (is_last && !before) q->ops = &failing;
  const osla_err err = osla_hessian_commit(h);
  q->ops = real;
  int errors[2] = {(int)err, -(int)err};
  OSLA_ASSERT_OK(osla_allreduce(b->t, errors, 2, MPI_INT, MPI_MAX));
  OSLA_ASSERT_MSG(errors[0] == -errors[1], "errors %d to %d", -errors[1], errors[0]);
  if (before || (osla_test_size() == 2 && osla_transport_n_nodes(b->t) == 2))
    CU_ASSERT(err == OSLA_ERR_STATE);
  osla_hessian_destroy(&h);
  osla_matrix_destroy(&a);
  sum_free(&sum);
}

static void test_failures(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_grid *grid = osla_test_square_grid(b.t);
  for (int turn = 0; turn < 12; turn++)
    check_failure(&b, grid, turn % 2, turn / 2 % 2);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

/* ---- checkpoints ---- */

/* Writes a checkpoint of an accumulator on a matrix on the device `from`, adds more updates, and
 * restores the checkpoint into a matrix on the device `to` with another grid and another block
 * size. The sums of both matrices must be right. A device of NULL stands for host memory. */
static void restart(osla_transport *t, osla_device *from, osla_device *to, osla_hessian_options o)
{
  const char *path = scratch_path("device.h5");
  osla_grid *first = osla_test_grid(t, 0);
  osla_grid *second = osla_test_grid(t, osla_test_size() > 1 ? 1 : 0);
  serial_sum sum = sum_create(37, OSLA_LOWER), repeated = sum_create(37, OSLA_LOWER);
  osla_matrix *a = make_filled(from, first, OSLA_DOUBLE, 37, 8, false, 0, &sum);
  osla_hessian *h = NULL;
  OSLA_ASSERT_OK(osla_hessian_create_on(a, &o, &h));
  push_ids(h, &sum, 0, 9);
  OSLA_ASSERT_OK(osla_hessian_checkpoint(h, path, "job"));
  memcpy(repeated.h, sum.h, (size_t)(37 * 37) * sizeof *sum.h);
  memcpy(repeated.gradient, sum.gradient, 37 * sizeof *sum.gradient);
  push_ids(h, &sum, 9, 12);
  expect_sum(h, a, &sum, "after a checkpoint");
  osla_hessian_destroy(&h);
  osla_matrix_destroy(&a);

  a = make_filled(to, second, OSLA_DOUBLE, 37, 5, false, 0, &sum);
  OSLA_ASSERT_OK(osla_hessian_create_on(a, &o, &h));
  OSLA_ASSERT_OK(osla_hessian_restore(h, path, "job"));
  CU_ASSERT(osla_hessian_has_id(h, 8) && !osla_hessian_has_id(h, 9));
  push_ids(h, &repeated, 9, 15);
  expect_sum(h, a, &repeated, "restored");
  osla_hessian_destroy(&h);
  osla_matrix_destroy(&a);
  sum_free(&repeated);
  sum_free(&sum);
  osla_grid_destroy(&first);
  osla_grid_destroy(&second);
}

static void test_restart(void)
{
  device_bench b;
  if (!WITH_HDF5 || !bench_open(&b, false)) return;
  scratch_create();
  osla_hessian_options o = {.checkpoint_holds = true};
  restart(b.t, b.device, b.device, o);
  o = (osla_hessian_options){.order_independent = true, .bound = 1e6, .gradient_bound = 1e6};
  restart(b.t, b.device, NULL, o);
  restart(b.t, NULL, b.device, o);
  scratch_remove(1);
  bench_close(&b);
}

static const osla_test_case cases[] = {
  {"kinds", test_kinds}, {"options", test_options},   {"threads", test_threads},
  {"lane", test_lane},   {"failures", test_failures}, {"restart", test_restart},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_device_hessian, cases);
