/* Tests of sparse matrices on a device. Products must equal those of a serial program, and CG must
 * need as many iterations as CG in host memory and give its solution. */
#include "osla_krylov.h"
#include "osla_sparse_device.h"
#include "src/device/device.h"
#include "tests/device/device_help.h"
#include "tests/kernels/sparse_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A system A x = b. The matrix can have a copy on the device; the vectors are on the device and in
 * host memory. */
typedef struct system {
  device_bench bench;
  sparse_model m;
  osla_csr *a;
  osla_operator op;
  osla_segment *segment;
  int64_t rows, columns;
  double *b_on; /* [rows] b on the device */
  double *x_on; /* [columns] x on the device */
  double *b;    /* [rows] b in host memory */
  double *x;    /* [columns] x in host memory */
} system_;

static void put(const double *from, int64_t n, double *on_device)
{
  osli_device_copy_bytes((size_t)n * sizeof *from, from, on_device);
}

/* Copies n numbers from the device to host memory, without a wait for queued work. */
static void peek(const double *on_device, int64_t n, double *to)
{
  const device_queue *q = osli_device_find(on_device);
  OSLA_ASSERT_OK(q->ops->copy_now(q->state, on_device, to, (size_t)n * sizeof *to));
}

/* Opens a device and makes a system whose m x n matrix is multiplied by `factor`. Returns false if
 * no device can be opened. */
static bool open_system(system_ *s, bool early, sparse_kind kind, int64_t m, int64_t n,
                        double factor)
{
  *s = (system_){0};
  if (!bench_open(&s->bench, early)) return false;
  s->m = sparse_model_make(kind, m, n, false);
  for (int64_t e = 0; e < s->m.first[s->m.m]; e++)
    s->m.value[e] *= factor;
  s->a = sparse_model_matrix(s->bench.t, &s->m);
  s->op = osla_csr_operator(s->a);
  s->rows = s->op.rows;
  s->columns = s->op.columns;
  OSLA_ASSERT_OK(osla_segment_create_on(
    s->bench.device, (size_t)(s->rows + s->columns) * sizeof(double), 0, &s->segment));
  s->b_on = osla_segment_local(s->segment);
  s->x_on = s->b_on + s->rows;
  s->b = osla_test_allocate((size_t)s->rows + 1, sizeof *s->b);
  s->x = osla_test_allocate((size_t)s->columns + 1, sizeof *s->x);
  CU_ASSERT(osla_csr_device(s->a) == NULL);
  return true;
}

static void to_device(system_ *s)
{
  OSLA_ASSERT_OK(osla_csr_to_device(s->a, s->bench.device));
  CU_ASSERT(osla_csr_device(s->a) == s->bench.device);
}

static void close_system(system_ *s)
{
  free(s->b);
  free(s->x);
  OSLA_ASSERT_OK(osla_csr_destroy(&s->a));
  osla_segment_destroy(&s->segment);
  sparse_model_free(&s->m);
  bench_close(&s->bench);
}

/* ---- products ---- */

static void check_product(system_ *s, double beta, uint64_t seed)
{
  const int rank = osla_test_rank();
  double *x = sparse_model_vector(s->m.n, seed), *y = sparse_model_vector(s->m.m, seed + 1);
  double wrong = 0.0;
  put(x + s->m.column_start[rank], s->columns, s->x_on);
  memcpy(s->b, y + s->m.row_start[rank], (size_t)s->rows * sizeof *y);
  for (int64_t i = 0; i < s->rows && beta == 0.0; i++)
    s->b[i] = NAN;
  put(s->b, s->rows, s->b_on);
  OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, s->a, s->x_on, beta, s->b_on));
  peek(s->b_on, s->rows, s->b);
  sparse_model_multiply(&s->m, OSLA_NOTRANS, x, beta, y);
  for (int64_t i = 0; i < s->rows; i++)
    if (s->b[i] != y[s->m.row_start[rank] + i]) wrong++;
  OSLA_ASSERT_MSG(wrong == 0, "%g of %d rows are wrong, beta = %g", wrong, (int)s->rows, beta);
  free(x);
  free(y);
}

static void test_products(void)
{
  static const int64_t sizes[][2] = {{40, 40}, {23, 57}, {57, 23}, {1, 1}, {5, 0}, {0, 5}};
  for (int early = 0; early < 2; early++)
    for (int kind = 0; kind < SPARSE_KINDS; kind++)
      for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        system_ s;
        if (!open_system(&s, early, (sparse_kind)kind, sizes[i][0], sizes[i][1], 1.0)) return;
        to_device(&s);
        check_product(&s, 0.0, 5);
        check_product(&s, 1.0, 7);
        check_product(&s, -2.0, 9);
        close_system(&s);
      }
}

/* ---- CG ---- */

