/* Tests of CG on a device. It must stop at the first test at which CG in host memory has converged,
 * find the solution of CG in host memory, and wait for the device as rarely as its options say. */
#include "tests/device/sparse_system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- iterations and solutions ---- */

/* Number of calls whose values a history can hold. */
enum { HISTORY = 1100 };

/* Record of the calls that osla_cg makes to `record`, one before the first and one after each
 * iteration. */
typedef struct history {
  int64_t calls;        /* number of calls */
  int64_t wrong;        /* number of calls whose `iteration` is not the number of earlier calls */
  double left[HISTORY]; /* argument `left` of each call */
} history;

static void record(void *arg, int64_t iteration, double left)
{
  history *h = arg;
  h->wrong += iteration != h->calls;
  if (h->calls < HISTORY) h->left[h->calls] = left;
  h->calls++;
}

/* Compares CG on the device with CG in host memory: the reason to end, the number of iterations,
 * the residuals and the solution. On the device CG tests for convergence once in `every` iterations
 * (0: the default). `iterations` is the largest number of iterations (0: the default). */
static void check_cg(int early, int64_t every, int64_t iterations)
{
  sparse_system s;
  static history on_host, on_device;
  osla_krylov_result host;
  on_host.calls = on_device.calls = on_device.wrong = 0;
  if (!open_system(&s, early, SPARSE_GRID, 400, 400, 1.0)) return;
  fill_vectors(&s);
  double *x = osla_test_allocate((size_t)s.columns + 1, sizeof *x);
  memcpy(x, s.x, (size_t)s.columns * sizeof *x);
  osla_krylov_options o = {
    .tolerance = 1e-10, .iterations = iterations, .each = record, .arg = &on_host};
  OSLA_ASSERT_OK(osla_cg(&s.op, NULL, s.b, x, &o, &host));
  to_device(&s);
  o.check_every = every;
  o.arg = &on_device;
  const osla_krylov_result r = solve_on_device(&s, &o, NULL);
  const int64_t group = osla_transport_n_nodes(s.bench.t) > 1 ? 1 : every == 0 ? 16 : every;
  const int64_t due = (host.iterations + group - 1) / group * group;
  const bool limited = host.end == OSLA_KRYLOV_ITERATIONS;
  CU_ASSERT(r.end == host.end);
  /* if a number underflows after convergence, osla_cg repeats the group with single iterations */
  const bool repeated = group == 1000 && r.iterations == host.iterations;
  OSLA_ASSERT_MSG(repeated || r.iterations == (limited ? iterations : due),
                  "%d iterations, host %d, group %d", (int)r.iterations, (int)host.iterations,
                  (int)group);
  OSLA_ASSERT_MSG(on_device.calls == r.iterations + 1 && on_device.wrong == 0,
                  "%d calls of each, %d wrong", (int)on_device.calls, (int)on_device.wrong);
  for (int64_t i = 0; i <= host.iterations; i++)
    OSLA_ASSERT_CLOSE(on_device.left[i] / on_host.left[i], 1.0, 1e-4);
  OSLA_ASSERT_CLOSE(r.left, on_device.left[r.iterations], 1e-30);
  OSLA_ASSERT_CLOSE(distance(s.columns, s.x, x), 0.0, 1e-8);
  free(x);
  close_system(&s);
}

static void test_cg(void)
{
  for (int early = 0; early < 2; early++) {
    check_cg(early, 1, 0);
    check_cg(early, 0, 0);
    check_cg(early, 7, 0);
    check_cg(early, 1000, 0);
    check_cg(early, 16, 5);
    check_cg(early, 4, 10);
  }
}

/* ---- ends of CG ---- */

typedef enum spoiled {
  SPOILED_NOTHING,
  SPOILED_B, /* an element of b is NaN */
  SPOILED_X, /* an element of the first guess is infinite */
  ZERO_B,    /* b = 0 */
  TINY_B,    /* the square of the norm of b underflows */
  SPOILED_KINDS
} spoiled;

/* Solves a system that is spoiled as `how` says, in host memory and on the device, there in groups
 * of 16 iterations. CG on the device must end with `end`. Except for TINY_B, CG in host memory must
 * end with the same result after an equal number of iterations. */
