/* Tests of products in which data that several ranks of a node need are transferred to the node
 * only once. Results must be correct with delays, on all grids, for whole matrices and parts, and
 * with layers (osla_gemm_options.layers). The number of transferred bytes is checked, too. */
#include "osla_index.h"
#include "osla_trace.h"
#include "tests/complex_help.h"
#include "tests/kernels/gemm_reference.h"
#include "tests/osla_test_help.h"

#include <stdio.h>

/* Shapes for which a rank needs at least 4 MiB of operands, but k is too small for its sum to be
 * distributed over the ranks. */
typedef struct shape {
  int64_t m, n, k, mb, nb, kb;
} shape;

static const shape shapes[] = {
  {160, 152, 8000, 8, 8, 64},
  {147, 171, 7901, 16, 5, 100},
  {181, 133, 8111, 200, 40, 16},
  {160, 160, 8000, 3, 110, 9},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* Operands of a product: whole matrices, or parts that begin inside a block of larger matrices. */
typedef struct operands {
  kernel_matrix a, b, c;
  product p;
} operands;

static osla_part part_of(const kernel_matrix *x, bool whole, int64_t m, int64_t n)
{
  return whole ? osla_whole(x->a) : osla_part_at(x->a, 5, 2, m, n);
}

static operands make(osla_grid *grid, osla_dtype dtype, const shape *h, int variant)
{
  operands x;
  bool a = variant % 2 == 0, b = variant / 2 % 2 == 0, whole = variant % 3 > 0;
  int64_t more = whole ? 0 : 7;
  x.a = kernel_make(grid, dtype, (a ? h->m : h->k) + more, (a ? h->k : h->m) + more,
                    a ? h->mb : h->kb, a ? h->kb : h->mb, variant & 4);
  x.b = kernel_make(grid, dtype, (b ? h->k : h->n) + more, (b ? h->n : h->k) + more,
                    b ? h->kb : h->nb, b ? h->nb : h->kb, variant & 8);
  x.c = kernel_make(grid, dtype, h->m + more, h->n + more, h->mb, h->nb, variant & 16);
  x.p = (product){.transa = a ? OSLA_NOTRANS : OSLA_TRANS,
                  .transb = b ? OSLA_NOTRANS : OSLA_CONJTRANS,
                  .alpha = 1,
                  .a = part_of(&x.a, whole, a ? h->m : h->k, a ? h->k : h->m),
                  .b = part_of(&x.b, whole, b ? h->k : h->n, b ? h->n : h->k),
                  .c = part_of(&x.c, whole, h->m, h->n)};
  return x;
}

static void free_operands(operands *x)
{
  kernel_free(&x->a), kernel_free(&x->b), kernel_free(&x->c);
}

/* A grid in which each group of four consecutive ranks is a 2 x 2 square; if nodes have four ranks,
 * each square is one node. NULL unless there are 8 or 16 ranks. */
static osla_grid *grid_of_squares(osla_transport *t)
{
  int size = osla_test_size(), square = osla_test_rank() / 4, within = osla_test_rank() % 4;
  osla_grid *grid = NULL;
  if (size != 8 && size != 16) return NULL;
  OSLA_ASSERT_OK(osla_grid_create_at(t, size / 4, 4, 2 * (square / 2) + within / 2,
                                     2 * (square % 2) + within % 2, &grid));
  return grid;
}

static void check_grid(osla_transport *t, osla_grid *grid, int g)
{
  for (int s = 0; s < N_SHAPES; s++) {
    if (!kernel_turn(g, s)) continue;
    int variant = 7 * g + 5 * s;
    char label[64];
    (void)snprintf(label, sizeof label, "grid %d, shape %d, variant %d", g, s, variant);
    operands x = make(grid, (osla_dtype)((g + s) % 4), &shapes[s], variant);
    delays d;
    if (s % 2) delays_begin(&d, t, (uint64_t)variant);
    x.p.beta = s % 3 - 1;
    x.p.seed = (uint64_t)variant;
    x.p.rounding = (g + s) % 3 == 0;
    (void)product_check(&x.p, label);
    if (s % 2) delays_end(&d);
    free_operands(&x);
  }
}

/* Process grid number `which`; NULL if there are fewer. With many ranks, which are simulated, there
 * is only the grid of squares. */
static osla_grid *grid_at(osla_transport *t, int which)
{
  bool many = osla_test_size() > 8;
  int n = many ? 0 : kernel_n_grids(t), squares = many ? 1 : 3;
  return which < n ? kernel_grid(t, which) : which < n + squares ? grid_of_squares(t) : NULL;
}

static void test_products(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = grid_at(t, g)) != NULL; g++) {
    check_grid(t, grid, g);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

static void test_triangles(void)
{
  enum { N = 140, K = 7800, NB = 35, KB = 250 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = grid_at(t, g)) != NULL; g++) {
    bool plain = g % 2;
    kernel_matrix a = kernel_make(grid, OSLA_DOUBLE, plain ? N : K, plain ? K : N, plain ? NB : KB,
                                  plain ? KB : NB, g & 2);
    kernel_matrix c = kernel_make(grid, OSLA_DOUBLE, N, N, NB, NB, g & 4);
    product p = product_of_syrk(g % 3 ? OSLA_LOWER : OSLA_UPPER, plain ? OSLA_NOTRANS : OSLA_TRANS,
                                2, osla_whole(a.a), 1, osla_whole(c.a));
    (void)product_check(&p, "triangle");
    kernel_free(&a), kernel_free(&c);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* ---- number of transfers ---- */

/* Returns the bytes that all ranks get from other nodes in a product with layers. If `alone` is
 * true, the ranks of a node do not share loads, and each rank gets all operands that it needs. */
static double got(osla_transport *t, const operands *x, int layers, bool alone)
{
  osla_trace_summary s;
  const osla_gemm_options options = {.layers = layers};
  OSLA_ASSERT_OK(osla_trace_start(t));
  osla_gemm_ablate(&(osla_gemm_ablation){.alone = alone});
  OSLA_ASSERT_OK(osla_gemm(x->p.transa, x->p.transb, 1, x->p.a, x->p.b, 0, x->p.c, &options));
  osla_gemm_ablate(NULL);
  OSLA_ASSERT_OK(osla_trace_summarise(t, &s));
  return s.kind[OSLA_TRACE_GET].amount;
}

/* Returns the bytes that all ranks get of the operand that the ranks of a node do not share, in a
 * product with n layers: B in a grid of one process row, A in a grid of one process column. Each
 * rank needs the blocks of the n - 1 other ranks of its group, for its share of k, which are k / n
 * indices. The needed elements of A are contiguous in memory. A get of k / n rows of B also
 * transfers the elements of other rows that are between them in memory. The result is wrong if A is
 * transposed in a grid of one process row, where the gets of B are smaller, to fit into memory. */
static double got_apart(const operands *x, bool column, int64_t k, int n)
{
  const int rank = osla_test_rank();
  const osla_matrix *one = column ? x->a.a : x->b.a;
  const int64_t lld = osla_matrix_lld(one, rank), rows = column ? lld : k / n;
  const int64_t cols = column ? k / n : osla_matrix_local_cols(one);
  double bytes = (n - 1) * (double)((cols - 1) * lld + rows) * sizeof(double);
  OSLA_ASSERT_OK(
    osla_allreduce(osla_grid_transport(osla_matrix_grid(one)), &bytes, 1, MPI_DOUBLE, MPI_SUM));
  return bytes;
}

/* Checks the bytes of a product with n layers in a grid of one process row or column. In a grid of
 * one process row, the ranks of a node that belong to one layer need the same panels of A and share
 * them. Without layers, each rank owns the panels of B that it needs. In a grid of one process
 * column, the roles of A and B are exchanged. If nodes have equal size, a node transfers as many
 * bytes of the shared operand as one rank does without sharing. */
static void check_got_once(osla_transport *t, osla_grid *grid, bool column, bool transposed, int n)
{
  const int size = osla_test_size(), node = osla_transport_largest_node(t);
  const int64_t k = 1200 * n;
  const shape h = {480, 480, k, 480 / size, 480 / size, k / size};
  /* variant of make() in which the shared operand is transposed if `transposed` is true */
  operands x = make(grid, OSLA_DOUBLE, &h, 32 + transposed * (column ? 2 : 1));
  (void)product_check(&x.p, "filled");
  const double alone = got(t, &x, n, true), together = got(t, &x, n, false);
  const double apart = n > 1 ? got_apart(&x, column, k, n) : 0;
  OSLA_ASSERT_MSG(alone - apart == (together - apart) * node,
                  "%d layers, %d x %d grid: %g bytes alone, %g together, %g not shared, %d ranks a "
                  "node, transposed %d",
                  n, osla_grid_nprow(grid), osla_grid_npcol(grid), alone, together, apart, node,
                  transposed);
  if (osla_transport_n_nodes(t) > 1) CU_ASSERT(together > 0);
  free_operands(&x);
}

static void test_got_once(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size(), n_nodes = osla_transport_n_nodes(t);
  for (int column = 0; column < 2; column++) {
    osla_grid *grid;
    OSLA_ASSERT_OK(osla_grid_create(t, column ? size : 1, column ? 1 : size, &grid));
    for (int n = 1; n <= n_nodes && n <= 4; n *= 2)
      for (int transposed = 0; transposed < (size > 8 ? 1 : 2); transposed++)
        if (n_nodes % n == 0 && (n == 1 || column || !transposed))
          check_got_once(t, grid, column, transposed, n);
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* ---- layers ---- */

/* Checks a product with n layers, whose shape, type and variant `turn` selects, and in which a rank
 * needs at least 4 MiB of operands. The result must be exact if the elements are integers, and
 * within the bound of rounding errors if they are uniform random numbers. Returns true if ranks of
 * a node shared loads of operands. */
static bool check_layers(osla_transport *t, osla_grid *grid, int turn, int n)
{
  static const shape of_layers[] = {{160, 152, 9600, 8, 8, 64}, {147, 171, 9701, 16, 5, 100}};
  static const osla_dtype types[] = {OSLA_DOUBLE, OSLA_COMPLEX_FLOAT, OSLA_COMPLEX_DOUBLE};
  const product_options options = {.layers = n};
  const int variant = (5 * turn + n) % 4 + 16 * (turn % 2);
  char label[64];
  delays d;
  (void)snprintf(label, sizeof label, "product %d, %d layers, variant %d", turn, n, variant);
  operands x = make(grid, types[(turn + n / 2) % 3], &of_layers[turn % 2], variant);
  x.p.options = &options;
  x.p.beta = turn % 3 - 1;
  for (int i = 0; i < 2; i++) {
    x.p.seed = (uint64_t)(variant + 100 * i);
    x.p.rounding = i == 1;
    delays_begin(&d, t, x.p.seed);
    (void)product_check(&x.p, label);
    delays_end(&d);
  }
  const double alone = got(t, &x, n, true), together = got(t, &x, n, false);
  OSLA_ASSERT_MSG(together <= alone, "%g bytes alone, %g together: %s", alone, together, label);
  free_operands(&x);
  return together < alone;
}

static bool grid_has_layers(const osla_grid *grid, int n)
{
  for (int rows = 1; rows <= n; rows *= 2)
    if (osla_grid_nprow(grid) % rows == 0 && osla_grid_npcol(grid) % (n / rows) == 0) return true;
  return false;
}

/* Checks products with 2 and 4 layers. With n layers the ranks of a node share loads only if the n
 * ranks of a group can be on n nodes. Grid 0, of one process row, has such groups if nodes have
 * equal size. */
static void test_layers(void)
{
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size(), n_nodes = osla_transport_n_nodes(t);
  const int step = size > 8 ? 1 : size > 4 ? 3 : 2;
  osla_grid *grid;
  for (int n = 2; n <= 4; n *= 2) {
    int shared = 0;
    for (int g = 0; (grid = grid_at(t, g)) != NULL; g++) {
      if (grid_has_layers(grid, n) && g % step == 0) shared += check_layers(t, grid, g / step, n);
      osla_grid_destroy(&grid);
    }
    const bool must_share = n_nodes % n == 0 && n_nodes < size;
    OSLA_ASSERT_MSG(shared > 0 || !must_share, "%d layers: no ranks shared loads", n);
  }
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"products", test_products},
  {"triangles", test_triangles},
  {"got_once", test_got_once},
  {"layers", test_layers},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_gemm_share, cases);
