/* Tests of products whose k is divided among layers of ranks (osla_gemm_options.layers). Results
 * must be correct and the same in every run, the predicted bytes must be those that are sent, and
 * wrong options must be refused on all ranks. */
#include "osla_index.h"
#include "osla_random.h"
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

/* Form of a product: the operations on A and B, whether the operands are whole matrices or parts
 * that begin inside a block, and which of A, B and C the test has allocated itself. */
typedef struct form {
  osla_trans transa, transb;
  bool parts, wrap_a, wrap_b, wrap_c;
} form;

/* Matrices of the products, and the product. */
typedef struct operands {
  kernel_matrix a, b, c;
  product p;
} operands;

static osla_part part_of(const kernel_matrix *x, bool parts, int64_t m, int64_t n)
{
  return parts ? osla_part_at(x->a, 5, 2, m, n) : osla_whole(x->a);
}

/* Makes A on the grid `other`, and B and C on `grid`. */
static operands make(osla_grid *grid, osla_grid *other, osla_dtype dtype, const shape *h,
                     const form *f)
{
  operands x;
  const bool a = f->transa == OSLA_NOTRANS, b = f->transb == OSLA_NOTRANS;
  const int64_t more = f->parts ? 7 : 0;
  x.a = kernel_make(other, dtype, (a ? h->m : h->k) + more, (a ? h->k : h->m) + more,
                    a ? h->mb : h->kb, a ? h->kb : h->mb, f->wrap_a);
  x.b = kernel_make(grid, dtype, (b ? h->k : h->n) + more, (b ? h->n : h->k) + more,
                    b ? h->kb : h->nb, b ? h->nb : h->kb, f->wrap_b);
  x.c = kernel_make(grid, dtype, h->m + more, h->n + more, h->mb, h->nb, f->wrap_c);
  x.p = (product){.transa = f->transa,
                  .transb = f->transb,
                  .a = part_of(&x.a, f->parts, a ? h->m : h->k, a ? h->k : h->m),
                  .b = part_of(&x.b, f->parts, b ? h->k : h->n, b ? h->n : h->k),
                  .c = part_of(&x.c, f->parts, h->m, h->n)};
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

/* Properties of a product that are drawn at random, each independently of the others. */
typedef enum property {
  PARTS,
  WRAP_A,
  WRAP_B,
  WRAP_C,
  OTHER_GRID,
  PANEL,
  BLOCKING,
  COPY,
  UNAWARE,
  NARROW,
  ALPHA_REAL,
  ALPHA_IMAG,
  BETA_REAL,
  BETA_IMAG
} property;

/* A number from 0 to n - 1 for a property of product number `number`. */
static int draw(int number, property what, int n)
{
  return (int)(osla_random_bits(11, (uint64_t)number, (uint64_t)what) % (uint64_t)n);
}

/* Type and operations of product number `number`, from 0. The numbers of types and of pairs of
 * operations are coprime, so 36 successive products have all combinations, 4 have all types, and 9
 * have all pairs. */
static osla_dtype dtype_of(int number)
{
  return (osla_dtype)(number % 4);
}
static form form_of(int number)
{
  static const osla_trans trans[] = {OSLA_NOTRANS, OSLA_TRANS, OSLA_CONJTRANS};
  return (form){.transa = trans[number % 9 / 3],
                .transb = trans[number % 3],
                .parts = draw(number, PARTS, 3) == 0,
                .wrap_a = draw(number, WRAP_A, 2),
                .wrap_b = draw(number, WRAP_B, 2),
                .wrap_c = draw(number, WRAP_C, 2)};
}

/* Checks a product with whole numbers exactly, and with uniform numbers within the bound of
 * rounding errors. */
static void check_product(operands *x, const product_options *options, int number,
                          const char *label)
{
  x->p.options = options;
  for (int i = 0; i < 2; i++) {
    const int turn = 2 * number + i;
    x->p.seed = (uint64_t)turn;
    x->p.alpha = CMPLX(draw(turn, ALPHA_REAL, 3), draw(turn, ALPHA_IMAG, 3) - 1);
    x->p.beta = CMPLX(draw(turn, BETA_REAL, 3) - 1, draw(turn, BETA_IMAG, 3) - 1);
    x->p.rounding = i == 1;
    (void)product_check(&x->p, label);
  }
}

/* Numbers of products that ran: of all products, by type, and by pair of operations. */
typedef struct tally {
  int products, of_dtype[4], of_pair[9];
} tally;

static void run_product(osla_grid *grid, int g, int layers, int s, tally *ran)
{
  osla_transport *t = osla_grid_transport(grid);
  const int number = ran->products++;
  const product_options options = {.layers = layers,
                                   .panel = draw(number, PANEL, 4) == 0 ? 3 : 0,
                                   .blocking = draw(number, BLOCKING, 5) == 0,
                                   .copy = draw(number, COPY, 6) == 0,
                                   .unaware = draw(number, UNAWARE, 7) == 0,
                                   .narrow = draw(number, NARROW, 8) == 0};
  const osla_dtype dtype = dtype_of(number);
  const form f = form_of(number);
  char label[80];
  (void)snprintf(label, sizeof label, "grid %d, %d layers, shape %d, product %d", g, layers, s,
                 number);
  osla_grid *other = kernel_grid(t, draw(number, OTHER_GRID, 3) ? g : (g + 1) % kernel_n_grids(t));
  operands x = make(grid, other, dtype, &shapes[s], &f);
  delays d;
  if (s % 2) delays_begin(&d, t, (uint64_t)number);
  check_product(&x, &options, number, label);
  if (s % 2) delays_end(&d);
  ran->of_dtype[osla_matrix_dtype(x.c.a)]++;
  ran->of_pair[3 * x.p.transa + x.p.transb]++;
  free_operands(&x);
  osla_grid_destroy(&other);
}

static void check_grid(osla_grid *grid, int g, tally *ran)
{
  const int size = osla_grid_nprow(grid) * osla_grid_npcol(grid);
  /* creating a matrix on several nodes takes a tenth of a second */
  const int step = osla_transport_n_nodes(osla_grid_transport(grid)) > 1 ? 8 : 3;
  int turn = g;
  for (int n = 2; n <= size; n++) {
    if (!divides(grid, n)) continue;
    for (int s = 0; s < N_SHAPES; s++, turn++)
      if (size <= 2 || turn % step == 0) run_product(grid, g, n, s, ran);
  }
}

static void test_products(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  tally ran = {0};
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g += osla_test_size() > 8 ? 3 : 1) {
    check_grid(grid, g, &ran);
    osla_grid_destroy(&grid);
  }
  for (int i = 0; i < 4 && ran.products >= 12; i++)
    OSLA_ASSERT_MSG(ran.of_dtype[i] > 0, "no product of type %d", i);
  for (int i = 0; i < 9 && ran.products >= 12; i++)
    OSLA_ASSERT_MSG(ran.of_pair[i] > 0, "no product with the operations %d and %d", i / 3, i % 3);
  osla_transport_destroy(&t);
}

