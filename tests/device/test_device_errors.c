/* Tests of errors of queued work. If work of one rank fails in the middle of a collective call, the
 * call must return the error on all ranks, and no rank may wait forever. */
#include "osla_chol.h"
#include "osla_gemm.h"
#include "osla_hessian.h"
#include "osla_krylov.h"
#include "osla_lu.h"
#include "osla_solve.h"
#include "osla_sparse_device.h"
#include "src/device/device.h"
#include "tests/device/device_help.h"
#include "tests/kernels/sparse_model.h"

#include <stdlib.h>
#include <string.h>

enum { N = 9, NB = 3 };

/* Operands of the collective calls. All matrices lie on the device. */
typedef struct operands {
  osla_matrix *a, *b, *c;
  int64_t ipiv[N];
  osla_csr *sparse; /* with as many rows as columns */
  double *x, *y;    /* vectors of this matrix */
} operands;

static osla_err multiply(operands *s)
{
  return osla_gemm(OSLA_NOTRANS, OSLA_TRANS, 1, osla_whole(s->a), osla_whole(s->b), 1,
                   osla_whole(s->c), NULL);
}

static osla_err factor_cholesky(operands *s)
{
  int64_t info;
  return osla_potrf(OSLA_LOWER, s->a, NULL, &info);
}

static osla_err factor_lu(operands *s)
{
  osla_lu_result result;
  return osla_getrf(s->a, s->ipiv, NULL, &result);
}

static osla_err solve(operands *s)
{
  return osla_getrs(OSLA_NOTRANS, s->a, s->ipiv, s->b);
}

static osla_err solve_transposed(operands *s)
{
  return osla_getrs(OSLA_TRANS, s->a, s->ipiv, s->b);
}

static osla_err solve_from_right(operands *s)
{
  return osla_trsm(OSLA_RIGHT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 2, s->a, s->b);
}

static osla_err copy(operands *s)
{
  return osla_matrix_copy(s->a, s->b);
}

static osla_err transpose(operands *s)
{
  return osla_matrix_transpose(OSLA_TRANS, s->a, s->b);
}

static osla_err fill(operands *s)
{
  return osla_matrix_fill(s->a, OSLA_FILL_SPD, 1);
}

static osla_err norm(operands *s)
{
  double value;
  return osla_matrix_norm(s->a, OSLA_NORM_ONE, &value);
}

static osla_err solve_sparse(operands *s)
{
  const osla_krylov_options o = {.iterations = 4, .check_every = 2};
  const osla_operator a = osla_csr_operator(s->sparse);
  osla_krylov_result result;
  return osla_cg(&a, NULL, s->y, s->x, &o, &result);
}

static osla_err accumulate(operands *s)
{
  static const double u[N * N];
  static const int64_t all[N] = {8, 0, 7, 1, 6, 2, 5, 3, 4};
  const osla_hessian_options o = {.nb = NB, .uplo = OSLA_GENERAL};
  osla_hessian *h = NULL;
  OSLA_CALL(osla_hessian_create_on(s->a, &o, &h));
  osla_err err = osla_hessian_update_block(h, N, all, N, all, u, N);
  const osla_err of_commit = osla_hessian_commit(h);
  if (err == OSLA_OK) err = of_commit;
  osla_hessian_destroy(&h);
  /* an update returns an error on its rank alone */
  return osla_agree(osla_grid_transport(osla_matrix_grid(s->a)), err);
}

static const struct collective_call {
  const char *name;
  osla_err (*run)(operands *s);
} calls[] = {{"fill", fill},
             {"norm", norm},
             {"copy", copy},
             {"transpose", transpose},
             {"gemm", multiply},
             {"potrf", factor_cholesky},
             {"getrf", factor_lu},
             {"getrs", solve},
             {"getrs, transposed", solve_transposed},
             {"trsm", solve_from_right},
             {"cg", solve_sparse},
             {"accumulator", accumulate}};

/* State of submit_failing. */
static struct {
  device_ops real; /* the functions of the device, of which submit_failing replaces one */
  int left;        /* number of pieces of work that still succeed before one fails */
} failing;

/* Submits work. After `left` more pieces one piece fails, and a later call reports its error, as
 * for work on a GPU. */
static osla_err submit_failing(device_state *state, const device_work *work)
{
  OSLA_CALL(failing.real.submit(state, work));
  if (failing.left-- == 0)
    osli_device_keep_error(osla_error_set(OSLA_ERR_STATE, "planted failure"));
  return OSLA_OK;
}

/* Runs a collective call again and again. In run i (from 0), piece i of the last rank's work fails,
 * and the call must return the error on all ranks. Ends with the first run in which the last rank
 * has no piece i. */
static void check_call(const device_bench *b, device_queue *q, operands *s,
                       const struct collective_call *call)
{
  const device_ops *real = q->ops;
  const int last = osla_transport_size(b->t) - 1;
  device_ops ops = failing.real = *real;
  ops.submit = submit_failing;
  for (int work = 0, fails = 1; fails; work++) {
    for (int i = 0; i < N; i++)
      s->ipiv[i] = i + 1;
    OSLA_ASSERT_OK(osla_matrix_fill(s->a, OSLA_FILL_SPD, 1));
    failing.left = work;
    if (osla_transport_rank(b->t) == last) q->ops = &ops;
    const osla_err err = call->run(s);
    q->ops = real;
    fails = failing.left < 0;
    OSLA_ASSERT_OK(osla_bcast(b->t, &fails, 1, MPI_INT, last));
    OSLA_ASSERT_MSG(err == (fails ? OSLA_ERR_STATE : OSLA_OK), "%s: error %d of work %d",
                    call->name, (int)err, work);
    if (fails) OSLA_ASSERT_TEXT("planted failure");
  }
}