/* Number of calls of which a history has the values. */
enum { HISTORY = 1100 };

/* Calls of `record`, which osla_cg makes in each iteration. */
typedef struct history {
  int64_t calls;        /* number of calls */
  int64_t wrong;        /* number of calls whose iteration is not the number of calls before */
  double left[HISTORY]; /* argument `left` of each call */
} history;

static void record(void *arg, int64_t iteration, double left)
{
  history *h = arg;
  h->wrong += iteration != h->calls;
  if (h->calls < HISTORY) h->left[h->calls] = left;
  h->calls++;
}

/* Fills b and x in host memory with a right-hand side and with a first guess that is not 0. */
static void fill_vectors(system_ *s)
{
  double *b = sparse_model_vector(s->m.m, 3);
  const int64_t first = s->m.row_start[osla_test_rank()];
  memcpy(s->b, b + first, (size_t)s->rows * sizeof *b);
  for (int64_t i = 0; i < s->columns; i++)
    s->x[i] = 0.25 * (double)((first + i) % 5);
  free(b);
}

/* Copies b and the first guess x from host memory to the device, and solves there. Copies the
 * solution to `out`, or, if `out` is NULL, to x in host memory. */
static osla_krylov_result solve_on_device(system_ *s, const osla_krylov_options *options,
                                          double *out)
{
  osla_krylov_result r;
  put(s->b, s->rows, s->b_on);
  put(s->x, s->columns, s->x_on);
  OSLA_ASSERT_OK(osla_cg(&s->op, NULL, s->b_on, s->x_on, options, &r));
  peek(s->x_on, s->columns, out ? out : s->x);
  return r;
}

static double distance(int64_t n, const double *x, const double *y)
{
  double most = 0.0;
  for (int64_t i = 0; i < n; i++)
    if (!(fabs(x[i] - y[i]) <= most)) most = fabs(x[i] - y[i]);
  return most;
}

/* Compares CG on the device with CG in host memory: the end, the number of iterations, the
 * residuals and the solution. The device tests the residual once in a group of `every` iterations
 * (0: the default). `iterations` is the limit of iterations (0: the default). */