static void check_end(sparse_kind kind, int64_t n, double factor, spoiled how, int64_t iterations,
                      osla_krylov_end end)
{
  sparse_system s;
  osla_krylov_result host;
  const osla_krylov_options o = {.tolerance = 1e-12, .iterations = iterations};
  if (!open_system(&s, false, kind, n, n, factor)) return;
  fill_vectors(&s);
  for (int64_t i = 0; i < s.rows && how == ZERO_B; i++)
    s.b[i] = 0.0;
  for (int64_t i = 0; i < s.rows && how == TINY_B; i++)
    s.b[i] *= 1e-200, s.x[i] = 0.0;
  if (s.rows > 0 && how == SPOILED_B) s.b[0] = NAN;
  if (s.rows > 0 && how == SPOILED_X) s.x[0] = INFINITY;
  double *x = osla_test_allocate((size_t)s.columns + 1, sizeof *x);
  memcpy(x, s.x, (size_t)s.columns * sizeof *x);
  OSLA_ASSERT_OK(osla_cg(&s.op, NULL, s.b, x, &o, &host));
  to_device(&s);
  const osla_krylov_result r = solve_on_device(&s, &o, NULL);
  OSLA_ASSERT_MSG(r.end == end, "kind %d, order %d, spoiled %d: end %d, expected %d", (int)kind,
                  (int)n, (int)how, (int)r.end, (int)end);
  if (how != TINY_B) {
    CU_ASSERT(r.end == host.end);
    OSLA_ASSERT_MSG(r.iterations == host.iterations, "%d iterations, host %d", (int)r.iterations,
                    (int)host.iterations);
  }
  if (end != OSLA_KRYLOV_NOT_FINITE) OSLA_ASSERT_CLOSE(distance(s.columns, s.x, x), 0.0, 1e-9);
  free(x);
  close_system(&s);
}

static void test_ends(void)
{
  check_end(SPARSE_GRID, 100, -1.0, SPOILED_NOTHING, 0, OSLA_KRYLOV_INDEFINITE);
  check_end(SPARSE_GRID, 100, 1.0, SPOILED_B, 0, OSLA_KRYLOV_NOT_FINITE);
  check_end(SPARSE_GRID, 100, 1.0, SPOILED_X, 0, OSLA_KRYLOV_NOT_FINITE);
  check_end(SPARSE_GRID, 100, 1.0, TINY_B, 0, OSLA_KRYLOV_NOT_FINITE);
  check_end(SPARSE_GRID, 100, NAN, SPOILED_NOTHING, 0, OSLA_KRYLOV_NOT_FINITE);
  check_end(SPARSE_GRID, 100, 1.0, ZERO_B, 0, OSLA_KRYLOV_CONVERGED);
  check_end(SPARSE_GRID, 100, 1.0, SPOILED_NOTHING, -1, OSLA_KRYLOV_ITERATIONS);
  check_end(SPARSE_GRID, 0, 1.0, SPOILED_NOTHING, 0, OSLA_KRYLOV_CONVERGED);
  /* with one unknown the residual becomes exactly 0 within a group */
  check_end(SPARSE_GRID, 1, 1.0, SPOILED_NOTHING, 0, OSLA_KRYLOV_CONVERGED);
}

/* ---- bits ---- */

/* Solves with sums by the hosts (check_every = 1) and with sums by the devices (check_every = 16).
 * Checks that the residuals of all iterations have equal bits on all ranks and in both runs. */
static void test_bits(void)
{
  static history of[2];
  static double least[HISTORY];
  for (int i = 0; i < 2; i++) {
    sparse_system s;
    if (!open_system(&s, false, SPARSE_GRID, 400, 400, 1.0)) return;
    const osla_krylov_options o = {
      .tolerance = 1e-10, .each = record, .arg = &of[i], .check_every = i == 0 ? 1 : 16};
    of[i].calls = 0;
    fill_vectors(&s);
    to_device(&s);
    (void)solve_on_device(&s, &o, NULL);
    const int n = (int)of[i].calls;
    CU_ASSERT(n > 1 && n <= HISTORY && n >= of[0].calls);
    memcpy(least, of[i].left, sizeof least);
    OSLA_ASSERT_OK(osla_allreduce(s.bench.t, least, n, MPI_DOUBLE, MPI_MIN));
    CU_ASSERT(memcmp(least, of[i].left, (size_t)n * sizeof *least) == 0);
    close_system(&s);
  }
  CU_ASSERT(memcmp(of[0].left, of[1].left, (size_t)of[0].calls * sizeof(double)) == 0);
}

/* ---- waits ---- */

/* Solves a system in groups of `every` iterations, and returns the numbers of calls to the device.
 * Sets *nodes to the number of nodes, but leaves it unchanged if the system cannot be opened. */
