/* Tests of sparse matrices on a device. Products must equal those of a serial program, CG must work
 * with a caller's operator, and wrong arguments must be refused. */
#include "src/memory/segment.h"
#include "tests/device/sparse_system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- products ---- */

/* Computes A x + beta y on the device, with x at the device address x_on, and compares the result
 * with that of a serial program. The vectors x and y are random, with seeds `seed` and seed + 1. */
static void check_product(sparse_system *s, double *x_on, double beta, uint64_t seed)
{
  const int rank = osla_test_rank();
  double *x = sparse_model_vector(s->m.n, seed), *y = sparse_model_vector(s->m.m, seed + 1);
  double wrong = 0.0;
  put(x + s->m.column_start[rank], s->columns, x_on);
  memcpy(s->b, y + s->m.row_start[rank], (size_t)s->rows * sizeof *y);
  for (int64_t i = 0; i < s->rows && beta == 0.0; i++)
    s->b[i] = NAN;
  put(s->b, s->rows, s->b_on);
  OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, s->a, x_on, beta, s->b_on));
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
        sparse_system s;
        if (!open_system(&s, early, (sparse_kind)kind, sizes[i][0], sizes[i][1], 1.0)) return;
        to_device(&s);
        for (int apart = 0; apart < 2; apart++) {
          double *x_on = apart ? s.x_apart : s.x_on;
          check_product(&s, x_on, 0.0, 5);
          check_product(&s, x_on, 1.0, 7);
          check_product(&s, x_on, -2.0, 9);
        }
        close_system(&s);
      }
}

/* Checks that ranks of a node read x from device to device: a product copies nothing between the
 * device and host memory, even if a rank reads only few values. */
static void test_in_place(void)
{
  sparse_system s;
  if (!open_system(&s, false, SPARSE_GRID, 100, 100, 1.0)) return;
  to_device(&s);
  check_product(&s, s.x_on, 0.0, 5); /* also copies index lists to the device */
  count_begin(s.bench.device);
  OSLA_ASSERT_OK(osla_spmv(OSLA_NOTRANS, s.a, s.x_on, 0.0, s.b_on));
  const int copies = count_end(s.bench.device).copies;
  OSLA_ASSERT_MSG(copies == 0 || osla_transport_n_nodes(s.bench.t) > 1, "%d copies", copies);
  close_system(&s);
}

/* ---- operators and errors ---- */

static osla_err multiply_by_caller(void *arg, osla_trans op, const double *x, double beta,
                                   double *y)
{
  return osla_spmv(op, arg, x, beta, y);
}

static void test_operator(void)
{
  sparse_system s;
  if (!open_system(&s, false, SPARSE_GRID, 400, 400, 1.0)) return;
  fill_vectors(&s);
  to_device(&s);
  /* on several ranks osla_cg tests for convergence in each iteration if the operator is a
   * caller's */
  const osla_krylov_options o = {.tolerance = 1e-10, .check_every = osla_test_size() > 1 ? 1 : 16};
  double *x = osla_test_allocate((size_t)s.columns + 1, sizeof *x);
  const osla_krylov_result own = solve_on_device(&s, &o, x);
  s.op.multiply = multiply_by_caller;
  /* ranks without rows also pass device addresses, because those of a caller's operator decide
   * where CG runs */
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
static void expect_refused(const sparse_system *s, const double *b, double *x, osla_err of_cg,
                           const char *text)
{
  osla_krylov_result r;
  OSLA_ASSERT_ERR(osla_cg(&s->op, NULL, b, x, NULL, &r), of_cg);
  OSLA_ASSERT_TEXT("osla_cg");
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  OSLA_ASSERT_ERR(osla_lsqr(&s->op, b, 0.0, NULL, x, NULL, &r), of_cg);
  OSLA_ASSERT_TEXT("osla_lsqr");
  OSLA_ASSERT_SAME_TEXT();
}

/* Checks that all ranks refuse a vector that lies, on the last rank with rows, on a device that the
 * rank has not opened. The text has the numbers of both devices. */
static void check_unopened(const sparse_system *s)
{
  unopened_memory memory;
  const size_t bytes = (size_t)(s->rows + s->columns + 1) * sizeof(double);
  if (!unopened_allocate(s->bench.device, bytes, &memory)) return;
  int last = s->rows > 0 ? osla_test_rank() : -1;
  OSLA_ASSERT_OK(osla_allreduce(s->bench.t, &last, 1, MPI_INT, MPI_MAX));
  int ordinals[2] = {memory.ordinal, osli_device_queue(s->bench.device)->ordinal};
  OSLA_ASSERT_OK(osla_bcast(s->bench.t, ordinals, 2, MPI_INT, last));
  char text[100];
  (void)snprintf(text, sizeof text, " lies on device %d, and this rank has opened device %d",
                 ordinals[0], ordinals[1]);
  expect_refused(s, last == osla_test_rank() ? memory.address : s->b, s->x, OSLA_ERR_ARG, text);
  unopened_free(&memory);
}

static void test_errors(void)
{
  sparse_system s;
  osla_krylov_result r;
  osla_device *other = NULL;
  const osla_preconditioner m = {apply_nothing, NULL};
  if (!open_system(&s, false, SPARSE_GRID, 100, 100, 1.0)) return;
  fill_vectors(&s);
  /* calls with the matrix in host memory and a vector on the device are refused */
  expect_refused(&s, s.b_on, s.x_on, OSLA_ERR_ARG, "the matrix in host memory");
  expect_refused(&s, s.b, s.x_on, OSLA_ERR_ARG, "x lies on device ");
  if (s.rows > 0) {
    OSLA_ASSERT_ERR(osla_spmv(OSLA_NOTRANS, s.a, s.x_on, 0.0, s.b), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("the matrix in host memory");
    OSLA_ASSERT_ERR(osla_spmv(OSLA_TRANS, s.a, s.b, 0.0, s.x_on), OSLA_ERR_ARG);
  }
  check_unopened(&s);
  OSLA_ASSERT_ERR(osla_csr_to_device(s.a, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("NULL");
  /* all ranks must have the matrix on a device */
  OSLA_ASSERT_ERR(osla_csr_to_device(s.a, osla_test_rank() == 0 ? NULL : s.bench.device),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("NULL");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(osla_csr_device(s.a) == NULL);
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
  expect_refused(&s, s.b, s.x, OSLA_ERR_ARG, "in host memory, and the matrix on device ");
  expect_refused(&s, s.b_on, s.x, OSLA_ERR_ARG, "in host memory, and the matrix on device ");
  expect_refused(&s, osla_test_rank() == 0 ? s.b : s.b_on, s.x_on, OSLA_ERR_ARG,
                 "in host memory, and the matrix on device ");
  if (s.rows > 0) {
    OSLA_ASSERT_ERR(osla_spmv(OSLA_NOTRANS, s.a, s.x, 0.0, s.b), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("in host memory, and the matrix on device ");
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

static const osla_test_case cases[] = {{"products", test_products},
                                       {"in_place", test_in_place},
                                       {"operator", test_operator},
                                       {"errors", test_errors},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_device_sparse, cases);