/* Checks that a product with n layers has the same bits in every run, also if ranks are delayed. */
static void check_same_bits(osla_grid *grid, int n)
{
  enum { M = 61, N = 47, K = 97, RUNS = 3 };
  osla_transport *t = osla_grid_transport(grid);
  const shape h = {M, N, K, 8, 8, 8};
  const form f = {.transa = OSLA_TRANS, .parts = true};
  operands x = make(grid, grid, OSLA_DOUBLE, &h, &f);
  const product_options options = {.layers = n};
  x.p.options = &options, x.p.alpha = 1, x.p.beta = 0, x.p.rounding = true, x.p.seed = 5;
  (void)product_check(&x.p, "filled");
  const size_t bytes =
    (size_t)(osla_matrix_lld(x.c.a, osla_test_rank()) * osla_matrix_local_cols(x.c.a)) *
    sizeof(double);
  void *first = malloc(bytes + 1);
  memcpy(first, osla_matrix_local(x.c.a), bytes);
  for (int i = 0; i < RUNS; i++) {
    const osla_gemm_options o = {.layers = n};
    delays d;
    delays_begin(&d, t, (uint64_t)i);
    OSLA_ASSERT_OK(osla_gemm(x.p.transa, x.p.transb, 1, x.p.a, x.p.b, 0, x.p.c, &o));
    delays_end(&d);
    OSLA_ASSERT_MSG(memcmp(first, osla_matrix_local(x.c.a), bytes) == 0,
                    "%d layers: run %d has other bits", n, i);
  }
  free(first);
  free_operands(&x);
}

static void test_same_bits(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size();
  osla_grid *grid;
  for (int g = 0; g < 2; g++) { /* two grids that have all ranks */
    grid = kernel_grid(t, g);
    for (int n = 2; n <= size; n++)
      if (divides(grid, n) && (n == size || g == 1 || n == 2)) check_same_bits(grid, n);
    osla_grid_destroy(&grid);
  }
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

/* Bytes and numbers of transfers of all ranks in a product with layers: those that
 * osla_gemm_predict predicts, which are between nodes, and those that were measured. */
typedef struct traffic {
  double predicted, predicted_transfers;
  double got; /* bytes of operands A and B, transferred by gets */
  int64_t gets;
  double sent;     /* bytes of partial sums, also to ranks of the node */
  double far_sums; /* bytes of partial sums to other nodes if all ranks are one group */
} traffic;

static traffic measure(const operands *x, int layers)
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
  return (traffic){
    .predicted = sums[0],
    .predicted_transfers = sums[1],
    .got = s.kind[OSLA_TRACE_GET].amount,
    .gets = s.kind[OSLA_TRACE_GET].events,
    .sent = s.kind[OSLA_TRACE_PUT].amount + s.kind[OSLA_TRACE_NOTIFY].amount,
    .far_sums = sums[2],
  };
}

