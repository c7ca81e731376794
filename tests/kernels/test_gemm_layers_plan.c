/* Tests of the amounts of data, the operations and the memory that osla_gemm_predict predicts for
 * products with layers, compared with formulas, and of other calls that pass the option `layers`
 * on. All matrices have one process column, and there are as many layers as ranks. So layer i is
 * rank i, and each rank multiplies about 1 / P of the indices k for all elements of C. */
#include "osla_index.h"
#include "osla_products.h"
#include "osla_trace.h"
#include "tests/kernels/gemm_reference.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>

enum {
  ROWS = 6,   /* rows of C on each rank */
  N = 10,     /* columns of C */
  EACH_K = 64 /* indices k of each layer */
};

typedef struct operands {
  osla_transport *t;
  osla_grid *grid;
  kernel_matrix a, b, c;
  product p;
} operands;

/* Creates the matrices of a product C = op(A) B, where op(A) is m x k and B is k x n. The inner
 * size k is a multiple of the number of ranks plus `more`, and is divided into blocks of kb. Each
 * rank owns one block of rows of C. */
static operands operands_make(osla_trans transa, int64_t kb, int64_t more)
{
  const int64_t size = osla_test_size(), m = ROWS * size, k = EACH_K * size + more;
  const bool as_is = transa == OSLA_NOTRANS;
  operands x = {.t = osla_test_transport()};
  OSLA_ASSERT_OK(osla_grid_create(x.t, (int)size, 1, &x.grid));
  x.a = kernel_make(x.grid, OSLA_DOUBLE, as_is ? m : k, as_is ? k : m, as_is ? ROWS : kb,
                    as_is ? kb : ROWS, false);
  x.b = kernel_make(x.grid, OSLA_DOUBLE, k, N, kb, 3, false);
  x.c = kernel_make(x.grid, OSLA_DOUBLE, m, N, ROWS, 3, false);
  x.p = (product){.transa = transa,
                  .transb = OSLA_NOTRANS,
                  .alpha = 2,
                  .beta = -1,
                  .a = osla_whole(x.a.a),
                  .b = osla_whole(x.b.a),
                  .c = osla_whole(x.c.a),
                  .seed = 9};
  return x;
}

static void operands_free(operands *x)
{
  kernel_free(&x->a), kernel_free(&x->b), kernel_free(&x->c);
  osla_grid_destroy(&x->grid);
  osla_transport_destroy(&x->t);
}

static osla_gemm_plan predict(const product *p, uint64_t memory)
{
  const osla_gemm_options options = {.layers = osla_test_size(), .memory = memory};
  osla_gemm_plan plan;
  OSLA_ASSERT_OK(osla_gemm_predict(p->transa, p->transb, p->a, p->b, p->c, &options, &plan));
  return plan;
}

/* Bytes of partial sums that a rank sends, which are as many as it receives. */
static uint64_t sums_of_rank(void)
{
  return (uint64_t)(osla_test_size() - 1) * ROWS * N * sizeof(double);
}

/* Checks the bytes that all ranks together need of ranks of other nodes and of their node. The
 * matrices have blocks that may be much smaller than the local parts. The rows of B (and of A, if A
 * is transposed) that a layer needs must be those of one rank, so that their columns are
 * contiguous. That rank is the layer itself. If A is not transposed, a rank needs the columns of A
 * for as many k from all other ranks. */
static void check_words(osla_trans transa, int64_t kb, int64_t more)
{
  operands x = operands_make(transa, kb, more);
  const int size = osla_test_size(), far = size - osla_transport_node_size(x.t);
  const int64_t k = EACH_K * size + more, own_k = osla_index_count(k, kb, osla_test_rank(), size);
  const double each = sizeof(double) * ROWS * (double)(N + (transa == OSLA_NOTRANS ? own_k : 0));
  const osla_gemm_plan plan = predict(&x.p, 0);
  double sums[] = {(double)plan.bytes_far, (double)(plan.bytes_near + plan.bytes_place), plan.flops,
                   each * far, each * (size - 1)};
  OSLA_ASSERT_OK(osla_allreduce(x.t, sums, 5, MPI_DOUBLE, MPI_SUM));
  const char *text = product_text(&x.p, "words");
  OSLA_ASSERT_MSG(sums[0] == sums[3], "%g bytes far, not %g: %s", sums[0], sums[3], text);
  /* on several nodes a load includes this rank's own rows, which count as near */
  if (far == 0)
    OSLA_ASSERT_MSG(sums[1] == sums[4], "%g bytes near, not %g: %s", sums[1], sums[4], text);
  OSLA_ASSERT_MSG(sums[2] == 2.0 * ROWS * size * N * (double)k, "%g operations: %s", sums[2], text);
  const product_options options = {.layers = size};
  x.p.options = &options;
  (void)product_check(&x.p, "words");
  operands_free(&x);
}

/* Sizes k that the ranks divide evenly, and sizes k of which rank 0 owns three indices more than
 * each other rank. */