static void check_cg(int early, int64_t every, int64_t iterations)
{
  system_ s;
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
  const int64_t group = osla_transport_size(s.bench.t) > 1 ? 1 : every == 0 ? 16 : every;
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

/* Solves a system that `how` spoils, in host memory and on the device in groups of 16 iterations.
 * The device must end with `end`. Except for TINY_B, the host must end alike, after as many
 * iterations. */
static void check_end(sparse_kind kind, int64_t n, double factor, spoiled how, int64_t iterations,
                      osla_krylov_end end)
{
  system_ s;
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

/* ---- waits ---- */

static device_ops real;
static int waits;

static osla_err wait_counted(device_state *state, uint64_t mark)
{
  waits++;
  return real.wait(state, mark);
}

/* Solves on one rank in groups of `every` iterations. Returns the number of waits for a device. */
static int count_waits(int64_t every, int64_t iterations)
{
  system_ s;
  if (!open_system(&s, false, SPARSE_GRID, 400, 400, 1.0)) return 0;
  fill_vectors(&s);
  to_device(&s);
  put(s.b, s.rows, s.b_on);
  put(s.x, s.columns, s.x_on);
  device_queue *q = osli_device_find(s.b_on);
  const osla_krylov_options o = {
    .tolerance = 1e-30, .iterations = iterations, .check_every = every};
  osla_krylov_result r;
  const device_ops *before = q->ops;
  real = *before;
  device_ops counted = real;
  counted.wait = wait_counted;
  q->ops = &counted;
  waits = 0;
  OSLA_ASSERT_OK(osla_cg(&s.op, NULL, s.b_on, s.x_on, &o, &r));
  q->ops = before;
  CU_ASSERT(r.iterations == iterations);
  close_system(&s);
  return waits;
}

static void test_waits(void)
{
  CU_ASSERT(osla_test_size() > 0);
  if (osla_test_size() > 1) return;
  const int one = count_waits(8, 8), four = count_waits(8, 32), long_groups = count_waits(16, 32);
  OSLA_ASSERT_MSG(four == one + 3, "%d waits in one group, %d in four", one, four);
  OSLA_ASSERT_MSG(long_groups == one + 1, "%d waits in two groups", long_groups);
  const int by_one = count_waits(1, 32);
  OSLA_ASSERT_MSG(by_one >= four - 4 + 2 * 32, "%d waits without groups", by_one);
}

/* ---- operators and errors ---- */

static osla_err multiply_by_caller(void *arg, osla_trans op, const double *x, double beta,
                                   double *y)
{
  return osla_spmv(op, arg, x, beta, y);
}

static void test_operator(void)
{
  system_ s;
  if (!open_system(&s, false, SPARSE_GRID, 400, 400, 1.0)) return;
  fill_vectors(&s);
  to_device(&s);
  const osla_krylov_options o = {.tolerance = 1e-10};
  double *x = osla_test_allocate((size_t)s.columns + 1, sizeof *x);
  const osla_krylov_result own = solve_on_device(&s, &o, x);
  s.op.multiply = multiply_by_caller;
  /* a rank without rows also passes device addresses, so it solves on the device, too */
  const osla_krylov_result r = solve_on_device(&s, &o, NULL);
  CU_ASSERT(r.end == OSLA_KRYLOV_CONVERGED && r.iterations == own.iterations);
  OSLA_ASSERT_CLOSE(distance(s.columns, s.x, x), 0.0, 0.0);
  free(x);
  close_system(&s);
}

static osla_err apply_nothing(void *arg, const double *r, double *z)
{
  (void)arg, (void)r, (void)z;
  return OSLA_OK;
}

/* Asserts that CG and LSQR return the error `of_cg`, and that all ranks have the same message. */
static void expect_refused(const system_ *s, const double *b, double *x, osla_err of_cg,
                           const char *text)
{
  osla_krylov_result r;
  OSLA_ASSERT_ERR(osla_cg(&s->op, NULL, b, x, NULL, &r), of_cg);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_lsqr(&s->op, b, 0.0, NULL, x, NULL, &r), of_cg);
  OSLA_ASSERT_SAME_TEXT();
}

static void test_errors(void)
{
  system_ s;
  osla_krylov_result r;
  osla_device *other = NULL;
  const osla_preconditioner m = {apply_nothing, NULL};
  if (!open_system(&s, false, SPARSE_GRID, 100, 100, 1.0)) return;
  fill_vectors(&s);
  /* calls with the matrix in host memory and a vector on the device are refused */
  expect_refused(&s, s.b_on, s.x_on, OSLA_ERR_ARG, "the matrix lies in host memory");
  expect_refused(&s, s.b, s.x_on, OSLA_ERR_ARG, "osla_csr_to_device");
  if (s.rows > 0) {
    OSLA_ASSERT_ERR(osla_spmv(OSLA_NOTRANS, s.a, s.x_on, 0.0, s.b), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("the matrix lies in host memory");
    OSLA_ASSERT_ERR(osla_spmv(OSLA_TRANS, s.a, s.b, 0.0, s.x_on), OSLA_ERR_ARG);
  }
  OSLA_ASSERT_ERR(osla_csr_to_device(s.a, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("NULL");
  const osla_device_options options = {.kind = "fake"};
  OSLA_ASSERT_OK(osla_device_open(s.bench.self, &options, &other));
  OSLA_ASSERT_ERR(osla_csr_to_device(s.a, other), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("another transport");
  osla_device_close(&other);
  CU_ASSERT(osla_csr_device(s.a) == NULL);
  to_device(&s);
  OSLA_ASSERT_ERR(osla_csr_to_device(s.a, s.bench.device), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("already");
  /* calls with the matrix on the device and a vector in host memory are refused */
  expect_refused(&s, s.b, s.x, OSLA_ERR_ARG, "the matrix lies on a device");
  expect_refused(&s, s.b_on, s.x, OSLA_ERR_ARG, "the matrix lies on a device");
  if (s.rows > 0) {
    OSLA_ASSERT_ERR(osla_spmv(OSLA_NOTRANS, s.a, s.x, 0.0, s.b), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("the matrix lies on a device");
  }
  OSLA_ASSERT_ERR(osla_spmv(OSLA_TRANS, s.a, s.b_on, 0.0, s.x_on), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("transposed");
  OSLA_ASSERT_ERR(osla_cg(&s.op, &m, s.b_on, s.x_on, NULL, &r), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("preconditioner");
  OSLA_ASSERT_ERR(osla_lsqr(&s.op, s.b_on, 0.0, NULL, s.x_on, NULL, &r), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("osla_lsqr");
  osla_krylov_options o = {.check_every = -1};
  OSLA_ASSERT_ERR(osla_cg(&s.op, NULL, s.b_on, s.x_on, &o, &r), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("check_every = -1");
  o.check_every = 1 + osla_test_rank();
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_cg(&s.op, NULL, s.b_on, s.x_on, &o, &r), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("check_every");
  }
  CU_ASSERT(solve_on_device(&s, NULL, NULL).end == OSLA_KRYLOV_CONVERGED);
  close_system(&s);
}

static const osla_test_case cases[] = {
  {"products", test_products}, {"cg", test_cg},         {"ends", test_ends}, {"waits", test_waits},
  {"operator", test_operator}, {"errors", test_errors}, {NULL, NULL}};
OSLA_TEST_SUITE(test_device_sparse, cases);