/* Checks that the bytes that are transferred between nodes are those that osla_gemm_predict
 * predicts: those of operands, which are gets, and those of partial sums. Each owner of elements of
 * C receives the partial sums of all other layers. The bytes of partial sums between nodes are
 * known in two cases: if all ranks are one group, they follow from the sizes; if the ranks of each
 * group are on different nodes (`apart`), they are the bytes of all partial sums. */
static void check_transfers(const operands *x, int layers, bool apart, const char *label)
{
  const traffic f = measure(x, layers);
  const double all = (layers - 1) * (double)x->p.c.m * (double)x->p.c.n * sizeof(double);
  bool right = f.got <= f.predicted && (double)f.gets <= f.predicted_transfers;
  if (product_k(&x->p) >= layers) right &= f.sent == all;
  if (layers == 1) right &= f.got == f.predicted && (double)f.gets == f.predicted_transfers;
  if (layers == osla_test_size() && !apart && product_k(&x->p) >= layers)
    right &= f.got + f.far_sums == f.predicted;
  if (apart) right &= f.got + f.sent == f.predicted;
  OSLA_ASSERT_MSG(right,
                  "%d layers: %g bytes in %" PRId64
                  " gets, %g of %g bytes sent, predicted %g bytes in %g transfers: %s",
                  layers, f.got, f.gets, f.sent, all, f.predicted, f.predicted_transfers, label);
}

static void test_transfers(void)
{
  osla_transport *t = osla_test_transport();
  const bool each_is_a_node = osla_transport_n_nodes(t) == osla_transport_size(t);
  osla_grid *grid = kernel_grid(t, 0);
  const form forms[] = {{.transa = OSLA_NOTRANS},
                        {.transa = OSLA_TRANS, .parts = true},
                        {.transb = OSLA_CONJTRANS},
                        {.transa = OSLA_NOTRANS}};
  for (int s = 0; s < 4; s++) { /* shape 3 has only two indices k */
    operands x = make(grid, grid, OSLA_DOUBLE, &shapes[s], &forms[s]);
    x.p.alpha = 1, x.p.seed = 3;
    (void)product_check(&x.p, "filled");
    for (int n = 1; n <= osla_test_size(); n++)
      if (divides(grid, n)) check_transfers(&x, n, each_is_a_node, product_text(&x.p, "transfers"));
    free_operands(&x);
  }
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Checks the transfers of products in which the n ranks of each group are on n different nodes. In
 * a grid of one process row or column, this holds if n divides the number of nodes, all nodes have
 * equally many ranks, and the ranks of each node are adjacent. */
static void test_transfers_of_nodes(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size(), n_nodes = osla_transport_n_nodes(t);
  const bool equal = osla_transport_largest_node(t) * n_nodes == size;
  for (int column = 0; column < 2 && equal; column++) {
    osla_grid *grid;
    OSLA_ASSERT_OK(osla_grid_create(t, column ? size : 1, column ? 1 : size, &grid));
    operands x = make(grid, grid, OSLA_DOUBLE, &(shape){41, 53, 67, 7, 3, 5},
                      &(form){.transa = column ? OSLA_TRANS : OSLA_NOTRANS, .parts = column});
    x.p.alpha = 1, x.p.seed = 3;
    (void)product_check(&x.p, "filled");
    for (int n = 2; n <= n_nodes; n++)
      if (n_nodes % n == 0) check_transfers(&x, n, true, product_text(&x.p, "nodes"));
    free_operands(&x);
    osla_grid_destroy(&grid);
  }
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
  operands x = make(grid, grid, OSLA_DOUBLE, &shapes[0], &(form){.transa = OSLA_NOTRANS});
  x.p.alpha = 1, x.p.seed = 7;
  refuse(&x, &(product_options){.layers = -1}, OSLA_ERR_ARG, "layers = -1");
  refuse(&x, &(product_options){.layers = size + 1}, OSLA_ERR_ARG, "exceeds the");
  if (size > 2)
    refuse(&x, &(product_options){.layers = size - 1}, OSLA_ERR_ARG, "use 0, or for example ");
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
  {"transfers_of_nodes", test_transfers_of_nodes},
  {"errors", test_errors},
  {"triangle_refused", test_triangle_refused},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_gemm_layers, cases);