static void test_words(void)
{
  static const int64_t blocks[] = {4, 4, EACH_K, EACH_K, 16, 16};
  for (int i = 0; i < 6; i++) {
    check_words(OSLA_NOTRANS, blocks[i], i % 2 * 3);
    check_words(OSLA_TRANS, blocks[i], i % 2 * 3);
  }
}

/* The partial sums of a rank take the memory that it sends, and the memory that it receives. The
 * option `memory` must exceed that of the rank with the largest part of C. */
static void test_memory(void)
{
  operands x = operands_make(OSLA_NOTRANS, 5, 3);
  const uint64_t both = 2 * sums_of_rank(), enough = both + 1500;
  const bool one_node = osla_transport_n_nodes(x.t) == 1;
  const osla_gemm_plan usual = predict(&x.p, 0), limited = predict(&x.p, enough);
  OSLA_ASSERT_MSG(one_node ? usual.buffers == both : usual.buffers > enough,
                  "%" PRIu64 " bytes of buffers, %" PRIu64 " of sums", usual.buffers, both);
  OSLA_ASSERT_MSG(limited.buffers >= both && limited.buffers <= enough,
                  "%" PRIu64 " bytes of buffers, the limit is %" PRIu64, limited.buffers, enough);
  if (both > 0) {
    const product_options exact = {.layers = osla_test_size(), .memory = both};
    x.p.options = &exact;
    (void)product_refused(&x.p, OSLA_ERR_MEM, "must exceed", "memory of the sums");
  }
  const product_options least = {.layers = osla_test_size(), .memory = both + 1};
  const product_options more = {.layers = osla_test_size(), .memory = enough};
  x.p.options = &least;
  (void)product_check(&x.p, "least memory");
  x.p.options = &more;
  (void)product_check(&x.p, "limited memory");
  operands_free(&x);
}

/* All ranks must pass the same value of `memory`. */
static void test_memory_differs(void)
{
  operands x = operands_make(OSLA_NOTRANS, 5, 3);
  const product_options options = {.layers = osla_test_size(),
                                   .memory = 100000 + (uint64_t)osla_test_rank()};
  x.p.options = &options;
  if (osla_test_size() > 1) (void)product_refused(&x.p, OSLA_ERR_ARG, "memory", "memory differs");
  operands_free(&x);
}

/* ---- other calls with layers ---- */

/* Bytes of partial sums that all ranks send in osla_symm (or osla_trmm) with these layers. */
static double bytes_sent(const operands *x, osla_matrix *result, bool trmm, int layers)
{
  const osla_gemm_options options = {.layers = layers};
  osla_trace_summary s;
  OSLA_ASSERT_OK(osla_matrix_fill(result, OSLA_FILL_INTEGER, 3));
  OSLA_ASSERT_OK(osla_trace_start(x->t));
  if (trmm)
    OSLA_ASSERT_OK(osla_trmm(OSLA_LEFT, OSLA_UPPER, OSLA_TRANS, OSLA_NONUNIT, 2, osla_whole(x->a.a),
                             osla_whole(result), &options));
  else
    OSLA_ASSERT_OK(osla_symm(OSLA_LEFT, OSLA_LOWER, 2, osla_whole(x->a.a), osla_whole(x->b.a), 1,
                             osla_whole(result), &options));
  OSLA_ASSERT_OK(osla_trace_summarise(x->t, &s));
  return s.kind[OSLA_TRACE_PUT].amount + s.kind[OSLA_TRACE_NOTIFY].amount;
}

/* osla_symm and osla_trmm must pass `layers` on to their products: all partial sums of C are sent
 * at least once more than without layers, and the results are the same whole numbers. */
static void test_other_calls(void)
{
  operands x = {.t = osla_test_transport()};
  const int size = osla_test_size(), order = ROWS * size;
  OSLA_ASSERT_OK(osla_grid_create(x.t, size, 1, &x.grid));
  x.a = kernel_make(x.grid, OSLA_DOUBLE, order, order, 4, 4, false);
  x.b = kernel_make(x.grid, OSLA_DOUBLE, order, N, 4, 4, false);
  x.c = kernel_make(x.grid, OSLA_DOUBLE, order, N, 4, 4, false);
  OSLA_ASSERT_OK(osla_matrix_fill(x.a.a, OSLA_FILL_INTEGER, 1));
  OSLA_ASSERT_OK(osla_matrix_fill(x.b.a, OSLA_FILL_INTEGER, 2));
  for (int trmm = 0; trmm < 2; trmm++) {
    const double without = bytes_sent(&x, x.c.a, trmm, 0);
    dense expected = dense_gather(x.c.a);
    const double with = bytes_sent(&x, x.c.a, trmm, size);
    const double sums = (double)sums_of_rank() * size;
    OSLA_ASSERT_MSG(with >= without + sums, "trmm %d: %g bytes sent, %g without layers, sums %g",
                    trmm, with, without, sums);
    kernel_expect(x.c.a, &expected, "layers, trmm %d", trmm);
    dense_free(&expected);
  }
  operands_free(&x);
}

static const osla_test_case cases[] = {
  {"words", test_words},
  {"memory", test_memory},
  {"memory_differs", test_memory_differs},
  {"other_calls", test_other_calls},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_gemm_layers_plan, cases);
