/* Tests of products whose k is divided among layers of ranks (osla_gemm_options.layers). Results
 * must be correct and the same in every run, the predicted bytes must be those that are sent, and
 * wrong options must be refused on all ranks. */
#include "osla_index.h"
#include "osla_trace.h"
#include "tests/complex_help.h"
#include "tests/kernels/gemm_reference.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shape {
  int64_t m, n, k, mb, nb, kb;
} shape;

static const shape shapes[] = {
  {64, 48, 32, 16, 16, 16}, {37, 29, 41, 8, 5, 7}, {3, 90, 71, 4, 16, 9},    {41, 40, 2, 3, 7, 1},
  {1, 1, 9, 1, 1, 2},       {30, 30, 0, 4, 4, 4},  {20, 31, 33, 50, 40, 60},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* Matrices of the products, and the product of whole matrices or of parts that begin inside a
 * block. */
typedef struct operands {
  kernel_matrix a, b, c;
  product p;
} operands;

static osla_part part_of(const kernel_matrix *x, bool whole, int64_t m, int64_t n)
{
  return whole ? osla_whole(x->a) : osla_part_at(x->a, 5, 2, m, n);
}

static operands make(osla_grid *grid, osla_grid *other, osla_dtype dtype, const shape *h,
                     int variant)
{
  operands x;
  const bool a = variant % 2 == 0, b = variant / 2 % 2 == 0, whole = variant % 3 > 0;
  const int64_t more = whole ? 0 : 7;
  x.a = kernel_make(other, dtype, (a ? h->m : h->k) + more, (a ? h->k : h->m) + more,
                    a ? h->mb : h->kb, a ? h->kb : h->mb, variant & 4);
  x.b = kernel_make(grid, dtype, (b ? h->k : h->n) + more, (b ? h->n : h->k) + more,
                    b ? h->kb : h->nb, b ? h->nb : h->kb, variant & 8);
  x.c = kernel_make(grid, dtype, h->m + more, h->n + more, h->mb, h->nb, variant & 16);
  x.p = (product){.transa = a             ? OSLA_NOTRANS
                            : variant % 5 ? OSLA_TRANS
                                          : OSLA_CONJTRANS,
                  .transb = b             ? OSLA_NOTRANS
                            : variant % 7 ? OSLA_CONJTRANS
                                          : OSLA_TRANS,
                  .a = part_of(&x.a, whole, a ? h->m : h->k, a ? h->k : h->m),
                  .b = part_of(&x.b, whole, b ? h->k : h->n, b ? h->n : h->k),
                  .c = part_of(&x.c, whole, h->m, h->n)};
  return x;
}

static void free_operands(operands *x)
{
  kernel_free(&x->a), kernel_free(&x->b), kernel_free(&x->c);
}

/* True if the grid can be cut into groups of n ranks. */
static bool divides(const osla_grid *grid, int n)
{
  for (int rows = 1; rows <= n; rows++)
    if (n % rows == 0 && osla_grid_nprow(grid) % rows == 0 &&
        osla_grid_npcol(grid) % (n / rows) == 0)
      return true;
  return false;
}

/* Checks a product with whole numbers exactly, and with uniform numbers within the bound of
 * rounding errors. */
static void check_product(operands *x, const product_options *options, int variant,
                          const char *label)
{
  x->p.options = options;
  for (int i = 0; i < 2; i++) {
    x->p.seed = (uint64_t)(variant + i);
    x->p.alpha = CMPLX(variant % 4 == 3 ? 0 : i + 1, variant % 3 - 1);
    x->p.beta = CMPLX((variant + i) % 3 - 1, 0);
    x->p.rounding = i == 1;
    (void)product_check(&x->p, label);
  }
}

static void check_grid(osla_transport *t, osla_grid *grid, int g)
{
  const int size = osla_grid_nprow(grid) * osla_grid_npcol(grid);
  /* creating a matrix on several nodes takes a tenth of a second */
  const int step = osla_transport_n_nodes(t) > 1 ? 8 : 3;
  int turn = g;
  for (int n = 2; n <= size; n++) {
    if (!divides(grid, n)) continue;
    for (int s = 0; s < N_SHAPES; s++, turn++) {
      if (size > 2 && turn % step > 0) continue;
      const int variant = 5 * turn + s;
      const product_options options = {.layers = n,
                                       .panel = variant % 4 == 1 ? 3 : 0,
                                       .blocking = variant % 5 == 2,
                                       .copy = variant % 6 == 3,
                                       .unaware = variant % 7 == 4,
                                       .narrow = variant % 8 == 5};
      char label[80];
      (void)snprintf(label, sizeof label, "grid %d, %d layers, shape %d, variant %d", g, n, s,
                     variant);
      osla_grid *other = kernel_grid(t, variant % 3 ? g : (g + 1) % kernel_n_grids(t));
      operands x = make(grid, other, (osla_dtype)(turn % 4), &shapes[s], variant);
      delays d;
      if (s % 2) delays_begin(&d, t, (uint64_t)variant);
      check_product(&x, &options, variant, label);
      if (s % 2) delays_end(&d);
      free_operands(&x);
      osla_grid_destroy(&other);
    }
  }
}

static void test_products(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g += osla_test_size() > 8 ? 3 : 1) {
    check_grid(t, grid, g);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* The largest number of layers of the first grid, which has all ranks. */
static int most_layers(void)
{
  return osla_test_size();
}

/* Products with the same layers have the same bits in every run, also if ranks are delayed. */
static void test_same_bits(void)
{
  enum { M = 61, N = 47, K = 97 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  const shape h = {M, N, K, 8, 8, 8};
  operands x = make(grid, grid, OSLA_DOUBLE, &h, 32 + 1);
  const product_options options = {.layers = most_layers()};
  x.p.options = &options, x.p.alpha = 1, x.p.beta = 0, x.p.rounding = true, x.p.seed = 5;
  (void)product_check(&x.p, "filled");
  const size_t bytes =
    (size_t)(osla_matrix_lld(x.c.a, osla_test_rank()) * osla_matrix_local_cols(x.c.a)) *
    sizeof(double);
  void *first = malloc(bytes + 1);
  memcpy(first, osla_matrix_local(x.c.a), bytes);
  for (int i = 0; i < 3; i++) {
    const osla_gemm_options o = {.layers = most_layers()};
    delays d;
    delays_begin(&d, t, (uint64_t)i);
    OSLA_ASSERT_OK(osla_gemm(x.p.transa, x.p.transb, 1, x.p.a, x.p.b, 0, x.p.c, &o));
    delays_end(&d);
    CU_ASSERT(memcmp(first, osla_matrix_local(x.c.a), bytes) == 0);
  }
  free(first);
  free_operands(&x);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Bytes of the partial sums that ranks of other nodes send to this rank if all ranks are one group,
 * in a grid of one process row. */
static double far_sums(const osla_part *c)
{
  const osla_layout l = osla_matrix_layout(c->matrix);
  const osla_grid *grid = osla_matrix_grid(c->matrix);
  const osla_transport *t = osla_grid_transport(grid);
  const int pcol = osla_grid_pcol(grid);
  const int64_t cols = osla_index_count(c->j + c->n, l.nb, pcol, l.npcol) -
                       osla_index_count(c->j, l.nb, pcol, l.npcol);
  const int n_far = osla_transport_size(t) - osla_transport_node_size(t);
  return (double)(c->m * cols) * n_far * sizeof(double);
}

/* The bytes that are transferred between nodes are those that osla_gemm_predict predicts. The bytes
 * of operands are those of gets. The bytes of partial sums follow from the sizes if all ranks are
 * one group; otherwise they are those of puts and notifies if each rank is a node. */
static void check_transfers(const operands *x, int layers, const char *label)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(x->c.a));
  const osla_gemm_options options = {.layers = layers};
  osla_gemm_plan plan;
  osla_trace_summary s;
  OSLA_ASSERT_OK(osla_trace_start(t));
  osla_gemm_ablate(&(osla_gemm_ablation){.alone = true});
  OSLA_ASSERT_OK(
    osla_gemm_predict(x->p.transa, x->p.transb, x->p.a, x->p.b, x->p.c, &options, &plan));
  OSLA_ASSERT_OK(osla_gemm(x->p.transa, x->p.transb, 1, x->p.a, x->p.b, 0, x->p.c, &options));
  osla_gemm_ablate(NULL);
  OSLA_ASSERT_OK(osla_trace_summarise(t, &s));
  double sums[] = {(double)plan.bytes_far, (double)plan.gets, far_sums(&x->p.c)};
  OSLA_ASSERT_OK(osla_allreduce(t, sums, 3, MPI_DOUBLE, MPI_SUM));
  const osla_trace_total *get = &s.kind[OSLA_TRACE_GET];
  const double sent = s.kind[OSLA_TRACE_PUT].amount + s.kind[OSLA_TRACE_NOTIFY].amount;
  const bool apart = osla_transport_n_nodes(t) == osla_transport_size(t);
  bool right = get->amount <= sums[0] && (double)get->events <= sums[1];
  if (layers == 1) right &= get->amount == sums[0] && (double)get->events == sums[1];
  if (layers == osla_transport_size(t)) right &= get->amount + sums[2] == sums[0];
  if (apart) right &= get->amount + sent == sums[0];
  OSLA_ASSERT_MSG(right,
                  "%d layers: %g bytes in %" PRId64
                  " gets, %g bytes sent, predicted %g bytes in %g transfers: %s",
                  layers, get->amount, get->events, sent, sums[0], sums[1], label);
}

static void test_transfers(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  for (int s = 0; s < 3; s++) {
    operands x = make(grid, grid, OSLA_DOUBLE, &shapes[s], 32 + s);
    x.p.alpha = 1, x.p.seed = 3;
    (void)product_check(&x.p, "filled");
    for (int n = 1; n <= osla_test_size(); n++)
      if (divides(grid, n)) check_transfers(&x, n, product_text(&x.p, "transfers"));
    free_operands(&x);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void refuse(operands *x, const product_options *options, osla_err code, const char *text)
{
  x->p.options = options;
  (void)product_refused(&x->p, code, text, "refused");
}

static void test_errors(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size();
  osla_grid *grid;
  OSLA_ASSERT_OK(osla_grid_create(t, 1, size, &grid));
  operands x = make(grid, grid, OSLA_DOUBLE, &shapes[0], 32);
  x.p.alpha = 1, x.p.seed = 7;
  refuse(&x, &(product_options){.layers = -1}, OSLA_ERR_ARG, "layers = -1");
  refuse(&x, &(product_options){.layers = size + 1}, OSLA_ERR_ARG, "exceeds the");
  if (size > 2)
    refuse(&x, &(product_options){.layers = size - 1}, OSLA_ERR_ARG, "not a product of a divisor");
  if (size > 1) {
    refuse(&x, &(product_options){.layers = size, .memory = 100}, OSLA_ERR_MEM, "100");
    refuse(&x, &(product_options){.layers = osla_test_rank() == 0 ? 1 : size}, OSLA_ERR_ARG,
           "layers");
  }
  free_operands(&x);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_triangle_refused(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = kernel_grid(t, 0);
  kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, 20, 20, 4, 4, false);
  kernel_matrix c = kernel_make(grid, OSLA_DOUBLE, 20, 20, 4, 4, false);
  product p = product_of_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, osla_whole(a.a), 0, osla_whole(c.a));
  const product_options options = {.layers = 2};
  p.options = &options;
  (void)product_refused(&p, OSLA_ERR_UNSUPPORTED, "only osla_gemm has layers", "syrk");
  kernel_free(&a), kernel_free(&c);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"products", test_products},
  {"same_bits", test_same_bits},
  {"transfers", test_transfers},
  {"errors", test_errors},
  {"triangle_refused", test_triangle_refused},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_gemm_layers, cases);