/* Free memory of a device that is full. */
static uint64_t nothing_available(device_state *state)
{
  (void)state;
  return 0;
}

/* Runs a call while the device of the last rank is full. The call succeeds if it allocates nothing;
 * otherwise all ranks return MEM with the bytes that are needed. */
static void check_full_device(const device_bench *b, device_queue *q, operands *s,
                              const struct collective_call *call)
{
  const device_ops *real = q->ops;
  device_ops ops = *real;
  ops.available = nothing_available;
  for (int i = 0; i < N; i++)
    s->ipiv[i] = i + 1;
  OSLA_ASSERT_OK(osla_matrix_fill(s->a, OSLA_FILL_SPD, 1));
  if (osla_test_rank() == osla_test_size() - 1) q->ops = &ops;
  const osla_err err = call->run(s);
  q->ops = real;
  OSLA_ASSERT_MSG(err == OSLA_OK || err == OSLA_ERR_MEM, "%s: error %d", call->name, (int)err);
  if (err == OSLA_ERR_MEM) OSLA_ASSERT_TEXT("of device memory are needed, and the device has 0");
  if (err == OSLA_ERR_MEM) OSLA_ASSERT_SAME_TEXT();
  if (call->run == factor_cholesky) CU_ASSERT(err == OSLA_ERR_MEM); /* it copies a panel */
  OSLA_ASSERT_OK(osla_barrier(b->t));
}

static void test_work(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  sparse_model m = sparse_model_make(SPARSE_GRID, 36, 36, false);
  osla_csr *sparse = sparse_model_matrix(b.t, &m);
  const osla_operator size = osla_csr_operator(sparse);
  osla_segment *vectors = NULL;
  OSLA_ASSERT_OK(osla_csr_to_device(sparse, b.device));
  OSLA_ASSERT_OK(osla_segment_create_on(
    b.device, (size_t)(size.rows + size.columns + 1) * sizeof(double), 0, &vectors));
  double *x = osla_segment_local(vectors), ones[36];
  for (int i = 0; i < 36; i++)
    ones[i] = 1;
  osli_device_copy(sizeof *ones, size.rows, 1, ones, 36, x + size.columns, 36);
  for (int which = 0; which < osla_test_n_grids(b.t); which++) {
    operands s = {.sparse = sparse, .x = x, .y = x + size.columns};
    osla_grid *grid = osla_test_grid(b.t, which);
    OSLA_ASSERT_OK(osla_matrix_create_on(b.device, grid, OSLA_DOUBLE, N, N, NB, NB, &s.a));
    OSLA_ASSERT_OK(osla_matrix_create_on(b.device, grid, OSLA_DOUBLE, N, N, NB, NB, &s.b));
    OSLA_ASSERT_OK(osla_matrix_create_on(b.device, grid, OSLA_DOUBLE, N, N, NB, NB, &s.c));
    device_queue *q = osli_device_of(osla_matrix_local(s.a));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
      check_full_device(&b, q, &s, &calls[i]);
      check_call(&b, q, &s, &calls[i]);
    }
    osla_matrix_destroy(&s.a);
    osla_matrix_destroy(&s.b);
    osla_matrix_destroy(&s.c);
    osla_grid_destroy(&grid);
  }
  OSLA_ASSERT_OK(osla_csr_destroy(&sparse));
  osla_segment_destroy(&vectors);
  sparse_model_free(&m);
  bench_close(&b);
}

/* ---- two devices ---- */

/* Opens a second fake device. Returns NULL if the tests run on another kind of device, of which the
 * machine may have only one. */
static osla_device *open_second(const device_bench *b)
{
  osla_device *device = NULL;
  const osla_device_options options = {.kind = "fake", .chosen = true, .ordinal = 1};
  if (getenv("OSLA_TEST_DEVICE") && strcmp(getenv("OSLA_TEST_DEVICE"), "fake") != 0) return NULL;
  OSLA_ASSERT_OK(osla_device_open(b->t, &options, &device));
  return device;
}

/* Checks that a copy between two devices of a rank is refused and changes nothing. */
static void test_two_devices(void)
{
  device_bench b;
  if (!bench_open(&b, false)) return;
  osla_device *other = open_second(&b);
  osla_grid *grid = osla_test_square_grid(b.t);
  osla_matrix *x = NULL, *y = NULL;
  double largest = 1;
  if (other) {
    OSLA_ASSERT_OK(osla_matrix_create_on(b.device, grid, OSLA_DOUBLE, N, N, NB, NB, &x));
    OSLA_ASSERT_OK(osla_matrix_create_on(other, grid, OSLA_DOUBLE, N, N, NB, NB, &y));
    OSLA_ASSERT_OK(osla_matrix_fill(x, OSLA_FILL_UNIFORM, 1));
    OSLA_ASSERT_ERR(osla_matrix_copy(x, y), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("two devices");
    OSLA_ASSERT_SAME_TEXT();
    OSLA_ASSERT_OK(osla_matrix_norm(y, OSLA_NORM_MAX, &largest));
    OSLA_ASSERT_CLOSE(largest, 0, 0);
    OSLA_ASSERT_ERR(osla_segment_read(osla_matrix_segment(x), osla_transport_rank(b.t), 0,
                                      osla_matrix_local(y), sizeof(double)),
                    OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("two devices");
    osla_matrix_destroy(&x);
    osla_matrix_destroy(&y);
  }
  osla_device_close(&other);
  osla_grid_destroy(&grid);
  bench_close(&b);
}

static const osla_test_case cases[] = {
  {"work", test_work}, {"two_devices", test_two_devices}, {NULL, NULL}};
OSLA_TEST_SUITE(test_device_errors, cases);