static device_calls count_calls(int64_t every, int64_t iterations, int *nodes)
{
  sparse_system s;
  if (!open_system(&s, false, SPARSE_GRID, 400, 400, 1.0)) return (device_calls){0};
  *nodes = osla_transport_n_nodes(s.bench.t);
  fill_vectors(&s);
  to_device(&s);
  put(s.b, s.rows, s.b_on);
  put(s.x, s.columns, s.x_on);
  const osla_krylov_options o = {
    .tolerance = 1e-30, .iterations = iterations, .check_every = every};
  osla_krylov_result r;
  count_begin(s.bench.device);
  OSLA_ASSERT_OK(osla_cg(&s.op, NULL, s.b_on, s.x_on, &o, &r));
  const device_calls calls = count_end(s.bench.device);
  CU_ASSERT(r.iterations == iterations);
  close_system(&s);
  return calls;
}

/* Checks that a group of iterations copies only the inner products at its end between the device
 * and host memory, and that the number of waits of the host does not depend on the length of a
 * group. On one rank the host waits only for this copy. On several ranks it also waits when the
 * ranks agree at the end of the group. */
static void test_waits(void)
{
  int nodes = 0;
  const device_calls one = count_calls(8, 8, &nodes), four = count_calls(8, 32, &nodes);
  const device_calls long_groups = count_calls(16, 32, &nodes), by_one = count_calls(1, 32, &nodes);
  if (nodes == 0) return; /* the device has no kernels */
  if (nodes > 1) {
    CU_ASSERT(four.copies == by_one.copies);
    return;
  }
  OSLA_ASSERT_MSG(four.copies == one.copies + 3, "%d copies in one group, %d in four", one.copies,
                  four.copies);
  OSLA_ASSERT_MSG(long_groups.copies == one.copies + 1, "%d copies in two groups",
                  long_groups.copies);
  OSLA_ASSERT_MSG(by_one.copies >= four.copies - 4 + 2 * 32, "%d copies without groups",
                  by_one.copies);
  const int each = long_groups.waits - one.waits;
  OSLA_ASSERT_MSG(each > 0 && four.waits == one.waits + 3 * each,
                  "%d waits in one group of 8, %d in two of 16, %d in four of 8", one.waits,
                  long_groups.waits, four.waits);
  if (osla_test_size() == 1) OSLA_ASSERT_MSG(each == 1, "%d waits in a group", each);
  OSLA_ASSERT_MSG(by_one.waits >= four.waits - 4 + 2 * 32, "%d waits without groups", by_one.waits);
}

/* ---- wrong arguments ---- */

/* Checks that all ranks get an error if b or x is registered with too few bytes on the rank that
 * owns row 0. */
static void check_extent(bool of_x)
{
  sparse_system s;
  osla_krylov_result r;
  if (!open_system(&s, false, SPARSE_GRID, 400, 400, 1.0)) return;
  to_device(&s);
  osla_device *device = s.bench.device;
  const bool is_short = s.rows > 0 && s.m.row_start[osla_test_rank()] == 0;
  const size_t needed = (size_t)s.rows * sizeof(double), bytes = needed + sizeof(double);
  const size_t known = is_short ? needed - 1 : bytes;
  void *vector = program_memory_allocate(device, bytes);
  double *b = of_x ? s.b_on : vector, *x = of_x ? vector : s.x_on;
  OSLA_ASSERT_OK(osla_device_register(device, vector, known));
  OSLA_ASSERT_ERR(osla_cg(&s.op, NULL, b, x, NULL, &r), OSLA_ERR_ARG);
  if (is_short) OSLA_ASSERT_TEXT(of_x ? "x: the array needs " : "b: the array needs ");
  /* with several ranks the other ranks would wait for this one */
  if (osla_test_size() == 1) {
    double *y = of_x ? s.b_on : vector;
    OSLA_ASSERT_ERR(osla_spmv(OSLA_NOTRANS, s.a, x, 0.0, y), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT(of_x ? "osla_spmv: x: the array needs " : "osla_spmv: y: the array needs ");
  }
  OSLA_ASSERT_OK(osla_device_unregister(device, vector, known));
  program_memory_free(device, vector, bytes);
  close_system(&s);
}

static void test_extent(void)
{
  check_extent(false);
  check_extent(true);
}

static const osla_test_case cases[] = {{"cg", test_cg},         {"ends", test_ends},
                                       {"bits", test_bits},     {"waits", test_waits},
                                       {"extent", test_extent}, {NULL, NULL}};
OSLA_TEST_SUITE(test_device_cg, cases);
